#!/bin/bash
# Each room has a page in docs/rooms, which says of includes what ci/include-rule and ci/header-owners say, and links hold.
# shellcheck disable=SC2016,SC2317 # backticks are Markdown's; check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

passed=0 failed=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-rooms.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'rooms: FAILED: %s\n' "$what"
		sed 's/^/    /' "$folder/said"
	fi
}

rows() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }
declare -A rule=()
while IFS=: read -r room allowed; do
	read -ra words <<<"$allowed"
	rule[$room]=${words[*]}
done < <(rows ci/include-rule)
mapfile -t rooms < <(printf '%s\n' "${!rule[@]}" | sort)

marked() { # WORD...: each between backticks, or "nothing"
	local out
	printf -v out '`%s`, ' "$@"
	[ $# -gt 0 ] && printf '%s' "${out%, }" || printf nothing
}
includes() { # ROOM
	local words
	read -ra words <<<"${rule[$1]}"
	marked "${words[@]}"
}
included_by() { # ROOM: whole, or a header of it
	local other by=()
	for other in "${rooms[@]}"; do
		[[ " ${rule[$other]} " != *[[:space:]]"$1"[/[:space:]]* ]] || by+=("$other")
	done
	marked "${by[@]}"
}
# The rows of libraries alone: those of C library and kernel are for everybody.
libraries() { # ROOM
	local headers owners owner own=() known=" "
	while IFS=: read -r headers owners; do
		set -f
		for owner in $owners; do
			[[ $owner != "$1"/* && $owner != "tests/$1"/* ]] || [[ $known == *" $headers "* ]] ||
				{ own+=("$headers") && known+="$headers "; }
		done
		set +f
	done < <(sed '/^# the C library/,$d' ci/header-owners | sed -e 's/#.*//' -e '/^[[:space:]]*$/d' | sort)
	marked "${own[@]}"
}
says() { # ROOM LABEL WORDS: one row of the page's table
	local row="| $2 | $3 |"
	grep -qxF -- "$row" "docs/rooms/$1.md" || { printf 'docs/rooms/%s.md has no row\n%s\n' "$1" "$row" && return 1; }
}
has_parts() { # PAGE: in this order, each with something below it
	local part before=0 at
	for part in 'What comes in' 'What goes out' 'What it may not touch'; do
		at=$(grep -nxF "## $part" "$1" | cut -d: -f1)
		{ [ -n "$at" ] && [ "$at" -gt "$before" ]; } || { echo "no '## $part' in its place" && return 1; }
		[ -n "$(sed -n "$((at + 1))p;$((at + 2))p" "$1" | tr -d '[:space:]')" ] || { echo "nothing below '$part'" && return 1; }
		before=$at
	done
}

check "there are rooms" test "${#rooms[@]}" -ge 12
for room in "${rooms[@]}"; do
	page=docs/rooms/$room.md
	check "$room has a page" test -s "$page"
	[ -s "$page" ] || continue
	check "$page: its name" grep -qx "# $room" "$page"
	check "$page: what it includes" says "$room" 'includes of ours, beside itself' "$(includes "$room")"
	check "$page: who includes it" says "$room" 'is included by' "$(included_by "$room")"
	check "$page: its libraries" says "$room" 'headers of libraries' "$(libraries "$room")"
	check "$page: its parts" has_parts "$page"
	check "README.md leads to $page" grep -qF "($page)" README.md
done
check "docs/rooms/scenarios.md: its parts" has_parts docs/rooms/scenarios.md
check "README.md leads to docs/rooms/scenarios.md" grep -qF '(docs/rooms/scenarios.md)' README.md

# A page of a room that is gone; a folder of code that is no room.
is_room() { # PAGE
	local room
	room=$(basename "$1" .md)
	[ "$room" = scenarios ] || [ -n "${rule[$room]+set}" ]
}
for page in docs/rooms/*.md; do
	check "$page is of a room" is_room "$page"
done

# What a page links to, but for other sites: a file that is there, and in a page of ours a heading that is there.
anchors() { # PAGE: as they are made of its headings
	sed -n 's/^##* *//p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9\n_-'
}
links_hold() { # PAGE
	local link file bad=0
	while read -r link; do
		file=$1
		[ -z "${link%%#*}" ] || file=$(dirname "$1")/${link%%#*}
		[ -e "$file" ] || { echo "$link: no such file" && bad=1 && continue; }
		[[ $link != *#* ]] || anchors "$file" | grep -qxF -- "${link#*#}" || { echo "$link: no such heading" && bad=1; }
	done < <(grep -oE '\]\([^)]*\)' "$1" | sed 's/^](//; s/)$//' | grep -vE '^https?:')
	return "$bad"
}
for page in README.md SECURITY.md docs/*.md docs/rooms/*.md; do
	check "$page: its links" links_hold "$page"
done

printf 'rooms: %d passed, %d failed, 0 skipped\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
