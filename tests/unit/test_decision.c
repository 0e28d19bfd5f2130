#include "core/fd.h"
#include "gateway/decision.h"
#include "tests/unit/test.h"

#define UNLISTED "-"

/* Labels by name; a NULL declaration is none; UNLISTED is a sink without a ceiling. */
struct question_row {
	const char *entry, *session, *catalog, *declared, *ceiling;
	enum gateway_sink sink;
	enum gateway_rule rule;
};

struct label_row {
	const char *name;
	int rank;
};

struct outcome_row {
	enum gateway_rule rule;
	unsigned number;
	const char *id;
	enum gateway_decision decision;
	const char *error_code;
};

static const struct question_row question_rows[];
static const struct label_row label_rows[];
static const struct outcome_row outcome_rows[];

static void test_questions(void)
{
	for (const struct question_row *row = question_rows; row->ceiling; row++) {
		const struct gateway_question question = {
			.sink = row->sink,
			.session_at_entry = gateway_label_rank(row->entry),
			.session = gateway_label_rank(row->session),
			.catalog = gateway_label_rank(row->catalog),
			.declared = row->declared != NULL,
			.declaration = gateway_label_rank(row->declared),
			.listed = strcmp(row->ceiling, UNLISTED) != 0,
			.ceiling = gateway_label_rank(row->ceiling),
		};

		if (gateway_decide(&question) != row->rule)
			fprintf(stderr, "row %td: rule %d\n", row - question_rows, (int)gateway_decide(&question));
		CU_ASSERT_EQUAL(gateway_decide(&question), row->rule);
	}
}

static void test_zeros_are_denied(void)
{
	const struct gateway_question question = { .sink = SINK_TOOL };

	CU_ASSERT_NOT_EQUAL(gateway_decide(&question), RULE_ALLOW);
}

static void test_labels(void)
{
	for (const struct label_row *row = label_rows; row->name; row++)
		CU_ASSERT_EQUAL(gateway_label_rank(row->name), row->rank);
	CU_ASSERT_EQUAL(gateway_label_rank(NULL), LABEL_UNKNOWN);
}

static void test_raise(void)
{
	for (int session = 0; session <= 3; session++)
		for (int label = LABEL_UNKNOWN; label <= 3; label++)
			CU_ASSERT_EQUAL(gateway_session_raise(session, label), session > label ? session : label);
	/* An unknown session is not lifted to a known one. */
	CU_ASSERT_EQUAL(gateway_session_raise(LABEL_UNKNOWN, 3), LABEL_UNKNOWN);
}

/* The numbers and ids are a format that others read: this list says them once more. */
static void test_outcomes(void)
{
	unsigned rows = 0;

	for (const struct outcome_row *row = outcome_rows; row->id; row++, rows++) {
		const struct gateway_outcome *outcome = gateway_outcome(row->rule);

		CU_ASSERT_EQUAL((unsigned)row->rule, row->number);
		CU_ASSERT_STRING_EQUAL(outcome->id, row->id);
		CU_ASSERT_EQUAL(outcome->decision, row->decision);
		if (row->error_code)
			CU_ASSERT_STRING_EQUAL(outcome->error_code, row->error_code);
		CU_ASSERT((row->decision == DECISION_ALLOW) == (outcome->message == NULL));
		CU_ASSERT((row->decision == DECISION_DENY) ==
			  (outcome->message && strcmp(outcome->message, "Request denied by policy") == 0));
	}
	CU_ASSERT_EQUAL(rows + 1, RULES_END);
	CU_ASSERT_PTR_EQUAL(gateway_outcome(RULE_NONE), gateway_outcome(RULE_INTERNAL));
	CU_ASSERT_PTR_EQUAL(gateway_outcome(RULES_END), gateway_outcome(RULE_INTERNAL));
}

