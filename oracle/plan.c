/* From a selection to the arms that a run needs. */
#include "oracle/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/nearest.h"

enum wanted { WANTED_NOT, WANTED_ADDED, WANTED_SELECTED };

/* What planning knows of each scenario, by its index. */
struct choice {
	const struct scenario *scenario;
	bool selected; /* by a word of the command line */
	enum wanted wanted; /* in the repetition that is being planned */
	bool ever; /* in any */
	const char *unusable; /* why no arm of it proves anything, or NULL */
};

struct planning {
	const struct scenario *scenarios;
	size_t count;
	const struct ground *ground;
	struct choice *choices; /* by the scenario's index */
	struct choice **order; /* the same, in the plan's order */
};

static int unknown(const struct planning *planning, const char *selector, struct error **err)
{
	struct nearest nearest = { .word = selector };

	for (size_t i = 0; i < planning->count; i++)
		nearest_offer_path(&nearest, planning->scenarios[i].id);
	return nearest_error(&nearest, "scenario", "`harness list` names scenarios and groups", err);
}

static int select_by(struct planning *planning, const char *selector, struct error **err)
{
	bool any = false;

	for (size_t i = 0; i < planning->count; i++) {
		if (!scenario_selected(&planning->scenarios[i], selector))
			continue;
		planning->choices[i].selected = true;
		any = true;
	}
	if (any)
		return 0;
	return unknown(planning, selector, err);
}

static const char *lacks(const struct planning *planning, const struct scenario *scenario,
			 const struct expectation *cell)
{
	return ground_lacks(planning->ground, planning->scenarios, planning->count, scenario, cell);
}

/* One that cannot be made is named too, where the cell is absent for want of it. */
static bool wants(const struct planning *planning, const struct choice *mutant, const struct scenario *scenario,
		  const struct expectation *cell)
{
	if (cell->class != CELL_PROTECTED || cell->flips || !scenario_earns(mutant->scenario, scenario, cell))
		return false;
	if (mutant->unusable && !ground_would_earn(planning->ground, mutant->scenario, scenario, cell))
		return false;
	return !mutant->unusable == !lacks(planning, scenario, cell);
}

/* Wants the mutants that earn this scenario's zeros. Returns whether something new is wanted. */
static bool want_mutants(struct planning *planning, const struct scenario *scenario)
{
	bool grew = false;

	for (size_t i = 0; i < planning->count; i++) {
		struct choice *choice = &planning->choices[i];

		if (choice->wanted || !choice->scenario->control[0])
			continue;
		for (size_t cell = 0; cell < scenario->expect_count && !choice->wanted; cell++)
			if (wants(planning, choice, scenario, &scenario->expect[cell])) {
				choice->wanted = WANTED_ADDED;
				grew = true;
			}
	}
	return grew;
}

/* A mutant is compared with its control. */
static int want_control(struct planning *planning, const struct scenario *mutant, bool *grew, struct error **err)
{
	const struct scenario *control = scenario_find(planning->scenarios, planning->count, mutant->control);
	struct choice *choice;

	if (!control)
		return error_set(err, ERROR_INPUT, "%s: its control '%s' is not there", mutant->id, mutant->control);
	choice = &planning->choices[control - planning->scenarios];
	if (choice->wanted)
		return 0;
	choice->wanted = WANTED_ADDED;
	*grew = true;
	return 0;
}

static int close_over_needs(struct planning *planning, struct error **err)
{
	bool grew = true;

	while (grew) {
		grew = false;
		for (size_t i = 0; i < planning->count; i++) {
			const struct choice *choice = &planning->choices[i];
			int result = 0;

			if (!choice->wanted || choice->unusable)
				continue;
			grew |= want_mutants(planning, choice->scenario);
			if (choice->scenario->control[0])
				result = want_control(planning, choice->scenario, &grew, err);
			if (result < 0)
				return result;
		}
	}
	return 0;
}

static int by_order(const void *a, const void *b)
{
	return plan_order((*(struct choice *const *)a)->scenario, (*(struct choice *const *)b)->scenario);
}

static int add_absent(const struct planning *planning, const struct choice *choice, struct plan *plan, size_t *cells,
		      struct error **err)
{
	for (size_t i = 0; i < choice->scenario->expect_count; i++) {
		const struct expectation *cell = &choice->scenario->expect[i];
		const char *reason = lacks(planning, choice->scenario, cell);
		struct plan_absent *absent;

		if (!reason) {
			(*cells)++;
			continue;
		}
		if (plan->absent_count == PLAN_ABSENT_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d cells that this host or gateway cannot make",
					 PLAN_ABSENT_MAX);
		absent = &plan->absent[plan->absent_count++];
		absent->scenario = choice->scenario;
		absent->expectation = cell;
		memcpy(absent->reason, reason, strlen(reason) + 1);
		absent->status = ground_status(reason);
	}
	return 0;
}

