/* Calls and rows, joined: the good case, each forgery, and what cannot be told apart. */
#include "core/correlate.h"

#include <stdlib.h>

#include "core/fd.h"
#include "tests/unit/test.h"

#define R1 "aa"
#define R2 "bb"
#define CALL(id, asked, row, may)                                                                                      \
	{                                                                                                              \
		.call = (id), .request = (asked), .entry = (row), .subject = "p1", .allowed = (may)                    \
	}
#define ROW(number, id, made)                                                                                          \
	{                                                                                                              \
		.row = (number), .call = (id), .request = (made), .transaction = "7", .subject = "p1"                  \
	}
#define CASE_MAX 3

static const struct {
	const char *name;
	struct correlate_call calls[CASE_MAX];
	size_t calls_count;
	struct correlate_row rows[CASE_MAX];
	size_t rows_count;
	int kinds[CASE_MAX + 1];
	size_t count;
} cases[] = {
	{ "nothing", .count = 0 },
	{ "one call, one row, by id",
	  { CALL("c1", R1, "e1", true) },
	  1,
	  { ROW(1, "c1", R1) },
	  1,
	  { CORRELATE_JOINED },
	  1 },
	{ "by what was asked for", { CALL("c1", R1, "e1", true) }, 1, { ROW(1, "", R1) }, 1, { CORRELATE_JOINED }, 1 },
	{ "a denied call has no row", { CALL("c1", R1, "e1", false) }, 1, .rows_count = 0, .count = 0 },
	{ "a row without a call", .calls_count = 0, .rows = { ROW(1, "", R1) }, .rows_count = 1,
	  .kinds = { CORRELATE_ROW_WITHOUT_CALL }, .count = 1 },
	{ "a row with the id of no call",
	  { CALL("c1", R1, "e1", true) },
	  1,
	  { ROW(1, "c1", R1), ROW(2, "c2", R1) },
	  2,
	  { CORRELATE_JOINED, CORRELATE_ROW_WITHOUT_CALL },
	  2 },
	{ "a call without a row",
	  { CALL("c1", R1, "e1", true) },
	  1,
	  .rows_count = 0,
	  .kinds = { CORRELATE_CALL_WITHOUT_ROW },
	  .count = 1 },
	{ "one call with two rows",
	  { CALL("c1", R1, "e1", true) },
	  1,
	  { ROW(1, "c1", R1), ROW(2, "c1", R1) },
	  2,
	  { CORRELATE_JOINED, CORRELATE_ROW_AGAIN },
	  2 },
	{ "one call with two rows that bear no id",
	  { CALL("c1", R1, "e1", true) },
	  1,
	  { ROW(1, "", R1), ROW(2, "", R1) },
	  2,
	  { CORRELATE_JOINED, CORRELATE_ROW_AGAIN },
	  2 },
	{ "two calls that ask for the same",
	  { CALL("c1", R1, "e1", true), CALL("c2", R1, "e2", true) },
	  2,
	  { ROW(1, "", R1), ROW(2, "", R1) },
	  2,
	  { CORRELATE_JOINED, CORRELATE_JOINED },
	  2 },
	{ "a copied id beside the call's own row",
	  { CALL("c1", R1, "e1", true) },
	  1,
	  { ROW(1, "c1", R1), ROW(2, "c1", R2) },
	  2,
	  { CORRELATE_JOINED, CORRELATE_COPIED_ID },
	  2 },
	{ "a copied id is no row of the call",
	  { CALL("c1", R1, "e1", true) },
	  1,
	  { ROW(1, "c1", R2) },
	  1,
	  { CORRELATE_COPIED_ID, CORRELATE_CALL_WITHOUT_ROW },
	  2 },
	{ "a call whose end nobody knows, and its row",
	  { { .call = "c1", .request = R1, .entry = "e1", .allowed = true, .open = true } },
	  1,
	  { ROW(1, "c1", R1) },
	  1,
	  { CORRELATE_JOINED },
	  1 },
	{ "and none",
	  { { .call = "c1", .request = R1, .entry = "e1", .allowed = true, .open = true } },
	  1,
	  .rows_count = 0,
	  .count = 0 },
	{ "a row of a denied call",
	  { CALL("c1", R1, "e1", false) },
	  1,
	  { ROW(1, "c1", R1) },
	  1,
	  { CORRELATE_ROW_OF_DENIED },
	  1 },
	{ "a call that the chain does not know",
	  { CALL("c1", R1, "", true) },
	  1,
	  { ROW(1, "c1", R1) },
	  1,
	  { CORRELATE_CALL_WITHOUT_ENTRY },
	  1 },
	{ "nor its row",
	  { CALL("c1", R1, "", true) },
	  1,
	  .rows_count = 0,
	  .kinds = { CORRELATE_CALL_WITHOUT_ENTRY },
	  .count = 1 },
	{ "two calls under one id",
	  { CALL("c1", R1, "e1", true), CALL("c1", R1, "e2", true) },
	  2,
	  { ROW(1, "c1", R1) },
	  1,
	  { CORRELATE_JOINED, CORRELATE_CALL_AGAIN, CORRELATE_CALL_WITHOUT_ROW },
	  3 },
};

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_correlation struct correlation found = { .findings = NULL };
		struct error *err = NULL;
		bool same;

		CU_ASSERT_EQUAL(correlate(cases[i].calls, cases[i].calls_count, cases[i].rows, cases[i].rows_count,
					  &found, &err),
				0);
		CU_ASSERT(test_no_error(&err));
		same = found.count == cases[i].count;
		for (size_t at = 0; at < cases[i].count && same; at++)
			same = found.findings[at].kind == cases[i].kinds[at];
		if (!same)
			fprintf(stderr, "case: %s: %zu findings\n", cases[i].name, found.count);
		CU_ASSERT_TRUE(same);
	}
}

