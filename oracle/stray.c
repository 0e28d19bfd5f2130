/*
 * What arrived where no cell of the plan looks. In an arm that takes nothing away, a canary at any way out is a leak,
 * whether or not somebody thought of that pair of subject and observer: each becomes a failed cell of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/judge_internal.h"

/* What these report is no way out: attempts inside, decisions of the gateway, the state of the process. */
static const char *const inward[] = { "attempts", "decisions", "state", NULL };
/* The one delivery that is permitted. */
#define PERMITTED_SUBJECT "permitted"
#define PERMITTED_OBSERVER "deliveries"

static bool is_inward(const char *observer)
{
	return schema_enum(inward, observer) >= 0;
}

bool is_stray(const struct evidence *evidence, size_t arm, const struct observation *observation)
{
	if (evidence->arms[arm].scenario->control[0] || observation->status != OBSERVATION_OBSERVED ||
	    observation->value <= 0 || is_inward(observation->observer))
		return false;
	return strcmp(observation->subject, PERMITTED_SUBJECT) != 0 ||
	       strcmp(observation->observer, PERMITTED_OBSERVER) != 0;
}

/* By arm, subject, observer, id and value, whatever the order of the file. */
static int by_place(const void *a, const void *b, void *context)
{
	const struct stray *one = a, *other = b;
	const struct evidence *evidence = context;
	const struct observation *first = &evidence->kept[one->kept], *second = &evidence->kept[other->kept];
	int difference = (one->arm > other->arm) - (one->arm < other->arm);

	if (!difference)
		difference = strcmp(first->subject, second->subject);
	if (!difference)
		difference = strcmp(first->observer, second->observer);
	if (!difference)
		difference = strcmp(first->id, second->id);
	return difference ? difference : (first->value > second->value) - (first->value < second->value);
}

static void fill(const struct evidence *evidence, const struct stray *stray, struct expectation *expectation,
		 struct verdict_cell *cell)
{
	const struct judged_arm *arm = &evidence->arms[stray->arm];
	const struct observation *observation = &evidence->kept[stray->kept];

	*expectation = (struct expectation){ .op = OP_EQ, .class = CELL_PROTECTED };
	memcpy(expectation->subject, observation->subject, sizeof(expectation->subject));
	memcpy(expectation->observer, observation->observer, sizeof(expectation->observer));
	*cell = (struct verdict_cell){
		.scenario = arm->scenario,
		.expectation = expectation,
		.repetition = arm->repetition,
		.observation = observation,
		.verdict = VERDICT_FAIL,
		.because = BECAUSE_UNPLANNED,
		.mutant = "",
	};
}

int judge_strays(struct evidence *evidence, struct verdicts *verdicts, struct error **err)
{
	size_t count = evidence->strays_count;
	struct verdict_cell *cells;

	if (count == 0)
		return 0;
	qsort_r(evidence->strays, count, sizeof(*evidence->strays), by_place, evidence);
	verdicts->strays = calloc(count, sizeof(*verdicts->strays));
	cells = reallocarray(verdicts->cells, verdicts->cells_count + count, sizeof(*cells));
	if (cells)
		verdicts->cells = cells;
	if (!cells || !verdicts->strays)
		return error_set(err, ERROR_MEMORY, "no memory for what was not planned");
	for (size_t i = 0; i < count; i++)
		fill(evidence, &evidence->strays[i], &verdicts->strays[i], &cells[verdicts->cells_count++]);
	verdicts->strays_count = count;
	return 0;
}
