#!/bin/bash
# Assessments on the command line: the commands of docs/effects.md word for word, on a made-up bundle of the group effects/; each of
# the three kinds that is missing is an obligation of its own; what is ignored, and why; what is no statement. Needs no engine.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

tree=$PWD
BUILD=$(realpath "${BUILD:-build}")
HARNESS=$BUILD/harness
passed=0 failed=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-assess.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/page"
ln -s "$HARNESS" "$folder/bin/harness"
PATH=$folder/bin:$PATH
BUNDLE=confinement-evidence.tar.gz

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/shown" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'assess: FAILED: %s\n' "$what"
		head -n 20 "$folder/shown"
		tail -n 20 "$folder/out"
	fi
}
not() { ! "$@"; }
: >"$folder/out"
cd "$folder" || exit 1
# The tree's declaration of the orders in SQLite, alone.
mkdir -p world/effects && cp -r "$tree/scenarios" world && cp "$tree/effects/order_create.json" world/effects
check "a bundle" bash -c "cd world && '$BUILD/tests/main_bundle' effects 1 declared >'$folder/$BUNDLE'"

# ---- the page ----
awk -v to="$folder/page/" '
	/^## / { on = $2 == "Assessments" }
	on && /^    / { if (!inside) { count++; file = sprintf("%s%02d", to, count) } inside = 1; print substr($0, 5) > file; next }
	on && /^$/ { if (inside) print "" > file; next }
	{ inside = 0 }' "$tree/docs/effects.md"
