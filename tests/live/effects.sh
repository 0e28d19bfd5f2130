#!/bin/bash
# What the live tests of effects share, beside live.sh; sourced, never run.
# shellcheck disable=SC2034,SC2317 # variables are used, and functions called by name, in the test
# shellcheck source=tests/live/live.sh
. "$(dirname "${BASH_SOURCE[0]}")/live.sh"

# "SUBJECT VALUE" of what the observer of orders saw in an arm. Members come in their order.
saw() { # ARM
	tar -xzOf "$folder/runs/latest/confinement-evidence.tar.gz" confinement-evidence/observations.jsonl |
		sed -nE "s#^\{\"arm\":\"effects/$1\".*\"observer\":\"orders\".*\"status\":\"observed\",\"subject\":\"([^\"]*)\".*\"value\":([0-9]+).*#\1 \2#p" |
		sort | tr '\n' ';'
}
sees() { # ARM VALUES
	[ "$(saw "$1")" = "$2" ] || { saw "$1"; return 1; }
}
# The reasons for which that observer saw nothing in an arm.
blind_by() { # ARM REASON
	local got
	got=$(tar -xzOf "$folder/runs/latest/confinement-evidence.tar.gz" confinement-evidence/observations.jsonl |
		sed -nE "s#^\{\"arm\":\"effects/$1\".*\"observer\":\"orders\",\"reason\":\"([^\"]*)\".*\"status\":\"not_observable\".*#\1#p" | sort -u)
	[ "$got" = "$2" ] || { echo "reasons: $got"; return 1; }
}

# What the last run says of the declared effect.
claims() { # TREE
	CODE=0 untold=1
	"$folder/$1/build/harness" effects claims "$folder/runs/latest/confinement-evidence.tar.gz" >"$OUTPUT" 2>&1 || CODE=$?
}
# "STATUS REASON..." of one claim, of the first effect: order_create in SQLite.
claim() { # CLAIM EXPECTED
	local got
	got=$(awk -v claim="$1" '/^  NON_BYPASSABILITY/ { exit }
		/^  [a-z_]+ +[a-z_]+$/ { on = $1 == claim; if (on) printf "%s", $2 }
		on && $1 == "unmet" { printf " %s", $2 ($4 ? "@" $4 : "") }
		on && $1 == "refuted" { printf " !%s", $3 ($5 ? "@" $5 : "") }' "$OUTPUT")
	[ "$got" = "$2" ] || { echo "$1: $got"; return 1; }
}
