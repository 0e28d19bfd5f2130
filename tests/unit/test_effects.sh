#!/bin/bash
# `harness effects`: its words, its document, and that a declaration which does not hold together ends with 3, file and field.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
HARNESS=$BUILD/harness
passed=0 failed=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-effects.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/shown" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'effects: FAILED: %s\n' "$what"
		cat "$folder/out" "$folder/err"
	fi
}

# Looks at the program's end: the exit code and a text on either stream.
ends() { # CODE TEXT WORD...
	local code=$1 text=$2 got
	shift 2
	"$HARNESS" "$@" >"$folder/out" 2>"$folder/err"
	got=$?
	[ "$got" -eq "$code" ] && grep -qF -- "$text" "$folder/out" "$folder/err"
}
says() { # CODE TEXT ARGUMENT...
	ends "$1" "$2" effects "${@:3}"
}

# A copy of the declarations with one change.
planted() { # SED
	rm -rf "$folder/own"
	cp -r effects "$folder/own" && sed -i "$1" "$folder/own/order_create.json" &&
		! cmp -s effects/order_create.json "$folder/own/order_create.json"
}

not() { ! "$@"; }

made() { # FILE SELECTOR
	"$BUILD/tests/main_bundle" "$2" >"$1"
}

cut() { # FROM TO
	head -c 2000 "$1" >"$2"
}

check "without a word it lists" says 0 "order_create "
check "list" says 0 "5 of 6 paths have scenarios" list
check "check" says 0 "$(find effects -maxdepth 1 -name "*.json" | wc -l) declarations hold together" check
check "show" says 0 "P4 " show order_create
check "show says what it does not show" says 0 "does not show that the set of paths is complete" show order_create
check "show of another" says 4 "did you mean 'order_create'" show order_crate
check "another word" says 4 "unknown word of effects 'compute': see \`harness help effects\`" compute
check "one that is nearly there" says 4 "did you mean 'claims'?" clams
check "show without an id" says 4 "effects takes" show
check "claims of nothing" says 4 "effects takes" claims
check "claims of no bundle" says 3 "$folder/nowhere" claims "$folder/nowhere"
check "list with one" says 4 "effects takes" list order_create
check "the document" says 0 '"verb":"effects","exitCode":0,"effects":[{"id":"order_create"' check --json
silent() { "$HARNESS" effects check -q >"$folder/out" 2>"$folder/err" && ! [ -s "$folder/out" ] && ! [ -s "$folder/err" ]; }
check "check, quietly" silent
check "a fault is no less one" says 3 "the declarations' folder" check -q --effects "$folder/nowhere"
check "list, quietly" says 4 "--quiet is for" list -q
own=docs/examples/file-deletion
check "one declaration" says 0 "1 declaration holds together; what it is worth, a run shows" \
	check --scenarios $own/scenarios --effects $own/effects
check "without --scenarios" says 3 "no scenario is 'file-delete': --scenarios FOLDER names yours, and is not given" \
	check --effects $own/effects
check "without --effects" says 3 "unknown 'kept': --effects FOLDER names the declarations of your own observers, and is not given" \
	check --scenarios $own/scenarios
cp -r scenarios "$folder/few"
rm -r "$folder/few/effects"
check "without --effects, and no observer" says 3 "': --effects FOLDER names your declarations, and is not given" \
	check --scenarios "$folder/few"
check "no folder" says 3 "the declarations' folder" --effects "$folder/nowhere"
mkdir "$folder/empty"
check "none declared" says 0 "no effect is declared" list --effects "$folder/empty"
check "nothing to check" says 3 "there is no declaration to check: one is a file ID.json in the folder of --effects" check --effects "$folder/empty"

