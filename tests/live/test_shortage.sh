#!/bin/bash
# A host that is short of something: space, files, descriptors, memory, somebody who reads. Whatever it is short of, and at
# whichever step, a run ends with one clear line and exit code 3, or with a whole bundle that says what was not established;
# nothing is left behind; and with just enough it passes.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
# Mounts of its own, which nobody else sees and which end with it.
[ -n "${SHORT_OF_MOUNTS:-}" ] || [ "$(id -u)" -ne 0 ] ||
	exec unshare --mount --propagation private env SHORT_OF_MOUNTS=1 bash "$0" "$@"
. "$(dirname "$0")/live.sh"
need_engine

RUNS=$folder/runs
SMALL=$folder/small
RUNNER='' runs=()
copy_tree plain
write_pair
mkdir "$SMALL"

# ---- looking ----

runner_ended() { [ ! -e "/proc/$RUNNER/stat" ] || grep -q ') Z' "/proc/$RUNNER/stat" 2>/dev/null; }
# Ends when the run does; notes the ids of its folders meanwhile: its containers' names hold them.
watched() {
	local path
	for path in "$RUNS"/*Z-* "$SMALL"/*/*Z-*; do [ ! -d "$path" ] || runs+=("${path##*-}"); done
	runner_ended
}
left_by() { # ID...: containers, folders of arms
	local id list
	list=$(engine_get '/containers/json?all=1&filters={"label":["harness.run"]}' | grep -o '"/harness-[^"]*"')
	for id; do
		grep -F "\"/harness-$id-" <<<"$list"
		find /tmp -maxdepth 1 -name "harness-arm-$id*"
	done
}
left_in() { # FOLDER: what no run leaves
	find "$1" -mindepth 1 \( -name lock -o -name observations.jsonl -o -name '*.tmp' -o -name '.*' \) 2>/dev/null
	find "$1" -mindepth 1 -type d -empty 2>/dev/null
}
none() { # COMMAND...: it prints nothing
	local text
	text=$("$@")
	[ -z "$text" ] || { echo "$* has: $text"; return 1; }
}
sealed() { find "$1" -name confinement-evidence.tar.gz 2>/dev/null; }

# ---- doing ----

# COMMAND... runs the harness, with all output in $OUTPUT; its exit code is $CODE.
run_short() {
	runs=()
	CODE=0 untold=1
	"$@" >"$OUTPUT" 2>&1 </dev/null &
	RUNNER=$!
	within 60 watched || kill -KILL "$RUNNER"
	wait "$RUNNER" 2>/dev/null || CODE=$?
	mapfile -t runs < <(printf '%s\n' "${runs[@]}" | sort -u | grep .)
}

# The runner's own lines; an arm that broke has one of its own, and so has a helper that could not even be loaded.
own_lines() { grep -a '^harness: ' "$OUTPUT" | grep -av '^harness: arm '; }
one_line() { [ "$(own_lines | wc -l)" -eq 1 ] || { echo "not one line"; own_lines; return 1; }; }
no_signal() { [ "$CODE" -lt 126 ] || { echo "exit code $CODE"; return 1; }; }
verifies() { # BUNDLE
	local code=0
	"$folder/plain/build/harness" verify "$1" >"$folder/verified" 2>&1 || code=$?
	if [[ $code =~ ^[02]$ ]] && ! grep -q '^fail' "$folder/verified"; then return; fi
	cat "$folder/verified"
	return 1
}

ends_clearly() { # WHAT FOLDER: of the run just ended
	local what=$1 where=$2 bundle
	bundle=$(sealed "$where")
	check "$what: ends by itself" no_signal
	if [ -n "$bundle" ]; then
		check "$what: a bundle that says so" exits 0 2 3
		check "$what: that bundle is whole" verifies "$bundle"
	else
		check "$what: exit code 3" exits 3
		check "$what: one line" one_line
	fi
	check "$what: no part of a bundle is left" none left_in "$where"
	check "$what: no container and no folder of an arm is left" none left_by "${runs[@]}"
	check "$what: no process is left" within 5 none ours ''
}
passed_with_enough() { [ "$1" -ge 1 ] || { echo "it never passed"; return 1; }; }
saw() { # TEXT...: each was said at some step
	local text
	for text; do
		grep -qaF -- "$text" "$folder/said" || { echo "never said: $text"; sort -u "$folder/said"; return 1; }
	done
}

RUN=("$folder/plain/build/harness" run -q --seed 0 --out "$RUNS" all --scenarios "$folder/pair")

