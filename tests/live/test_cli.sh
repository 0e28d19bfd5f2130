#!/bin/bash
# Bad input and plain questions: each with its exit code and its message, which holds no byte that came from outside.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"

ESCAPE=$'\e[31mred\a\x9b'
copy_tree plain
chmod -R a+rX "$folder/plain"
HARNESS=$folder/plain/build/harness

# The program as it stands, with the words given and nothing else.
bare() { # WORDS...
	CODE=0 untold=1
	"$HARNESS" "$@" >"$OUTPUT" 2>&1 </dev/null || CODE=$?
}
nobody() { # WORDS...
	CODE=0 untold=1
	(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups -- env -u DOCKER_HOST "$HARNESS" "$@") \
		>"$OUTPUT" 2>&1 </dev/null || CODE=$?
}
# What the last one did: its code, one line of its message, and no escapes.
refused() { # WHAT CODE MESSAGE
	check "$1: exit code $2" exits "$2"
	check "$1: says why" says "$3"
	check "$1: no outside bytes" says_no_escapes
	check "$1: one line" test "$(wc -l <"$OUTPUT")" -eq 1
}
answered() { # WHAT TEXT...
	local what=$1 text
	shift
	check "$what: exit code 0" exits 0
	for text; do check "$what: says '$text'" says "$text"; done
}

# ---- usage: 4 ----
bare frobnicate
refused "an unknown verb" 4 "unknown verb 'frobnicate': see \`harness help\`"
bare "$ESCAPE"
refused "escapes in a verb" 4 "unknown verb '?[31mred"
bare help "$ESCAPE"
refused "escapes in help's word" 4 "unknown verb '?[31mred"
bare run --frobnicate
refused "an unknown flag" 4 "unknown flag '--frobnicate'"
bare run "--$ESCAPE"
refused "escapes in a flag" 4 "unknown flag '--?[31mred"
bare run --dry-run no/such-scenario
refused "an unknown scenario" 4 "no/such-scenario"
bare run --dry-run "$ESCAPE"
refused "escapes in a scenario" 4 "?[31mred"
bare run --dry-run --gateway nothing
refused "an unknown gateway" 4 "--gateway is embedded, cmcp, or a URL as in http://127.0.0.1:8080/mcp"
bare run --dry-run --gateway https://127.0.0.1:1/mcp
refused "a gateway over TLS" 4 "--gateway is embedded, cmcp, or a URL as in http://127.0.0.1:8080/mcp"
bare run --dry-run --gateway http://127.0.0.1:1/mcp
refused "a gateway whose sink nobody names" 4 "name that file with --gateway-sink"
bare run --dry-run --gateway http://localhost:1/mcp --gateway-sink "$HARNESS"
refused "a gateway by name" 4 "--gateway: an endpoint needs a numeric host"
bare run --dry-run --gateway http://127.0.0.1:1/mcp --gateway-sink /dev/null
refused "a sink that is no file" 4 "--gateway-sink: that is no regular file"
bare run --dry-run --gateway "http://127.0.0.1:1/$ESCAPE" --gateway-sink "$HARNESS"
refused "escapes in a gateway" 4 "--gateway: 1 to 255 bytes of printable ASCII"
bare run --dry-run --gateway http://127.0.0.1:1/mcp --gateway-sink "$HARNESS" --gateway-raised cmcp
refused "a raised gateway that is no URL" 4 "--gateway-raised takes a URL"
bare run --dry-run --gateway cmcp --gateway-token-file "$HARNESS"
refused "a token for a gateway of ours" 4 "are for a gateway by URL"
bare run --dry-run --gateway cmcp baseline
answered "a plan for cMCP needs no cMCP" "denied@decisions of baseline: unsupported-decisions"
bare rn
refused "a mistyped verb" 4 "unknown verb 'rn': did you mean 'run'?"
bare help veryfy
refused "a mistyped verb in help" 4 "unknown verb 'veryfy': did you mean 'verify'?"
bare rm
check "a hidden verb is not offered" not says "'arm'"
bare run --sokcet=/x
refused "a mistyped flag" 4 "unknown flag '--sokcet': did you mean '--socket'?"
bare list --jobz=1
refused "another verb's flag is not offered" 4 "unknown flag '--jobz': see"
bare run --dry-run basline
refused "a mistyped scenario" 4 "unknown scenario 'basline': did you mean 'baseline'?"
bare run --dry-run mutatoin
refused "a mistyped group" 4 "unknown scenario 'mutatoin': did you mean 'mutation'?"
bare run --dry-run netwrok
refused "a mistyped mutation" 4 "unknown scenario 'netwrok': did you mean 'mutation/network'?"
for jobs in 0 17 x 2x '' 99999999999999999999; do
	bare run --dry-run -j "$jobs"
	refused "-j '$jobs'" 4 "-j takes a whole number from 1 to 16"
