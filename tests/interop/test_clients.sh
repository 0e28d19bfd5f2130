#!/bin/bash
# The official SDKs' clients, Python and TypeScript, against the gateway: over Streamable HTTP and over stdio. The upstream is
# tests/interop/everything.mjs; the policy denies its tool `denied`.
# shellcheck source=tests/interop/interop.sh
. "$(dirname "$0")/interop.sh"

have node "everything.mjs and the TypeScript client" || finish
check "the catalog" add "$folder/catalog" "$parts/everything.mjs"
write_config "$folder/config" "$folder/catalog" denied

start_gateway "$folder/config"
client "TypeScript over HTTP" node "$parts/client_typescript.mjs" http "$URL" "$token" "$folder"
! have python "the Python client" ||
	client "Python over HTTP" "$parts/venv/bin/python" tests/interop/client_python.py http "$URL" "$token" "$folder"
check "the gateway ends on SIGTERM" stop_gateway
check "the audit chain holds" "$gateway" audit verify "$folder/config.db"

stdio=("$gateway" serve --config "$folder/config.stdio" --stdio)
client "TypeScript over stdio" node "$parts/client_typescript.mjs" stdio "$folder" "${stdio[@]}"
! have python "the Python client over stdio" ||
	client "Python over stdio" "$parts/venv/bin/python" tests/interop/client_python.py stdio "$folder" "${stdio[@]}"
check "the audit chain of stdio holds" "$gateway" audit verify "$folder/config.stdio.db"
finish
