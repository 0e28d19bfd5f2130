#include "reports/ctrf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/json.h"

#define FILE_NAME "ctrf.json"
#define SPECIFICATION "0.0.0"
#define NAME_BYTES (2 * NAME_MAX_SHORT)

static const char *const statuses[] = {
	[VERDICT_PASS] = "passed",
	[VERDICT_FAIL] = "failed",
	[VERDICT_NOT_ESTABLISHED] = "other",
};

/* Days from 1970-01-01 in the Gregorian calendar, for years from 1 on: leap days fall at the end of years that begin
 * in March. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
	int64_t march = (month + 9) % 12;

	year -= month <= 2;
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * march + 2) / 5 + day - 1 - 719468;
}

/* Of RFC 3339 in UTC with whole seconds, as the manifest has it; 0 for anything else. */
static int64_t epoch_ms(const char *text)
{
	int64_t value[6] = { 0 };
	static const char form[] = "0000-11-22T33:44:55Z";
	size_t i = 0;

	for (; form[i] && text[i]; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';

		if (form[i] >= '0' && form[i] <= '5' && digit)
			value[form[i] - '0'] = 10 * value[form[i] - '0'] + text[i] - '0';
		else if (form[i] != text[i])
			return 0;
	}
	if (form[i] || text[i])
		return 0;
	return ((days_from_civil(value[0], value[1], value[2]) * 24 + value[3]) * 3600 + value[4] * 60 + value[5]) *
	       1000;
}

struct counts {
	int64_t of[3];
};

static enum verdict arm_verdict(const struct verdict_arm *arm)
{
	return arm->status == ARM_OK ? VERDICT_PASS : VERDICT_NOT_ESTABLISHED;
}

static struct counts count(const struct verdicts *verdicts)
{
	struct counts counts = { 0 };

	for (size_t i = 0; i < verdicts->arms_count; i++)
		counts.of[arm_verdict(&verdicts->arms[i])]++;
	for (size_t i = 0; i < verdicts->cells_count; i++)
		counts.of[verdicts->cells[i].verdict]++;
	for (size_t i = 0; i < verdicts->mutations_count; i++)
		counts.of[verdicts->mutations[i].verdict]++;
	return counts;
}

static void put_summary(struct json_writer *json, const struct findings *findings)
{
	struct counts counts = count(findings->verdicts);

	json_put_key(json, "summary");
	json_object(json);
	json_member_int(json, "failed", counts.of[VERDICT_FAIL]);
	json_member_int(json, "other", counts.of[VERDICT_NOT_ESTABLISHED]);
	json_member_int(json, "passed", counts.of[VERDICT_PASS]);
	json_member_int(json, "pending", 0);
	json_member_int(json, "skipped", 0);
	json_member_int(json, "start", epoch_ms(findings->manifest->started));
	json_member_int(json, "stop", epoch_ms(findings->manifest->finished));
	json_member_int(json, "tests",
			counts.of[VERDICT_PASS] + counts.of[VERDICT_FAIL] + counts.of[VERDICT_NOT_ESTABLISHED]);
	json_object_end(json);
}

static void put_extra(struct json_writer *json, const struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;
	const struct observation *seen = cell->observation;

	json_put_key(json, "extra");
	json_object(json);
	json_member_int(json, "expected", expectation->value);
	if (seen)
		json_member_string(json, "observation", seen->id);
	json_member_string(json, "op", expectation_op_names[expectation->op]);
	if (seen && seen->status == OBSERVATION_OBSERVED)
		json_member_int(json, "value", seen->value);
	json_object_end(json);
}

struct test {
	const char *arm;
	int64_t repetition;
	const char *name;
	enum verdict verdict;
	int64_t duration_ns;
	const char *message; /* or NULL */
	const struct verdict_cell *cell; /* or NULL */
};

/* A name is unique within its suite. */
static void put_test(struct json_writer *json, const struct test *test)
{
	char number[NAME_BYTES] = "", numbered[2 * NAME_BYTES];

	if (test->repetition > 1)
		snprintf(number, sizeof(number), " #%" PRId64, test->repetition);
	snprintf(numbered, sizeof(numbered), "%s%s", test->name, number);
	json_object(json);
	json_member_int(json, "duration", test->duration_ns / NS_PER_MS);
	if (test->cell)
		put_extra(json, test->cell);
	if (test->message)
		json_member_string(json, "message", test->message);
	json_member_string(json, "name", numbered);
	json_member_string(json, "rawStatus", verdict_names[test->verdict]);
	json_member_string(json, "status", statuses[test->verdict]);
	json_put_key(json, "suite");
	json_array(json);
	json_put_string(json, "confinement");
	json_put_string(json, test->arm);
	json_array_end(json);
	json_object_end(json);
}

static void put_arm(struct json_writer *json, const struct verdict_arm *arm, int64_t duration_ns)
{
	put_test(json, &(struct test){ .arm = arm->scenario->id,
				       .repetition = arm->repetition,
				       .name = "arm",
				       .verdict = arm_verdict(arm),
				       .duration_ns = duration_ns,
				       .message = arm->status == ARM_OK ? NULL : arm_status_names[arm->status] });
}

static void put_cell(struct json_writer *json, const struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;
	char name[2 * NAME_MAX_SHORT];

	snprintf(name, sizeof(name), "%s@%s", expectation->subject, expectation->observer);
	put_test(json, &(struct test){ .arm = cell->scenario->id,
				       .repetition = cell->repetition,
				       .name = name,
				       .verdict = cell->verdict,
				       .duration_ns = cell->observation ? cell->observation->duration_ns : 0,
				       .message = cell->verdict == VERDICT_PASS ? NULL : because_names[cell->because],
				       .cell = cell });
}

static void put_mutation(struct json_writer *json, const struct verdict_mutation *mutation)
{
	put_test(json,
		 &(struct test){ .arm = mutation->scenario->id,
				 .repetition = mutation->repetition,
				 .name = "detected",
				 .verdict = mutation->verdict,
				 .message =
					 mutation->verdict == VERDICT_PASS ? NULL : because_names[mutation->because] });
}

static void put_tests(struct json_writer *json, const struct findings *findings)
{
	const struct verdicts *verdicts = findings->verdicts;

	json_put_key(json, "tests");
	json_array(json);
	for (size_t i = 0; i < verdicts->arms_count; i++)
		put_arm(json, &verdicts->arms[i], i < findings->arms_count ? findings->arms[i].duration_ns : 0);
	for (size_t i = 0; i < verdicts->cells_count; i++)
		put_cell(json, &verdicts->cells[i]);
	for (size_t i = 0; i < verdicts->mutations_count; i++)
		put_mutation(json, &verdicts->mutations[i]);
	json_array_end(json);
}

/* All keys are written in the order of the canonical form. */
int ctrf_encode(const struct findings *findings, struct buf *out, struct error **err)
{
	struct json_writer json;

	json_begin(&json, out);
	json_object(&json);
	json_member_string(&json, "generatedBy", "harness");
	json_member_string(&json, "reportFormat", "CTRF");
	json_put_key(&json, "results");
	json_object(&json);
	put_summary(&json, findings);
	put_tests(&json, findings);
	json_put_key(&json, "tool");
	json_object(&json);
	json_member_string(&json, "name", "harness");
	json_member_string(&json, "version", findings->manifest->version);
	json_object_end(&json);
	json_object_end(&json);
	json_member_string(&json, "specVersion", SPECIFICATION);
	json_object_end(&json);
	return buf_check(out, FILE_NAME, err);
}
