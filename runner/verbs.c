/* The table of verbs, and help, which is made from it. */
#include <stdio.h>
#include <string.h>

#include "runner/verb.h"

static int run_help(const struct options *options, struct error **err)
{
	char safe[64];

	for (size_t i = 0; options->words_count && verbs[i]; i++) {
		if (strcmp(verbs[i]->name, options->words[0]) == 0) {
			printf("usage: harness %s%s%s\n\n%s.\n\n%s\n\n", verbs[i]->name, *verbs[i]->words ? " " : "",
			       verbs[i]->words, verbs[i]->title, verbs[i]->text);
			options_help(verbs[i]->name);
			return EXIT_PASS;
		}
	}
	if (options->words_count)
		return error_set(err, ERROR_USAGE, "there is no verb '%s': see `harness help`",
				 error_safe(options->words[0], safe, sizeof(safe)));
	printf("harness locks an adversarial agent in a container, watches every way out from outside, takes\n"
	       "protections away to prove that the observers would have seen a leak, and seals the numbers in a "
	       "bundle.\n\n"
	       "usage: harness VERB [FLAGS] [WORDS]\n\n");
	for (size_t i = 0; verbs[i]; i++)
		if (!verbs[i]->hidden)
			printf("  %-8s %-22s %s\n", verbs[i]->name, verbs[i]->words, verbs[i]->title);
	printf("\n");
	options_help(NULL);
	printf("\nexit codes: 0 pass, 1 fail (a leak, a control that did not hold, a mutant that was not caught), 2 "
	       "not established,\n"
	       "            3 an error of the harness, 4 usage\n");
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
	&verb_run, &verb_list, &verb_verify, &verb_clean, &verb_doctor, &verb_help, &verb_arm, NULL,
};
