/* The judge of cells: joins plan, records and observations, and gives each planned cell one of three values. */
#include "oracle/judge.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/judge_internal.h"

/* A cell of a mutant that is to flip: what may earn a zero. */
struct flip {
	const struct judged_arm *arm;
	const struct verdict_cell *cell;
};

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

bool seen_leak(const struct expectation *expectation, const struct observation *observation)
{
	return expectation->class == CELL_PROTECTED && !expectation->flips && expectation->op != OP_GE &&
	       observation->status == OBSERVATION_OBSERVED && observation->value > expectation->value;
}

enum outcome expectation_outcome(const struct expectation *expectation, const struct observation *observation)
{
	bool censored = observation->reason == OBSERVATION_REASON_CENSORED;
	bool more = observation->value > expectation->value, less = observation->value < expectation->value;

	switch (expectation->op) {
	case OP_EQ:
		if (more)
			return OUTCOME_CONTRADICTED;
		if (censored)
			return OUTCOME_OPEN;
		return less ? OUTCOME_CONTRADICTED : OUTCOME_MET;
	case OP_LE:
		if (more)
			return OUTCOME_CONTRADICTED;
		return censored ? OUTCOME_OPEN : OUTCOME_MET;
	case OP_GE:
		if (!less)
			return OUTCOME_MET;
		return censored ? OUTCOME_OPEN : OUTCOME_CONTRADICTED;
	}
	return OUTCOME_OPEN;
}

enum because sight_because(enum sight sight)
{
	switch (sight) {
	case SIGHT_LIVE:
		return BECAUSE_MET;
	case SIGHT_MISSING:
		return BECAUSE_MISSING;
	case SIGHT_DUPLICATE:
		return BECAUSE_DUPLICATE;
	case SIGHT_BLIND:
		break;
	}
	return BECAUSE_NOT_LIVE;
}

static void settle(struct verdict_cell *cell, enum verdict verdict, enum because because)
{
	cell->verdict = verdict;
	cell->because = because;
}

/* Everything but whether a zero was earned. */
static void judge_cell(const struct evidence *evidence, const struct judged_arm *arm, struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;
	struct view view = evidence_view(evidence, arm, expectation);
	enum because because = BECAUSE_MET;
	enum outcome outcome;

	cell->observation = view.observation;
	if (view.observation && seen_leak(expectation, view.observation))
		return settle(cell, VERDICT_FAIL, BECAUSE_VALUE);
	if (!arm_sound(arm, &because))
		return settle(cell, VERDICT_NOT_ESTABLISHED, because);
	if (arm->mutation && !arm->mutation->installed)
		return settle(cell, VERDICT_NOT_ESTABLISHED, arm->mutation->because);
	if (!view.observation || view.sight != SIGHT_LIVE)
		return settle(cell, VERDICT_NOT_ESTABLISHED, sight_because(view.sight));
	outcome = expectation_outcome(expectation, view.observation);
	if (outcome == OUTCOME_OPEN)
		return settle(cell, VERDICT_NOT_ESTABLISHED, BECAUSE_NOT_LIVE);
	if (outcome == OUTCOME_CONTRADICTED)
		return settle(cell, VERDICT_FAIL, BECAUSE_VALUE);
	settle(cell, VERDICT_PASS, BECAUSE_MET);
}

static int flip_order(const char *subject, const char *observer, const struct flip *flip)
{
	int difference = strcmp(subject, flip->cell->expectation->subject);

	return difference ? difference : strcmp(observer, flip->cell->expectation->observer);
}

static int by_flip(const void *a, const void *b)
{
	const struct flip *one = a, *other = b;
	int difference = flip_order(one->cell->expectation->subject, one->cell->expectation->observer, other);

	if (!difference)
		difference = strcmp(one->arm->scenario->id, other->arm->scenario->id);
	return difference ? difference : order(one->arm->repetition, other->arm->repetition);
}

/* The flipped cells that passed in mutants that were detected: each earns zeros. */
static int collect_flips(const struct evidence *evidence, size_t cells, struct flip **out, size_t *count,
			 struct error **err)
{
	struct flip *flips = calloc(cells ? cells : 1, sizeof(*flips));

