#!/bin/bash
# The real cMCP's records: it keeps its chain and its spans, and the harness names where it keeps more than it should.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
# shellcheck source=tests/live/telemetry.sh
. "$(dirname "$0")/telemetry.sh"
need_engine
if ! ci/cmcp --check >/dev/null 2>&1; then
	skip "cMCP is not installed (ci/cmcp)"
	finish
fi
copy_tree tree
ln -s "$PWD/build/cmcp" "$folder/tree/build/cmcp"
harness tree run --gateway cmcp telemetry
check "observations are there" read_observations
check "cMCP: the run fails" exits 1
check "cMCP: on what it keeps of calls, and nothing else" failed arguments:tool-name:audit:fail \
	arguments:tool-name:audit-bytes:fail arguments:tool-name:spans:fail arguments:upstream-environment:children:fail \
	audit-fails:permitted:output:fail
check "cMCP: its chain holds" is 0 telemetry/arguments audit-chain audit
check "cMCP: rows of what was allowed" is 4 telemetry/arguments audit-allow audit
check "cMCP: rows of what was denied" is 2 telemetry/arguments audit-deny audit
check "cMCP: spans" is_more telemetry/arguments spans spans
check "cMCP: no value in a record" absent telemetry/arguments permitted in-key in-url in-blocked
check "cMCP: the bundle verifies, as a failed one" again fail
finish
