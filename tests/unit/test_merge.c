/* Shards merged: what they are together, what is earned where, and what is refused. */
#include "reports/merge.h"

#include "tests/unit/shards_world.h"

static int merge_all(struct shards *shards, struct error **err)
{
	merged_free(shards->merged);
	shards->merged = NULL;
	return merge_sources(shards->sources, SHARDS, &shards->merged, err);
}

/* Judges the merged run, over the shards' observations as they stand. */
static struct verdicts *judge_merged(struct shards *shards, struct error **err)
{
	cleanup_judgement struct judgement *judgement = NULL;
	const struct merged *merged = shards->merged;
	struct verdicts *verdicts = NULL;
	int64_t number = 0;
	int result = judgement_new(merged->plan, merged->arms, merged->arms_count, BUNDLE_CELLS_MAX, &judgement, err);

	for (size_t i = 0; i < SHARDS; i++) {
		const struct world *world = &shards->worlds[shards->sources[i].place];

		for (size_t o = 0; o < world->observations_count && result >= 0; o++) {
			struct observation one = world->observations[o];
			size_t arm = 0;

			merge_observation(merged, (int64_t)i + 1, ++number, &one);
			result = judgement_arm(judgement, one.arm, one.repetition, &arm);
			CU_ASSERT_EQUAL(result, 0);
			if (result >= 0)
				result = judgement_see(judgement, arm, &one, err);
		}
	}
	if (result >= 0)
		result = judgement_end(judgement, false, &verdicts, err);
	return result < 0 ? NULL : verdicts;
}

