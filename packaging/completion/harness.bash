# bash completion for harness, made by `harness completion bash`
# shellcheck shell=bash

# Ids, groups and all of what came with this harness.
_harness_scenarios() { # COMMAND
	local id
	echo all
	"$1" list 2>/dev/null | sed -n '2,/^$/s/^  \([^ ]*\) .*/\1/p' | while read -r id; do
		echo "$id"
		[ "${id%/*}" = "$id" ] || echo "${id%/*}"
	done | sort -u
}

_harness_effects() { # COMMAND
	"$1" effects list 2>/dev/null | sed 's/ .*//'
}

_harness() { # COMMAND
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} cur_is='' flags='' kind=none words=''
	COMPREPLY=()
	# To bash, the "=" of --flag=value is a word of its own.
	if [ "$cur" = = ]; then
		cur=''
	elif [ "$prev" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	local verbs='run list verify recheck diff merge replay sign report clean doctor policy effects completion help'

	case ${COMP_WORDS[1]} in
	run)
		flags='--socket --postgres --out --scenarios --effects --gateway --gateway-sink --gateway-raised --gateway-token-file -j --jobs --repeat --shard --seed --dry-run --sign --assessment --assessor -q --quiet -v --verbose --json --help' kind=scenario
		case $prev in
		--socket) cur_is=argument kind=file ;;
		--postgres) cur_is=argument kind=folder ;;
		--out) cur_is=argument kind=folder ;;
		--scenarios) cur_is=argument kind=folder ;;
		--effects) cur_is=argument kind=folder ;;
		--gateway) cur_is=argument kind=words words='embedded cmcp' ;;
		--gateway-sink) cur_is=argument kind=file ;;
		--gateway-raised) cur_is=argument kind=none ;;
		--gateway-token-file) cur_is=argument kind=file ;;
		-j | --jobs) cur_is=argument kind=none ;;
		--repeat) cur_is=argument kind=none ;;
		--shard) cur_is=argument kind=none ;;
		--seed) cur_is=argument kind=none ;;
		--sign) cur_is=argument kind=file ;;
		--assessment) cur_is=argument kind=file ;;
		--assessor) cur_is=argument kind=file ;;
		esac
		;;
	list)
		flags='--scenarios --effects --json --help' kind=none
		case $prev in
		--scenarios) cur_is=argument kind=folder ;;
		--effects) cur_is=argument kind=folder ;;
		esac
		;;
	verify)
		flags='--key --attestation --assessor --attest --require-signature -q --quiet --json --help' kind=bundle
		case $prev in
		--key) cur_is=argument kind=file ;;
		--attestation) cur_is=argument kind=file ;;
		--assessor) cur_is=argument kind=file ;;
		--attest) cur_is=argument kind=file ;;
		esac
		;;
	recheck)
		flags='--out --json --help' kind=bundle
		case $prev in
		--out) cur_is=argument kind=file ;;
		esac
		;;
	diff)
		flags='--json --help' kind=bundle
		case $prev in
		esac
		;;
	merge)
		flags='--out -q --quiet --json --help' kind=bundle
		case $prev in
		--out) cur_is=argument kind=folder ;;
		esac
		;;
	replay)
		flags='--socket --postgres --out --scenarios --effects --gateway --gateway-sink --gateway-raised --gateway-token-file -j --jobs --scenario --sign -q --quiet -v --verbose --json --help' kind=bundle
		case $prev in
		--socket) cur_is=argument kind=file ;;
		--postgres) cur_is=argument kind=folder ;;
		--out) cur_is=argument kind=folder ;;
		--scenarios) cur_is=argument kind=folder ;;
		--effects) cur_is=argument kind=folder ;;
		--gateway) cur_is=argument kind=words words='embedded cmcp' ;;
		--gateway-sink) cur_is=argument kind=file ;;
		--gateway-raised) cur_is=argument kind=none ;;
		--gateway-token-file) cur_is=argument kind=file ;;
		-j | --jobs) cur_is=argument kind=none ;;
		--scenario) cur_is=argument kind=scenario ;;
		--sign) cur_is=argument kind=file ;;
		esac
		;;
	sign)
		flags='--help' kind=file
		case $prev in
		esac
		;;
	report)
		flags='--out --format --help' kind=bundle
		case $prev in
		--out) cur_is=argument kind=file ;;
		--format) cur_is=argument kind=words words='html junit ctrf' ;;
		esac
		;;
	clean)
		flags='--socket --postgres --out --help' kind=none
		case $prev in
		--socket) cur_is=argument kind=file ;;
		--postgres) cur_is=argument kind=folder ;;
		--out) cur_is=argument kind=folder ;;
		esac
		;;
	doctor)
		flags='--socket --postgres --json --help' kind=none
		case $prev in
		--socket) cur_is=argument kind=file ;;
		--postgres) cur_is=argument kind=folder ;;
		esac
		;;
	policy)
		flags='--session --help' kind=words words='show revoke restore'
		case $prev in
		--session) cur_is=argument kind=none ;;
		esac
		;;
	effects)
		flags='--scenarios --effects --assessment --assessor -q --quiet --json --help' kind=words words='list check show claims assess'
		if [ "$COMP_CWORD" -gt 2 ]; then
			kind=none
			case ${COMP_WORDS[2]} in
			show) kind=effect ;;
			claims) kind=bundle ;;
			assess) kind=file ;;
			esac
		fi
		case $prev in
		--scenarios) cur_is=argument kind=folder ;;
		--effects) cur_is=argument kind=folder ;;
		--assessment) cur_is=argument kind=file ;;
		--assessor) cur_is=argument kind=file ;;
		esac
		;;
	completion)
		flags='--help' kind=words words='bash zsh fish'
		case $prev in
		esac
		;;
	help)
		flags='--help' kind=verb
		case $prev in
		esac
		;;
	esac
	if [ "$COMP_CWORD" -eq 1 ]; then
		kind=words words="$verbs --help --version"
	elif [ -z "$cur_is" ] && [[ $cur == -* ]]; then
		kind=words words=$flags
	fi
	case $kind in
	file | folder | bundle) compopt -o filenames 2>/dev/null ;;
	scenario) words=$(_harness_scenarios "$1") ;;
	effect) words=$(_harness_effects "$1") ;;
	verb) words=$verbs ;;
	esac
	case $kind in
	file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	folder) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	bundle) mapfile -t COMPREPLY < <(compgen -d -- "$cur"; compgen -f -X '!*.tar.gz' -- "$cur") ;;
	none) ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
	esac
}

complete -F _harness harness
