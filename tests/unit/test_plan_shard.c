/* Shards of one plan, the order that a seed draws, and the delays of faults. */
#include <stdlib.h>

#include "oracle/plan.h"
#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

static void plan_cleanup(struct plan **plan)
{
	plan_free(*plan);
}
#define cleanup_plan __attribute__((cleanup(plan_cleanup)))

static const struct plan_arm *find(const struct plan *plan, const struct plan_arm *arm)
{
	for (size_t i = 0; i < plan->arms_count; i++)
		if (plan->arms[i].scenario == arm->scenario && plan->arms[i].repetition == arm->repetition)
			return &plan->arms[i];
	return NULL;
}

/* Each zero of an arm has its mutant in the same repetition of the same shard, and each mutant its control. */
static bool stands_alone(const struct plan *plan, const struct plan *whole)
{
	for (size_t i = 0; i < whole->arms_count; i++) {
		const struct plan_arm *mutant = &whole->arms[i];

		if (!mutant->scenario->control[0])
			continue;
		for (size_t a = 0; a < plan->arms_count; a++) {
			const struct scenario *scenario = plan->arms[a].scenario;

			if (plan->arms[a].repetition != mutant->repetition)
				continue;
			for (size_t c = 0; c < scenario->expect_count; c++)
				if (scenario->expect[c].class == CELL_PROTECTED && !scenario->expect[c].flips &&
				    scenario_earns(mutant->scenario, scenario, &scenario->expect[c]) &&
				    !find(plan, mutant))
					return false;
		}
	}
	return true;
}

