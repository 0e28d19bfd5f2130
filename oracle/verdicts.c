/* verdicts.json. */
#include <stddef.h>

#include "oracle/judge.h"

#define SCHEMA "confinement-evidence/verdicts/1"

static void put_optional(struct json_writer *writer, const char *key, const char *text)
{
	json_put_key(writer, key);
	if (text && text[0])
		json_put_string(writer, text);
	else
		json_put_null(writer);
}

static void put_cell(struct json_writer *writer, const struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;
	const struct observation *observation = cell->observation;

	json_object(writer);
	json_member_string(writer, "arm", cell->scenario->id);
	json_member_int(writer, "repetition", cell->repetition);
	json_member_string(writer, "subject", expectation->subject);
	json_member_string(writer, "observer", expectation->observer);
	json_member_string(writer, "op", expectation_op_names[expectation->op]);
	json_member_int(writer, "expected", expectation->value);
	json_member_string(writer, "class", cell_class_names[expectation->class]);
	json_put_key(writer, "value");
	if (observation && observation->status == OBSERVATION_OBSERVED)
		json_put_int(writer, observation->value);
	else
		json_put_null(writer);
	put_optional(writer, "observation", observation ? observation->id : NULL);
	json_member_string(writer, "verdict", verdict_names[cell->verdict]);
	json_member_string(writer, "because", because_names[cell->because]);
	put_optional(writer, "mutant", cell->mutant);
	json_object_end(writer);
}

static void put_mutation(struct json_writer *writer, const struct verdict_mutation *mutation)
{
	json_object(writer);
	json_member_string(writer, "id", mutation->scenario->id);
	json_member_int(writer, "repetition", mutation->repetition);
	json_member_bool(writer, "installed", mutation->installed);
	json_member_bool(writer, "detected", mutation->detected);
	json_member_string(writer, "verdict", verdict_names[mutation->verdict]);
	json_member_string(writer, "because", because_names[mutation->because]);
	json_object_end(writer);
}

static void put_arm(struct json_writer *writer, const struct verdict_arm *arm)
{
	json_object(writer);
	json_member_string(writer, "arm", arm->scenario->id);
	json_member_int(writer, "repetition", arm->repetition);
	json_member_string(writer, "status", arm_status_names[arm->status]);
	put_optional(writer, "reason", arm->reason);
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
	json_member_int(writer, "pass", (int64_t)verdicts->pass);
	json_member_int(writer, "fail", (int64_t)verdicts->fail);
	json_member_int(writer, "notEstablished", (int64_t)verdicts->not_established);
	json_member_int(writer, "mutations", (int64_t)verdicts->mutations_count);
	json_member_int(writer, "mutationsDetected", (int64_t)detected);
	json_object_end(writer);
}

int verdicts_encode(const struct verdicts *verdicts, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(BUNDLE_FILE_BYTES);
	struct json_writer writer;
	int result;

	json_begin(&writer, &text);
	json_object(&writer);
	json_member_string(&writer, "schema", SCHEMA);
	json_put_key(&writer, "cells");
	json_array(&writer);
	for (size_t i = 0; i < verdicts->cells_count; i++)
		put_cell(&writer, &verdicts->cells[i]);
	json_array_end(&writer);
	json_put_key(&writer, "mutations");
	json_array(&writer);
	for (size_t i = 0; i < verdicts->mutations_count; i++)
		put_mutation(&writer, &verdicts->mutations[i]);
	json_array_end(&writer);
	json_put_key(&writer, "runner");
	json_array(&writer);
	for (size_t i = 0; i < verdicts->arms_count; i++)
		put_arm(&writer, &verdicts->arms[i]);
	json_array_end(&writer);
	put_counts(&writer, verdicts);
	json_member_string(&writer, "overall", verdict_names[verdicts->overall]);
	json_member_int(&writer, "exitCode", verdicts->exit_code);
	json_object_end(&writer);
	result = buf_check(&text, "verdicts.json", err);
	return result < 0 ? result : json_canonical(text.data, text.length, out, err);
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
