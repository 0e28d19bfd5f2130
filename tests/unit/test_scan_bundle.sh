#!/bin/bash
# The second scanner of bundles: tests/unit/scan_bundle.py.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/unit/scan_bundle.py
