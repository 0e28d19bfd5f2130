#!/bin/bash
# The real cMCP in the place of our gateway: what is permitted arrives once, what the ceiling denies does not, with the ceiling
# raised it does; and a fault of it is told from a denial.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine
if ! ci/cmcp --check >/dev/null 2>&1; then
	skip "cMCP is not installed (ci/cmcp)"
	finish
fi
copy_tree tree
ln -s "$PWD/build/cmcp" "$folder/tree/build/cmcp"
BUNDLE=$folder/runs/latest/confinement-evidence.tar.gz

member() { tar -xzOf "$BUNDLE" "confinement-evidence/$1"; } # NAME
holds() { # MEMBER PATTERN...: all of them
	local text pattern
	text=$(member "$1") || return 1
	shift
	for pattern; do grep -qE -- "$pattern" <<<"$text" || { echo "not there: $pattern"; return 1; }; done
}
# Of verdicts.json: a cell with this value passed. Keys are sorted.
cell() { # ARM SUBJECT OBSERVER VALUE
	member verdicts.json | grep -oE '\{"arm":"[^}]*\}' |
		grep -F "\"arm\":\"$1\"" | grep -F "\"observer\":\"$3\"" | grep -F "\"subject\":\"$2\"" | grep -F "\"value\":$4," |
		grep -qF '"verdict":"pass"' || { echo "no such cell: $*"; return 1; }
}
gone() { # no process of cMCP is left that an arm of this test started
	local file words
	for file in /proc/[0-9]*/cmdline; do
		words=$(tr '\0' ' ' <"$file") 2>/dev/null || continue # ended meanwhile
		[[ $words != *"$folder"* ]] || { echo "still there: $words"; return 1; }
	done
	not ls -d /tmp/harness-arm-"$(run_id)"* 2>/dev/null
}
run_id() { member manifest.json | grep -o '"runId":"[0-9a-f]*"' | cut -d '"' -f 4 | cut -c 1-8; }

harness tree run --gateway cmcp baseline mutation/sink-ceiling
check "the run: passes" exits 0
check "the run: says what is not planned" says "permitted@decisions of baseline: unsupported-decisions"
check "permitted: arrives once" cell baseline permitted deliveries 1
check "denied: does not arrive" cell baseline denied deliveries 0
check "denied: arrives with the ceiling raised" cell mutation/sink-ceiling denied deliveries 1
check "the bundle names the gateway" holds manifest.json '"gateway":\{"composed":true,"kind":"cmcp","raised":false,"sha256":"[0-9a-f]{64}","version":"0\.7\.1"\}'
check "the bundle verifies" "$folder/tree/build/harness" verify "$BUNDLE"
check "nothing is left" within 5 gone

# An upstream that dies under a call is a fault, which ends the session: a denial would not.
harness tree run --gateway cmcp failure/upstream-dies
check "a fault: the run passes" exits 0
check "a fault: ended the session" holds arms.json '"name":"ended","subject":"gateway-fault"'
check "a fault: ends within a second" holds verdicts.json '"subject":"loss_to_dead"'

# ---- the same gateway by URL, composed by somebody else: this test ----

