#!/bin/bash
# Defects planted from outside, one at a time: a run with a blind observer, a lost part, an agent that tries nothing or a
# mutation that takes away something else must end as failed or not established, and say why. Never as passed.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/planted.sh
. "$(dirname "$0")/planted.sh"
need_engine

# Whether the latest bundle holds an observation of the baseline by that observer in which packets were dropped.
dropped_at() { # OBSERVER
	tar -xzOf "$folder/runs/latest/confinement-evidence.tar.gz" confinement-evidence/observations.jsonl |
		grep '"arm":"baseline"' | grep "\"observer\":\"$1\"" | grep -q '"dropped":[1-9]'
}

copy_tree plain
striking_tree

# ---- nothing planted: else none of the following would show anything ----
harness plain run "${SELECTION[@]}"
check "nothing planted: passes" exits 0
check "nothing planted: says so" says "verdict: pass"

# ---- observers that are not there, or not listening ----
copy_with absent libexec/observer-tcp </bin/true
harness absent run "${SELECTION[@]}"
check_caught "an observer that ends at once" "1 2" "not established: baseline tcp4@tcp4 - (=0): no observation"

# It is ready and knows its answers, but the loopback that it is bound to is not the host's. Two small scenarios, because
# every marker is waited for in vain.
mkdir -p "$folder/small/mutation"
cat >"$folder/small/baseline.json" <<'JSON'
{ "title": "one closed way", "probes": ["tcp4"],
  "expect": [{ "subject": "tcp4", "observer": "tcp4", "op": "eq", "value": 0, "class": "protected" }] }
JSON
cat >"$folder/small/mutation/network.json" <<'JSON'
{ "title": "the same way, open", "control": "baseline", "removes": ["network"], "probes": ["tcp4"],
  "expect": [{ "subject": "tcp4", "observer": "tcp4", "op": "eq", "value": 1, "class": "protected", "flips": true }] }
JSON
copy_tree elsewhere
mv "$folder/elsewhere/build/libexec/observer-tcp" "$folder/elsewhere/build/libexec/listener"
cat >"$folder/elsewhere/build/libexec/observer-tcp" <<SCRIPT
#!/bin/sh
exec /usr/bin/unshare --net /bin/sh -c '/sbin/ip link set lo up; exec "\$@"' sh "$folder/elsewhere/build/libexec/listener" "\$@"
SCRIPT
chmod 755 "$folder/elsewhere/build/libexec/observer-tcp"
harness plain run all --scenarios "$folder/small"
check "two small scenarios: pass" exits 0
harness elsewhere run all --scenarios "$folder/small"
check_caught "an observer that is not listening" 2 \
	"not established: baseline tcp4@tcp4 0 (=0): the observer did not prove that it could see"

# ---- observers that are ready, proved their sight, and are then paused, killed or drowned ----
run_struck stop observer-tcp tcp4
check_caught "tcp paused after ready" 2 "not established: baseline tcp4@tcp4 - (=0): no observation"
run_struck stop observer-deliveries
check_caught "deliveries paused after ready" 2 "not established: baseline denied@deliveries - (=0): no observation"
run_struck kill observer-deliveries
check_caught "deliveries killed" 2 "not established: baseline denied@deliveries - (=0): no observation"
run_struck kill observer-capture capture-netns
check_caught "capture killed" 2 "not established: baseline interfaces@capture-netns - (=0): no observation"
run_struck drown observer-capture capture-host
check_caught "packets dropped" 2 \
	"not established: baseline tcp4@capture-host - (=0): the observer did not prove that it could see"
check "packets dropped: the observation counts them" dropped_at capture-host

