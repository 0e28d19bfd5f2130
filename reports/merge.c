/* Whether bundles are the shards of one plan, and what they are together. */
#include "reports/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/hash.h"
#include "reports/coverage.h"
#include "reports/members.h"

/* ---- whether they belong together ---- */

static int by_shard(const void *a, const void *b)
{
	const struct merge_source *one = a, *other = b;
	int64_t first = one->manifest->origin.shard.index, second = other->manifest->origin.shard.index;

	return first != second ? (first > second) - (first < second)
			       : (one->place > other->place) - (one->place < other->place);
}

/* What all shards of one plan have in common. */
typedef bool (*same_in)(const struct manifest *one, const struct manifest *other);

static bool same_plan(const struct manifest *one, const struct manifest *other)
{
	return strcmp(one->origin.plan, other->origin.plan) == 0 && one->origin.repeat == other->origin.repeat &&
	       one->origin.shard.of == other->origin.shard.of;
}

static bool same_selection(const struct manifest *one, const struct manifest *other)
{
	if (one->origin.selection_count != other->origin.selection_count)
		return false;
	for (size_t i = 0; i < one->origin.selection_count; i++)
		if (strcmp(one->origin.selection[i], other->origin.selection[i]) != 0)
			return false;
	return true;
}

static bool same_image(const struct manifest *one, const struct manifest *other)
{
	return strcmp(one->image, other->image) == 0 &&
	       strcmp(one->origin.image_config, other->origin.image_config) == 0 &&
	       strcmp(one->origin.architecture, other->origin.architecture) == 0 &&
	       one->origin.image_store == other->origin.image_store;
}

static bool same_programs(const struct manifest *one, const struct manifest *other)
{
	if (strcmp(one->version, other->version) != 0 || one->programs_count != other->programs_count)
		return false;
	for (size_t i = 0; i < one->programs_count; i++)
		if (strcmp(one->programs[i].name, other->programs[i].name) != 0 ||
		    strcmp(one->programs[i].sha256, other->programs[i].sha256) != 0)
			return false;
	return true;
}

static bool same_gateway(const struct manifest *one, const struct manifest *other)
{
	const struct manifest_gateway *ours = &one->gateway, *theirs = &other->gateway;

	return ours->kind == theirs->kind && strcmp(ours->version, theirs->version) == 0 &&
	       strcmp(ours->sha256, theirs->sha256) == 0 && ours->composed == theirs->composed &&
	       ours->raised == theirs->raised;
}

static const struct manifest_file *file_of(const struct manifest *manifest, const char *path)
{
	for (size_t i = 0; i < manifest->files_count; i++)
		if (strcmp(manifest->files[i].path, path) == 0)
			return &manifest->files[i];
	return NULL;
}

static bool same_file(const struct manifest *one, const struct manifest *other, int member)
{
	const struct manifest_file *ours = file_of(one, member_kinds[member].name),
				   *theirs = file_of(other, member_kinds[member].name);

	return ours && theirs && strcmp(ours->sha256, theirs->sha256) == 0;
}

static bool same_profile(const struct manifest *one, const struct manifest *other)
{
	return same_file(one, other, MEMBER_PROFILE);
}

static bool same_declarations(const struct manifest *one, const struct manifest *other)
{
	return same_file(one, other, MEMBER_EFFECTS);
}

static bool same_assessments(const struct manifest *one, const struct manifest *other)
{
	bool ours = file_of(one, member_kinds[MEMBER_ASSESSMENTS].name),
	     theirs = file_of(other, member_kinds[MEMBER_ASSESSMENTS].name);

	return ours == theirs && (!ours || same_file(one, other, MEMBER_ASSESSMENTS));
}

struct common {
	same_in same;
	const char *what;
};
static const struct common commons[];

static int check_one(const struct merge_source *source, const struct merge_source *first, struct error **err)
{
	const struct manifest_origin *origin = &source->manifest->origin;

	if (source->manifest->minor != MANIFEST_MINOR)
		return error_set(err, ERROR_INPUT,
				 "bundle %zu is of version 1.%d of the format, and a bundle of " MANIFEST_SCHEMA
				 " would be made",
				 source->place + 1, source->manifest->minor);
	if (origin->merged_count > 0)
		return error_set(err, ERROR_INPUT, "bundle %zu is merged already", source->place + 1);
	if (origin->shard.of == 1)
		return error_set(err, ERROR_INPUT, "bundle %zu is no shard: its run was of the whole plan",
				 source->place + 1);
	for (const struct common *common = commons; common->same; common++)
		if (!common->same(source->manifest, first->manifest))
			return error_set(err, ERROR_INPUT, "bundles %zu and %zu: %s", first->place + 1,
					 source->place + 1, common->what);
	return 0;
}

