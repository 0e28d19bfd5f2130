/* Whether the bundle's parts can belong to one run: arms as planned, cells absent as the host lacks, observations as
 * their observers make them. */
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "reports/environment.h"
#include "reports/verify_parts.h"

/* What one observer reports of a subject. */
struct report_form {
	const char *observer;
	const char *subject; /* or NULL: of any that no row before names */
	int kind;
	const char *unit;
	bool bears; /* it counts records that bear the canary, so its hits are no fewer */
};
static const struct report_form report_forms[];
static const size_t report_forms_count;

/* What observers report beside the probes, and who they are: a run of few scenarios names neither in its cells. */
static const char *const measure_names[], *const observer_names[];

static const struct plan_arm *find_arm(const struct plan *plan, const char *id, int64_t repetition)
{
	for (size_t i = 0; i < plan->arms_count; i++)
		if (plan->arms[i].repetition == repetition && strcmp(plan->arms[i].scenario->id, id) == 0)
			return &plan->arms[i];
	return NULL;
}

static bool known_subject(const struct scenario *scenario, const char *subject)
{
	for (size_t i = 0; i < scenario->probes_count; i++)
		if (strcmp(scenario->probes[i], subject) == 0)
			return true;
	for (size_t i = 0; i < scenario->expect_count; i++)
		if (strcmp(scenario->expect[i].subject, subject) == 0)
			return true;
	return scenario_after(scenario, subject) || schema_enum(measure_names, subject) >= 0;
}

static bool known_observer(const struct scenario *scenario, const char *observer)
{
	for (size_t i = 0; i < scenario->expect_count; i++)
		if (strcmp(scenario->expect[i].observer, observer) == 0)
			return true;
	return schema_enum(observer_names, observer) >= 0;
}

/* The records are in the order of the plan, one an arm. */
static int check_records(const struct bundle *bundle, struct error **err)
{
	if (bundle->arms_count != bundle->plan->arms_count)
		return error_set(err, ERROR_INPUT, "arms.json has %zu arms, %zu are planned", bundle->arms_count,
				 bundle->plan->arms_count);
	for (size_t i = 0; i < bundle->arms_count; i++)
		if (strcmp(bundle->arms[i].arm, bundle->plan->arms[i].scenario->id) != 0 ||
		    bundle->arms[i].repetition != bundle->plan->arms[i].repetition)
			return error_set(err, ERROR_INPUT, "arms.json: arms[%zu] is not the planned one", i);
	return 0;
}

/* Each probe of an arm has a canary of its own. An arm that broke may not have come to make any. */
static int check_canaries(const struct bundle *bundle, struct error **err)
{
	size_t probes = 0;

	for (size_t i = 0; i < bundle->arms_count; i++)
		if (bundle->arms[i].status == ARM_OK)
			probes += bundle->plan->arms[i].scenario->probes_count;
	if (bundle->manifest.canaries < (int64_t)probes)
		return error_set(err, ERROR_INPUT, "manifest.json: fewer canaries than the %zu probes of its arms",
				 probes);
	return 0;
}

/* ---- what host and gateway lack ---- */

static const struct plan_absent *find_absent(const struct plan *plan, const struct scenario *scenario,
					     const struct expectation *cell)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (plan->absent[i].scenario == scenario && plan->absent[i].expectation == cell)
			return &plan->absent[i];
	return NULL;
}

static int check_cell(const struct bundle *bundle, const struct ground *ground, const struct scenario *scenario,
		      const struct expectation *cell, struct error **err)
{
	const struct plan_absent *absent = find_absent(bundle->plan, scenario, cell);
	const char *reason = ground_lacks(ground, bundle->scenarios, bundle->scenarios_count, scenario, cell);

	if (!absent != !reason)
		return error_set(err, ERROR_INPUT,
				 "coverage.json: '%s' at '%s' of '%s' is %s, and host and gateway %s what it needs",
				 cell->subject, cell->observer, scenario->id, reason ? "planned" : "absent",
				 reason ? "lack" : "have");
	if (reason && (ground_is_gateway_reason(reason) || ground_is_gateway_reason(absent->reason)) &&
	    strcmp(reason, absent->reason) != 0)
		return error_set(err, ERROR_INPUT, "coverage.json: '%s' at '%s' of '%s' is absent for another reason",
				 cell->subject, cell->observer, scenario->id);
	return 0;
}

/* The planner's rule, asked again of what the environment says of the host and the manifest of the gateway. */
static int check_absent(const struct bundle *bundle, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_ENVIRONMENT].text;
	const char *missing[ENVIRONMENT_NEEDS + 1] = { NULL };
	const struct ground ground = { .missing = missing,
				       .gateway = (enum gateway_kind)bundle->manifest.gateway.kind,
				       .raised = bundle->manifest.gateway.raised };
	int result = environment_lacks(buf_string(text), text->length, missing, err);

	for (size_t i = 0; i < bundle->scenarios_count && result >= 0; i++) {
		const struct scenario *scenario = &bundle->scenarios[i];

		for (size_t c = 0; c < scenario->expect_count && result >= 0; c++)
			result = check_cell(bundle, &ground, scenario, &scenario->expect[c], err);
	}
	return result;
}

