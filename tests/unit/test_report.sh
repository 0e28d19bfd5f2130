#!/bin/bash
# `harness report`: what it writes is what the bundle holds, wherever it is called; and what it refuses, with which words.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
alter=$PWD/tests/live/alter.py
passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-report.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'report: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}

# In a folder of its own; what it says is kept, and its exit code.
report() { # WORD...
	CODE=0
	(cd "$folder/here" && timeout 60 "$BUILD/harness" report "$@" >"$folder/out" 2>"$folder/err" </dev/null) || CODE=$?
}

member() { tar -xzOf "$folder/b.tar.gz" "confinement-evidence/$1"; }

writes() { # MEMBER WORD...: into the file of that name, which is all that appears
	rm -rf "$folder/here" && mkdir "$folder/here"
	report "${@:2}"
	[ "$CODE" -eq 0 ] && cmp "$folder/here/$1" <(member "$1") && [ ! -s "$folder/out" ] && grep -qx "$1" "$folder/err" &&
		[ "$(ls -A "$folder/here")" = "$1" ]
}

prints() { # MEMBER WORD...: to standard output, and nothing else happens
	rm -rf "$folder/here" && mkdir "$folder/here"
	report "${@:2}"
	[ "$CODE" -eq 0 ] && cmp "$folder/out" <(member "$1") && [ ! -s "$folder/err" ] && [ -z "$(ls -A "$folder/here")" ]
}

refuses() { # CODE TEXT WORD...: in one line, and writes nothing
	rm -rf "$folder/here" && mkdir "$folder/here"
	report "${@:3}"
	cat "$folder/err"
	[ "$CODE" -eq "$1" ] && grep -qF -- "$2" "$folder/err" && [ "$(wc -l <"$folder/err")" -eq 1 ] && [ ! -s "$folder/out" ] &&
		[ -z "$(ls -A "$folder/here")" ]
}

older() { # it was made by another version: what it holds may be of another look, and is left as it is
	"$alter" b.tar.gz older.tar.gz manifest.json "\"version\":\"$VERSION\"" '"version":"0.0.9"' &&
		"$alter" older.tar.gz older2.tar.gz report.html '<h1 class="p">Pass</h1>' '<h1>Passed</h1>'
}

all_of_it() { # of an older bundle
	rm -rf "$folder/here" && mkdir "$folder/here"
	report "$folder/older2.tar.gz"
	cat "$folder/err"
	[ "$CODE" -eq 0 ] && grep -q '<h1 class="p">Pass</h1>' "$folder/here/report.html" &&
		grep -q '<dd>harness 0.0.9$' "$folder/here/report.html"
}

full() {
	CODE=0
	"$BUILD/harness" report "$folder/b.tar.gz" --out - >/dev/full 2>"$folder/err" || CODE=$?
	[ "$CODE" -eq 3 ] && grep -q 'standard output did not take everything' "$folder/err"
}

check "a bundle" sh -c "'$BUILD/tests/main_bundle' baseline >'$folder/b.tar.gz'"
cp "$folder/b.tar.gz" "$folder/kept.tar.gz"
VERSION=$("$BUILD/harness" --version | cut -d ' ' -f 2)

check "the page" writes report.html "$folder/b.tar.gz"
check "the report for CI" writes junit.xml "$folder/b.tar.gz" --format junit
check "the other one" writes ctrf.json "$folder/b.tar.gz" --format=ctrf
check "a file of a name" writes report.html "$folder/b.tar.gz" --format html --out report.html
check "to standard output" prints report.html "$folder/b.tar.gz" --out -
check "to standard output, for CI" prints ctrf.json --out=- --format ctrf "$folder/b.tar.gz"
check "standard output is full" full

check "no bundle" refuses 4 "report takes one bundle"
check "two" refuses 4 "report takes one bundle" "$folder/b.tar.gz" "$folder/b.tar.gz"
check "another format" refuses 4 "--format is html, junit or ctrf" "$folder/b.tar.gz" --format pdf
check "a folder" refuses 4 "that is a folder" "$folder"
check "not there" refuses 3 "No such file or directory" "$folder/none.tar.gz"
check "nowhere to write" refuses 3 "opening $folder/none/: No such file" "$folder/b.tar.gz" --out "$folder/none/report.html"
check "onto a folder" refuses 3 "harness: writing $folder: Is a directory" "$folder/b.tar.gz" --out "$folder"
check "onto the bundle itself" refuses 4 "b.tar.gz' is a bundle, which is not written over" "$folder/b.tar.gz" --out "$folder/b.tar.gz"
ln -s "$folder/b.tar.gz" "$folder/link.html"
check "onto a link to one" refuses 4 "is a bundle, which is not written over" "$folder/b.tar.gz" --out "$folder/link.html"
check "nor by recheck" bash -c "! '$BUILD/harness' recheck '$folder/b.tar.gz' --out '$folder/b.tar.gz'"
check "which leaves it as it was" cmp "$folder/b.tar.gz" "$folder/kept.tar.gz"
check "where nobody may write" refuses 3 "harness: writing /proc/self/page: " "$folder/b.tar.gz" --out /proc/self/page
check "a flag of others" refuses 4 "--gateway is not for" --gateway cmcp "$folder/b.tar.gz"
mkfifo "$folder/fifo"
check "a pipe" refuses 3 "no regular file" "$folder/fifo"
head -c 2000 "$folder/b.tar.gz" >"$folder/cut.tar.gz"
check "one that is cut" refuses 1 "the bundle does not verify: archive" "$folder/cut.tar.gz"
check "a page is altered" "$alter" "$folder/b.tar.gz" "$folder/page.tar.gz" report.html "Pass</h1>" "Fail</h1>"
check "and nothing is made of it" refuses 1 "does not verify: generated: report.html is not what" "$folder/page.tar.gz"

cd "$folder" || exit 1
check "an older bundle" older
check "has the page of this version" all_of_it

printf 'report: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
