/* What must hold between scenarios: a mutant and its control, and what earns a zero. */
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/scenario_check.h"

static bool same_faults(const struct scenario *a, const struct scenario *b)
{
	if (a->faults_count != b->faults_count || a->window_ms != b->window_ms)
		return false;
	for (size_t i = 0; i < a->faults_count; i++) {
		const struct fault *one = &a->faults[i], *other = &b->faults[i];

		if (one->role != other->role || one->action != other->action || one->delay_ms != other->delay_ms ||
		    one->delay_span_ms != other->delay_span_ms || one->undo != other->undo ||
		    strcmp(one->trigger, other->trigger) != 0)
			return false;
	}
	return true;
}

static bool same_updates(const struct scenario *a, const struct scenario *b)
{
	if (a->updates_count != b->updates_count)
		return false;
	for (size_t i = 0; i < a->updates_count; i++) {
		const struct policy_update *one = &a->updates[i], *other = &b->updates[i];

		if (one->revision != other->revision || one->pause != other->pause || one->outcome != other->outcome ||
		    strcmp(one->trigger, other->trigger) != 0 || strcmp(one->revoke, other->revoke) != 0 ||
		    strcmp(one->restore, other->restore) != 0 || strcmp(one->document, other->document) != 0)
			return false;
	}
	return true;
}

