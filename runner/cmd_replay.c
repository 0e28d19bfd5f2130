/* `harness replay`: the run of a bundle, made again, and whether it came out the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "reports/bundle.h"
#include "runner/bundle_file.h"
#include "runner/diff_print.h"
#include "runner/document.h"
#include "runner/run.h"
#include "runner/run_replay.h"

struct replaying {
	const struct options *options; /* as they were given */
	struct options again; /* as the bundle's run had them */
	const char *words[PLAN_SELECTORS_MAX];
	struct opened *opened;
	struct verify_report report;
	int fd;
	struct run run;
	enum replay_reason reason;
	char why[256]; /* of a host on which nothing can be run, or "" */
};

static void replaying_free(struct replaying *replaying)
{
	run_free(&replaying->run);
	opened_free(replaying->opened);
	fd_close(&replaying->fd);
	free(replaying);
}

static void replaying_cleanup(struct replaying **replaying)
{
	if (*replaying)
		replaying_free(*replaying);
}
#define cleanup_replaying __attribute__((cleanup(replaying_cleanup)))

static FILE *stream_of(const struct replaying *replaying)
{
	return replaying->options->json ? stderr : stdout;
}

/* The same words, repetitions, shard and seed; where to and with which engine is the caller's. */
static int prepare(struct replaying *replaying, struct error **err)
{
	const struct manifest_origin *origin = &opened_manifest(replaying->opened)->origin;
	const struct options *options = replaying->options;
	struct options *again = &replaying->again;
	size_t count = 0;
	const struct scenario *scenarios = opened_scenarios(replaying->opened, &count);

	*again = *options;
	again->words = replaying->words;
	again->words_count = origin->selection_count;
	for (size_t i = 0; i < origin->selection_count; i++)
		replaying->words[i] = origin->selection[i];
	again->repeat = origin->repeat;
	again->seed = origin->seed;
	again->shard = origin->shard.index;
	again->shards = origin->shard.of;
	if (!again->gateway)
		again->gateway = gateway_kind_names[opened_manifest(replaying->opened)->gateway.kind];
	if (!options->scenario)
		return 0;
	if (!scenario_find(scenarios, count, options->scenario))
		return error_set(err, ERROR_USAGE, "--scenario: the bundle has none of that id");
	replaying->words[0] = options->scenario;
	again->words_count = 1;
	again->shard = again->shards = 1;
	return 0;
}

/* What keeps it from being made again is an answer, and no error: a gateway that is not here, a host that is not fit.
 */
static int keep_why(struct replaying *replaying, enum replay_reason reason, struct error **why, struct error **err)
{
	if (error_code(*why) != ERROR_REFUSED && error_code(*why) != ERROR_USAGE) {
		error_keep_first(err, why);
		return -1;
	}
	replaying->reason = reason;
	snprintf(replaying->why, sizeof(replaying->why), "%s", error_text(*why));
	return 0;
}

static int ask(struct replaying *replaying, struct error **err)
{
	cleanup_error struct error *why = NULL;
	struct run *run = &replaying->run;

	if (!replaying->opened || replaying->report.newer) {
		replaying->reason = REPLAY_NOT_INTACT;
		if (replaying->report.newer)
			snprintf(replaying->why, sizeof(replaying->why), "%s", VERIFY_NEWER);
		return 0;
	}
	if (opened_manifest(replaying->opened)->origin.merged_count > 0) {
		replaying->reason = REPLAY_MERGED;
		return 0;
	}
	/* By its own URL alone it can be found again. */
	if (opened_manifest(replaying->opened)->gateway.kind == GATEWAY_URL && !replaying->options->gateway) {
		replaying->reason = REPLAY_GATEWAY;
		return 0;
	}
	if (run_gateway(&replaying->again, &run->context.gateway, &why) < 0)
		return keep_why(replaying, REPLAY_GATEWAY, &why, err);
	if (run_plan(run, &why) < 0)
		return keep_why(replaying, REPLAY_SCENARIOS, &why, err);
	return run_replay_ready(run, &replaying->reason, err);
}

static int make_again(struct replaying *replaying, struct error **err)
{
	cleanup_error struct error *why = NULL;
	struct run *run = &replaying->run;
	int code;

	if (run_key(run, err) < 0)
		return -1;
	progress_open(&run->progress, &replaying->again);
	run->progress.plan = run->plan;
	run->progress.declared = &run->declared;
	run->progress.seed = run->seed;
	progress_plan(&run->progress);
	if (run_whole(run, &code, &why) == 0)
		return 0;
	if (run_replay_plan(run) != REPLAY_READY) {
		replaying->reason = REPLAY_PLAN;
		return 0;
	}
	return keep_why(replaying, REPLAY_HOST, &why, err);
}

static int code_of(const struct replaying *replaying)
{
	if (replaying->reason != REPLAY_READY)
		return EXIT_NOT_ESTABLISHED;
	return replaying->run.replay->outcome == REPLAY_DIVERGED ? EXIT_FAIL : EXIT_PASS;
}