static int add_arms(const struct planning *planning, int64_t repetition, struct plan *plan, struct error **err)
{
	for (size_t i = 0; i < planning->count; i++) {
		const struct choice *choice = planning->order[i];

		if (!choice->wanted || choice->unusable)
			continue;
		if (plan->arms_count == PLAN_ARMS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d arms in one run", PLAN_ARMS_MAX);
		plan->cells_count += choice->scenario->expect_count;
		if (plan->cells_count > BUNDLE_CELLS_MAX)
			return error_set(err, ERROR_LIMIT,
					 "more than %d cells in one run, which no bundle holds: repeat it less often",
					 BUNDLE_CELLS_MAX);
		plan->arms[plan->arms_count++] = (struct plan_arm){
			.scenario = choice->scenario,
			.repetition = repetition,
			.added = choice->wanted == WANTED_ADDED,
		};
	}
	return 0;
}

/* Of the selected arms, counted over all repetitions in the plan's order, the shard takes each of-th. What was selected
 * and cannot be run is named by every shard. */
static void want_part(struct planning *planning, struct plan_shard part, size_t *counted)
{
	for (size_t i = 0; i < planning->count; i++) {
		struct choice *choice = planning->order[i];

		choice->wanted = WANTED_NOT;
		if (choice->selected &&
		    (choice->unusable || (int64_t)((*counted)++ % (size_t)part.of) == part.index - 1))
			choice->wanted = WANTED_SELECTED;
		choice->ever |= choice->wanted == WANTED_SELECTED;
	}
}

static int fill_arms(struct planning *planning, int64_t repetitions, struct plan_shard part, struct plan *plan,
		     struct error **err)
{
	size_t counted = 0;
	int result = 0;

	for (int64_t repetition = 1; repetition <= repetitions && result >= 0; repetition++) {
		want_part(planning, part, &counted);
		result = close_over_needs(planning, err);
		for (size_t i = 0; i < planning->count; i++)
			planning->choices[i].ever |= planning->choices[i].wanted != WANTED_NOT;
		if (result >= 0)
			result = add_arms(planning, repetition, plan, err);
	}
	if (result >= 0 && counted > 0 && (int64_t)counted < part.index)
		return error_set(err, ERROR_USAGE, "shard %lld of %lld is empty: the selection is enough for %zu",
				 (long long)part.index, (long long)part.of, counted);
	return result;
}

static int fill(struct planning *planning, int64_t repetitions, struct plan_shard part, struct plan *plan,
		struct error **err)
{
	size_t cells = 0;
	int result;

	for (size_t i = 0; i < planning->count; i++)
		planning->order[i] = &planning->choices[i];
	qsort(planning->order, planning->count, sizeof(*planning->order), by_order);
	result = fill_arms(planning, repetitions, part, plan, err);
	for (size_t i = 0; i < planning->count && result >= 0; i++)
		if (planning->order[i]->ever)
			result = add_absent(planning, planning->order[i], plan, &cells, err);
	if (result >= 0 && cells == 0)
		return error_set(err, ERROR_USAGE,
				 "this host and gateway can make no cell of the selected scenarios%s%s",
				 plan->absent_count ? ": " : "",
				 plan->absent_count ? ground_mend(planning->ground, plan->absent[0].reason) : "");
	return result;
}

int plan_make(const struct scenario *scenarios, size_t count, const char *const *selectors, size_t selectors_count,
	      int64_t repetitions, const struct ground *ground, struct plan **out, struct error **err)
{
	return plan_make_shard(scenarios, count, selectors, selectors_count, repetitions, PLAN_WHOLE, ground, out, err);
}

int plan_make_shard(const struct scenario *scenarios, size_t count, const char *const *selectors,
		    size_t selectors_count, int64_t repetitions, struct plan_shard part, const struct ground *ground,
		    struct plan **out, struct error **err)
{
	cleanup_free struct choice *choices = calloc(count ? count : 1, sizeof(*choices));
	cleanup_free struct choice **order = calloc(count ? count : 1, sizeof(*order));
	cleanup_free struct plan *plan = calloc(1, sizeof(*plan));
	struct planning planning = {
		.scenarios = scenarios, .count = count, .ground = ground, .choices = choices, .order = order
	};
	int result = 0;

	if (!choices || !order || !plan)
		return error_set(err, ERROR_MEMORY, "no memory for the plan");
	if (selectors_count == 0 || count == 0)
		return error_set(err, ERROR_USAGE, "no scenario is selected; `harness list` names them");
	if (repetitions < 1 || repetitions > PLAN_ARMS_MAX)
		return error_set(err, ERROR_USAGE, "repetitions are 1 to %d", PLAN_ARMS_MAX);
	if (part.of < 1 || part.of > PLAN_SHARDS_MAX || part.index < 1 || part.index > part.of)
		return error_set(err, ERROR_USAGE, "shards are 1/N to N/N, and N at most %d", PLAN_SHARDS_MAX);
	for (size_t i = 0; i < count; i++)
		choices[i] = (struct choice){ .scenario = &scenarios[i],
					      .unusable = ground_unusable(ground, &scenarios[i]) };
	for (size_t i = 0; i < selectors_count && result >= 0; i++)
		result = select_by(&planning, selectors[i], err);
	if (result >= 0)
		result = fill(&planning, repetitions, part, plan, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&plan);
	return 0;
}

void plan_free(struct plan *plan)
{
	free(plan);
}

bool plan_has(const struct plan *plan, const struct scenario *scenario, const struct expectation *expectation)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (plan->absent[i].expectation == expectation && plan->absent[i].scenario == scenario)
			return false;
	return true;
}

bool plan_hurts_engine(const struct plan *plan)
{
	for (size_t i = 0; i < plan->arms_count; i++)
		if (scenario_hurts_engine(plan->arms[i].scenario))
			return true;
	return false;
}

bool plan_observes(const struct plan *plan, const char *observer)
{
	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct scenario *scenario = plan->arms[i].scenario;

		for (size_t cell = 0; cell < scenario->expect_count; cell++)
			if (strcmp(scenario->expect[cell].observer, observer) == 0)
				return true;
	}
	return false;
}

int plan_jobs(const struct plan *plan, int jobs)
{
	return plan_hurts_engine(plan) ? 1 : jobs;
}
