#!/bin/bash
# What a machine reads (--json) and what a person sees on a terminal: the same as the text of a run into a file.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"

copy_tree plain
HARNESS=$folder/plain/build/harness
DOCUMENT=$folder/document

# Standard output is the document, standard error the text.
asked() { # WORDS...
	CODE=0 untold=1
	"$HARNESS" "$@" >"$DOCUMENT" 2>"$OUTPUT" </dev/null || CODE=$?
}
# An expression of perl over $d, the document, and $text, what was said; JSON::PP refuses what is no JSON.
holds() { # EXPRESSION
	perl -MJSON::PP -e '
		use strict;
		local $/;
		open my $in, "<", $ARGV[1] or die; my $bytes = <$in>;
		open $in, "<", $ARGV[2] or die; our $text = <$in>;
		our $d = JSON::PP->new->utf8->decode($bytes);
		die "not one line\n" unless $bytes =~ /\A[^\n]*\n\z/;
		our @keys = sort keys %$d;
		my $result = eval $ARGV[0];
		die $@ if $@;
		exit($result ? 0 : 1)' "$1" "$DOCUMENT" "$OUTPUT" || { echo "does not hold: $1"; head -c 2000 "$DOCUMENT"; return 1; }
}
document() { # WHAT CODE EXPRESSION...
	local what=$1 code=$2 expression
	shift 2
	check "$what: exit code $code" exits "$code"
	for expression in "\$d->{schemaVersion} == 1 && \$d->{exitCode} == $code" "$@"; do
		check "$what: $expression" holds "$expression"
	done
}

# ---- without an engine ----
asked list --json
# shellcheck disable=SC2016 # perl expands
document "list" 0 '"@keys" eq "exitCode mutations observers scenarios schemaVersion verb"' '$d->{verb} eq "list"' \
	'my ($s) = grep { $_->{id} eq "mutation/network" } @{$d->{scenarios}}; $s->{group} eq "mutation" &&
		$s->{control} eq "baseline" && "@{$s->{removes}}" eq "network" && grep { $_ eq "tcp4" } @{$s->{probes}}' \
	'my ($s) = grep { $_->{id} eq "baseline" } @{$d->{scenarios}}; !defined $s->{group} && !defined $s->{control} &&
		!@{$s->{removes}} && exists $s->{group}' \
	'!grep { join(" ", sort keys %$_) ne "after control group id probes removes title" } @{$d->{scenarios}}' \
	'!grep { join(" ", sort keys %$_) ne "id title" } @{$d->{mutations}}, @{$d->{observers}}' '$text eq ""'
"$HARNESS" list >"$OUTPUT"
# shellcheck disable=SC2016
check "list: every line of the text, and no more" holds '
	my $lines = join "", map { my $r = $_; map { sprintf "  %-28s %s\n", $_->{id}, $_->{title} } @{$d->{$r}} }
		qw(scenarios mutations observers);
	$lines eq join "", map { "$_\n" } grep { /^  / } split /\n/, $text'

asked run --json --dry-run mutation/read-only -j3
# shellcheck disable=SC2016
document "a dry run" 0 \
	'"@keys" eq "aboutSeconds arms dryRun exitCode jobs notPlanned out repeat schemaVersion seed shard touches verb"' '$d->{dryRun}' \
	'$d->{jobs} == 3 && $text =~ /^plan: (\d+) arms, 3 at a time, about (\d+) s$/m && $1 == @{$d->{arms}} &&
		$2 == $d->{aboutSeconds}' \
	'!grep { index($text, sprintf("  %-28s %s%s\n", $_->{id}, $_->{title},
		$_->{added} ? " (added)" : "")) < 0 } @{$d->{arms}}' \
	'grep { $_->{id} eq "mutation/read-only" && !$_->{added} } @{$d->{arms}}' \
	'!grep { index($text, "$_\n") < 0 } @{$d->{touches}}' '$d->{out} eq "runs"'
asked run --json --dry-run -q baseline
# shellcheck disable=SC2016
document "a quiet dry run" 0 '$text eq "" && @{$d->{arms}} > 1'