step() { bash -euo pipefail "$1" >"$folder/out" 2>&1 || { cat "$folder/out"; return 1; }; }
check "the page has commands" test "$(find page -type f | wc -l)" -eq 4
for block in page/*; do
	check "block $block" step "$block"
	# What is printed last of the first three are the claims.
	[ "$block" = page/04 ] || check "$block: it counts" grep -qx '  statement inventory-1 (inventory) counts' out
done
check "a control and an observation of P4 are stated" bash -c "harness effects claims $BUNDLE --assessment p4.jsonl \\
	--assessor assessor.pub | grep -c ' of P4) counts' | grep -qx 2"
# Ed25519 signs the same bytes the same way.
check "openssl and harness make the same of it" cmp <(jq -cS . assessments.jsonl) <(jq -cS . by-openssl.jsonl)

# ---- keys and statements ----
DIGEST=$(harness effects show order_create | sed -n 's/^declaration sha256://p')
check "the declaration's digest" test "${#DIGEST}" -eq 64
new_key() { # NAME ALGORITHM [OPTION...]
	openssl genpkey -out "$1.pem" -algorithm "${@:2}" 2>/dev/null && chmod 600 "$1.pem" &&
		openssl pkey -in "$1.pem" -pubout -out "$1.pub"
}
check "an Ed25519 key" new_key ed25519 ed25519
check "a P-256 key" new_key p256 EC -pkeyopt ec_paramgen_curve:P-256
check "a key of the run's" new_key run ed25519
check "a key of a kind that is not taken" new_key rsa RSA -pkeyopt rsa_keygen_bits:2048

ALL='"P1","P2","P3a","P3b","P4","P5"'
statement() { # ID KIND PATH PATHS [FROM UNTIL]
	printf '{"id":"%s","kind":"%s","effect":"order_create","revision":"example-1","boundary":"orders-sqlite","what":"what stands there","path":%s,"paths":[%s],"from":"%s","until":"%s"}\n' \
		"$1" "$2" "$3" "$4" "${5:-2026-01-01T00:00:00Z}" "${6:-2027-01-01T00:00:00Z}" >"$1.json"
}
statement inventory inventory null "$ALL"
for path in P4 P5; do
	statement "control-${path,}" control "\"$path\"" ""
	statement "seen-${path,}" observation "\"$path\"" ""
done
KINDS="inventory control-p4 seen-p4 control-p5 seen-p5"
sign() { # KEY OUT ID...
	local key=$1 out=$2
	shift 2
	harness effects assess "$key.pem" "${@/%/.json}" >"$out"
}

claims() { # CODE ARGUMENT...
	local code=$1 got=0
	shift
	harness effects claims "$BUNDLE" "$@" >out 2>&1 || got=$?
	[ "$got" -eq "$code" ] || { echo "exit code $got, wanted $code"; return 1; }
}
claim() { # CLAIM EXPECTED
	local got
	got=$(awk -v claim="$1" '/^  [a-z_]+ +[a-z_]+$/ { on = $1 == claim; if (on) printf "%s", $2 }
		on && $1 == "unmet" { printf " %s", $2 ($4 ? "@" $4 : "") }
		on && $1 == "refuted" { printf " !%s", $3 ($5 ? "@" $5 : "") }' out)
	[ "$got" = "$2" ] || { echo "$1: $got"; return 1; }
}
says() { grep -qF -- "$1" out || { echo "not said: $1"; return 1; }; }
ignored() { # ID REASON
	grep -qE "^  statement $1 \([^)]*\) is ignored: $2: " out || { echo "$1 is not ignored as $2"; return 1; }
}

# ---- what they establish, and no further ----
NONE="not_established path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"
check "without any" claims 2
check "without any: what meets what is unmet" says \
	"  to meet control_evidence (no assessed evidence of a control in the path, which is of the deployment's side): an assessor's"
check "without any: once" test "$(grep -c "^  to meet control_evidence " out)" -eq 1
check "without any: and of nothing else" not says "  to meet read_back "
check "without any: mediation" claim complete_mediation "$NONE"
for key in ed25519 p256; do
	# shellcheck disable=SC2086 # ids without spaces
	check "$key: all are signed" sign "$key" "$key.jsonl" $KINDS
	check "$key: all is established" claims 0 --assessment "$key.jsonl" --assessor "$key.pub"
	check "$key: completeness" claim path_set_completeness "established"
	check "$key: mediation" claim complete_mediation "established"
done
sed -i 1d p256.jsonl
sed -n 1p ed25519.jsonl >one.jsonl
check "what is established by their word is said to be" says \
	"      by word of $(openssl pkey -pubin -in p256.pub -outform DER | sha256sum | cut -d ' ' -f 1): what they state nobody looked behind"
check "the words of a statement stand beside it" says "      what       what stands there"
check "two assessors" claims 0 --assessor p256.pub --assessment one.jsonl --assessment p256.jsonl --assessor ed25519.pub
check "who signed each is said" says "      by         $(openssl pkey -pubin -in p256.pub -outform DER | sha256sum | cut -d ' ' -f 1)"
check "a control where nobody mediates is said to be one" says \
	"      note       P4 is declared without a mediator; the assessor states a control"
check "that of an observation is not" test "$(grep -c "the assessor states a control" out)" -eq 2
check "flags with =" claims 0 --assessor=p256.pub --assessment=one.jsonl --assessment=p256.jsonl --assessor=ed25519.pub
row() { # WHAT WITHOUT COMPLETENESS MEDIATION
	grep -vF "$(sed -n "$2p" ed25519.jsonl)" ed25519.jsonl >less.jsonl
	check "without $1" claims 2 --assessment less.jsonl --assessor ed25519.pub
	check "without $1: completeness" claim path_set_completeness "$3"
	check "without $1: mediation" claim complete_mediation "$4"
}
row "the inventory" 1 "not_established inventory evidence" "not_established path_set_completeness"
row "P4's control" 2 "established" "not_established control_evidence@P4"
row "P4's observation" 3 "established" "not_established independent_observation@P4"
row "P5's control" 4 "established" "not_established control_evidence@P5"
row "P5's observation" 5 "established" "not_established independent_observation@P5"
inventory() { # PATHS
	statement own inventory null "$1"
	sign ed25519 own.jsonl own && sed 1d ed25519.jsonl >>own.jsonl
}
inventory '"P1","P2","P3a","P3b","P4"'
check "an inventory without P5" claims 2 --assessment own.jsonl --assessor ed25519.pub
check "an inventory without P5: completeness" claim path_set_completeness "not_established inventory@P5"
inventory "$ALL,\"P6\""
check "an inventory with another path" claims 1 --assessment own.jsonl --assessor ed25519.pub
check "an inventory with another path: completeness" claim path_set_completeness "refuted !undeclared_path@P6"

for ((i = 0; i < 9; i++)); do
	paths=$(for ((p = 0; p < 32; p++)); do printf ',"Q%d-%d"' $i $p; done)
	statement "many-$i" inventory null "${paths#,}"
done
check "more paths than a claim lists: signed" sign ed25519 many.jsonl many-{0..8}
check "more paths than a claim lists" claims 1 --assessment many.jsonl --assessor ed25519.pub
check "more paths than a claim lists: as many as it does" test "$(grep -c "^      refuted by undeclared_path of Q" out)" -eq 256
check "more paths than a claim lists: and that there are more" says "      cut        of 'refutedBy' there are more than are listed"

# ---- what is ignored ----
alone() { # WHAT ID REASON ARGUMENT...
	check "$1" claims 2 "${@:4}"
	check "$1: it is said" ignored "$2" "$3"
	check "$1: and nothing comes of it" claim complete_mediation "$NONE"
}
alone "another's key" inventory unsigned --assessment one.jsonl --assessor p256.pub
change() { sed -E "$1" one.jsonl >changed.jsonl && not cmp -s one.jsonl changed.jsonl; } # SED
payload() { # JQ
	jq -c ".payload |= (@base64d | fromjson | $1 | tojson | @base64)" one.jsonl >changed.jsonl && not cmp -s one.jsonl changed.jsonl
}
check "another day: changed" payload '.until = "2028-01-01T00:00:00Z"'
alone "a statement that was changed" inventory unsigned --assessment changed.jsonl --assessor ed25519.pub
check "no signature: changed" change 's/"signatures":.*/"signatures":[]}/'
alone "a statement without a signature" inventory unsigned --assessment changed.jsonl --assessor ed25519.pub
time_row() { # WHAT REASON FROM UNTIL
	statement timed inventory null "$ALL" "$3" "$4"
	check "$1: signed" sign ed25519 timed.jsonl timed
	alone "$1" timed "$2" --assessment timed.jsonl --assessor ed25519.pub
}
# The bundle's run ended at 2026-01-02T03:05:05Z, and that is the time that counts.
time_row "expired, though it holds today" expired 2025-01-01T00:00:00Z 2026-01-02T03:05:05Z
time_row "not yet" not_yet 2026-01-02T03:05:06Z 2099-01-01T00:00:00Z
cp -r world/effects other
sed -i 's/"revision": "example-1"/"revision": "example-2"/' other/order_create.json
check "another revision is declared" claims 2 --assessment one.jsonl --assessor ed25519.pub --effects other
check "another revision is declared: it is said" ignored inventory other_revision
check "another revision is declared: and nothing comes of it" claim path_set_completeness \
	"not_established revision@P1 revision@P2 revision@P3a revision@P3b revision@P4 inventory evidence"