	if (!flips)
		return error_set(err, ERROR_MEMORY, "no memory for the flipped cells");
	*count = 0;
	for (size_t i = 0; i < evidence->arms_count; i++) {
		const struct judged_arm *arm = &evidence->arms[i];

		if (!arm->mutation || arm->mutation->verdict != VERDICT_PASS)
			continue;
		for (size_t c = 0; c < arm->cells_count; c++) {
			const struct verdict_cell *cell = &arm->cells[c];

			if (cell->expectation->flips && cell->verdict == VERDICT_PASS)
				flips[(*count)++] = (struct flip){ .arm = arm, .cell = cell };
		}
	}
	qsort(flips, *count, sizeof(*flips), by_flip);
	*out = flips;
	return 0;
}

/* A mutant of the same repetition goes before one of another. */
static void earn(const struct judged_arm *arm, struct verdict_cell *cell, const struct flip *flips, size_t count)
{
	const struct expectation *expectation = cell->expectation;
	const struct judged_arm *earner = NULL;
	enum because because = BECAUSE_UNEARNED;
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (flip_order(expectation->subject, expectation->observer, &flips[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && flip_order(expectation->subject, expectation->observer, &flips[low]) == 0; low++) {
		const struct judged_arm *mutant = flips[low].arm;
		bool same = mutant->repetition == arm->repetition;

		/* Shards ran apart: what one of them saw says nothing of another. */
		if (!scenario_earns(mutant->scenario, arm->scenario, expectation) ||
		    mutant->record->shard != arm->record->shard)
			continue;
		if (!arms_alike(mutant->record, arm->record))
			because = BECAUSE_ENVIRONMENT;
		else if (!earner || (same && earner->repetition != arm->repetition))
			earner = mutant;
	}
	if (!earner)
		return settle(cell, VERDICT_NOT_ESTABLISHED, because);
	cell->mutant = earner->scenario->id;
}

static int earn_all(const struct evidence *evidence, size_t cells, struct error **err)
{
	cleanup_free struct flip *flips = NULL;
	size_t count = 0;
	int result = collect_flips(evidence, cells, &flips, &count, err);

	for (size_t i = 0; i < evidence->arms_count && result >= 0; i++) {
		const struct judged_arm *arm = &evidence->arms[i];

		for (size_t c = 0; c < arm->cells_count; c++) {
			struct verdict_cell *cell = &arm->cells[c];

			if (cell->verdict == VERDICT_PASS && cell->expectation->class == CELL_PROTECTED &&
			    !cell->expectation->flips)
				earn(arm, cell, flips, count);
		}
	}
	return result;
}

static void count_planned(const struct plan *plan, size_t *cells, size_t *mutants)
{
	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct scenario *scenario = plan->arms[i].scenario;

		*mutants += scenario->control[0] != '\0';
		for (size_t c = 0; c < scenario->expect_count; c++)
			*cells += plan_has(plan, scenario, &scenario->expect[c]);
	}
}

/* Lays out the planned cells and mutations, each arm's in one piece. */
static void lay_out(struct evidence *evidence, struct verdicts *verdicts)
{
	for (size_t i = 0; i < evidence->arms_count; i++) {
		const struct plan_arm *planned = &evidence->plan->arms[i];
		const struct scenario *scenario = planned->scenario;
		struct judged_arm *arm = &evidence->arms[i];

		*arm = (struct judged_arm){ .scenario = scenario,
					    .repetition = planned->repetition,
					    .cells = &verdicts->cells[verdicts->cells_count] };
		for (size_t c = 0; c < scenario->expect_count; c++)
			if (plan_has(evidence->plan, scenario, &scenario->expect[c]))
				arm->cells[arm->cells_count++] = (struct verdict_cell){
					.scenario = scenario,
					.expectation = &scenario->expect[c],
					.repetition = planned->repetition,
					.mutant = "",
				};
		verdicts->cells_count += arm->cells_count;
		evidence->by_name[i] = arm;
		if (!scenario->control[0])
			continue;
		arm->mutation = &verdicts->mutations[verdicts->mutations_count++];
		*arm->mutation = (struct verdict_mutation){ .scenario = scenario, .repetition = planned->repetition };
	}
	evidence->cells = verdicts->cells;
	evidence->cells_count = verdicts->cells_count;
	evidence_sort_arms(evidence);
}

static int prepare(struct evidence *evidence, struct verdicts *verdicts, struct error **err)
{
	const struct plan *plan = evidence->plan;
	size_t cells = 0, mutants = 0;

	count_planned(plan, &cells, &mutants);
	if (cells == 0)
		return error_set(err, ERROR_INPUT, "there are no cells to judge");
	if (cells > evidence->cells_max)
		return error_set(err, ERROR_LIMIT, "more than %zu cells in one run", evidence->cells_max);
	verdicts->arms = calloc(plan->arms_count, sizeof(*verdicts->arms));
	verdicts->cells = calloc(cells, sizeof(*verdicts->cells));
	verdicts->mutations = calloc(mutants + 1, sizeof(*verdicts->mutations));
	evidence->arms = calloc(plan->arms_count, sizeof(*evidence->arms));
	evidence->by_name = calloc(plan->arms_count, sizeof(struct judged_arm *));
	if (!verdicts->arms || !verdicts->cells || !verdicts->mutations || !evidence->arms || !evidence->by_name)
		return error_set(err, ERROR_MEMORY, "no memory for the verdicts");
	evidence->arms_count = plan->arms_count;
	lay_out(evidence, verdicts);
	return evidence_index_cells(evidence, err);
}

/* What moved between before and after takes every pass away, and no fail. */
static void doubt_all(struct verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->cells_count; i++)
		if (verdicts->cells[i].verdict != VERDICT_FAIL)
			settle(&verdicts->cells[i], VERDICT_NOT_ESTABLISHED, BECAUSE_ENVIRONMENT);
	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		struct verdict_mutation *mutation = &verdicts->mutations[i];

		if (mutation->verdict == VERDICT_FAIL)
			continue;
		mutation->verdict = VERDICT_NOT_ESTABLISHED;
		mutation->because = BECAUSE_ENVIRONMENT;
	}
}

