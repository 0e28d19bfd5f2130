/* harness: the verb is looked up, its options parsed, its error told in one line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/spawn.h"
#include "runner/document.h"
#include "runner/verb.h"

static bool asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* As of the flags of a verb, which are refused with a value too: see options_parse(). */
static int refuse_value(const char *word, struct error **err)
{
	static const char *const names[] = { "--help", "-h", "--version" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);

		if (strncmp(word, names[i], length) == 0 && word[length] == '=')
			return error_set(err, ERROR_USAGE, "%s takes no value", names[i]);
	}
	return 0;
}

/* --help and --version are verbs that look like flags. */
static const char *verb_name(int argc, char **argv)
{
	return argc < 2 || asks_help(argv[1]) ? "help" : argv[1];
}

static int exit_code(const struct error *error)
{
	return error_code(error) == ERROR_USAGE ? EXIT_USAGE : EXIT_HARNESS;
}

struct shortage {
	int number;
	const char *advice;
};
static const struct shortage shortages[];

/* One line, and what to do where the host is short of something. */
static int report(const struct error *error)
{
	const char *advice = "", *before = "";

	for (const struct shortage *row = shortages; row->advice; row++) {
		if (row->number == error_number(error)) {
			before = ": ";
			advice = row->advice;
		}
	}
	fprintf(stderr, "harness: %s%s%s\n", error_text(error), before, advice);
	return exit_code(error);
}

/* Whoever reads a document finds one, also of a verb that failed. */
static int report_failed(const struct verb *verb, const struct options *options, const struct error *error)
{
	if (options->json)
		(void)document_error(verb->name, exit_code(error), error_text(error));
	return report(error);
}

/* What nobody could read was not said; a leak stays a leak. */
static int close_output(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "harness: standard output did not take everything: give it a reader, or space\n");
	return code == EXIT_FAIL || code == EXIT_USAGE ? code : EXIT_HARNESS;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *error = NULL;
	cleanup_free const char **storage = NULL;
	const struct verb *verb;
	struct options options;
	int code;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("harness %s\n", HARNESS_VERSION);
		return EXIT_PASS;
	}
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (refuse_value(argv[i], &error) < 0)
			return report(error);
	verb = verb_find(verb_name(argc, argv), &error);
	if (!verb)
		return report(error);
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (!asks_help(argv[i]))
			continue;
		argv[2] = argv[1];
		argc = 3;
		verb = &verb_help;
	}
	if (process_harden(false, 0, &error) < 0)
		return report(error);
	if (options_parse(verb->name, argc - 2, argv + 2, &options, &storage, &error) < 0)
		return report(error);
	if (verb->engine && options_socket(options.socket, &options.socket, &error) < 0)
		return report_failed(verb, &options, error);
	code = verb->run(&options, &error);
	return code < 0 ? report_failed(verb, &options, error) : close_output(code);
}

static const struct shortage shortages[] = {
	{ .number = ENOSPC, .advice = "free space there, or keep the runs elsewhere with --out" },
	{ .number = EDQUOT, .advice = "free space there, or keep the runs elsewhere with --out" },
	{ .number = EFBIG, .advice = "raise the limit of a file's size (ulimit -f unlimited)" },
	{ .number = EMFILE, .advice = "raise the limit of open files (ulimit -n 1024)" },
	{ .number = ENFILE, .advice = "close programs: this host has no more open files" },
	{ .number = ENOMEM, .advice = "free memory, or raise its limit (ulimit -v unlimited)" },
	{ .advice = NULL },
};
