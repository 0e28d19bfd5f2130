# fish completion for harness, made by `harness completion fish`

function __harness_needs_verb
	test (count (commandline -opc)) -eq 1
end

function __harness_verb_is
	set -l words (commandline -opc)
	test (count $words) -ge 2; and test $words[2] = $argv[1]
end

function __harness_first_word
	test (count (commandline -opc)) -eq 2
end

function __harness_behind
	set -l words (commandline -opc)
	test (count $words) -ge 3; and test $words[3] = $argv[1]
end

function __harness_effects
	set -l words (commandline -opc)
	$words[1] effects list 2>/dev/null | sed 's/ .*//'
end

# Ids, groups and all of what came with this harness.
function __harness_scenarios
	set -l words (commandline -opc)
	set -l ids ($words[1] list 2>/dev/null | sed -n '2,/^$/s/^  \([^ ]*\) .*/\1/p')
	printf '%s\n' all $ids
	printf '%s\n' $ids | sed -n 's,/.*,,p' | sort -u
end

complete -c harness -f
complete -c harness -n __harness_needs_verb -l help -d 'say what harness does'
complete -c harness -n __harness_needs_verb -l version -d 'say which version this is'

function __harness_verbs
	printf '%s\n' run list verify recheck diff merge replay sign report clean doctor policy effects completion help
end

complete -c harness -n __harness_needs_verb -a run -d 'run scenarios with the mutants that their zeros need, and seal a bundle'
complete -c harness -n '__harness_verb_is run' -l socket -r -F -d 'the engine\'s socket (else a unix:// DOCKER_HOST, else /var/run/docker.sock)'
complete -c harness -n '__harness_verb_is run' -l postgres -x -a '(__fish_complete_directories)' -d 'the socket\'s folder of a PostgreSQL cluster as ci/postgres starts it (default: /run/harness-postgres); run, replay: one that is named must answer'
complete -c harness -n '__harness_verb_is run' -l out -x -a '(__fish_complete_directories)' -d 'run, clean, replay: where runs are kept (default: runs)'
complete -c harness -n '__harness_verb_is run' -l scenarios -x -a '(__fish_complete_directories)' -d 'scenarios of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is run' -l effects -x -a '(__fish_complete_directories)' -d 'declarations of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is run' -l gateway -x -a 'embedded cmcp' -d 'embedded (the default), cmcp (installed by ci/cmcp), or the URL of one that runs: http://127.0.0.1:PORT/mcp'
complete -c harness -n '__harness_verb_is run' -l gateway-sink -r -F -d 'of a gateway by URL: the file that its upstream, build/libexec/recorder FILE, appends to'
complete -c harness -n '__harness_verb_is run' -l gateway-raised -x -d 'of a gateway by URL: the same with public.tool\'s ceiling at confidential; else that is not planned'
complete -c harness -n '__harness_verb_is run' -l gateway-token-file -r -F -d 'of a gateway by URL: holds its bearer token'
complete -c harness -n '__harness_verb_is run' -s j -l jobs -x -d 'arms at the same time (default: 2)'
complete -c harness -n '__harness_verb_is run' -l repeat -x -d 'each arm N times, each recorded and judged, none chosen (default: 1)'
complete -c harness -n '__harness_verb_is run' -l shard -x -d 'the I-th of N parts of the plan, with the mutants of its own cells; `harness merge` joins them'
complete -c harness -n '__harness_verb_is run' -l seed -x -d 'draws the order of the arms and the delays of faults, 0 the plan\'s; without it one is drawn and recorded'
complete -c harness -n '__harness_verb_is run' -l dry-run -d 'run: print the plan and what it would touch, and stop'
complete -c harness -n '__harness_verb_is run' -l sign -r -F -d 'a private key (PEM, P-256 or Ed25519) that the bundle is signed with; its path, or fd:N'
complete -c harness -n '__harness_verb_is run' -l assessment -r -F -d 'signed statements of an assessor, one a line; may be repeated'
complete -c harness -n '__harness_verb_is run' -l assessor -r -F -d 'the public key (PEM) of one whose statements count; may be repeated'
complete -c harness -n '__harness_verb_is run' -s q -l quiet -d 'only the verdict and, of a run, the bundle\'s path; effects check: the exit code alone'
complete -c harness -n '__harness_verb_is run' -s v -l verbose -d 'run: the steps of each arm as they happen, what declared observers write to their standard error, and each cell on a line of its own'
complete -c harness -n '__harness_verb_is run' -l json -d 'one JSON document on stdout; what is for people goes to stderr'
complete -c harness -n '__harness_verb_is run' -x -a '(__harness_scenarios)'

complete -c harness -n __harness_needs_verb -a list -d 'scenarios, mutations and observers, one line each'
complete -c harness -n '__harness_verb_is list' -l scenarios -x -a '(__fish_complete_directories)' -d 'scenarios of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is list' -l effects -x -a '(__fish_complete_directories)' -d 'declarations of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is list' -l json -d 'one JSON document on stdout; what is for people goes to stderr'