cp "$tree/effects/order_create.json" other
sed -i 's/"id": "orders-sqlite"/"id": "orders-other"/' other/order_create.json
alone "another boundary is declared" inventory other_boundary --assessment one.jsonl --assessor ed25519.pub --effects other
cp "$tree/effects/order_create.json" other
sed -i '/"id": "P4"/,/"what"/s/"what": "/&other than /' other/order_create.json
alone "a path means something else" inventory other_declaration --assessment one.jsonl --assessor ed25519.pub --effects other
cp "$tree/effects/order_create.json" other
sed -i 's/"effect": "order_create"/"effect": "order_delete"/' other/order_create.json
alone "another effect is declared" inventory other_effect --assessment one.jsonl --assessor ed25519.pub --effects other
cp "$tree/effects/order_create.json" other
check "the run's key signs the bundle, beside it" harness sign run.pem "$BUNDLE"
check "and the statements" sign run run.jsonl inventory control-p4
alone "self-signed" inventory self_signed --assessment run.jsonl --assessor run.pub
check "of the other too" ignored control-p4 self_signed
check "an assessor beside the run's key" claims 0 --assessment ed25519.jsonl --assessor run.pub --assessor ed25519.pub
jq -c --slurpfile run <(head -n 1 run.jsonl) '.signatures += $run[0].signatures' one.jsonl >both.jsonl
check "the run's signature takes nothing away" claims 2 --assessment both.jsonl --assessor run.pub --assessor ed25519.pub
check "it counts" says "  statement inventory (inventory) counts"
alone "nor does it add" inventory self_signed --assessment both.jsonl --assessor run.pub
rm "$BUNDLE".* SHA256SUMS SHA256SUMS.sig

