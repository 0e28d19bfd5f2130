/* The agent includes nothing of ours: that its tables and ours hold the same words is looked up in its text. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "adapter/probe.h"
#include "core/fd.h"
#include "core/limits.h"
#include "tests/unit/test.h"

#define PROBES_MAX 64
#define SOURCE_BYTES (256 * KIB)
#define ROW "{ .id = \""

/* Rows of the table that begins with `table` in the agent's file. */
static size_t rows_of(const char *text, const char *table)
{
	const char *at = strstr(text, table), *end = at ? strstr(at, "\n};") : NULL;
	size_t rows = 0;

	CU_ASSERT(at && end);
	while (at && (at = strstr(at + 1, ROW)) && at < end)
		rows++;
	return rows;
}

static void compare(const char *file, const char *table, const char *const *words)
{
	cleanup_buf struct buf text = BUF(SOURCE_BYTES);
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, file, SOURCE_BYTES, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (; words[count]; count++) {
		char row[64];

		snprintf(row, sizeof(row), ROW "%s\"", words[count]);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), row));
		if (!strstr(buf_string(&text), row))
			fprintf(stderr, "%s: no row for '%s'\n", file, words[count]);
	}
	CU_ASSERT_EQUAL(rows_of(buf_string(&text), table), count);
}

static void test_words(void)
{
	const char *agents[PROBES_MAX + 1] = { NULL };
	size_t count = 0;

	for (size_t i = 0; probe_ids[i] && count < PROBES_MAX; i++)
		if (probe_find(probe_ids[i])->address != PROBE_OUTSIDE &&
		    probe_find(probe_ids[i])->address != PROBE_DEPLOYMENT)
			agents[count++] = probe_ids[i];
	compare("agent/probes.c", "const struct probe probes[]", agents);
	compare("agent/misbehaviours.c", "const struct misbehaviour misbehaviours[]", misbehaviour_ids);
}

static CU_TestInfo tests[] = {
	{ "the same words", test_words },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = {
		{ .pName = "words", .pTests = tests },
		CU_SUITE_INFO_NULL,
	};

	return test_main("agent words", suites);
}