complete -c harness -n __harness_needs_verb -a verify -d 'check a bundle offline: every hash and every verdict again'
complete -c harness -n '__harness_verb_is verify' -l key -r -F -d 'the public key (PEM) that the bundle must be signed by; without it nobody is believed'
complete -c harness -n '__harness_verb_is verify' -l attestation -r -F -d 'the signed statement, where it is not beside the bundle as BUNDLE.intoto.jsonl'
complete -c harness -n '__harness_verb_is verify' -l assessor -r -F -d 'the public key (PEM) of one whose statements count; may be repeated'
complete -c harness -n '__harness_verb_is verify' -l attest -r -F -d 'a private key: what passed is signed with it, beside the bundle in BUNDLE.svr.intoto.jsonl'
complete -c harness -n '__harness_verb_is verify' -l require-signature -d 'verify: a bundle that nobody signed is not established'
complete -c harness -n '__harness_verb_is verify' -s q -l quiet -d 'only the verdict and, of a run, the bundle\'s path; effects check: the exit code alone'
complete -c harness -n '__harness_verb_is verify' -l json -d 'one JSON document on stdout; what is for people goes to stderr'
complete -c harness -n '__harness_verb_is verify' -x -a '(__fish_complete_suffix .tar.gz)'

complete -c harness -n __harness_needs_verb -a recheck -d 'make a bundle\'s verdicts again from its observations'
complete -c harness -n '__harness_verb_is recheck' -l out -r -F -d 'recheck: where verdicts.json, made again, is written'
complete -c harness -n '__harness_verb_is recheck' -l json -d 'one JSON document on stdout; what is for people goes to stderr'
complete -c harness -n '__harness_verb_is recheck' -x -a '(__fish_complete_suffix .tar.gz)'

complete -c harness -n __harness_needs_verb -a diff -d 'two bundles side by side: cells, claims, environment, numbers'
complete -c harness -n '__harness_verb_is diff' -l json -d 'one JSON document on stdout; what is for people goes to stderr'
complete -c harness -n '__harness_verb_is diff' -x -a '(__fish_complete_suffix .tar.gz)'

complete -c harness -n __harness_needs_verb -a merge -d 'one bundle from the bundles of all shards of a plan'
complete -c harness -n '__harness_verb_is merge' -l out -x -a '(__fish_complete_directories)' -d 'merge: where the merged bundle is written; it holds none yet'
complete -c harness -n '__harness_verb_is merge' -s q -l quiet -d 'only the verdict and, of a run, the bundle\'s path; effects check: the exit code alone'
complete -c harness -n '__harness_verb_is merge' -l json -d 'one JSON document on stdout; what is for people goes to stderr'
complete -c harness -n '__harness_verb_is merge' -x -a '(__fish_complete_suffix .tar.gz)'

complete -c harness -n __harness_needs_verb -a replay -d 'run what a bundle\'s run did again, and say whether it came out the same'
complete -c harness -n '__harness_verb_is replay' -l socket -r -F -d 'the engine\'s socket (else a unix:// DOCKER_HOST, else /var/run/docker.sock)'
complete -c harness -n '__harness_verb_is replay' -l postgres -x -a '(__fish_complete_directories)' -d 'the socket\'s folder of a PostgreSQL cluster as ci/postgres starts it (default: /run/harness-postgres); run, replay: one that is named must answer'
complete -c harness -n '__harness_verb_is replay' -l out -x -a '(__fish_complete_directories)' -d 'run, clean, replay: where runs are kept (default: runs)'
complete -c harness -n '__harness_verb_is replay' -l scenarios -x -a '(__fish_complete_directories)' -d 'scenarios of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is replay' -l effects -x -a '(__fish_complete_directories)' -d 'declarations of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is replay' -l gateway -x -a 'embedded cmcp' -d 'embedded (the default), cmcp (installed by ci/cmcp), or the URL of one that runs: http://127.0.0.1:PORT/mcp'
complete -c harness -n '__harness_verb_is replay' -l gateway-sink -r -F -d 'of a gateway by URL: the file that its upstream, build/libexec/recorder FILE, appends to'
complete -c harness -n '__harness_verb_is replay' -l gateway-raised -x -d 'of a gateway by URL: the same with public.tool\'s ceiling at confidential; else that is not planned'
complete -c harness -n '__harness_verb_is replay' -l gateway-token-file -r -F -d 'of a gateway by URL: holds its bearer token'
complete -c harness -n '__harness_verb_is replay' -s j -l jobs -x -d 'arms at the same time (default: 2)'
complete -c harness -n '__harness_verb_is replay' -l scenario -x -a '(__harness_scenarios)' -d 'of the bundle\'s scenarios this one alone, with the mutants that its cells need'
complete -c harness -n '__harness_verb_is replay' -l sign -r -F -d 'a private key (PEM, P-256 or Ed25519) that the bundle is signed with; its path, or fd:N'
complete -c harness -n '__harness_verb_is replay' -s q -l quiet -d 'only the verdict and, of a run, the bundle\'s path; effects check: the exit code alone'
complete -c harness -n '__harness_verb_is replay' -s v -l verbose -d 'run: the steps of each arm as they happen, what declared observers write to their standard error, and each cell on a line of its own'
complete -c harness -n '__harness_verb_is replay' -l json -d 'one JSON document on stdout; what is for people goes to stderr'
complete -c harness -n '__harness_verb_is replay' -x -a '(__fish_complete_suffix .tar.gz)'