asked run --json --dry-run basline
# shellcheck disable=SC2016
document "a mistyped scenario" 4 '"@keys" eq "error exitCode schemaVersion verb"' '$text eq "harness: $d->{error}\n"' \
	'$d->{error} =~ /did you mean .baseline.\?$/'
asked list --json word
# shellcheck disable=SC2016
document "list with a word" 4 '$d->{verb} eq "list"' '$d->{error} eq "list takes no words"'
asked run --json --scenarios "$folder/nowhere"
# shellcheck disable=SC2016
document "no scenarios" 3 '$text eq "harness: $d->{error}\n"'
asked clean --json
check "--json is not for clean" exits 4
check "--json is not for clean: says so" says "--json is not for \`harness clean\`"
for words in "list --json" "run --json --dry-run" "doctor --json --socket $folder/nowhere"; do
	CODE=0
	# shellcheck disable=SC2086
	"$HARNESS" $words >/dev/full 2>"$OUTPUT" || CODE=$?
	check "$words: a full disk: exit code 3" exits 3
	check "$words: a full disk: says so" says "the document of --json: No space left on device"
done
asked doctor --json --socket "$folder/nowhere.sock"
# shellcheck disable=SC2016
document "doctor without an engine" 3 '"@keys" eq "checks exitCode ready schemaVersion verb"' '!$d->{ready}' \
	'my ($c) = grep { $_->{id} eq "engine-socket" } @{$d->{checks}}; $c->{status} eq "missing" && $c->{what}' \
	'!grep { join(" ", sort keys %$_) ne "id mend status what" } @{$d->{checks}}' '$text eq ""' \
	'join(" ", map { $_->{id} } grep { $_->{status} eq "unknown" } @{$d->{checks}}) eq "engine-peer engine user-xattr"' \
	'!grep { ($_->{status} eq "ok") == defined $_->{mend} } @{$d->{checks}}'
"$HARNESS" doctor --socket "$folder/nowhere.sock" >"$OUTPUT"
# shellcheck disable=SC2016
check "doctor: every line of the text" holds \
	'!grep { index($text, sprintf("%-8s %-18s %s\n", @$_{qw(status id what)})) < 0 } @{$d->{checks}}'

# ---- a run ----
need_engine
asked doctor --json
# What only another gateway needs may be absent.
# shellcheck disable=SC2016
document "doctor" 0 '$d->{ready}' '!grep { $_->{id} ne "cmcp" && $_->{id} ne "postgres" && ($_->{status} ne "ok" || defined $_->{mend}) } @{$d->{checks}}'

mkdir -p "$folder/small/mutation"
cat >"$folder/small/baseline.json" <<'JSON'
{ "title": "one closed way", "probes": ["tcp4"],
  "expect": [{ "subject": "tcp4", "observer": "tcp4", "op": "eq", "value": 0, "class": "protected" }] }
JSON
cat >"$folder/small/mutation/network.json" <<'JSON'
{ "title": "the same way, open", "control": "baseline", "removes": ["network"], "probes": ["tcp4"],
  "expect": [{ "subject": "tcp4", "observer": "tcp4", "op": "eq", "value": 1, "class": "protected", "flips": true }] }
JSON
cat >"$folder/small/tries.json" <<'JSON'
{ "title": "a control that cannot hold", "probes": ["tcp4"],
  "expect": [{ "subject": "tcp4", "observer": "attempts", "op": "ge", "value": 1000, "class": "control" }] }
JSON
small=(--scenarios "$folder/small" --out "$folder/runs" -j1 --seed 0)

