#!/bin/bash
# What is left behind: nothing after a signal, whenever it comes; after SIGKILL no process that lives longer than the
# watchdog's bounds, and nothing at all once `harness clean` ran, which spares what is under way and what is sealed.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

RUNS=$folder/runs
RUNNER='' # the pid of what start() started
runs=()   # ids, cut to eight digits, of the runs that were seen to begin: their containers' names hold them
copy_tree plain

# An agent that stays whatever becomes of its input, so that only a watchdog ends it; the arm waits for it all the while.
mkdir -p "$folder/held"
cat >"$folder/held/held.json" <<'JSON'
{ "title": "an agent that stays", "probes": ["permitted"], "ending": "hold",
  "expect": [{ "subject": "permitted", "observer": "deliveries", "op": "eq", "value": 1, "class": "control" }] }
JSON
HELD=(all -j1 --seed 0 --scenarios "$folder/held")

# ---- looking ----

runner_started() { [ "$(readlink "/proc/$RUNNER/exe")" = "$folder/plain/build/harness" ]; }
runner_ended() { [ ! -e "/proc/$RUNNER/stat" ] || grep -q ') Z' "/proc/$RUNNER/stat" 2>/dev/null; }
unsealed() { # names of runs' folders that hold no bundle
	local run
	for run in "$RUNS"/*-*; do
		[ ! -d "$run" ] || [ -e "$run/confinement-evidence.tar.gz" ] || basename "$run"
	done
}
run_known() { # notes the run's id once its folder is there
	local run
	run=$(unsealed)
	[ -z "$run" ] || [ "${run##*-}" = "${runs[-1]:-}" ] || runs+=("${run##*-}")
	[ -n "$run" ]
}
containers() { # of the runs seen: "id name", one a line
	local run list
	list=$(engine_get '/containers/json?all=1&filters={"label":["harness.run"]}' |
		grep -o '"Id":"[0-9a-f]*","Names":\["/harness-[^"]*"' | sed -E 's/"Id":"([0-9a-f]*)".*"\/([^"]*)"/\1 \2/')
	for run in "${runs[@]}"; do grep -- " harness-$run-" <<<"$list"; done
}
arm_folders() { # of the runs seen
	local run
	for run in "${runs[@]}"; do find /tmp -maxdepth 1 -name "harness-arm-$run*"; done
}
arm_processes() {
	local pid
	for pid in $(ours /harness); do
		! tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q '^harness arm' || echo "$pid"
	done
}
# The first processes of the containers that run, as far as they are the runs' own.
agents() {
	local id
	for id in $(containers | cut -d ' ' -f 1); do
		engine_get "/containers/$id/json" 2>/dev/null | grep -o '"Pid":[1-9][0-9]*' | cut -d : -f 2
	done
}
none() { # COMMAND...: it prints nothing
	local text
	text=$("$@")
	[ -z "$text" ] || { echo "$* has: $text"; return 1; }
}
some() { ! none "$@" >/dev/null; }
any_container() { run_known && some containers; }
nothing_left() { none ours '' && none containers && none arm_folders && none unsealed; }
# What the agent delivered stands behind the beacon: from then on it holds.
delivered() {
	run_known && [ "$(cat /tmp/harness-arm-"${runs[-1]}"*/recorder 2>/dev/null | grep -c '"permitted.tool"')" -gt 0 ]
}
arms_done() { [ "$(grep -c '^\[' "$OUTPUT")" -ge 3 ]; }

# ---- doing ----

