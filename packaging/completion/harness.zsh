#compdef harness
# zsh completion for harness, made by `harness completion zsh`

# Ids, groups and all of what came with this harness.
_harness_scenarios() {
	local -a ids
	ids=(${(f)"$(_call_program scenarios ${(q)command_word} list 2>/dev/null | sed -n '2,/^$/s/^  \([^ ]*\) .*/\1/p')"})
	ids+=(all ${(u)${(M)ids:#*/*}%/*})
	compadd -a ids
}

_harness_effects() {
	local -a ids
	ids=(${(f)"$(_call_program effects ${(q)command_word} effects list 2>/dev/null | sed 's/ .*//')"})
	compadd -a ids
}

_harness_verbs() {
	local -a verbs=(
		'run:run scenarios with the mutants that their zeros need, and seal a bundle'
		'list:scenarios, mutations and observers, one line each'
		'verify:check a bundle offline\: every hash and every verdict again'
		'recheck:make a bundle'\''s verdicts again from its observations'
		'diff:two bundles side by side\: cells, claims, environment, numbers'
		'merge:one bundle from the bundles of all shards of a plan'
		'replay:run what a bundle'\''s run did again, and say whether it came out the same'
		'sign:sign a sealed bundle, beside it, once it has verified'
		'report:write a bundle'\''s page for people, report.html'
		'clean:remove what earlier runs left\: containers, images, processes, temporary folders'
		'doctor:each need of this host\: ok, or what mends it'
		'policy:what may be called in the sessions that are open now, and change it'
		'effects:protected effects, and the paths that are declared for them'
		'completion:print what makes a shell complete verbs, flags and scenarios'
		'help:say what harness does, or what one verb does'
	)
	_describe -t verbs verb verbs
}

_harness() {
	local command_word=$words[1]
	if (( CURRENT == 2 )); then
		if [[ $words[2] == -* ]]; then
			compadd -- --help --version
		else
			_harness_verbs
		fi
		return
	fi
	shift words
	(( CURRENT-- ))
	case $words[1] in
	run)
		_arguments -S \
			--socket='[the engine'\''s socket (else a unix\:// DOCKER_HOST, else /var/run/docker.sock)]:PATH:_files' \
			--postgres='[the socket'\''s folder of a PostgreSQL cluster as ci/postgres starts it (default\: /run/harness-postgres); run, replay\: one that is named must answer]:FOLDER:_files -/' \
			--out='[run, clean, replay\: where runs are kept (default\: runs)]:FOLDER:_files -/' \
			--scenarios='[scenarios of your own instead of those that came with harness]:FOLDER:_files -/' \
			--effects='[declarations of your own instead of those that came with harness]:FOLDER:_files -/' \
			--gateway='[embedded (the default), cmcp (installed by ci/cmcp), or the URL of one that runs\: http\://127.0.0.1\:PORT/mcp]:KIND:(embedded cmcp)' \
			--gateway-sink='[of a gateway by URL\: the file that its upstream, build/libexec/recorder FILE, appends to]:FILE:_files' \
			--gateway-raised='[of a gateway by URL\: the same with public.tool'\''s ceiling at confidential; else that is not planned]:URL: ' \
			--gateway-token-file='[of a gateway by URL\: holds its bearer token]:FILE:_files' \
			'(-j --jobs)'{-j+,--jobs=}'[arms at the same time (default\: 2)]:N: ' \
			--repeat='[each arm N times, each recorded and judged, none chosen (default\: 1)]:N: ' \
			--shard='[the I-th of N parts of the plan, with the mutants of its own cells; `harness merge` joins them]:I/N: ' \
			--seed='[draws the order of the arms and the delays of faults, 0 the plan'\''s; without it one is drawn and recorded]:N: ' \
			--dry-run'[run\: print the plan and what it would touch, and stop]' \
			--sign='[a private key (PEM, P-256 or Ed25519) that the bundle is signed with; its path, or fd\:N]:KEY:_files' \
			--assessment='[signed statements of an assessor, one a line; may be repeated]:FILE:_files' \
			--assessor='[the public key (PEM) of one whose statements count; may be repeated]:KEY:_files' \
			'(-q --quiet)'{-q,--quiet}'[only the verdict and, of a run, the bundle'\''s path; effects check\: the exit code alone]' \
			'(-v --verbose)'{-v,--verbose}'[run\: the steps of each arm as they happen, what declared observers write to their standard error, and each cell on a line of its own]' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]' \
			'*:word:_harness_scenarios'
		;;
	list)
		_arguments -S \
			--scenarios='[scenarios of your own instead of those that came with harness]:FOLDER:_files -/' \
			--effects='[declarations of your own instead of those that came with harness]:FOLDER:_files -/' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]'
		;;
	verify)
		_arguments -S \
			--key='[the public key (PEM) that the bundle must be signed by; without it nobody is believed]:FILE:_files' \
			--attestation='[the signed statement, where it is not beside the bundle as BUNDLE.intoto.jsonl]:FILE:_files' \
			--assessor='[the public key (PEM) of one whose statements count; may be repeated]:KEY:_files' \
			--attest='[a private key\: what passed is signed with it, beside the bundle in BUNDLE.svr.intoto.jsonl]:KEY:_files' \
			--require-signature'[verify\: a bundle that nobody signed is not established]' \
			'(-q --quiet)'{-q,--quiet}'[only the verdict and, of a run, the bundle'\''s path; effects check\: the exit code alone]' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]' \
			'*:word:_files -g "*.tar.gz"'
		;;
	recheck)
		_arguments -S \
			--out='[recheck\: where verdicts.json, made again, is written]:FILE:_files' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]' \
			'*:word:_files -g "*.tar.gz"'
		;;
	diff)
		_arguments -S \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]' \
			'*:word:_files -g "*.tar.gz"'
		;;
	merge)
		_arguments -S \
			--out='[merge\: where the merged bundle is written; it holds none yet]:FOLDER:_files -/' \
			'(-q --quiet)'{-q,--quiet}'[only the verdict and, of a run, the bundle'\''s path; effects check\: the exit code alone]' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]' \
			'*:word:_files -g "*.tar.gz"'
		;;
	replay)
		_arguments -S \
			--socket='[the engine'\''s socket (else a unix\:// DOCKER_HOST, else /var/run/docker.sock)]:PATH:_files' \
			--postgres='[the socket'\''s folder of a PostgreSQL cluster as ci/postgres starts it (default\: /run/harness-postgres); run, replay\: one that is named must answer]:FOLDER:_files -/' \
			--out='[run, clean, replay\: where runs are kept (default\: runs)]:FOLDER:_files -/' \
			--scenarios='[scenarios of your own instead of those that came with harness]:FOLDER:_files -/' \
			--effects='[declarations of your own instead of those that came with harness]:FOLDER:_files -/' \
			--gateway='[embedded (the default), cmcp (installed by ci/cmcp), or the URL of one that runs\: http\://127.0.0.1\:PORT/mcp]:KIND:(embedded cmcp)' \
			--gateway-sink='[of a gateway by URL\: the file that its upstream, build/libexec/recorder FILE, appends to]:FILE:_files' \
			--gateway-raised='[of a gateway by URL\: the same with public.tool'\''s ceiling at confidential; else that is not planned]:URL: ' \
			--gateway-token-file='[of a gateway by URL\: holds its bearer token]:FILE:_files' \
			'(-j --jobs)'{-j+,--jobs=}'[arms at the same time (default\: 2)]:N: ' \
			--scenario='[of the bundle'\''s scenarios this one alone, with the mutants that its cells need]:SCENARIO:_harness_scenarios' \
			--sign='[a private key (PEM, P-256 or Ed25519) that the bundle is signed with; its path, or fd\:N]:KEY:_files' \
			'(-q --quiet)'{-q,--quiet}'[only the verdict and, of a run, the bundle'\''s path; effects check\: the exit code alone]' \
			'(-v --verbose)'{-v,--verbose}'[run\: the steps of each arm as they happen, what declared observers write to their standard error, and each cell on a line of its own]' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]' \
			'*:word:_files -g "*.tar.gz"'
		;;
	sign)
		_arguments -S \
			'--help[say what it does]' \
			'*:word:_files'
		;;
	report)
		_arguments -S \
			--out='[report\: where to write it, - for standard output (default\: as the bundle'\''s member is named)]:FILE:_files' \
			--format='[html (the default), or junit or ctrf]:FORMAT:(html junit ctrf)' \
			'--help[say what it does]' \
			'*:word:_files -g "*.tar.gz"'
		;;
	clean)
		_arguments -S \
			--socket='[the engine'\''s socket (else a unix\:// DOCKER_HOST, else /var/run/docker.sock)]:PATH:_files' \
			--postgres='[the socket'\''s folder of a PostgreSQL cluster as ci/postgres starts it (default\: /run/harness-postgres); run, replay\: one that is named must answer]:FOLDER:_files -/' \
			--out='[run, clean, replay\: where runs are kept (default\: runs)]:FOLDER:_files -/' \
			'--help[say what it does]'
		;;
	doctor)
		_arguments -S \
			--socket='[the engine'\''s socket (else a unix\:// DOCKER_HOST, else /var/run/docker.sock)]:PATH:_files' \
			--postgres='[the socket'\''s folder of a PostgreSQL cluster as ci/postgres starts it (default\: /run/harness-postgres); run, replay\: one that is named must answer]:FOLDER:_files -/' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]'
		;;
	policy)
		_arguments -S \
			--session='[which session is changed, as `harness policy show` lists them]:ID: ' \
			'--help[say what it does]' \
			'1:word:(show revoke restore)'
		;;
	effects)
		_arguments -S \
			--scenarios='[scenarios of your own instead of those that came with harness]:FOLDER:_files -/' \
			--effects='[declarations of your own instead of those that came with harness]:FOLDER:_files -/' \
			--assessment='[signed statements of an assessor, one a line; may be repeated]:FILE:_files' \
			--assessor='[the public key (PEM) of one whose statements count; may be repeated]:KEY:_files' \
			'(-q --quiet)'{-q,--quiet}'[only the verdict and, of a run, the bundle'\''s path; effects check\: the exit code alone]' \
			--json'[one JSON document on stdout; what is for people goes to stderr]' \
			'--help[say what it does]' \
			'1:word:(list check show claims assess)' \
			'*:word:{case $words[2] in show) _harness_effects;; claims) _files -g "*.tar.gz";; assess) _files;; esac}'
		;;
	completion)
		_arguments -S \
			'--help[say what it does]' \
			'1:word:(bash zsh fish)'
		;;
	help)
		_arguments -S \
			'--help[say what it does]' \
			'1:word:_harness_verbs'
		;;
	esac
}

if [ "$funcstack[1]" = _harness ]; then
	_harness "$@"
else
	compdef _harness harness
fi
