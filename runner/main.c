/* harness: the verb is looked up, its options parsed, its error told in one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/spawn.h"
#include "runner/verb.h"

static const struct verb *find(const char *name)
{
	for (size_t i = 0; verbs[i]; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

/* --help and --version are verbs that look like flags. */
static const char *verb_name(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return "help";
	return argv[1];
}

static int report(struct error *error)
{
	fprintf(stderr, "harness: %s\n", error_text(error));
	return error_code(error) == ERROR_USAGE ? EXIT_USAGE : EXIT_HARNESS;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *error = NULL;
	cleanup_free const char **storage = NULL;
	const struct verb *verb;
	struct options options;
	char name[64];
	int code;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("harness %s\n", HARNESS_VERSION);
		return EXIT_PASS;
	}
	verb = find(verb_name(argc, argv));
	if (!verb) {
		fprintf(stderr, "harness: there is no verb '%s': see `harness help`\n",
			error_safe(argv[1], name, sizeof(name)));
		return EXIT_USAGE;
	}
	if (argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
		argv[2] = argv[1];
		verb = &verb_help;
	}
	if (process_harden(false, 0, &error) < 0)
		return report(error);
	if (options_parse(verb->name, argc - 2, argv + 2, &options, &storage, &error) < 0)
		return report(error);
	if (verb->engine && options_socket(options.socket, &options.socket, &error) < 0)
		return report(error);
	code = verb->run(&options, &error);
	return code < 0 ? report(error) : code;
}
