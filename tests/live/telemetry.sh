#!/bin/bash
# What the tests of the gateway's records share; sourced, never run: values of the bundle in $BUNDLE, without our judge.
# shellcheck disable=SC2034,SC2154,SC2317 # check() calls functions by name
BUNDLE=$folder/runs/latest/confinement-evidence.tar.gz

# Into $folder/seen: lines of observations.jsonl, as "arm subject observer value status beaconBefore beaconAfter dropped".
read_observations() {
	tar -xzOf "$BUNDLE" confinement-evidence/observations.jsonl | python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["arm"], o["subject"], o["observer"], o["value"], o["status"], o["beaconBefore"], o["beaconAfter"], o["dropped"])' >"$folder/seen"
}
value() { # ARM SUBJECT OBSERVER: of an observer that proved that it could see
	awk -v arm="$1" -v subject="$2" -v observer="$3" \
		'$1 == arm && $2 == subject && $3 == observer && $5 == "observed" && $6 > 0 && $7 > 0 && $8 == 0 { print $4 }' \
		"$folder/seen"
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
	local text
	text=$("$folder/tree/build/harness" verify "$BUNDLE")
	grep -q "^verdict, made again: $1:" <<<"$text" || { echo "$text"; return 1; }
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
