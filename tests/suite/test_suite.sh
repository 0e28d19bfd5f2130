#!/bin/bash
# The engine of another Debian suite: the scenarios pass there too, and a bundle of this host's engine is reproduced on it, with
# the difference of the engines listed. A run enters the other engine's network namespace, as the program says when it is not told to.
# SUITE names the suite (trixie).
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/../live/live.sh"
need_engine
SUITE=${SUITE:-trixie}
if ! ci/deps --check suite >/dev/null 2>&1; then
	skip "debootstrap is missing (ci/deps suite)"
	finish
fi
ran=$(ci/engine status --suite "$SUITE" 2>/dev/null || true)
if ! other=$(ci/engine start --suite "$SUITE"); then
	check "the engine of $SUITE starts" false
	finish
fi
end_suite() { [ -n "$ran" ] || ci/engine stop --suite "$SUITE"; }
trap 'end_suite >/dev/null; tidy' EXIT

# The process behind the socket, for the namespace.
pid=$(ci/engine status --suite "$SUITE" | grep -oE 'pid [0-9]+' | cut -d ' ' -f 2)
there() { # VERB WORDS...: as harness(), from the other engine's network namespace
	CODE=0 untold=1
	nsenter --net="/proc/$pid/ns/net" "$folder/tree/build/harness" "$1" --out "$folder/runs" --socket "$other" "${@:2}" \
		>"$OUTPUT" 2>&1 </dev/null || CODE=$?
}
copy_tree tree
version() { curl -fsS -m 10 --unix-socket "$1" http://engine/version | grep -oE '"Version":"[^"]*"' | head -n 1; }
check "it is another version" test "$(version "$SOCKET")" != "$(version "$other")"

harness tree run baseline
check "here: the run passes" exits 0
cp "$folder/runs/latest/confinement-evidence.tar.gz" "$folder/first.tar.gz"

harness tree replay --socket "$other" "$folder/first.tar.gz"
check "from another namespace: is not attempted" exits 2 3
check "from another namespace: says how" says "nsenter --net=/proc/$pid/ns/net"

there replay "$folder/first.tar.gz"
check "there: is reproduced" exits 0
check "there: says that the environment differs" says "REPRODUCED_ENV_DIFFERS"
check "there: names the engine's version" says "engine.version"
check "there: the bundle verifies" "$folder/tree/build/harness" verify "$folder/runs/latest/confinement-evidence.tar.gz"

there run failure lifecycle/bridge-killed
check "there: the failures pass too" exits 0
there clean
check "there: nothing is left" exits 0
finish
