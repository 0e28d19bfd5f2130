#!/bin/bash
# Two runs at once on one host, from two trees, and a clean in the middle of both: each passes and seals a bundle of its own
# arms alone, and nobody takes away what is the other's.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

TREES=(one two)
for tree in "${TREES[@]}" third; do copy_tree "$tree"; done
declare -A pid=() id=()

# ---- looking ----

out() { printf '%s/%s/runs' "$folder" "$1"; } # TREE
ended() { [ ! -e "/proc/$1/stat" ] || grep -q ') Z' "/proc/$1/stat" 2>/dev/null; } # PID
begun() { # TREE: its run's folder is there
	local path
	path=$(find "$(out "$1")" -mindepth 1 -maxdepth 1 -name '*Z-*' 2>/dev/null)
	id[$1]=${path##*-}
	[ -n "$path" ]
}
containers() { # TREE: of its run, ids
	engine_get '/containers/json?all=1&filters={"label":["harness.run"]}' |
		grep -o '"Id":"[0-9a-f]*","Names":\["/harness-[^"]*"' | grep -F "\"/harness-${id[$1]}-" | cut -d '"' -f 4
}
has_containers() { [ -n "$(containers "$1")" ]; }
both_under_way() { has_containers one && has_containers two && ! ended "${pid[one]}" && ! ended "${pid[two]}"; }
still_there() { # TREE ID...: all but what the run itself removed, which it does when an arm is over
	local tree=$1
	ended "${pid[$tree]}" || has_containers "$tree"
}
none() { # COMMAND...: it prints nothing
	local text
	text=$("$@")
	[ -z "$text" ] || { echo "$* has: $text"; return 1; }
}
arm_folders() { find /tmp -maxdepth 1 -name "harness-arm-${id[$1]}*"; }
# The arms of a bundle, and who ran them.
arms_of() { tar -xzOf "$1" confinement-evidence/arms.json | grep -o '"arm":"[^"]*"' | sort | uniq -c; }
run_of() { tar -xzOf "$1" confinement-evidence/manifest.json | grep -o '"runId":"[0-9a-f]*"' | cut -d '"' -f 4; }
its_own() { [[ $(run_of "$(out "$1")/latest/confinement-evidence.tar.gz") == "${id[$1]}"* ]]; } # TREE
same_arms() {
	[ "$(arms_of "$(out one)/latest/confinement-evidence.tar.gz")" = "$(arms_of "$(out two)/latest/confinement-evidence.tar.gz")" ]
}

# ---- doing ----

for tree in "${TREES[@]}"; do
	"$folder/$tree/build/harness" run --out "$(out "$tree")" -j1 --seed 0 baseline >"$folder/$tree/said" 2>&1 </dev/null &
	pid[$tree]=$!
done
for tree in "${TREES[@]}"; do check "$tree: begins" within 10 begun "$tree"; done
check "both are under way" within 20 both_under_way

code=0
"$folder/third/build/harness" clean --out "$folder/third/runs" >"$OUTPUT" 2>&1 </dev/null || code=$?
check "clean, meanwhile: succeeds" test "$code" -eq 0
check "clean, meanwhile: keeps what is under way" grep -qE '^kept: ([2-9]|[1-9][0-9])' "$OUTPUT"
check "clean, meanwhile: no image was taken away" says ", 0 images,"
for tree in "${TREES[@]}"; do check "$tree: its containers are still there" still_there "$tree"; done

for tree in "${TREES[@]}"; do
	check "$tree: ends" within 90 ended "${pid[$tree]}"
	CODE=0
	wait "${pid[$tree]}" || CODE=$?
	cp "$folder/$tree/said" "$OUTPUT"
	untold=1
	check "$tree: passes" exits 0
	check "$tree: its bundle verifies" "$folder/$tree/build/harness" verify "$(out "$tree")/latest/confinement-evidence.tar.gz"
	check "$tree: another scanner finds no canary" ci/scan-bundle "$(out "$tree")/latest/confinement-evidence.tar.gz"
	check "$tree: the bundle is its own" its_own "$tree"
	check "$tree: no container is left" none containers "$tree"
	check "$tree: no folder of an arm is left" none arm_folders "$tree"
	check "$tree: no process is left" within 5 none ours "/$tree/build/libexec/*"
done
check "both have the same arms" same_arms

finish
