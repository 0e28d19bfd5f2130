#!/bin/bash
# What a build says of the repository that it was made in: tracked files that differ make it dirty, files beside them do not.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

passed=0 failed=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-facts.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
root=$PWD

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'build_facts: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}
in_tree() { git -C "$folder/tree" -c user.name=nobody -c user.email=nobody@localhost "$@" >/dev/null; }
dirty() { # true|false
	(cd "$folder/tree" && "$root/ci/build-facts" cc "$root/ci/build-facts") | grep -qx "	.dirty = $1,"
}

mkdir "$folder/tree" && in_tree init -q && cp .gitignore "$folder/tree" && echo one >"$folder/tree/file" && in_tree add . &&
	in_tree commit -qm one || exit 1
check "what was committed is not dirty" dirty false
touch "$folder/tree/beside"
check "a file beside it is nothing" dirty false
rm "$folder/tree/beside"
touch "$folder"/tree/{report.html,junit.xml,ctrf.json}
check "git passes over what harness report writes" test -z "$(git -C "$folder/tree" status --porcelain)"
echo two >"$folder/tree/file"
check "a tracked file that differs makes it dirty" dirty true
in_tree checkout -q file && rm "$folder/tree/file"
check "one that is gone does too" dirty true

printf 'build_facts: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
