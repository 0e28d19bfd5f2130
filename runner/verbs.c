/* The table of verbs, and help, which is made from it. */
#include <stdio.h>
#include <string.h>

#include "core/nearest.h"
#include "runner/verb.h"

const struct verb *verb_find(const char *name, struct error **err)
{
	struct nearest nearest = { .word = name };

	if (name[0] == '-') {
		(void)error_set(err, ERROR_USAGE, "flags stand behind the verb: harness VERB [FLAGS] [WORDS]");
		return NULL;
	}
	for (size_t i = 0; verbs[i]; i++) {
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
		if (!verbs[i]->hidden)
			nearest_offer(&nearest, verbs[i]->name);
	}
	(void)nearest_error(&nearest, "verb", "see `harness help`", err);
	return NULL;
}

static int run_help(const struct options *options, struct error **err)
{
	const struct verb *verb;

	if (options->words_count) {
		verb = verb_find(options->words[0], err);
		if (!verb)
			return -1;
		printf("usage: harness %s%s%s\n\n%s.\n\n%s\n\n", verb->name, *verb->words ? " " : "", verb->words,
		       verb->title, verb->text);
		options_help(verb->name);
		return EXIT_PASS;
	}
	printf("harness locks an adversarial agent in a container, watches every way out from outside, takes\n"
	       "protections away to prove that the observers would have seen a leak, and seals the numbers in a "
	       "bundle.\n\n"
	       "usage: harness VERB [FLAGS] [WORDS]\n\n");
	for (size_t i = 0; verbs[i]; i++)
		if (!verbs[i]->hidden)
			printf("  %-10s %-24s %s\n", verbs[i]->name, verbs[i]->words, verbs[i]->title);
	printf("\n");
	options_help(NULL);
	printf("\nexit codes: 0 pass, 1 fail (a leak, a control that did not hold, a mutant that was not caught), 2 "
	       "not established,\n"
	       "            3 an error, of the harness or of a file that it was given, 4 usage\n");
	return EXIT_PASS;
}

const struct verb verb_help = {
	.name = "help",
	.words = "[VERB]",
	.title = "say what harness does, or what one verb does",
	.text = "Without a word: every verb and flag.",
	.run = run_help,
};

const struct verb *const verbs[] = {
	&verb_run,  &verb_list,   &verb_verify, &verb_recheck, &verb_diff,   &verb_merge,   &verb_replay,
	&verb_sign, &verb_report, &verb_clean,  &verb_doctor,  &verb_policy, &verb_effects, &verb_completion,
	&verb_help, &verb_arm,    &verb_manual, &verb_page,    NULL,
};
