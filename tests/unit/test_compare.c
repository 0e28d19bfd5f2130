/* Two bundles side by side, and what that says of a replay. */
#include "reports/compare.h"

#include "reports/replay.h"
#include "tests/unit/bundle_fixture.h"

/* Two runs of the same in which everything went well. */
struct pair {
	struct world first, second;
	struct manifest *manifests; /* of both */
	char environments[2][sizeof(fixture_snapshot) * 2 + 256];
	struct compare_side sides[2]; /* as they were compared last */
	struct comparison *comparison;
};

static void pair_free(struct pair *pair)
{
	world_free(&pair->first);
	world_free(&pair->second);
	free(pair->manifests);
	comparison_free(pair->comparison);
}
#define cleanup_pair __attribute__((cleanup(pair_free)))

static bool pair_make(struct pair *pair, const char *first, const char *second)
{
	if (!world_make(&pair->first, first, 1, NULL) || !world_make(&pair->second, second, 1, NULL))
		return false;
	pair->manifests = calloc(2, sizeof(*pair->manifests));
	for (size_t i = 0; pair->manifests && i < 2; i++) {
		memset(pair->manifests[i].run, '1' + (int)i, 32);
		set(pair->manifests[i].version, NAME_MAX_SHORT, "1");
		snprintf(pair->environments[i], sizeof(pair->environments[i]), "{\"before\":%s}", fixture_snapshot);
	}
	return pair->manifests != NULL;
}

static bool pair_compare(struct pair *pair, bool part)
{
	struct error *err = NULL;
	struct world *worlds[2] = { &pair->first, &pair->second };
	struct compare_side *sides = pair->sides;

	for (size_t i = 0; i < 2; i++) {
		if (!world_judge(worlds[i]))
			return false;
		sides[i] = (struct compare_side){ .manifest = &pair->manifests[i],
						  .verdicts = worlds[i]->verdicts,
						  .arms = worlds[i]->arms,
						  .arms_count = worlds[i]->arms_count,
						  .environment = pair->environments[i],
						  .environment_length = strlen(pair->environments[i]) };
	}
	comparison_free(pair->comparison);
	pair->comparison = NULL;
	CU_ASSERT_EQUAL(compare_bundles(&sides[0], &sides[1], part, &pair->comparison, &err), 0);
	return test_no_error(&err) && pair->comparison;
}

/* Whether exactly this is among the differences. */
static bool differs(const struct comparison *comparison, enum compare_aspect aspect, const char *arm,
		    const char *subject, const char *was, const char *is)
{
	for (size_t i = 0; i < comparison->count; i++) {
		const struct compare_difference *one = &comparison->differences[i];

		if (one->aspect == (int)aspect && strcmp(one->arm, arm) == 0 && strcmp(one->subject, subject) == 0 &&
		    strcmp(one->was, was) == 0 && strcmp(one->is, is) == 0)
			return true;
	}
	return false;
}

static void test_same(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair, "baseline", "baseline"));
	CU_ASSERT(pair_compare(&pair, false));
	CU_ASSERT_EQUAL(pair.comparison->count, 0);
	CU_ASSERT_EQUAL(pair.comparison->cells, pair.first.verdicts->cells_count);
	CU_ASSERT_EQUAL(pair.comparison->environment_count, 0);
	CU_ASSERT_EQUAL(pair.comparison->origin_count, 0);
	CU_ASSERT_EQUAL(pair.comparison->durations_count, pair.first.arms_count);
}

static void leak(struct world *world)
{
	see(world, "baseline", "tcp4", "tcp4")->value = 1;
}

static void blind(struct world *world)
{
	see(world, "baseline", "tcp4", "tcp4")->beacon_before = 0;
}

static void unobserved(struct world *world)
{
	see(world, "baseline", "permitted", "deliveries")->status = OBSERVATION_OBSERVER_ERROR;
}

static void lost(struct world *world)
{
	forget(world, see(world, "baseline", "permitted", "deliveries"));
}

static void more(struct world *world)
{
	see(world, "mutation/read-only", "file", "files-changes")->value += 3;
}

static void exact(struct world *world)
{
	see(world, "mutation/network", "tcp4", "tcp4")->value = 7;
}

static void not_caught(struct world *world)
{
	see(world, "mutation/read-only", "file", "files-archive")->value = 0;
}

static void late(struct world *world)
{
	record_of(world, "mutation/network")->status = ARM_TIMEOUT;
}

