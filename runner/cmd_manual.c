/* `harness manual`: the manual page harness(1), made from the tables of verbs and flags; man(7) is its language. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runner/verb.h"

/* Of the last change of what stands here beside the tables. */
#define DATE "2026-11-30"
#define COLUMNS 72

struct entry {
	const char *term, *text;
};
static const struct entry exits[], environment[], files[], examples[];
static const char *const see_also[];

/* One character of text, so that it stands as it was written: roff has its own use for some, and makes others pretty.
 * Returns how many were printed. */
static size_t put(char c)
{
	const char *escape = c == '\\'   ? "\\e"
			     : c == '-'  ? "\\-"
			     : c == '\'' ? "\\(aq"
			     : c == '~'  ? "\\(ti"
			     : c == '^'  ? "\\(ha"
					 : NULL;

	if (escape)
		fputs(escape, stdout);
	else
		putchar(c);
	return escape ? strlen(escape) : 1;
}

/* A word; what stands between backticks is bold, also over several words. */
static size_t put_word(const char *word, size_t length, bool *bold)
{
	size_t printed = 0;

	for (size_t i = 0; i < length; i++) {
		if (word[i] != '`') {
			printed += put(word[i]);
			continue;
		}
		*bold = !*bold;
		fputs(*bold ? "\\fB" : "\\fR", stdout);
		printed += strlen("\\fB");
	}
	return printed;
}

/* Filled lines. One that begins with a blank in the text stays a line of its own. */
static void put_text(const char *text)
{
	size_t column = 0;
	bool bold = false;

	while (*text) {
		size_t length = strcspn(text, " \n");

		if (length && column && column + 1 + length > COLUMNS) {
			putchar('\n');
			column = 0;
		}
		if (length) {
			fputs(column ? " " : *text == '.' || *text == '\'' ? "\\&" : "", stdout);
			column += (column > 0) + put_word(text, length, &bold);
		}
		text += length;
		if (*text == '\n' && (text[1] == ' ' || text[1] == '\n')) {
			printf("%s%s\n", column ? "\n" : "", text[1] == '\n' ? ".sp" : ".br");
			column = 0;
		}
		text += *text != '\0';
	}
	putchar('\n');
}

static void put_bold(const char *text)
{
	fputs("\\fB", stdout);
	for (; *text; text++)
		put(*text);
	fputs("\\fR", stdout);
}

static void put_entries(const char *heading, const struct entry *entries)
{
	printf(".SH %s\n", heading);
	for (; entries->term; entries++) {
		printf(".TP\n");
		put_bold(entries->term);
		putchar('\n');
		put_text(entries->text);
	}
}

/* The flags that a verb takes, by their names. */
static void put_flags_of(const char *verb)
{
	struct flag_row row;
	const char *before = ".sp\nFlags: ";
	bool takes = false;

	for (size_t i = 0; options_row(i, verb, &row, &takes); i++) {
		if (!takes)
			continue;
		fputs(before, stdout);
		put_bold(row.name);
		before = ",\n";
	}
	if (*before == ',')
		printf(".\n");
}

static void put_verbs(void)
{
	printf(".SH VERBS\n");
	for (size_t i = 0; verbs[i]; i++) {
		const struct verb *verb = verbs[i];

		if (verb->hidden)
			continue;
		printf(".TP\n");
		put_bold(verb->name);
		for (const char *at = verb->words; *at; at++) {
			if (at == verb->words)
				putchar(' ');
			put(*at);
		}
		putchar('\n');
		put_text(verb->title);
		printf(".sp\n");
		put_text(verb->text);
		put_flags_of(verb->name);
	}
}

/* Behind its title, the verbs that take it. */
static void put_takers(size_t flag)
{
	const char *before = ".br\nFor ";

	for (size_t verb = 0; verbs[verb]; verb++) {
		struct flag_row row;
		bool takes = false;

		if (verbs[verb]->hidden || !options_row(flag, verbs[verb]->name, &row, &takes) || !takes)
			continue;
		fputs(before, stdout);
		put_bold(verbs[verb]->name);
		before = ",\n";
	}
	printf(".\n");
}

static void put_flags(void)
{
	struct flag_row row;
	bool takes = false;

	printf(".SH OPTIONS\nA value stands behind its flag as the next word, or behind \\(lq=\\(rq. Behind\n");
	put_bold("--");
	printf("\nnothing is a flag.\n");
	for (size_t i = 0; options_row(i, NULL, &row, &takes); i++) {
		printf(".TP\n");
		if (row.letter) {
			put_bold(row.letter);
			printf(", ");
		}
		put_bold(row.name);
		if (row.argument)
			printf(" \\fI%s\\fR", row.argument);
		putchar('\n');
		put_text(row.title);
		put_takers(i);
	}
	printf(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nSay what harness does, or what one verb does.\n"
	       ".TP\n\\fB\\-\\-version\\fR\nSay which version this is.\n");
}

