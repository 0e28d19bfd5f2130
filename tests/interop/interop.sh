#!/bin/bash
# What the tests with other people's clients and servers share; sourced, never run. The packages are in build/interop
# (ci/interop). Where they are not, a test skips itself by name; with CI=true it fails instead.
# Variables: $folder (temporary), $name (of the test), $parts (build/interop), $gateway (our program), $token (a file);
# start_gateway sets $URL.
# shellcheck disable=SC2034,SC2317 # variables are for the tests; check() and the trap call functions by name
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

BUILD=$(realpath "${BUILD:-build}")
parts=$PWD/build/interop
PATH=$parts/node/bin:$PATH # a Node for where the system's is too old
gateway=$BUILD/libexec/harness-gateway
name=$(basename "$0" .sh)
passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-interop.XXXXXX") || exit 1
token=$folder/token
(umask 077 && od -An -N 24 -tx1 /dev/urandom | tr -d ' \n' >"$token")
running='' # the gateway's pid
URL=''

tidy() {
	[ -z "$running" ] || kill -KILL "$running" 2>/dev/null
	rm -rf "$folder"
}
trap tidy EXIT
trap 'exit 130' INT TERM

finish() {
	printf '%s: %d passed, %d failed, %d skipped\n' "$name" "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ]
	exit
}

pass() { passed=$((passed + 1)); }

fail() { # WHAT [FILE]: the file's end says why
	failed=$((failed + 1))
	printf '%s: FAILED: %s\n' "$name" "$1"
	[ -z "${2:-}" ] || tail -n 20 "$2" | cut -c 1-300 | sed 's/^/    /'
}

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/check" 2>&1; then pass; else fail "$what" "$folder/check"; fi
}

not() { ! "$@"; }

# Whether the packages of a kind are there; says what is skipped where they are not.
have() { # node|python WHAT
	! ci/interop --check "$1" >"$folder/have" 2>&1 || return 0
	if [ "${CI:-}" = true ]; then
		fail "$2 cannot run" "$folder/have"
	else
		printf '%s: skipped: %s: %s\n' "$name" "$2" "$(head -n 1 "$folder/have")"
		skipped=$((skipped + 1))
	fi
	return 1
}

# The tools of a catalog's file, one a line.
tools_of() { # CATALOG
	grep -oE '"tool" *: *"[^"]*"' "$1" | cut -d '"' -f 4
}

# The configuration FILE over a catalog: each tool may be called at "public" but those that are named here. It listens on a
# port of the kernel's choice; FILE.stdio is the same without HTTP. A call has long: the start of an interpreter is in it.
write_config() { # FILE CATALOG [TOOL...]
	local file=$1 catalog=$2 tool ceilings=''
	shift 2
	while read -r tool; do
		[[ " $* " == *" $tool "* ]] || ceilings+="${ceilings:+, }{\"tool\": \"$tool\", \"max\": \"public\"}"
	done < <(tools_of "$catalog")
	cat >"$file" <<-END
		{"session": {"sensitivity": "public"},
		 "sinkPolicy": {"toolMaxSensitivity": [$ceilings], "responseMaxSensitivity": "public"},
		 "catalogFile": "$catalog",
		 "callMs": 20000,
		 "http": {"address": "127.0.0.1", "port": 0, "tokenFile": "$token"},
		 "audit": {"path": "$file.db"}}
	END
	sed -e '/"http":/d' -e "s,$file.db,$file.stdio.db," "$file" >"$file.stdio"
}

add() { # CATALOG COMMAND...
	local catalog=$1
	shift
	"$gateway" catalog add --catalog "$catalog" --sensitivity public -- "$@"
}

start_gateway() { # CONFIG
	local end=$((${EPOCHREALTIME/./} + 10000000))
	: >"$folder/ready"
	"$gateway" serve --config "$1" >"$folder/ready" 2>"$folder/errors" &
	running=$!
	until URL=$(sed -n 's/^ready //p' "$folder/ready") && [ -n "$URL" ]; do
		if ! kill -0 "$running" 2>/dev/null || [ "${EPOCHREALTIME/./}" -gt "$end" ]; then
			fail "the gateway is ready" "$folder/errors"
			finish
		fi
		sleep 0.02
	done
}

# SIGTERM ends it well, whatever its clients and upstreams left open.
stop_gateway() {
	local code=0
	kill -TERM "$running"
	wait "$running" || code=$?
	running=''
	[ "$code" -eq 0 ] || {
		echo "exit code $code"
		cat "$folder/errors"
		return 1
	}
}

# Counts the lines "ok: WHAT" and "FAILED: WHAT: why" of a client; one that says none has failed.
client() { # NAME COMMAND...
	local who=$1 status=0 line said=0
	shift
	timeout -k 5 "${CLIENT_SECONDS:-120}" "$@" >"$folder/client" 2>"$folder/client.errors" || status=$?
	while read -r line; do
		case $line in
		ok:*) pass ;;
		FAILED:*) fail "$who: ${line#FAILED: }" ;;
		*) continue ;;
		esac
		said=$((said + 1))
	done <"$folder/client"
	if [ "$status" -ne 0 ] || [ "$said" -eq 0 ]; then
		fail "$who ended with $status after $said checks" "$folder/client.errors"
	fi
}