# bash starts what runs beside it with SIGINT ignored; a session of its own makes it a group that can be killed whole.
start() { # WORDS...
	CODE=-1 untold=1
	setsid env --default-signal=INT,TERM,HUP "$folder/plain/build/harness" run --out "$RUNS" "$@" \
		>"$OUTPUT" 2>&1 </dev/null &
	RUNNER=$!
	within 5 runner_started
}
await() { # SECONDS: the runner's end, and its exit code
	within "$1" runner_ended || kill -KILL "$RUNNER"
	CODE=0
	wait "$RUNNER" 2>/dev/null || CODE=$?
}
interrupted_at() { # WHAT SIGNAL MOMENT...: a command that succeeds when the moment came
	local what=$1 signal=$2
	shift 2
	start baseline mutation
	check "$what: came" within 20 "$@"
	run_known
	kill "-$signal" "$RUNNER"
	await 20
	check "$what: exit code 3" exits 3
	check "$what: says so" says "interrupted"
	check "$what: nothing is left" within 3 nothing_left
	check "$what: no bundle" none find "$RUNS" -name '*.tar.gz*'
	check "$what: no link" not test -e "$RUNS/latest"
}
# Processes that were there when a part was killed must be gone within the bounds: lease 2 s, and the time to notice.
check_dead() { # WHAT PIDS...
	local what=$1
	shift
	check "$what: there was an agent" test $# -gt 0
	check "$what: the agent is dead in time" within 4 not kill -0 "$@"
}
clean() { harness plain clean; }
check_cleaned() { # WHAT
	check "$1: clean succeeds" exits 0
	check "$1: clean says what it removed" says "removed: "
	check "$1: nothing is left after clean" within 3 nothing_left
}

# ---- signals ----
interrupted_at "SIGINT once the run's folder is there" INT run_known
interrupted_at "SIGINT at the first container" INT any_container
interrupted_at "SIGTERM at the first arm" TERM some arm_processes
interrupted_at "SIGINT at an armed session" INT some ours /watchdog
interrupted_at "SIGHUP after three arms" HUP arms_done

# ---- SIGKILL ----
start "${HELD[@]}"
check "runner killed: an agent holds" within 20 delivered
run_known
mapfile -t pids < <(agents)
kill -KILL "$RUNNER"
await 5
check_dead "runner killed" "${pids[@]}"
check "runner killed: no process of ours is left" within 4 none ours ''
check "runner killed: the container stays for clean" some containers
clean
check_cleaned "runner killed"

start "${HELD[@]}"
check "group killed: an agent holds" within 20 delivered
run_known
mapfile -t pids < <(agents)
kill -KILL -- "-$RUNNER"
await 5
check_dead "group killed" "${pids[@]}"
check "group killed: no process of ours is left" within 4 none ours ''
clean
check_cleaned "group killed"

start "${HELD[@]}"
check "arm killed: an agent holds" within 20 delivered
run_known
mapfile -t pids < <(agents)
mapfile -t arms < <(arm_processes)
kill -KILL "${arms[@]}"
check_dead "arm killed" "${pids[@]}"
await 10
check "arm killed: an error of the harness" exits 3
check "arm killed: the arm is named" says "harness_error: no-result"
check "arm killed: no bundle without a result" says "no arm gave a result: no bundle was written"
check "arm killed: no process and no container is left" within 4 none containers
check "arm killed: no process of ours is left" within 4 none ours ''
clean
check_cleaned "arm killed"

# All at once, the watchdog too: nobody is left to end the agent but clean.
start "${HELD[@]}"
check "all killed: an agent holds" within 20 delivered
run_known
mapfile -t pids < <(agents)
mapfile -t all < <(ours '')
kill -STOP "${all[@]}"
kill -KILL "${all[@]}"
await 5
check "all killed: the agent lives on" kill -0 "${pids[@]}"
clean
check "all killed: a container was removed" not says "removed: 0 containers"
check_dead "all killed, cleaned" "${pids[@]}"
check_cleaned "all killed"

# ---- what clean leaves alone ----
start baseline
check "under way: it is" within 20 some ours /watchdog
run_known
"$folder/plain/build/harness" clean --out "$RUNS" >"$folder/cleaned" 2>&1
check "under way: clean says that it kept it" grep -q '^kept: [1-9]' "$folder/cleaned"
"$folder/plain/build/harness" clean --out "$folder/elsewhere" >"$folder/cleaned" 2>&1
check "under way: also to a clean that looks elsewhere" grep -q '^kept: [1-9]' "$folder/cleaned"
await 60
check "under way: the run passes" exits 0
check "under way: and says so" says "verdict: pass"
check "under way: nothing but the bundle is left" within 3 nothing_left
sum=$(sha256sum <"$RUNS/latest/confinement-evidence.tar.gz")
clean
check "a sealed bundle: clean succeeds" exits 0
check "a sealed bundle: stays as it was" test "$sum" = "$(sha256sum <"$RUNS/latest/confinement-evidence.tar.gz")"
clean
check "clean twice: there is nothing more" says "removed: 0 containers, 0 images, 0 processes, 0 temporary folders, 0 unsealed runs"

finish
