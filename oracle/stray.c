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

static bool is_stray(const struct evidence *evidence, const struct sighting *sighting)
{
	const struct observation *observation = sighting->observation;
	const struct scenario *scenario = evidence->arms[sighting->arm].scenario;
	const struct expectation *cell = scenario_cell(scenario, observation->subject, observation->observer);

	if (scenario->control[0] || observation->status != OBSERVATION_OBSERVED || observation->value <= 0 ||
	    is_inward(observation->observer))
		return false;
	if (strcmp(observation->subject, PERMITTED_SUBJECT) == 0 &&
	    strcmp(observation->observer, PERMITTED_OBSERVER) == 0)
		return false;
	return !cell || !plan_has(evidence->plan, scenario, cell);
}

static void fill(const struct evidence *evidence, const struct sighting *sighting, struct expectation *expectation,
		 struct verdict_cell *cell)
{
	const struct judged_arm *arm = &evidence->arms[sighting->arm];

	*expectation = (struct expectation){ .op = OP_EQ, .class = CELL_PROTECTED };
	memcpy(expectation->subject, sighting->observation->subject, sizeof(expectation->subject));
	memcpy(expectation->observer, sighting->observation->observer, sizeof(expectation->observer));
	*cell = (struct verdict_cell){
		.scenario = arm->scenario,
		.expectation = expectation,
		.repetition = arm->repetition,
		.observation = sighting->observation,
		.verdict = VERDICT_FAIL,
		.because = BECAUSE_UNPLANNED,
	};
}

int judge_strays(const struct evidence *evidence, struct verdicts *verdicts, struct error **err)
{
	struct verdict_cell *cells;
	size_t count = 0;

	for (size_t i = 0; i < evidence->sightings_count; i++)
		count += is_stray(evidence, &evidence->sightings[i]);
	if (count == 0)
		return 0;
	verdicts->strays = calloc(count, sizeof(*verdicts->strays));
	cells = realloc(verdicts->cells, (verdicts->cells_count + count) * sizeof(*cells));
	if (cells)
		verdicts->cells = cells;
	if (!cells || !verdicts->strays)
		return error_set(err, ERROR_MEMORY, "no memory for what was not planned");
	for (size_t i = 0; i < evidence->sightings_count; i++)
		if (is_stray(evidence, &evidence->sightings[i])) {
			fill(evidence, &evidence->sightings[i], &verdicts->strays[verdicts->strays_count],
			     &cells[verdicts->cells_count++]);
			verdicts->strays_count++;
		}
	return 0;
}
