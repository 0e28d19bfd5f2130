#!/bin/bash
# Signed bundles of real runs by cosign, offline: a part of `make soak`, since cosign takes minutes to build (ci/cosign). The
# trust root holds nothing: it keeps cosign from asking for its own. --insecure-ignore-tlog says that there is no entry in a
# transparency log, which a key alone never makes.
# shellcheck source=tests/interop/interop.sh
# shellcheck disable=SC2317 # check() calls functions by name
. "$(dirname "$0")/interop.sh"

ARCHIVE=confinement-evidence.tar.gz
RESULT=https://in-toto.io/attestation/test-result/v0.1
cosign=$PWD/build/cosign/cosign
harness=$BUILD/harness

ci/cosign --check || {
	fail "cosign is not there"
	finish
}
echo '{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1","tlogs":[],"certificateAuthorities":[],"ctlogs":[],"timestampAuthorities":[]}' \
	>"$folder/root.json"

# Without a network, where this is run by root: what it says is then what it finds in these files.
offline=()
[ "$(id -u)" -ne 0 ] || offline=(unshare --net)

cosign_takes() { # KEY BUNDLE FILE [TYPE]
	HOME=$folder "${offline[@]}" "$cosign" verify-blob-attestation --trusted-root "$folder/root.json" --bundle "$2" \
		--key "$1" --insecure-ignore-tlog --type "${4:-$RESULT}" "$3"
}

new_key() { # NAME ALGORITHM [OPTION...]
	openssl genpkey -out "$folder/$1.pem" -algorithm "${@:2}" && chmod 600 "$folder/$1.pem" &&
		openssl pkey -in "$folder/$1.pem" -pubout -out "$folder/$1.pub"
}
check "an Ed25519 key" new_key ed25519 ed25519
check "a P-256 key" new_key p256 EC -pkeyopt ec_paramgen_curve:P-256
check "another P-256 key" new_key other EC -pkeyopt ec_paramgen_curve:P-256

for kind in ed25519 p256; do
	check "$kind: a run" ci/as-root "$harness" run -q baseline --sign "$folder/$kind.pem" --out "$folder/$kind"
	bundle=$folder/$kind/latest/$ARCHIVE key=$folder/$kind.pub
	check "$kind: cosign" cosign_takes "$key" "$bundle.sigstore.json" "$bundle"
	check "$kind: cosign refuses another key" not cosign_takes "$folder/other.pub" "$bundle.sigstore.json" "$bundle"
	cp "$bundle" "$folder/changed" && printf x >>"$folder/changed"
	check "$kind: cosign refuses another archive" not cosign_takes "$key" "$bundle.sigstore.json" "$folder/changed"
	check "$kind: cosign refuses another type" not cosign_takes "$key" "$bundle.sigstore.json" "$bundle" \
		https://slsa.dev/provenance/v1
	sed 's/"sig":"./"sig":"A/' "$bundle.sigstore.json" >"$folder/changed.json"
	check "$kind: cosign refuses another signature" not cosign_takes "$key" "$folder/changed.json" "$bundle"
done
finish
