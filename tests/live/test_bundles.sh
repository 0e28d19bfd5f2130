#!/bin/bash
# Verbs over bundles of real runs: shards that are merged and what is refused, verdicts made again, two bundles side by side,
# and a run made again with each of its four outcomes.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

BUNDLE=confinement-evidence.tar.gz
copy_tree plain
write_pair
PAIR=(--scenarios "$folder/pair")

# The same harness, with words as they are: harness() gives every verb an --out.
say() { # TREE WORDS...
	local tree=$1
	shift
	CODE=0 untold=1
	"$folder/$tree/build/harness" "$@" >"$OUTPUT" 2>&1 </dev/null || CODE=$?
}
run_into() { # NAME WORDS...: its bundle becomes $folder/NAME.tar.gz
	local to=$1
	shift
	say plain run --out "$folder/runs" "${PAIR[@]}" -q "$@"
	cp "$folder/runs/latest/$BUNDLE" "$folder/$to.tar.gz"
}
alter() { python3 tests/live/alter.py "$folder/$1.tar.gz" "$folder/$2.tar.gz" "${@:3}"; }
member() { tar -xzOf "$folder/$1.tar.gz" "confinement-evidence/$2"; }
# A member of the JSON document that was said last, as Python writes it.
document() {
	grep -a '^{' "$OUTPUT" | python3 -c 'import json, sys; said = json.load(sys.stdin); print(eval("said" + sys.argv[1]))' "$1"
}
is() { [ "$(document "$1")" = "$2" ] || { echo "$1 is $(document "$1"), not $2"; return 1; }; }
failed_check() { # NAME CHECK TEXT
	say plain verify "$folder/$1.tar.gz"
	if ! exits 1 || ! grep -qE "^fail +$2: .*$3" "$OUTPUT"; then
		cat "$OUTPUT"
		return 1
	fi
}

# ---- shards ----

run_into one all --shard 1/2 --seed 5
check "the first shard passes" exits 0
run_into two all --shard 2/2
check "the second shard passes" exits 0
say plain merge --out "$folder/merged" "$folder/two.tar.gz" "$folder/one.tar.gz"
check "both together pass" exits 0
cp "$folder/merged/$BUNDLE" "$folder/whole.tar.gz"
check "nothing but the bundle is left beside it" test "$(ls -A "$folder/merged")" = "$BUNDLE"
say plain verify "$folder/whole.tar.gz"
check "the merged bundle verifies" exits 0
check "by every check but that of its signature" test "$(grep -c '^pass ' "$OUTPUT")" -ge 11
say plain merge -q --out "$folder/again" "$folder/one.tar.gz" "$folder/two.tar.gz"
check "in another order they make the same bytes" cmp "$folder/again/$BUNDLE" "$folder/whole.tar.gz"
check "it lists its sources" python3 - "$folder" <<'PYTHON'
import hashlib, json, subprocess, sys
def read(name, member):
    return subprocess.run(["tar", "-xzOf", f"{sys.argv[1]}/{name}.tar.gz", f"confinement-evidence/{member}"], check=True,
                          capture_output=True).stdout
manifest = json.loads(read("whole", "manifest.json"))
want = [{"runId": json.loads(read(one, "manifest.json"))["runId"],
         "sumsSha256": hashlib.sha256(read(one, "SHA256SUMS")).hexdigest()} for one in ("one", "two")]
assert manifest["mergedFrom"] == want, manifest["mergedFrom"]
assert {arm["shard"] for arm in json.loads(read("whole", "arms.json"))["arms"]} == {1, 2}
PYTHON
check "the script of the auditor passes it too" python3 docs/recheck.py "$folder/whole.tar.gz"

refused() { # TEXT BUNDLE...
	local text=$1
	shift
	say plain merge --out "$folder/none" "$@"
	exits 1 && says "not merged: $text" && [ ! -e "$folder/none" ]
}
run_into lone all
check "a shard twice is refused" refused "bundles 1 and 2 are both shard 1" "$folder/one.tar.gz" "$folder/one.tar.gz"
check "a whole run is refused" refused "bundle 1 is no shard" "$folder/lone.tar.gz" "$folder/one.tar.gz"
check "a merged one is refused" refused "bundle 2 is merged already" "$folder/one.tar.gz" "$folder/whole.tar.gz"
check "a shard can be altered" alter two altered observations.jsonl '"value":1' '"value":2'
check "an altered shard is refused" refused "bundle 2 does not verify: " "$folder/one.tar.gz" "$folder/altered.tar.gz"
check "a shard of another plan can be made up" alter two other all "$(member two manifest.json |
	grep -oE '"planSha256":"[0-9a-f]{64}"')" "\"planSha256\":\"$(printf 'a%.0s' {1..64})\""