# ---- sealed with the run ----
made() { # OUT WORD...: statements, and the keys of assessors
	local out=$1 words=() word
	shift
	for word; do
		case $word in
		run:*) words+=("run:$folder/${word#run:}") ;;
		*) words+=("$folder/$word") ;;
		esac
	done
	(cd "$folder/world" && "$BUILD/tests/main_bundle" effects 1 declared "${words[@]}") >"$out"
}
verifies() { # CODE ARGUMENT...
	local code=$1 got=0
	shift
	harness verify "$@" >out 2>&1 || got=$?
	[ "$got" -eq "$code" ] || { echo "exit code $got, wanted $code"; return 1; }
}
fingerprint() { openssl pkey -pubin -in "$1.pub" -outform DER | sha256sum | cut -d ' ' -f 1; }
OWN_WORD="is the bundle's own word"

check "no statements: verify" verifies 0 --assessor ed25519.pub $BUNDLE
check "no statements: it is said" says "pass        assessors: no statements: the bundle brings none"
check "no statements, and nobody asks: verify" verifies 0 $BUNDLE
check "no statements, and nobody asks: nothing is said" not says assessors
check "help verify says what changes no exit code" bash -c "harness help verify | tr -s '\n ' ' ' | grep -qF \
	\"is the bundle's own word: that is said, and changes no exit code\""
check "more paths than a claim lists: sealed" made many.tar.gz many.jsonl ed25519.pub
check "more paths than a claim lists: sealed: verify" verifies 0 --assessor ed25519.pub many.tar.gz
check "more paths than a claim lists: sealed: a report" harness report --out many.html many.tar.gz
check "more paths than a claim lists: sealed: it says so" grep -qF "There are more than are listed of <code>refutedBy</code>" many.html
BUNDLE=sealed.tar.gz
check "sealed" made $BUNDLE ed25519.jsonl p256.pub ed25519.pub
check "sealed: verify" verifies 0 $BUNDLE
check "sealed: it is not hidden whose the keys are" says "not_checked assessors: 5 statements count, and whose keys made them $OWN_WORD"
check "sealed: each key is named" says "assessor $(fingerprint ed25519): 5 statements, and whose key it is, $OWN_WORD"
check "sealed: one that signed nothing too" says "assessor $(fingerprint p256): 0 statements"
check "sealed: by a key that is known" verifies 0 --assessor ed25519.pub $BUNDLE
check "sealed: it is said" says "pass        assessors: 5 statements count, each by a key that you name"
check "sealed: by one that is not" verifies 2 --assessor p256.pub $BUNDLE
check "sealed: that is said" says "not_checked assessors: of 5 statements that count, 5 are by keys that you do not name"
check "sealed: by both" verifies 0 --assessor p256.pub --assessor ed25519.pub $BUNDLE
check "sealed: the words of each statement" says "statement control-p4 (control of P4): what stands there"
check "sealed: as a document" verifies 2 --json --assessor p256.pub $BUNDLE
check "sealed: the document names them" says \
	"{\"fingerprint\":\"$(fingerprint ed25519)\",\"named\":false,\"signsTheBundle\":false,\"statements\":5}"
check "sealed: its own claims" claims 0
check "sealed: its own claims: whose word that is" says "whose keys made the statements $OWN_WORD"
check "sealed: a report" harness report --out report.html $BUNDLE
check "sealed: it says whose keys they are" grep -qF \
	"signed by <code>$(fingerprint ed25519)</code>. That this is the key of somebody else than who made the run is the bundle's own word" report.html
check "sealed: and in which words" grep -qF "<td>P4<td>what stands there (the path is declared without a mediator" report.html
check "sealed: it does not say that nothing of it is established" not grep -qE "It does not establish|observed in this run:" report.html
check "sealed: claims of two declarations" claims 2 --effects "$tree/effects"
check "sealed: each statement stands at the one that it is about" test "$(grep -c "^  statement " out)" -eq 5
check "sealed: claims for who knows the key" claims 0 --assessor ed25519.pub
check "sealed: claims for who does not" claims 2 --assessor p256.pub
check "sealed: the key is not known" ignored inventory unknown_key
check "sealed: nothing comes of it" claim complete_mediation "$NONE"
check "sealed: claims by other statements" claims 2 --assessor p256.pub --assessment p256.jsonl
check "sealed: of them alone" claim path_set_completeness "not_established inventory evidence"
check "sealed: signed" harness sign run.pem $BUNDLE
check "sealed: whose signature it is stays another question" verifies 0 --key run.pub --assessor ed25519.pub $BUNDLE
check "sealed: and the assessor's own word for the run is none" verifies 1 --key ed25519.pub $BUNDLE
rm SHA256SUMS SHA256SUMS.sig

