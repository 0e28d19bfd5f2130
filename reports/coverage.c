#include "reports/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/schema.h"

#define FILE_NAME "coverage.json"
#define TEXT_BYTES ((size_t)4 * MIB)

struct arm_row {
	char scenario[ID_MAX];
	int64_t repetition;
	bool added;
};
struct absent_row {
	char scenario[ID_MAX];
	char subject[NAME_MAX_SHORT];
	char observer[NAME_MAX_SHORT];
	char reason[NAME_MAX_SHORT];
	char status[NAME_MAX_SHORT]; /* "": of format 1.0 */
};
#define STATEMENTS_MAX 32

struct document {
	int schema;
	struct arm_row arms[PLAN_ARMS_MAX];
	size_t arms_count;
	struct absent_row absent[PLAN_ABSENT_MAX];
	size_t absent_count;
	char untested[STATEMENTS_MAX][NAME_MAX_SHORT];
	size_t untested_count;
	char assumptions[STATEMENTS_MAX][NAME_MAX_SHORT];
	size_t assumptions_count;
	char not_established[STATEMENTS_MAX][NAME_MAX_SHORT];
	size_t not_established_count;
};
static const struct schema_field document_fields[];
static const char *const untested_channels[], *const assumptions[], *const does_not_establish[];

const char *const *coverage_untested(void)
{
	return untested_channels;
}

const char *const *coverage_assumptions(void)
{
	return assumptions;
}

const char *const *coverage_not_established(void)
{
	return does_not_establish;
}

static void copy(char *to, const char *from)
{
	memcpy(to, from, strlen(from) + 1);
}

static size_t fill_list(char (*to)[NAME_MAX_SHORT], const char *const *from)
{
	size_t count = 0;

	for (; from[count]; count++)
		copy(to[count], from[count]);
	return count;
}

static void fill(struct document *document, const struct plan *plan)
{
	for (size_t i = 0; i < plan->arms_count; i++) {
		struct arm_row *row = &document->arms[document->arms_count++];

		copy(row->scenario, plan->arms[i].scenario->id);
		row->repetition = plan->arms[i].repetition;
		row->added = plan->arms[i].added;
	}
	for (size_t i = 0; i < plan->absent_count; i++) {
		struct absent_row *row = &document->absent[document->absent_count++];

		copy(row->scenario, plan->absent[i].scenario->id);
		copy(row->subject, plan->absent[i].expectation->subject);
		copy(row->observer, plan->absent[i].expectation->observer);
		copy(row->reason, plan->absent[i].reason);
		copy(row->status, plan->absent[i].status ? plan->absent[i].status : "");
	}
	document->untested_count = fill_list(document->untested, untested_channels);
	document->assumptions_count = fill_list(document->assumptions, assumptions);
	document->not_established_count = fill_list(document->not_established, does_not_establish);
}

int coverage_encode(const struct plan *plan, struct buf *out, struct error **err)
{
	cleanup_free struct document *document = calloc(1, sizeof(*document));
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct json_writer json;
	int result;

	if (!document)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	fill(document, plan);
	json_begin(&json, &text);
	schema_encode(document_fields, document, &json);
	result = buf_check(&text, FILE_NAME, err);
	return result < 0 ? result : json_canonical(text.data, text.length, out, err);
}

static int place_arms(const struct document *document, const struct scenario *scenarios, size_t count,
		      struct plan *plan, struct error **err)
{
	for (size_t i = 0; i < document->arms_count; i++) {
		const struct arm_row *row = &document->arms[i];
		const struct scenario *scenario = scenario_find(scenarios, count, row->scenario);

		if (!scenario)
			return error_set(err, ERROR_INPUT, "%s: arms[%zu]: no such scenario is in the bundle",
					 FILE_NAME, i);
		for (size_t other = 0; other < i; other++)
			if (plan->arms[other].scenario == scenario && plan->arms[other].repetition == row->repetition)
				return error_set(err, ERROR_INPUT, "%s: arms[%zu]: planned twice", FILE_NAME, i);
		plan->arms[plan->arms_count++] = (struct plan_arm){
			.scenario = scenario,
			.repetition = row->repetition,
			.added = row->added,
		};
	}
	return 0;
}

/* A cell may only be absent for the need that its own expectation names, or, of a mutant, that of a cell that flips, or
 * for what a kind of gateway cannot make: leaving cells out is how a failure would be hidden. Which of them the run had
 * to leave out is looked at behind this. */
static bool may_lack(const struct scenario *scenario, const struct expectation *cell, const char *reason)
{
	if (strcmp(cell->needs, reason) == 0 || ground_is_gateway_reason(reason))
		return true;
	for (size_t i = 0; i < scenario->expect_count && scenario->control[0]; i++)
		if (scenario->expect[i].flips && strcmp(scenario->expect[i].needs, reason) == 0)
			return true;
	return false;
}