# ---- parts of the path ----
# The gateway starts a tool anew that died: each delivery is still there, and once.
run_struck kill recorder
check "the recorder killed: a new one takes its place" exits 0
check "the recorder killed: nothing was lost, nothing came twice" says "permitted@deliveries 1 (=1)"
run_struck stop recorder
check_caught "the recorder paused" "1 2 3" "baseline permitted@deliveries"
run_struck cut recorder
check_caught "the recorder's file cut" 2 "not established: baseline denied@deliveries"
run_struck cut decisions
check_caught "the decisions' file cut" 2 "not established: baseline denied@decisions"
# Nothing of this arm is believed, and its end is told apart from a verdict.
run_struck kill gateway
check_caught "the gateway killed" 3 "arm baseline: harness_error"

# ---- an agent that tries nothing ----
# The real agent, but of its orders it carries out the two of the control container alone.
cp -a agent "$folder/source"
sed -i 's/attempts += try(step, tries);/attempts += count == 2 ? try(step, tries) : (int)tries;/' "$folder/source/agent.c"
check "an agent that tries nothing: is made" not cmp agent/agent.c "$folder/source/agent.c"
check "an agent that tries nothing: is compiled" "${CC:-cc}" -D_GNU_SOURCE -Os -static -o "$folder/nothing" "$folder"/source/*.c
copy_with idle agent <"$folder/nothing"
harness idle run "${SELECTION[@]}"
check_caught "an agent that tries nothing" 1 "fail: baseline tcp4@attempts 0 (>=1): the value contradicts the expectation"
check "an agent that tries nothing: its mutants are not caught" says "fail: not caught: mutation/network: installed, and"
check "an agent that tries nothing: no mutation is caught" says "mutations: 0 of 5 caught"
check "an agent that tries nothing: earns nothing" says \
	"not established: baseline tcp4@tcp4 0 (=0): no mutant of this run made this probe arrive here"
copy_with broken agent </bin/false
harness broken run "${SELECTION[@]}"
check "an agent that is no program: never a pass" exits 1 2 3
check "an agent that is no program: no verdict of pass" not says "verdict: pass"

# ---- scenarios: a mutation that takes away something else, and tries ----
cp -a scenarios "$folder/wrong"
sed -i 's/"removes": \["network"\]/"removes": ["log-driver"]/' "$folder/wrong/mutation/network.json"
harness plain run "${SELECTION[@]}" --scenarios "$folder/wrong"
check_caught "a mutation of something else" 1 "fail: not caught: mutation/network: installed, and"
check "a mutation of something else: earns nothing" says \
	"not established: baseline tcp4@tcp4 0 (=0): no mutant of this run made this probe arrive here"

# Three tries a probe; what the mutants let through must be counted three times.
three_tries() { # FOLDER VALUE
	mkdir -p "$1/mutation"
	cp scenarios/baseline.json "$1"
	cp scenarios/mutation/{network,network-bridge,log-driver,read-only,sink-ceiling}.json "$1/mutation"
	sed -i -e 's/^\t"probes"/\t"tries": 3,\n&/' -e "s/\"op\": \"eq\", \"value\": 1,/\"op\": \"eq\", \"value\": $2,/" \
		-e "s/\"subject\": \"starts\", \(.*\) \"value\": $2,/\"subject\": \"starts\", \1 \"value\": 1,/" \
		"$1"/baseline.json "$1"/mutation/{network,network-bridge,log-driver,read-only,sink-ceiling}.json
}
three_tries "$folder/three" 3
harness plain run "${SELECTION[@]}" --scenarios "$folder/three"
check "three tries: pass" exits 0
for cell in tcp4@tcp4 tcp4-child@tcp4 dns@dns tcp4-nic@tcp4-nic file@files-archive stderr@logs-api \
	denied@deliveries permitted@deliveries; do
	check "three tries: three at $cell" says "$cell 3 (=3)"
done
three_tries "$folder/one" 1
harness plain run "${SELECTION[@]}" --scenarios "$folder/one"
check_caught "three tries, one expected" 1 "fail: mutation/network tcp4@tcp4 3 (=1): the value contradicts the expectation"

finish