done
bare run --socket
refused "a flag without its argument" 4 "--socket needs PATH"
for verb in list doctor clean; do
	bare "$verb" word
	refused "$verb with a word" 4 "$verb takes no words"
done
for flag in --jobs=3 --dry-run --socket=x; do
	bare verify "$flag" x
	refused "verify with ${flag%=*}" 4 "${flag%=*} is not for \`harness verify\`"
done
bare verify
refused "verify without a bundle" 4 "verify takes one bundle"
bare verify one two
refused "verify with two" 4 "verify takes one bundle"
for verb in run clean doctor; do
	DOCKER_HOST=tcp://192.0.2.1:2375 bare "$verb"
	refused "$verb with DOCKER_HOST by TCP" 4 "DOCKER_HOST is not a unix:// socket"
done
DOCKER_HOST=ssh://user@host bare run
refused "DOCKER_HOST by SSH" 4 "DOCKER_HOST is not a unix:// socket"
DOCKER_HOST=tcp://192.0.2.1:2375 bare list
check "a verb that needs no engine does not ask DOCKER_HOST" exits 0

# ---- plain questions, as a user who may do nothing ----
asked=(bare)
[ "$(id -u)" -ne 0 ] || asked=(nobody)
"${asked[@]}"
answered "no word at all" "usage: harness VERB" "exit codes:"
"${asked[@]}" --help
answered "--help" "usage: harness VERB"
"${asked[@]}" --version
answered "--version" "harness 0."
for verb in run list verify clean doctor help; do
	"${asked[@]}" help
	answered "help names $verb" "  $verb "
	"${asked[@]}" help "$verb"
	answered "help $verb" "usage: harness $verb"
	"${asked[@]}" "$verb" --help
	answered "$verb --help" "usage: harness $verb"
	"${asked[@]}" "$verb" word --frobnicate -h
	answered "$verb ... -h" "usage: harness $verb"
done
for flag in --socket --out --scenarios --jobs --dry-run --require-signature --quiet --verbose --json --version; do
	"${asked[@]}" help
	answered "help names $flag" "$flag"
done
"${asked[@]}" list
answered "list" "baseline " "mutation/network " "lifecycle/bridge-killed " "  sink-ceiling " "  capture-netns "
"${asked[@]}" run --dry-run all
answered "a dry run" "plan: " "baseline " "mutation/ack " "lifecycle/watchdog-paused " "touches: " "about "
"${asked[@]}" run --dry-run mutation/read-only
answered "a dry run of one" "mutation/read-only " "(added)"
check "a dry run leaves nothing" not test -e /runs

