/* `harness merge`: one bundle from those of all shards of a plan. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "reports/bundle.h"
#include "reports/claims.h"
#include "reports/summary.h"
#include "runner/bundle_file.h"
#include "runner/document.h"
#include "runner/store.h"
#include "runner/terminal.h"
#include "runner/verb.h"

#define MEMBER_BYTES ((size_t)BUNDLE_FILE_BYTES)
#define SUMMARY_BYTES ((size_t)4 * MIB)
#define TEMPORARY ".merged-observations"
#define WRITE_MS 60000
#define BATCH_BYTES ((size_t)64 * KIB)

struct merging {
	const struct options *options;
	struct opened *opened[PLAN_SHARDS_MAX];
	int fds[PLAN_SHARDS_MAX];
	struct merge_source sources[PLAN_SHARDS_MAX];
	size_t count;
	struct merged *merged;
	struct judgement *judgement;
	struct verdicts *verdicts;
	int folder, observations;
	/* Of the shard whose observations are read. */
	int64_t shard;
	int64_t lines;
	struct buf batch; /* of lines that were not written yet */
	struct buf text[MEMBERS];
	struct bundle_member members[MEMBERS];
	size_t members_count;
	struct manifest_facts facts;
	struct findings findings;
	struct bundle_identity identity;
	char refused[BUNDLE_FILE_WHY + 64]; /* why they cannot be merged, or "" */
	int64_t start;
};

static void merging_free(struct merging *merging)
{
	for (size_t i = 0; i < PLAN_SHARDS_MAX; i++) {
		opened_free(merging->opened[i]);
		fd_close(&merging->fds[i]);
	}
	for (int i = 0; i < MEMBERS; i++)
		buf_free(&merging->text[i]);
	buf_free(&merging->batch);
	judgement_free(merging->judgement);
	verdicts_free(merging->verdicts);
	merged_free(merging->merged);
	fd_close(&merging->observations);
	fd_close(&merging->folder);
	free(merging);
}

static void merging_cleanup(struct merging **merging)
{
	if (*merging)
		merging_free(*merging);
}
#define cleanup_merging __attribute__((cleanup(merging_cleanup)))

static void describe(struct merging *merging, size_t i, const struct verify_report *report)
{
	const struct opened *opened = merging->opened[i];
	const struct findings *findings = opened_findings(opened);
	struct merge_source *source = &merging->sources[i];

	*source = (struct merge_source){
		.manifest = opened_manifest(opened),
		.plan = findings->plan,
		.arms = findings->arms,
		.arms_count = findings->arms_count,
		.environment = findings->environment,
		.environment_length = findings->environment_length,
		.place = i,
	};
	source->scenarios = opened_scenarios(opened, &source->scenarios_count);
	memcpy(source->sums, report->sums_sha256, sizeof(source->sums));
}

/* Returns 1 where one of them is not intact. */
static int open_all(struct merging *merging, struct error **err)
{
	const struct options *options = merging->options;
	struct verify_report report;
	char why[BUNDLE_FILE_WHY];

	for (size_t i = 0; i < options->words_count; i++) {
		if (bundle_file_open(options->words[i], "merge", &merging->fds[i], &report, &merging->opened[i], err) <
		    0)
			return -1;
		/* What is not known of a shard would be lost in what is made of it. */
		if (!merging->opened[i] || report.newer) {
			bundle_file_why(&report, why);
			snprintf(merging->refused, sizeof(merging->refused), "bundle %zu does not verify: %s", i + 1,
				 why);
			return 1;
		}
		describe(merging, i, &report);
	}
	merging->count = options->words_count;
	return 0;
}

/* Returns 1 where they are not all shards of one plan. */
static int join(struct merging *merging, struct error **err)
{
	cleanup_error struct error *why = NULL;

	if (merge_sources(merging->sources, merging->count, &merging->merged, &why) == 0)
		return 0;
	if (error_code(why) != ERROR_INPUT) {
		error_keep_first(err, &why);
		return -1;
	}
	snprintf(merging->refused, sizeof(merging->refused), "%s", error_text(why));
	return 1;
}