complete -c harness -n __harness_needs_verb -a sign -d 'sign a sealed bundle, beside it, once it has verified'
complete -c harness -n '__harness_verb_is sign' -r -F

complete -c harness -n __harness_needs_verb -a report -d 'write a bundle\'s page for people, report.html'
complete -c harness -n '__harness_verb_is report' -l out -r -F -d 'report: where to write it, - for standard output (default: as the bundle\'s member is named)'
complete -c harness -n '__harness_verb_is report' -l format -x -a 'html junit ctrf' -d 'html (the default), or junit or ctrf'
complete -c harness -n '__harness_verb_is report' -x -a '(__fish_complete_suffix .tar.gz)'

complete -c harness -n __harness_needs_verb -a clean -d 'remove what earlier runs left: containers, images, processes, temporary folders'
complete -c harness -n '__harness_verb_is clean' -l socket -r -F -d 'the engine\'s socket (else a unix:// DOCKER_HOST, else /var/run/docker.sock)'
complete -c harness -n '__harness_verb_is clean' -l postgres -x -a '(__fish_complete_directories)' -d 'the socket\'s folder of a PostgreSQL cluster as ci/postgres starts it (default: /run/harness-postgres); run, replay: one that is named must answer'
complete -c harness -n '__harness_verb_is clean' -l out -x -a '(__fish_complete_directories)' -d 'run, clean, replay: where runs are kept (default: runs)'

complete -c harness -n __harness_needs_verb -a doctor -d 'each need of this host: ok, or what mends it'
complete -c harness -n '__harness_verb_is doctor' -l socket -r -F -d 'the engine\'s socket (else a unix:// DOCKER_HOST, else /var/run/docker.sock)'
complete -c harness -n '__harness_verb_is doctor' -l postgres -x -a '(__fish_complete_directories)' -d 'the socket\'s folder of a PostgreSQL cluster as ci/postgres starts it (default: /run/harness-postgres); run, replay: one that is named must answer'
complete -c harness -n '__harness_verb_is doctor' -l json -d 'one JSON document on stdout; what is for people goes to stderr'

complete -c harness -n __harness_needs_verb -a policy -d 'what may be called in the sessions that are open now, and change it'
complete -c harness -n '__harness_verb_is policy' -l session -x -d 'which session is changed, as `harness policy show` lists them'
complete -c harness -n '__harness_verb_is policy; and __harness_first_word' -x -a 'show revoke restore'

complete -c harness -n __harness_needs_verb -a effects -d 'protected effects, and the paths that are declared for them'
complete -c harness -n '__harness_verb_is effects' -l scenarios -x -a '(__fish_complete_directories)' -d 'scenarios of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is effects' -l effects -x -a '(__fish_complete_directories)' -d 'declarations of your own instead of those that came with harness'
complete -c harness -n '__harness_verb_is effects' -l assessment -r -F -d 'signed statements of an assessor, one a line; may be repeated'
complete -c harness -n '__harness_verb_is effects' -l assessor -r -F -d 'the public key (PEM) of one whose statements count; may be repeated'
complete -c harness -n '__harness_verb_is effects' -s q -l quiet -d 'only the verdict and, of a run, the bundle\'s path; effects check: the exit code alone'
complete -c harness -n '__harness_verb_is effects' -l json -d 'one JSON document on stdout; what is for people goes to stderr'
complete -c harness -n '__harness_verb_is effects; and __harness_first_word' -x -a 'list check show claims assess'
complete -c harness -n '__harness_verb_is effects; and __harness_behind show' -x -a '(__harness_effects)'
complete -c harness -n '__harness_verb_is effects; and __harness_behind claims' -x -a '(__fish_complete_suffix .tar.gz)'
complete -c harness -n '__harness_verb_is effects; and __harness_behind assess' -r -F

complete -c harness -n __harness_needs_verb -a completion -d 'print what makes a shell complete verbs, flags and scenarios'
complete -c harness -n '__harness_verb_is completion; and __harness_first_word' -x -a 'bash zsh fish'

complete -c harness -n __harness_needs_verb -a help -d 'say what harness does, or what one verb does'
complete -c harness -n '__harness_verb_is help; and __harness_first_word' -x -a '(__harness_verbs)'
