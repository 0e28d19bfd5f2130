#!/bin/bash
# The checks of ci/lint that are ours find what they look for, and nothing else. Each looks at a small tree of its own.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

passed=0 failed=0
tree=$(mktemp -d "${TMPDIR:-/tmp}/harness-lint.XXXXXX") || exit 1
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/ci" "$tree/core" "$tree/tests/unit"
cp ci/lint ci/waits ci/banned-calls "$tree/ci"

# STEP: what ci/lint says of a tree that holds core/loop.c (standard input) and the same as core/other.c and as a test.
lint() {
	cat >"$tree/core/loop.c"
	cp "$tree/core/loop.c" "$tree/core/other.c"
	cp "$tree/core/loop.c" "$tree/tests/unit/test_other.c"
	# Without git the tree is searched as it is.
	GIT_DIR=/nowhere "$tree/ci/lint" "$1" >"$tree/said" 2>&1
}
finds() { # STEP CODE EXPECTED LINES...
	local step=$1 code=$2 expected
	shift 2
	expected=$(printf '%s\n' "$@" | grep . || true)
	if printf '%s\n' "$code" | lint "$step"; then [ -z "$expected" ]; else [ -n "$expected" ]; fi &&
		[ "$(grep -oE '^[a-z_/]+\.c:[0-9]+: [a-zA-Z_()]+' "$tree/said")" = "$expected" ] && return
	sed 's/^/    /' "$tree/said"
	return 1
}
check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'lint: FAILED: %s\n' "$what"
	fi
}

check "a wait in a file that may, and in one that may not" \
	finds waits 'int f(void) { return poll(0, 0, -1); }' 'core/other.c:1: poll'
check "one that is not called, a member, a longer name, a comment, a text" \
	finds waits 'int poll; int g(void) { /* poll( */ return x.poll(1) + y->poll(1) + my_poll("poll(1)"); }'
check "a call over two lines" finds waits 'int f(void)
{
	return connect
		(1);
}' 'core/loop.c:3: connect' 'core/other.c:3: connect'
check "a lock" finds waits 'int f(void) { return flock(1, 2); }' 'core/loop.c:1: flock' 'core/other.c:1: flock'
check "a deadline that is none" finds waits 'int f(void) { return loop_run(loop, NEVER, 0); }' \
	'core/loop.c:1: loop_run(NEVER)' 'core/other.c:1: loop_run(NEVER)'
check "the same behind a condition and over two lines" finds waits 'int f(int a)
{
	if (a)
		return fd_wait(1, g(2),
			       (a ? NEVER : 3), 0);
	return 0;
}' 'core/loop.c:5: fd_wait(NEVER)' 'core/other.c:5: fd_wait(NEVER)'
check "the word as a value, compared, and in a timer" finds waits 'void f(long a)
{
	long b = NEVER;

	if (a == NEVER || g(b, b == NEVER))
		loop_timer(1, a > g(2) ? 3 : NEVER, 0);
}'
check "a sleep" finds banned 'void f(void) { usleep(1); }' 'core/loop.c:1: usleep' 'core/other.c:1: usleep' \
	'tests/unit/test_other.c:1: usleep'

printf 'lint: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
