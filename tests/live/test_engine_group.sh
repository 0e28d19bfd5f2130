#!/bin/bash
# The group engine/, which hurts the engine, on one that is started for it; and that no other engine is ever hurt: neither
# one that says nothing, nor one that another's word is laid beside.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

OWN=$folder/own
END_MS=5000 # an arm's end after its window
copy_tree plain

stop_own() { ci/engine stop --own "$OWN" >/dev/null; }
trap 'stop_own; tidy' EXIT

answers() { curl -fsS -m 5 --unix-socket "$1" http://engine/_ping >/dev/null; }
engine_pid() { cut -d ' ' -f 1 "$OWN/own-engine"; }
events() { tar -xzOf "$folder/runs/latest/confinement-evidence.tar.gz" confinement-evidence/arms.json; }
# "ARM LEFT-OR-REMOVED MILLISECONDS" for each arm: from the close of its window to its end. Members come in their order.
ends() {
	events | grep -oE '"arm":"[^"]*"|"atNs":[0-9]+,"name":"(window-closed|removed|left)"' | tr -d '"' | tr ':,' '  ' |
		awk '$1 == "arm" { arm = $2 }
			$4 == "window-closed" { closed[arm] = $2 }
			$4 == "removed" || $4 == "left" { word[arm] = $4; ended[arm] = $2 }
			END { for (arm in closed) printf "%s %s %d\n", arm, word[arm] ? word[arm] : "neither", (ended[arm] - closed[arm]) / 1000000 }'
}
ended_in_time() { # COUNT: of arms
	local arm word took count=0
	while read -r arm word took; do
		[ "$word" != neither ] || { echo "$arm: neither removed nor named"; return 1; }
		[ "$took" -le "$END_MS" ] || { echo "$arm: its end took $took ms"; return 1; }
		count=$((count + 1))
	done < <(ends)
	[ "$count" -eq "$1" ] || { echo "$count arms, not $1"; return 1; }
}
own_containers() { curl -fsS -m 10 --globoff --unix-socket "$OWN/docker.sock" 'http://engine/containers/json?all=1' | grep -o '"Id":"[0-9a-f]*"'; }

# ---- never the user's ----
users=$(engine_get /info | grep -o '"ID":"[^"]*"')
harness plain run engine
check "the user's engine: refused" exits 3
check "the user's engine: says what to do" says "ci/engine start --own DIR"
check "the user's engine: no arm was begun" not says "[1/"

# ---- an engine of one's own ----
check "own: starts" ci/engine start --own "$OWN"
check "own: answers" answers "$OWN/docker.sock"
first=$(engine_pid)
check "own: started again it is the same" ci/engine start --own "$OWN"
check "own: the same process" test "$first" = "$(engine_pid)"
check "own: says where it is" test "$(ci/engine start --own "$OWN")" = "$OWN/docker.sock"

# Its word beside another's socket: a socket that leads to the user's engine, in a folder of root's that names it.
mkdir -p "$folder/lies"
ln -s "$SOCKET" "$folder/lies/docker.sock"
cp "$OWN/own-engine" "$folder/lies/own-engine"
harness plain run engine/killed --socket "$folder/lies/docker.sock"
check "a link to the user's engine: refused" exits 3
cp "$OWN/own-engine" "$OWN/kept"
chmod 666 "$OWN/own-engine"
harness plain run engine/killed --socket "$OWN/docker.sock"
check "a word that others could have written: refused" exits 3
check "a word that others could have written: says so" says "may not be hurt"
chmod 644 "$OWN/own-engine"
echo "1 1" >"$OWN/own-engine"
harness plain run engine/killed --socket "$OWN/docker.sock"
check "another process's word: refused" exits 3
mv "$OWN/kept" "$OWN/own-engine"

# ---- the group ----
harness plain run engine --socket "$OWN/docker.sock"
check "the group: passes" exits 0
check "the group: says so" says "verdict: pass"
arms=$(events | grep -o '"arm":"engine/' | wc -l)
check "the group: every scenario was an arm" test "$arms" -eq "$(find scenarios/engine -name '*.json' | wc -l)"
check "the group: each arm ended in time, and removed or named its container" ended_in_time "$arms"
check "the group: some engine was still away or stood still" grep -q ' left ' <(ends)
check "the group: no container is left" not own_containers
check "the group: no process is left" test -z "$(ours '')"
check "the group: the engine is another process now" test "$first" != "$(engine_pid)"
ends | while read -r arm word took; do echo "$name: $arm: $word $took ms after its window"; done

# ---- gone without a trace, and the user's as it was ----
check "own: stops" stop_own
check "own: stops twice" stop_own
check "own: its processes are gone" not pgrep -f "$OWN"
check "own: its bridge is gone" test -z "$(find /sys/class/net -name "hown$(printf '%s' "$OWN" | sha256sum | cut -c 1-8)")"
check "own: nothing is mounted below it" not grep -qF " $OWN/" /proc/self/mountinfo
check "the user's engine: is the same" test "$users" = "$(engine_get /info | grep -o '"ID":"[^"]*"')"

finish
