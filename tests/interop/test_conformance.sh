#!/bin/bash
# The official conformance suite against the gateway, before an upstream that has the suite's tools. A scenario passes only if
# the suite says so: it made at least one check, and each of them is a success.
# shellcheck source=tests/interop/interop.sh
# shellcheck disable=SC2317 # check() calls functions by name
. "$(dirname "$0")/interop.sh"

MUST_PASS=(server-initialize ping tools-list tools-call-simple-text tools-call-image tools-call-audio
	tools-call-embedded-resource tools-call-mixed-content tools-call-error tools-call-with-progress json-schema-2020-12
	dns-rebinding-protection)
# What the gateway does not offer, where the protocol's answer is "Method not found" (docs/gateway.md).
NOT_OFFERED=(logging-set-level tools-call-with-logging completion-complete resources-list resources-read-text
	resources-read-binary resources-templates-read resources-subscribe resources-unsubscribe prompts-list
	prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image)

# The suite cannot send a token; the module that is loaded into it adds it. It ends well only if every scenario passed.
suite() { # ARGUMENT...
	GATEWAY_TOKEN_FILE=$token timeout -k 5 120 node --import "$parts/add_token.mjs" \
		"$parts/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$URL" -o "$folder/out" "$@"
}

# What the suite said of a scenario: a line "STATUS message" for each check. Its folder's name ends with the time.
checks() { # SCENARIO
	node -e 'for (const check of JSON.parse(require("fs").readFileSync(0, "utf8")))
		console.log(check.status, check.errorMessage ?? "")' <"$(echo "$folder/out/server-$1"-20*/checks.json)"
}

all_of() { # PATTERN SCENARIO: at least one check, and each is as the pattern says
	checks "$2" >"$folder/checks" && cat "$folder/checks" && grep -qE "$1" "$folder/checks" &&
		not grep -qvE "$1" "$folder/checks"
}

have node "the conformance suite" || finish
check "the catalog" add "$folder/catalog" "$parts/everything.mjs"
write_config "$folder/config" "$folder/catalog"
start_gateway "$folder/config"

check "the suite finds what is not offered" not suite --suite all
for scenario in "${MUST_PASS[@]}"; do check "$scenario" all_of '^SUCCESS' "$scenario"; done
for scenario in "${NOT_OFFERED[@]}"; do
	check "$scenario is answered as the protocol says" all_of '^FAILURE .*MCP error -32601' "$scenario"
done

# The suite can say no: without the token nothing passes.
rm -rf "$folder/out"
printf 'another' >"$folder/wrong"
token=$folder/wrong
check "a wrong token" not suite --scenario ping
check "a wrong token passes no scenario" all_of '^FAILURE' ping
check "the gateway ends on SIGTERM" stop_gateway
check "the audit chain holds" "$gateway" audit verify "$folder/config.db"
finish