/* ---- observations ---- */

static const struct report_form *form_of(const struct observation *one)
{
	for (size_t i = 0; i < report_forms_count; i++) {
		const struct report_form *form = &report_forms[i];

		if (strcmp(form->observer, one->observer) == 0 &&
		    (!form->subject || strcmp(form->subject, one->subject) == 0))
			return form;
	}
	return NULL;
}

static int check_numbers(const struct observation *one, const struct report_form *form, size_t line, struct error **err)
{
	if (one->value < 0)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu has a value below 0", line);
	if (!form || !form->bears)
		return 0;
	if (one->canary_hits < one->value)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu has more records than canaries", line);
	if (one->canary_hits > 0 && one->value == 0)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu has canaries, and no record", line);
	return 0;
}

/* What was observed: an observer that failed says no more than that. */
static int check_observed(const struct bundle *bundle, const struct plan_arm *arm, size_t index, struct error **err)
{
	const struct observation *one = &bundle->observations[index];
	const struct arm_record *record = &bundle->arms[arm - bundle->plan->arms];
	const struct expectation *cell = scenario_cell(arm->scenario, one->subject, one->observer);
	const struct plan_absent *absent = cell ? find_absent(bundle->plan, arm->scenario, cell) : NULL;
	const struct report_form *form = form_of(one);
	size_t line = index + 1;

	/* What no mutant can earn with this gateway may be seen all the same; what arrives there is a leak. */
	if (absent && !ground_is_gateway_reason(absent->reason))
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is of a cell that is absent", line);
	if (record->status == ARM_OK && record->reason[0])
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is of an arm that was refused", line);
	if (!form && schema_enum(observer_names, one->observer) >= 0)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is of a subject that '%s' has not",
				 line, one->observer);
	if (form && (one->kind != form->kind || strcmp(one->unit, form->unit) != 0))
		return error_set(err, ERROR_INPUT,
				 "observations.jsonl: line %zu has another kind or unit than '%s' reports", line,
				 form->observer);
	if (one->start_ns < 0 || one->duration_ns < 0 || one->start_ns > record->duration_ns ||
	    one->duration_ns > record->duration_ns - one->start_ns)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is not within its arm's time", line);
	return check_numbers(one, form, line, err);
}

static int check_observation(const struct bundle *bundle, size_t index, const struct plan_arm **last,
			     struct error **err)
{
	const struct observation *one = &bundle->observations[index];
	char id[sizeof(one->id) + 16];

	snprintf(id, sizeof(id), "o-%06zu", index + 1);
	if (strcmp(one->id, id) != 0)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu does not have the id %s", index + 1,
				 id);
	/* Observations of an arm stand together, so the last one found is nearly always the one. */
	if (!*last || (*last)->repetition != one->repetition || strcmp((*last)->scenario->id, one->arm) != 0)
		*last = find_arm(bundle->plan, one->arm, one->repetition);
	if (!*last)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is of an arm that is not planned",
				 index + 1);
	if (!known_subject((*last)->scenario, one->subject))
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu names an unknown subject", index + 1);
	if (!known_observer((*last)->scenario, one->observer))
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu names an unknown observer", index + 1);
	return one->status == OBSERVATION_OBSERVED ? check_observed(bundle, *last, index, err) : 0;
}

int check_references(struct bundle *bundle, struct error **err)
{
	const struct plan_arm *last = NULL;
	int result = check_records(bundle, err);

	if (result >= 0)
		result = check_origin(bundle, err);
	if (result >= 0)
		result = check_canaries(bundle, err);
	if (result >= 0)
		result = check_absent(bundle, err);
	for (size_t i = 0; i < bundle->observations_count && result >= 0; i++)
		result = check_observation(bundle, i, &last, err);
	return result < 0 ? result : check_timelines(bundle, err);
}

static const char *const measure_names[] = {
	"interfaces",
	"packets-other",
	"core-limit-soft",
	"core-limit-hard",
	"restarts",
	"starts",
	"alive",
	"loss_to_dead",
	"exit-code",
	"processes",
	"process-limit",
	"memory",
	"oom-kills",
	"peer-acted",
	"late",
	"renamed",
	"limits-changed",
	"networks-changed",
	"core-pattern",
	"core-files",
	"written",
	"attempted",
	"descriptors",
	"term-ignored",
	"audit-allow",
	"audit-deny",
	"audit-fault",
	"audit-intent",
	"audit-chain",
	"spans",
	"spans-error",
	"upstream-environment",
	"upstream-descriptors",
	"upstream-children",
	NULL,
};

