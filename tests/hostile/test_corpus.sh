#!/bin/bash
# Some hundred hostile bundles, made out of a valid one: each is refused by the check that must refuse it, in bounded time and
# memory, and nothing of it is printed.
cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}

for word in python3 openssl; do
	if ! command -v "$word" >/dev/null; then
		echo "test_corpus: skipped: no $word"
		echo "test_corpus: 0 passed, 0 failed, 1 skipped"
		exit 0
	fi
done
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-hostile.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

if ! "$BUILD/tests/main_bundle" baseline >"$folder/base.tar.gz" ||
	! "$BUILD/tests/main_bundle" effects >"$folder/orders.tar.gz" ||
	! "$BUILD/harness" verify -q "$folder/base.tar.gz" >/dev/null ||
	! "$BUILD/harness" verify -q "$folder/orders.tar.gz" >/dev/null; then
	echo "test_corpus: there is no valid bundle to start with"
	echo "test_corpus: 0 passed, 1 failed, 0 skipped"
	exit 1
fi
python3 tests/hostile/make_corpus.py "$folder/base.tar.gz" "$folder/orders.tar.gz" "$folder" "$BUILD/harness" || exit 1
python3 tests/hostile/check_corpus.py "$folder" "$BUILD/harness"