static void check_shards(const struct scenario *scenarios, size_t count, const char *selector, int64_t repetitions,
			 int64_t of)
{
	cleanup_plan struct plan *whole = NULL;
	size_t selected = 0, dealt = 0;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(plan_make(scenarios, count, &selector, 1, repetitions, NULL, &whole, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; whole && i < whole->arms_count; i++)
		selected += !whole->arms[i].added;
	for (int64_t index = 1; whole && index <= of; index++) {
		const struct plan_shard part = { .index = index, .of = of };
		cleanup_plan struct plan *plan = NULL;
		size_t own = 0;

		CU_ASSERT_EQUAL(plan_make_shard(scenarios, count, &selector, 1, repetitions, part, NULL, &plan, &err),
				0);
		CU_ASSERT(test_no_error(&err));
		if (!plan)
			continue;
		for (size_t i = 0; i < plan->arms_count; i++) {
			const struct plan_arm *arm = &plan->arms[i], *of_whole = find(whole, arm);

			CU_ASSERT_PTR_NOT_NULL(of_whole);
			CU_ASSERT(arm->added || (of_whole && !of_whole->added));
			own += !arm->added;
		}
		CU_ASSERT(own >= selected / (size_t)of && own <= selected / (size_t)of + 1);
		CU_ASSERT(stands_alone(plan, whole));
		CU_ASSERT(of > 1 || plan->arms_count == whole->arms_count);
		dealt += own;
	}
	CU_ASSERT_EQUAL(dealt, selected);
}

/* No arm is selected in two shards, so that as many as the whole has are each in one. */
static void check_disjoint(const struct scenario *scenarios, size_t count)
{
	const char *all = "all";
	cleanup_plan struct plan *one = NULL;
	cleanup_plan struct plan *other = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(plan_make_shard(scenarios, count, &all, 1, 2, (struct plan_shard){ 1, 2 }, NULL, &one, &err),
			0);
	CU_ASSERT_EQUAL(plan_make_shard(scenarios, count, &all, 1, 2, (struct plan_shard){ 2, 2 }, NULL, &other, &err),
			0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; one && other && i < one->arms_count; i++) {
		const struct plan_arm *same = find(other, &one->arms[i]);

		CU_ASSERT(!same || same->added || one->arms[i].added);
	}
}

static void test_shards(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	check_shards(scenarios, count, "all", 1, 1);
	check_shards(scenarios, count, "all", 1, 3);
	check_shards(scenarios, count, "all", 2, 7);
	check_shards(scenarios, count, "lifecycle", 3, 5);
	check_shards(scenarios, count, "mutation", 1, 7);
	check_disjoint(scenarios, count);
}

static void test_refused(void)
{
	static const struct {
		struct plan_shard part;
		const char *text;
	} rows[] = {
		{ { 0, 2 }, "shards are" },   { { 3, 2 }, "shards are" },
		{ { 1, 0 }, "shards are" },   { { 1, PLAN_SHARDS_MAX + 1 }, "shards are" },
		{ { -1, -1 }, "shards are" }, { { 2, 2 }, "shard 2 of 2 is empty" },
	};
	const char *baseline = "baseline";
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load(&scenarios, &count, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT(plan_make_shard(scenarios, count, &baseline, 1, 1, rows[i].part, NULL, &plan, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_USAGE, rows[i].text));
	}
	CU_ASSERT_PTR_NULL(plan);
}

/* A permutation, the same for the same seed, another for most others, and the longest windows first. */
static void test_order(void)
{
	const char *all = "all";
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_plan struct plan *plan = NULL;
	cleanup_free size_t *first = calloc(PLAN_ARMS_MAX, sizeof(size_t));
	cleanup_free size_t *order = calloc(PLAN_ARMS_MAX, sizeof(size_t));
	struct error *err = NULL;
	size_t count = 0, others = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT_EQUAL(plan_make(scenarios, count, &all, 1, 1, NULL, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!plan || !first || !order)
		return;
	plan_schedule(plan, PLAN_SEED_NONE, first);
	for (size_t i = 1; i < plan->arms_count; i++)
		CU_ASSERT(plan->arms[first[i - 1]].scenario->window_ms > plan->arms[first[i]].scenario->window_ms ||
			  first[i - 1] < first[i]);
	for (int64_t seed = 0; seed < 50; seed++) {
		cleanup_free bool *seen = calloc(plan->arms_count, sizeof(bool));

		plan_schedule(plan, seed, order);
		for (size_t i = 0; seen && i < plan->arms_count; i++) {
			CU_ASSERT(order[i] < plan->arms_count && !seen[order[i]]);
			seen[order[i] % plan->arms_count] = true;
			CU_ASSERT(i == 0 || plan->arms[order[i - 1]].scenario->window_ms >=
						    plan->arms[order[i]].scenario->window_ms);
		}
		others += memcmp(first, order, plan->arms_count * sizeof(*order)) != 0;
	}
	CU_ASSERT_EQUAL(others, 49);
}

/* Within the range, over all of it, and of the seed, the scenario and the repetition alone. */
static void test_delays(void)
{
	cleanup_free struct scenario *scenario = calloc(1, sizeof(*scenario));
	int64_t delays[ARM_FAULTS_MAX] = { 0 }, again[ARM_FAULTS_MAX] = { 0 };
	bool seen[5] = { false };
	size_t moved = 0;

	CU_ASSERT_PTR_NOT_NULL(scenario);
	if (!scenario)
		return;
	snprintf(scenario->id, sizeof(scenario->id), "lifecycle/x");
	scenario->faults_count = 2;
	scenario->faults[0] = (struct fault){ .delay_ms = 200, .delay_span_ms = 4 };
	scenario->faults[1] = (struct fault){ .delay_ms = 7 };
	for (int64_t seed = 0; seed < 200; seed++) {
		const struct plan_arm arm = { .scenario = scenario, .repetition = 1 },
				      next = { .scenario = scenario, .repetition = 2 };

		plan_delays(&arm, seed, delays);
		plan_delays(&arm, seed, again);
		CU_ASSERT(delays[0] >= 200 && delays[0] <= 204 && delays[1] == 7);
		CU_ASSERT(seed != PLAN_SEED_NONE || delays[0] == 200);
		CU_ASSERT_EQUAL(memcmp(delays, again, sizeof(delays)), 0);
		seen[(delays[0] - 200) % 5] = true;
		plan_delays(&next, seed, again);
		moved += again[0] != delays[0];
	}
	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		CU_ASSERT(seen[i]);
	CU_ASSERT(moved > 100);
}

static CU_TestInfo tests[] = {
	{ "each selected arm is in one shard, with what its cells need", test_shards },
	{ "refused shards", test_refused },
	{ "the order of a seed", test_order },
	{ "the delays of a seed", test_delays },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "plan_shard", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("plan_shard", suites);
}
