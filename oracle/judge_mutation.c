/* The judge of mutations: was exactly the named protection taken away, and did the control's expectations notice? */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/judge_internal.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts pointers to the names and drops doubles. Returns how many remain. */
static size_t sort_names(const char (*names)[NAME_MAX_SHORT], size_t count, const char **out)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		out[i] = names[i];
	qsort(out, count, sizeof(*out), by_text);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || strcmp(out[kept - 1], out[i]) != 0)
			out[kept++] = out[i];
	return kept;
}

/* Refused on exactly the rules that must fail. */
static bool refused_as_declared(const struct arm_record *record)
{
	const char *must[ADMISSION_RULES_MAX] = { NULL }, *did[ADMISSION_RULES_MAX] = { NULL };
	size_t must_count = sort_names(record->must_fail, record->must_fail_count, must);
	size_t did_count = sort_names(record->failed, record->failed_count, did);

	if (must_count != did_count)
		return false;
	for (size_t i = 0; i < must_count; i++)
		if (strcmp(must[i], did[i]) != 0)
			return false;
	return true;
}

bool arm_sound(const struct judged_arm *arm, enum because *because)
{
	const struct arm_record *record = arm->record;

	if (!record || record->status != ARM_OK) {
		*because = BECAUSE_ARM;
		return false;
	}
	if (arm->records != 1) {
		*because = BECAUSE_DUPLICATE;
		return false;
	}
	/* Nothing may be waived in an arm that removes nothing, whatever its record says. */
	if (arm->scenario->control[0] ? !refused_as_declared(record)
				      : record->must_fail_count + record->failed_count > 0) {
		*because = BECAUSE_ADMISSION;
		return false;
	}
	return true;
}

bool arms_alike(const struct arm_record *a, const struct arm_record *b)
{
	return a->image[0] && a->boot[0] && strcmp(a->image, b->image) == 0 && strcmp(a->boot, b->boot) == 0;
}

static bool may_differ(const struct arm_record *record, const char *field)
{
	for (size_t i = 0; i < record->may_differ_count; i++) {
		const char *entry = record->may_differ[i];
		size_t length = strlen(entry);

		if (length > 0 && entry[length - 1] == '*' ? strncmp(entry, field, length - 1) == 0
							   : strcmp(entry, field) == 0)
			return true;
	}
	return false;
}

static int by_field(const void *a, const void *b)
{
	const struct effective_value *one = *(const struct effective_value *const *)a;
	const struct effective_value *other = *(const struct effective_value *const *)b;
	int difference = strcmp(one->field, other->field);

	return difference ? difference : strcmp(one->sha256, other->sha256);
}

static void sort_values(const struct arm_record *record, const struct effective_value **out)
{
	for (size_t i = 0; i < record->effective_count; i++)
		out[i] = record->effective[i];
	qsort(out, record->effective_count, sizeof(*out), by_field);
}

/* The effective configuration differs from the control's, and only in what the removed protections may change. */
static int differs_as_declared(const struct arm_record *mutant, const struct arm_record *control, bool *out,
			       struct error **err)
{
	cleanup_free const struct effective_value **ours = calloc(ARM_EFFECTIVE_MAX, sizeof(*ours));
	cleanup_free const struct effective_value **theirs = calloc(ARM_EFFECTIVE_MAX, sizeof(*theirs));
	size_t i = 0, j = 0;
	bool any = false;

	*out = false;
	if (!ours || !theirs)
		return error_set(err, ERROR_MEMORY, "no memory for the effective configuration");
	sort_values(mutant, ours);
	sort_values(control, theirs);
	while (i < mutant->effective_count || j < control->effective_count) {
		int difference = i == mutant->effective_count    ? 1
				 : j == control->effective_count ? -1
								 : by_field(&ours[i], &theirs[j]);

		if (difference != 0) {
			if (!may_differ(mutant, difference < 0 ? ours[i]->field : theirs[j]->field))
				return 0;
			any = true;
		}
		i += difference <= 0;
		j += difference >= 0;
	}
	*out = any;
	return 0;
}

/* The control's expectation for a cell of the mutant when both are planned, else NULL. */
static const struct expectation *counterpart(const struct evidence *evidence, const struct judged_arm *control,
					     const struct expectation *cell)
{
	const struct expectation *found = scenario_cell(control->scenario, cell->subject, cell->observer);

	return found && plan_has(evidence->plan, control->scenario, found) ? found : NULL;
}

/* Each cell that must flip was seen by a live observer; there is at least one. */
static bool flips_seen(const struct evidence *evidence, const struct judged_arm *arm, enum because *because)
{
	size_t flips = 0;

	for (size_t i = 0; i < arm->cells_count; i++) {
		const struct expectation *cell = arm->cells[i].expectation;
		struct view view;

		if (!cell->flips)
			continue;
		flips++;
		view = evidence_view(evidence, arm, cell);
		*because = sight_because(view.sight);
		if (view.sight == SIGHT_LIVE && expectation_outcome(cell, view.observation) == OUTCOME_OPEN)
			*because = BECAUSE_NOT_LIVE;
		if (*because != BECAUSE_MET)
			return false;
	}
	*because = BECAUSE_MISSING;
	return flips > 0;
}

/* The control's expectations fail in exactly the cells that flip. */
static bool trips_as_declared(const struct evidence *evidence, const struct judged_arm *arm,
			      const struct judged_arm *control)
{
	for (size_t i = 0; i < arm->cells_count; i++) {
		const struct expectation *cell = arm->cells[i].expectation;
		const struct expectation *oracle = counterpart(evidence, control, cell);
		struct view view = evidence_view(evidence, arm, cell);
		bool trips = oracle && view.sight == SIGHT_LIVE &&
			     expectation_outcome(oracle, view.observation) == OUTCOME_CONTRADICTED;

		trips |= oracle && view.observation && seen_leak(cell, view.observation);
		if (trips != cell->flips)
			return false;
	}
	return true;
}

static int installed(const struct judged_arm *arm, const struct judged_arm *control, enum because *because, bool *out,
		     struct error **err)
{
	*out = false;
	if (!control) {
		*because = BECAUSE_ARM;
		return 0;
	}
	if (!arm_sound(arm, because) || !arm_sound(control, because))
		return 0;
	*because = BECAUSE_ENVIRONMENT;
	if (!arms_alike(arm->record, control->record))
		return 0;
	*because = BECAUSE_DIFFERENCE;
	return differs_as_declared(arm->record, control->record, out, err);
}

int judge_mutation(const struct evidence *evidence, struct judged_arm *arm, struct error **err)
{
	const struct judged_arm *control = evidence_arm(evidence, arm->scenario->control, arm->repetition);
	struct verdict_mutation *mutation = arm->mutation;
	int result = installed(arm, control, &mutation->because, &mutation->installed, err);

	mutation->verdict = VERDICT_NOT_ESTABLISHED;
	if (result < 0 || !mutation->installed || !flips_seen(evidence, arm, &mutation->because))
		return result;
	mutation->detected = trips_as_declared(evidence, arm, control);
	mutation->verdict = mutation->detected ? VERDICT_PASS : VERDICT_FAIL;
	mutation->because = mutation->detected ? BECAUSE_MET : BECAUSE_UNDETECTED;
	return 0;
}
