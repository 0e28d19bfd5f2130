/* The order of a plan, and the plan behind that of merged shards. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/plan.h"

static int rank(const struct scenario *scenario)
{
	if (scenario->control[0])
		return 2;
	return scenario->faults_count > 0;
}

int plan_order(const struct scenario *one, const struct scenario *other)
{
	int difference = rank(one) - rank(other);

	return difference ? difference : strcmp(one->id, other->id);
}

static int by_arm(const void *a, const void *b)
{
	const struct plan_arm *one = a, *other = b;
	int difference = (one->repetition > other->repetition) - (one->repetition < other->repetition);

	return difference ? difference : plan_order(one->scenario, other->scenario);
}

static int by_absent(const void *a, const void *b)
{
	const struct plan_absent *one = a, *other = b;
	int difference = plan_order(one->scenario, other->scenario);

	/* Of one scenario: both stand in its list. */
	return difference ? difference
			  : (one->expectation > other->expectation) - (one->expectation < other->expectation);
}

bool plan_ordered(const struct plan *plan)
{
	for (size_t i = 1; i < plan->arms_count; i++)
		if (by_arm(&plan->arms[i - 1], &plan->arms[i]) >= 0)
			return false;
	for (size_t i = 1; i < plan->absent_count; i++)
		if (by_absent(&plan->absent[i - 1], &plan->absent[i]) >= 0)
			return false;
	return true;
}

int64_t plan_merged_repetition(int64_t shard, int64_t repetition, int64_t repeat)
{
	return (shard - 1) * repeat + repetition;
}

int64_t plan_merged_shard(int64_t repetition, int64_t repeat)
{
	return (repetition - 1) / repeat + 1;
}

int plan_unmerge(const struct plan *merged, int64_t repeat, struct plan **out, struct error **err)
{
	cleanup_free struct plan *plan = calloc(1, sizeof(*plan));
	size_t kept = 0;

	if (!plan)
		return error_set(err, ERROR_MEMORY, "no memory for the plan");
	*plan = *merged;
	for (size_t i = 0; i < plan->arms_count; i++)
		plan->arms[i].repetition = (plan->arms[i].repetition - 1) % repeat + 1;
	qsort(plan->arms, plan->arms_count, sizeof(plan->arms[0]), by_arm);
	for (size_t i = 0; i < plan->arms_count; i++) {
		if (kept == 0 || by_arm(&plan->arms[kept - 1], &plan->arms[i]) != 0)
			plan->arms[kept++] = plan->arms[i];
		else
			plan->arms[kept - 1].added &= plan->arms[i].added;
	}
	plan->arms_count = kept;
	*out = steal_pointer(&plan);
	return 0;
}

static int join_arms(const struct plan *from, int64_t shard, int64_t repeat, const struct scenario *scenarios,
		     size_t count, struct plan *plan, struct error **err)
{
	for (size_t i = 0; i < from->arms_count; i++) {
		const struct plan_arm *arm = &from->arms[i];
		const struct scenario *scenario = scenario_find(scenarios, count, arm->scenario->id);

		if (!scenario)
			return error_set(err, ERROR_INTERNAL, "a shard's scenario is not among those of all");
		if (plan->arms_count == PLAN_ARMS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d arms in one run", PLAN_ARMS_MAX);
		plan->arms[plan->arms_count++] = (struct plan_arm){
			.scenario = scenario,
			.repetition = plan_merged_repetition(shard, arm->repetition, repeat),
			.added = arm->added,
		};
	}
	return 0;
}

static int join_absent(const struct plan *from, const struct scenario *scenarios, size_t count, struct plan *plan,
		       struct error **err)
{
	for (size_t i = 0; i < from->absent_count; i++) {
		struct plan_absent absent = from->absent[i];

		absent.scenario = scenario_find(scenarios, count, absent.scenario->id);
		absent.expectation = absent.scenario ? scenario_cell(absent.scenario, absent.expectation->subject,
								     absent.expectation->observer)
						     : NULL;
		if (!absent.expectation)
			return error_set(err, ERROR_INTERNAL, "a shard's cell is not among those of all");
		if (!plan_has(plan, absent.scenario, absent.expectation))
			continue;
		if (plan->absent_count == PLAN_ABSENT_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d absent cells in one run", PLAN_ABSENT_MAX);
		plan->absent[plan->absent_count++] = absent;
	}
	return 0;
}

int plan_merge(const struct plan *const *shards, size_t shards_count, int64_t repeat, const struct scenario *scenarios,
	       size_t count, struct plan **out, struct error **err)
{
	cleanup_free struct plan *plan = calloc(1, sizeof(*plan));
	int result = 0;

	if (!plan)
		return error_set(err, ERROR_MEMORY, "no memory for the plan");
	for (size_t i = 0; i < shards_count && result >= 0; i++) {
		result = join_arms(shards[i], (int64_t)i + 1, repeat, scenarios, count, plan, err);
		if (result >= 0)
			result = join_absent(shards[i], scenarios, count, plan, err);
	}
	if (result < 0)
		return result;
	qsort(plan->absent, plan->absent_count, sizeof(plan->absent[0]), by_absent);
	*out = steal_pointer(&plan);
	return 0;
}

size_t plan_selected(const struct plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->arms_count; i++)
		count += !plan->arms[i].added;
	return count;
}
