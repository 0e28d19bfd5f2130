/*
 * harness-gateway: an MCP server that stands between a client and its tools, and decides each call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/nearest.h"
#include "gateway/audit_store.h"
#include "gateway/catalog_add.h"
#include "gateway/decision.h"
#include "gateway/serve.h"

#define NAME "harness-gateway"
#define EXIT_ERROR 3
#define EXIT_USAGE 4

/* Whether the words behind a verb are what it takes is its own business: EXIT_USAGE when they are not. */
struct verb {
	const char *name;
	const char *words; /* what it takes, for help; NULL: for an arm alone */
	const char *title;
	int (*run)(int argc, char **argv, struct error **err);
};

static const struct verb verbs[];

/* Says how the verb is used. What was typed is not repeated: a word may be a token that stood in the wrong place. */
static int wrong_words(const struct verb *verb)
{
	fprintf(stderr, NAME ": wrong words; it is used so: " NAME " %s%s%s\n", verb->name,
		verb->words && verb->words[0] ? " " : "", verb->words ? verb->words : "");
	return EXIT_USAGE;
}

static int unknown_verb(const char *name)
{
	struct nearest nearest = { .word = name };

	for (const struct verb *verb = verbs; verb->name; verb++)
		if (verb->words)
			nearest_offer(&nearest, verb->name);
	if (nearest.name[0])
		fprintf(stderr, NAME ": wrong words; did you mean \"" NAME " %s\"?\n", nearest.name);
	else
		fputs(NAME ": wrong words; \"" NAME " help\" lists them\n", stderr);
	return EXIT_USAGE;
}

static int print_help(void)
{
	fputs(NAME " " HARNESS_VERSION ": an MCP server between a client and its tools, which decides each call\n\n",
	      stdout);
	for (const struct verb *verb = verbs; verb->name; verb++)
		if (verb->words)
			printf("  " NAME " %s%s%s\n      %s\n", verb->name, verb->words[0] ? " " : "", verb->words,
			       verb->title);
	puts("\nExit codes: 0 done, 1 a check failed, 3 it could not be done, 4 wrong words.");
	return 0;
}

static int run_serve(int argc, char **argv, struct error **err)
{
	struct serve_options options = { .config = NULL };

	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--stdio") == 0)
			options.stdio = true;
		else if (strcmp(argv[i], "--config") == 0 && i + 1 < argc)
			options.config = argv[++i];
		else
			return EXIT_USAGE;
	}
	return options.config ? serve(&options, err) : EXIT_USAGE;
}

static int run_embedded(int argc, char **argv, struct error **err)
{
	const struct serve_options options = { .stdio = true };

	(void)argv;
	return argc == 0 ? serve(&options, err) : EXIT_USAGE;
}

/* What is denied for ever, and was hardly meant so. */
static void warn(const struct gateway_config *config)
{
	for (size_t i = 0; i < config->sink_policy.tools_count; i++) {
		const struct gateway_ceiling *row = &config->sink_policy.tools[i];

		if (!gateway_config_tool(config, row->tool))
			printf("note    sinkPolicy.toolMaxSensitivity[%zu].tool is not in the catalog\n", i);
		if (gateway_config_rank(config, row->max) == LABEL_UNKNOWN)
			printf("note    sinkPolicy.toolMaxSensitivity[%zu].max has no rank: its calls are denied\n", i);
	}
	for (size_t i = 0; i < config->catalog_count; i++) {
		const struct gateway_tool *row = &config->catalog[i];

		if (gateway_config_rank(config, row->sensitivity) == LABEL_UNKNOWN)
			printf("note    catalog[%zu].sensitivity has no rank: its calls are denied\n", i);
		if (!gateway_config_ceiling(config, row->tool))
			printf("note    catalog[%zu].tool has no ceiling: its calls are denied\n", i);
	}
	if (gateway_config_rank(config, config->session.sensitivity) == LABEL_UNKNOWN)
		puts("note    session.sensitivity has no rank: every call is denied");
	if (gateway_config_rank(config, config->sink_policy.response) == LABEL_UNKNOWN)
		puts("note    sinkPolicy.responseMaxSensitivity has no rank: every answer is withheld");
}

static int run_check(int argc, char **argv, struct error **err)
{
	cleanup_free struct gateway_config *config = calloc(1, sizeof(*config));

	if (argc != 2 || strcmp(argv[0], "--config") != 0)
		return EXIT_USAGE;
	if (!config)
		return error_set(err, ERROR_MEMORY, "no memory for a configuration");
	if (serve_check(argv[1], config, err) < 0)
		return -1;
	warn(config);
	printf("policy  sha256:%s\ncatalog sha256:%s\ntools   %zu of %zu servers\n", config->policy_sha256,
	       config->catalog_sha256, config->catalog_count, config->servers_count);
	return 0;
}

static int run_audit(int argc, char **argv, struct error **err)
{
	struct audit_verdict verdict = { .broken_at = -1 };

	if (argc != 2 || strcmp(argv[0], "verify") != 0)
		return EXIT_USAGE;
	if (audit_verify(argv[1], &verdict, err) < 0)
		return -1;
	printf("entries %lld in %lld sessions\n", (long long)verdict.entries, (long long)verdict.sessions);
	if (!verdict.reason) {
		puts("the chain holds");
		return 0;
	}
	printf("the chain is broken at entry %lld: %s\n", (long long)verdict.broken_at, verdict.reason);
	return 1;
}

static int run_help(int argc, char **argv, struct error **err)
{
	(void)argc;
	(void)argv;
	(void)err;
	return print_help();
}

static int run_version(int argc, char **argv, struct error **err)
{
	(void)argc;
	(void)argv;
	(void)err;
	puts(NAME " " HARNESS_VERSION);
	return 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	const char *name = argc > 1 ? argv[1] : "help";
	const struct verb *verb = verbs;
	int status;

	while (verb->name && strcmp(verb->name, name) != 0)
		verb++;
	if (!verb->name)
		return unknown_verb(name);
	status = verb->run(argc > 2 ? argc - 2 : 0, argv + 2, &err);
	if (status == EXIT_USAGE)
		return wrong_words(verb);
	if (status >= 0)
		return status;
	fprintf(stderr, NAME ": %s\n", error_text(err));
	return EXIT_ERROR;
}

static const struct verb verbs[] = {
	{ "serve", "--config FILE [--stdio]", "serves MCP over HTTP on loopback, or on stdin and stdout", run_serve },
	{ "check", "--config FILE", "reads a configuration and its catalog, and prints what they hash to", run_check },
	{ "catalog", CATALOG_ADD_WORDS, "asks a server for its tools, and writes them down as approved", catalog_add },
	{ "audit", "verify DATABASE", "checks the chain of an audit database, of ours or of the reference gateway",
	  run_audit },
	{ "embedded", NULL, NULL, run_embedded },
	{ "help", "", "this list", run_help },
	{ "--help", NULL, NULL, run_help },
	{ "--version", "", "its version", run_version },
	{ NULL, NULL, NULL, NULL },
};
