#!/bin/bash
# What the tests of planted defects share, beside live.sh; sourced, never run.
# shellcheck disable=SC2034,SC2317 # variables are used, and functions called by name, in the test
# shellcheck source=tests/live/live.sh
. "$(dirname "${BASH_SOURCE[0]}")/live.sh"

PLANT=$BUILD/tests/live-main_plant
# One arm at a time, of which the first is the baseline: what is planted is planted there.
SELECTION=(baseline -j1 --seed 0)

# The bundle says the same as the summary did, and stands on its own.
# An arm that broke is an error of the run; its bundle is intact, and leaves the cells open.
verifies_as() { # CODE
	local status=0 expected=$1
	[ "$expected" -ne 3 ] || expected=2
	"$folder/plain/build/harness" verify "$folder/runs/latest/confinement-evidence.tar.gz" || status=$?
	[ "$status" -eq "$expected" ] || { echo "verify: $status, not $expected"; return 1; }
}

# A planted run: not passed, the cell and the reason are named, and the bundle keeps it.
check_caught() { # WHAT CODES LINE
	local codes
	read -ra codes <<<"$2"
	check "$1: fails or is not established" exits "${codes[@]}"
	check "$1: cell and reason are named" says "$3"
	check "$1: no verdict of pass" not says "verdict: pass"
	check "$1: the sealed bundle says the same" verifies_as "$CODE"
}

# The copy $folder/striking, whose watchdog carries out the lines of $folder/plant when the first arm waits for it, one after
# the other; those behind a line "&" while the arm goes on. Such a shell must not hold what the watchdog was given.
striking_tree() {
	copy_tree striking
	mv "$folder/striking/build/libexec/watchdog" "$folder/striking/build/libexec/watchdog.real"
	cat >"$folder/striking/build/libexec/watchdog" <<SCRIPT
#!/bin/sh
strike() {
	while read -r words; do
		if [ "\$words" = '&' ]; then
			cat >"$folder/later"
			strike <"$folder/later" 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&- &
		else
			"$PWD/$PLANT" \$PPID \$words || cp "$folder/planting" "$folder/plant"
		fi
	done
}
if mv "$folder/plant" "$folder/planting"; then
	strike <"$folder/planting"
fi >/dev/null 2>&1
exec "\$0.real" "\$@"
SCRIPT
	chmod 755 "$folder/striking/build/libexec/watchdog"
}

# Runs with what strikes the baseline while it waits for its watchdog, which is the one to call: the arm can come neither
# before nor after it.
run_struck() { # ACTION PROGRAM [ARGUMENT], and further lines
	echo "$*" >"$folder/plant"
	harness striking run "${SELECTION[@]}"
	check "$*: struck the arm" not test -e "$folder/plant"
}

# A copy whose PROGRAM is standard input, compiled or as a script.
copy_with() { # NAME PROGRAM
	copy_tree "$1" && rm "$folder/$1/build/$2" && cat >"$folder/$1/build/$2" && chmod 755 "$folder/$1/build/$2"
}
