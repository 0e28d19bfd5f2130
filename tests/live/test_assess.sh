#!/bin/bash
# Assessments of a real run: statements that are given to it are sealed with it, and what they establish is what the rules say and
# no further; those of the run's own key count for nothing; and whoever reads the bundle is told whose word the keys are.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/effects.sh
. "$(dirname "$0")/effects.sh"
need_engine

copy_tree tree
rm -f "$folder/tree/effects/order_create_pg.json" # the other deployment has statements of its own
BUNDLE=$folder/runs/latest/confinement-evidence.tar.gz
program=$folder/tree/build/harness

for key in assessor other run; do
	openssl genpkey -algorithm ed25519 -out "$folder/$key.pem" 2>/dev/null && chmod 600 "$folder/$key.pem"
	openssl pkey -in "$folder/$key.pem" -pubout -out "$folder/$key.pub"
done
statement() { # ID KIND PATH PATHS [UNTIL]
	printf '{"id":"%s","kind":"%s","effect":"order_create","revision":"example-1","boundary":"orders-sqlite","what":"what stands there","path":%s,"paths":[%s],"from":"2020-01-01T00:00:00Z","until":"%s"}\n' \
		"$1" "$2" "$3" "$4" "${5:-$(date -u -d '+90 days' +%FT%TZ)}" >"$folder/$1.json"
}
sign() { # KEY OUT ID...
	local key=$1 out=$2
	shift 2
	(cd "$folder" && "$program" effects assess "$key.pem" "${@/%/.json}" >"$out")
}
statement inventory inventory null '"P1","P2","P3a","P3b","P4","P5"'
for path in P4 P5; do
	statement "control-${path,}" control "\"$path\"" ""
	statement "seen-${path,}" observation "\"$path\"" ""
done
statement expired inventory null '"P1"' 2020-01-02T00:00:00Z
check "all are signed" sign assessor all.jsonl inventory control-p4 seen-p4 control-p5 seen-p5
check "P4's alone too" sign assessor p4.jsonl inventory control-p4 seen-p4
check "one that expired" sign assessor expired.jsonl expired
check "by the run's key" sign run run.jsonl inventory control-p4 seen-p4 control-p5 seen-p5

claims() { # CODE ARGUMENT...
	local code=$1
	shift
	CODE=0 untold=1
	"$program" effects claims "$BUNDLE" "$@" >"$OUTPUT" 2>&1 || CODE=$?
	exits "$code"
}
verify() { # CODE ARGUMENT...
	local code=$1
	shift
	CODE=0 untold=1
	"$program" verify "$@" "$BUNDLE" >"$OUTPUT" 2>&1 || CODE=$?
	exits "$code"
}
NONE="not_established path_set_completeness control_evidence@P4 control_evidence@P5 independent_observation@P4 independent_observation@P5"

# ---- sealed with the run ----
harness tree run --sign "$folder/run.pem" --assessment "$folder/all.jsonl" --assessment "$folder/expired.jsonl" \
	--assessor "$folder/assessor.pub" effects/order-create effects/order-gateway effects/order-twice
check "the run passes" exits 0
check "its last lines say whose keys they are" says "; by statements of $(openssl pkey -pubin -in "$folder/assessor.pub" -outform DER |
	sha256sum | cut -d ' ' -f 1) (the bundle's own word)"
check "the bundle is verified" verify 0 --key "$folder/run.pub" --assessor "$folder/assessor.pub"
check "each statement is by a key that is known" says "pass        assessors: 5 statements count, each by a key that you name"
check "by who knows another key it is not" verify 2 --assessor "$folder/other.pub"
check "its own claims are established" claims 0
check "the set is complete" claim path_set_completeness "established"
check "and what is in it is mediated" claim complete_mediation "established"
check "one that expired is ignored, and that is said" says "  statement expired (inventory) is ignored: expired: it held no more when the run ended"
check "whose word that is, is said" says "whose keys made the statements is the bundle's own word"
check "by who knows another key they are not" claims 2 --assessor "$folder/other.pub"
check "nothing comes of them" claim complete_mediation "$NONE"
check "and that is said" says "  statement inventory (inventory) is ignored: unknown_key: "
check "with P4's alone" claims 2 --assessor "$folder/assessor.pub" --assessment "$folder/p4.jsonl"
check "P5's obligations are unmet, and no others" claim complete_mediation \
	"not_established control_evidence@P5 independent_observation@P5"
check "by the run's key they count for nothing" claims 2 --assessor "$folder/run.pub" --assessment "$folder/run.jsonl"
check "which is said" says "  statement control-p4 (control of P4) is ignored: self_signed: the key that signed it signs the run itself"
check "and nothing comes of them either" claim complete_mediation "$NONE"

# ---- the run assesses itself ----
harness tree run --sign "$folder/run.pem" --assessment "$folder/run.jsonl" --assessor "$folder/run.pub" \
	effects/order-create effects/order-gateway effects/order-twice
check "the second run passes" exits 0
check "its statements count for nothing" claims 2
check "in the bundle too" claim complete_mediation "$NONE"
check "which is said there" says "  statement inventory (inventory) is ignored: self_signed: "

# ---- refused before anything runs ----
harness tree run --assessment "$folder/all.jsonl" effects/order-gateway
check "statements without a key" exits 4
head -c 300 "$folder/all.jsonl" >"$folder/cut.jsonl"
harness tree run --assessment "$folder/cut.jsonl" --assessor "$folder/assessor.pub" effects/order-gateway
check "a cut envelope" exits 3
check "is named" says "cut.jsonl': line 1: it does not end"
check "and no bundle was made of either" test "$(find "$folder/runs" -name '*.tar.gz' -not -path '*/latest/*' | wc -l)" -eq 2

finish
