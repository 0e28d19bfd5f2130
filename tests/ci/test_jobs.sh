#!/bin/bash
# The jobs of the workflow and the action on a real engine: their steps in order, with what GitHub sets.
# shellcheck disable=SC2016,SC2317 # expressions are GitHub's; check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-ci.XXXXXX") || exit 1
cluster=''
finish() { # the jobs leave their cluster to a machine that is thrown away
	rm -rf "$folder"
	[ -z "$cluster" ] || ci/postgres stop
}
trap finish EXIT
SAID=$folder/said

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/checked" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'jobs: FAILED: %s\n' "$what"
		tail -n 20 "$folder/checked" | sed 's/^/    /'
	fi
}
skip() { # WHY
	echo "jobs: skipped: $*"
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

WORKFLOW=.github/workflows/confinement.yml
SELECTION='baseline failure/raw-text policy/stale effects/pg/order-create'
shard() { # NUMBER
	ci/run-workflow $WORKFLOW shard --input "scenarios=$SELECTION" --matrix "shard=$1" --artifacts "$folder/artifacts" \
		--env "OUT=$folder/runs"
}
merge() { ci/run-workflow $WORKFLOW merge --artifacts "$folder/$1" --env "OUT=$folder/merged"; }
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/key.pem" 2>/dev/null; }
merge_signed() {
	SIGN_KEY=$(cat "$folder/key.pem") OUT=$folder/signed ci/confinement merge "$folder"/artifacts/confinement-shard-*/*.tar.gz &&
		verifies_signed "$folder/signed"
}
verifies_signed() { # FOLDER with one bundle in it
	openssl pkey -in "$folder/key.pem" -pubout -out "$folder/key.pub" &&
		./harness verify --require-signature --key "$folder/key.pub" \
			"$(find "$1" -name confinement-evidence.tar.gz -type f)"
}
action_elsewhere() { # another project's folder, a key by a secret
	mkdir -p "$folder/elsewhere"
	ci/run-workflow action.yml --workspace "$folder/elsewhere" --input scenarios=baseline --input "sign-key=$(cat "$folder/key.pem")"
}
no_key_left() {
	! grep -rlF "$(sed -n 2p "$folder/key.pem")" "$folder/elsewhere" "$SAID"
}
if ! /usr/bin/env python3 -c 'import yaml' 2>/dev/null || [ "$(id -u)" -ne 0 ] || ! ci/engine status >"$folder/checked" 2>&1; then
	skip "running the workflow needs python3-yaml, root and an engine"
else
	key
	ci/postgres status >"$folder/checked" 2>&1 || cluster=1
	for number in 1 2 3; do
		check "shard $number" says 0 'run-workflow: success; .*run.verdict=pass' shard "$number"
		check "shard $number has its bundle" test -s "$folder/artifacts/confinement-shard-$number/confinement-evidence.tar.gz"
	done
	check "its summary" grep -q '^## Confinement: pass$' "$SAID"
	mkdir -p "$folder/gap"
	cp -R "$folder/artifacts/confinement-shard-1" "$folder/gap/"
	if ./harness help merge >"$folder/checked" 2>&1; then
		check "merge" says 0 'run-workflow: success; .*merge.verdict=pass' merge artifacts
		check "the bundle is one artifact" ./harness verify "$folder/artifacts/confinement-evidence/confinement-evidence.tar.gz"
		check "it is whole" test -z "$(ci/step-summary --shard "$folder/artifacts/confinement-evidence/confinement-evidence.tar.gz")"
		check "merged and signed" merge_signed
		check "one shard of three is no evidence" says 1 'merge.verdict=error' merge gap
	else
		skip "this harness cannot merge"
	fi
	check "the action, in another project's folder" says 0 'run-workflow: success; bundle=/.*; verdict=pass' action_elsewhere
	check "its bundle is signed" verifies_signed "$folder/elsewhere"
	check "and the key is nowhere" no_key_left
fi

printf 'jobs: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