/* What befell the second run, and one of the differences. */
static const struct {
	void (*alter)(struct world *world);
	enum compare_aspect aspect;
	const char *arm, *subject, *was, *is;
	bool weighs;
} rows[] = {
	{ leak, COMPARE_VERDICT, "baseline", "tcp4", "pass", "fail", true },
	{ leak, COMPARE_CLASS, "baseline", "tcp4", "zero", "nonzero", true },
	{ leak, COMPARE_VALUE, "baseline", "tcp4", "0", "1", true },
	{ blind, COMPARE_VERDICT, "baseline", "tcp4", "pass", "not_established", true },
	{ unobserved, COMPARE_STATUS, "baseline", "permitted", "observed", "observer_error", true },
	{ unobserved, COMPARE_CLASS, "baseline", "permitted", "nonzero", "none", true },
	{ lost, COMPARE_STATUS, "baseline", "permitted", "observed", "none", true },
	{ more, COMPARE_VALUE, "mutation/read-only", "file", "1", "4", false },
	{ exact, COMPARE_VALUE, "mutation/network", "tcp4", "1", "7", true },
	{ not_caught, COMPARE_DETECTED, "mutation/read-only", "", "yes", "no", true },
	{ not_caught, COMPARE_MUTATION, "mutation/read-only", "", "pass", "fail", true },
	{ late, COMPARE_ARM, "mutation/network", "", "ok", "timeout", true },
	{ late, COMPARE_INSTALLED, "mutation/network", "", "yes", "no", true },
};

static void test_differences(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_pair struct pair pair = { .comparison = NULL };

		CU_ASSERT(pair_make(&pair, "baseline", "baseline"));
		rows[i].alter(&pair.second);
		CU_ASSERT(pair_compare(&pair, false));
		CU_ASSERT(differs(pair.comparison, rows[i].aspect, rows[i].arm, rows[i].subject, rows[i].was,
				  rows[i].is));
		CU_ASSERT_EQUAL(pair.comparison->weighing > 0, rows[i].weighs);
	}
}

/* Both fail, and not alike: where exactly one value is expected, it is another result. */
static void test_value(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair, "baseline", "baseline"));
	leak(&pair.first);
	leak(&pair.second);
	CU_ASSERT(pair_compare(&pair, false));
	CU_ASSERT_EQUAL(pair.comparison->count, 0);
	see(&pair.second, "baseline", "tcp4", "tcp4")->value = 2;
	CU_ASSERT(pair_compare(&pair, false));
	CU_ASSERT_EQUAL(pair.comparison->count, 1);
	CU_ASSERT_EQUAL(pair.comparison->weighing, 1);
	CU_ASSERT(differs(pair.comparison, COMPARE_VALUE, "baseline", "tcp4", "1", "2"));
}

/* An arm that one of them lacks is told once, not by its cells; in a part it is passed over. */
static void test_arms(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair, "all", "baseline"));
	CU_ASSERT(pair_compare(&pair, false));
	CU_ASSERT(differs(pair.comparison, COMPARE_MISSING, "lifecycle/bridge-killed", "", "ok", ""));
	CU_ASSERT_EQUAL(pair.comparison->weighing, pair.first.arms_count - pair.second.arms_count);
	CU_ASSERT(pair_compare(&pair, true));
	CU_ASSERT_EQUAL(pair.comparison->count, 0);
	CU_ASSERT_EQUAL(pair.comparison->cells, pair.second.verdicts->cells_count);

	cleanup_pair struct pair grown = { .comparison = NULL };

	CU_ASSERT(pair_make(&grown, "baseline", "all"));
	CU_ASSERT(pair_compare(&grown, true));
	CU_ASSERT(differs(grown.comparison, COMPARE_NEW, "lifecycle/bridge-killed", "", "", "ok"));
}

/* A cell that was seen where none is planned is new. */
static void test_stray(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair, "baseline", "baseline"));
	stray(&pair.second, see(&pair.second, "baseline", "tcp4", "tcp4"), "file", 1);
	CU_ASSERT(pair_compare(&pair, false));
	CU_ASSERT(differs(pair.comparison, COMPARE_NEW, "baseline", "file", "", "fail"));
}

static const struct compare_fact *fact(const struct compare_fact *facts, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(facts[i].name, name) == 0)
			return &facts[i];
	return NULL;
}