row() { # WHAT SED TEXT
	check "$1: was planted" planted "$2"
	check "$1" says 3 "order_create.json: $3" check --effects "$folder/own"
	check "$1, as a document" says 3 "\"error\":\"order_create.json: $3" check --json --effects "$folder/own"
}
row "an unknown observer" '0,/"observers": \["orders"\]/s//"observers": ["ordres"]/' \
	"paths[0].observers[0]: 'ordres' is none of 'observers': did you mean 'orders'?"
row "a program forgotten" '0,/"id": "orders"/s//"id": "kept"/' \
	"observers[0].program: 'kept' is no observer of the harness that sees effects: name the program beside the declaration that does"
row "a canary's observer" '0,/"id": "orders"/s//"id": "tcp4"/' "observers[0].program: 'tcp4' is no observer of the harness that sees effects"
row "an observer slipped in" '0,/"observers": \["orders"\]/s//"observers": ["orders", "deliveries"]/' \
	"paths[0].observers[1]: 'deliveries' is none of 'observers'"
row "a bypass that is authorised" 's/"admits": "nothing"/"admits": "authorised"/' \
	"paths[1].admits: 'order-http' is no call through the gateway: nobody authorises it"
row "a mediator that nobody is" '0,/"mediator": "network"/s//"mediator": "netwrok"/' \
	"paths[1].mediator: 'netwrok' is nothing that a listed scenario removes: did you mean 'network'?"
row "a path without an observer" '0,/"observers": \["orders"\]/s//"observers": []/' "paths[0].observers: none"
row "a scenario that does not exist" '0,/"scenarios": \["effects\/order-gateway", "effects\/order-twice"\]/s//"scenarios": ["moon"]/' \
	"paths[0].scenarios[0]: no scenario is 'moon'"
# A deployment's path never gets the coverage of the agent's confinement: neither where a canary is checked...
row "a canary check as coverage" '0,/"scenarios": \["effects\/order-gateway", "effects\/order-twice"\]/s//"scenarios": ["mutation\/log-driver"]/' \
	"paths[0].scenarios[0]: 'mutation/log-driver' does not look for 'order-gateway'"
row "a denied sink as coverage" '0,/"scenarios": \["effects\/order-gateway", "effects\/order-twice"\]/s//"scenarios": ["mutation\/sink-ceiling"]/' \
	"paths[0].scenarios[0]: 'mutation/sink-ceiling' does not look for 'order-gateway'"
# ...nor by saying so.
row "a status by hand" 's/"revision":/"status": "established", "revision":/' "unknown key 'status'"
check "declared twice: was planted" planted 's/"title": "/&x/'
cp "$folder/own/order_create.json" "$folder/own/again.json"
check "declared twice" says 3 "order_create.json: effect: 'order_create' is declared for 'orders-sqlite' in again.json too" \
	check --effects "$folder/own"

# ---- the claims of a bundle: its own declarations, and a reader's ----
bundle=$folder/orders.tar.gz
none=$folder/none.tar.gz
check "a bundle of a run that took the paths" made "$bundle" effects
check "claims" says 2 "order_create: the declaration is the one that the run was made with" claims "$bundle"
check "what is established" says 2 "  observation            established" claims "$bundle"
check "what is not" says 2 "  complete_mediation     not_established" claims "$bundle"
check "the document of claims" says 2 '"declarations":[{"id":"order_create","is":"sealed"},{"id":"order_create_pg","is":"sealed"}],"claims":[{"id":"order_create"' claims --json "$bundle"
check "the same declaration" says 2 "order_create: your declaration is the one that the run was made with" claims --effects effects "$bundle"
check "another: was planted" planted 's/"title": "/&x/'
check "another declaration" says 2 "order_create: your declaration differs from the one that the run was made with" \
	claims --effects "$folder/own" "$bundle"
check "another, as a document" says 2 '"is":"differs"' claims --json --effects "$folder/own" "$bundle"
mv "$folder/own/order_create.json" "$folder/own/mine.json"
check "one of its own" says 2 "mine: the run was made without a declaration of that id: the claims follow from yours" \
	claims --effects "$folder/own" "$bundle"
