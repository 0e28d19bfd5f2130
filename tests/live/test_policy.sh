#!/bin/bash
# An operator changes the policy of a session that runs: while a call lasts, `harness policy revoke` waits for it, and the
# call behind it is denied. What the agent then misses is seen from outside; but the session is not the scenario's any more:
# its arm establishes nothing, and the bundle names the operator's hand. Nor does one whose own update came out otherwise than
# it says.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"

need_engine
copy_tree tree
HARNESS=$folder/tree/build/harness
rm -rf "${folder:?}/tree/scenarios" "$folder"/tree/effects/* # declarations name scenarios
mkdir "$folder/tree/scenarios"
cat >"$folder/tree/scenarios/operated.json" <<'END'
{
	"title": "an operator takes a tool away while another call lasts",
	"probes": ["slow", "permitted"],
	"expect": [
		{ "subject": "slow", "observer": "deliveries", "op": "eq", "value": 2, "class": "control" },
		{ "subject": "permitted", "observer": "deliveries", "op": "eq", "value": 1, "class": "control" }
	]
}
END
sed -e 's/an operator takes.*"/an update that takes hold, and should not"/' \
	-e 's/"expect"/"updates": [{ "trigger": "slow", "revision": 1, "revoke": "public.tool", "outcome": "stale" }],\n\t&/' \
	"$folder/tree/scenarios/operated.json" >"$folder/tree/scenarios/misstated.json"

policy() { # WORDS...
	CODE=0 untold=1
	"$HARNESS" policy "$@" >"$OUTPUT" 2>&1 </dev/null || CODE=$?
}
listed() {
	session=$("$HARNESS" policy show | sed -n 's/^\([^ ]*\) *operated .* open .*/\1/p')
	[ -n "$session" ]
}
# The agent is in the slow call once the recorder holds its first line.
lasting() { grep -q '"tool":"slow.tool"' "/tmp/harness-arm-$session/recorder"; }
socket_mode() { [ "$(stat -c %a:%F "/tmp/harness-arm-$session/policy")" = 600:socket ]; }
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$HARNESS" policy show; }

session=''
"$HARNESS" run operated --out "$folder/runs" >"$folder/run" 2>&1 </dev/null &
runner=$!
within 20 listed
within 20 lasting
check "the socket is the session's user's alone" socket_mode
began=${EPOCHREALTIME/./}
policy revoke permitted.tool --session "$session"
took=$((${EPOCHREALTIME/./} - began))
check "revoked" exits 0
check "revoked: says so" says "revision 1: permitted.tool is revoked"
check "it waited for the call under way" test "$took" -ge 300000
chmod a+rX "$folder/tree" "$folder/tree/build"
check "nobody else sees a session" test "$(as_nobody)" = "no session of yours is open; those of other users are not shown: use sudo"
CODE=0
wait "$runner" || CODE=$?
cp "$folder/run" "$OUTPUT"
check "the arm did not end well" exits 3
check "it says by whom" says "arm operated: an operator changed the session"
check "the call under way ended" says "slow@deliveries 2 (=2) ?"
check "the next one was denied" says "permitted@deliveries 0 (=1) ?"
check "nothing is established" says "cells: 0 pass, 0 fail, 2 not established"
mkdir "$folder/open"
tar -xzf "$folder/runs/latest/confinement-evidence.tar.gz" -C "$folder/open"
check "the bundle knows of the operator" grep -q '"name":"operator-applied"' "$folder/open/confinement-evidence/arms.json"
policy show
check "nothing is open any more" not grep -q operated "$OUTPUT"
CODE=0
"$HARNESS" run misstated --out "$folder/runs" >"$OUTPUT" 2>&1 </dev/null || CODE=$?
check "an update that should have been refused" exits 3
check "it says so" says "arm misstated: a policy update was acknowledged otherwise than the scenario says"
finish