static int check_together(const struct merge_source *sources, size_t count, struct error **err)
{
	int64_t of = sources[0].manifest->origin.shard.of;

	for (size_t i = 0; i < count; i++) {
		const struct manifest *manifest = sources[i].manifest;
		int64_t index = manifest->origin.shard.index;

		if (check_one(&sources[i], &sources[0], err) < 0)
			return -1;
		if (i > 0 && sources[i - 1].manifest->origin.shard.index == index)
			return error_set(err, ERROR_INPUT, "bundles %zu and %zu are both shard %lld",
					 sources[i - 1].place + 1, sources[i].place + 1, (long long)index);
		for (size_t other = 0; other < i; other++)
			if (strcmp(sources[other].manifest->run, manifest->run) == 0)
				return error_set(err, ERROR_INPUT, "bundles %zu and %zu are of one run",
						 sources[other].place + 1, sources[i].place + 1);
		if (index != (int64_t)i + 1)
			return error_set(err, ERROR_INPUT, "shard %zu of %lld is missing", i + 1, (long long)of);
	}
	if ((int64_t)count != of)
		return error_set(err, ERROR_INPUT, "shard %zu of %lld is missing", count + 1, (long long)of);
	return 0;
}

/* ---- what they are together ---- */

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct scenario *)a)->id, ((const struct scenario *)b)->id);
}

static int join_scenarios(const struct merge_source *sources, size_t count, struct merged *merged, struct error **err)
{
	size_t room = 0;

	for (size_t i = 0; i < count; i++)
		room += sources[i].scenarios_count;
	merged->scenarios = calloc(room + 1, sizeof(*merged->scenarios));
	if (!merged->scenarios)
		return error_set(err, ERROR_MEMORY, "no memory for the scenarios");
	for (size_t i = 0; i < count; i++) {
		for (size_t s = 0; s < sources[i].scenarios_count; s++) {
			const struct scenario *scenario = &sources[i].scenarios[s],
					      *known = scenario_find(merged->scenarios, merged->scenarios_count,
								     scenario->id);
			bool same = true;

			if (!known)
				merged->scenarios[merged->scenarios_count++] = *scenario;
			else if (scenario_same(known, scenario, &same, err) < 0)
				return -1;
			if (!same)
				return error_set(err, ERROR_INPUT,
						 "bundle %zu has another scenario '%s' than one before it",
						 sources[i].place + 1, known->id);
		}
	}
	qsort(merged->scenarios, merged->scenarios_count, sizeof(*merged->scenarios), by_id);
	return 0;
}

static int join_plans(const struct merge_source *sources, size_t count, struct merged *merged, struct error **err)
{
	const struct manifest_origin *origin = &sources[0].manifest->origin;
	const struct plan *plans[PLAN_SHARDS_MAX];
	struct plan *whole = NULL;
	char digest[HEX_SHA256] = "";
	bool twice;
	int result;

	for (size_t i = 0; i < count; i++)
		plans[i] = sources[i].plan;
	if (plan_merge(plans, count, origin->repeat, merged->scenarios, merged->scenarios_count, &merged->plan, err) <
		    0 ||
	    plan_unmerge(merged->plan, origin->repeat, &whole, err) < 0)
		return -1;
	result = coverage_digest(whole, digest, err);
	twice = plan_selected(whole) != plan_selected(merged->plan);
	plan_free(whole);
	if (result < 0)
		return result;
	if (twice)
		return error_set(err, ERROR_INPUT, "an arm was selected in two of the shards");
	if (strcmp(digest, origin->plan) != 0)
		return error_set(err, ERROR_INPUT,
				 "the shards together are not the plan that they say they are parts of");
	return 0;
}

static int join_arms(const struct merge_source *sources, size_t count, struct merged *merged, struct error **err)
{
	int64_t repeat = sources[0].manifest->origin.repeat;

	merged->arms = calloc(merged->plan->arms_count + 1, sizeof(*merged->arms));
	if (!merged->arms)
		return error_set(err, ERROR_MEMORY, "no memory for the arms");
	for (size_t i = 0; i < count; i++) {
		int64_t shard = (int64_t)i + 1;

		for (size_t a = 0; a < sources[i].arms_count; a++) {
			struct arm_record *arm = &merged->arms[merged->arms_count++];

			*arm = sources[i].arms[a];
			arm->repetition = plan_merged_repetition(shard, arm->repetition, repeat);
			arm->shard = shard;
		}
	}
	return 0;
}

static void say(char *to, const char *from)
{
	memcpy(to, from, strlen(from) + 1);
}

