#!/bin/bash
# The workflow and the action: linted, and what they say within GitHub's limits. And ci/run-workflow, by which test_jobs.sh runs
# their steps.
# shellcheck disable=SC2016,SC2317 # expressions are GitHub's; check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-ci.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
SAID=$folder/said

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/checked" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'workflow: FAILED: %s\n' "$what"
		tail -n 20 "$folder/checked" | sed 's/^/    /'
	fi
}
skip() { # WHY
	echo "workflow: skipped: $*"
	skipped=$((skipped + 1))
}
# A program, what it says, and its exit code.
says() { # CODE PATTERN COMMAND...
	local code=$1 pattern=$2 got=0
	shift 2
	"$@" >"$SAID" 2>&1 || got=$?
	[ "$got" -eq "$code" ] && grep -E -- "$pattern" "$SAID" && return
	echo "exit code $got, not $code, or no line like: $pattern"
	tail -n 15 "$SAID"
	return 1
}
never() { # PATTERN: no line of the last one
	! grep -E -- "$1" "$SAID"
}

# ---- the files ----

WORKFLOW=.github/workflows/confinement.yml
ours_alone() { # each line of a run: block calls something of ci/, make, or compares
	! grep -hE '^ *(- )?run: ' "$WORKFLOW" action.yml | sed -E "s/^ *(- )?run: '?\"?//" |
		grep -vE '^(ci/|make |\$GITHUB_ACTION_PATH/ci/|test )'
}
no_input_in_a_script() { # what somebody else wrote reaches a script by its environment alone
	! grep -E 'run: .*\$\{\{' "$WORKFLOW" action.yml .github/workflows/ci.yml
}
printf 'on: push\njobs:\n  a:\n    runs-on: ubuntu-24.04\n    steps:\n      - run: echo ${{ steps.none.outputs.x }}\n' >"$folder/wrong.yml"
check "scripts of ci/ and make alone" ours_alone
check "no expression in a script" no_input_in_a_script
if ci/actionlint >"$SAID" 2>&1 || [ $? -ne 2 ]; then
	check "actionlint has nothing to say" ci/actionlint
	check "actionlint finds what is wrong" says 1 'none' ci/actionlint "$folder/wrong.yml"
else
	skip "$(tail -n 1 "$SAID")"
fi

# ---- ci/run-workflow itself ----

job() { # STEPS (indented by six): the file of a workflow with one job
	printf 'on:\n  push:\n  workflow_dispatch:\n    inputs:\n      who:\n        type: string\nenv:\n  WHO: ${{ inputs.who || %s }}\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    steps:\n%s\n' \
		"'nobody'" "$1" >"$folder/one.yml"
}
played() { ci/run-workflow "$folder/one.yml" one "$@"; }
if /usr/bin/env python3 -c 'import yaml' 2>/dev/null; then
	job '      - id: first
        run: |
          echo "said=$WHO and more" >>"$GITHUB_OUTPUT"
          printf "long<<END\ntwo\nlines\nEND\n" >>"$GITHUB_OUTPUT"
          echo "KEPT=for later" >>"$GITHUB_ENV"
          echo "# summed up" >>"$GITHUB_STEP_SUMMARY"
      - env: {SAID: "${{ steps.first.outputs.said }}"}
        run: echo "[$SAID] [$KEPT] [${GITHUB_ACTIONS}]"
      - if: failure()
        run: echo not-this
      - if: ${{ github.event_name == '"'push'"' && steps.first.outcome != '"'failure'"' }}
        run: echo this-too'
	check "outputs, environment and summary go on" says 0 '\[nobody and more\] \[for later\] \[true\]' played
	check "a condition that does not hold is skipped" never '    not-this'
	check "one that holds is not" grep -q '    this-too' "$SAID"
	check "the summary is shown" grep -qx '# summed up' "$SAID"
	check "an input" says 0 '\[somebody and more\]' played --input who=somebody
	job '      - run: "false; echo after-a-failure"
      - run: echo after-a-failed-step
      - if: always()
        run: echo whatever-happens'
	check "a step that fails ends the job" says 1 'run-workflow: failure' played
	check "the script ends where it fails, and so does the job" never '    after'
	check "but for what always runs" grep -q '    whatever-happens' "$SAID"
	job '      - run: head -c 1048577 /dev/zero | tr "\0" a >>"$GITHUB_STEP_SUMMARY"'
	check "a summary over 1 MiB fails" says 1 'a summary of 1048577 bytes' played
	job '      - run: for i in $(seq 11); do echo "::error title=x::$i"; done'
	check "the eleventh annotation fails" says 1 '11 annotations of the kind error' played
	job '      - run: for i in $(seq 10); do echo "::error title=x::$i"; echo "::warning title=x::$i"; done'
	check "ten of each kind do not" says 0 'run-workflow: success' played
	job '      - run: echo ${{ toJSON(github) }}'
	check "a function that it does not know" says 4 'not known here' played
	job '      - run: echo ${{ github.token }}'
	check "a value that it does not know" says 4 'github.token' played
	job '      - uses: somebody/else@v1'
	check "an action of somebody else is passed over, and said" says 0 'passed over: somebody/else@v1' played
	check "no such job" says 4 'no job of that name' ci/run-workflow "$folder/one.yml" two
	check "no such input" says 4 'not known here: whom' played --input whom=x
else
	skip "ci/run-workflow needs python3-yaml: ci/deps workflow"
fi

# ---- the core pattern: in a mount namespace, where a file stands for the kernel's ----

