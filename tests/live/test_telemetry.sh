#!/bin/bash
# The gateway's records beside both gateways: ours leaves nothing of what calls bear in them, and each of its mutants does; the
# real cMCP keeps its chain and its spans, and the harness names where it keeps more than it should.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine
copy_tree tree
BUNDLE=$folder/runs/latest/confinement-evidence.tar.gz

# Lines of observations.jsonl, read without our judge: "arm subject observer value status beaconBefore beaconAfter dropped".
seen() {
	tar -xzOf "$BUNDLE" confinement-evidence/observations.jsonl | python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["arm"], o["subject"], o["observer"], o["value"], o["status"], o["beaconBefore"], o["beaconAfter"], o["dropped"])'
}
value() { # ARM SUBJECT OBSERVER: of an observer that proved that it could see
	seen | awk -v arm="$1" -v subject="$2" -v observer="$3" \
		'$1 == arm && $2 == subject && $3 == observer && $5 == "observed" && $6 > 0 && $7 > 0 && $8 == 0 { print $4 }'
}
is() { # VALUE ARM SUBJECT OBSERVER
	local found
	found=$(value "${@:2}")
	[ "$found" = "$1" ] || { echo "seen: '$found'"; return 1; }
}
is_more() { # than 0: ARM SUBJECT OBSERVER
	local found
	found=$(value "$@")
	[ "${found:-0}" -gt 0 ] || { echo "seen: '$found'"; return 1; }
}
absent() { # ARM SUBJECT...: at every record
	local subject observer
	for subject in "${@:2}"; do
		for observer in output spans audit audit-bytes; do
			is 0 "$1" "$subject" "$observer" || return 1
		done
	done
}
again() { # VERDICT: what a verifier makes of the bundle
	"$folder/tree/build/harness" verify "$BUNDLE" | grep -q "^verdict, made again: $1:"
}
failed() { # the cells that fail, and no other: WORDS...
	local cells
	cells=$(tar -xzOf "$BUNDLE" confinement-evidence/verdicts.json | python3 -c '
import json, sys
for c in json.load(sys.stdin)["cells"]:
    if c["verdict"] != "pass":
        print(c["arm"].split("/")[1], c["subject"], c["observer"], c["verdict"], sep=":")' | sort)
	[ "$cells" = "$(printf '%s\n' "$@" | sort)" ] || { echo "$cells"; return 1; }
}

harness tree run telemetry
check "ours: the run passes" exits 0
check "ours: the bundle verifies" "$folder/tree/build/harness" verify "$BUNDLE"
check "arguments: nowhere" absent telemetry/arguments permitted permitted-again in-key in-url in-blocked tool-name
check "arguments: in a key, delivered" is 1 telemetry/arguments in-key deliveries
check "arguments: in a URL, delivered" is 1 telemetry/arguments in-url deliveries
check "arguments: blocked, not delivered" is 0 telemetry/arguments in-blocked deliveries
check "arguments: four rows of what was allowed" is 4 telemetry/arguments audit-allow audit
check "arguments: two rows of what was denied" is 2 telemetry/arguments audit-deny audit
check "arguments: an intent before each effect" is 4 telemetry/arguments audit-intent audit
check "arguments: the upstream's environment is empty" is 0 telemetry/arguments upstream-environment children
for arm in refuses breaks-off complains echoes; do
	check "an upstream that $arm: nowhere" absent "telemetry/upstream-$arm" permitted permitted-again
	check "an upstream that $arm: it did" is 1 "telemetry/upstream-$arm" peer-acted deliveries
done
check "an audit database that fails: nowhere" absent telemetry/audit-fails permitted
check "an audit database that fails: no effect" is 0 telemetry/audit-fails permitted deliveries
check "a collector that fails: it was asked" is_more telemetry/collector-fails peer-acted deliveries
check "a collector that fails: not in what was written" is 0 telemetry/collector-fails permitted output
check "a collector that fails: the call goes on" is 1 telemetry/collector-fails permitted-again deliveries
check "raised meanwhile: denied" is 0 telemetry/raised-meanwhile raised deliveries
check "stays raised: denied" is 0 telemetry/stays-raised denied-then deliveries
check "an undeclared program: not started" is 0 telemetry/undeclared permitted deliveries
check "mutants: a log" is_more telemetry/arguments-logged permitted output
check "mutants: a span" is_more telemetry/arguments-in-span in-key spans
check "mutants: a row" is_more telemetry/arguments-in-row in-url audit-bytes
check "mutants: an error" is_more telemetry/arguments-in-error tool-name output
check "mutants: an environment" is_more telemetry/environment-inherited permitted children
check "mutants: a ceiling that is looked at once" is 1 telemetry/raised-meanwhile-passed raised deliveries
check "mutants: a session that falls" is 1 telemetry/stays-raised-fallen denied-then deliveries
check "mutants: an undeclared program" is 1 telemetry/undeclared-started permitted deliveries

if ! ci/cmcp --check >/dev/null 2>&1; then
	skip "cMCP is not installed (ci/cmcp)"
	finish
fi
ln -s "$PWD/build/cmcp" "$folder/tree/build/cmcp"
harness tree run --gateway cmcp telemetry
check "cMCP: the run fails" exits 1
check "cMCP: on what it keeps of calls, and nothing else" failed arguments:tool-name:audit:fail \
	arguments:tool-name:audit-bytes:fail arguments:tool-name:spans:fail arguments:upstream-environment:children:fail \
	audit-fails:permitted:output:fail
check "cMCP: its chain holds" is 0 telemetry/arguments audit-chain audit
check "cMCP: rows of what was allowed" is 4 telemetry/arguments audit-allow audit
check "cMCP: rows of what was denied" is 2 telemetry/arguments audit-deny audit
check "cMCP: spans" is_more telemetry/arguments spans spans
check "cMCP: no value in a record" absent telemetry/arguments permitted in-key in-url in-blocked
check "cMCP: the bundle verifies, as a failed one" again fail
finish