static void check_good(int64_t repeat)
{
	cleanup_shards struct shards shards = { .merged = NULL };
	struct error *err = NULL;
	struct verdicts *verdicts;
	size_t cells = 0, arms = 0;

	CU_ASSERT(shards_make(&shards, repeat));
	/* In any order. */
	shards.sources[0].place = 0;
	struct merge_source first = shards.sources[0];
	shards.sources[0] = shards.sources[2];
	shards.sources[2] = first;
	CU_ASSERT_EQUAL(merge_all(&shards, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!shards.merged)
		return;
	for (size_t i = 0; i < SHARDS; i++) {
		CU_ASSERT(world_judge(&shards.worlds[i]));
		cells += shards.worlds[i].verdicts->cells_count;
		arms += shards.worlds[i].arms_count;
		CU_ASSERT_EQUAL(shards.worlds[i].verdicts->overall, VERDICT_PASS);
	}
	CU_ASSERT_EQUAL(shards.merged->arms_count, arms);
	CU_ASSERT(plan_ordered(shards.merged->plan));
	verdicts = judge_merged(&shards, &err);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(verdicts->cells_count, cells);
	CU_ASSERT_EQUAL(verdicts->pass, cells);
	CU_ASSERT_EQUAL(verdicts->overall, VERDICT_PASS);
	verdicts_free(verdicts);
	CU_ASSERT_STRING_EQUAL(shards.merged->started, "2026-01-02T03:04:03Z");
	CU_ASSERT_STRING_EQUAL(shards.merged->finished, "2026-01-02T03:05:02Z");
	CU_ASSERT_EQUAL(shards.merged->canaries, 33);
	CU_ASSERT_EQUAL(shards.merged->origin.seed, 100);
	CU_ASSERT_EQUAL(shards.merged->origin.merged_count, SHARDS);
	CU_ASSERT_EQUAL(strlen(shards.merged->run), 32);
}

static void test_good(void)
{
	check_good(1);
	check_good(2);
}

/* In one shard the mutant was not caught: its zeros are unearned, though the other shards' mutants would earn them. */
static void test_earned_apart(void)
{
	cleanup_shards struct shards shards = { .merged = NULL };
	struct error *err = NULL;
	struct verdicts *verdicts;
	size_t unearned = 0, earned = 0;

	CU_ASSERT(shards_make(&shards, 1));
	CU_ASSERT_EQUAL(merge_all(&shards, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!shards.merged)
		return;
	/* All in one boot, so that nothing but the shard keeps them apart. */
	for (size_t i = 0; i < shards.merged->arms_count; i++)
		memset(shards.merged->arms[i].boot, 'b', 32);
	for (size_t i = 0; i < SHARDS; i++) {
		struct world *world = &shards.worlds[i];

		for (size_t o = 0; i == 0 && o < world->observations_count; o++)
			if (strcmp(world->observations[o].arm, "mutation/network") == 0 &&
			    strcmp(world->observations[o].subject, "tcp4") == 0)
				world->observations[o].beacon_after = 0;
	}
	verdicts = judge_merged(&shards, &err);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; verdicts && i < verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &verdicts->cells[i];

		if (strcmp(cell->expectation->subject, "tcp4") != 0 ||
		    strcmp(cell->expectation->observer, "tcp4") != 0 || cell->scenario->control[0])
			continue;
		if (cell->repetition == 1)
			unearned += cell->because == BECAUSE_UNEARNED;
		else
			earned += cell->verdict == VERDICT_PASS && cell->mutant[0];
	}
	CU_ASSERT(unearned > 0);
	CU_ASSERT(earned > 0);
	CU_ASSERT(verdicts && verdicts->overall != VERDICT_PASS);
	verdicts_free(verdicts);
}

/* ---- refused ---- */

static void twice_one_shard(struct shards *shards)
{
	shards->manifests[1].origin.shard.index = 1;
}

static void same_run(struct shards *shards)
{
	memcpy(shards->manifests[1].run, shards->manifests[0].run, sizeof(shards->manifests[0].run));
}

static void gap(struct shards *shards)
{
	shards->manifests[2].origin.shard.index = 4;
	for (size_t i = 0; i < SHARDS; i++)
		shards->manifests[i].origin.shard.of = 4;
}

static void last_missing(struct shards *shards)
{
	for (size_t i = 0; i < SHARDS; i++)
		shards->manifests[i].origin.shard.of = 4;
}

static void other_of(struct shards *shards)
{
	shards->manifests[2].origin.shard.of = 4;
}

static void other_plan(struct shards *shards)
{
	shards->manifests[1].origin.plan[0] ^= 1;
}

static void other_repeat(struct shards *shards)
{
	shards->manifests[1].origin.repeat = 2;
}

static void other_words(struct shards *shards)
{
	set(shards->manifests[1].origin.selection[0], ID_MAX, "baseline");
}

static void other_image(struct shards *shards)
{
	shards->manifests[2].image[3] ^= 1;
}

static void other_config(struct shards *shards)
{
	memset(shards->manifests[2].origin.image_config, 'e', HEX_SHA256 - 1);
}

static void other_program(struct shards *shards)
{
	shards->manifests[2].programs[0].sha256[0] = 'd';
}

static void other_version(struct shards *shards)
{
	set(shards->manifests[2].version, sizeof(shards->manifests[2].version), "9.9.9");
}

static void other_gateway(struct shards *shards)
{
	shards->manifests[1].gateway.kind = GATEWAY_CMCP;
}

static void other_declaration(struct shards *shards)
{
	shards->manifests[1].files[0].sha256[0] = 'f';
}

static void assess(struct shards *shards, size_t shard, char digit)
{
	struct manifest *manifest = &shards->manifests[shard];
	struct manifest_file *file = &manifest->files[manifest->files_count++];

	snprintf(file->path, sizeof(file->path), "assessments.json");
	memset(file->sha256, digit, HEX_SHA256 - 1);
}

static void other_assessment(struct shards *shards)
{
	assess(shards, 0, 'a');
	assess(shards, 1, 'b');
	assess(shards, 2, 'a');
}

static void one_is_assessed(struct shards *shards)
{
	assess(shards, 1, 'a');
}

static void older_format(struct shards *shards)
{
	shards->manifests[1].minor = 0;
}

static void other_profile(struct shards *shards)
{
	shards->manifests[1].files[1].sha256[0] = 'e';
}

static void other_rule(struct shards *shards)
{
	scenario_in(&shards->worlds[1], "baseline")->expect[0].value = 1;
}

static void merged_already(struct shards *shards)
{
	shards->manifests[1].origin.merged_count = 2;
}

static void whole_run(struct shards *shards)
{
	shards->manifests[0].origin.shard = PLAN_WHOLE;
}

static void arm_left_out(struct shards *shards)
{
	struct plan *plan = shards->worlds[1].plan;

	for (size_t i = 0; i < plan->arms_count; i++)
		if (!plan->arms[i].added) {
			memmove(&plan->arms[i], &plan->arms[i + 1], (plan->arms_count - i - 1) * sizeof(plan->arms[0]));
			plan->arms_count--;
			shards->sources[1].arms_count--;
			return;
		}
}

static void selected_twice(struct shards *shards)
{
	struct plan *plan = shards->worlds[1].plan;

	for (size_t i = 0; i < plan->arms_count; i++)
		plan->arms[i].added = false;
}

static const struct {
	void (*alter)(struct shards *shards);
	const char *text;
} refused[] = {
	{ twice_one_shard, "are both shard 1" },
	{ same_run, "bundles 1 and 2 are of one run" },
	{ gap, "shard 3 of 4 is missing" },
	{ last_missing, "shard 4 of 4 is missing" },
	{ other_of, "shards of different plans" },
	{ other_plan, "shards of different plans" },
	{ other_repeat, "shards of different plans" },
	{ other_words, "selected by different words" },
	{ other_image, "different images" },
	{ other_config, "different images" },
	{ other_program, "different programs" },
	{ other_version, "different programs" },
	{ other_gateway, "different gateways" },
	{ other_profile, "different profiles" },
	{ other_declaration, "different declarations of effects" },
	{ other_assessment, "different assessments" },
	{ one_is_assessed, "different assessments" },
	{ older_format, "bundle 2 is of version 1.0 of the format" },
	{ other_rule, "has another scenario 'baseline'" },
	{ merged_already, "bundle 2 is merged already" },
	{ whole_run, "bundle 1 is no shard" },
	{ arm_left_out, "are not the plan that they say they are parts of" },
	{ selected_twice, "selected in two of the shards" },
};

static void test_refused(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup_shards struct shards shards = { .merged = NULL };
		struct error *err = NULL;

		CU_ASSERT(shards_make(&shards, 1));
		refused[i].alter(&shards);
		CU_ASSERT(merge_all(&shards, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, refused[i].text));
		CU_ASSERT_PTR_NULL(shards.merged);
	}
}