static int run(const struct options *options, struct error **err)
{
	if (options->words_count)
		return error_set(err, ERROR_USAGE, "manual takes no words");
	printf(".\\\" Made by `harness manual` (`make docs`) from the tables of verbs and flags: do not edit.\n"
	       ".TH HARNESS 1 %s \"harness %s\" \"User Commands\"\n"
	       ".SH NAME\nharness \\- evidence that an AI agent is confined\n"
	       ".SH SYNOPSIS\n.B harness\n.I VERB\n.RI [ FLAG ]...\n.RI [ WORD ]...\n.SH DESCRIPTION\n",
	       DATE, HARNESS_VERSION);
	put_text("`harness` locks an adversarial agent in a Docker container, lets it try every way out, watches from "
		 "outside with observers that the agent cannot reach, takes each protection away, one at a time, to "
		 "prove that the observers would have seen a leak, and seals the numbers in a bundle that anybody "
		 "verifies offline.");
	printf(".PP\n");
	put_text("Only what an independent observer counted feeds a verdict. A zero is earned, by an observer that "
		 "proved before and after that it could see, and by a mutant of the same run in which the same probe "
		 "arrived; or else it is not established. A bundle does not prove that no other way out exists.");
	put_verbs();
	put_flags();
	put_entries("EXIT STATUS", exits);
	printf(".PP\nThe stronger wins, in the order 4, 1, 3, 2, 0:\na leak is never hidden by an error.\n");
	put_entries("ENVIRONMENT", environment);
	put_entries("FILES", files);
	put_entries("EXAMPLES", examples);
	printf(".SH SEE ALSO\n");
	for (size_t i = 0; see_also[i]; i++)
		printf(".BR %s%s\n", see_also[i], see_also[i + 1] ? " ," : "");
	printf(".PP\nThe pages of the documentation, in\n.IR share/doc/harness/docs ,\nabove all\n.IR "
	       "command\\-line.md ,\n"
	       ".IR evidence\\-format.md\nand\n.IR host\\-impact.md .\n");
	return EXIT_PASS;
}

const struct verb verb_manual = {
	.name = "manual",
	.words = "",
	.title = "print the manual page (for `make docs`)",
	.text = "What `man harness` shows, in the language of man(7).",
	.hidden = true,
	.run = run,
};

static const struct entry exits[] = {
	{ "0", "Pass: no leak was seen, every control held, and every protected zero was earned." },
	{ "1", "Fail: a leak, a control that did not hold, a mutant that was not caught; of a bundle, also any check "
	       "that failed." },
	{ "2", "Not established: something that has to be known is not." },
	{ "3", "An error of the harness: what was asked for could not be done, or not to its end." },
	{ "4", "Usage: a verb, flag or word that is not known, or one too many." },
	{ NULL, NULL },
};

static const struct entry environment[] = {
	{ "DOCKER_HOST",
	  "Where it begins with unix://, the engine's socket, unless `--socket` names one. Any other value "
	  "is refused: an engine elsewhere cannot be watched from here." },
	{ "NO_COLOR", "Where it holds anything, no colours." },
	{ "TERM", "Where it is unset, empty or dumb, no colours and no lines that are taken back." },
	{ "SUDO_UID, SUDO_GID", "What root writes belongs to this user." },
	{ NULL, NULL },
};

static const struct entry files[] = {
	{ "runs/latest/confinement-evidence.tar.gz",
	  "The bundle of the last run, below the working folder or `--out`." },
	{ "share/harness/scenarios", "The scenarios, beside the folder of the program." },
	{ "libexec/harness",
	  "The programs that take part in a run, and the agent. A bundle holds the digest of each." },
	{ "/var/run/docker.sock", "The engine's socket, where nothing else is named." },
	{ "/tmp/harness-arm-*", "What an arm needs while it lasts, for its owner alone. `harness clean` removes what a "
				"killed run left." },
	{ NULL, NULL },
};

static const struct entry examples[] = {
	{ "harness doctor", "What this host lacks, and what mends it." },
	{ "harness run --dry-run all", "The plan, and what it would touch on this host; needs no root." },
	{ "sudo harness run baseline", "One confined session, and the mutants that its zeros need." },
	{ "harness verify runs/latest/confinement-evidence.tar.gz",
	  "The same verdict once more, from the bundle alone." },
	{ "sudo harness run --gateway http://127.0.0.1:8080/mcp --gateway-sink /tmp/sink baseline",
	  "Another gateway in the place of ours." },
	{ "harness list --json", "What there is to run, for a program." },
	{ NULL, NULL },
};

static const char *const see_also[] = { "harness\\-gateway (1)", "docker (1)", "sha256sum (1)", NULL };
