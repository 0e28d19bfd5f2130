/* The sense of one scenario. */
#include "oracle/scenario_check.h"

#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/nearest.h"

int check_refuse(const struct check *check, const char *format, ...)
{
	char text[320];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return error_set(check->err, ERROR_INPUT, "%s: %s", check->file, text);
}

/* What the agent can do at its end. */
static const char *const endings[] = { "done", "exit", "hold", NULL };
/* The trigger that is no subject. */
static const char misbehaviour[] = "misbehaviour";

static bool listed(const char *const *list, const char *name)
{
	return schema_enum(list, name) >= 0;
}

static bool in_list(const char (*list)[NAME_MAX_SHORT], size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

bool scenario_after(const struct scenario *scenario, const char *subject)
{
	return in_list(scenario->after, scenario->after_count, subject);
}

bool scenario_tries(const struct scenario *scenario, const char *subject)
{
	return in_list(scenario->probes, scenario->probes_count, subject);
}

bool scenario_orders(const struct scenario *scenario)
{
	return scenario_tries(scenario, "order-gateway") || scenario_tries(scenario, "order-again");
}

static bool has_probe(const struct scenario *scenario, const char *name)
{
	return scenario_tries(scenario, name) || scenario_after(scenario, name);
}

/* With the name of the list that was probably meant. */
static int refuse_unknown(const struct check *check, const char *field, const char *word, const char *const *known)
{
	struct nearest nearest = { .word = word };
	const struct scenario_names *names = check->names;
	const char *more = names && known == names->observers ? names->elsewhere : NULL;

	for (size_t i = 0; known[i]; i++)
		nearest_offer(&nearest, known[i]);
	if (!nearest.name[0])
		return check_refuse(check, "%s: unknown '%s'%s", field, word, more ? more : "");
	return check_refuse(check, "%s: unknown '%s': did you mean '%s'?", field, word, nearest.name);
}

static int check_list(const struct check *check, const char *field, const char (*list)[NAME_MAX_SHORT], size_t count,
		      const char *const *known)
{
	for (size_t i = 0; i < count; i++) {
		char place[ID_MAX];

		snprintf(place, sizeof(place), "%s[%zu]", field, i);
		if (known && !listed(known, list[i]))
			return refuse_unknown(check, place, list[i], known);
		for (size_t before = 0; before < i; before++)
			if (strcmp(list[before], list[i]) == 0)
				return check_refuse(check, "%s[%zu]: '%s' stands there twice", field, i, list[i]);
	}
	return 0;
}

static int check_names(const struct check *check)
{
	const struct scenario *scenario = check->scenario;
	const struct scenario_names *names = check->names;
	int result;

	if (names && names->profiles && !listed(names->profiles, scenario->profile))
		return refuse_unknown(check, "profile", scenario->profile, names->profiles);
	if (names && names->ends && scenario->ends[0] && !listed(names->ends, scenario->ends))
		return refuse_unknown(check, "ends", scenario->ends, names->ends);
	if (scenario->ending[0] && !listed(endings, scenario->ending))
		return refuse_unknown(check, "ending", scenario->ending, endings);
	if (scenario->probes_count == 0)
		return check_refuse(check, "probes: none, and none from a base");
	result = check_list(check, "probes", scenario->probes, scenario->probes_count, names ? names->probes : NULL);
	if (result < 0)
		return result;
	return check_list(check, "removes", scenario->removes, scenario->removes_count,
			  names ? names->mutations : NULL);
}

/* What the order service does instead. */
static const char *const forgeries[] = { "writes-twice", "writes-nothing",   "writes-own",      "copies-id",
					 "rolls-back",   "answers-too-long", "answers-failure", NULL };

/* What the agent tries behind its misbehaviour is named apart: it is tried only if that was let go on. */
static int check_misbehaviour(const struct check *check)
{
	const struct scenario *scenario = check->scenario;
	int result = check_list(check, "after", scenario->after, scenario->after_count,
				check->names ? check->names->probes : NULL);

	if (result < 0)
		return result;
	for (size_t i = 0; i < scenario->after_count; i++)
		if (scenario_tries(scenario, scenario->after[i]))
			return check_refuse(check, "after[%zu]: '%s' is one of the probes", i, scenario->after[i]);
	if (scenario->after_count > 0 && !scenario_pauses(scenario))
		return check_refuse(check, "after: there is no misbehaviour before it");
	if (check->names && check->names->misbehaviours && scenario_pauses(scenario) && scenario->misbehaviour.id[0] &&
	    !listed(check->names->misbehaviours, scenario->misbehaviour.id))
		return refuse_unknown(check, "misbehaviour.id", scenario->misbehaviour.id, check->names->misbehaviours);
	if (strlen(scenario->misbehaviour.bytes) % 2 != 0)
		return check_refuse(check, "misbehaviour.bytes: two digits are a byte");
	if ((scenario->peer.at == PEER_NONE) != (scenario->peer.does[0] == '\0'))
		return check_refuse(check, "peer.does: goes with a peer alone");
	if ((scenario->peer.at == PEER_AUDIT || scenario->peer.at == PEER_COLLECTOR) &&
	    strcmp(scenario->peer.does, "fails") != 0)
		return check_refuse(check, "peer.does: a database or a collector does nothing but 'fails'");
	if (scenario->peer.at == PEER_ORDERS && !scenario_orders(scenario))
		return check_refuse(check, "peer.at: nobody orders through the gateway here");
	if (scenario->peer.at == PEER_ORDERS && !listed(forgeries, scenario->peer.does))
		return refuse_unknown(check, "peer.does", scenario->peer.does, forgeries);
	return 0;
}

/* What can happen to a part, or come from where. */
static unsigned actions_of(int role)
{
	switch (role) {
	case FAULT_OPERATOR:
		return 1U << FAULT_CONNECT | 1U << FAULT_DISCONNECT | 1U << FAULT_UPDATE | 1U << FAULT_EXEC |
		       1U << FAULT_ATTACH | 1U << FAULT_RENAME;
	case FAULT_NAMESPACE:
		return 1U << FAULT_INTERFACE;
	case FAULT_HOST:
		return 1U << FAULT_CORE_PATTERN;
	case FAULT_WATCHDOG:
		return 1U << FAULT_KILL | 1U << FAULT_PAUSE | 1U << FAULT_TERMINATE | 1U << FAULT_FILL;
	default:
		return 1U << FAULT_KILL | 1U << FAULT_PAUSE | 1U << FAULT_TERMINATE;
	}
}

static int check_faults(const struct check *check)
{
	const struct scenario *scenario = check->scenario;

	for (size_t i = 0; i < scenario->faults_count; i++) {
		const struct fault *fault = &scenario->faults[i];

		if (!has_probe(scenario, fault->trigger) &&
		    !(scenario_pauses(scenario) && strcmp(fault->trigger, misbehaviour) == 0))
			return check_refuse(check, "faults[%zu].trigger: '%s' is no probe of this scenario", i,
					    fault->trigger);
		if (!(actions_of(fault->role) & 1U << fault->action))
			return check_refuse(check, "faults[%zu].action: nothing of its role does that", i);
		if ((fault->role == FAULT_ENGINE || fault->role == FAULT_SHIM) && !scenario_hurts_engine(scenario))
			return check_refuse(
				check, "faults[%zu].role: only scenarios of the group 'engine' hurt the engine", i);
		if (fault->undo && fault->action != FAULT_PAUSE)
			return check_refuse(check, "faults[%zu].undo: only a pause can be undone", i);
	}
	for (size_t i = 0; i < scenario->faults_count; i++) {
		const struct fault *fault = &scenario->faults[i];

		if (fault->delay_span_ms && fault->delay_ms + fault->delay_span_ms >= scenario->window_ms)
			return check_refuse(check, "faults[%zu].delaySpanMs: it may strike when the window is over", i);
	}
	if ((scenario->faults_count > 0 || scenario_pauses(scenario)) != (scenario->window_ms > 0))
		return check_refuse(check,
				    "windowMs: death is watched for behind a fault or a misbehaviour, and only there");
	return 0;
}

static size_t probe_index(const struct scenario *scenario, const char *probe)
{
	size_t i = 0;

	while (i < scenario->probes_count && strcmp(scenario->probes[i], probe) != 0)
		i++;
	return i;
}

static int check_updates(const struct check *check)
{
	const struct scenario *scenario = check->scenario;
	size_t last = 0;

	for (size_t i = 0; i < scenario->updates_count; i++) {
		const struct policy_update *update = &scenario->updates[i];
		size_t at = probe_index(scenario, update->trigger);
		bool document = update->document[0] != '\0';

		if (at == scenario->probes_count)
			return check_refuse(check, "updates[%zu].trigger: '%s' is no probe of this scenario", i,
					    update->trigger);
		if (at < last)
			return check_refuse(check, "updates[%zu].trigger: comes before that of the update before it",
					    i);
		last = at;
		if (update->pause && scenario_pauses(scenario))
			return check_refuse(check, "updates[%zu].pause: the agent stops for its misbehaviour", i);
		if (document && (update->revision || update->revoke[0] || update->restore[0]))
			return check_refuse(check, "updates[%zu].document: says all by itself", i);
		if (!document && (update->revoke[0] != '\0') == (update->restore[0] != '\0'))
			return check_refuse(check, "updates[%zu]: either revoke or restore, or a document", i);
	}
	return 0;
}

static int check_mutant(const struct check *check)
{
	const struct scenario *scenario = check->scenario;
	bool flips = false;

	for (size_t i = 0; i < scenario->expect_count; i++) {
		if (scenario->expect[i].flips && !scenario->control[0])
			return check_refuse(
				check, "expect[%zu].flips: there is no control whose expectation it could fail", i);
		flips |= scenario->expect[i].flips;
	}
	if (scenario->removes_count > 0 && !scenario->control[0])
		return check_refuse(check, "control: missing, though a protection is removed");
	if (scenario->removes_count == 0 && scenario->control[0])
		return check_refuse(check, "removes: empty, though there is a control");
	if (scenario->control[0] && !flips)
		return check_refuse(check, "expect: no cell flips, so nothing shows that the protection was removed: "
					   "the cell that does has \"flips\": true");
	return 0;
}

/* A zero at a way out is earned or it is worth nothing. Only what these observers report may be zero without a mutant:
 * it is no absence of a leak. */
static const char *const zero_controls[] = { "state", "decisions", NULL };
/* Rows of an outcome, and rows that are broken: an observer that reads them has others to show. */
static const char *const zero_measures[] = { "audit-allow", "audit-deny",  "audit-fault", "audit-intent",
					     "audit-chain", "roles-other", NULL };

/* What is measured and has a limit: the subjects of which a bound says something. */
static const char *const bounded[] = { "loss_to_dead", "written", "processes", "memory", NULL };

/* Where a control may stand: of which subjects an observer shows that something works. Everywhere else a number above
 * zero is a way out that is open, and no class makes it less. */
static const char *const work_delivered[] = { "permitted", "permitted-again", "permitted-third",
					      "in-key",    "in-url",          "raising",
					      "slow",      "slow-ahead",      "peer-acted",
					      NULL };
static const char *const work_of_state[] = { "alive",         "attempted", "core-limit-hard", "core-limit-soft",
					     "descriptors",   "exit-code", "loss_to_dead",    "oom-kills",
					     "process-limit", "restarts",  "starts",          "term-ignored",
					     "written",       NULL };
static const char *const work_written[] = { "audit-allow",  "audit-deny",  "audit-fault",
					    "audit-intent", "audit-chain", NULL };
static const char *const work_of_spans[] = { "spans", "spans-error", NULL };
static const char *const work_of_children[] = { "upstream-children", NULL };
/* What was authorised, what another service does in any case, and the sum of both; rows that say the role of their
 * path, and in how many transactions they came. */
static const char *const work_ordered[] = { "order-gateway", "order-again", "order-service", "orders", "roles-other",
					    "transactions",  NULL };

static const struct place {
	const char *observer;
	const char *const *subjects; /* NULL: all of them, as it sees what was asked and no way out */
} control_places[] = {
	{ "attempts", NULL },
	{ "audit", work_written },
	{ "children", work_of_children },
	{ "correlation", NULL },
	{ "correlation-pg", NULL },
	{ "decisions", NULL },
	{ "deliveries", work_delivered },
	{ "orders", work_ordered },
	{ "orders-pg", work_ordered },
	{ "spans", work_of_spans },
	{ "state", work_of_state },
};

/* What is tried behind a misbehaviour arrives where the session may live on: only a peer misbehaved, or the bytes came
 * one by one. */
static bool lives_on(const struct scenario *scenario)
{
	return scenario->peer.at != PEER_NONE || strcmp(scenario->misbehaviour.id, "split") == 0;
}

static bool may_be_control(const struct scenario *scenario, const struct expectation *cell)
{
	if (strcmp(cell->observer, "deliveries") == 0 && scenario_after(scenario, cell->subject))
		return lives_on(scenario);
	/* A forged order that bears nobody's canary has to be seen. */
	if (strcmp(cell->observer, "orders") == 0 && strcmp(cell->subject, "orders-other") == 0)
		return scenario->peer.at == PEER_ORDERS;
	for (size_t i = 0; i < ARRAY_SIZE(control_places); i++)
		if (strcmp(control_places[i].observer, cell->observer) == 0)
			return !control_places[i].subjects || listed(control_places[i].subjects, cell->subject);
	return false;
}

static int check_value(const struct check *check, size_t i)
{
	const struct expectation *cell = &check->scenario->expect[i];
	bool zero = cell->op == OP_EQ && cell->value == 0;

	if (cell->value < 0)
		return check_refuse(check, "expect[%zu].value: nothing is below 0", i);
	if (cell->op == OP_GE && cell->value == 0)
		return check_refuse(check, "expect[%zu].value: at least 0 cannot fail", i);
	if (cell->class == CELL_CONTROL && (zero || cell->op == OP_LE) && !listed(zero_controls, cell->observer) &&
	    !listed(zero_measures, cell->subject))
		return check_refuse(check, "expect[%zu].class: nothing at '%s' is a zero that need not be earned", i,
				    cell->observer);
	if (cell->class == CELL_CONTROL && !may_be_control(check->scenario, cell))
		return check_refuse(check, "expect[%zu].class: '%s' at '%s' is a way out, and no control", i,
				    cell->subject, cell->observer);
	if (cell->class == CELL_PROTECTED && !cell->flips && !zero && cell->op != OP_LE && check->scenario->control[0])
		return check_refuse(
			check,
			"expect[%zu].flips: missing: a protected cell that is no 'eq' 0 here is one that the "
			"mutant turns, with \"flips\": true",
			i);
	if (cell->class == CELL_PROTECTED && !cell->flips && !zero && cell->op != OP_LE)
		return check_refuse(check, "expect[%zu].op: a protected cell is 'eq' 0 or a bound 'le'", i);
	if (cell->class == CELL_PROTECTED && !cell->flips && cell->op == OP_LE && !listed(bounded, cell->subject))
		return check_refuse(
			check, "expect[%zu].op: a bound 'le' is for a measure that has a limit: a count is 'eq' 0", i);
	return 0;
}

static int check_expectation(const struct check *check, size_t i)
{
	const struct scenario *scenario = check->scenario;
	const struct expectation *cell = &scenario->expect[i];
	const struct scenario_names *names = check->names;
	char place[ID_MAX];

	if (names && !has_probe(scenario, cell->subject) && !listed(names->measures, cell->subject))
		return check_refuse(check, "expect[%zu].subject: '%s' is no probe of this scenario and no measure", i,
				    cell->subject);
	snprintf(place, sizeof(place), "expect[%zu].observer", i);
	if (names && !listed(names->observers, cell->observer))
		return refuse_unknown(check, place, cell->observer, names->observers);
	if (cell->needs[0] && !listed(scenario_needs, cell->needs))
		return check_refuse(check, "expect[%zu].needs: unknown '%s'", i, cell->needs);
	if (scenario_cell(scenario, cell->subject, cell->observer) != cell)
		return check_refuse(check, "expect[%zu]: a second expectation for '%s' at '%s'", i, cell->subject,
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
	check_names, check_misbehaviour, check_faults, check_updates, check_mutant, check_expectations,
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
