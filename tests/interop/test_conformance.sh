#!/bin/bash
# The official conformance suite against the gateway, before an upstream that has the suite's tools. A scenario passes only if
# the suite says so: it ended well, made at least one check, and each of them is a success.
# shellcheck source=tests/interop/interop.sh
# shellcheck disable=SC2317 # check() calls functions by name
. "$(dirname "$0")/interop.sh"

MUST_PASS=(server-initialize ping tools-list tools-call-simple-text tools-call-image tools-call-audio
	tools-call-embedded-resource tools-call-mixed-content tools-call-error tools-call-with-progress json-schema-2020-12
	dns-rebinding-protection)
# What the gateway does not offer: the protocol's answer is "Method not found" (docs/gateway.md).
NOT_OFFERED=(logging-set-level completion-complete resources-list resources-read-text resources-templates-read
	resources-subscribe prompts-list prompts-get-simple)

# The suite cannot send a token; the module that is loaded into it adds it.
suite() { # SCENARIO
	rm -rf "$folder/out"
	GATEWAY_TOKEN_FILE=$token timeout -k 5 60 node --import "$parts/add_token.mjs" \
		"$parts/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$URL" --scenario "$1" -o "$folder/out"
}

# Each check of the last scenario is a line "STATUS message".
checks() {
	node -e 'for (const check of JSON.parse(require("fs").readFileSync(0, "utf8")))
		console.log(check.status, check.errorMessage ?? "")' <"$(find "$folder/out" -name checks.json)"
}

passes() { # SCENARIO
	suite "$1" && checks >"$folder/checks" && grep -q '^SUCCESS' "$folder/checks" && not grep -v '^SUCCESS' "$folder/checks"
}

answers_not_found() { # SCENARIO
	not suite "$1" && checks >"$folder/checks" && grep -E '^FAILURE .*(-32601|Method not found)' "$folder/checks" &&
		not grep -v '^FAILURE' "$folder/checks"
}

have node "the conformance suite" || finish
check "the catalog" add "$folder/catalog" "$parts/everything.mjs"
write_config "$folder/config" "$folder/catalog"
start_gateway "$folder/config"
for scenario in "${MUST_PASS[@]}"; do check "$scenario" passes "$scenario"; done
for scenario in "${NOT_OFFERED[@]}"; do check "$scenario: method not found" answers_not_found "$scenario"; done

# The suite can say no: without the token nothing passes.
printf 'another' >"$folder/wrong"
token=$folder/wrong
check "a wrong token passes no scenario" not passes ping
check "the gateway ends on SIGTERM" stop_gateway
check "the audit chain holds" "$gateway" audit verify "$folder/config.db"
finish