# A cMCP that keeps one session: ten allowed calls, of which each arm of these scenarios takes three or four.
rm -rf "${folder:?}/tree/scenarios" "$folder"/tree/effects/* # declarations name scenarios
mkdir -p "$folder/tree/scenarios/mutation"
cat >"$folder/tree/scenarios/base.json" <<'END'
{
	"title": "what is denied does not arrive",
	"probes": ["permitted", "denied"],
	"expect": [
		{ "subject": "permitted", "observer": "deliveries", "op": "eq", "value": 1, "class": "control" },
		{ "subject": "denied", "observer": "deliveries", "op": "eq", "value": 0, "class": "protected" }
	]
}
END
cat >"$folder/tree/scenarios/mutation/raised.json" <<'END'
{
	"title": "the ceiling is raised",
	"control": "base",
	"removes": ["sink-ceiling"],
	"probes": ["permitted", "denied"],
	"expect": [
		{ "subject": "denied", "observer": "deliveries", "op": "eq", "value": 1, "class": "protected", "flips": true }
	]
}
END
started=()
end_started() {
	local pid
	for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
	started=()
}
trap 'end_started; tidy' EXIT
hash() { sha256sum | cut -d ' ' -f 1; }
free_port() {
	build/cmcp/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
SINK=$folder/sink
: >"$SINK"
start_cmcp() { # CEILING OF PUBLIC.TOOL: its port is in $port then
	local at=$folder/cmcp-$1 tool rows='' definition='{"description":"record synthetic data","input_schema":{"type":"object"}}'
	port=$(free_port)
	mkdir -p "$at/policies"
	for tool in permitted public beacon slow; do
		rows+="${rows:+,}{\"tool_name\":\"$tool.tool\",\"server\":{\"display_name\":\"sink\",\"transport\":\"stdio\",\"spawn\":{
			\"command\":\"$folder/tree/build/libexec/recorder\",\"args\":[\"$SINK\"],
			\"binary_digest\":\"sha256:$(hash <"$folder/tree/build/libexec/recorder")\"}},
			\"approved_definition\":$definition,\"definition_hash\":\"sha256:$(printf %s "$definition" | hash)\",
			\"compliance_domain\":\"internal\",\"requires_baa\":false,\"sensitivity_level\":\"confidential\",
			\"added_at\":\"2026-01-01T00:00:00Z\",\"approved_by\":\"test\"}"
	done
	printf '[%s]' "$rows" >"$at/catalog.json"
	printf %s 'permit(principal, action, resource);' >"$at/policies/allow.cedar"
	printf %s '{"cMCP": {}}' >"$at/policies/schema.cedarschema"
	printf %s '{"version":"1.0.0","authored_at":"2026-01-01T00:00:00Z","author_identity":"test","commit_sha":"none"}' \
		>"$at/policies/manifest.json"
	cat >"$at/config.yaml" <<-END
		attestation: {provider: software-only, enforcement_mode: enforcing}
		policy_bundle_path: ./policies/
		catalog_path: ./catalog.json
		listen_addr: "127.0.0.1:$port"
		audit_db_path: ./audit.db
		sink_policy:
		  tool_max_sensitivity: {permitted.tool: confidential, slow.tool: confidential, beacon.tool: confidential, public.tool: $1}
		  response_max_sensitivity: confidential
	END
	(cd "$at" && exec env -i PATH=/usr/bin:/bin CMCP_DEV_MODE=1 CMCP_BEARER_TOKEN=the-token \
		"$folder/tree/build/cmcp/bin/python" "$folder/tree/build/cmcp/bin/cmcp" start --config config.yaml >"$at/log" 2>&1 </dev/null) &
	started+=($!)
	within 20 answers "$port"
}
answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # PORT
printf 'the-token\n' >"$folder/token"
start_cmcp public
plain=$port
start_cmcp confidential
raised=$port
BY_URL=(--gateway "http://127.0.0.1:$plain/mcp" --gateway-sink "$SINK" --gateway-token-file "$folder/token")

harness tree run "${BY_URL[@]}" --gateway-raised "http://127.0.0.1:$raised/mcp" base
check "by URL: passes" exits 0
check "by URL: says that nothing vouches for it" says "nothing vouches for what it is"
check "by URL: permitted arrives once" cell base permitted deliveries 1
check "by URL: denied does not arrive" cell base denied deliveries 0
check "by URL: denied arrives at the other" cell mutation/raised denied deliveries 1
check "by URL: the bundle says who composed it" holds manifest.json '"gateway":\{"composed":false,"kind":"url","raised":true,"sha256":null,"version":"unknown"\}'
check "by URL: the bundle verifies" "$folder/tree/build/harness" verify "$BUNDLE"

harness tree run "${BY_URL[@]}" base
check "by URL alone: proves no confinement" exits 2
check "by URL alone: says so" says "nothing protected was planned"
check "by URL alone: the ceiling's cells are not planned" says "denied@deliveries of base: unsupported-raised"

end_started
harness tree run "${BY_URL[@]}" base
check "by URL, nobody there: nothing passes" exits 3
check "by URL, nobody there: the arm says so" says "arm base"

finish
