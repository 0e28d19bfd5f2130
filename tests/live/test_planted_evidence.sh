#!/bin/bash
# Evidence that is spoiled or made up: the recorder's file, cut after it held the canary and before it was counted for the
# last time, and an observer that says of itself that it could see. Neither must end as passed.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/planted.sh
. "$(dirname "$0")/planted.sh"
need_engine

copy_tree plain
striking_tree

# ---- nothing planted: else none of the following would show anything ----
harness plain run "${SELECTION[@]}"
check "nothing planted: passes" exits 0

# ---- the recorder's file, once the permitted call stands in it ----
# The observer stands still meanwhile, so that it is neither before nor after it: it has read the beacon's line, not the
# call's. What it then finds is no longer what it read, or no whole lines.
for action in cut halve replace; do
	run_struck "stop observer-deliveries
&
$action recorder permitted.tool
resume observer-deliveries"
	check_caught "the recorder's file: $action" 2 \
		"not established: baseline denied@deliveries - (=0): the observer did not prove that it could see"
	check "the recorder's file: $action: what was delivered does not count either" says \
		"not established: baseline permitted@deliveries - (=1)"
done

# ---- an observer that lies ----
# Its beacons are its own word, and so is its zero. The mutant finds it out: what must arrive there did not.
copy_with lying libexec/observer-tcp <"$BUILD/tests/live-main_liar"
harness lying run "${SELECTION[@]}"
check_caught "an observer that lies" 1 "fail: not caught: mutation/network: installed, and"
check "an observer that lies: the mutant's count contradicts" says \
	"fail: mutation/network tcp4@tcp4 0 (=1): the value contradicts the expectation"
check "an observer that lies: earns nothing" says \
	"not established: baseline tcp4@tcp4 0 (=0): no mutant of this run made this probe arrive here"
check "an observer that lies: the others still earn theirs" says "file@files-archive 0 (=0)"

finish
