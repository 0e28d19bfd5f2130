#!/bin/bash
# Manual page, pages and completions that lie in the tree are those that the program prints, and say each verb and flag.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

harness=${BUILD:-build}/harness
passed=0 failed=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-docs.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'docs: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}

fresh() { # FILE VERB WORD...
	local file=$1
	shift
	"$harness" "$@" >"$folder/made" && [ -s "$folder/made" ] && diff "$file" "$folder/made" && return
	echo "run: make docs"
	return 1
}
check "docs/harness.1 is what the program prints" fresh docs/harness.1 manual
for page in routes limits claims; do
	check "docs/$page.md is what the program prints" fresh "docs/$page.md" page "$page"
done
for shell in bash zsh fish; do
	check "the completion of $shell is what the program prints" fresh "packaging/completion/harness.$shell" completion "$shell"
done

said_limits=$(grep -c '^| `' docs/limits.md)
check "README.md says how many limits there are" grep -qF "limits: $said_limits things that no run shows" README.md
check "docs/limits.md says how many limits there are" grep -qF "$said_limits things that no run of harness shows" docs/limits.md

# How many arms a run of everything has, with a PostgreSQL cluster (a socket where one is looked for is enough to plan) and without.
# shellcheck disable=SC2016 # jq's variables
arms_counted() {
	local with mutants pg pg_mutants
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$folder/.s.PGSQL.5432" || return
	"$harness" run --dry-run --json --postgres "$folder" all >"$folder/plan" 2>/dev/null || return
	"$harness" list --json >"$folder/list" || return
	count() { # FILTER: of the planned arms
		jq -n --slurpfile plan "$folder/plan" --slurpfile list "$folder/list" \
			'($list[0].scenarios | map({(.id): (.control != null)}) | add) as $mutant | [$plan[0].arms[].id | select('"$1"')] | length'
	}
	with=$(count true) mutants=$(count '$mutant[.]')
	pg=$(count 'startswith("effects/pg/")') pg_mutants=$(count 'startswith("effects/pg/") and $mutant[.]')
	[ "$with" -ge 200 ] && [ "$mutants" -ge 90 ] && [ "$pg" -ge 4 ] || return
	set -- "$with arms, of which $mutants are mutants; without a PostgreSQL cluster $((with - pg)), of which $((mutants - pg_mutants))"
	tr '\n' ' ' <README.md | grep -qF "$1" && return
	echo "README.md does not say: $1"
	return 1
}
check "README.md says how many arms there are" arms_counted

# The samples in README.md have each check of verify, and each effect that is declared, as they are now.
verify_sample() {
	local now kept=tests/data/bundles/format-1.1-harness-0.2.0.tar.gz
	checks() { sed -nE 's/^ *(pass|fail|not_checked) +([a-z]+)(:.*)?$/\2/p' "$@"; }
	now=$("$harness" verify "$kept" | checks)
	[ "$(wc -w <<<"$now")" -ge 14 ] && diff <(checks README.md) - <<<"$now"
}
check "README.md has the checks of verify" verify_sample
claims_sample() {
	local ids
	ids=$("$harness" effects --json | jq -r '[.effects[].id] | join(", ")')
	[ -n "$ids" ] && grep -qF "    claims: $ids: not exercised by these scenarios" README.md
}
check "README.md has the claims of a run that exercises no effect" claims_sample

# By what `harness help` lists: two blanks and a verb, then "flags:", two blanks, perhaps "-x, ", and a flag.
"$harness" help >"$folder/help"
mapfile -t verbs < <(sed -n '/^usage/,/^flags/s/^  \([a-z]*\) .*/\1/p' "$folder/help")
mapfile -t flags < <(sed -n '/^flags/,/^exit/s/^  \(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' "$folder/help")
check "help lists verbs" test "${#verbs[@]}" -ge 8
check "help lists flags" test "${#flags[@]}" -ge 12

explained() { # TERM: it is the term of an entry, set in bold
	grep -A 1 -xF .TP docs/harness.1 | grep -qF "\\fB${1//-/\\-}\\fR"
}
for verb in "${verbs[@]}"; do
	check "the manual page explains $verb" explained "$verb"
	for shell in bash zsh fish; do
		check "$shell completes $verb" grep -qE "(^|[ '(])$verb([ ':)]|\$)" "packaging/completion/harness.$shell"
	done