check "and the bundle's is left out" says 2 "order_create: declared in the bundle, and not by you: left out" \
	claims --effects "$folder/own" "$bundle"
check "none of the reader's" says 2 "you declare no effect: nothing is claimed" claims --effects "$folder/empty" "$bundle"
cp -r scenarios "$folder/mine"
sed -i 's/"removes": \["network"\]/"removes": ["read-only"]/' "$folder/mine/effects/order-network.json"
check "where an id stands for another scenario: was planted" planted 's/"mediator": "network"/"mediator": "read-only"/'
check "where an id stands for another scenario with the reader, it holds" says 0 "hold together" \
	check --scenarios "$folder/mine" --effects "$folder/own"
check "but what was run is the bundle's" says 3 "the scenarios of the bundle: order_create.json: paths[1].mediator: 'read-only' is nothing that" \
	claims --scenarios "$folder/mine" --effects "$folder/own" "$bundle"
check "a bundle of a version without declarations" cp tests/data/bundles/format-1.0-harness-0.1.0.tar.gz "$none"
verified() { # TEXT BUNDLE
	"$HARNESS" verify "$2" >"$folder/out" 2>"$folder/err"
	grep -qxF -- "$1" "$folder/out"
}
check "which verify says" verified "claims: none: this version of the format has no declarations of effects" "$none"
check "and of no other" not verified "claims: none: this version of the format has no declarations of effects" "$bundle"
check "has no claims" says 2 "the bundle declares no effect, and claims nothing" claims "$none"
check "but for a reader's declaration" says 2 "order_create: the run was made without a declaration of that id" claims --effects effects "$none"
check "nor has it any to compare" ends 1 "claims: not compared: one of the two is of a version of the format that has none" diff "$none" "$bundle"
check "and as a document" ends 1 '"claims":null' diff --json "$none" "$bundle"
check "beside itself it says that it is the same" ends 0 "diff: both came out the same" diff "$bundle" "$bundle"
check "and claims the same" ends 0 "claims: 2 effects in both; differences, which weigh: 0" diff "$bundle" "$bundle"
check "another run: a bundle" made "$folder/base.tar.gz" baseline
check "claims less, and that weighs" ends 1 "effects in both; differences, which weigh: 6" diff "$bundle" "$folder/base.tar.gz"
check "which is" ends 1 "  order_create: observation: established -> not_established" diff "$bundle" "$folder/base.tar.gz"
check "so that it does not come out the same" grep -qxF "diff: they did not come out the same" "$folder/out"
check "as a document" ends 1 '{"effect":"order_create","about":"observation","was":"established","is":"not_established"}' \
	diff --json "$bundle" "$folder/base.tar.gz"
mkdir "$folder/titled" && cp -r effects scenarios "$folder/titled" && sed -i 's/"title": "/&x/' "$folder/titled/effects/order_create.json"
check "another text of a declaration: a bundle" sh -c "cd '$folder/titled' && '$BUILD/tests/main_bundle' effects >'$folder/titled.tar.gz'"
check "another text of a declaration weighs" ends 1 "effects in both; differences, which weigh: 1" diff "$bundle" "$folder/titled.tar.gz"
check "though no status is another" ends 1 "  order_create: declaration: " diff "$bundle" "$folder/titled.tar.gz"
check "and counts for a program" ends 1 '"weighing":1,"differences":[],"claims":[{"effect":"order_create","about":"declaration","was":"' \
	diff --json "$bundle" "$folder/titled.tar.gz"
check "not intact: was cut" cut "$bundle" "$folder/cut.tar.gz"
check "not intact" says 1 "the bundle is not intact: archive: " claims "$folder/cut.tar.gz"
check "not intact, as a document" says 1 '"exitCode":1,"declarations":[],"claims":[]' claims --json "$folder/cut.tar.gz"

printf 'effects: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
