/* `harness completion`: what a shell needs to complete our words; and what the words of the tables mean to it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/nearest.h"
#include "runner/completion.h"
#include "runner/verb.h"

struct meaning {
	const char *word;
	enum completion_kind kind;
	const char *words; /* of COMPLETION_WORDS */
};
static const struct meaning meanings[];

struct shell {
	const char *name;
	void (*print)(void);
};
static const struct shell shells[];

enum completion_kind completion_of_argument(const char *argument, char words[COMPLETION_WORDS_MAX])
{
	words[0] = '\0';
	for (const struct meaning *row = meanings; argument && row->word; row++) {
		if (strcmp(row->word, argument) != 0)
			continue;
		snprintf(words, COMPLETION_WORDS_MAX, "%s", row->words ? row->words : "");
		return row->kind;
	}
	return COMPLETION_NONE;
}

static enum completion_kind kind_of(const char *words, size_t length)
{
	for (const struct meaning *row = meanings; row->word; row++)
		if (memmem(words, length, row->word, strlen(row->word)))
			return row->kind;
	return COMPLETION_NONE;
}

bool completion_behind(const char *verb_words, size_t at, char word[COMPLETION_WORDS_MAX], enum completion_kind *kind)
{
	const char *from = verb_words + 1;
	size_t length;

	if (verb_words[0] != '[' || !islower((unsigned char)*from))
		return false;
	for (; at > 0 && *from; at--) {
		from += strcspn(from, "|");
		from += *from == '|';
	}
	length = strcspn(from, "|");
	if (length == 0)
		return false;
	snprintf(word, COMPLETION_WORDS_MAX, "%.*s", (int)strcspn(from, " |]"), from);
	*kind = kind_of(from, length);
	return true;
}

/* "show|revoke|restore TOOL" and "bash|zsh|fish" are words to choose from; "[SCENARIO|GROUP|all]..." names a kind. */
enum completion_kind completion_of_words(const char *verb_words, char words[COMPLETION_WORDS_MAX])
{
	size_t length = strcspn(verb_words, " ");
	char word[COMPLETION_WORDS_MAX];
	enum completion_kind behind;

	words[0] = '\0';
	for (size_t i = 0; completion_behind(verb_words, i, word, &behind); i++) {
		size_t used = strlen(words);

		snprintf(words + used, COMPLETION_WORDS_MAX - used, "%s%s", i ? " " : "", word);
	}
	if (words[0])
		return COMPLETION_WORDS;
	if (islower((unsigned char)verb_words[0])) {
		snprintf(words, COMPLETION_WORDS_MAX, "%.*s", (int)length, verb_words);
		for (char *at = words; (at = strchr(at, '|'));)
			*at = ' ';
		return COMPLETION_WORDS;
	}
	return kind_of(verb_words, strlen(verb_words));
}

static int run(const struct options *options, struct error **err)
{
	struct nearest nearest = { .word = options->words_count == 1 ? options->words[0] : "" };

	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE, "completion takes one shell: bash, zsh or fish");
	for (const struct shell *shell = shells; shell->name; shell++) {
		if (strcmp(shell->name, options->words[0]) == 0) {
			shell->print();
			return EXIT_PASS;
		}
		nearest_offer(&nearest, shell->name);
	}
	return nearest_error(&nearest, "shell", "there is completion for bash, zsh and fish", err);
}

const struct verb verb_completion = {
	.name = "completion",
	.words = "bash|zsh|fish",
	.title = "print what makes a shell complete verbs, flags and scenarios",
	.text = "A package and `make install` put it where the shell finds it. Without them, for one session:\n"
		"`source <(harness completion bash)`, the same with zsh, `harness completion fish | source`.",
	.run = run,
};

static const struct shell shells[] = {
	{ .name = "bash", .print = completion_bash },
	{ .name = "zsh", .print = completion_zsh },
	{ .name = "fish", .print = completion_fish },
	{ .name = NULL },
};

/* Of words behind each other, as in "KEY BUNDLE", the first row that is among them counts for all. */
static const struct meaning meanings[] = {
	{ .word = "KEY", .kind = COMPLETION_FILE },
	{ .word = "FOLDER", .kind = COMPLETION_FOLDER },
	{ .word = "DIR", .kind = COMPLETION_FOLDER },
	{ .word = "BUNDLE", .kind = COMPLETION_BUNDLE },
	{ .word = "FILE", .kind = COMPLETION_FILE },
	{ .word = "PATH", .kind = COMPLETION_FILE },
	{ .word = "SCENARIO", .kind = COMPLETION_SCENARIO },
	{ .word = "VERB", .kind = COMPLETION_VERB },
	{ .word = "show ID", .kind = COMPLETION_EFFECT },
	{ .word = "KIND", .kind = COMPLETION_WORDS, .words = "embedded cmcp" },
	{ .word = "FORMAT", .kind = COMPLETION_WORDS, .words = "html junit ctrf" },
	{ .word = NULL },
};
