#!/bin/bash
# The gateway's records: ours leaves nothing of what calls bear in them, and each of its mutants does.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
# shellcheck source=tests/live/telemetry.sh
. "$(dirname "$0")/telemetry.sh"
need_engine
copy_tree tree

harness tree run telemetry
check "observations are there" read_observations
check "ours: the run passes" exits 0
check "ours: the bundle verifies" "$folder/tree/build/harness" verify "$BUNDLE"
check "arguments: nowhere" absent telemetry/arguments permitted permitted-again in-key in-url in-blocked tool-name
check "arguments: in a key, delivered" is 1 telemetry/arguments in-key deliveries
check "arguments: in a URL, delivered" is 1 telemetry/arguments in-url deliveries
check "arguments: blocked, not delivered" is 0 telemetry/arguments in-blocked deliveries
check "arguments: four rows of what was allowed" is 4 telemetry/arguments audit-allow audit
check "arguments: two rows of what was denied" is 2 telemetry/arguments audit-deny audit
check "arguments: an intent before each effect" is 4 telemetry/arguments audit-intent audit
check "arguments: the upstream's environment is empty" is 0 telemetry/arguments upstream-environment children
for arm in refuses breaks-off complains echoes; do
	check "an upstream that $arm: nowhere" absent "telemetry/upstream-$arm" permitted permitted-again
	check "an upstream that $arm: it did" is 1 "telemetry/upstream-$arm" peer-acted deliveries
done
check "an audit database that fails: nowhere" absent telemetry/audit-fails permitted
check "an audit database that fails: no effect" is 0 telemetry/audit-fails permitted deliveries
check "a collector that fails: it was asked" is_more telemetry/collector-fails peer-acted deliveries
check "a collector that fails: not in what was written" is 0 telemetry/collector-fails permitted output
check "a collector that fails: the call goes on" is 1 telemetry/collector-fails permitted-again deliveries
check "raised meanwhile: denied" is 0 telemetry/raised-meanwhile raised deliveries
check "stays raised: denied" is 0 telemetry/stays-raised denied-then deliveries
check "an undeclared program: not started" is 0 telemetry/undeclared permitted deliveries
check "mutants: a log" is_more telemetry/arguments-logged permitted output
check "mutants: a span" is_more telemetry/arguments-in-span in-key spans
check "mutants: a row" is_more telemetry/arguments-in-row in-url audit-bytes
check "mutants: an error" is_more telemetry/arguments-in-error tool-name output
check "mutants: an error, to the agent" is_more telemetry/arguments-in-error in-blocked output
check "mutants: an error of its upstream's" is_more telemetry/upstream-refuses-told permitted-again output
check "mutants: an error of its own records" is_more telemetry/audit-fails-told permitted output
check "mutants: an environment" is_more telemetry/environment-inherited permitted children
check "mutants: a ceiling that is looked at once" is 1 telemetry/raised-meanwhile-passed raised deliveries
check "mutants: a session that falls" is 1 telemetry/stays-raised-fallen denied-then deliveries
check "mutants: an undeclared program" is 1 telemetry/undeclared-started permitted deliveries
finish