static bool same_list(const char (*a)[NAME_MAX_SHORT], size_t a_count, const char (*b)[NAME_MAX_SHORT], size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static bool same_probes(const struct scenario *a, const struct scenario *b)
{
	return same_list(a->probes, a->probes_count, b->probes, b->probes_count) &&
	       same_list(a->after, a->after_count, b->after, b->after_count);
}

/* What the agent and its peers do beyond the probes. */
static bool same_behaviour(const struct scenario *a, const struct scenario *b)
{
	return strcmp(a->misbehaviour.id, b->misbehaviour.id) == 0 && a->misbehaviour.count == b->misbehaviour.count &&
	       strcmp(a->misbehaviour.bytes, b->misbehaviour.bytes) == 0 && a->peer.at == b->peer.at &&
	       strcmp(a->peer.does, b->peer.does) == 0;
}

static bool same_labels(const struct scenario *a, const struct scenario *b)
{
	return strcmp(a->labels.session, b->labels.session) == 0 &&
	       strcmp(a->labels.permitted, b->labels.permitted) == 0 &&
	       strcmp(a->labels.response, b->labels.response) == 0;
}

/* All its members are of one type, so that nothing lies between them. */
static bool same_limits(const struct scenario *a, const struct scenario *b)
{
	return memcmp(&a->limits, &b->limits, sizeof(a->limits)) == 0;
}

bool scenario_earns(const struct scenario *mutant, const struct scenario *scenario,
		    const struct expectation *expectation)
{
	const struct expectation *cell;

	if (mutant == scenario || !mutant->control[0])
		return false;
	/* Else it would be planned where the engine must not be hurt. */
	if (scenario_hurts_engine(mutant) && !scenario_hurts_engine(scenario))
		return false;
	cell = scenario_cell(mutant, expectation->subject, expectation->observer);
	if (!cell || !cell->flips || cell->class != CELL_PROTECTED)
		return false;
	/* What a fault opened is no way out of a session that had none. */
	if (mutant->faults_count > 0 && !same_faults(mutant, scenario))
		return false;
	/* Nor is what an update left open one of a session that had another, or none. */
	if (mutant->updates_count > 0 && !same_updates(mutant, scenario))
		return false;
	if (expectation->op == OP_LE)
		return same_faults(mutant, scenario) && same_behaviour(mutant, scenario);
	return !scenario_after(scenario, expectation->subject) || same_behaviour(mutant, scenario);
}

static int64_t lowest(const struct expectation *cell)
{
	return cell->op == OP_LE ? INT64_MIN : cell->value;
}

static int64_t highest(const struct expectation *cell)
{
	return cell->op == OP_GE ? INT64_MAX : cell->value;
}

/* A cell of a mutant against the control's expectation for the same cell, or NULL. */
static int check_against_control(const struct check *check, size_t i, const struct expectation *control)
{
	const struct expectation *cell = &check->scenario->expect[i];

	if (!control)
		return cell->flips ? check_refuse(check, "expect[%zu].flips: the control has no such cell", i) : 0;
	if (cell->class != control->class)
		return check_refuse(check, "expect[%zu].class: not that of the control's cell", i);
	if (strcmp(cell->needs, control->needs) != 0)
		return check_refuse(check, "expect[%zu].needs: not those of the control's cell", i);
	if (cell->flips && highest(cell) >= lowest(control) && highest(control) >= lowest(cell))
		return check_refuse(check, "expect[%zu].flips: a value may meet the control's expectation too", i);
	if (!cell->flips && (lowest(cell) < lowest(control) || highest(cell) > highest(control)))
		return check_refuse(
			check, "expect[%zu].value: may fail the control's expectation, and does not say so by 'flips'",
			i);
	return 0;
}

/* A mutant is its control but for the removed protections. The number of tries may differ: it changes counts, not
 * routes. */
static int check_pair(const struct check *check, const struct scenario *control)
{
	const struct scenario *mutant = check->scenario;

	if (!control)
		return check_refuse(check, "control: unknown '%s'", mutant->control);
	if (control->control[0])
		return check_refuse(check, "control: '%s' removes a protection itself", mutant->control);
	if (strcmp(mutant->profile, control->profile) != 0)
		return check_refuse(check, "profile: not that of the control");
	if (!same_probes(mutant, control))
		return check_refuse(check, "probes: not those of the control");
	if (strcmp(mutant->ending, control->ending) != 0)
		return check_refuse(check, "ending: not that of the control");
	if (!same_behaviour(mutant, control))
		return check_refuse(check, "misbehaviour: it, or the peer, is not that of the control");
	if (!same_labels(mutant, control))
		return check_refuse(check, "labels: not those of the control");
	if (!same_limits(mutant, control))
		return check_refuse(check, "limits: not those of the control");
	if (!same_faults(mutant, control))
		return check_refuse(check, "faults: not those of the control");
	if (!same_updates(mutant, control))
		return check_refuse(check, "updates: not those of the control");
	for (size_t i = 0; i < mutant->expect_count; i++) {
		const struct expectation *cell = &mutant->expect[i];
		int result = check_against_control(check, i, scenario_cell(control, cell->subject, cell->observer));

		if (result < 0)
			return result;
	}
	return 0;
}

static bool earnable(const struct scenario *scenarios, size_t count, const struct scenario *scenario,
		     const struct expectation *cell)
{
	for (size_t i = 0; i < count; i++)
		if (scenario_earns(&scenarios[i], scenario, cell))
			return true;
	return false;
}

static int check_earnable(const struct check *check, const struct scenario *scenarios, size_t count)
{
	const struct scenario *scenario = check->scenario;

	for (size_t i = 0; i < scenario->expect_count; i++) {
		const struct expectation *cell = &scenario->expect[i];

		if (cell->class == CELL_PROTECTED && !cell->flips && !earnable(scenarios, count, scenario, cell))
			return check_refuse(check, "expect[%zu]: protected, and no mutant flips '%s' at '%s'", i,
					    cell->subject, cell->observer);
	}
	return 0;
}

static int check_control(const struct check *check, const struct scenario *scenarios, size_t count)
{
	const char *control = check->scenario->control;

	return control[0] ? check_pair(check, scenario_find(scenarios, count, control)) : 0;
}

/* Pairs first: a mutant that is not its control's is the better reason for a zero that nothing earns. */
static int (*const set_checks[])(const struct check *check, const struct scenario *scenarios, size_t count) = {
	check_control,
	check_earnable,
};

int scenario_check_set(const struct scenario *scenarios, size_t count, struct error **err)
{
	for (size_t step = 0; step < ARRAY_SIZE(set_checks); step++) {
		for (size_t i = 0; i < count; i++) {
			char file[ID_MAX + 8];
			const struct check check = { .scenario = &scenarios[i], .file = file, .err = err };
			int result;

			snprintf(file, sizeof(file), "%s.json", scenarios[i].id);
			result = set_checks[step](&check, scenarios, count);
			if (result < 0)
				return result;
		}
	}
	return 0;
}

const char *const scenario_needs[] = { "ipv6-loopback", "user-xattr", "relative-core", "postgres", NULL };