static const struct question_row question_rows[] = {
	{ "confidential", "confidential", "public", NULL, "confidential", SINK_TOOL, RULE_ALLOW },
	{ "confidential", "confidential", "public", NULL, "public", SINK_TOOL, RULE_CEILING_TOOL },
	{ "confidential", "confidential", "public", "public", "public", SINK_TOOL, RULE_CEILING_TOOL },
	{ "public", "public", "confidential", NULL, "public", SINK_TOOL, RULE_CEILING_TOOL },
	{ "public", "public", "public", "confidential", "public", SINK_TOOL, RULE_CEILING_TOOL },
	{ "public", "public", "public", NULL, "public", SINK_TOOL, RULE_ALLOW },
	{ "public", "public", "public", "pii", "pii", SINK_TOOL, RULE_ALLOW },
	{ "public", "public", "public", "Confidential", "trade_secret", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "public", "public", "public", "", "trade_secret", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "public", "public", "public", "future-secret", "public", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "hipaa_phi", "hipaa_phi", "public", NULL, "confidential", SINK_TOOL, RULE_CEILING_TOOL },
	{ "hipaa_phi", "hipaa_phi", "public", NULL, "mnpi", SINK_TOOL, RULE_ALLOW },
	{ "trade_secret", "mnpi", "hipaa_phi", "mnpi", "trade_secret", SINK_TOOL, RULE_ALLOW },
	/* Raised by another call since it came in, and lowered by nothing. */
	{ "public", "confidential", "public", NULL, "public", SINK_TOOL, RULE_CEILING_TOOL },
	{ "confidential", "public", "public", NULL, "public", SINK_TOOL, RULE_CEILING_TOOL },
	{ "public", "public", "public", NULL, UNLISTED, SINK_TOOL, RULE_TOOL_UNLISTED },
	{ "public", "public", "public", NULL, "secret", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "secret", "secret", "public", NULL, "trade_secret", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "public", "secret", "public", NULL, "trade_secret", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "public", "public", "secret", NULL, "trade_secret", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "mnpi", "mnpi", "secret", NULL, "public", SINK_TOOL, RULE_LABEL_UNKNOWN },
	{ "public", "confidential", "confidential", NULL, "public", SINK_RESPONSE, RULE_CEILING_RESPONSE },
	{ "confidential", "confidential", "public", NULL, "confidential", SINK_RESPONSE, RULE_ALLOW },
	{ "public", "public", "public", NULL, "secret", SINK_RESPONSE, RULE_LABEL_UNKNOWN },
	{ .ceiling = NULL },
};

static const struct label_row label_rows[] = {
	{ "public", 0 },
	{ "pii", 1 },
	{ "confidential", 2 },
	{ "hipaa_phi", 3 },
	{ "mnpi", 3 },
	{ "trade_secret", 3 },
	{ "internal", LABEL_UNKNOWN },
	{ "restricted", LABEL_UNKNOWN },
	{ "Public", LABEL_UNKNOWN },
	{ "", LABEL_UNKNOWN },
	{ NULL, 0 },
};

static const struct outcome_row outcome_rows[] = {
	{ RULE_ALLOW, 1, "allow", DECISION_ALLOW, NULL },
	{ RULE_EXECUTION_ID, 2, "execution-id", DECISION_DENY, "POLICY_DENY" },
	{ RULE_CATALOG_MISS, 3, "catalog-miss", DECISION_DENY, "TOOL_NOT_IN_CATALOG" },
	{ RULE_TOOL_UNLISTED, 4, "tool-unlisted", DECISION_DENY, "POLICY_DENY" },
	{ RULE_LABEL_UNKNOWN, 5, "label-unknown", DECISION_DENY, "POLICY_DENY" },
	{ RULE_CEILING_TOOL, 6, "ceiling-tool", DECISION_DENY, "POLICY_DENY" },
	{ RULE_CEILING_RESPONSE, 7, "ceiling-response", DECISION_DENY, "POLICY_DENY" },
	{ RULE_RESPONSE_SIZE, 8, "response-size", DECISION_DENY, "POLICY_DENY" },
	{ RULE_CATALOG_DRIFT, 9, "catalog-drift", DECISION_FAULT, "CATALOG_DRIFT" },
	{ RULE_UPSTREAM_MEASURE, 10, "upstream-measure", DECISION_FAULT, "TEE_FAULT" },
	{ RULE_UPSTREAM_START, 11, "upstream-start", DECISION_FAULT, "TEE_FAULT" },
	{ RULE_UPSTREAM_TIMEOUT, 12, "upstream-timeout", DECISION_FAULT, "UPSTREAM_UNAVAILABLE" },
	{ RULE_UPSTREAM_LOST, 13, "upstream-lost", DECISION_FAULT, "UPSTREAM_UNAVAILABLE" },
	{ RULE_UPSTREAM_ERROR, 14, "upstream-error", DECISION_FAULT, "UPSTREAM_TOOL_ERROR" },
	{ RULE_CALLER_GONE, 15, "caller-gone", DECISION_FAULT, "TEE_FAULT" },
	{ RULE_INTERNAL, 16, "internal", DECISION_FAULT, "TEE_FAULT" },
	{ RULE_NOT_ALLOWED, 17, "not-allowed", DECISION_DENY, "POLICY_DENY" },
	{ RULE_ARGUMENT, 18, "argument", DECISION_DENY, "POLICY_DENY" },
	{ RULE_BUDGET, 19, "budget", DECISION_DENY, "POLICY_DENY" },
	{ RULE_RESPONSE_SCAN, 20, "response-scan", DECISION_DENY, "POLICY_DENY" },
	{ RULE_AUDIT, 21, "audit", DECISION_FAULT, "TEE_FAULT" },
	{ .id = NULL },
};

static CU_TestInfo tests[] = {
	{ "questions as the table says", test_questions },
	{ "a question of zeros is denied", test_zeros_are_denied },
	{ "ranks of labels", test_labels },
	{ "a session only rises", test_raise },
	{ "outcomes keep number, id and code", test_outcomes },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "decision", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("decision", suites);
}