/* Every kind is the finding of some case. */
static void test_kinds(void)
{
	for (int kind = 0; correlate_kind_names[kind]; kind++) {
		size_t found = 0;

		for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
			for (size_t at = 0; at < cases[i].count; at++)
				found += cases[i].kinds[at] == kind;
		CU_ASSERT(found > 0);
	}
}

/* What a finding holds: of the call its id and its entry, of the row its number and its transaction. */
static void test_values(void)
{
	static const struct correlate_call calls[] = { CALL("c1", R1, "e1", true), CALL("c2", R2, "e2", true) };
	static const struct correlate_row rows[] = {
		{ .row = 4, .call = "c1", .request = R1, .transaction = "901", .subject = "p1" },
		{ .row = 5, .request = "cc", .transaction = "", .subject = "p4" },
	};
	cleanup_correlation struct correlation found = { .findings = NULL };
	struct error *err = NULL;

	CU_ASSERT_EQUAL(correlate(calls, 2, rows, 2, &found, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(found.count, 3);
	if (found.count != 3)
		return;
	CU_ASSERT_STRING_EQUAL(found.findings[0].call, "c1");
	CU_ASSERT_STRING_EQUAL(found.findings[0].entry, "e1");
	CU_ASSERT_STRING_EQUAL(found.findings[0].transaction, "901");
	CU_ASSERT_EQUAL(found.findings[0].row, 4);
	CU_ASSERT_EQUAL(found.findings[1].kind, CORRELATE_CALL_WITHOUT_ROW);
	CU_ASSERT_STRING_EQUAL(found.findings[1].call, "c2");
	CU_ASSERT_EQUAL(found.findings[1].row, 0);
	CU_ASSERT_STRING_EQUAL(found.findings[2].subject, "p4");
	CU_ASSERT_STRING_EQUAL(found.findings[2].call, "");
	CU_ASSERT_EQUAL(correlation_count(&found, CORRELATE_JOINED), 1);
	CU_ASSERT_EQUAL(correlation_count(&found, CORRELATE_COPIED_ID), 0);
}

static void test_refused(void)
{
	static const struct correlate_row no_number[] = { ROW(0, "", R1) };
	static const struct correlate_row twice[] = { ROW(3, "", R1), ROW(3, "", R2) };
	cleanup_correlation struct correlation found = { .findings = NULL };
	struct error *err = NULL;

	CU_ASSERT(correlate(NULL, 0, no_number, 1, &found, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "row 0 of the effect has no number"));
	CU_ASSERT(correlate(NULL, 0, twice, 2, &found, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "row 1 of the effect has the number of row 0"));
	CU_ASSERT(correlate(NULL, 0, twice, CORRELATE_MAX + 1, &found, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "calls or rows"));
	CU_ASSERT_PTR_NULL(found.findings);
}

static CU_TestInfo tests[] = {
	{ "each case", test_cases },
	{ "each kind has a case", test_kinds },
	{ "what a finding holds", test_values },
	{ "refused", test_refused },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "correlate", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_correlate", suites);
}