static int open_folder(struct merging *merging, struct error **err)
{
	const char *path = merging->options->target;
	struct stat status;
	char safe[128];

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_errno(err, errno, "the folder '%s'", error_safe(path, safe, sizeof(safe)));
	merging->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (merging->folder < 0)
		return error_errno(err, errno, "the folder '%s'", error_safe(path, safe, sizeof(safe)));
	if (fstatat(merging->folder, BUNDLE_ARCHIVE, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return error_set(err, ERROR_USAGE, "'%s' holds a bundle already: name another folder with --out",
				 error_safe(path, safe, sizeof(safe)));
	store_give(AT_FDCWD, path);
	merging->observations = openat(merging->folder, TEMPORARY, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (merging->observations < 0)
		return error_errno(err, errno, "writing to the folder '%s'", error_safe(path, safe, sizeof(safe)));
	/* It has no name from here on, so that nothing of it can stay. */
	return unlinkat(merging->folder, TEMPORARY, 0) < 0 ? error_errno(err, errno, "the merged observations") : 0;
}

static int write_batch(struct merging *merging, struct error **err)
{
	if (fd_write_all(merging->observations, buf_string(&merging->batch), merging->batch.length,
			 clock_deadline(WRITE_MS), err) < 0)
		return error_wrap(err, "the merged observations");
	merging->batch.length = 0;
	return 0;
}

static int take_line(void *context, const char *line, size_t length, struct error **err)
{
	struct merging *merging = context;
	struct observation one;
	size_t arm = 0;

	if (observation_read(line, length, &one, err) < 0)
		return -1;
	merge_observation(merging->merged, merging->shard, ++merging->lines, &one);
	if (merging->lines > OBSERVATION_LINES)
		return error_set(err, ERROR_LIMIT, "more than %d observations in one bundle", OBSERVATION_LINES);
	if (judgement_arm(merging->judgement, one.arm, one.repetition, &arm) < 0)
		return error_set(err, ERROR_INTERNAL, "an observation of a shard is of no arm of the plan");
	if (judgement_see(merging->judgement, arm, &one, err) < 0 || observation_write(&one, &merging->batch, err) < 0)
		return -1;
	return merging->batch.length < BATCH_BYTES ? 0 : write_batch(merging, err);
}

static int judge_all(struct merging *merging, struct error **err)
{
	struct merged *merged = merging->merged;
	bool changed = false;

	if (judgement_new(merged->plan, merged->arms, merged->arms_count, BUNDLE_CELLS_MAX, &merging->judgement, err) <
	    0)
		return -1;
	for (size_t i = 0; i < merging->count; i++) {
		merging->shard = (int64_t)i + 1;
		if (opened_observations(merging->fds[merging->sources[i].place], take_line, merging, err) < 0)
			return -1;
	}
	if (write_batch(merging, err) < 0 || merge_changed(&merged->merge, &changed, err) < 0)
		return -1;
	return judgement_end(merging->judgement, changed, &merging->verdicts, err);
}

static int copy_member(struct merging *merging, int member, struct error **err)
{
	size_t length = 0;
	const char *text = opened_text(merging->opened[merging->sources[0].place], member, &length);

	buf_add(&merging->text[member], text, length);
	return buf_check(&merging->text[member], member_kinds[member].name, err);
}

static void list_members(struct merging *merging)
{
	merging->members_count = 0;
	for (int i = 0; i < MEMBERS; i++)
		if (merging->text[i].length)
			merging->members[merging->members_count++] = (struct bundle_member){
				.name = member_kinds[i].name,
				.bytes = buf_string(&merging->text[i]),
				.length = merging->text[i].length,
				.fd = -1,
			};
	merging->members[merging->members_count++] =
		(struct bundle_member){ .name = member_kinds[MEMBER_OBSERVATIONS].name, .fd = merging->observations };
}

static int write_members(struct merging *merging, struct error **err)
{
	const struct merge_source *first = &merging->sources[0];
	const struct merged *merged = merging->merged;
	/* All shards have the same. */
	const struct findings *declared = opened_findings(merging->opened[first->place]);

	merging->facts = (struct manifest_facts){
		.minor = MANIFEST_MINOR,
		.run = merged->run,
		.started = merged->started,
		.finished = merged->finished,
		.version = first->manifest->version,
		.image = first->manifest->image,
		.gateway = first->manifest->gateway,
		.programs = first->manifest->programs,
		.programs_count = first->manifest->programs_count,
		.canaries = merged->canaries,
		.verdicts = merging->verdicts,
		.arms = merged->arms_count,
		.observations = (size_t)merging->lines,
		.origin = &merged->origin,
	};
	merging->findings = (struct findings){
		.manifest = &merging->facts,
		.plan = merged->plan,
		.arms = merged->arms,
		.arms_count = merged->arms_count,
		.verdicts = merging->verdicts,
		.effects = declared->effects,
		.effects_count = declared->effects_count,
		.assessing = declared->assessing,
		.merge = &merged->merge,
	};

	if (copy_member(merging, MEMBER_PROFILE, err) < 0 || copy_member(merging, MEMBER_ENVIRONMENT, err) < 0)
		return -1;
	merging->findings.environment = buf_string(&merging->text[MEMBER_ENVIRONMENT]);
	merging->findings.environment_length = merging->text[MEMBER_ENVIRONMENT].length;
	for (int i = 0; i < MEMBERS; i++)
		if (generated(i) && generate(i, &merging->findings, &merging->text[i], err) < 0)
			return -1;
	list_members(merging);
	return manifest_encode(&merging->facts, merging->members, merging->members_count,
			       &merging->text[MEMBER_MANIFEST], err);
}

/* Believed only after the verifier has read it from the disk. */
static int verify_sealed(const struct merging *merging, struct error **err)
{
	cleanup_fd int fd = openat(merging->folder, BUNDLE_ARCHIVE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	const struct verify_options how = { .require_signature = false };
	const struct verify_check *check;
	struct verify_report report;

	if (fd < 0)
		return error_errno(err, errno, "the merged bundle");
	if (verify_bundle(fd, &how, &report, err) < 0)
		return -1;
	check = bundle_file_failed(&report);
	if (!check)
		return 0;
	(void)unlinkat(merging->folder, BUNDLE_ARCHIVE, 0);
	return error_set(err, ERROR_INTERNAL, "the merged bundle does not verify: %s: %s", check->id, check->reason);
}

static int seal(struct merging *merging, struct error **err)
{
	if (open_folder(merging, err) < 0 || judge_all(merging, err) < 0 || write_members(merging, err) < 0)
		return -1;
	list_members(merging);
	/* The shards' canaries are known to nobody any more: what has a canary's shape is refused. */
	if (bundle_seal(merging->folder, merging->members, merging->members_count, NULL, 0, &merging->identity, err) <
	    0)
		return -1;
	if (verify_sealed(merging, err) < 0)
		return -1;
	store_give(merging->folder, BUNDLE_ARCHIVE);
	return 0;
}

static void put_shards(const struct merging *merging, struct json_writer *json)
{
	json_put_key(json, "shards");
	json_array(json);
	for (size_t i = 0; i < merging->merged->merge.count; i++) {
		const struct merge_shard *shard = &merging->merged->merge.shards[i];

		json_object(json);
		json_member_int(json, "index", (int64_t)i + 1);
		json_member_string(json, "runId", shard->source.run);
		json_member_string(json, "sumsSha256", shard->source.sums);
		document_path(json, "bundle", merging->options->words[merging->sources[i].place]);
		json_object_end(json);
	}
	json_array_end(json);
}

static int print_document(const struct merging *merging, const char *bundle, int code, struct error **err)
{
	cleanup_buf struct buf document = BUF(DOCUMENT_BYTES);
	const struct verdicts *verdicts = merging->verdicts;
	struct json_writer json;

	document_begin(&json, &document, "merge", code);
	document_optional(&json, "refused", merging->refused);
	if (verdicts) {
		json_member_string(&json, "verdict", verdict_names[verdicts->overall]);
		json_put_key(&json, "cells");
		json_object(&json);
		json_member_int(&json, "pass", (int64_t)verdicts->pass);
		json_member_int(&json, "fail", (int64_t)verdicts->fail);
		json_member_int(&json, "notEstablished", (int64_t)verdicts->not_established);
		json_object_end(&json);
		put_shards(merging, &json);
		json_put_key(&json, "claims");
		if (claims_put(&merging->findings, &json, err) < 0)
			return -1;
		document_path(&json, "bundle", bundle);
		json_member_string(&json, "sha256", merging->identity.archive_sha256);
	}
	document_end(&json);
	return document_print(&document, err);
}

static int print_refused(const struct merging *merging, struct error **err)
{
	fprintf(stderr, "harness: not merged: %s\n", merging->refused);
	if (merging->options->json && print_document(merging, NULL, EXIT_FAIL, err) < 0)
		return -1;
	return EXIT_FAIL;
}

static int print_merged(const struct merging *merging, struct error **err)
{
	cleanup_buf struct buf text = BUF(SUMMARY_BYTES);
	char bundle[PATH_MAX + sizeof(BUNDLE_ARCHIVE)];
	struct terminal terminal;
	struct summary_facts facts = {
		.bundle = bundle,
		.sha256 = merging->identity.archive_sha256,
		.wall_ns = clock_now() - merging->start,
		.unvouched = merging->sources[0].manifest->gateway.kind == GATEWAY_URL,
		.quiet = merging->options->quiet,
	};

	terminal_open(&terminal, merging->options->json ? stderr : stdout, getenv("TERM"), getenv("NO_COLOR"));
	facts.colours = terminal.colours;
	snprintf(bundle, sizeof(bundle), "%s/%s", merging->options->target, BUNDLE_ARCHIVE);
	summary_text(merging->verdicts, merging->merged->plan, &facts, &text);
	if (!facts.quiet && claims_lines(&merging->findings, bundle, &text, err) < 0)
		return -1;
	fputs(buf_string(&text), terminal.out);
	fflush(terminal.out);
	if (merging->options->json && print_document(merging, bundle, merging->verdicts->exit_code, err) < 0)
		return -1;
	return merging->verdicts->exit_code;
}

static int run(const struct options *options, struct error **err)
{
	cleanup_merging struct merging *merging = calloc(1, sizeof(*merging));
	int status;

	if (!merging)
		return error_set(err, ERROR_MEMORY, "no memory to merge");
	merging->options = options;
	merging->start = clock_now();
	merging->folder = merging->observations = -1;
	merging->batch = (struct buf)BUF(BATCH_BYTES + OBSERVATION_LINE_BYTES + 1);
	for (size_t i = 0; i < PLAN_SHARDS_MAX; i++)
		merging->fds[i] = -1;
	for (int i = 0; i < MEMBERS; i++)
		merging->text[i] = (struct buf)BUF(MEMBER_BYTES);
	if (!options->target)
		return error_set(err, ERROR_USAGE, "merge writes into a folder: --out FOLDER names it");
	if (options->words_count < 2 || options->words_count > PLAN_SHARDS_MAX)
		return error_set(err, ERROR_USAGE, "merge takes 2 to %d bundles: harness merge --out FOLDER BUNDLE...",
				 PLAN_SHARDS_MAX);
	status = open_all(merging, err);
	if (status == 0)
		status = join(merging, err);
	if (status > 0)
		return print_refused(merging, err);
	if (status == 0)
		status = seal(merging, err);
	return status < 0 ? status : print_merged(merging, err);
}

const struct verb verb_merge = {
	.name = "merge",
	.words = "BUNDLE...",
	.title = "one bundle from the bundles of all shards of a plan",
	.text = "Takes the bundles of `run --shard 1/N` to `N/N`, in any order, and writes OUT/" BUNDLE_NAME ".\n"
		"Refused, with what and why: a shard that is missing, or is there twice; one that does not verify; "
		"another "
		"plan,\n"
		"image, profile, gateway, program or scenario. A zero is earned within its shard alone. The same "
		"shards "
		"make the same\n"
		"bytes. Needs neither root nor an engine. Exit codes: that of the verdict over all shards; 1 also when "
		"refused, 3 when\n"
		"a file cannot be read, 4 usage.",
	.run = run,
};