asked run --json -v "${small[@]}" baseline
# shellcheck disable=SC2016
document "a run" 0 '"@keys" eq "arms bundle cells claims dryRun exitCode failed mutations notEstablished notPlanned " .
		"schemaVersion seed sha256 verb verdict wallNs"' \
	'$d->{verdict} eq "pass" && $text =~ /^verdict: pass: /m' '!@{$d->{failed}} && !@{$d->{notEstablished}}' \
	'$text =~ /^cells: (\d+) pass, (\d+) fail, (\d+) not established, in (\d+) arms of which \d+ (?:is a mutant|are mutants)$/m && $1 == $d->{cells}{pass} &&
		$2 == $d->{cells}{fail} && $3 == $d->{cells}{notEstablished} && $4 == @{$d->{arms}} && $1 == 2' \
	'$text =~ /^bundle: (.*)$/m && $1 eq $d->{bundle} && -f $1' '$text =~ /^sha256: (.*)$/m && $1 eq $d->{sha256}' \
	'$text =~ /^wall time: (\d+)\.(\d) s$/m && "$1$2" == int($d->{wallNs} / 1e8)' \
	'!grep { my $ms = int($_->{durationNs} / 1e6); $_->{status} ne "ok" || defined $_->{reason} ||
		$text !~ m{^\[\d/2\] \Q$_->{id}\E +ok, .*, $ms ms$}m } @{$d->{arms}}' \
	'@{$d->{mutations}} == 1 && $d->{mutations}[0]{id} eq "mutation/network" && $d->{mutations}[0]{detected} &&
		$d->{mutations}[0]{installed} && $d->{mutations}[0]{verdict} eq "pass"'
