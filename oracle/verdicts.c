/* verdicts.json. */
#include <stddef.h>

#include "oracle/judge.h"

#define SCHEMA "confinement-evidence/verdicts/1"
#define FILE_NAME "verdicts.json"

static const struct schema_field document_fields[];

static void put_optional(struct json_writer *writer, const char *key, const char *text)
{
	json_put_key(writer, key);
	if (text && text[0])
		json_put_string(writer, text);
	else
		json_put_null(writer);
}

/* All keys are written in the order of the canonical form: a run of many cells is not sorted again in memory. */
static void put_cell(struct json_writer *writer, const struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;
	const struct observation *observation = cell->observation;

	json_object(writer);
	json_member_string(writer, "arm", cell->scenario->id);
	json_member_string(writer, "because", because_names[cell->because]);
	json_member_string(writer, "class", cell_class_names[expectation->class]);
	json_member_int(writer, "expected", expectation->value);
	put_optional(writer, "mutant", cell->mutant);
	put_optional(writer, "observation", observation ? observation->id : NULL);
	json_member_string(writer, "observer", expectation->observer);
	json_member_string(writer, "op", expectation_op_names[expectation->op]);
	json_member_int(writer, "repetition", cell->repetition);
	json_member_string(writer, "subject", expectation->subject);
	json_put_key(writer, "value");
	if (observation && observation->status == OBSERVATION_OBSERVED)
		json_put_int(writer, observation->value);
	else
		json_put_null(writer);
	json_member_string(writer, "verdict", verdict_names[cell->verdict]);
	json_object_end(writer);
}

static void put_mutation(struct json_writer *writer, const struct verdict_mutation *mutation)
{
	json_object(writer);
	json_member_string(writer, "because", because_names[mutation->because]);
	json_member_bool(writer, "detected", mutation->detected);
	json_member_string(writer, "id", mutation->scenario->id);
	json_member_bool(writer, "installed", mutation->installed);
	json_member_int(writer, "repetition", mutation->repetition);
	json_member_string(writer, "verdict", verdict_names[mutation->verdict]);
	json_object_end(writer);
}

static void put_arm(struct json_writer *writer, const struct verdict_arm *arm)
{
	json_object(writer);
	json_member_string(writer, "arm", arm->scenario->id);
	put_optional(writer, "reason", arm->reason);
	json_member_int(writer, "repetition", arm->repetition);
	json_member_string(writer, "status", arm_status_names[arm->status]);
	json_object_end(writer);
}

static void put_counts(struct json_writer *writer, const struct verdicts *verdicts)
{
	size_t detected = 0;

	for (size_t i = 0; i < verdicts->mutations_count; i++)
		detected += verdicts->mutations[i].detected;
	json_put_key(writer, "counts");
	json_object(writer);
	json_member_int(writer, "arms", (int64_t)verdicts->arms_count);
	json_member_int(writer, "armsNotOk", (int64_t)verdicts->arms_not_ok);
	json_member_int(writer, "cells", (int64_t)verdicts->cells_count);
	json_member_int(writer, "fail", (int64_t)verdicts->fail);
	json_member_int(writer, "mutations", (int64_t)verdicts->mutations_count);
	json_member_int(writer, "mutationsDetected", (int64_t)detected);
	json_member_int(writer, "notEstablished", (int64_t)verdicts->not_established);
	json_member_int(writer, "pass", (int64_t)verdicts->pass);
	json_object_end(writer);
}

int verdicts_encode(const struct verdicts *verdicts, struct buf *out, struct error **err)
{
	struct json_writer writer;

	json_begin(&writer, out);
	json_object(&writer);
	json_put_key(&writer, "cells");
	json_array(&writer);
	for (size_t i = 0; i < verdicts->cells_count; i++)
		put_cell(&writer, &verdicts->cells[i]);
	json_array_end(&writer);
	put_counts(&writer, verdicts);
	json_member_int(&writer, "exitCode", verdicts->exit_code);
	json_put_key(&writer, "mutations");
	json_array(&writer);
	for (size_t i = 0; i < verdicts->mutations_count; i++)
		put_mutation(&writer, &verdicts->mutations[i]);
	json_array_end(&writer);
	json_member_string(&writer, "overall", verdict_names[verdicts->overall]);
	json_put_key(&writer, "runner");
	json_array(&writer);
	for (size_t i = 0; i < verdicts->arms_count; i++)
		put_arm(&writer, &verdicts->arms[i]);
	json_array_end(&writer);
	json_member_string(&writer, "schema", SCHEMA);
	json_object_end(&writer);
	return buf_check(out, FILE_NAME, err);
}

int verdicts_schema(struct buf *out, struct error **err)
{
	return schema_print(document_fields, FILE_NAME " of a bundle, version 1", out, err);
}

