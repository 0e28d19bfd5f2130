#!/bin/bash
# What each program is linked with, and how: the bridge, which parses what the agent says, has no HTTP client in it, the
# watchdog has the C library alone, the agent is static. Every other program is position independent, with its tables made
# read-only before it starts.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"

# Who may speak HTTP: the holder of the engine, the watchdog's stop, and the two ways out to an endpoint.
HTTP=(harness stop mcp-http otlp-export)

libraries() { # PROGRAM: libcurl.so.4, one a line
	ldd "$1" | grep -o '^[[:space:]]*[^ ]*\.so[^ ]*' | sed 's,.*/,,;s/^[[:space:]]*//'
}
links() { libraries "$1" | grep -q "^$2\.so"; }
needs_only() { # PROGRAM LIBRARY...
	local program=$1 library
	shift
	for library in $(libraries "$program"); do
		case " $* linux-vdso ld-linux-x86-64 ld-linux-aarch64 " in *" ${library%%.so*} "*) ;; *)
			echo "$program is linked with $library"
			return 1
			;;
		esac
	done
}
needs() { readelf -d "$1" | grep -q "NEEDED.*$2"; } # itself, not through a library
elf_type() { readelf -h "$1" | grep -q "Type:[[:space:]]*$2"; }
has_segment() { readelf -lW "$1" | grep -q "[[:space:]]$2[[:space:]]"; }
bound_now() { readelf -d "$1" | grep -Eq 'BIND_NOW|FLAGS.*NOW'; }
# A stack that can be executed has an E in its flags.
plain_stack() { readelf -lW "$1" | grep GNU_STACK | grep -q ' RW '; }
defines() { nm --defined-only "$1" 2>/dev/null | grep -q " [Tt] $2"; }

found=0
for program in "$BUILD/harness" "$BUILD"/libexec/*; do
	id=$(basename "$program") found=$((found + 1))
	check "$id: position independent" elf_type "$program" DYN
	check "$id: finds its interpreter" has_segment "$program" INTERP
	check "$id: relocations are read-only" has_segment "$program" GNU_RELRO
	check "$id: bound before it starts" bound_now "$program"
	check "$id: its stack is not executed" plain_stack "$program"
	check "$id: no TLS but through libcurl" not needs "$program" libssl
	# reports/sign.c is in harness alone.
	if [ "$id" = harness ]; then
		check "$id: signs" needs "$program" libcrypto
	else
		check "$id: no OpenSSL but through libcurl" not needs "$program" libcrypto
	fi
	case " ${HTTP[*]} " in
	*" $id "*) check "$id: links libcurl" links "$program" libcurl ;;
	*) check "$id: does not link libcurl" not links "$program" libcurl ;;
	esac
done
check "all programs were looked at" test "$found" -ge 14
check "the watchdog: the C library alone" needs_only "$BUILD/libexec/watchdog" libc
check "the beacon in the namespace: little" needs_only "$BUILD/libexec/netns-beacon" libc libmd
check "the bridge: no engine, no packets, no archives" needs_only "$BUILD/libexec/bridge" libc libcjson libmd
for program in "$BUILD"/libexec/observer-*; do
	check "$(basename "$program"): holds no code of the gateway" not defines "$program" gateway_
done
check "only the captures have libpcap" test "$(for p in "$BUILD"/libexec/*; do ! links "$p" libpcap || basename "$p"; done)" = observer-capture

check "the agent: static" not has_segment "$BUILD/agent" INTERP
check "the agent: needs no library" not needs "$BUILD/agent" lib
check "the agent: no symbols of ours" not defines "$BUILD/agent" ""

finish
