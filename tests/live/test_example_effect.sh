#!/bin/bash
# Every command of "An effect of your own" in docs/effects.md, in its order; what the run of it says; and that a program of a
# declaration which misbehaves makes no cell pass.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine
copy_tree tree
cp -a effects "$folder/tree"

# The section's commands: each block that is set off by four blanks is a file of its own, 01, 02, ...
mkdir -p "$folder/page" "$folder/bin" "$folder/user/docs"
awk -v to="$folder/page/" '
	/^## / { here = $0 == "## An effect of your own" }
	!here { next }
	/^    / { if (!inside) { count++; file = sprintf("%s%02d", to, count) } inside = 1; print substr($0, 5) > file; next }
	{ inside = 0 }' docs/effects.md
ln -s "$folder/tree/build/harness" "$folder/bin/harness"
cp -a docs/examples "$folder/user/docs"
PATH=$folder/bin:$PATH

step() { # NUMBER: the block does as the page says
	(cd "$folder/user" && bash -euo pipefail "$folder/page/$1") >"$folder/said" 2>&1 || { tail -n 5 "$folder/said"; return 1; }
}
block() { grep -lF -- "$1" "$folder"/page/?? | head -n 1 | xargs basename; } # TEXT: number of the block that holds it

# "SUBJECT VALUE" of what the program saw in an arm of the last run.
sees() { # ARM VALUES
	local got
	got=$(tar -xzOf "$folder/user/runs/latest/confinement-evidence.tar.gz" confinement-evidence/observations.jsonl |
		sed -nE "s#^\{\"arm\":\"$1\".*\"observer\":\"kept\".*\"subject\":\"([^\"]*)\".*\"value\":([0-9]+).*#\1 \2#p" |
		sort | tr '\n' ';')
	[ "$got" = "$2" ] || { echo "$1: $got"; return 1; }
}
said() { grep -qF -- "$1" "$folder/said" || { cat "$folder/said"; return 1; }; }

check "the section has commands" test "$(find "$folder/page" -type f | wc -l)" -eq 7
for number in 01 02 03 04; do
	check "block $number: $(head -n 1 "$folder/page/$number")" step "$number"
done
check "the plan has the arms" said "read-only"
check "and says whose program will run" said "runs as root, as observer kept"
check "block 05: the run" step 05
check "in place the files stand" sees file-delete "delete-child 0;file-delete 0;"
check "without its protection each is deleted" sees read-only "delete-child 1;file-delete 1;"
check "the program is listed" test -s "$folder/user/listed"
check "block 06: the claims" step 06
check "the observation is established" grep -qE "^  observation +established$" "$folder/said"
check "complete mediation is not" grep -qE "^  complete_mediation +not_established$" "$folder/said"
check "for P3" said "control_evidence of P3"
check "the claims are of the copy" said "document_delete"
again() { # what a replay of the first bundle says, with the observers of `own`
	CODE=0 untold=1
	(cd "$folder/user" && "$folder/bin/harness" replay --scenarios own/scenarios --effects own/effects "$first") \
		>"$OUTPUT" 2>&1 || CODE=$?
}
first=$(readlink -f "$folder/user/runs/latest")/confinement-evidence.tar.gz
again
check "the bundle is reproduced by the same program" says "replay: REPRODUCED"
check "the observer is listed" grep -qF "kept  " <(
	cd "$folder/user" && "$folder/tree/build/harness" list --scenarios own/scenarios --effects own/effects)
check "block 07: a program that finds nothing" step 07
check "says so by itself" said "its known answers are wrong"
check "no mutant is caught" said "mutations: 0 of 1 caught"
again
check "and by no other program is the first bundle made again" says "is not that of the bundle"

# ---- programs that misbehave: each a change of the example's ----
own=$folder/user/own
with() { # SED: what the example's program is changed by
	cp docs/examples/file-deletion/effects/observer-kept.py "$own/effects" && sed -i "$1" "$own/effects/observer-kept.py" &&
		! cmp -s docs/examples/file-deletion/effects/observer-kept.py "$own/effects/observer-kept.py"
}
run_own() {
	CODE=0 untold=1
	(cd "$folder/user" && "$folder/tree/build/harness" run --scenarios own/scenarios --effects own/effects all) \
		>"$OUTPUT" 2>&1 || CODE=$?
}

