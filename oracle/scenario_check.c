/* Sense of a scenario, and what must hold between scenarios. */
#include "oracle/scenario_check.h"

#include <stdio.h>
#include <string.h>

#include "core/fd.h"

/* What one scenario is checked against. */
struct check {
	const struct scenario *scenario;
	const struct scenario_names *names; /* or NULL */
	const char *file;
	struct error **err;
};

static int refuse(const struct check *check, const char *format, ...) PRINTF_LIKE(2, 3);
static int refuse(const struct check *check, const char *format, ...)
{
	char text[320];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error_set(check->err, ERROR_INPUT, "%s: %s", check->file, text);
}

static bool listed(const char *const *list, const char *name)
{
	return schema_enum(list, name) >= 0;
}

static bool has_probe(const struct scenario *scenario, const char *name)
{
	for (size_t i = 0; i < scenario->probes_count; i++)
		if (strcmp(scenario->probes[i], name) == 0)
			return true;
	return false;
}

static int check_list(const struct check *check, const char *field, const char (*list)[NAME_MAX_SHORT], size_t count,
		      const char *const *known)
{
	for (size_t i = 0; i < count; i++) {
		if (known && !listed(known, list[i]))
			return refuse(check, "%s[%zu]: unknown '%s'", field, i, list[i]);
		for (size_t before = 0; before < i; before++)
			if (strcmp(list[before], list[i]) == 0)
				return refuse(check, "%s[%zu]: '%s' stands there twice", field, i, list[i]);
	}
	return 0;
}

static int check_names(const struct check *check)
{
	const struct scenario *scenario = check->scenario;
	const struct scenario_names *names = check->names;
	int result;

	if (names && names->profiles && !listed(names->profiles, scenario->profile))
		return refuse(check, "profile: unknown '%s'", scenario->profile);
	result = check_list(check, "probes", scenario->probes, scenario->probes_count, names ? names->probes : NULL);
	if (result < 0)
		return result;
	return check_list(check, "removes", scenario->removes, scenario->removes_count,
			  names ? names->mutations : NULL);
}

static int check_faults(const struct check *check)
{
	const struct scenario *scenario = check->scenario;

	for (size_t i = 0; i < scenario->faults_count; i++) {
		const struct fault *fault = &scenario->faults[i];

		if (!has_probe(scenario, fault->trigger))
			return refuse(check, "faults[%zu].trigger: '%s' is no probe of this scenario", i,
				      fault->trigger);
		if (fault->undo && fault->action != FAULT_PAUSE)
			return refuse(check, "faults[%zu].undo: only a pause can be undone", i);
	}
	if (scenario->faults_count > 0 && scenario->window_ms == 0)
		return refuse(check, "windowMs: faults need a window in which death is watched for");
	if (scenario->faults_count == 0 && scenario->window_ms > 0)
		return refuse(check, "windowMs: a window without faults");
	return 0;
}

static int check_updates(const struct check *check)
{
	const struct scenario *scenario = check->scenario;

	for (size_t i = 0; i < scenario->updates_count; i++) {
		const char *trigger = scenario->updates[i].trigger;

		if (trigger[0] && !has_probe(scenario, trigger))
			return refuse(check, "updates[%zu].trigger: '%s' is no probe of this scenario", i, trigger);
	}
	return 0;
}

static int check_mutant(const struct check *check)
{
	const struct scenario *scenario = check->scenario;
	bool flips = false;

	for (size_t i = 0; i < scenario->expect_count; i++) {
		if (scenario->expect[i].flips && !scenario->control[0])
			return refuse(check, "expect[%zu].flips: there is no control whose expectation it could fail",
				      i);
		flips |= scenario->expect[i].flips;
	}
	if (scenario->removes_count > 0 && !scenario->control[0])
		return refuse(check, "control: missing, though a protection is removed");
	if (scenario->removes_count == 0 && scenario->control[0])
		return refuse(check, "removes: empty, though there is a control");
	if (scenario->control[0] && !flips)
		return refuse(check, "expect: no cell flips, so nothing shows that the protection was removed");
	return 0;
}

/* A zero at a way out is earned or it is worth nothing. Only what these observers report may be zero without a mutant:
 * it is no absence of a leak. */
static const char *const zero_controls[] = { "state", "decisions", NULL };

/* What is measured and not counted: the one subject of which a bound says something. */
static const char duration[] = "loss_to_dead";

static int check_value(const struct check *check, size_t i)
{
	const struct expectation *cell = &check->scenario->expect[i];
	bool zero = cell->op == OP_EQ && cell->value == 0;

	if (cell->value < 0)
		return refuse(check, "expect[%zu].value: nothing is below 0", i);
	if (cell->op == OP_GE && cell->value == 0)
		return refuse(check, "expect[%zu].value: at least 0 cannot fail", i);
	if (cell->class == CELL_CONTROL && (zero || cell->op == OP_LE) && !listed(zero_controls, cell->observer))
		return refuse(check, "expect[%zu].class: nothing at '%s' is a zero that need not be earned", i,
			      cell->observer);
	if (cell->class == CELL_PROTECTED && !cell->flips && !zero && cell->op != OP_LE)
		return refuse(check, "expect[%zu].op: a protected cell is 'eq' 0 or a bound 'le'", i);
	if (cell->class == CELL_PROTECTED && !cell->flips && cell->op == OP_LE && strcmp(cell->subject, duration) != 0)
		return refuse(check, "expect[%zu].op: a bound 'le' is for '%s' alone: a count is 'eq' 0", i, duration);
	return 0;
}

