#!/bin/bash
# SIGKILL at random moments of a run: the runner alone, or everything of it at once, in turn. Nothing of ours outlives the
# watchdog's bounds but what was killed before it was guarded; after `harness clean` nothing at all is left, and no bundle
# is believed that is not whole.
#
#   POINTS=20 SEED=n DURATION=ms   how many; the seed of the moments; the usual duration of a run, measured when not given
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine

POINTS=${POINTS:-20}
SEED=${SEED:-$((${EPOCHREALTIME/./} % 1000000))}
RUNS=$folder/runs
WORDS=(all --scenarios "$folder/pair")
RUNNER='' # the pid of what start() started
ROOT=$(engine_get /info | grep -o '"DockerRootDir":"[^"]*"' | cut -d '"' -f 4)
run=''    # eight digits of the id of the run under way, once its folder is there
copy_tree plain
write_pair

# ---- looking ----

runner_started() { [ "$(readlink "/proc/$RUNNER/exe")" = "$folder/plain/build/harness" ]; }
runner_ended() { [ ! -e "/proc/$RUNNER/stat" ] || grep -q ') Z' "/proc/$RUNNER/stat" 2>/dev/null; }
newest() { # eight digits of the run that began last
	local path
	path=$(find "$RUNS" -maxdepth 1 -name '*T*Z-*' -newer "$folder/began" 2>/dev/null | head -n 1)
	printf '%s' "${path##*-}"
}
containers() { # of this run: ids
	[ -z "$run" ] || engine_get '/containers/json?all=1&filters={"label":["harness.run"]}' |
		grep -o '"Id":"[0-9a-f]*","Names":\["/harness-[^"]*"' | grep -F "\"/harness-$run-" | cut -d '"' -f 4
}
# What belongs to a container in the kernel: its root's mount, its namespace's mount, its first process.
kernel_parts() { # ID...
	local id
	for id; do
		engine_get "/containers/$id/json" 2>/dev/null |
			grep -oE '"(MergedDir|SandboxKey)":"/[^"]*"|"Pid":[1-9][0-9]*' |
			sed -E -e 's/^"[A-Za-z]*":"?([^"]*)"?$/\1/' -e 's,^/var/run/,/run/,' # as mountinfo has it
	done
}
gone() { # PART...
	local part left=0
	for part; do
		case $part in
		/*) ! grep -qF " $part " /proc/self/mountinfo || left=1 ;;
		*) [ ! -e "/proc/$part/ns/net" ] || left=1 ;;
		esac
		[ "$left" -eq 0 ] || { echo "$part is still there"; return 1; }
	done
}
# Mounts of any container that no container of the engine answers for, at each look since forget_strays, beyond those that
# were there at the beginning. Others may use the engine too: what is theirs comes and goes.
strays() {
	local known
	grep -oE " (/run/docker/netns/|$ROOT/overlay2/)[^ ]*" /proc/self/mountinfo | sort -u >"$folder/mounts"
	known=$(engine_get '/containers/json?all=1' | grep -o '"Id":"[0-9a-f]\{64\}"' | cut -d '"' -f 4)
	# shellcheck disable=SC2086 # a list of ids
	kernel_parts $known | grep '^/' | sed 's/^/ /' | sort -u >"$folder/known"
	comm -23 "$folder/mounts" "$folder/known" | { grep -vE 'netns/default$' || true; } >"$folder/unknown"
	[ ! -e "$folder/suspects" ] || comm -12 "$folder/unknown" "$folder/suspects" >"$folder/still"
	mv "$folder/$([ -e "$folder/still" ] && echo still || echo unknown)" "$folder/suspects"
	cat "$folder/suspects"
}
new_strays() { strays | sort | comm -23 - "$folder/before"; }
forget_strays() { rm -f "$folder/suspects" "$folder/still"; }
none() { # COMMAND...: it prints nothing
	local text
	text=$("$@")
	[ -z "$text" ] || { echo "$* has: $text"; return 1; }
}
left_on_disk() { # names that no run leaves: locks, lines, half bundles, half links, folders of arms
	find "$RUNS" -mindepth 1 \( -name lock -o -name observations.jsonl -o -name '*.tmp' -o -name '.*' \) 2>/dev/null
	find "$RUNS" -mindepth 1 -maxdepth 1 -type d -empty 2>/dev/null
	[ -z "$run" ] || find /tmp -maxdepth 1 -name "harness-arm-$run*"
}
# A bundle with its final name is whole, and a link to the latest run leads to one.
bundles_whole() {
	local bundle code said
	for bundle in "$RUNS"/*/confinement-evidence.tar.gz "$RUNS"/latest; do
		[ -e "$bundle" ] || [ -L "$bundle" ] || continue
		[ ! -L "$bundle" ] || bundle=$bundle/confinement-evidence.tar.gz
		code=0
		said=$("$folder/plain/build/harness" verify "$bundle" 2>&1) || code=$?
		# Where the host was too busy for an observer, the verdict is not established; the bundle is as whole.
		if [[ $code =~ ^[02]$ ]] && ! grep -q '^fail' <<<"$said"; then continue; fi
		echo "$bundle: verify says $code: $said"
		return 1
	done
}
# What is not whole is refused by whoever is handed it.
half_refused() {
	local half
	for half in "$RUNS"/*/.*.tmp; do
		[ -e "$half" ] || continue
		halves=$((halves + 1))
		"$folder/plain/build/harness" verify "$half" >/dev/null 2>&1 || continue
		# All bytes were there, and only the name was not.
		! gzip -t "$half" 2>/dev/null || continue
		echo "a half bundle verifies"
		return 1
	done
}

# ---- doing ----

start() {
	touch "$folder/began"
	run=''
	CODE=-1 untold=1
	setsid env --default-signal=INT,TERM,HUP "$folder/plain/build/harness" run --seed 0 --out "$RUNS" "${WORDS[@]}" \
		>"$OUTPUT" 2>&1 </dev/null &
	RUNNER=$!
	within 5 runner_started
}
await() {
	within 60 runner_ended || kill -KILL "$RUNNER"
	CODE=0
	wait "$RUNNER" 2>/dev/null || CODE=$?
	run=$(newest)
}
milliseconds() { printf '%s' $((${EPOCHREALTIME/./} / 1000)); }
kill_all() { # stopped first, so that nobody sees another one die
	local all
	mapfile -t all < <(ours '')
	[ ${#all[@]} -eq 0 ] || kill -STOP "${all[@]}" 2>/dev/null
	mapfile -t all < <(ours '')
	[ ${#all[@]} -eq 0 ] || kill -KILL "${all[@]}" 2>/dev/null
}

point() { # WHAT: of a run that was just killed, and waited for
	local what=$1 ids parts
	check "$what: no process of ours is left" within 5 none ours ''
	mapfile -t ids < <(containers)
	mapfile -t parts < <(kernel_parts "${ids[@]}")
	[ ${#ids[@]} -eq 0 ] || kept=$((kept + 1))
	check "$what: what is half is refused" half_refused
	harness plain clean
	check "$what: clean succeeds" exits 0
	check "$what: no container is left" none containers
	check "$what: no process, namespace or mount of one is left" within 5 gone "${parts[@]}"
	forget_strays
	check "$what: no mount without a container" within 20 none new_strays
	check "$what: no process is left" none ours ''
	check "$what: no folder, lock or half file is left" none left_on_disk
	check "$what: a bundle is whole" bundles_whole
}

within 5 none strays >/dev/null
sort -o "$folder/before" "$folder/suspects"
began=$(milliseconds)
start
await
check "a run that nobody kills ends" exits 0 2
check "a run that nobody kills: its bundle is whole" bundles_whole
DURATION=${DURATION:-$(($(milliseconds) - began))}
printf '%s: SEED=%s DURATION=%s POINTS=%s\n' "$name" "$SEED" "$DURATION" "$POINTS"

RANDOM=$SEED
sealed=0 kept=0 halves=0
for ((i = 1; i <= POINTS; i++)); do
	# A tenth beyond the usual end, so that its last steps are hit too.
	moment=$((RANDOM * DURATION * 11 / 10 / 32768))
	start
	read -rt "$((moment / 1000)).$(printf %03d $((moment % 1000)))" <> <(:)
	if [ $((i % 2)) -eq 0 ]; then
		what="$i: all killed after $moment ms"
		kill_all
	else
		what="$i: the runner killed after $moment ms"
		kill -KILL "$RUNNER" 2>/dev/null
	fi
	await
	[ "$CODE" -eq 137 ] || sealed=$((sealed + 1))
	check "$what: it was under way, or had passed" exits 0 2 137
	point "$what"
done
printf '%s: of %d points %d came after the end, %d left containers for clean, %d a half bundle\n' "$name" "$POINTS" \
	"$sealed" "$kept" "$halves"

finish
