#!/bin/bash
# The engine tells of a change before it answers the request for it: the session may be over by then, and what was asked for
# never began. A program between the two makes each such answer late (tests/live/main_proxy.c).
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

PROXY=''
copy_tree plain
mkdir "$folder/proxy"
cp "$BUILD/tests/live-main_proxy" "$folder/proxy/dockerd"

ready() { grep -q '^ready' "$folder/proxy/log" 2>/dev/null; }
late_run() { # PART SCENARIO
	rm -f "$folder/proxy/socket" "$folder/proxy/log"
	"$folder/proxy/dockerd" "$folder/proxy/socket" "$SOCKET" delay 0 "$1" >"$folder/proxy/log" 2>&1 </dev/null &
	PROXY=$!
	within 5 ready
	harness plain run --socket "$folder/proxy/socket" "$2"
	kill -KILL "$PROXY" 2>/dev/null
	wait "$PROXY" 2>/dev/null
}

late() { # PART SCENARIO
	late_run "$1" "$2"
	check "$2: the answer was late" grep -q -- "$1" "$folder/proxy/log"
	check "$2: the session ended, and its zeros were earned" exits 0
}

late "/exec " watch/exec
late /update watch/update
late /rename watch/rename
late /disconnect watch/disconnect

finish
