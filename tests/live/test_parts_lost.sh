#!/bin/bash
# An arm that is killed or stands still, and a runner that is killed: their observers go with them, so that this script,
# which has no part in the session, judges when the agent is dead. Each also while the agent floods its stream. What is
# left five seconds later is nothing, or a container that says by its label whose it was, and no bundle was written.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

RUNS=$folder/runs
EOF_MS=1000       # after the end of a pipe
LEASE_MS=3000     # a lease of two seconds, and one more
REST_MS=5000      # for what is left
FLOOD_BYTES=10000000
RUNNER='' RUN='' STRUCK=''
copy_tree plain

mkdir -p "$folder/quiet" "$folder/flood"
cat >"$folder/quiet/held.json" <<'JSON'
{ "title": "an agent that stays", "probes": ["permitted"], "ending": "hold",
  "expect": [{ "subject": "permitted", "observer": "deliveries", "op": "eq", "value": 1, "class": "control" }] }
JSON
cat >"$folder/flood/held.json" <<'JSON'
{ "title": "an agent that floods, and stays", "probes": ["permitted"], "ending": "hold",
  "misbehaviour": { "id": "flood-stderr", "count": 1099511627776 }, "limits": { "stderrBytes": 1099511627776 },
  "windowMs": 60000,
  "expect": [{ "subject": "permitted", "observer": "deliveries", "op": "eq", "value": 1, "class": "control" }] }
JSON

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
runs_on() { # PID: it exists and is no zombie
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) && [[ ${stat##*) } != Z* ]]
}
run_known() {
	local path
	for path in "$RUNS"/*-*; do [ ! -d "$path" ] || RUN=${path##*-}; done
	[ -n "$RUN" ]
}
containers() { # ids of those of this run that are an arm's and bear its label
	engine_get '/containers/json?all=1&filters={"label":["harness.run"]}' |
		grep -o "\"Id\":\"[0-9a-f]*\",\"Names\":\[\"/harness-$RUN-arm-[^\"]*\"" | sed -E 's/"Id":"([0-9a-f]*)".*/\1/'
}
agent() {
	local id
	id=$(containers | head -n 1)
	[ -z "$id" ] || engine_get "/containers/$id/json" 2>/dev/null | grep -o '"Pid":[1-9][0-9]*' | head -n 1 | cut -d : -f 2
}
arm_process() {
	local pid
	for pid in $(ours /harness); do
		! tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q '^harness arm' || echo "$pid"
	done
}
# Of the arm that this script started: other runs may be under way.
delivered() {
	local pid
	for pid in $(arm_process); do
		find "/proc/$pid/fd" -lname '*/recorder' -exec grep -qs '"permitted.tool"' {} \; -print -quit
	done | grep -q .
}
floods() { # PID: it has written that much, whoever reads it
	local written
	written=$(sed -n 's/^wchar: //p' "/proc/$1/io" 2>/dev/null)
	[ "${written:-0}" -gt "$FLOOD_BYTES" ]
}
nothing_runs() { [ -z "$(ours '')" ]; }
no_container() { [ -z "$(containers)" ]; }
no_bundle() { [ -z "$(find "$RUNS" -name '*.tar.gz*')" ] && [ ! -e "$RUNS/latest" ]; }

held() { # QUIET|FLOOD: a run whose agent holds; its pid is in AGENT
	rm -rf "$RUNS"
	RUN='' CODE=-1 untold=1
	setsid "$folder/plain/build/harness" run all -j1 --seed 0 --out "$RUNS" --scenarios "$folder/$1" >"$OUTPUT" 2>&1 </dev/null &
	RUNNER=$!
	check "$2: an agent holds" within 20 delivered
	run_known
	AGENT=$(agent)
	check "$2: it has a process" test -n "$AGENT"
	[ "$1" != flood ] || check "$2: it floods" within 5 floods "$AGENT"
	check "$2: it lives" runs_on "$AGENT"
}
dead_within() { # MS
	local took
	while runs_on "$AGENT" && [ $(($(now_ms) - STRUCK)) -le $(($1 * 3)) ]; do read -rt 0.005 <> <(:) || true; done
	took=$(($(now_ms) - STRUCK))
	DEAD_AFTER=$took
	[ "$took" -gt "$1" ] || ! runs_on "$AGENT" || took=never
	[ "$took" != never ] && [ "$took" -le "$1" ] && return
	echo "dead after $took ms, at most $1"
	return 1
}
rest() { # COMMAND...: true within five seconds of the loss
	local left=$((REST_MS - ($(now_ms) - STRUCK)))
	within_ms $((left > 0 ? left : 1)) "$@"
}
within_ms() {
	local end=$(($(now_ms) + $1))
	shift
	until "$@"; do
		[ "$(now_ms)" -lt "$end" ] || { echo "not in time: $*"; return 1; }
		sleep 0.02
	done
}
ended() { ! runs_on "$RUNNER"; }
code() { CODE=0; wait "$RUNNER" 2>/dev/null || CODE=$?; }

lose() { # WHAT QUIET|FLOOD SIGNAL BOUND COMMAND-THAT-PRINTS-PIDS
	local what="$1, $2" pids
	held "$2" "$what"
	mapfile -t pids < <("$5")
	check "$what: there is something to lose" test "${#pids[@]}" -gt 0
	STRUCK=$(now_ms)
	kill "-$3" "${pids[@]}"
	check "$what: dead within its bound" dead_within "$4"
	echo "$name: $what: dead after $DEAD_AFTER ms of at most $4"
}
runner_process() { echo "$RUNNER"; }

for kind in quiet flood; do
	# The run removes what the arm left, and says that the arm gave no result.
	for loss in "KILL killed $EOF_MS" "STOP paused $LEASE_MS"; do
		read -r signal word bound <<<"$loss"
		lose "arm $word" "$kind" "$signal" "$bound" arm_process
		check "arm $word, $kind: the run ends" rest ended
		code
		check "arm $word, $kind: an error of the harness" exits 3
		check "arm $word, $kind: the arm is named" says "held"
		check "arm $word, $kind: nothing is left of it" rest no_container
		check "arm $word, $kind: no process is left" rest nothing_runs
		check "arm $word, $kind: no bundle" no_bundle
	done
	# Nobody is left to remove the container: it says whose it was, and clean takes it.
	lose "runner killed" "$kind" KILL "$EOF_MS" runner_process
	code
	check "runner killed, $kind: no process is left" rest nothing_runs
	check "runner killed, $kind: no bundle" no_bundle
	check "runner killed, $kind: a container that stayed bears the run's label" not no_container
	harness plain clean
	check "runner killed, $kind: clean succeeds" exits 0
	check "runner killed, $kind: nothing is left after it" within 2 no_container
done

finish