# shellcheck disable=SC2016
check "a run: the digest is the bundle's" holds '`sha256sum < \Q$d->{bundle}\E` eq "$d->{sha256}  -\n"'
# Steps come as they happen: each arm's in the order of time, before the line of its end, and those that every arm has.
# shellcheck disable=SC2016
check "verbose: the steps of each arm" holds '
	my (%last, %seen, $bad);
	for (split /\n/, $text) {
		$seen{$1} .= " $3", $bad += $2 < ($last{$1} // 0), $last{$1} = $2 if /^  (\S+) +(\d+) ms  ([a-z-]+)/;
		$bad += !$seen{$1} || $seen{$1} !~ /created attached ready started (admitted|waived) armed first-frame .*dead/
			if m{^\[\d/2\] (\S+)};
		delete $seen{$1} if m{^\[\d/2\] (\S+)};
	}
	!$bad && !%seen'

asked run --json -q "${small[@]}" tries
# shellcheck disable=SC2016
document "a control that did not hold" 1 '$d->{verdict} eq "fail" && @{$d->{failed}} == 1 && $d->{cells}{fail} == 1' \
	'my $c = $d->{failed}[0]; "$c->{arm} $c->{subject} $c->{observer} $c->{op} $c->{expected} $c->{value} $c->{reason}" eq
		"tries tcp4 attempts ge 1000 1 value"' \
	'$text eq "fail: a leak was seen, a control did not hold, or a mutation was not caught\n$d->{bundle}\n"'
CODE=0
"$HARNESS" run --json "${small[@]}" --socket "$folder/nowhere.sock" >"$DOCUMENT" 2>"$OUTPUT" || CODE=$?
# shellcheck disable=SC2016
document "a run without an engine" 3 '$d->{error} =~ /no engine there/' '$text =~ /^harness: \Q$d->{error}\E$/m'

# ---- a terminal ----
RAW=$folder/raw
# Its bytes go to $RAW; it is 60 columns wide and 20 rows high, so that the lines of running arms must be cut.
at_terminal() { # [>FILE] VARIABLE=VALUE... -- WORDS...
	local variables=() words into=
	if [[ $1 == '>'* ]]; then
		into=">$(printf %q "${1#>}")"
		shift
	fi
	while [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	shift
	words=$(printf '%q ' env -u NO_COLOR "${variables[@]}" "$HARNESS" "$@")
	CODE=0 untold=1
	SHELL=/bin/sh script -qefc "stty cols 60 rows 20 && $words $into" /dev/null >"$RAW" 2>&1 </dev/null || CODE=$?
	cp "$RAW" "$OUTPUT"
}
# What is left on the screen, and above it; whatever a run cannot use twice becomes a mark.
screen() { # FILE
	perl -e '
		use strict;
		local $/;
		my ($row, $deepest, @lines) = (0, 0);
		for (split /(\r?\n|\e\[\d*[A-Za-z])/, <STDIN>) {
			if (/\n/) { $row++ }
			elsif (/^\e\[(\d+)A$/) { $row -= $1; die "above the top\n" if $row < 0 }
			elsif (/^\e\[J$/) { splice @lines, $row }
			elsif (/^\e\[\d*m$/) { }
			elsif (/\e/) { die "another sequence\n" }
			else { die "a line of a running arm is too long\n" if /^  \.\.\. / && length > 59; $lines[$row] .= $_ }
		}
		for (map { ($_ // "") . "\n" } @lines) {
			s/\d+ ms$/N ms/, s/^bundle: .*/bundle: N/, s/^sha256: .*/sha256: N/, s/^wall time: .*/wall time: N/;
			s/packets-other\S* \d+/packets-other N/;
			print;
		}' <"$1"
}
# Each sequence and control character once, ESC as E, the number of lines as n.
sequences() { LC_ALL=C grep -oaP '\e\[\d*[A-Za-z]|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\xff]' "$RAW" | tr '\033' E | sed 's/\[[0-9]*A/[nA/' | LC_ALL=C sort -u | xargs; }
only() { # SEQUENCES: as sequences() prints them
	[ "$(sequences)" = "$1" ] || { echo "there are: $(sequences)"; return 1; }
}
same_screen() { diff <(screen "$folder/text") <(screen "$RAW"); }

"$HARNESS" run "${small[@]}" baseline >"$folder/text" 2>&1 </dev/null
check "the text of a run into a file has no sequences" not grep -qaP '\e' "$folder/text"
at_terminal TERM=xterm -- run "${small[@]}" baseline
check "a terminal: exit code 0" exits 0
check "a terminal: lines of running arms" says "  ... mutation/network "
check "a terminal: their steps" grep -qaE '^(.\[[0-9]A.\[J)?  \.\.\. baseline +[0-9]+\.[0-9] s  [a-z-]+' "$RAW"
check "a terminal: up, away, and the colour of the verdict" only 'E[0m E[32m E[J E[nA'
check "a terminal: the verdict's word alone is coloured" says $'verdict: \e[32mpass\e[0m: no leak'
check "a terminal: what is left is what a file holds" same_screen
at_terminal TERM=xterm NO_COLOR=1 -- run "${small[@]}" baseline
check "NO_COLOR: no colours, and the lines still come and go" only 'E[J E[nA'
check "NO_COLOR: what is left is what a file holds" same_screen
at_terminal TERM=xterm NO_COLOR= -- run -q "${small[@]}" baseline
check "quiet, and an empty NO_COLOR: the colour of the verdict alone" only 'E[0m E[32m'
check "quiet: two lines" test "$(wc -l <"$RAW")" -eq 2
at_terminal TERM=dumb -- run "${small[@]}" baseline
check "TERM=dumb: no sequences" only ''
check "TERM=dumb: what is left is what a file holds" same_screen
at_terminal TERM=xterm -- run "${small[@]}" tries
check "a terminal: exit code 1" exits 1
check "a terminal: a fail is red" says $'verdict: \e[31mfail\e[0m: '
at_terminal TERM=xterm -- doctor
check "a terminal: doctor's words have colours" only 'E[0m E[32m E[33m'
at_terminal TERM=xterm NO_COLOR=1 -- doctor
check "NO_COLOR: doctor's have none" only ''

# The document goes into a file while the person looks on.
at_terminal ">$DOCUMENT" TERM=xterm -- run --json "${small[@]}" baseline
# shellcheck disable=SC2016
document "--json beside a terminal" 0 '$d->{verdict} eq "pass"'
check "--json beside a terminal: the lines are there" says "  ... baseline "
check "--json beside a terminal: what is left is what a file holds" same_screen

# An arm that breaks says why on a line of its own, also between lines that come and go.
copy_tree broken
cp "$(type -P false)" "$folder/broken/build/libexec/bridge"
HARNESS=$folder/broken/build/harness
asked run --json "${small[@]}" baseline
# shellcheck disable=SC2016
document "broken arms" 3 '$d->{verdict} eq "not_established" && @{$d->{notEstablished}} == 2' \
	'2 == grep { $_->{status} ne "ok" && $_->{reason} } @{$d->{arms}}' \
	'2 == grep { $text =~ /^harness: arm \Q$_->{id}\E: .+\n\[\d\/2\] \Q$_->{id}\E +$_->{status}: $_->{reason}, /m } @{$d->{arms}}'
cp "$OUTPUT" "$folder/text"
at_terminal TERM=xterm -- run "${small[@]}" baseline
check "broken arms at a terminal: exit code 3" exits 3
check "broken arms at a terminal: what is left is what a file holds" same_screen

finish
