#!/bin/bash
# What the live tests in shell share; sourced, never run. A test works on copies of what was built, in a temporary folder of
# its own: so it may replace a program, and knows every process that it is answerable for.
# Variables: $folder (temporary), $name (of the test), $OUTPUT (file with what the last harness printed), $CODE (its exit).
# shellcheck disable=SC2317 # check() and the trap call functions by name
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

BUILD=${BUILD:-build}
SOCKET=/var/run/docker.sock
name=$(basename "$0" .sh)
passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-live.XXXXXX") || exit 1
chmod 755 "$folder"
OUTPUT=$folder/output
CODE=-1
untold='' # whether a failed check has yet to show $OUTPUT

# Processes whose program lies in the test's own folder.
ours() { # END OF ITS PATH: /watchdog, or "" for all
	find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname "$folder/*$1" 2>/dev/null | cut -d / -f 3
}

tidy() {
	local pid tree
	for pid in $(ours ''); do kill -KILL "$pid" 2>/dev/null; done
	for tree in "$folder"/*/build/harness; do
		[ ! -x "$tree" ] || [ "$(id -u)" -ne 0 ] || "$tree" clean --out "$folder/runs" >/dev/null 2>&1
	done
	rm -rf "$folder"
}
trap tidy EXIT
trap 'exit 130' INT TERM

finish() {
	printf '%s: %d passed, %d failed, %d skipped\n' "$name" "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ]
	exit
}

skip() { # WHY
	printf '%s: skipped: %s\n' "$name" "$1"
	skipped=$((skipped + 1))
}

# A test that has to have root and an engine, and finds none, says so and ends.
need_engine() {
	if [ "$(id -u)" -ne 0 ]; then
		skip "needs root"
		finish
	fi
	if ! curl -fsS -m 5 --unix-socket "$SOCKET" http://engine/_ping >/dev/null 2>&1; then
		skip "no engine answers on $SOCKET (ci/engine start)"
		finish
	fi
}

# One check: the rest is a command, which must succeed.
check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/check" 2>&1; then
		passed=$((passed + 1))
		return
	fi
	failed=$((failed + 1))
	printf '%s: FAILED: %s\n' "$name" "$what"
	sed 's/^/    /' "$folder/check" | head -n 20
	if [ -n "$untold" ] && [ -s "$OUTPUT" ]; then
		printf '    the last harness ended with %s and said:\n' "$CODE"
		tail -n 30 "$OUTPUT" | sed 's/^/    | /'
		untold=''
	fi
}

not() { ! "$@"; }

# The copy $folder/NAME: build/harness, build/agent, build/libexec, scenarios and effects, as in a tree.
copy_tree() { # NAME
	mkdir -p "$folder/$1/build" && cp -a "$BUILD/harness" "$BUILD/agent" "$BUILD/libexec" "$folder/$1/build" &&
		cp -a scenarios effects "$folder/$1"
}

# The folder $folder/pair of two scenarios: the baseline, of whose zeros the file's alone stand in it, and the one mutant
# that earns them.
write_pair() {
	mkdir -p "$folder/pair/mutation" && cp scenarios/mutation/read-only.json "$folder/pair/mutation" &&
		grep -vE '"observer": "(tcp|udp|capture|logs|deliveries", "op": "eq", "value": 0)|"subject": "(tcp|dns)' \
			scenarios/baseline.json >"$folder/pair/baseline.json"
}

# Runs a copy's harness; its runs are kept in $folder/runs.
harness() { # NAME VERB WORDS...
	local tree=$1 verb=$2
	shift 2
	CODE=0 untold=1
	"$folder/$tree/build/harness" "$verb" --out "$folder/runs" "$@" >"$OUTPUT" 2>&1 </dev/null || CODE=$?
}

exits() { # CODE...
	local code
	for code; do [ "$CODE" -ne "$code" ] || return 0; done
	echo "exit code $CODE, expected: $*"
	return 1
}

says() { grep -qaF -- "$1" "$OUTPUT" || { echo "not said: $1"; return 1; }; }

# Printable ASCII, tabs and line feeds alone.
says_no_escapes() { not env LC_ALL=C grep -naP '[^\x20-\x7e\t]' "$OUTPUT"; }

engine_get() { curl -fsS -m 10 --globoff --unix-socket "$SOCKET" "http://engine$1"; }

# Waits for an event that nobody announces: until the command succeeds, at most SECONDS.
within() { # SECONDS COMMAND...
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@" >"$folder/within" 2>&1; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || { cat "$folder/within"; echo "not in time: $*"; return 1; }
		sleep 0.02
	done
}
