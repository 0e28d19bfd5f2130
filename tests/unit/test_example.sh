#!/bin/bash
# The example of docs/examples/gateway does what docs/gateway.md says of it, and the page's configurations are ones that the
# gateway takes.
# shellcheck disable=SC2154,SC2317 # the coprocess sets its pid; check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
gateway=$BUILD/libexec/harness-gateway
passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-example.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'example: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}

# The page's blocks of commands and files between two of its lines, without their indent.
block() { # FIRST LAST: patterns
	sed -n "/$1/,/$2/s/^    //p" docs/gateway.md
}

# ---- the page's configurations ----

first() {
	block '"session":     {' '"audit":       {' >"$folder/first.json" &&
		printf '%s' '{"catalog":[{"tool":"get_current_time","sensitivity":"public","server":0}],"servers":[{"url":"http://127.0.0.1:9/mcp"}]}' \
			>"$folder/catalog.json" && echo caller >"$folder/token" && echo operator >"$folder/operator" &&
		"$gateway" check --config "$folder/first.json"
}
every_key() {
	block '"session":        {' '"telemetry":      {' | sed -e "s,/abs/build/libexec/recorder,$BUILD/libexec/recorder," \
		-e "s,64 digits,$(sha256sum <"$BUILD/libexec/recorder" | cut -d ' ' -f 1)," >"$folder/full.json" &&
		"$gateway" check --config "$folder/full.json"
}
# Each key of the field table is in the page's table.
every_field() {
	local key found=0
	while read -r key; do
		found=$((found + 1))
		grep -qE "^\|.*\`([a-z]+\.)?$key(\.|\`)" docs/gateway.md || { echo "$key" && return 1; }
	done < <(sed -nE '/^const struct schema_field gateway_config_fields/,$s/.*(FIELD\(|key = )"([a-zA-Z]+)".*/\2/p' gateway/config.c)
	[ "$found" -gt 0 ]
}
check "the first configuration of the page" first
check "the one with every key" every_key
check "every key is explained" every_field

# ---- the example ----

example() { # ARGUMENT...: as the page says, in the example's folder
	(cd "$folder/gateway" && "$gateway" "$@")
}
add() { # LABEL TOOL
	example catalog add --catalog catalog.json --sensitivity "$1" --tool "$2" -- ./server.py
}
ask() { # ID TOOL ARGUMENTS: one call, and its answer before the next one
	printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2" "$3" >&"${served[1]}"
	IFS= read -r -t 10 answer <&"${served[0]}" && printf '%s\n' "$answer"
}
says() { # PATTERN ID TOOL ARGUMENTS
	ask "${@:2}" && [[ $answer == *"$1"* ]]
}

if [ -x /usr/bin/python3 ]; then
	cp -R docs/examples/gateway "$folder/gateway"
	# So that no port is taken: the way in is stdio.
	grep -v '"http"' docs/examples/gateway/config.json >"$folder/gateway/config.json"
	check "the catalog, what is confidential" add confidential read_record
	check "the catalog, what is public" add public publish
	check "the configuration" example check --config config.json
	coproc served { example serve --config config.json --stdio; }
	pid=$served_PID
	check "what is public may be published" says '"published: hello"' 1 publish '{"text":"hello"}'
	check "the record is read" says 'customer 17' 2 read_record '{}'
	check "nothing is published behind it" says POLICY_DENY 3 publish '{"text":"customer 17 owes 4200"}'
	eval "exec ${served[1]}>&-"
	check "it ends with its client" wait "$pid"
	check "the chain" example audit verify audit.db
else
	echo "example: skipped: no /usr/bin/python3"
	skipped=1
fi

printf 'example: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