static const char *const observer_names[] = {
	"tcp4",        "tcp6",          "dns",           "tcp4-nic",    "capture-host", "capture-netns",
	"attempts",    "files-archive", "files-changes", "files-upper", "files-root",   "logs-api",
	"logs-disk",   "deliveries",    "decisions",     "state",       "client",       "audit",
	"audit-bytes", "output",        "spans",         "children",    NULL,
};

#define RECORDS(id) .observer = (id), .kind = OBSERVATION_COUNT, .unit = "records"
#define STATE(name, what, of) .observer = "state", .subject = (name), .kind = (what), .unit = (of)

static const struct report_form report_forms[] = {
	{ RECORDS("tcp4"), .bears = true },
	{ RECORDS("tcp6"), .bears = true },
	{ RECORDS("dns"), .bears = true },
	{ RECORDS("tcp4-nic"), .bears = true },
	{ RECORDS("capture-host"), .bears = true },
	/* Totals, whatever they bear. */
	{ RECORDS("capture-netns"), .subject = "interfaces" },
	{ RECORDS("capture-netns"), .subject = "packets-other" },
	{ RECORDS("capture-netns"), .bears = true },
	/* A refused connection bears nothing. */
	{ RECORDS("attempts") },
	/* What bears no canary, and is told by its form. */
	{ RECORDS("files-archive"), .subject = "core-files" },
	{ RECORDS("files-upper"), .subject = "core-files" },
	{ RECORDS("files-root"), .subject = "core-files" },
	{ RECORDS("files-archive"), .bears = true },
	{ RECORDS("files-upper"), .bears = true },
	{ RECORDS("files-root"), .bears = true },
	/* Paths, and the gateway's rows. */
	{ RECORDS("files-changes") },
	{ RECORDS("logs-api"), .bears = true },
	{ RECORDS("logs-disk"), .bears = true },
	/* Notes of a hostile gateway or upstream. */
	{ RECORDS("deliveries"), .subject = "peer-acted" },
	/* Lines of a tool that no call may reach, whatever they bear. */
	{ RECORDS("deliveries"), .subject = "late" },
	{ RECORDS("deliveries"), .bears = true },
	{ RECORDS("client"), .bears = true },
	{ RECORDS("decisions") },
	/* Rows of an outcome, and those that break the chain, whatever they bear. */
	{ RECORDS("audit"), .subject = "audit-allow" },
	{ RECORDS("audit"), .subject = "audit-deny" },
	{ RECORDS("audit"), .subject = "audit-fault" },
	{ RECORDS("audit"), .subject = "audit-intent" },
	{ RECORDS("audit"), .subject = "audit-chain" },
	{ RECORDS("audit"), .bears = true },
	{ RECORDS("audit-bytes"), .bears = true },
	{ RECORDS("output"), .bears = true },
	/* All spans, and what is no canary of an upstream's environment. */
	{ RECORDS("spans"), .subject = "spans" },
	{ RECORDS("spans"), .subject = "spans-error" },
	{ RECORDS("spans"), .bears = true },
	{ RECORDS("children"), .subject = "upstream-environment" },
	{ RECORDS("children"), .subject = "upstream-descriptors" },
	{ RECORDS("children"), .subject = "upstream-children" },
	{ RECORDS("children"), .bears = true },
	{ STATE("core-limit-soft", OBSERVATION_STATE, "bytes") },
	{ STATE("core-limit-hard", OBSERVATION_STATE, "bytes") },
	{ STATE("restarts", OBSERVATION_COUNT, "records") },
	{ STATE("starts", OBSERVATION_COUNT, "records") },
	{ STATE("alive", OBSERVATION_STATE, "bool") },
	{ STATE("written", OBSERVATION_COUNT, "bytes") },
	{ STATE("attempted", OBSERVATION_COUNT, "bytes") },
	{ STATE("loss_to_dead", OBSERVATION_DURATION, "ns") },
	{ STATE("descriptors", OBSERVATION_STATE, "descriptors") },
	{ STATE("term-ignored", OBSERVATION_STATE, "bool") },
	{ STATE("exit-code", OBSERVATION_STATE, "code") },
	{ STATE("processes", OBSERVATION_COUNT, "processes") },
	{ STATE("process-limit", OBSERVATION_COUNT, "records") },
	{ STATE("memory", OBSERVATION_COUNT, "bytes") },
	{ STATE("oom-kills", OBSERVATION_COUNT, "records") },
	{ STATE("renamed", OBSERVATION_STATE, "bool") },
	{ STATE("limits-changed", OBSERVATION_STATE, "bool") },
	{ STATE("networks-changed", OBSERVATION_STATE, "bool") },
	{ STATE("core-pattern", OBSERVATION_STATE, "bool") },
};
static const size_t report_forms_count = ARRAY_SIZE(report_forms);