static int place_absent(const struct document *document, const struct scenario *scenarios, size_t count,
			struct plan *plan, struct error **err)
{
	for (size_t i = 0; i < document->absent_count; i++) {
		const struct absent_row *row = &document->absent[i];
		const struct scenario *scenario = scenario_find(scenarios, count, row->scenario);
		const struct expectation *cell = scenario ? scenario_cell(scenario, row->subject, row->observer) : NULL;
		struct plan_absent *absent = &plan->absent[plan->absent_count];

		if (!cell)
			return error_set(err, ERROR_INPUT, "%s: absent[%zu]: no such cell is in the bundle", FILE_NAME,
					 i);
		if (!plan_has(plan, scenario, cell))
			return error_set(err, ERROR_INPUT, "%s: absent[%zu]: named twice", FILE_NAME, i);
		if (!may_lack(scenario, cell, row->reason))
			return error_set(err, ERROR_INPUT, "%s: absent[%zu]: the cell has no such need", FILE_NAME, i);
		if (row->status[0] && strcmp(row->status, ground_status(row->reason)) != 0)
			return error_set(err, ERROR_INPUT, "%s: absent[%zu].status: not that of its reason", FILE_NAME,
					 i);
		absent->status = row->status[0] ? ground_status(row->reason) : NULL;
		absent->scenario = scenario;
		absent->expectation = cell;
		copy(absent->reason, row->reason);
		plan->absent_count++;
	}
	return 0;
}

static int parse(const char *bytes, size_t length, struct document *out, struct error **err)
{
	cleanup_json struct json_document *text = NULL;
	int result = json_parse(bytes, length, JSON_DEPTH, &text, err);

	if (result < 0)
		return error_wrap(err, FILE_NAME);
	return schema_decode(document_fields, json_root(text), FILE_NAME, out, sizeof(*out), err);
}

int coverage_decode(const char *bytes, size_t length, const struct scenario *scenarios, size_t count, struct plan **out,
		    struct error **err)
{
	cleanup_free struct document *document = calloc(1, sizeof(*document));
	cleanup_free struct plan *plan = calloc(1, sizeof(*plan));
	int result;

	if (!document || !plan)
		return error_set(err, ERROR_MEMORY, "no memory for %s", FILE_NAME);
	result = parse(bytes, length, document, err);
	if (result >= 0)
		result = place_arms(document, scenarios, count, plan, err);
	if (result >= 0)
		result = place_absent(document, scenarios, count, plan, err);
	if (result >= 0)
		*out = steal_pointer(&plan);
	return result;
}

int coverage_schema(struct buf *out, struct error **err)
{
	return schema_print(document_fields, FILE_NAME " of a bundle, version 1", out, err);
}

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define ID(owner, member)                                                                                              \
	.required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = SIZE(owner, member), .min = 1,         \
	.offset = offsetof(struct owner, member)
#define ROWS(member, most, table)                                                                                      \
	.required = true, .type = SCHEMA_OBJECT, .fields = (table), .size = SIZE(document, member[0]),                 \
	.array_max = (most), .offset = offsetof(struct document, member),                                              \
	.count_offset = offsetof(struct document, member##_count)
#define IDS(member)                                                                                                    \
	.required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = SIZE(document, member[0]),             \
	.array_max = STATEMENTS_MAX, .offset = offsetof(struct document, member),                                      \
	.count_offset = offsetof(struct document, member##_count)

static const char *const schema_names[] = { "confinement-evidence/coverage/1", NULL };

static const struct schema_field arm_fields[] = {
	{ .key = "scenario", ID(arm_row, scenario) },
	{ .key = "repetition",
	  .required = true,
	  .type = SCHEMA_INT,
	  .min = 1,
	  .max = PLAN_ARMS_MAX,
	  .offset = offsetof(struct arm_row, repetition) },
	{ .key = "added", .required = true, .type = SCHEMA_BOOL, .offset = offsetof(struct arm_row, added) },
	{ .key = NULL },
};

static const struct schema_field absent_fields[] = {
	{ .key = "scenario", ID(absent_row, scenario) },
	{ .key = "subject", ID(absent_row, subject) },
	{ .key = "observer", ID(absent_row, observer) },
	{ .key = "reason", ID(absent_row, reason) },
	{ .key = "status",
	  .type = SCHEMA_STRING,
	  .pattern = PATTERN_ID,
	  .size = SIZE(absent_row, status),
	  .offset = offsetof(struct absent_row, status) },
	{ .key = NULL },
};

static const struct schema_field document_fields[] = {
	{ .key = "schema",
	  .required = true,
	  .type = SCHEMA_ENUM,
	  .names = schema_names,
	  .offset = offsetof(struct document, schema) },
	{ .key = "arms", ROWS(arms, PLAN_ARMS_MAX, arm_fields) },
	{ .key = "absent", ROWS(absent, PLAN_ABSENT_MAX, absent_fields) },
	{ .key = "untestedChannels", IDS(untested) },
	{ .key = "assumptions", IDS(assumptions) },
	{ .key = "doesNotEstablish", IDS(not_established) },
	{ .key = NULL },
};

/* The limits of the method; docs/evidence-format.md says each in a sentence. */
static const char *const untested_channels[] = {
	"timing",
	"traffic-shape",
	"resource-contention",
	"shared-hardware",
	"covert-channels",
	"kernel-interfaces",
	"other-encodings",
	"swap",
	"host-debugger",
	"host-crash-service",
	"memory-erasure",
	"audit-exporters",
	NULL,
};

static const char *const assumptions[] = {
	"trusted-host-kernel",
	"trusted-engine",
	"trusted-runner",
	"untampered-observers",
	"one-host",
	"bridge-or-watchdog-survives",
	NULL,
};

static const char *const does_not_establish[] = {
	"non-bypassability",
	"universal-effect-mediation",
	"path-set-completeness",
	"publisher-authorization",
	"tee-measurement",
	"exactly-once",
	"host-wide-recovery",
	"deployment-custody",
	NULL,
};
