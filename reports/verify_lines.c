/*
 * The observations, line by line in a reading of their own: whether each has its form, can belong to its arm, and is as
 * its observer makes it. The judge takes each as it comes by, so that none is held.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/lines.h"
#include "core/schema_line.h"
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

/* What is known of a subject at an observer in a scenario: many lines ask the same. */
struct pair {
	const struct scenario *scenario; /* NULL: free */
	char subject[NAME_MAX_SHORT];
	char observer[NAME_MAX_SHORT];
	bool known_subject, known_observer;
	bool missed; /* its cell is absent for want of something that the host lacks */
	const struct report_form *form; /* or NULL */
};
#define PAIRS 4096

struct reading {
	struct bundle *bundle;
	struct schema_line form;
	struct lines lines;
	bool wanted; /* the current member has them */
	size_t arm; /* of the line before; observations of an arm stand together */
	struct pair pairs[PAIRS];
};

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

static size_t pair_hash(const struct scenario *scenario, const struct observation *one)
{
	uint64_t hash = (uint64_t)(uintptr_t)scenario;

	for (const char *at = one->subject; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	hash *= UINT64_C(1099511628211);
	for (const char *at = one->observer; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	return (size_t)(hash ^ hash >> 32) % PAIRS;
}

static const struct pair *find_pair(struct reading *reading, const struct scenario *scenario,
				    const struct observation *one)
{
	struct pair *pair = &reading->pairs[pair_hash(scenario, one)];
	const struct expectation *cell;
	const struct plan_absent *absent;

	if (pair->scenario == scenario && strcmp(pair->subject, one->subject) == 0 &&
	    strcmp(pair->observer, one->observer) == 0)
		return pair;
	cell = scenario_cell(scenario, one->subject, one->observer);
	absent = cell ? bundle_absent(reading->bundle->plan, scenario, cell) : NULL;
	*pair = (struct pair){ .scenario = scenario,
			       .known_subject = known_subject(scenario, one->subject),
			       .known_observer = known_observer(scenario, one->observer),
			       /* What no mutant can earn with this gateway may be seen all the same; what arrives
				* there is a leak. */
			       .missed = absent && !ground_is_gateway_reason(absent->reason),
			       .form = form_of(one) };
	memcpy(pair->subject, one->subject, sizeof(pair->subject));
	memcpy(pair->observer, one->observer, sizeof(pair->observer));
	return pair;
}

static int blame(size_t line, const char *what, struct error **err)
{
	return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu %s", line, what);
}

static int blame_name(size_t line, const char *what, struct error **err)
{
	return error_unlisted(err, "observations.jsonl: line %zu names an unknown %s", line, what);
}

static int check_numbers(const struct observation *one, const struct report_form *form, size_t line, struct error **err)
{
	if (one->value < 0)
		return blame(line, "has a value below 0", err);
	if (!form || !form->bears)
		return 0;
	if (one->canary_hits < one->value)
		return blame(line, "has more records than canaries", err);
	if (one->canary_hits > 0 && one->value == 0)
		return blame(line, "has canaries, and no record", err);
	return 0;
}

/* What was observed: an observer that failed says no more than that. */
static int check_observed(const struct arm_record *record, const struct pair *pair, const struct observation *one,
			  size_t line, struct error **err)
{
	const struct report_form *form = pair->form;

	if (pair->missed)
		return blame(line, "is of a cell that is absent", err);
	if (record->status == ARM_OK && record->reason[0])
		return blame(line, "is of an arm that was refused", err);
	if (!form && schema_enum(observer_names, one->observer) >= 0)
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu is of a subject that '%s' has not",
				 line, one->observer);
	if (form && (one->kind != form->kind || strcmp(one->unit, form->unit) != 0))
		return error_set(err, ERROR_INPUT,
				 "observations.jsonl: line %zu has another kind or unit than '%s' reports", line,
				 form->observer);
	if (one->start_ns < 0 || one->duration_ns < 0 || one->start_ns > record->duration_ns ||
	    one->duration_ns > record->duration_ns - one->start_ns)
		return blame(line, "is not within its arm's time", err);
	return check_numbers(one, form, line, err);
}

/* "o-000001" and on, of at least six digits. */
static bool has_number(const char *id, size_t line)
{
	char digits[24];
	size_t at = sizeof(digits), length = strlen(id);

	while (line > 0 || at > sizeof(digits) - 6) {
		digits[--at] = (char)('0' + line % 10);
		line /= 10;
	}
	return length == sizeof(digits) - at + 2 && memcmp(id, "o-", 2) == 0 &&
	       memcmp(id + 2, digits + at, sizeof(digits) - at) == 0;
}

static int check_observation(struct reading *reading, const struct observation *one, struct error **err)
{
	const struct bundle *bundle = reading->bundle;
	size_t line = bundle->lines;
	const struct plan_arm *arm = &bundle->plan->arms[reading->arm];
	const struct pair *pair;

	if (!has_number(one->id, line))
		return error_set(err, ERROR_INPUT, "observations.jsonl: line %zu does not have the id o-%06zu", line,
				 line);
	if (arm->repetition != one->repetition || strcmp(arm->scenario->id, one->arm) != 0) {
		if (judgement_arm(bundle->judgement, one->arm, one->repetition, &reading->arm) < 0)
			return blame(line, "is of an arm that is not planned", err);
		arm = &bundle->plan->arms[reading->arm];
	}
	pair = find_pair(reading, arm->scenario, one);
	if (!pair->known_subject)
		return blame_name(line, "subject", err);
	if (!pair->known_observer)
		return blame_name(line, "observer", err);
	if (one->status != OBSERVATION_OBSERVED)
		return 0;
	return check_observed(&bundle->arms[reading->arm], pair, one, line, err);
}

/* The first of each kind is kept; memory that is short ends the reading. */
static int keep_first(struct error **kept, struct error **why, struct error **err)
{
	if (error_code(*why) == ERROR_MEMORY) {
		error_keep_first(err, why);
		return -ERROR_MEMORY;
	}
	error_keep_first(kept, why);
	return 0;
}

static int join(struct reading *reading, const struct observation *one, struct error **err)
{
	struct bundle *bundle = reading->bundle;
	cleanup_error struct error *why = NULL;

	if (check_observation(reading, one, &why) < 0)
		return keep_first(&bundle->unfit, &why, err);
	if (!bundle->late && check_loss(bundle, reading->arm, one, &why) < 0)
		return keep_first(&bundle->late, &why, err);
	if (judgement_see(bundle->judgement, reading->arm, one, &why) < 0)
		return keep_first(&bundle->unfit, &why, err);
	return 0;
}

static void blame_form(struct bundle *bundle, bool form)
{
	if (bundle->bad_line)
		return;
	bundle->bad_line = bundle->lines;
	bundle->bad_form = form;
}

static int take_line(void *context, const char *line, size_t length, struct error **err)
{
	struct reading *reading = context;
	struct bundle *bundle = reading->bundle;
	cleanup_error struct error *why = NULL;
	struct observation one;

	if (++bundle->lines > OBSERVATION_LINES)
		return error_set(err, ERROR_LIMIT, "observations.jsonl: more than %d lines", OBSERVATION_LINES);
	if (!schema_line_read(&reading->form, line, length, &one, sizeof(one))) {
		bool read = observation_read(line, length, &one, &why) >= 0;

		blame_form(bundle, !read);
		if (!read)
			return 0;
	}
	bundle->observations_count++;
	return bundle->judgement && !bundle->unfit ? join(reading, &one, err) : 0;
}

static int begin_member(void *context, const char *name, uint64_t size, struct error **err)
{
	struct reading *reading = context;

	(void)size;
	(void)err;
	reading->wanted = member_find(name) == MEMBER_OBSERVATIONS;
	return 0;
}

static int take_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct reading *reading = context;
	int result = reading->wanted ? lines_feed(&reading->lines, bytes, length, err) : 0;

	return result == -ERROR_LIMIT ? error_wrap(err, "observations.jsonl") : result;
}

