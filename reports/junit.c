#include "reports/junit.h"

#include <inttypes.h>
#include <string.h>

#include "reports/escape.h"

/* A room of scenarios is a suite: those without faults and mutations, the mutants, and the rest. */
struct suite {
	const char *name;
	bool (*holds)(const struct scenario *scenario);
};
static const struct suite suites[];
static const size_t suites_count;

struct counts {
	size_t tests, failures, errors;
};

static bool is_mutant(const struct scenario *scenario)
{
	return scenario->control[0] != '\0';
}

static bool is_lifecycle(const struct scenario *scenario)
{
	return !is_mutant(scenario) && scenario->faults_count > 0;
}

static bool is_baseline(const struct scenario *scenario)
{
	return !is_mutant(scenario) && !is_lifecycle(scenario);
}

static const char *failure_type(const struct verdict_cell *cell)
{
	return cell->expectation->class == CELL_PROTECTED && !cell->expectation->flips ? "bypass_observed"
										       : "positive_control_failed";
}

static void count_verdict(struct counts *counts, enum verdict verdict)
{
	counts->tests++;
	counts->failures += verdict == VERDICT_FAIL;
	counts->errors += verdict == VERDICT_NOT_ESTABLISHED;
}

static struct counts count_suite(const struct verdicts *verdicts, const struct suite *suite)
{
	struct counts counts = { 0 };

	for (size_t i = 0; i < verdicts->cells_count; i++)
		if (suite->holds(verdicts->cells[i].scenario))
			count_verdict(&counts, verdicts->cells[i].verdict);
	for (size_t i = 0; i < verdicts->mutations_count; i++)
		if (suite->holds(verdicts->mutations[i].scenario))
			count_verdict(&counts, verdicts->mutations[i].verdict);
	for (size_t i = 0; i < verdicts->arms_count; i++)
		if (suite->holds(verdicts->arms[i].scenario))
			count_verdict(&counts,
				      verdicts->arms[i].status == ARM_OK ? VERDICT_PASS : VERDICT_NOT_ESTABLISHED);
	return counts;
}

/* "confinement.mutation.network": dots where the id has slashes. A name is unique within its class. */
static void put_case(struct buf *out, const char *arm, int64_t repetition, const char *name, const char *name_rest)
{
	buf_text(out, "    <testcase classname=\"confinement.");
	for (const char *at = arm; *at; at++)
		buf_add(out, *at == '/' ? "." : at, 1);
	escape_printf(out, "\" name=\"%s%s", name, name_rest);
	if (repetition > 1)
		escape_printf(out, " #%" PRId64, repetition);
	buf_text(out, "\"");
}

static void put_cell(struct buf *out, const struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;
	const struct observation *observation = cell->observation;
	bool failed = cell->verdict == VERDICT_FAIL;
	char observer[NAME_MAX_SHORT + 1] = "@";

	memcpy(observer + 1, expectation->observer, strlen(expectation->observer) + 1);
	put_case(out, cell->scenario->id, cell->repetition, expectation->subject, observer);
	if (cell->verdict == VERDICT_PASS) {
		buf_text(out, "/>\n");
		return;
	}
	escape_printf(out, ">\n      <%s type=\"%s\" message=\"%s\">expected %s %" PRId64, failed ? "failure" : "error",
		      failed ? failure_type(cell) : verdict_names[VERDICT_NOT_ESTABLISHED],
		      because_names[cell->because], expectation_op_names[expectation->op], expectation->value);
	if (observation)
		escape_printf(out, ", %s %" PRId64 ", observation %s",
			      observation->status == OBSERVATION_OBSERVED ? "saw" : "not seen, counted",
			      observation->value, observation->id);
	escape_printf(out, "</%s>\n    </testcase>\n", failed ? "failure" : "error");
}

static void put_mutation(struct buf *out, const struct verdict_mutation *mutation)
{
	bool failed = mutation->verdict == VERDICT_FAIL;

	put_case(out, mutation->scenario->id, mutation->repetition, "detected", "");
	if (mutation->verdict == VERDICT_PASS)
		buf_text(out, "/>\n");
	else
		escape_printf(out, ">\n      <%s type=\"%s\" message=\"%s\"/>\n    </testcase>\n",
			      failed ? "failure" : "error",
			      failed ? "mutation_not_detected" : verdict_names[VERDICT_NOT_ESTABLISHED],
			      because_names[mutation->because]);
}

static void put_arm(struct buf *out, const struct verdict_arm *arm)
{
	put_case(out, arm->scenario->id, arm->repetition, "arm", "");
	if (arm->status == ARM_OK)
		buf_text(out, "/>\n");
	else
		escape_printf(out, ">\n      <error type=\"%s\" message=\"%s\"/>\n    </testcase>\n",
			      arm_status_names[arm->status], arm->reason);
}

static void put_suite(struct buf *out, const struct verdicts *verdicts, const struct suite *suite)
{
	struct counts counts = count_suite(verdicts, suite);

	escape_printf(out, "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\">\n",
		      suite->name, counts.tests, counts.failures, counts.errors);
	for (size_t i = 0; i < verdicts->arms_count; i++)
		if (suite->holds(verdicts->arms[i].scenario))
			put_arm(out, &verdicts->arms[i]);
	for (size_t i = 0; i < verdicts->cells_count; i++)
		if (suite->holds(verdicts->cells[i].scenario))
			put_cell(out, &verdicts->cells[i]);
	for (size_t i = 0; i < verdicts->mutations_count; i++)
		if (suite->holds(verdicts->mutations[i].scenario))
			put_mutation(out, &verdicts->mutations[i]);
	buf_text(out, "  </testsuite>\n");
}

int junit_encode(const struct verdicts *verdicts, struct buf *out, struct error **err)
{
	struct counts all = { 0 };

	for (size_t i = 0; i < suites_count; i++) {
		struct counts counts = count_suite(verdicts, &suites[i]);

		all.tests += counts.tests;
		all.failures += counts.failures;
		all.errors += counts.errors;
	}
	escape_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<testsuites name=\"confinement\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
		      all.tests, all.failures, all.errors);
	for (size_t i = 0; i < suites_count; i++)
		if (count_suite(verdicts, &suites[i]).tests > 0)
			put_suite(out, verdicts, &suites[i]);
	buf_text(out, "</testsuites>\n");
	return buf_check(out, "junit.xml", err);
}

static const struct suite suites[] = {
	{ "confinement.baseline", is_baseline },
	{ "confinement.mutation", is_mutant },
	{ "confinement.lifecycle", is_lifecycle },
};
static const size_t suites_count = sizeof(suites) / sizeof(suites[0]);
