/* One table of flags for all verbs. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "core/nearest.h"
#include "core/postgres.h"
#include "oracle/observation.h"
#include "runner/verb.h"

#define DEFAULT_SOCKET "/var/run/docker.sock"
#define DEFAULT_OUT "runs"
#define DEFAULT_JOBS 2
#define JOBS_MAX 16

enum flag_type { FLAG_BOOL, FLAG_TEXT, FLAG_TEXTS, FLAG_JOBS, FLAG_REPEAT, FLAG_SHARD, FLAG_SEED };
struct flag {
	const char *name, *letter; /* "--socket", or NULL for none; "-j" */
	const char *argument; /* its name in help, or NULL */
	const char *title;
	const char *verbs; /* that take it, separated by spaces */
	enum flag_type type;
	size_t offset;
	size_t most; /* FLAG_TEXTS: so often */
};
static const struct flag flags[];
static const size_t flags_count;

/* Whether `verb` is one of the flag's words. */
static bool is_for(const struct flag *flag, const char *verb)
{
	size_t length = strlen(verb);

	for (const char *at = flag->verbs; (at = strstr(at, verb)); at += length)
		if ((at == flag->verbs || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

/* Whether the word is the flag, and what stands behind its "=". */
static bool is_named(const struct flag *flag, const char *word, const char **value)
{
	size_t length = strlen(flag->name);

	if (strcmp(word, flag->name) == 0 || (flag->letter && strcmp(word, flag->letter) == 0))
		return true;
	if (strncmp(word, flag->name, length) == 0 && word[length] == '=') {
		*value = word + length + 1;
		return true;
	}
	if (!flag->argument && flag->letter && strncmp(word, flag->letter, 2) == 0 && word[2] == '=') {
		*value = word + 3;
		return true;
	}
	if (flag->argument && flag->letter && strncmp(word, flag->letter, 2) == 0) {
		*value = word + 2;
		return true;
	}
	return false;
}

/* That of the verb, where flags of other verbs have the same name. */
static const struct flag *find(const char *verb, const char *word, const char **value)
{
	const struct flag *other = NULL;

	*value = NULL;
	for (size_t i = 0; i < flags_count; i++) {
		if (!is_named(&flags[i], word, value))
			continue;
		if (is_for(&flags[i], verb))
			return &flags[i];
		other = &flags[i];
	}
	return other;
}

/* Digits alone: no sign, no space, nothing behind them. Behind the last one stands `end`. */
static bool number(const char *text, char end, int64_t least, int64_t most, int64_t *out, const char **rest)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoll(text, &stop, 10);
	if (rest)
		*rest = stop + 1;
	return !errno && *stop == end && *out >= least && *out <= most;
}

static int jobs(const char *text, struct options *out, struct error **err)
{
	int64_t value;

	if (!number(text, '\0', 1, JOBS_MAX, &value, NULL))
		return error_set(err, ERROR_USAGE, "-j takes a whole number from 1 to %d", JOBS_MAX);
	out->jobs = (int)value;
	return 0;
}

static int repeat(const char *text, struct options *out, struct error **err)
{
	if (number(text, '\0', 1, PLAN_REPEAT_MAX, &out->repeat, NULL))
		return 0;
	return error_set(err, ERROR_USAGE, "--repeat takes a whole number from 1 to %d", PLAN_REPEAT_MAX);
}

static int shard(const char *text, struct options *out, struct error **err)
{
	const char *rest = NULL;

	if (number(text, '/', 1, PLAN_SHARDS_MAX, &out->shard, &rest) &&
	    number(rest, '\0', out->shard, PLAN_SHARDS_MAX, &out->shards, NULL))
		return 0;
	return error_set(err, ERROR_USAGE, "--shard takes I/N, as in 1/3: I from 1 to N, and N at most %d",
			 PLAN_SHARDS_MAX);
}

static int seed(const char *text, struct options *out, struct error **err)
{
	if (number(text, '\0', 0, EVIDENCE_INT_MAX, &out->seed, NULL))
		return 0;
	return error_set(err, ERROR_USAGE, "--seed takes a whole number from 0 to %lld", (long long)EVIDENCE_INT_MAX);
}

static int texts(const struct flag *flag, const char *value, struct option_words *out, struct error **err)
{
	if (out->count == flag->most)
		return error_set(err, ERROR_USAGE, "%s stands there more than %zu times", flag->name, flag->most);
	out->words[out->count++] = value;
	return 0;
}

static int take(const struct flag *flag, const char *value, struct options *out, struct error **err)
{
	char *member = (char *)out + flag->offset;

	switch (flag->type) {
	case FLAG_BOOL:
		*(bool *)(void *)member = true;
		return 0;
	case FLAG_TEXT:
		*(const char **)(void *)member = value;
		return 0;
	case FLAG_TEXTS:
		return texts(flag, value, (struct option_words *)(void *)member, err);
	case FLAG_JOBS:
		return jobs(value, out, err);
	case FLAG_REPEAT:
		return repeat(value, out, err);
	case FLAG_SHARD:
		return shard(value, out, err);
	case FLAG_SEED:
		return seed(value, out, err);
	}
	return error_set(err, ERROR_INTERNAL, "a flag of no type");
}

int options_socket(const char *flag, const char **out, struct error **err)
{
	const char *host = getenv("DOCKER_HOST");

	if (flag && strncmp(flag, "unix://", 7) == 0)
		flag += 7;
	if (!flag && host && *host) {
		if (strncmp(host, "unix://", 7) != 0)
			return error_set(
				err, ERROR_USAGE,
				"DOCKER_HOST is not a unix:// socket: a forwarded or remote engine cannot be watched "
				"from this host; unset it, or name a local socket with --socket");
		flag = host + 7;
	}
	*out = flag ? flag : DEFAULT_SOCKET;
	return 0;
}

/* Of the flags that the verb takes; a value behind "=" is no part of the name. */
static int unknown(const char *verb, const char *word, struct error **err)
{
	char name[NEAREST_MAX];
	struct nearest nearest = { .word = name };

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (size_t i = 0; i < flags_count; i++)
		if (is_for(&flags[i], verb))
			nearest_offer(&nearest, flags[i].name);
	return nearest_error(&nearest, "flag", "see `harness help`", err);
}

int options_parse(const char *verb, int argc, char **argv, struct options *out, const char ***storage,
		  struct error **err)
{
	bool only_words = false;

	*out = (struct options){
		.out = DEFAULT_OUT, .jobs = DEFAULT_JOBS, .repeat = 1, .shard = 1, .shards = 1, .seed = -1
	};
	*storage = calloc((size_t)argc + 1, sizeof(**storage));
	if (!*storage)
		return error_set(err, ERROR_MEMORY, "no memory for the words of the command line");
	for (int i = 0; i < argc; i++) {
		const struct flag *flag;
		const char *value;

		if (only_words || argv[i][0] != '-' || argv[i][1] == '\0') {
			(*storage)[out->words_count++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			only_words = true;
			continue;
		}
		flag = find(verb, argv[i], &value);
		if (!flag)
			return unknown(verb, argv[i], err);
		if (!is_for(flag, verb))
			return error_set(err, ERROR_USAGE, "%s is not for `harness %s`: see `harness help %s`",
					 flag->name, verb, verb);
		if (flag->type == FLAG_BOOL && value)
			return error_set(err, ERROR_USAGE, "%s takes no value", flag->name);
		if (flag->type != FLAG_BOOL && !value) {
			if (++i == argc)
				return error_set(err, ERROR_USAGE, "%s needs %s: see `harness help`", flag->name,
						 flag->argument);
			value = argv[i];
		}
		if (take(flag, value, out, err) < 0)
			return -1;
	}
	out->words = *storage;
	return 0;
}

void options_help(const char *verb)
{
	bool any = false;

	for (size_t i = 0; i < flags_count; i++) {
		char left[48];

		if (verb && !is_for(&flags[i], verb))
			continue;
		if (!any)
			printf("flags:\n");
		any = true;

		snprintf(left, sizeof(left), "%s%s%s%s%s", flags[i].letter ? flags[i].letter : "",
			 flags[i].letter ? ", " : "", flags[i].name, flags[i].argument ? " " : "",
			 flags[i].argument ? flags[i].argument : "");
		printf("  %-24s %s\n", left, flags[i].title);
	}
	if (!verb)
		printf("  %-24s %s\n", "--version", "say which version this is");
}

bool options_row(size_t index, const char *verb, struct flag_row *out, bool *takes)
{
	const struct flag *flag = &flags[index];

	if (index >= flags_count)
		return false;
	*out = (struct flag_row){
		.name = flag->name, .letter = flag->letter, .argument = flag->argument, .title = flag->title
	};
	*takes = !verb || is_for(flag, verb);
	return true;
}

static const struct flag flags[] = {
	{ .name = "--socket",
	  .verbs = "run clean doctor replay",
	  .argument = "PATH",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, socket),
	  .title = "the engine's socket (else a unix:// DOCKER_HOST, else " DEFAULT_SOCKET ")" },
	{ .name = "--postgres",
	  .verbs = "run clean doctor replay",
	  .argument = "FOLDER",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, postgres),
	  .title = "the socket's folder of a PostgreSQL cluster as ci/postgres starts it (default: " POSTGRES_FOLDER
		   "); run, replay: one that is named must answer" },
	{ .name = "--out",
	  .verbs = "run clean replay",
	  .argument = "FOLDER",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, out),
	  .title = "run, clean, replay: where runs are kept (default: " DEFAULT_OUT ")" },
	{ .name = "--out",
	  .verbs = "merge",
	  .argument = "FOLDER",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, target),
	  .title = "merge: where the merged bundle is written; it holds none yet" },
	{ .name = "--out",
	  .verbs = "recheck",
	  .argument = "FILE",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, target),
	  .title = "recheck: where verdicts.json, made again, is written" },
	{ .name = "--out",
	  .verbs = "report",
	  .argument = "FILE",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, report),
	  .title = "report: where to write it, - for standard output (default: as the bundle's member is named)" },
	{ .name = "--format",
	  .verbs = "report",
	  .argument = "FORMAT",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, format),
	  .title = "html (the default), or junit or ctrf" },
	{ .name = "--scenarios",
	  .verbs = "run list replay effects",
	  .argument = "FOLDER",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, scenarios),
	  .title = "scenarios of your own instead of those that came with harness" },
	{ .name = "--effects",
	  .verbs = "run list replay effects",
	  .argument = "FOLDER",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, effects),
	  .title = "declarations of your own instead of those that came with harness" },
	{ .name = "--session",
	  .verbs = "policy",
	  .argument = "ID",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, session),
	  .title = "which session is changed, as `harness policy show` lists them" },
	{ .name = "--gateway",
	  .verbs = "run replay",
	  .argument = "KIND",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, gateway),
	  .title = "embedded (the default), cmcp (installed by ci/cmcp), or the URL of one that runs: "
		   "http://127.0.0.1:PORT/mcp" },
	{ .name = "--gateway-sink",
	  .verbs = "run replay",
	  .argument = "FILE",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, gateway_sink),
	  .title = "of a gateway by URL: the file that its upstream, build/libexec/recorder FILE, appends to" },
	{ .name = "--gateway-raised",
	  .verbs = "run replay",
	  .argument = "URL",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, gateway_raised),
	  .title = "of a gateway by URL: the same with public.tool's ceiling at confidential; else that is not "
		   "planned" },
	{ .name = "--gateway-token-file",
	  .verbs = "run replay",
	  .argument = "FILE",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, gateway_token),
	  .title = "of a gateway by URL: holds its bearer token" },
	{ .name = "--jobs",
	  .verbs = "run replay",
	  .letter = "-j",
	  .argument = "N",
	  .type = FLAG_JOBS,
	  .offset = offsetof(struct options, jobs),
	  .title = "arms at the same time (default: 2)" },
	{ .name = "--repeat",
	  .verbs = "run",
	  .argument = "N",
	  .type = FLAG_REPEAT,
	  .title = "each arm N times, each recorded and judged, none chosen (default: 1)" },
	{ .name = "--shard",
	  .verbs = "run",
	  .argument = "I/N",
	  .type = FLAG_SHARD,
	  .title = "the I-th of N parts of the plan, with the mutants of its own cells; `harness merge` joins them" },
	{ .name = "--seed",
	  .verbs = "run",
	  .argument = "N",
	  .type = FLAG_SEED,
	  .title = "draws the order of the arms and the delays of faults, 0 the plan's; without it one is drawn and "
		   "recorded" },
	{ .name = "--scenario",
	  .verbs = "replay",
	  .argument = "SCENARIO",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, scenario),
	  .title = "of the bundle's scenarios this one alone, with the mutants that its cells need" },
	{ .name = "--dry-run",
	  .verbs = "run",
	  .type = FLAG_BOOL,
	  .offset = offsetof(struct options, dry_run),
	  .title = "run: print the plan and what it would touch, and stop" },
	{ .name = "--sign",
	  .verbs = "run replay",
	  .argument = "KEY",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, sign),
	  .title = "a private key (PEM, P-256 or Ed25519) that the bundle is signed with; its path, or fd:N" },
	{ .name = "--key",
	  .verbs = "verify",
	  .argument = "FILE",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, key),
	  .title = "the public key (PEM) that the bundle must be signed by; without it nobody is believed" },
	{ .name = "--attestation",
	  .verbs = "verify",
	  .argument = "FILE",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, attestation),
	  .title = "the signed statement, where it is not beside the bundle as BUNDLE.intoto.jsonl" },
	{ .name = "--assessment",
	  .verbs = "run effects",
	  .argument = "FILE",
	  .type = FLAG_TEXTS,
	  .most = OPTION_WORDS_MAX,
	  .offset = offsetof(struct options, assessments),
	  .title = "signed statements of an assessor, one a line; may be repeated" },
	{ .name = "--assessor",
	  .verbs = "run effects verify",
	  .argument = "KEY",
	  .type = FLAG_TEXTS,
	  .most = ASSESSORS_MAX,
	  .offset = offsetof(struct options, assessors),
	  .title = "the public key (PEM) of one whose statements count; may be repeated" },
	{ .name = "--attest",
	  .verbs = "verify",
	  .argument = "KEY",
	  .type = FLAG_TEXT,
	  .offset = offsetof(struct options, attest),
	  .title = "a private key: what passed is signed with it, beside the bundle in BUNDLE.svr.intoto.jsonl" },
	{ .name = "--require-signature",
	  .verbs = "verify",
	  .type = FLAG_BOOL,
	  .offset = offsetof(struct options, require_signature),
	  .title = "verify: a bundle that nobody signed is not established" },
	{ .name = "--quiet",
	  .verbs = "run verify merge replay effects",
	  .letter = "-q",
	  .type = FLAG_BOOL,
	  .offset = offsetof(struct options, quiet),
	  .title = "only the verdict and, of a run, the bundle's path; effects check: the exit code alone" },
	{ .name = "--verbose",
	  .verbs = "run replay",
	  .letter = "-v",
	  .type = FLAG_BOOL,
	  .offset = offsetof(struct options, verbose),
	  .title = "run: the steps of each arm as they happen, what declared observers write to their "
		   "standard error, and each cell on a line of its own" },
	{ .name = "--json",
	  .verbs = "run list doctor verify recheck diff merge replay effects",
	  .type = FLAG_BOOL,
	  .offset = offsetof(struct options, json),
	  .title = "one JSON document on stdout; what is for people goes to stderr" },
};
static const size_t flags_count = ARRAY_SIZE(flags);
