#!/bin/bash
# `harness verify` compares the scenarios of a bundle with those that `harness list` finds, and its declarations likewise.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
alter=$PWD/tests/live/alter.py
passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-shipped.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'verify_shipped: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}

says() { # CODE TEXT PROGRAM VERIFY'S WORDS...
	local code=0
	timeout 60 "$3" verify "${@:4}" >"$folder/out" 2>&1 </dev/null || code=$?
	tail -n 8 "$folder/out"
	[ "$code" -eq "$1" ] && grep -qE -- "$2" "$folder/out"
}
lines() { # N TEXT: of what was said last
	[ "$(grep -c -- "$2" "$folder/out")" -eq "$1" ]
}

b=$folder/b.tar.gz
own=$folder/own.tar.gz other=$folder/other.tar.gz
VERSION=$("$BUILD/harness" --version | cut -d ' ' -f 2)
ALL='^scenarios: ([0-9]+) of \1 are word for word those that come with this program$'
NONE='^scenarios: 0 of ([0-9]+) .* this program, \1 have another text$'
UNKNOWN='^scenarios: [0-9]+, and none are installed to compare them with$'
JSON='"shard":null,"merged":0,"replay":null,"scenarios":\{"count":([0-9]+),"same":\1,"differ":0,"own":0,"lacking":0\},"declarations":\{"count":2,"same":2,"differ":\[\],"own":0\}'
DECLARED='^declarations: 2 of 2 are word for word those that come with this program$'
UNDECLARED='^declarations: 2, and none are installed to compare them with$'

check "a bundle" sh -c "'$BUILD/tests/main_bundle' baseline >'$b'"
check "its scenarios are those of the tree" says 0 "$ALL" "$BUILD/harness" "$b"
check "in one line" lines 1 scenarios
check "its declarations too" says 0 "$DECLARED" "$BUILD/harness" "$b"
check "in one line too" lines 1 declarations
check "and quietly in none" says 0 '^verdict, made again: pass' "$BUILD/harness" --quiet "$b"
check "none indeed" lines 0 scenarios
check "nor one of declarations" lines 0 declarations
check "for a program" says 0 "$JSON" "$BUILD/harness" --json "$b"
check "a scenario with another title" "$alter" "$b" "$own" scenarios.json '"title":"' '"title":"Not so: '
check "by another version" "$alter" "$own" "$other" manifest.json "\"version\":\"$VERSION\"" '"version":"0.0.9"'
check "is not that of the tree" says 2 "$NONE" "$BUILD/harness" "$other"
mkdir "$folder/alone" && cp "$BUILD/harness" "$folder/alone/"
check "a program without scenarios" says 0 "$UNKNOWN" "$folder/alone/harness" "$b"
check "for a program too" says 0 '"scenarios":null,"declarations":null' "$folder/alone/harness" --json "$b"
check "nor declarations" says 0 "$UNDECLARED" "$folder/alone/harness" "$b"
mkdir "$folder/changed" && cp -r effects scenarios "$folder/changed" && sed -i 's/"title": "/&x/' "$folder/changed/effects/order_create_pg.json"
check "a bundle with another declaration" sh -c "cd '$folder/changed' && '$BUILD/tests/main_bundle' baseline >'$other'"
check "is not that of the tree" says 0 '^declarations: 1 of 2 are word .* program, order_create_pg has another text$' "$BUILD/harness" "$other"
check "which is named for a program too" says 0 '"declarations":\{"count":2,"same":1,"differ":\["order_create_pg"\],"own":0\}' \
	"$BUILD/harness" --json "$other"

printf 'verify_shipped: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