check "a shard of another plan is refused" refused "bundles 1 and 2: they are shards of different plans" \
	"$folder/one.tar.gz" "$folder/other.tar.gz"
recorder=$(member two manifest.json | grep -oE '"name":"recorder","sha256":"[0-9a-f]{64}"' | cut -d'"' -f8)
check "a shard of another program can be made up" alter two other all "$recorder" "$(printf 'a%.0s' {1..64})"
check "a shard of another program is refused" refused "bundles 1 and 2: they were made by different programs" \
	"$folder/one.tar.gz" "$folder/other.tar.gz"
say plain merge --out "$folder/merged" "$folder/one.tar.gz" "$folder/two.tar.gz"
check "no bundle is overwritten" exits 4

check "arms can be said to be of one shard" alter whole forged arms.json '"shard":2' '"shard":1'
check "which is found" failed_check forged references "is not of the shard that its repetition is of"
check "a source can be renamed" alter whole forged merge.json '"seed":5' '"seed":6'
check "which is found" failed_check forged references "not what merge.json makes it"
check "an environment can be altered" alter whole forged merge.json '"after":{' '"after":{"kernel.tainted":4096,'
check "which is found" failed_check forged canonical merge.json

# ---- repetitions and seeds ----

started() { # SEED: the arms of three repetitions, in the order in which they ended, one at a time
	say plain run --out "$folder/runs" "${PAIR[@]}" all --repeat 3 -j1 --seed "$1"
	exits 0 && grep -oaE '^\[[0-9]+/6\] [a-z/-]+' "$OUTPUT"
}
started 11 >"$folder/order"
check "three repetitions of two arms pass" test "$(wc -l <"$folder/order")" -eq 6
check "the seed is said" says "seed: 11"
cp "$folder/runs/latest/$BUNDLE" "$folder/thrice.tar.gz"
check "the manifest has both" test "$(member thrice manifest.json | grep -oE '"(repeat|seed)":[0-9]+' | xargs)" = "repeat:3 seed:11"
check "the order in the bundle is the plan's" test "$(member thrice coverage.json | grep -oE '"repetition":[0-9]+' | cut -d: -f2 |
	xargs)" = "1 1 2 2 3 3"
check "each repetition is judged by itself" test "$(member thrice verdicts.json |
	grep -oE '"arm":"baseline","because":"met"[^}]*"repetition":[0-9]' | grep -oE '[0-9]$' | sort | uniq -c |
	awk '{ print $1 }' | uniq -c | xargs)" = "3 $(member thrice verdicts.json |
	grep -oE '"arm":"baseline","because":"met"[^}]*"repetition":1[,}]' | wc -l)"
say plain verify "$folder/thrice.tar.gz"
check "the bundle verifies" exits 0
check "the same seed gives the same order" cmp "$folder/order" <(started 11)
check "another seed gives another" not cmp -s "$folder/order" <(started 12)

# ---- verdicts made again ----

say plain recheck --out "$folder/verdicts.json" --json "$folder/whole.tar.gz"
check "recheck passes" exits 0
check "and says that the bytes are the same" is '["identical"]' True
check "and writes these bytes" cmp "$folder/verdicts.json" <(member whole verdicts.json)
check "a verdict can be altered" alter whole forged verdicts.json '"verdict":"pass"' '"verdict":"fail"'
say plain recheck "$folder/forged.tar.gz"
check "recheck of it fails" exits 1
check "and says that the bytes are others" says "verdicts.json, made again: other bytes"
head -c 2000 "$folder/whole.tar.gz" >"$folder/cut.tar.gz"
say plain recheck "$folder/cut.tar.gz"
check "recheck of half a bundle fails" exits 1

# ---- two bundles ----