claims_of_by() {
	(BUNDLE=by/$BUNDLE && claims "$@")
}
BUNDLE=later.tar.gz
check "signed later by its assessor" made $BUNDLE ed25519.jsonl ed25519.pub
check "signed later by its assessor: signed" harness sign ed25519.pem $BUNDLE
check "signed later by its assessor: verify" verifies 2 --key ed25519.pub --assessor ed25519.pub $BUNDLE
check "signed later by its assessor: it is said" says \
	"not_checked assessors: of 5 statements that count, 5 are by a key that signs the bundle itself"
check "signed later by its assessor: nothing counts" claims 2 --assessor ed25519.pub
check "signed later by its assessor: it is said there too" ignored inventory self_signed
for left in $BUNDLE.intoto.jsonl $BUNDLE.sigstore.json SHA256SUMS.sig; do
	mkdir -p by && rm -rf by/* && cp $BUNDLE "$left" by
	check "signed later by its assessor: $left alone: verify" verifies 2 --assessor ed25519.pub by/$BUNDLE
	check "signed later by its assessor: $left alone: it is said" says "5 are by a key that signs the bundle itself"
	check "signed later by its assessor: $left alone: nothing counts" claims_of_by 2 --assessor ed25519.pub
	check "signed later by its assessor: $left alone: nor is it counted" ignored inventory self_signed
done
rm -f by/* && cp $BUNDLE by && printf 'no signature\n' | tee by/SHA256SUMS.sig >by/$BUNDLE.sigstore.json
check "what is none beside it says nothing" verifies 0 --assessor ed25519.pub by/$BUNDLE
rm $BUNDLE.intoto.jsonl $BUNDLE.sigstore.json SHA256SUMS.sig
check "signed later by its assessor: by the key alone" verifies 2 --key ed25519.pub $BUNDLE
check "signed later by its assessor: it is said all the same" says "5 are by a key that signs the bundle itself"

BUNDLE=own.tar.gz
check "signed by the run's key" made $BUNDLE run.jsonl run:run.pub
check "signed by the run's key: intact" verifies 0 --assessor run.pub $BUNDLE
check "signed by the run's key: nothing counts" says "pass        assessors: no statement counts"
check "signed by the run's key: claims" claims 2
check "signed by the run's key: it is said" ignored inventory self_signed
check "signed by the run's key: given again" claims 2 --assessment run.jsonl --assessor run.pub
check "signed by the run's key: given again: it is said" ignored inventory self_signed
check "signed by the run's key: and another's" claims 0 --assessment ed25519.jsonl --assessor run.pub --assessor ed25519.pub
BUNDLE=confinement-evidence.tar.gz

# ---- errors ----
refused() { # CODE TEXT ARGUMENT...
	check "refused: $2" claims "$1" "${@:3}"
	check "and said: $2" says "$2"
	check "alone: $2" test "$(wc -l <out)" -eq 1
}
refused 4 "--assessment needs --assessor" --assessment one.jsonl
refused 4 "--assessor needs --assessment" --assessor ed25519.pub
refused 4 "an assessor's key stands there twice" --assessment one.jsonl --assessor ed25519.pub --assessor ed25519.pub
refused 3 "that is a private key" --assessment one.jsonl --assessor ed25519.pem
refused 3 "neither P-256 nor Ed25519" --assessment one.jsonl --assessor rsa.pub
refused 3 "'nowhere'" --assessment one.jsonl --assessor nowhere
refused 3 "nowhere" --assessment nowhere --assessor ed25519.pub
refused 3 "the assessment 'one.jsonl': line 1: a statement 'inventory' is there already" --assessment one.jsonl --assessment one.jsonl \
	--assessor ed25519.pub
hostile() { # TEXT COMMAND...
	"${@:2}" >bad.jsonl
	refused 3 "the assessment 'bad.jsonl': $1" --assessment bad.jsonl --assessor ed25519.pub
}
hostile "there is no envelope" true
hostile "line 1: no envelope (\`harness effects assess\` makes one): JSON" jq . inventory.json
hostile "line 2: no envelope (\`harness effects assess\` makes one): JSON" bash -c 'cat one.jsonl; echo {'
hostile "line 1: it is longer" bash -c 'head -c 20000 /dev/zero | tr "\0" "["; echo'
hostile "line 1: no envelope (\`harness effects assess\` makes one): JSON" bash -c 'head -c 5000 /dev/zero | tr "\0" "["; echo'
hostile "line 1: no envelope (\`harness effects assess\` makes one): JSON: duplicate key" sed 's/{"payload"/{"payload":"","payload"/' one.jsonl
hostile "line 1: the payload type is not" sed 's#application/vnd.harness.assessment+json#application/vnd.in-toto+json#' one.jsonl
hostile "line 1: the payload: unknown key" jq -c '.payload |= (@base64d | fromjson | . + {"status":"counts"} | tojson | @base64)' one.jsonl
hostile "line 1: the payload is not in its canonical form" jq -c '.payload |= (@base64d + "\n" | @base64)' one.jsonl
yes "$(cat one.jsonl)" 2>/dev/null | head -c 3000000 >bad.jsonl
check "too large" claims 3 --assessment bad.jsonl --assessor ed25519.pub
many=()
for ((i = 0; i < 129; i++)); do many+=(--assessment one.jsonl); done
refused 4 "--assessment stands there more than 128 times" "${many[@]}" --assessor ed25519.pub

assess_refused() { # CODE TEXT ARGUMENT...
	local code=$1 text=$2 got=0
	shift 2
	harness effects assess "$@" >out 2>err || got=$?
	check "assess: $text" test "$got" -eq "$code" -a ! -s out
	check "assess says: $text" grep -qF -- "$text" err
}
statement wrong control '"P2"' ""
assess_refused 3 "wrong.json: path: order_create declares no path 'P2' of the deployment's side" ed25519.pem inventory.json wrong.json
statement wrong inventory null "$ALL" 2027-01-01T00:00:00Z 2026-01-01T00:00:00Z
assess_refused 3 "wrong.json: until: it is not later than from" ed25519.pem wrong.json
statement wrong inventory null "$ALL" soon
assess_refused 3 "wrong.json: from" ed25519.pem wrong.json
sed 's/example-1/example-2/' inventory.json >wrong.json
assess_refused 3 "wrong.json: revision: 'example-2', and order_create is declared for 'example-1'" ed25519.pem wrong.json
jq -c '.declarationSha256 = "'"$(printf %064d 0)"'"' inventory.json >wrong.json
assess_refused 3 "wrong.json: declarationSha256: it must be $DIGEST, that of order_create, or left out" ed25519.pem wrong.json
jq -c ".declarationSha256 = \"$DIGEST\"" inventory.json >same.json
check "a statement with its digest" sign ed25519 same.jsonl same
check "is the one without" cmp same.jsonl <(head -n 1 ed25519.jsonl)
jq -c 'del(.what)' inventory.json >wrong.json
assess_refused 3 "wrong.json: what" ed25519.pem wrong.json
assess_refused 3 "that is a public key" ed25519.pub inventory.json
assess_refused 3 "inventory.json: a statement 'inventory' is there already" ed25519.pem inventory.json control-p4.json inventory.json
assess_refused 3 "one.jsonl: unknown key 'payload'" ed25519.pem one.jsonl
jq -c '[.]' inventory.json >wrong.json
assess_refused 3 "wrong.json: must be an object" ed25519.pem wrong.json
assess_refused 4 "effects takes" ed25519.pem
check "assess with --json" not harness effects assess ed25519.pem inventory.json --json
harness effects assess ed25519.pem inventory.json --json >out 2>err
check "assess says that it takes none" says '"exitCode":4,"error":"assess prints envelopes, a line each: it takes no --json"'
assess_refused 4 "are for \`harness effects claims\`" ed25519.pem inventory.json --assessor ed25519.pub

printf 'assess: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