/* ---- merge.json ---- */

static int check(struct merge *merge, const struct merged *merged, struct manifest *manifest, struct error **err)
{
	*manifest = (struct manifest){ .origin = merged->origin, .canaries = (int64_t)merged->canaries };
	memcpy(manifest->run, merged->run, sizeof(manifest->run));
	memcpy(manifest->started, merged->started, sizeof(manifest->started));
	memcpy(manifest->finished, merged->finished, sizeof(manifest->finished));
	return merge_check(merge, manifest, err);
}

static void test_document(void)
{
	cleanup_shards struct shards shards = { .merged = NULL };
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES), again = BUF(FIXTURE_BYTES);
	cleanup_merge struct merge *merge = NULL;
	cleanup_free struct manifest *manifest = calloc(1, sizeof(*manifest));
	struct error *err = NULL;
	bool changed = true;

	CU_ASSERT(shards_make(&shards, 1));
	CU_ASSERT_EQUAL(merge_all(&shards, &err), 0);
	CU_ASSERT_EQUAL(merge_encode(&shards.merged->merge, &text, &err), 0);
	CU_ASSERT_EQUAL(merge_decode(buf_string(&text), text.length, &merge, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!merge || !manifest)
		return;
	CU_ASSERT_EQUAL(merge_encode(merge, &again, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&text), buf_string(&again));
	CU_ASSERT_EQUAL(check(merge, shards.merged, manifest, &err), 0);
	CU_ASSERT_EQUAL(merge_changed(merge, &changed, &err), 0);
	CU_ASSERT_FALSE(changed);
	CU_ASSERT_EQUAL(merge_check_environments(merge, shards.merged->arms, shards.merged->arms_count,
						 shards.environments[0], strlen(shards.environments[0]), &err),
			0);
	CU_ASSERT(test_no_error(&err));

	/* An arm of another boot than its shard's. */
	shards.merged->arms[0].shard = 2;
	CU_ASSERT(merge_check_environments(merge, shards.merged->arms, shards.merged->arms_count,
					   shards.environments[0], strlen(shards.environments[0]), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "ran in another boot"));
	CU_ASSERT(merge_check_environments(merge, shards.merged->arms, 0, shards.environments[1],
					   strlen(shards.environments[1]), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "not that of the first shard"));
	merge->shards[1].source.sums[0] = 'f';
	CU_ASSERT(check(merge, shards.merged, manifest, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "mergedFrom"));
	merge->shards[1].source.sums[0] = '2';
	merge->shards[2].canaries++;
	CU_ASSERT(check(merge, shards.merged, manifest, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "canary.count"));
	merge->count--;
	CU_ASSERT(check(merge, shards.merged, manifest, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "mergedFrom"));
	merge->count++;
}

/* The environment of any shard that changed takes every pass away. */
static void test_changed(void)
{
	cleanup_shards struct shards shards = { .merged = NULL };
	struct error *err = NULL;
	bool changed = false;

	CU_ASSERT(shards_make(&shards, 1));
	*strstr(shards.environments[2], "overlay2") = 'O';
	CU_ASSERT_EQUAL(merge_all(&shards, &err), 0);
	CU_ASSERT_EQUAL(merge_changed(&shards.merged->merge, &changed, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(changed);
}

static CU_TestInfo tests[] = {
	{ "shards together", test_good },
	{ "a zero is earned within its shard", test_earned_apart },
	{ "what is refused", test_refused },
	{ "merge.json", test_document },
	{ "an environment that changed", test_changed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "merge", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("merge", suites);
}
