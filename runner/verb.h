/* The verbs of the command line, one file each, one signature, one table. Help is made from the same rows. */
#ifndef HARNESS_RUNNER_VERB_H
#define HARNESS_RUNNER_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* Design section 10; the stronger wins in the order 4, 1, 3, 2, 0. */
enum exit_code { EXIT_PASS = 0, EXIT_FAIL = 1, EXIT_NOT_ESTABLISHED = 2, EXIT_HARNESS = 3, EXIT_USAGE = 4 };

/* What a flag that may be repeated was given, in order. */
#define OPTION_WORDS_MAX 128
struct option_words {
	const char *words[OPTION_WORDS_MAX];
	size_t count;
};

struct options {
	const char *socket; /* the engine's: from --socket, DOCKER_HOST or the default */
	const char *postgres; /* folder of the socket of a PostgreSQL cluster that is named, or NULL */
	const char *out; /* folder of the runs */
	const char *target; /* where merge and recheck write to, or NULL */
	const char *scenarios; /* folder of the scenarios */
	const char *effects; /* folder of the declarations */
	/* The gateway under test: "embedded", "cmcp" or a URL; of a URL: the one with the raised ceiling, the file with
	 * its token, and that of its recorder. Each NULL where it is not given. */
	const char *gateway, *gateway_raised, *gateway_token, *gateway_sink;
	const char *report, *format; /* of a report: its file or "-", and what it is; or NULL */
	const char *sign, *attest; /* private keys: of the run's bundle, of what verify found */
	const char *key, *attestation; /* verify: whose signature, and where it is if not beside the bundle */
	struct option_words assessments, assessors; /* files with statements, and public keys of who may make them */
	const char *scenario; /* of a replay, alone; or NULL */
	const char *session; /* of a policy update, or NULL */
	int jobs;
	int64_t repeat; /* of each arm */
	int64_t shard, shards; /* 1 of 1: the whole plan */
	int64_t seed; /* or -1: one is drawn */
	bool quiet, verbose, dry_run, require_signature, json;
	const char *const *words; /* what stands beside the flags */
	size_t words_count;
};

struct verb {
	const char *name;
	const char *words; /* what it takes, for the usage line */
	const char *title; /* one line */
	const char *text; /* for `harness help VERB` */
	bool hidden;
	bool engine; /* asks an engine: options->socket is then its path; for others the flag, or NULL */
	/* Returns an exit code, or negative with *err set (ERROR_USAGE: exit 4, else 3). */
	int (*run)(const struct options *options, struct error **err);
};

extern const struct verb verb_run, verb_list, verb_verify, verb_clean, verb_doctor, verb_policy, verb_help, verb_arm;
extern const struct verb verb_merge, verb_recheck, verb_diff, verb_replay;
extern const struct verb verb_completion, verb_manual, verb_report, verb_sign;
extern const struct verb verb_effects, verb_page;
extern const struct verb *const verbs[]; /* NULL-terminated */
/* NULL and ERROR_USAGE, with the verb that was probably meant, when there is none of that name. */
const struct verb *verb_find(const char *name, struct error **err) MUST_CHECK;

/* Parses the words after the verb. *storage is freed by the caller after use. */
int options_parse(const char *verb, int argc, char **argv, struct options *out, const char ***storage,
		  struct error **err) MUST_CHECK;
/* A unix:// DOCKER_HOST is honoured, any other is refused by name. */
int options_socket(const char *flag, const char **out, struct error **err) MUST_CHECK;
/* The flags of a verb, one line each, for help; NULL: of all. */
void options_help(const char *verb);

/* What help, the manual page and the completions say of a flag; NULL: it has no letter, no argument. */
struct flag_row {
	const char *name, *letter, *argument, *title;
};
/* The flag at `index` of the table, if there is one; *takes is whether `verb` (NULL: any) takes it. */
bool options_row(size_t index, const char *verb, struct flag_row *out, bool *takes);

#endif
