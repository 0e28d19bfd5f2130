#!/bin/bash
# report.html and ctrf.json as others see them: Debian's Chromium at three widths, light and dark, without scripts, by keyboard and
# on paper; axe-core; html-validate; ajv with the schema of CTRF. The pages are of runs that were made up, and, if there is a
# bundle ($BUNDLE, or runs/latest), what `harness report` makes of it. Pictures and prints go to build/interop/report.
# shellcheck source=tests/interop/interop.sh
# shellcheck disable=SC2317 # check() calls functions by name
. "$(dirname "$0")/interop.sh"

shots=$PWD/build/interop/report
bundle=${BUNDLE:-}

leave_out() { # WHAT
	if [ "${CI:-}" = true ]; then
		fail "$1"
	else
		printf '%s: skipped: %s\n' "$name" "$1"
		skipped=$((skipped + 1))
	fi
}

find_bundle() {
	[ -z "$bundle" ] || return 0
	bundle=$folder/runs/latest/confinement-evidence.tar.gz
	timeout -k 5 120 ci/as-root "$BUILD/harness" run baseline --quiet --out "$folder/runs" >"$folder/run" 2>&1 </dev/null ||
		[ -f "$bundle" ]
}

from_bundle() {
	"$BUILD/harness" report "$bundle" --out "$folder/bundle.html" &&
		"$BUILD/harness" report "$bundle" --out - --format ctrf >"$folder/bundle.json" &&
		cmp "$folder/bundle.html" <(tar xzOf "$bundle" confinement-evidence/report.html) &&
		cmp "$folder/bundle.json" <(tar xzOf "$bundle" confinement-evidence/ctrf.json)
}

have node "the validators" || finish
check "the pages" "$BUILD/tests/main_report_pages" "$folder"
if find_bundle; then
	check "a bundle's own page and report are what harness report makes of it" from_bundle
else
	leave_out "no bundle can be made here: $(tail -n 1 "$folder/run")"
fi
client "validators" node "$parts/report_files.mjs" "$folder"/*.html "$folder"/*.json

if ! chromium=$(command -v chromium); then
	leave_out "Chromium is not installed (ci/deps --interop)"
	finish
fi
rm -rf "$shots" && mkdir -p "$shots"
CLIENT_SECONDS=480 client "Chromium" node "$parts/report_page.mjs" "$chromium" "$shots" "$folder"/*.html
finish