static void test_facts(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };
	const struct compare_fact *one;

	CU_ASSERT(pair_make(&pair, "baseline", "baseline"));
	*strstr(pair.environments[1], "overlay2") = 'O';
	memcpy(strstr(pair.environments[1], "\"cgroup.version\":2") + strlen("\"cgroup.version\":"), "1", 1);
	set(pair.manifests[1].version, NAME_MAX_SHORT, "2");
	pair.manifests[1].origin.seed = 9;
	pair.manifests[0].programs_count = 1;
	set(pair.manifests[0].programs[0].name, NAME_MAX_SHORT, "harness");
	set(pair.manifests[0].programs[0].sha256, HEX_SHA256, "aa");
	CU_ASSERT(pair_compare(&pair, false));
	CU_ASSERT_EQUAL(pair.comparison->environment_count, 2);
	one = fact(pair.comparison->environment, pair.comparison->environment_count, "engine.storageDriver");
	CU_ASSERT(one && strcmp(one->was, "overlay2") == 0 && strcmp(one->is, "Overlay2") == 0);
	one = fact(pair.comparison->environment, pair.comparison->environment_count, "cgroup.version");
	CU_ASSERT(one && strcmp(one->was, "2") == 0 && strcmp(one->is, "1") == 0);
	CU_ASSERT_EQUAL(pair.comparison->origin_count, 3);
	CU_ASSERT_PTR_NOT_NULL(fact(pair.comparison->origin, 3, "producer.version"));
	CU_ASSERT_PTR_NOT_NULL(fact(pair.comparison->origin, 3, "seed"));
	one = fact(pair.comparison->origin, 3, "program.harness");
	CU_ASSERT(one && strcmp(one->was, "aa") == 0 && strcmp(one->is, "") == 0);
	CU_ASSERT_EQUAL(pair.comparison->weighing, 0);
}

/* ---- replay.json ---- */

static const struct manifest_source source = { .run = "0123456789abcdef0123456789abcdef" };