static int end_member(void *context, struct error **err)
{
	struct reading *reading = context;

	(void)err;
	if (reading->wanted && lines_cut(&reading->lines)) {
		reading->bundle->lines++;
		blame_form(reading->bundle, true);
	}
	return 0;
}

static void reading_free(struct reading **reading)
{
	if (*reading)
		lines_free(&(*reading)->lines);
	free(*reading);
}

int bundle_lines(int fd, struct bundle *bundle, struct error **err)
{
	static const struct ustar_visitor visitor = { .member = begin_member, .data = take_data, .end = end_member };
	__attribute__((cleanup(reading_free))) struct reading *reading = calloc(1, sizeof(*reading));
	struct ustar_limits limits = bundle_limits;
	char again[HEX_SHA256];
	int result;

	if (!reading)
		return error_set(err, ERROR_MEMORY, "no memory for the observations");
	reading->bundle = bundle;
	reading->lines = (struct lines)LINES(OBSERVATION_LINE_BYTES, take_line, reading);
	if (!schema_line_arrange(&reading->form, observation_fields))
		return error_set(err, ERROR_INTERNAL, "observations have no direct form");
	if (lseek(fd, bundle->start, SEEK_SET) < 0)
		return error_errno(err, errno, "the bundle cannot be read twice");
	limits.gzip = !bundle->plain;
	limits.packed_sha256 = again;
	result = ustar_read(fd, &limits, &visitor, reading, err);
	if (result >= 0 && strcmp(again, bundle->packed_sha256) != 0)
		return error_set(err, ERROR_INPUT, "archive: it changed while it was read");
	return result;
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
	"orders",
	"orders-other",
	"roles-other",
	"transactions",
	"joined",
	"row-without-call",
	"call-without-row",
	"row-again",
	"copied-id",
	"row-of-denied",
	"call-again",
	"row-without-id",
	"spans",
	"spans-error",
	"upstream-environment",
	"upstream-descriptors",
	"upstream-children",
	NULL,
};

static const char *const observer_names[] = {
	"tcp4",           "tcp6",     "dns",           "tcp4-nic",      "capture-host",
	"capture-netns",  "attempts", "files-archive", "files-changes", "files-upper",
	"files-root",     "logs-api", "logs-disk",     "deliveries",    "decisions",
	"state",          "client",   "audit",         "audit-bytes",   "output",
	"spans",          "children", "orders",        "correlation",   "orders-pg",
	"correlation-pg", NULL,
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
	/* Rows of the effect, whatever they bear. */
	{ RECORDS("orders"), .subject = "orders" },
	{ RECORDS("orders"), .subject = "orders-other" },
	{ RECORDS("orders"), .bears = true },
	{ RECORDS("orders-pg"), .subject = "orders" },
	{ RECORDS("orders-pg"), .subject = "orders-other" },
	{ RECORDS("orders-pg"), .subject = "roles-other" },
	{ RECORDS("orders-pg"), .subject = "transactions" },
	{ RECORDS("orders-pg"), .bears = true },
	/* Findings: there is no subject but its measures. */
	{ RECORDS("correlation") },
	{ RECORDS("correlation-pg") },
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
