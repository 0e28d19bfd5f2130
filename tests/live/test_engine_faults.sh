#!/bin/bash
# The engine fails a whole run at any one of its calls: the connection ends, the answer is cut, truncated, garbled, held or
# late, or the engine is gone from then on. A program between the two does that (tests/live/main_proxy.c). The run ends in
# time, with lines that a person can read; a broken call is never a leak and a missing one never a pass; and what is left is
# named, and nothing after clean.
#
#   POINTS=14 SEED=n     how many of the faults, drawn at random; EVERY=1: every fault at every call; ONLY="gone 11": that one
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

POINTS=${POINTS:-14}
SEED=${SEED:-$((${EPOCHREALTIME/./} % 1000000))}
RUNS=$folder/runs
FAULTS=(drop cut truncate garble hold delay gone)
RUN_SECONDS=200 # an image that is not loaded is given up after 60 s, a start after 30
RUNNER='' PROXY='' run=''
copy_tree plain
write_pair
mkdir "$folder/proxy"
cp "$BUILD/tests/live-main_proxy" "$folder/proxy/dockerd"

# ---- looking ----

runner_ended() { [ ! -e "/proc/$RUNNER/stat" ] || grep -q ') Z' "/proc/$RUNNER/stat" 2>/dev/null; }
# The run's folder may be gone when the run is: its id, eight digits, is noted while it goes on.
watched() {
	local path
	for path in "$RUNS"/*Z-*; do [ ! -d "$path" ] || run=${path##*-}; done
	runner_ended
}
ready() { grep -q '^ready' "$folder/proxy/log" 2>/dev/null; }
containers() {
	[ -z "$run" ] || engine_get '/containers/json?all=1&filters={"label":["harness.run"]}' |
		grep -oF "\"/harness-$run-" || true
}
helpers() { ours '/build/*'; }
arm_folders() { [ -z "$run" ] || find /tmp -maxdepth 1 -name "harness-arm-$run*"; }
left_in_runs() { find "$RUNS" -mindepth 1 \( -name lock -o -name observations.jsonl -o -name '*.tmp' -o -name '.*' \) 2>/dev/null; }
none() { # COMMAND...: it prints nothing
	local text
	text=$("$@")
	[ -z "$text" ] || { echo "$* has: $text"; return 1; }
}
named() { # what is left is spoken of
	none containers >/dev/null || says "harness clean"
}
tells() { # a run without a bundle says why, in whole lines
	[ "$CODE" -ne 3 ] || grep -qa '^harness: ' "$OUTPUT"
}
no_noise() { # no byte of an answer, spoiled or not, in what is said
	not env LC_ALL=C grep -naP '[^\x20-\x7e\t]' "$OUTPUT"
}
verifies() { # the bundle, if there is one
	local bundle code=0
	bundle=$(find "$RUNS" -name confinement-evidence.tar.gz 2>/dev/null)
	[ -n "$bundle" ] || return 0
	"$folder/plain/build/harness" verify "$bundle" >"$folder/verified" 2>&1 || code=$?
	if [[ $code =~ ^[02]$ ]] && ! grep -q '^fail' "$folder/verified"; then return; fi
	cat "$folder/verified"
	return 1
}

# ---- doing ----

spoiled_run() { # FAULT N
	rm -rf "$RUNS"
	rm -f "$folder/proxy/socket" "$folder/proxy/log"
	run='' CODE=0 untold=1
	"$folder/proxy/dockerd" "$folder/proxy/socket" "$SOCKET" "$1" "$2" >"$folder/proxy/log" 2>&1 </dev/null &
	PROXY=$!
	within 5 ready
	"$folder/plain/build/harness" run -q --seed 0 --socket "$folder/proxy/socket" --out "$RUNS" all --scenarios "$folder/pair" \
		>"$OUTPUT" 2>&1 </dev/null &
	RUNNER=$!
	within "$RUN_SECONDS" watched || kill -KILL "$RUNNER"
	wait "$RUNNER" 2>/dev/null || CODE=$?
	kill -KILL "$PROXY" 2>/dev/null
	wait "$PROXY" 2>/dev/null
}
point() { # FAULT N
	local what
	spoiled_run "$1" "$2"
	what="$1 at call $2: $(sed -n "s/^$2 //p" "$folder/proxy/log" | sed -E 's/[0-9a-f]{64}/ID/g' | cut -d ' ' -f 1,2 | cut -c 1-60)"
	if [ "$1" = delay ]; then
		check "$what: a late answer is none that is missing" exits 0 2
	else
		check "$what: never a leak, nor a crash" exits 0 2 3
	fi
	check "$what: says why" tells
	check "$what: nothing of an answer is repeated" no_noise
	check "$what: a bundle is whole" verifies
	check "$what: no half bundle" none left_in_runs
	check "$what: no process is left" within 5 none helpers
	check "$what: no folder of an arm is left" none arm_folders
	check "$what: a container that stays is named" named
	harness plain clean
	check "$what: clean succeeds" exits 0
	check "$what: no container is left" none containers
}

spoiled_run none 0
check "nothing spoiled: the run ends" exits 0 2
calls=$(grep -c '^[0-9]' "$folder/proxy/log")
check "nothing spoiled: the calls were seen" test "$calls" -gt 30
printf '%s: SEED=%s POINTS=%s of %d calls and %d faults\n' "$name" "$SEED" "$POINTS" "$calls" "${#FAULTS[@]}"

if [ -n "${ONLY:-}" ]; then
	read -r fault number <<<"$ONLY"
	point "$fault" "$number"
elif [ -n "${EVERY:-}" ]; then
	for ((i = 1; i <= calls; i++)); do for fault in "${FAULTS[@]}"; do point "$fault" "$i"; done; done
else
	RANDOM=$SEED
	for ((i = 0; i < POINTS; i++)); do point "${FAULTS[i % ${#FAULTS[@]}]}" $((RANDOM % calls + 1)); done
fi

finish
