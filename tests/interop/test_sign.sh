#!/bin/bash
# Signed bundles of real runs, one by an Ed25519 key and one by a P-256 key, read by programs of others: openssl, ssh-keygen
# and @sigstore/verify. Each takes what is good and refuses what was changed. Where there is no engine, no root or none of
# these programs, the test skips itself by name, and with CI=true it fails.
# shellcheck source=tests/interop/interop.sh
# shellcheck disable=SC2317,SC2016 # check() calls functions by name; filters of jq stand in single quotes
. "$(dirname "$0")/interop.sh"

ARCHIVE=confinement-evidence.tar.gz
NAMESPACE=confinement-evidence
ENVELOPE=$ARCHIVE.intoto.jsonl
harness=$BUILD/harness

leave_out() { # WHY
	if [ "${CI:-}" = true ]; then fail "$1"; else
		printf '%s: skipped: %s\n' "$name" "$1"
		skipped=$((skipped + 1))
	fi
	finish
}

for tool in openssl ssh-keygen jq; do
	command -v "$tool" >/dev/null || leave_out "$tool is not installed (ci/deps --interop)"
done
have node "@sigstore/verify" || finish

# The bytes that were signed and the signature, as docs/evidence-format.md takes an envelope apart.
parts_of() { # ENVELOPE
	local length
	length=$(jq -r .payload "$1" | base64 -d | wc -c) || return 1
	{
		printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$length"
		jq -r .payload "$1" | base64 -d
	} >"$folder/pae.bin"
	jq -r '.signatures[0].sig' "$1" | base64 -d >"$folder/sig.bin"
}

openssl_takes() { # KIND KEY ENVELOPE
	parts_of "$3" || return 1
	case $1 in
	ed25519) openssl pkeyutl -verify -pubin -inkey "$2" -rawin -in "$folder/pae.bin" -sigfile "$folder/sig.bin" ;;
	p256) openssl dgst -sha256 -verify "$2" -signature "$folder/sig.bin" "$folder/pae.bin" ;;
	esac
}

sigstore_takes() { # KEY BUNDLE ARCHIVE
	node "$parts/verify_sigstore.mjs" "$2" "$1" "$3"
}

ends_with() { # CODE COMMAND...
	local wanted=$1 code=0
	shift
	"$@" || code=$?
	echo "exit code $code, wanted $wanted"
	[ "$code" -eq "$wanted" ]
}

changed() { # FILTER FILE OUT
	jq -c "$1" "$2" >"$3" && ! cmp -s "$2" "$3"
}
OTHER_PAYLOAD='.payload |= (@base64d | sub("PASSED"; "FAILED") | @base64)'
OTHER_SIGNATURE='.signatures[0].sig |= (if .[20:21] == "A" then .[0:20] + "B" + .[21:] else .[0:20] + "A" + .[21:] end)'

new_key() { # NAME ALGORITHM [OPTION...]
	openssl genpkey -out "$folder/$1.pem" -algorithm "${@:2}" && chmod 600 "$folder/$1.pem" &&
		openssl pkey -in "$folder/$1.pem" -pubout -out "$folder/$1.pub"
}
check "an Ed25519 key" new_key ed25519 ed25519
check "a P-256 key" new_key p256 EC -pkeyopt ec_paramgen_curve:P-256
check "another P-256 key" new_key other EC -pkeyopt ec_paramgen_curve:P-256
# What ssh-keygen knows the key by: its name, its 32 bytes, each behind its length.
{
	printf 'harness namespaces="%s" ssh-ed25519 ' "$NAMESPACE"
	{
		printf '\0\0\0\013ssh-ed25519\0\0\0 '
		openssl pkey -pubin -in "$folder/ed25519.pub" -outform DER | tail -c 32
	} | base64 -w 0
	echo
} >"$folder/signers"

ssh_takes() { # SUMS SIGNATURE [NAMESPACE]
	ssh-keygen -Y verify -f "$folder/signers" -I harness -n "${3:-$NAMESPACE}" -s "$2" <"$1"
}