static int check_expectation(const struct check *check, size_t i)
{
	const struct scenario *scenario = check->scenario;
	const struct expectation *cell = &scenario->expect[i];
	const struct scenario_names *names = check->names;

	if (names && !has_probe(scenario, cell->subject) && !listed(names->measures, cell->subject))
		return refuse(check, "expect[%zu].subject: '%s' is no probe of this scenario and no measure", i,
			      cell->subject);
	if (names && !listed(names->observers, cell->observer))
		return refuse(check, "expect[%zu].observer: unknown '%s'", i, cell->observer);
	if (cell->needs[0] && !listed(scenario_needs, cell->needs))
		return refuse(check, "expect[%zu].needs: unknown '%s'", i, cell->needs);
	if (scenario_cell(scenario, cell->subject, cell->observer) != cell)
		return refuse(check, "expect[%zu]: a second expectation for '%s' at '%s'", i, cell->subject,
			      cell->observer);
	return check_value(check, i);
}

static int check_expectations(const struct check *check)
{
	for (size_t i = 0; i < check->scenario->expect_count; i++) {
		int result = check_expectation(check, i);

		if (result < 0)
			return result;
	}
	return 0;
}

static int (*const scenario_checks[])(const struct check *check) = {
	check_names, check_faults, check_updates, check_mutant, check_expectations,
};

int scenario_check(const struct scenario *scenario, const struct scenario_names *names, const char *file,
		   struct error **err)
{
	const struct check check = { .scenario = scenario, .names = names, .file = file, .err = err };

	for (size_t i = 0; i < ARRAY_SIZE(scenario_checks); i++) {
		int result = scenario_checks[i](&check);

		if (result < 0)
			return result;
	}
	return 0;
}

static bool same_faults(const struct scenario *a, const struct scenario *b)
{
	if (a->faults_count != b->faults_count || a->window_ms != b->window_ms)
		return false;
	for (size_t i = 0; i < a->faults_count; i++) {
		const struct fault *one = &a->faults[i], *other = &b->faults[i];

		if (one->role != other->role || one->action != other->action || one->delay_ms != other->delay_ms ||
		    one->undo != other->undo || strcmp(one->trigger, other->trigger) != 0)
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

		if (one->revision != other->revision || strcmp(one->trigger, other->trigger) != 0 ||
		    strcmp(one->revoke, other->revoke) != 0 || strcmp(one->restore, other->restore) != 0)
			return false;
	}
	return true;
}

static bool same_probes(const struct scenario *a, const struct scenario *b)
{
	if (a->probes_count != b->probes_count)
		return false;
	for (size_t i = 0; i < a->probes_count; i++)
		if (strcmp(a->probes[i], b->probes[i]) != 0)
			return false;
	return true;
}

bool scenario_earns(const struct scenario *mutant, const struct scenario *scenario,
		    const struct expectation *expectation)
{
	const struct expectation *cell;

	if (mutant == scenario || !mutant->control[0])
		return false;
	cell = scenario_cell(mutant, expectation->subject, expectation->observer);
	if (!cell || !cell->flips || cell->class != CELL_PROTECTED)
		return false;
	return expectation->op != OP_LE || same_faults(mutant, scenario);
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
		return cell->flips ? refuse(check, "expect[%zu].flips: the control has no such cell", i) : 0;
	if (cell->class != control->class)
		return refuse(check, "expect[%zu].class: not that of the control's cell", i);
	if (strcmp(cell->needs, control->needs) != 0)
		return refuse(check, "expect[%zu].needs: not those of the control's cell", i);
	if (cell->flips && highest(cell) >= lowest(control) && highest(control) >= lowest(cell))
		return refuse(check, "expect[%zu].flips: a value may meet the control's expectation too", i);
	if (!cell->flips && (lowest(cell) < lowest(control) || highest(cell) > highest(control)))
		return refuse(check,
			      "expect[%zu].value: may fail the control's expectation, and does not say so by 'flips'",
			      i);
	return 0;
}

/* A mutant is its control but for the removed protections. The number of tries may differ: it changes counts, not
 * routes. */
static int check_pair(const struct check *check, const struct scenario *control)
{
	const struct scenario *mutant = check->scenario;

	if (!control)
		return refuse(check, "control: unknown '%s'", mutant->control);
	if (control->control[0])
		return refuse(check, "control: '%s' removes a protection itself", mutant->control);
	if (strcmp(mutant->profile, control->profile) != 0)
		return refuse(check, "profile: not that of the control");
	if (!same_probes(mutant, control))
		return refuse(check, "probes: not those of the control");
	if (mutant->hold != control->hold)
		return refuse(check, "hold: not that of the control");
	if (!same_faults(mutant, control))
		return refuse(check, "faults: not those of the control");
	if (!same_updates(mutant, control))
		return refuse(check, "updates: not those of the control");
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
			return refuse(check, "expect[%zu]: protected, and no mutant flips '%s' at '%s'", i,
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

const char *const scenario_needs[] = { "ipv6-loopback", NULL };