static void print_text(const struct replaying *replaying)
{
	const struct replay *replay = replaying->run.replay;
	const struct verify_check *failed = bundle_file_failed(&replaying->report);
	FILE *out = stream_of(replaying);

	if (replaying->reason != REPLAY_READY) {
		fprintf(out, "replay: %s: %s\n", replay_outcome_names[REPLAY_NOT_ATTEMPTED],
			replay_reason_names[replaying->reason]);
		if (replaying->why[0])
			fprintf(out, "  %s\n", replaying->why);
		if (failed)
			fprintf(out, "  %s: %s\n", failed->id, failed->reason);
		return;
	}
	fprintf(out, "replay: %s: %lld cells compared, %lld differences\n", replay_outcome_names[replay->outcome],
		(long long)replay->cells, (long long)replay->differences);
	diff_print_differences(replay->diverged, replay->diverged_count, out);
	if (replay->environment_count)
		fprintf(out, "on something else:\n");
	diff_print_facts(replay->environment, replay->environment_count, out);
}

static void put_replay(const struct replaying *replaying, struct json_writer *json)
{
	const struct replay *replay = replaying->run.replay;
	char bundle[PATH_MAX + sizeof(BUNDLE_ARCHIVE)];

	snprintf(bundle, sizeof(bundle), "%s/%s", replaying->run.store.path, BUNDLE_ARCHIVE);
	document_path(json, "bundle", bundle);
	json_member_int(json, "cells", replay->cells);
	json_member_int(json, "differences", replay->differences);
	json_put_key(json, "diverged");
	diff_put_differences(replay->diverged, replay->diverged_count, json);
	json_put_key(json, "environment");
	diff_put_facts(replay->environment, replay->environment_count, json);
}

static int print_document(const struct replaying *replaying, struct error **err)
{
	cleanup_buf struct buf document = BUF(DOCUMENT_BYTES);
	bool attempted = replaying->reason == REPLAY_READY;
	enum replay_outcome outcome =
		attempted ? (enum replay_outcome)replaying->run.replay->outcome : REPLAY_NOT_ATTEMPTED;
	struct json_writer json;

	document_begin(&json, &document, "replay", code_of(replaying));
	json_member_string(&json, "outcome", replay_outcome_names[outcome]);
	document_optional(&json, "reason", attempted ? "" : replay_reason_names[replaying->reason]);
	document_optional(&json, "why", replaying->why);
	document_optional(&json, "replayOf", replaying->opened ? opened_manifest(replaying->opened)->run : "");
	json_member_string(&json, "sumsSha256", replaying->report.sums_sha256);
	if (attempted)
		put_replay(replaying, &json);
	document_end(&json);
	return document_print(&document, err);
}

static int replay(struct replaying *replaying, struct error **err)
{
	const struct options *options = replaying->options;
	struct run *run = &replaying->run;

	if (bundle_file_open(options->words[0], "replay", &replaying->fd, &replaying->report, &replaying->opened, err) <
	    0)
		return -1;
	run->replayed = replaying->opened;
	run->replayed_sums = replaying->report.sums_sha256;
	run->replay_part = options->scenario != NULL;
	if ((replaying->opened && prepare(replaying, err) < 0) || ask(replaying, err) < 0)
		return -1;
	if (replaying->reason == REPLAY_READY && make_again(replaying, err) < 0)
		return -1;
	print_text(replaying);
	if (options->json && print_document(replaying, err) < 0)
		return -1;
	return code_of(replaying);
}

static int run_verb(const struct options *options, struct error **err)
{
	cleanup_replaying struct replaying *replaying = calloc(1, sizeof(*replaying));

	if (!replaying)
		return error_set(err, ERROR_MEMORY, "no memory to replay");
	replaying->options = options;
	replaying->fd = -1;
	run_init(&replaying->run, &replaying->again);
	if (options->words_count != 1)
		return error_set(err, ERROR_USAGE, "replay takes one bundle: harness replay runs/latest/" BUNDLE_NAME);
	return replay(replaying, err);
}

const struct verb verb_replay = {
	.name = "replay",
	.words = "BUNDLE",
	.title = "run what a bundle's run did again, and say whether it came out the same",
	.text = "Same scenarios, repetitions, shard and seed, into a new bundle that names the first. What must be "
		"equal "
		"before: this\n"
		"program, the scenarios, the profile, the agent's image, the kind of gateway, the plan; else nothing "
		"is run. "
		"Then each\n"
		"cell, mutation and arm is compared. --scenario ID runs that one alone, with the mutants that it "
		"needs. "
		"Needs root and\n"
		"an engine, as run does. OUT/latest is then the new run. Exit codes: 0 REPRODUCED, or "
		"REPRODUCED_ENV_DIFFERS with what differs; 1 "
		"DIVERGED, "
		"with the\n"
		"cells; 2 NOT_ATTEMPTED, with the reason; 3 an error of the harness, 4 usage.",
	.engine = true,
	.run = run_verb,
};