pattern_round() { # PATTERN LEFT-AFTER-SET: set, set again, restore
	unshare -m --propagation private bash -euc '
		echo "$1" >"$3/pattern" && mount --bind "$3/pattern" /proc/sys/kernel/core_pattern
		export RUNNER_TEMP=$3/temp
		ci/core-pattern set && [ "$(cat "$3/pattern")" = "$2" ]
		ci/core-pattern set && [ "$(cat "$3/pattern")" = "$2" ]
		ci/core-pattern restore && [ "$(cat "$3/pattern")" = "$1" ]
		ci/core-pattern restore && [ "$(cat "$3/pattern")" = "$1" ] && [ ! -e "$3/temp/core-pattern" ]' \
		- "$1" "$2" "$folder"
}
before=$(cat /proc/sys/kernel/core_pattern)
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	check "a pipe becomes a file, and a pipe again" pattern_round '|/usr/share/apport/apport -p%p' core
	check "so does a socket" pattern_round '@/run/crash.socket' core
	check "a file stays as it is" pattern_round '/var/crash/core.%p' '/var/crash/core.%p'
	check "and the host's own was left alone" test "$(cat /proc/sys/kernel/core_pattern)" = "$before"
else
	skip "the core pattern needs root and a mount namespace"
fi

# ---- the summary, of bundles as a leak would make them ----

altered() { # FILE CODE: a bundle with the two documents that the summary reads; CODE alters `verdicts`
	python3 - "$folder/$1" "$2" <<'PYTHON'
import io, json, sys, tarfile
cell = {"arm": "baseline", "because": "met", "class": "protected", "expected": 0, "observer": "tcp4", "op": "eq",
        "repetition": 1, "subject": "tcp4", "value": 0, "verdict": "pass"}
verdicts = {"cells": [cell], "counts": {"arms": 1, "armsNotOk": 0, "cells": 1, "fail": 0, "mutations": 0, "mutationsDetected": 0,
            "notEstablished": 0, "pass": 1}, "mutations": [], "overall": "pass",
            "runner": [{"arm": "baseline", "reason": None, "repetition": 1, "status": "ok"}]}
manifest = {"finishedAt": "2026-01-01T00:00:00Z", "runId": "0" * 32, "shard": {"index": 2, "of": 3},
            "files": [{"path": name, "sha256": "0" * 64} for name in ("profile.json", "scenarios.json")]}
exec(sys.argv[2])
with tarfile.open(sys.argv[1], "w:gz") as out:
    for name, document in (("manifest.json", manifest), ("verdicts.json", verdicts)):
        data = json.dumps(document).encode()
        entry = tarfile.TarInfo("confinement-evidence/" + name)
        entry.size = len(data)
        out.addfile(entry, io.BytesIO(data))
PYTHON
}
summary() { ci/step-summary "${@:2}" "$folder/$1"; }
at_most() { # BYTES
	[ "$(wc -c <"$SAID")" -le "$1" ]
}
lines_of() { # KIND NUMBER
	[ "$(grep -c "^::$1 " "$SAID")" -eq "$2" ]
}
altered leak.tar.gz 'cell.update(verdict="fail", value=1, because="leak"); verdicts.update(overall="fail")'
altered many.tar.gz 'verdicts["cells"] = [dict(cell, arm="a/%05d-%s" % (i, "x" * 50), verdict=("fail", "not_established")[i % 2]) for i in range(100000)]'
altered hostile.tar.gz 'cell.update(verdict="fail", arm="x\n::error::y%0A<script>|`[a](b)", subject="\x1b[31m", because="<b>&")'
altered open.tar.gz 'verdicts["runner"][0]["status"] = "timeout"'
echo nothing >"$folder/none.tar.gz"
check "a leak stands in the summary" says 0 '^\| `baseline` \| `tcp4@tcp4` \| 1 \| =0 \| fail \| leak \|$' summary leak.tar.gz
check "and which shard it is" grep -q '^Shard 2/3 ' "$SAID"
check "and in one annotation" says 0 '^::error title=confinement%3A baseline::failed%?:? ?.*tcp4@tcp4$' summary leak.tar.gz --annotations
check "and makes the predicate say so" says 0 '"result": "FAILED"' summary leak.tar.gz --predicate
check "100,000 failed cells are a summary" says 0 '^99800 more are in the bundle|^.* more are in the bundle' summary many.tar.gz
check "of less than 1 MiB" at_most 1048576
check "and annotations" says 0 '^::error title=confinement::failed in 49991 more arms$' summary many.tar.gz --annotations
check "ten errors" lines_of error 10
check "ten warnings" lines_of warning 10
check "what would be Markdown, HTML or a command is none" says 0 '^\| `x\?::error::y\?0A\?script\?' summary hostile.tar.gz
check "no escape and no tag" never $'\e|<script|<b>|\\[a\\]'
check "nor in an annotation" says 0 '^::error title=confinement%3A x\?' summary hostile.tar.gz --annotations
check "of which there is one" lines_of error 1
check "an arm that broke is a warning, not a pass" says 0 '"warnedTests": \[$' summary open.tar.gz --predicate
check "what is no bundle" says 3 'no bundle that can be read' summary none.tar.gz
check "no bundle at all" says 3 'no bundle that can be read' summary absent.tar.gz
check "wrong words" says 4 'ci/step-summary BUNDLE' ci/step-summary

# ---- ci/confinement: what it takes from outside ----

refuses() { # SCENARIOS: words that would be flags, or worse
	env -i PATH="$PATH" "SCENARIOS=$1" ci/confinement run
}
check "a flag for a scenario" says 4 'a scenario is named by' refuses '--out=/etc'
check "a command for a scenario" says 4 'a scenario is named by' refuses 'baseline $(id)'
check "no shards to merge" says 3 'no bundle came out' ci/confinement merge "$folder/absent/*.tar.gz"

printf 'workflow: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