say plain diff "$folder/one.tar.gz" "$folder/one.tar.gz"
check "a bundle is like itself" exits 0
say plain diff --json "$folder/one.tar.gz" "$folder/two.tar.gz"
check "two shards have the same arms here" exits 0
check "and differ by their shard and their seed" is '["manifest"][0]["name"] + said["manifest"][1]["name"]' seedshard.index
say plain diff --json "$folder/lone.tar.gz" "$folder/whole.tar.gz"
check "a merged bundle has arms more" exits 1
check "which are told once each" is '["weighing"]' 2
say plain diff "$folder/lone.tar.gz" "$folder/cut.tar.gz"
check "half a bundle cannot be compared" exits 3

# ---- a run made again ----

again() { # TREE NAME WORDS...
	local tree=$1 what=$2
	shift 2
	say "$tree" replay --out "$folder/runs" -q "$folder/$what.tar.gz" "$@"
}
again plain lone "${PAIR[@]}"
check "the same again is reproduced" says "replay: REPRODUCED: "
check "and ends with 0" exits 0
cp "$folder/runs/latest/$BUNDLE" "$folder/second.tar.gz"
say plain verify "$folder/second.tar.gz"
check "the new bundle verifies" exits 0
check "and names the first" grep -q "\"replayOf\":{\"runId\":\"$(member lone manifest.json |
	grep -oE '"runId":"[0-9a-f]+"' | cut -d'"' -f4)\"" <(member second manifest.json)
check "the outcome can be altered" alter second forged replay.json '"outcome":"REPRODUCED"' '"outcome":"DIVERGED"'
check "which is found" failed_check forged canonical "replay.json: outcome"

DOCKER_HOST=unix://$SOCKET again plain lone "${PAIR[@]}"
check "in another environment it is reproduced" says "replay: REPRODUCED_ENV_DIFFERS: "
check "with 0" exits 0
check "and the difference is listed" says "process.dockerHostSet: false -> true"
version=$(member lone environment.json | grep -oE '"engine.version":"[^"]*"' | head -n 1 | cut -d'"' -f4)
check "the first engine can be another" alter lone elsewhere all "$version" "${version%?}x"
again plain elsewhere "${PAIR[@]}"
check "then it is reproduced on another" says "replay: REPRODUCED_ENV_DIFFERS: "
check "which is listed" says "engine.version: ${version%?}x -> $version"

copy_tree blind
cp /bin/false "$folder/blind/build/libexec/observer-files"
again blind lone "${PAIR[@]}"
check "without an observer it diverges" says "replay: DIVERGED: "
check "with 1" exits 1
check "and lists cells" says "baseline file@files-archive: verdict: pass -> not_established"

not_attempted() { # REASON
	exits 2 && says "replay: NOT_ATTEMPTED: $1"
}
ls "$folder/runs" >"$folder/before"
again plain lone
check "with other expectations it is not attempted" not_attempted scenarios-differ
again plain cut
check "nor half a bundle" not_attempted bundle-not-intact
again plain whole "${PAIR[@]}"
check "nor a merged one" not_attempted bundle-is-merged
copy_tree grown
printf x >>"$folder/grown/build/agent"
again grown lone "${PAIR[@]}"
check "nor with another agent" not_attempted image-differs
build=$(member lone manifest.json | grep -oE '"buildId":"[0-9a-f]*"' | cut -d'"' -f4)
tree=$(member lone manifest.json | grep -oE '"gitTree":"[0-9a-f]*"' | cut -d'"' -f4)
check "another build can be alleged" alter lone forged all "$build" "$(printf 'e%.0s' {1..64})"
[ -z "$tree" ] || alter forged forged all "$tree" "$(printf 'e%.0s' {1..40})"
again plain forged "${PAIR[@]}"
check "nor by another build of another tree" not_attempted harness-differs
say plain replay --json --out "$folder/runs" "$folder/lone.tar.gz"
check "a document says so too" is '["outcome"]' NOT_ATTEMPTED
check "and why" is '["reason"]' scenarios-differ
ls "$folder/runs" >"$folder/after"
check "nothing was run for these" cmp "$folder/before" "$folder/after"
again plain lone "${PAIR[@]}" --scenario mutation/read-only
check "one scenario alone is reproduced" says "replay: REPRODUCED: "
again plain lone "${PAIR[@]}" --scenario moon
check "one that the bundle has not is a wrong word" exits 4

finish