static void conclude(struct pair *pair, struct replay *out)
{
	struct manifest_source of = source;
	struct error *err = NULL;

	memset(of.sums, 'a', HEX_SHA256 - 1);
	*out = (struct replay){ .of = { .run = "" } };
	CU_ASSERT(pair_compare(pair, false));
	replay_conclude(pair->comparison, &of, false, out);
	/* What is concluded agrees with the second run. */
	CU_ASSERT_EQUAL(replay_check(out, &pair->sides[1], &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Whatever is altered in what it says of its own run. */
static void check_lies(const struct pair *pair, const struct replay *good)
{
	static const char *const reasons[] = { "is not what this run came to", "is not what this run came to",
					       "cells: not as many", "is not what this run stood on",
					       "names an unknown fact" };

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		cleanup_free struct replay *lie = malloc(sizeof(*lie));
		struct error *err = NULL;

		if (!lie)
			return;
		*lie = *good;
		if (i == 0)
			set(lie->diverged[0].is, NAME_MAX_SHORT, "else");
		if (i == 1)
			lie->diverged[0].weighs = false;
		if (i == 2)
			lie->cells--;
		if (i == 3)
			set(lie->environment[0].is, COMPARE_TEXT, "else");
		if (i == 4)
			set(lie->environment[0].name, sizeof(lie->environment[0].name), "host.name");
		CU_ASSERT(replay_check(lie, &pair->sides[1], &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, reasons[i]));
	}
}

/* It reads what it writes, and nothing that does not follow. */
static void check_document(const struct replay *replay)
{
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES), again = BUF(FIXTURE_BYTES);
	struct replay *back = NULL;
	struct error *err = NULL;
	char *outcome;

	CU_ASSERT_EQUAL(replay_encode(replay, &text, &err), 0);
	CU_ASSERT_EQUAL(replay_decode(buf_string(&text), text.length, &back, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!back)
		return;
	CU_ASSERT_EQUAL(replay_encode(back, &again, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&text), buf_string(&again));
	replay_free(back);
	back = NULL;
	outcome = strstr(text.data, replay_outcome_names[replay->outcome]);
	memcpy(outcome, replay->outcome == REPLAY_DIVERGED ? "REPRODUC" : "DIVERGED", 8);
	CU_ASSERT(replay_decode(buf_string(&text), text.length, &back, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "replay.json: outcome"));
}

static void test_replay(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };
	cleanup_free struct replay *replay = calloc(1, sizeof(*replay));

	CU_ASSERT(replay && pair_make(&pair, "baseline", "baseline"));
	if (!replay)
		return;
	conclude(&pair, replay);
	CU_ASSERT_EQUAL(replay->outcome, REPLAY_REPRODUCED);
	check_document(replay);
	more(&pair.second);
	conclude(&pair, replay);
	CU_ASSERT_EQUAL(replay->outcome, REPLAY_REPRODUCED);
	/* How it was asked for is no environment; by what it was built is. */
	pair.manifests[1].origin.seed = 4;
	conclude(&pair, replay);
	CU_ASSERT_EQUAL(replay->outcome, REPLAY_REPRODUCED);
	set(pair.manifests[1].origin.build.id, HEX_SHA256, "ff");
	conclude(&pair, replay);
	CU_ASSERT_EQUAL(replay->outcome, REPLAY_ENVIRONMENT_DIFFERS);
	CU_ASSERT_EQUAL(replay->environment_count, 1);
	check_document(replay);
	*strstr(pair.environments[1], "overlay2") = 'O';
	conclude(&pair, replay);
	CU_ASSERT_EQUAL(replay->outcome, REPLAY_ENVIRONMENT_DIFFERS);
	CU_ASSERT_EQUAL(replay->environment_count, 2);
	leak(&pair.second);
	conclude(&pair, replay);
	CU_ASSERT_EQUAL(replay->outcome, REPLAY_DIVERGED);
	CU_ASSERT(replay->diverged_count > 0 && replay->differences == (int64_t)replay->diverged_count);
	check_document(replay);
	check_lies(&pair, replay);
}

static void test_ready(void)
{
	static const struct {
		const char *tree, *here_tree, *id, *here_id;
		bool dirty, here_dirty;
		enum replay_reason reason;
	} builds[] = {
		{ "aa", "aa", "11", "11", false, false, REPLAY_READY },
		{ "aa", "aa", "11", "22", false, false, REPLAY_READY },
		{ "aa", "bb", "11", "22", false, false, REPLAY_VERSION },
		{ "aa", "aa", "11", "22", true, false, REPLAY_VERSION },
		{ "aa", "aa", "11", "22", false, true, REPLAY_VERSION },
		{ "aa", "aa", "11", "11", true, true, REPLAY_READY },
		{ "", "", "11", "11", false, false, REPLAY_READY },
		{ "", "", "", "", false, false, REPLAY_VERSION },
	};
	cleanup_free struct manifest *of = calloc(1, sizeof(*of));
	cleanup_free struct manifest_origin *here = calloc(1, sizeof(*here));

	if (!of || !here)
		return;
	set(of->version, NAME_MAX_SHORT, "1");
	for (size_t i = 0; i < ARRAY_SIZE(builds); i++) {
		set(of->origin.build.tree, GIT_DIGITS, builds[i].tree);
		set(of->origin.build.id, HEX_SHA256, builds[i].id);
		of->origin.build.dirty = builds[i].dirty;
		set(here->build.tree, GIT_DIGITS, builds[i].here_tree);
		set(here->build.id, HEX_SHA256, builds[i].here_id);
		here->build.dirty = builds[i].here_dirty;
		CU_ASSERT_EQUAL(replay_ready(of, here, "1"), builds[i].reason);
	}
	set(of->origin.build.id, HEX_SHA256, "11");
	set(here->build.id, HEX_SHA256, "11");
	CU_ASSERT_EQUAL(replay_ready(of, here, "2"), REPLAY_VERSION);
	set(here->image_config, HEX_SHA256, "33");
	CU_ASSERT_EQUAL(replay_ready(of, here, "1"), REPLAY_IMAGE);
	set(here->architecture, NAME_MAX_SHORT, "arm64");
	CU_ASSERT_EQUAL(replay_ready(of, here, "1"), REPLAY_ARCHITECTURE);
	of->origin.merged_count = 2;
	CU_ASSERT_EQUAL(replay_ready(of, here, "1"), REPLAY_MERGED);
}

static CU_TestInfo tests[] = {
	{ "the same twice", test_same },
	{ "what differs", test_differences },
	{ "values of what failed twice", test_value },
	{ "arms of one side", test_arms },
	{ "what was seen elsewhere", test_stray },
	{ "facts", test_facts },
	{ "how a replay came out", test_replay },
	{ "what must be equal before", test_ready },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "compare", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("compare", suites);
}