# ---- scenarios of one's own: 3, with file and field ----
scenarios() { # NAME: a copy to break
	rm -rf "$folder/own" && cp -a scenarios "$folder/own"
}
broken() { # WHAT FILE SED-SCRIPT MESSAGE...
	local what=$1 file=$2 script=$3 text
	shift 3
	scenarios
	sed -i -e "$script" "$folder/own/$file"
	check "$what: was planted" not cmp "scenarios/$file" "$folder/own/$file"
	bare run --dry-run --scenarios "$folder/own"
	refused "$what" 3 "$file"
	for text; do check "$what: says '$text'" says "$text"; done
}
broken "a syntax error" baseline.json '2s/,$//' "at byte"
broken "an unknown key" mutation/ack.json 's/"hold"/"holds"/' "holds"
broken "a key twice" mutation/ack.json 's/"ending": "hold"/"ending": "hold", "ending": "hold"/' "duplicate key"
broken "an impossible expectation" baseline.json '0,/"value": 0/s//"value": -1/' "expect[0].value"
broken "a value that is no number" baseline.json '0,/"value": 0/s//"value": "0"/' "expect[0].value"
broken "a zero of the wrong class" baseline.json '0,/"value": 0/s//"value": 1/' "expect[0]"
broken "a cell twice" baseline.json '0,/"tcp4-child", "observer": "tcp4"/s//"tcp4", "observer": "tcp4"/' "a second expectation"
broken "an unknown probe" baseline.json 's/"probes": \["tcp4",/"probes": ["tcp44",/' "probes"
broken "an unknown observer" baseline.json '0,/"observer": "tcp4"/s//"observer": "nobody"/' "expect[0].observer"
broken "an unknown mutation" mutation/ack.json 's/"removes": \["ack"\]/"removes": ["everything"]/' "removes"
broken "an unknown control" mutation/ack.json 's/"control": "[^"]*"/"control": "nothing"/' "control"
broken "a flip that a pass may meet" mutation/network.json '0,/"value": 1/s//"value": 0/' "flips"
broken "outside bytes in a key" mutation/ack.json "s/\"hold\"/\"ho\\\\u001b[31mld\"/" "mutation/ack.json"
scenarios
printf '{' >"$folder/own/$ESCAPE.json"
bare run --dry-run --scenarios "$folder/own"
refused "escapes in a file's name" 3 ".json"
scenarios
rm "$folder/own/mutation/network.json"
bare run --dry-run --scenarios "$folder/own"
refused "a zero that nothing earns" 3 "no mutant flips"
bare run --dry-run --scenarios "$folder/nowhere"
refused "no such folder" 3 "No such file or directory"
mkdir "$folder/empty"
bare run --dry-run --scenarios "$folder/empty"
check "an empty folder: never a pass" exits 3 4

# ---- verify ----
bare verify "$folder/no-such-bundle"
refused "a bundle that is not there" 3 "No such file or directory"
bare verify "$folder/$ESCAPE"
refused "escapes in a bundle's name" 3 "?[31mred"
mkfifo "$folder/fifo"
bare verify "$folder/fifo"
refused "verify of a pipe that nobody writes to" 3 "is no regular file"
bare verify "$folder"
check "a folder is no bundle" exits 4
printf 'no bundle %s' "$ESCAPE" >"$folder/text"
bare verify "$folder/text"
check "a text is no bundle" exits 1
check "a text is no bundle: no outside bytes" says_no_escapes
: >"$folder/nothing"
bare verify "$folder/nothing"
check "an empty file is no bundle" exits 1

# ---- no engine; the rest needs root, and most of it an engine ----
[ "$(id -u)" -eq 0 ] || {
	skip "sockets, permissions and space need root"
	finish
}
peer() { # SOCKET ANSWER: listens there and gives the answer to whoever comes
	perl -MIO::Socket::UNIX -e '
		$SIG{PIPE} = "IGNORE";
		my $s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 5) or die;
		exit if $ARGV[1] eq "leave";
		while (my $c = $s->accept) {
			if ($ARGV[1] =~ /^HTTP/) { sysread $c, my $request, 4096 }
			print $c $ARGV[1];
			close $c;
		}' "$1" "$2" &
	peer=$!
	within 5 test -S "$1" || echo "no peer"
}
for verb in run clean doctor; do
	bare "$verb" --socket "$folder/nowhere.sock"
	check "$verb without an engine: exit code 3" exits 3
	check "$verb without an engine: says so" says "no engine there: start Docker"
	bare "$verb" --socket "$folder/text"
	check "$verb at a file: exit code 3" exits 3
	check "$verb at a file: says so" says "not a socket"