static void sum_up(const struct evidence *evidence, struct verdicts *verdicts)
{
	bool failed = false, open = false, broken = false;

	for (size_t i = 0; i < verdicts->cells_count; i++) {
		verdicts->pass += verdicts->cells[i].verdict == VERDICT_PASS;
		verdicts->fail += verdicts->cells[i].verdict == VERDICT_FAIL;
		verdicts->not_established += verdicts->cells[i].verdict == VERDICT_NOT_ESTABLISHED;
		verdicts->zeros += verdicts->cells[i].expectation->class == CELL_PROTECTED &&
				   !verdicts->cells[i].expectation->flips;
	}
	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		failed |= verdicts->mutations[i].verdict == VERDICT_FAIL;
		open |= verdicts->mutations[i].verdict == VERDICT_NOT_ESTABLISHED;
	}
	verdicts->arms_count = evidence->arms_count;
	for (size_t i = 0; i < evidence->arms_count; i++) {
		const struct judged_arm *arm = &evidence->arms[i];
		struct verdict_arm *out = &verdicts->arms[i];

		*out = (struct verdict_arm){ .scenario = arm->scenario,
					     .repetition = arm->repetition,
					     .status = arm->record ? (enum arm_status)arm->record->status : ARM_NOT_RUN,
					     .reason = arm->record ? arm->record->reason : "",
					     .deployment_revision = arm->record ? arm->record->deployment_revision : "",
					     .events = arm->record ? arm->record->events : NULL,
					     .events_count = arm->record ? arm->record->events_count : 0 };
		verdicts->arms_not_ok += out->status != ARM_OK;
		broken |= out->status == ARM_HARNESS_ERROR || out->status == ARM_NOT_RUN;
	}
	failed |= verdicts->fail > 0;
	open |= verdicts->not_established > 0 || verdicts->arms_not_ok > 0 || verdicts->zeros == 0;
	verdicts->overall = failed ? VERDICT_FAIL : open ? VERDICT_NOT_ESTABLISHED : VERDICT_PASS;
	verdicts->exit_code = failed ? 1 : broken ? 3 : open ? 2 : 0;
}