done
for flag in "${flags[@]}"; do
	check "the manual page explains $flag" explained "$flag"
	check "bash completes $flag" grep -qE -- "[ ']${flag}[ '\"]" packaging/completion/harness.bash
	[ "$flag" = --version ] || check "zsh completes $flag" grep -qE -- "$flag=?['[}]" packaging/completion/harness.zsh
	check "fish completes $flag" grep -qE -- "-l ${flag#--} " packaging/completion/harness.fish
done

# What verify's exit codes mean is said in one way, wherever it is said.
codes() { # the words from code 0 to code 3, without marks
	tr -d '`' | tr -s ' \n' ' ' | grep -o "Exit code 0: intact.* 3: the bundle or a key cannot be opened or read\."
}
"$harness" help verify | codes >"$folder/codes"
check "help verify says its exit codes" grep -q "2: the verdict is not established" "$folder/codes"
for page in docs/auditor.md docs/evidence-format.md; do
	check "$page says them so too" diff "$folder/codes" <(codes <"$page")
done

no_such() { # WORD...: refused as usage, in one line that holds no escape
	local status=0
	"$harness" "$@" >"$folder/out" 2>"$folder/err" || status=$?
	[ "$status" -eq 4 ] && [ ! -s "$folder/out" ] && [ "$(wc -l <"$folder/err")" -eq 1 ] && ! grep -q $'\e' "$folder/err"
}
check "another shell is refused" no_such completion tcsh
check "escapes for a shell are refused" no_such completion $'\e[31m'
check "no shell is refused" no_such completion
check "two shells are refused" no_such completion bash zsh
check "words behind manual are refused" no_such manual bash
check "another page is refused" no_such page route
check "two pages are refused" no_such page routes limits
check "no page is refused" no_such page

# Each word that the code notes as an event of an arm, and each subject that it writes out, stands in the table of events.
events_explained() {
	local word count=0 unknown=0
	sed -n '/^The events/,/^### /p' docs/evidence-format.md >"$folder/events"
	while read -r word; do
		count=$((count + 1))
		grep -qF "\`$word\`" "$folder/events" || { echo "not explained: $word" && unknown=1; }
	done < <({
		cat runner/arm*.c | tr -d '\n' | grep -oE 'arm_note\(arm, [^;]*;|events\[\] = \{[^}]*\}'
		grep '^#define ARM_WINDOW' runner/arm.h
		grep -oE '"lost-[a-z-]+"' reports/losses.c
	} | grep -oE '"[a-z0-9-]+"' | tr -d '"' | sort -u)
	[ "$count" -ge 35 ] && [ "$unknown" -eq 0 ]
}
check "the events of an arm are explained" events_explained

# Each probe stands in the table of what it makes, with the path that it is told.
probes_explained() {
	local id target unknown=0 count=0
	sed -n '/^\*\*What each probe makes/,/^\*\*Misbehaviours/p' docs/scenarios.md >"$folder/probes"
	while IFS='|' read -r id target; do
		count=$((count + 1))
		grep -E '^\| `' "$folder/probes" | grep -F "\`$id\`" | grep -qF -- "$target" || { echo "not explained: $id $target"; unknown=1; }
	done < <(sed -nE 's/IMAGE_KEPT "/export\/kept/; s/"\/" (export)/"\/\1/
		s/^\t\{ \.id = "([^"]*)".*PROBE_(PATH|OPERATION),.*\.target = "([^"]*)".*/\1|\3/p; t
		s/^\t\{ \.id = "([^"]*)".*/\1|/p' adapter/probe.c)
	[ "$count" -ge 32 ] && [ "$unknown" -eq 0 ]
}
check "what each probe makes is explained" probes_explained

no_value() { # FLAG WORD...: it is refused with a value, in one line
	no_such "${@:2}" && grep -qx "harness: $1 takes no value" "$folder/err"
}
check "--help takes no value" no_value --help --help=1
check "--version takes no value" no_value --version --version=
for flag in --verbose --json --quiet --dry-run --help; do
	check "$flag takes no value" no_value "$flag" run "$flag=1" baseline
done

printf 'docs: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