done
DOCKER_HOST=unix://$folder/nowhere.sock bare run --out "$folder/runs"
check "a unix:// DOCKER_HOST: exit code 3" exits 3
check "a unix:// DOCKER_HOST is honoured" says "nowhere.sock: no engine there"
bare run --out "$folder/runs" --socket "$folder/$ESCAPE.sock"
check "escapes in a socket's path" exits 3
check "escapes in a socket's path: no outside bytes" says_no_escapes
peer "$folder/left.sock" leave
wait "$peer"
bare run --out "$folder/runs" --socket "$folder/left.sock"
check "a socket that nobody listens at" exits 3
check "a socket that nobody listens at: says so" says "no engine listens there"
number=0
for answer in "hello, who is there? $ESCAPE"$'\n' $'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK' \
	$'HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n\e[31mred\a' \
	$'HTTP/1.1 200 OK\r\nApi-Version: \e[31m\r\nContent-Length: 2\r\n\r\n{}' ''; do
	number=$((number + 1))
	peer "$folder/peer$number.sock" "$answer"
	bare run --out "$folder/runs" --socket "$folder/peer$number.sock"
	check "peer $number is no engine: exit code 3" exits 3
	check "peer $number is no engine: says so" says "harness: "
	check "peer $number is no engine: no outside bytes" says_no_escapes
	bare doctor --socket "$folder/peer$number.sock"
	check "peer $number is no engine: doctor says so" exits 3
	check "peer $number is no engine: doctor's words" says "missing"
	check "peer $number is no engine: doctor, no outside bytes" says_no_escapes
	kill "$peer"
done
check "no engine: no run is kept" test -z "$(find "$folder/runs" -mindepth 1)"

nobody run --out "$folder/runs"
check "run as an ordinary user: exit code 3" exits 3
check "run as an ordinary user: says what to do" says "use sudo"
nobody clean
check "clean as an ordinary user: exit code 3" exits 3
check "clean as an ordinary user: says what to do" says "use sudo"

need_engine
nobody doctor
check "doctor as an ordinary user: exit code 3" exits 3
check "doctor as an ordinary user: no permission" says "no permission"
bare doctor
answered "doctor" "this host is ready"
check "doctor finds nothing missing" not says "missing"

# ---- the folder of runs ----
bare run -q --out "$folder/text"
check "--out is a file: exit code 3" exits 3
check "--out is a file: says so" says "Not a directory"

# A small file system in a mount namespace of its own: what does not fit leaves no bundle, and nothing else.
mkdir -p "$folder/full"
in_full() { # MOUNT OPTIONS
	CODE=0 untold=1
	# shellcheck disable=SC2016 # the inner shell expands
	unshare --mount --propagation private sh -c '
		mount -t tmpfs -o "$1" full "$2/full" && shift 2 || exit 99
		"$@"
		code=$?
		find full -mindepth 1 | sed "s/^/left: /"
		exit "$code"' sh "$1" "$folder" env -C "$folder" "$HARNESS" run baseline -q --out full >"$OUTPUT" 2>&1 </dev/null || CODE=$?
}
for options in nr_inodes=1 size=8k size=44k; do
	in_full "$options"
	check "no space ($options): exit code 3" exits 3
	check "no space ($options): says so" says "No space left on device"
	check "no space ($options): nothing is left there" not says "left: "
done

# ---- quiet and verbose ----
mkdir -p "$folder/small/mutation"
cat >"$folder/small/baseline.json" <<'JSON'
{ "title": "one closed way", "probes": ["tcp4"],
  "expect": [{ "subject": "tcp4", "observer": "tcp4", "op": "eq", "value": 0, "class": "protected" }] }
JSON
cat >"$folder/small/mutation/network.json" <<'JSON'
{ "title": "the same way, open", "control": "baseline", "removes": ["network"], "probes": ["tcp4"],
  "expect": [{ "subject": "tcp4", "observer": "tcp4", "op": "eq", "value": 1, "class": "protected", "flips": true }] }
JSON
bare run -q --scenarios "$folder/small" --out "$folder/runs"
answered "quiet" "pass: " "$folder/runs/"
check "quiet: two lines" test "$(wc -l <"$OUTPUT")" -eq 2
bare run -v --scenarios="$folder/small" --out="$folder/runs" -j1 -- baseline
answered "verbose" "loading the agent's image" "earned by mutation/network" "caught: mutation/network" "verdict: pass"

finish