const char *const because_names[] = {
	[BECAUSE_MET] = "met",
	[BECAUSE_VALUE] = "value",
	[BECAUSE_MISSING] = "missing",
	[BECAUSE_NOT_LIVE] = "not_live",
	[BECAUSE_UNEARNED] = "unearned",
	[BECAUSE_ARM] = "arm",
	[BECAUSE_ADMISSION] = "admission",
	[BECAUSE_DIFFERENCE] = "difference",
	[BECAUSE_UNDETECTED] = "undetected",
	[BECAUSE_ENVIRONMENT] = "environment",
	[BECAUSE_DUPLICATE] = "duplicate",
	[BECAUSE_UNPLANNED] = "unplanned",
	NULL,
};

const char *const verdict_names[] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_FAIL] = "fail",
	[VERDICT_NOT_ESTABLISHED] = "not_established",
	NULL,
};

const char *const arm_status_names[] = {
	[ARM_OK] = "ok",
	[ARM_TIMEOUT] = "timeout",
	[ARM_HARNESS_ERROR] = "harness_error",
	[ARM_HOST_UNSUPPORTED] = "host_unsupported",
	[ARM_NOT_RUN] = "not_run",
	NULL,
};

/* ---- the form, for the schema alone: verdicts are made again, and never read ---- */

#define CELLS_MAX (PLAN_ARMS_MAX * ARM_CELLS_MAX + OBSERVATION_LINES) /* planned, and what arrived elsewhere */
#define ID(size_of) .required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ID, .size = (size_of)
#define OPTIONAL_ID(size_of) .nullable = true, ID(size_of)
#define NAMED(list) .required = true, .type = SCHEMA_ENUM, .names = (list)
#define FLAG .required = true, .type = SCHEMA_BOOL
#define COUNT(low, high) .required = true, .type = SCHEMA_INT, .min = (low), .max = (high)
#define ROWS(table, most) .required = true, .type = SCHEMA_OBJECT, .fields = (table), .array_max = (most)

static const char *const schema_names[] = { SCHEMA, NULL };

static const struct schema_field cell_fields[] = {
	{ .key = "arm", ID(ID_MAX) },
	{ .key = "repetition", COUNT(1, EVIDENCE_INT_MAX) },
	{ .key = "subject", ID(NAME_MAX_SHORT) },
	{ .key = "observer", ID(NAME_MAX_SHORT) },
	{ .key = "op", NAMED(expectation_op_names) },
	{ .key = "expected", COUNT(0, EVIDENCE_INT_MAX) },
	{ .key = "class", NAMED(cell_class_names) },
	{ .key = "value", .nullable = true, COUNT(-EVIDENCE_INT_MAX, EVIDENCE_INT_MAX) },
	{ .key = "observation", OPTIONAL_ID(sizeof(((struct observation *)0)->id)) },
	{ .key = "verdict", NAMED(verdict_names) },
	{ .key = "because", NAMED(because_names) },
	{ .key = "mutant", OPTIONAL_ID(ID_MAX) },
	{ .key = NULL },
};

static const struct schema_field mutation_fields[] = {
	{ .key = "id", ID(ID_MAX) },
	{ .key = "repetition", COUNT(1, EVIDENCE_INT_MAX) },
	{ .key = "installed", FLAG },
	{ .key = "detected", FLAG },
	{ .key = "verdict", NAMED(verdict_names) },
	{ .key = "because", NAMED(because_names) },
	{ .key = NULL },
};

static const struct schema_field arm_fields[] = {
	{ .key = "arm", ID(ID_MAX) },
	{ .key = "repetition", COUNT(1, EVIDENCE_INT_MAX) },
	{ .key = "status", NAMED(arm_status_names) },
	{ .key = "reason", OPTIONAL_ID(NAME_MAX_SHORT) },
	{ .key = NULL },
};

static const struct schema_field count_fields[] = {
	{ .key = "arms", COUNT(0, PLAN_ARMS_MAX) },
	{ .key = "armsNotOk", COUNT(0, PLAN_ARMS_MAX) },
	{ .key = "cells", COUNT(1, CELLS_MAX) },
	{ .key = "pass", COUNT(0, CELLS_MAX) },
	{ .key = "fail", COUNT(0, CELLS_MAX) },
	{ .key = "notEstablished", COUNT(0, CELLS_MAX) },
	{ .key = "mutations", COUNT(0, PLAN_ARMS_MAX) },
	{ .key = "mutationsDetected", COUNT(0, PLAN_ARMS_MAX) },
	{ .key = NULL },
};

static const struct schema_field document_fields[] = {
	{ .key = "schema", NAMED(schema_names) },
	{ .key = "cells", ROWS(cell_fields, CELLS_MAX), .array_min = 1 },
	{ .key = "mutations", ROWS(mutation_fields, PLAN_ARMS_MAX) },
	{ .key = "runner", ROWS(arm_fields, PLAN_ARMS_MAX), .array_min = 1 },
	{ .key = "counts", .required = true, .type = SCHEMA_OBJECT, .fields = count_fields },
	{ .key = "overall", NAMED(verdict_names) },
	{ .key = "exitCode", COUNT(0, 3) },
	{ .key = NULL },
};