static int join_shard(const struct merge_source *source, struct merged *merged, struct error **err)
{
	const struct manifest *manifest = source->manifest;
	struct merge *merge = &merged->merge;
	struct buf *environment = &merge->environments[merge->count];
	struct merge_shard *shard = &merge->shards[merge->count++];

	say(shard->source.run, manifest->run);
	say(shard->source.sums, source->sums);
	say(shard->started, manifest->started);
	say(shard->finished, manifest->finished);
	shard->seed = manifest->origin.seed;
	shard->canaries = manifest->canaries;
	shard->executor = manifest->origin.executor;
	say(shard->executor_id, manifest->origin.executor_id);
	*environment = (struct buf)BUF(BUNDLE_FILE_BYTES);
	buf_add(environment, source->environment, source->environment_length);
	return buf_check(environment, "an environment", err);
}

/* The first of what all say, and whose words differ is nobody's. */
void merge_say(const struct merge *merge, struct merged *out)
{
	struct hash *hash = hash_new();
	char digest[HEX_SHA256] = "";

	for (size_t i = 0; i < merge->count; i++) {
		const struct merge_shard *shard = &merge->shards[i];

		out->origin.merged[out->origin.merged_count++] = shard->source;
		out->canaries += (size_t)shard->canaries;
		if (i == 0 || strcmp(shard->started, out->started) < 0)
			say(out->started, shard->started);
		if (i == 0 || strcmp(shard->finished, out->finished) > 0)
			say(out->finished, shard->finished);
		if (i == 0)
			say(out->origin.executor_id, shard->executor_id);
		else if (strcmp(out->origin.executor_id, shard->executor_id) != 0)
			out->origin.executor_id[0] = '\0';
		if (hash)
			hash_add(hash, shard->source.sums, HEX_SHA256 - 1);
	}
	out->origin.executor = merge->shards[0].executor;
	out->origin.seed = merge->shards[0].seed;
	if (hash)
		hash_end(hash, digest);
	snprintf(out->run, sizeof(out->run), "%.32s", digest);
}

static int join(const struct merge_source *sources, size_t count, struct merged *merged, struct error **err)
{
	const struct manifest_origin *first = &sources[0].manifest->origin;

	if (join_scenarios(sources, count, merged, err) < 0 || join_plans(sources, count, merged, err) < 0 ||
	    join_arms(sources, count, merged, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (join_shard(&sources[i], merged, err) < 0)
			return -1;
	merged->origin = *first;
	merged->origin.shard = PLAN_WHOLE;
	merged->origin.merged_count = 0;
	merged->origin.replay_of = (struct manifest_source){ .run = "" };
	merge_say(&merged->merge, merged);
	return merged->run[0] ? 0 : error_set(err, ERROR_MEMORY, "no memory for a digest");
}

int merge_sources(struct merge_source *sources, size_t count, struct merged **out, struct error **err)
{
	cleanup_merged struct merged *merged = calloc(1, sizeof(*merged));

	if (!merged)
		return error_set(err, ERROR_MEMORY, "no memory for the merged bundle");
	if (count < 2 || count > PLAN_SHARDS_MAX)
		return error_set(err, ERROR_INPUT, "2 to %d bundles can be merged", PLAN_SHARDS_MAX);
	qsort(sources, count, sizeof(*sources), by_shard);
	if (check_together(sources, count, err) < 0 || join(sources, count, merged, err) < 0)
		return -1;
	*out = steal_pointer(&merged);
	return 0;
}

void merged_free(struct merged *merged)
{
	if (!merged)
		return;
	for (size_t i = 0; i < merged->merge.count; i++)
		buf_free(&merged->merge.environments[i]);
	plan_free(merged->plan);
	free(merged->scenarios);
	free(merged->arms);
	free(merged);
}

void merge_observation(const struct merged *merged, int64_t shard, int64_t number, struct observation *one)
{
	one->repetition = plan_merged_repetition(shard, one->repetition, merged->origin.repeat);
	snprintf(one->id, sizeof(one->id), "o-%06lld", (long long)number);
}

static const struct common commons[] = {
	{ .same = same_plan, .what = "they are shards of different plans" },
	{ .same = same_selection, .what = "they were selected by different words" },
	{ .same = same_image, .what = "they ran different images" },
	{ .same = same_programs, .what = "they were made by different programs" },
	{ .same = same_gateway, .what = "they ran with different gateways" },
	{ .same = same_profile, .what = "they ran under different profiles" },
	{ .same = same_declarations, .what = "they were made with different declarations of effects" },
	{ .same = same_assessments, .what = "they were given different assessments" },
	{ .same = NULL },
};
