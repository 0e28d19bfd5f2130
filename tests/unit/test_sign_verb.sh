#!/bin/bash
# `harness sign` and `harness verify --attest` as they are called: their exit codes, and which file an error names.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
passed=0 failed=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-sign.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'sign-verb: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}

says() { # CODE TEXT WORD...: harness with these words, in the folder
	local code=0
	(cd "$folder" && timeout 60 "$BUILD/harness" "${@:3}" >out 2>&1 </dev/null) || code=$?
	cat "$folder/out"
	[ "$code" -eq "$1" ] && grep -qF -- "$2" "$folder/out"
}

if ! command -v openssl >/dev/null; then
	echo "sign-verb: skipped: no openssl"
	echo "sign-verb: 0 passed, 0 failed, 1 skipped"
	exit 0
fi
check "a bundle" sh -c "'$BUILD/tests/main_bundle' baseline >'$folder/b.tar.gz'"
check "a key" sh -c "umask 077; openssl genpkey -algorithm ed25519 -out '$folder/key.pem'"
check "its public half" openssl pkey -in "$folder/key.pem" -pubout -out "$folder/key.pub"
chmod 644 "$folder/key.pub" "$folder/b.tar.gz"

check "a folder" says 4 "that is a folder: sign takes the bundle in it" sign key.pem .
check "no such bundle" says 3 "the bundle 'none': No such file" sign key.pem none
check "no such key" says 3 "the private key 'none': No such file" sign none b.tar.gz
check "swapped words" says 3 "the private key 'b.tar.gz': it is a gzip file, as a bundle is, and no key" sign b.tar.gz key.pem
check "the public half" says 3 "the private key 'key.pub': that is a public key" sign key.pub b.tar.gz
cp "$folder/key.pem" "$folder/open.pem" && chmod 644 "$folder/open.pem"
check "a key of everybody" says 3 "the private key 'open.pem': others than its owner have rights on the file" sign open.pem b.tar.gz
check "no public key" says 3 "the public key 'key.pem': that is a private key" verify --key key.pem b.tar.gz
check "signed" says 0 "signed: " sign key.pem b.tar.gz
check "once" says 3 "a signature already" sign key.pem b.tar.gz
check "by whom" says 0 "pass        signature" verify --key key.pub b.tar.gz
check "attested" says 0 "attested: b.tar.gz.svr.intoto.jsonl" verify --attest key.pem b.tar.gz
check "attested once" says 3 "there is what a verifier found already" verify --attest key.pem b.tar.gz
rm -f "$folder/b.tar.gz.svr.intoto.jsonl"
check "attested, to a program" says 0 '"attested":"b.tar.gz.svr.intoto.jsonl"' verify --json --attest key.pem b.tar.gz
check "nothing attested, to a program" says 0 '"attested":null' verify --json b.tar.gz
mv "$folder/b.tar.gz" "$folder/c.tar.gz"
check "with another name" says 2 "--attestation takes another name" verify --key key.pub c.tar.gz
check "by the statement's name" says 0 "pass        signature" verify --key key.pub --attestation b.tar.gz.intoto.jsonl c.tar.gz
mkdir "$folder/own" && head -c 2000 "$folder/c.tar.gz" >"$folder/own/cut.tar.gz"
check "a cut one" says 3 "the bundle does not verify, and is not signed: archive: cut within the gzip data" \
	sign key.pem own/cut.tar.gz
check "its signature rests on the rest" says 1 '"reason":"rests on '"'archive'"', which did not pass"}]' \
	verify --json own/cut.tar.gz
check "help says the exit codes" says 0 "Exit code 0: signed" help sign

printf 'sign-verb: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