for kind in ed25519 p256; do
	out=$folder/$kind key=$folder/$kind.pub
	ci/as-root "$harness" run -q baseline --sign "$folder/$kind.pem" --out "$out" >"$folder/run" 2>&1 </dev/null
	bundle=$out/latest/$ARCHIVE
	[ -e "$bundle" ] || leave_out "no run: $(tail -n 1 "$folder/run")"
	# Copies of our own: what root made is root's.
	mkdir "$out.own"
	cp "$out"/latest/* "$out.own"
	out=$out.own bundle=$out/$ARCHIVE
	check "$kind: harness verify" ends_with 0 "$harness" verify --key "$key" --require-signature "$bundle"
	check "$kind: harness verify without a key" ends_with 0 "$harness" verify "$bundle"
	check "$kind: harness verify that must have one" ends_with 2 "$harness" verify --require-signature "$bundle"
	check "$kind: harness verify with another key" ends_with 1 "$harness" verify --key "$folder/other.pub" "$bundle"
	tar -xzOf "$bundle" "confinement-evidence/statement.intoto.jsonl" >"$folder/inside"
	tar -xzOf "$bundle" confinement-evidence/SHA256SUMS >"$folder/sums"
	for envelope in "$out/$ENVELOPE" "$folder/inside"; do
		where=beside
		[ "$envelope" != "$folder/inside" ] || where=inside
		check "$kind: openssl, $where" openssl_takes "$kind" "$key" "$envelope"
		check "$kind: openssl refuses another key, $where" not openssl_takes "$kind" "$folder/other.pub" "$envelope"
		check "$kind: another payload, $where" changed "$OTHER_PAYLOAD" "$envelope" "$folder/changed"
		check "$kind: openssl refuses it, $where" not openssl_takes "$kind" "$key" "$folder/changed"
	done
	check "$kind: harness refuses it" ends_with 1 \
		"$harness" verify --key "$key" --attestation "$folder/changed" "$bundle"
	sigstore=$out/$ARCHIVE.sigstore.json
	check "$kind: @sigstore/verify" sigstore_takes "$key" "$sigstore" "$bundle"
	check "$kind: of the sums too" sigstore_takes "$key" "$sigstore" "$folder/sums"
	check "$kind: @sigstore/verify refuses another archive" not sigstore_takes "$key" "$sigstore" "$folder/inside"
	check "$kind: @sigstore/verify refuses another key" not sigstore_takes "$folder/other.pub" "$sigstore" "$bundle"
	check "$kind: another payload in a sigstore bundle" changed ".dsseEnvelope |= ($OTHER_PAYLOAD)" "$sigstore" \
		"$folder/changed"
	check "$kind: @sigstore/verify refuses it" not sigstore_takes "$key" "$folder/changed" "$bundle"
	check "$kind: another signature in a sigstore bundle" changed ".dsseEnvelope |= ($OTHER_SIGNATURE)" "$sigstore" \
		"$folder/changed"
	check "$kind: @sigstore/verify refuses that" not sigstore_takes "$key" "$folder/changed" "$bundle"

	# A second signer, beside a copy that has no signature beside it; the key comes on a descriptor.
	mkdir "$out/second" && cp "$bundle" "$out/second"
	check "$kind: signed again, by another" "$harness" sign fd:3 "$out/second/$ARCHIVE" 3< <(cat "$folder/other.pem")
	check "$kind: by whom" ends_with 0 "$harness" verify --key "$folder/other.pub" "$out/second/$ARCHIVE"
	check "$kind: openssl on that" openssl_takes p256 "$folder/other.pub" "$out/second/$ENVELOPE"
	check "$kind: never over another" not "$harness" sign "$folder/other.pem" "$out/second/$ARCHIVE"
	check "$kind: what verify found" "$harness" verify --key "$key" --attest "$folder/other.pem" "$bundle"
	check "$kind: it is never overwritten" ends_with 3 "$harness" verify --attest "$folder/other.pem" "$bundle"
	check "$kind: openssl on what verify found" openssl_takes p256 "$folder/other.pub" "$out/$ARCHIVE.svr.intoto.jsonl"
	check "$kind: it is about this archive" jq -e --arg digest "$(sha256sum <"$bundle" | cut -d ' ' -f 1)" \
		'.payload | @base64d | fromjson | (.predicateType == "https://in-toto.io/attestation/svr/v0.2")
			and any(.subject[]; .digest.sha256 == $digest)
			and any(.predicate.properties[]; . == "CONFINE_SIGNATURE_VERIFIED")' "$out/$ARCHIVE.svr.intoto.jsonl"
	[ "$kind" = ed25519 ] || continue
	check "the sums beside are those inside" cmp "$folder/sums" "$out/SHA256SUMS"
	check "ssh-keygen" ssh_takes "$out/SHA256SUMS" "$out/SHA256SUMS.sig"
	check "ssh-keygen refuses another namespace" not ssh_takes "$out/SHA256SUMS" "$out/SHA256SUMS.sig" file
	tr 0 1 <"$out/SHA256SUMS" >"$folder/changed"
	check "ssh-keygen refuses other sums" not ssh_takes "$folder/changed" "$out/SHA256SUMS.sig"
done

check "no key is left anywhere" not grep -rqlF "$(sed -n 2p "$folder/ed25519.pem")" "$folder/ed25519" "$folder/ed25519.own" \
	"$folder/run"
chmod 644 "$folder/p256.pem"
check "a key that others may read is refused before the run" not ci/as-root "$harness" run -q baseline \
	--sign "$folder/p256.pem" --out "$folder/never"
check "and nothing was begun" test ! -e "$folder/never"
finish
