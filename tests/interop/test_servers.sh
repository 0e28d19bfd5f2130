#!/bin/bash
# Real servers as upstreams: the filesystem and memory servers of the npm registry and the time server of PyPI, in a catalog
# that `catalog add` wrote by asking them. Each gives one real answer; what is not as it was approved is refused.
# shellcheck source=tests/interop/interop.sh
# shellcheck disable=SC2317 # check() calls functions by name
. "$(dirname "$0")/interop.sh"

call() { # TOOL ARGUMENTS
	node "$parts/call.mjs" "$URL" "$token" "$1" "$2"
}

answers() { # WANTED TOOL ARGUMENTS: a pattern in the text of a result
	local answer
	answer=$(call "$2" "$3") && printf '%s\n' "$answer" && [[ $answer != *'"error":'* ]] && grep -qE -- "$1" <<<"$answer"
}

refuses() { # ERROR_CODE TOOL ARGUMENTS
	local answer
	answer=$(call "$2" "$3") && printf '%s\n' "$answer" && [[ $answer == *'"error":'*"\"error_code\":\"$1\""* ]]
}

served() { # CONFIG: serves it instead of the one before
	[ -z "$running" ] || check "the gateway ends on SIGTERM" stop_gateway
	start_gateway "$1"
}

have node "the filesystem and memory servers" || finish
modules=$parts/node_modules/@modelcontextprotocol
mkdir "$folder/files" && echo 'a line of a file' >"$folder/files/note.txt"

check "catalog add: filesystem" add "$folder/catalog" \
	"$(command -v node)" "$modules/server-filesystem/dist/index.js" "$folder/files"
check "catalog add: memory" add "$folder/catalog" "$(command -v node)" "$modules/server-memory/dist/index.js"
python=''
! have python "the time server" || python=1
[ -z "$python" ] ||
	check "catalog add: time" add "$folder/catalog" "$parts/venv/bin/mcp-server-time" --local-timezone UTC
write_config "$folder/config" "$folder/catalog" write_file

served "$folder/config"
check "the filesystem server reads a file" answers 'a line of a file' read_text_file "{\"path\": \"$folder/files/note.txt\"}"
check "the filesystem server's own refusal is a result" answers '"isError":true' read_text_file '{"path": "/etc/hostname"}'
check "a write is denied" refuses POLICY_DENY write_file "{\"path\": \"$folder/files/new\", \"content\": \"x\"}"
check "and wrote nothing" test ! -e "$folder/files/new"
check "the memory server reads its graph" answers 'entities' read_graph '{}'
[ -z "$python" ] || check "the time server tells the time" answers 'Z|[+]00:00' get_current_time '{"timezone": "UTC"}'

# The catalog FROM as the file TO, changed by a statement over its `catalog` and `servers`.
changed() { # FROM TO STATEMENT
	node -e 'const fs = require("fs");
		const { catalog, servers } = JSON.parse(fs.readFileSync(process.argv[1], "utf8"));
		const tool = (name) => catalog.find((entry) => entry.tool === name);
		eval(process.argv[3]);
		fs.writeFileSync(process.argv[2], JSON.stringify({ catalog, servers }))' "$@"
}

digest() { sha256sum <"$1" | cut -d ' ' -f 1; }

# A definition that is not the one that was approved; what else the catalog holds goes on.
check "a catalog with another definition" changed "$folder/catalog" "$folder/catalog-other" \
	'const entry = tool("read_text_file"); entry.definition = "0".repeat(64)'
write_config "$folder/config-other" "$folder/catalog-other"
served "$folder/config-other"
check "another definition is drift" refuses CATALOG_DRIFT read_text_file "{\"path\": \"$folder/files/note.txt\"}"

# A server that was changed after it was approved: it is not started. Approved again by its digest alone, it is, and then its
# definition tells on it.
mkdir "$folder/server" && ln -s "$parts/node_modules" "$folder/server/node_modules" &&
	cp "$parts/everything.mjs" "$folder/server/own.mjs"
check "catalog add: a server of our own" add "$folder/catalog-own" "$folder/server/own.mjs"
write_config "$folder/config-own" "$folder/catalog-own"
served "$folder/config-own"
check "the server answers" answers '"text":"before"' echo '{"words": "before"}'
sed -i 's/Gives its argument back/Gives its argument back, changed/' "$folder/server/own.mjs"
served "$folder/config-own"
check "a changed program is not started" refuses TEE_FAULT echo '{"words": "after"}'
check "a catalog with its new digest" changed "$folder/catalog-own" "$folder/catalog-new" \
	"servers[0].sha256 = '$(digest "$folder/server/own.mjs")'"
write_config "$folder/config-new" "$folder/catalog-new"
served "$folder/config-new"
check "its changed definition is drift" refuses CATALOG_DRIFT echo '{"words": "after"}'
check "the gateway ends on SIGTERM" stop_gateway
for database in "$folder"/*.db; do check "the audit chain holds" "$gateway" audit verify "$database"; done
finish
