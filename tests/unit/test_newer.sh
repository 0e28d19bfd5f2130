#!/bin/bash
# Each verb that reads bundles, on one of a newer version of the format: one clear line, no file, and no zero as exit code.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
alter=$PWD/tests/live/alter.py
NEWER="a newer version of the format says what this program does not know"
passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-newer.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'newer: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}

# With its exit code and these words, and nothing is written beside it.
says() { # CODE TEXT VERB...
	local code=0
	rm -rf "$folder/here" && mkdir "$folder/here"
	(cd "$folder/here" && timeout 60 "$BUILD/harness" "${@:3}" >"$folder/out" 2>&1 </dev/null) || code=$?
	head -c 3000 "$folder/out"
	echo "exit code $code"
	[ "$code" -eq "$1" ] && grep -qF -- "$2" "$folder/out" && [ -z "$(ls -A "$folder/here")" ]
}

silent() { # FILE: no such thing
	[ ! -e "$1" ]
}

made() { # FILE FROM MEMBER OLD NEW
	"$alter" "$folder/$2.tar.gz" "$folder/$1.tar.gz" "$3" "$4" "$5"
}

unchecked() { # NAME: nothing can be said of it
	local b=$folder/$1.tar.gz
	check "$1: verify" says 2 "verdict: none: $NEWER" verify "$b"
	check "$1: recheck" says 2 "not made again: $NEWER" recheck --out "$folder/here/v" "$b"
	check "$1: report" says 2 "the bundle does not verify: $NEWER" report "$b"
	check "$1: report for CI" says 2 "the bundle does not verify: $NEWER" report --format junit "$b"
	check "$1: diff" says 3 "cannot be compared: $NEWER" diff "$b" "$folder/plain.tar.gz"
	check "$1: diff, as the second" says 3 "cannot be compared: $NEWER" diff "$folder/plain.tar.gz" "$b"
	check "$1: merge" says 1 "not merged: bundle 1 does not verify: $NEWER" merge --out m "$b" "$b"
	check "$1: sign" says 3 "not all of the bundle was checked, and is not signed: $NEWER" sign "$folder/key.pem" "$b"
	check "$1: nothing was signed" silent "$b.intoto.jsonl"
	check "$1: replay" says 2 "NOT_ATTEMPTED: bundle-not-intact" replay --out o "$b"
	check "$1: replay says why" grep -qF "$NEWER" "$folder/out"
	check "$1: replay, for a program" says 2 '"reason":"bundle-not-intact"' replay --json --out o "$b"
}

check "a bundle" sh -c "'$BUILD/tests/main_bundle' baseline >'$folder/plain.tar.gz'"
check "a key" sh -c "umask 077; openssl genpkey -algorithm ed25519 -out '$folder/key.pem'"
check "a newer one" made newer plain manifest.json '"confinement-evidence/1.1"' '"confinement-evidence/1.7"'
check "that says more of the manifest" made manifest newer manifest.json '{"canary"' '{"aaa":1,"canary"'
check "that says more of the plan" made plan newer coverage.json '{"absent"' '{"aaa":1,"absent"'
check "that has another subject" made subject newer observations.jsonl '"subject":"dns"' '"subject":"novel"'
check "that is a shard" made shard subject manifest.json '"shard":{"index":1,"of":1}' '"shard":{"index":1,"of":2}'
for name in manifest plan subject shard; do unchecked "$name"; done

# All that this program knows of it was checked, and that is not all.
b=$folder/newer.tar.gz
check "verify" says 2 "exit code 2: not checked: generated" verify "$b"
check "recheck" says 2 "not all of it was read: $NEWER" recheck "$b"
check "recheck makes the same bytes" grep -qF "made again: the same bytes" "$folder/out"
check "recheck, for a program" says 2 "\"reason\":\"$NEWER\"" recheck --json "$b"
check "report" says 2 "not all of the bundle is in it: $NEWER" report --out - "$b"
check "diff" says 2 "is compared: $NEWER" diff "$b" "$folder/plain.tar.gz"
check "merge" says 1 "not merged: bundle 1 does not verify: $NEWER" merge --out m "$b" "$b"
check "sign" says 3 "not all of the bundle was checked, and is not signed: $NEWER" sign "$folder/key.pem" "$b"
check "nothing was signed" silent "$b.intoto.jsonl"
check "replay" says 2 "NOT_ATTEMPTED: bundle-not-intact" replay --out o "$b"
check "this version is signed" says 0 "signed:" sign "$folder/key.pem" "$folder/plain.tar.gz"

printf 'newer: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