static int judge_arms(struct evidence *evidence, struct verdicts *verdicts, struct error **err)
{
	for (size_t i = 0; i < evidence->arms_count; i++) {
		struct judged_arm *arm = &evidence->arms[i];
		int result = arm->mutation ? judge_mutation(evidence, arm, err) : 0;

		if (result < 0)
			return result;
		for (size_t c = 0; c < arm->cells_count; c++)
			judge_cell(evidence, arm, &arm->cells[c]);
	}
	return earn_all(evidence, verdicts->cells_count, err);
}

struct judgement {
	struct evidence evidence;
	struct verdicts *verdicts;
};

int judgement_new(const struct plan *plan, const struct arm_record *arms, size_t arms_count, size_t cells_max,
		  struct judgement **out, struct error **err)
{
	cleanup_judgement struct judgement *judgement = calloc(1, sizeof(*judgement));
	int result;

	if (judgement)
		judgement->verdicts = calloc(1, sizeof(*judgement->verdicts));
	if (!judgement || !judgement->verdicts)
		return error_set(err, ERROR_MEMORY, "no memory for the verdicts");
	judgement->evidence.plan = plan;
	judgement->evidence.cells_max = cells_max;
	result = prepare(&judgement->evidence, judgement->verdicts, err);
	if (result >= 0)
		result = evidence_records(&judgement->evidence, arms, arms_count, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&judgement);
	return 0;
}

int judgement_arm(const struct judgement *judgement, const char *id, int64_t repetition, size_t *out)
{
	const struct judged_arm *arm = evidence_arm(&judgement->evidence, id, repetition);

	if (!arm)
		return -1;
	*out = (size_t)(arm - judgement->evidence.arms);
	return 0;
}

int judgement_see(struct judgement *judgement, size_t arm, const struct observation *observation, struct error **err)
{
	return evidence_see(&judgement->evidence, arm, observation, err);
}

int judgement_end(struct judgement *judgement, bool environment_changed, struct verdicts **out, struct error **err)
{
	struct evidence *evidence = &judgement->evidence;
	int result = judge_arms(evidence, judgement->verdicts, err);

	if (result >= 0)
		result = judge_strays(evidence, judgement->verdicts, err);
	if (result < 0)
		return result;
	if (environment_changed)
		doubt_all(judgement->verdicts);
	sum_up(evidence, judgement->verdicts);
	judgement->verdicts->kept = steal_pointer(&evidence->kept);
	*out = steal_pointer(&judgement->verdicts);
	return 0;
}

void judgement_free(struct judgement *judgement)
{
	if (!judgement)
		return;
	evidence_free(&judgement->evidence);
	verdicts_free(judgement->verdicts);
	free(judgement);
}

int judge(const struct plan *plan, const struct arm_record *arms, size_t arms_count,
	  const struct observation *observations, size_t observations_count, bool environment_changed,
	  struct verdicts **out, struct error **err)
{
	cleanup_judgement struct judgement *judgement = NULL;
	int result = judgement_new(plan, arms, arms_count, UINT32_MAX, &judgement, err);

	for (size_t i = 0; i < observations_count && result >= 0; i++) {
		size_t arm = 0;

		if (judgement_arm(judgement, observations[i].arm, observations[i].repetition, &arm) < 0)
			return error_set(err, ERROR_INPUT, "observation %zu: no such arm is planned", i);
		result = judgement_see(judgement, arm, &observations[i], err);
	}
	return result < 0 ? result : judgement_end(judgement, environment_changed, out, err);
}

void verdicts_free(struct verdicts *verdicts)
{
	if (!verdicts)
		return;
	free(verdicts->arms);
	free(verdicts->cells);
	free(verdicts->strays);
	free(verdicts->mutations);
	free(verdicts->kept);
	free(verdicts);
}