# More and more of it, step by step, until a run passes.
series() { # WHAT FOLDER STEPS... -- COMMAND..., in which STEP stands for the step
	local what=$1 where=$2 steps=() step short=0 passes=0
	shift 2
	while [ "$1" != -- ]; do steps+=("$1") && shift; done
	shift
	: >"$folder/said"
	for step in "${steps[@]}"; do
		rm -rf "$RUNS"
		run_short "${@//STEP/$step}"
		# Less than the program needs to be loaded says nothing about it.
		if [ "$CODE" -eq 127 ]; then continue; fi
		cat "$OUTPUT" >>"$folder/said"
		ends_clearly "$what $step" "$where"
		[ "$CODE" -ne 3 ] || short=$((short + 1))
		if [ "$CODE" -eq 0 ]; then passes=$((passes + 1)) && break; fi
	done
	check "$what: it was too little at first" test "$short" -ge 2
	check "$what: just enough passes" passed_with_enough "$passes"
}

# ---- space for the bundle: each write meets the end of it ----
small_disk() { # WHAT STEPS...: mount options
	local what=$1 step short=0 passes=0
	shift
	: >"$folder/said"
	for step; do
		mount -t tmpfs -o "$step" none "$SMALL" || continue
		run_short "$folder/plain/build/harness" run -q --out "$SMALL/runs" all --scenarios "$folder/pair"
		cat "$OUTPUT" >>"$folder/said"
		ends_clearly "$what $step" "$SMALL/runs"
		umount "$SMALL"
		[ "$CODE" -ne 3 ] || short=$((short + 1))
		if [ "$CODE" -eq 0 ]; then passes=$((passes + 1)) && break; fi
	done
	check "$what: it was too little at first" test "$short" -ge 2
	check "$what: just enough passes" passed_with_enough "$passes"
}
small_disk "a disk of" size={4,8,16,24,28,32,36,40,44,48,52,56,64,96,128,256}k
check "a full disk: each writer of a bundle met it" saw "the run's observations: writing: No space left on device: free" \
	"the bundle cannot be written: No space left on device: free"
small_disk "files on a disk:" nr_inodes={2,3,4,5,6,7,8,10}

# ---- the size of a file ----
# shellcheck disable=SC2016 # the inner shell expands
series "files of KiB" "$RUNS" 1 2 4 8 12 16 20 32 64 256 4096 -- bash -c 'ulimit -f STEP && exec "$@"' short "${RUN[@]}"
check "a file's size: is named" saw "File too large: raise the limit"

# ---- descriptors ----
series "descriptors," "$RUNS" 4 6 7 8 10 12 14 16 18 20 22 24 28 32 36 40 44 48 54 60 70 90 128 -- prlimit --nofile=STEP "${RUN[@]}"
check "descriptors: the limit is named" saw "Too many open files: raise the limit"
check "descriptors: never without a reason" not grep -qa 'cannot connect$' "$folder/said"

# ---- memory ----
mapfile -t sizes < <(seq 17000000 500000 26000000; seq 28000000 4000000 64000000; echo 128000000 256000000 | tr ' ' '\n')
series "bytes of memory," "$RUNS" "${sizes[@]}" -- prlimit --as=STEP "${RUN[@]}"
check "memory: is named" saw "no memory"

# ---- nobody reads ----
unread() { # WHAT REDIRECTION, for bash
	rm -rf "$RUNS"
	run_short bash -c "exec \"\$@\" $2" short "${RUN[@]/#-q/-v}"
	check "$1: exit code 3" exits 3
	check "$1: says so in one line" says "harness: standard output did not take everything"
	check "$1: one line" one_line
	check "$1: the bundle is there" verifies "$RUNS/latest/confinement-evidence.tar.gz"
	ends_clearly "$1" "$RUNS"
}
unread "a full standard output" '>/dev/full'
unread "a reader that left" '> >(:)'
unread "a closed standard output" '>&-'
rm -rf "$RUNS"
run_short bash -c 'exec "$@" 2>&-' short "${RUN[@]}"
check "a closed standard error: the run passes" exits 0 2
ends_clearly "a closed standard error" "$RUNS"
"$folder/plain/build/harness" list >/dev/full 2>"$OUTPUT"
check "a list that nobody can read: exit code 3" test $? -eq 3

# ---- space for the arms ----
# Last, for it takes /tmp away: the programs are reached by another way.
mkdir -p "$folder/runs"
mount --bind "$folder" /mnt
folder=/mnt RUNS=/mnt/runs OUTPUT=/mnt/output
for step in size=4k size=8k nr_inodes=1 nr_inodes=2 nr_inodes=4 nr_inodes=6; do
	rm -rf "${RUNS:?}"/*
	mount -t tmpfs -o "$step" none /tmp
	run_short /mnt/plain/build/harness run -q --out "$RUNS" all --scenarios /mnt/pair
	ends_clearly "arms with $step" "$RUNS"
	check "arms with $step: exit code 3" exits 3
	check "arms with $step: an arm says so" says "harness: arm "
	umount /tmp
done
folder=${SMALL%/small}
umount /mnt

finish
