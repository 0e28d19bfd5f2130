#!/bin/bash
# The real cMCP in the place of our gateway: what is permitted arrives once, what the ceiling denies does not, with the ceiling
# raised it does; and a fault of it is told from a denial.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine
if ! ci/cmcp --check >/dev/null 2>&1; then
	skip "cMCP is not installed (ci/cmcp)"
	finish
fi
copy_tree tree
ln -s "$PWD/build/cmcp" "$folder/tree/build/cmcp"
BUNDLE=$folder/runs/latest/confinement-evidence.tar.gz

member() { tar -xzOf "$BUNDLE" "confinement-evidence/$1"; } # NAME
holds() { # MEMBER PATTERN...: all of them
	local text pattern
	text=$(member "$1") || return 1
	shift
	for pattern; do grep -qE -- "$pattern" <<<"$text" || { echo "not there: $pattern"; return 1; }; done
}
# Of verdicts.json: a cell with this value passed. Keys are sorted.
cell() { # ARM SUBJECT OBSERVER VALUE
	member verdicts.json | grep -oE '\{"arm":"[^}]*\}' |
		grep -F "\"arm\":\"$1\"" | grep -F "\"observer\":\"$3\"" | grep -F "\"subject\":\"$2\"" | grep -F "\"value\":$4," |
		grep -qF '"verdict":"pass"' || { echo "no such cell: $*"; return 1; }
}
gone() { # no process of cMCP is left that an arm of this test started
	! grep -lsF "$folder" /proc/[0-9]*/cmdline | grep -q . && ! ls -d /tmp/harness-arm-"$(run_id)"* 2>/dev/null
}
run_id() { member manifest.json | grep -o '"runId":"[0-9a-f]*"' | cut -d '"' -f 4 | cut -c 1-8; }

harness tree run --gateway cmcp baseline mutation/sink-ceiling
check "the run: passes" exits 0
check "the run: says what is not planned" says "permitted@decisions of baseline: unsupported-decisions"
check "permitted: arrives once" cell baseline permitted deliveries 1
check "denied: does not arrive" cell baseline denied deliveries 0
check "denied: arrives with the ceiling raised" cell mutation/sink-ceiling denied deliveries 1
check "the bundle names the gateway" holds manifest.json '"gateway":\{"composed":true,"kind":"cmcp","raised":false,"sha256":"[0-9a-f]{64}","version":"0\.7\.1"\}'
check "the bundle verifies" "$folder/tree/build/harness" verify "$BUNDLE"
check "nothing is left" within 5 gone

# An upstream that dies under a call is a fault, which ends the session: a denial would not.
harness tree run --gateway cmcp failure/upstream-dies
check "a fault: the run passes" exits 0
check "a fault: ended the session" holds arms.json '"name":"ended","subject":"gateway-fault"'
check "a fault: ends within a second" holds verdicts.json '"subject":"loss_to_dead"'

finish
