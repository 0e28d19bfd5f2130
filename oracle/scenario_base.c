/* What a scenario takes from another: an heir the probes and cells of its base, a mutant all that its control runs. */
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/scenario_check.h"

static int refuse(const struct scenario *scenario, struct error **err, const char *field, const char *reason)
{
	return error_set(err, ERROR_INPUT, "%s.json: %s: %s", scenario->id, field, reason);
}

/* The base's probes come before the heir's own. */
static int take_probes(struct scenario *scenario, const struct scenario *base, struct error **err)
{
	size_t own = scenario->probes_count;

	if (base->probes_count + own > ARM_PROBES_MAX)
		return refuse(scenario, err, "probes", "too many with those of the base");
	memmove(&scenario->probes[base->probes_count], &scenario->probes[0], own * sizeof(scenario->probes[0]));
	memcpy(&scenario->probes[0], &base->probes[0], base->probes_count * sizeof(base->probes[0]));
	scenario->probes_count += base->probes_count;
	return 0;
}

static int take_cells(struct scenario *scenario, const struct scenario *base, struct error **err)
{
	for (size_t i = 0; i < base->expect_count; i++) {
		if (scenario_cell(scenario, base->expect[i].subject, base->expect[i].observer))
			continue;
		if (scenario->expect_count == ARM_CELLS_MAX)
			return refuse(scenario, err, "expect", "too many with those of the base");
		scenario->expect[scenario->expect_count++] = base->expect[i];
	}
	return 0;
}

/* A base stands by itself, so that the order of the files does not matter. */
static int take_base(struct scenario *scenario, const struct scenario *base, struct error **err)
{
	if (!base || base == scenario)
		return refuse(scenario, err, "base", "no other scenario has this id");
	if (base->base[0] || base->control[0])
		return refuse(scenario, err, "base", "a base has no base itself, and removes nothing");
	return take_probes(scenario, base, err) < 0 ? -1 : take_cells(scenario, base, err);
}

/* A mutant is its control but for the removed protections. */
static void take_control(struct scenario *mutant, const struct scenario *control)
{
	memcpy(mutant->probes, control->probes, sizeof(mutant->probes));
	mutant->probes_count = control->probes_count;
	memcpy(mutant->after, control->after, sizeof(mutant->after));
	mutant->after_count = control->after_count;
	memcpy(mutant->faults, control->faults, sizeof(mutant->faults));
	mutant->faults_count = control->faults_count;
	memcpy(mutant->updates, control->updates, sizeof(mutant->updates));
	mutant->updates_count = control->updates_count;
	memcpy(mutant->ending, control->ending, sizeof(mutant->ending));
	mutant->misbehaviour = control->misbehaviour;
	mutant->limits = control->limits;
	mutant->peer = control->peer;
	mutant->labels = control->labels;
	mutant->tries = control->tries;
	mutant->window_ms = control->window_ms;
}

int scenario_take_bases(struct scenario *scenarios, size_t count, struct error **err)
{
	for (size_t i = 0; i < count; i++)
		if (scenarios[i].base[0] &&
		    take_base(&scenarios[i], scenario_find(scenarios, count, scenarios[i].base), err) < 0)
			return -1;
	for (size_t i = 0; i < count; i++) {
		const struct scenario *control = scenario_find(scenarios, count, scenarios[i].control);

		memset(scenarios[i].base, 0, sizeof(scenarios[i].base));
		if (scenarios[i].control[0] && scenarios[i].probes_count == 0 && control)
			take_control(&scenarios[i], control);
	}
	return 0;
}