while IFS='|' read -r code what why change; do
	check "a program that $what" with "$change"
	run_own
	check "a program that $what makes nothing pass" exits "$code"
	check "and catches no mutant" says "mutations: 0 of 1 caught"
	[ -z "$why" ] || check "and the summary says why" says "(kept: $why)"
	check "its cells are open" not grep -qE '^  file-delete@kept [01] ' "$OUTPUT"
done <<'ROWS'
2|dies|ended before it was ready|s/^import os$/raise SystemExit(1)/
2|is never ready|was not ready within 5 s|s/^            elif kind == BEGIN:$/            elif kind == BEGIN and time.sleep(60):/
2|takes its first look too late|did not see its marker within 2 s of its inputs|s/^            self.look_for_marker(0)$/            time.sleep(3); self.look_for_marker(0)/
2|never reads its marker|did not see its marker within 2 s of its inputs|s/^        if self.root is not None and read.*:$/        if False:/
2|forgets its records||s/^                self.record(subject, phase)$/                pass/
2|dies within its report|ended before its report|s/^        self.tell(END, phase=phase)$/        sys.exit(0)/
2|reports for somebody else|broke a rule of docs/observer-protocol.md|s/RECORDS.size, self.id/RECORDS.size, b"deliveries"/
2|takes another name|broke a rule of docs/observer-protocol.md|s/wire, own_id.encode()$/wire, b"tcp4"/
ROWS

# ---- one that leaves a process behind, in a session of its own; and what it says by itself ----
check "a program that starts another" with \
	's/^            elif kind == BEGIN:$/&\n                os.spawnv(os.P_NOWAIT, "\/usr\/bin\/setsid", ["setsid", "sleep", "47110815"])/'
run_own
check "a program that starts another observes as before" exits 0
check "and what it started is gone" not pgrep -f "sleep 47110815"
check "a program that says why it ends" with 's/^import os$/raise SystemExit("nothing to \\x1b look at")/'
CODE=0
(cd "$folder/user" && "$folder/tree/build/harness" run -v --scenarios own/scenarios --effects own/effects all) \
	>"$OUTPUT" 2>&1 || CODE=$?
check "is heard with -v" says "kept: nothing to ? look at"

# One that always says what is wanted in place is contradicted by the mutant; its zeros are not earned.
check "a program that counts nothing" with 's/^            value = int(deleted.*$/            value = 0/'
run_own
check "a program that counts nothing makes the mutant fail" exits 1
check "and catches no mutant either" says "mutations: 0 of 1 caught"

# ---- two that say different revisions of what they look at ----
check "a second observer" with 's/^REVISED = .*/REVISED = MARKER[0]/'
mv "$own/effects/observer-kept.py" "$own/effects/observer-other.py"
cp docs/examples/file-deletion/effects/observer-kept.py "$own/effects"
sed -i 's/{ "id": "kept".*/&,\n{ "id": "other", "program": "observer-other.py", "inputs": ["root"], "sees": ["effect"] }/' \
	"$own/effects/document_delete.json"
sed -i -E 's/^(.*"file-delete", "observer": )"kept"(.*)$/&\n\1"other"\2/' "$own"/scenarios/*.json
run_own
check "both observers agree on what is gone" exits 0
check "but not on the revision" grep -q '"name":"revisions-differ"' <(
	tar -xzOf "$folder/user/runs/latest/confinement-evidence.tar.gz" confinement-evidence/arms.json)
CODE=0
"$folder/tree/build/harness" effects claims "$folder/user/runs/latest/confinement-evidence.tar.gz" >"$OUTPUT" 2>&1 || CODE=$?
check "so that nothing is claimed of the declared one" says "revision of P1"
check "and no observation is established" grep -qE "^  observation +not_established$" "$OUTPUT"

# ---- and files that are none ----
refuses() { # TEXT: what `effects check` says, and ends with 3
	CODE=0 untold=1
	"$folder/tree/build/harness" effects check --scenarios "$own/scenarios" --effects "$own/effects" >"$OUTPUT" 2>&1 || CODE=$?
	exits 3 && says "$1"
}
chmod 644 "$own/effects/observer-kept.py"
check "a program that is not executable is refused" refuses "is not executable"
chmod 775 "$own/effects/observer-kept.py"
check "one that others may change is refused" refuses "can be changed by others than its owner"
rm "$own/effects/observer-kept.py"
check "one that is not there is refused" refuses "is no file beside the declaration"
run_own
check "by a run as well" exits 3
finish
