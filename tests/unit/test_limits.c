/* The table of limits: each that there must be, once, with its reason; and what the bundle names by an id is among
 * them. */
#include <fcntl.h>
#include <stdlib.h>

#include "core/fd.h"
#include "core/limits.h"
#include "reports/coverage.h"
#include "reports/limits.h"
#include "tests/unit/test.h"

#define REQUIRED "tests/data/limits.txt" /* an id a line */
#define TEXT_BYTES ((size_t)64 * KIB)

static size_t rows_of(const char *id, size_t length)
{
	size_t found = 0;

	for (const struct limit *limit = limits; limit->id; limit++)
		found += strlen(limit->id) == length && strncmp(limit->id, id, length) == 0;
	return found;
}

static void test_required(void)
{
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct error *err = NULL;
	size_t lines = 0;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, REQUIRED, TEXT_BYTES, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (const char *line = buf_string(&text); *line; line += strcspn(line, "\n") + 1, lines++) {
		size_t length = strcspn(line, "\n");

		if (rows_of(line, length) != 1)
			fprintf(stderr, "limit %.*s: %zu rows\n", (int)length, line, rows_of(line, length));
		CU_ASSERT_EQUAL(rows_of(line, length), 1);
	}
	CU_ASSERT(lines >= 50);
	CU_ASSERT_EQUAL(lines, limits_count());
}

/* One of the three fixed lists of coverage.json. */
static void among(const char *const *ids)
{
	for (; *ids; ids++) {
		if (rows_of(*ids, strlen(*ids)) != 1)
			fprintf(stderr, "%s of coverage.json is no limit\n", *ids);
		CU_ASSERT_EQUAL(rows_of(*ids, strlen(*ids)), 1);
	}
}

static void test_coverage(void)
{
	among(coverage_untested());
	among(coverage_assumptions());
	among(coverage_not_established());
}

/* For a cell of a table, in Markdown and elsewhere. */
static bool plain(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c < ' ' || *c > '~' || strchr("|<>*_[]", *c))
			return false;
	return *text && strlen(text) < 200 && text[strlen(text) - 1] != '.';
}

static void test_form(void)
{
	int last = 0;

	for (const struct limit *limit = limits; limit->id; limit++) {
		CU_ASSERT(strlen(limit->id) < NAME_MAX_SHORT && plain(limit->title) && plain(limit->reason));
		CU_ASSERT(!limit->beside || plain(limit->beside));
		CU_ASSERT((int)limit->kind >= last && limit->kind < LIMIT_KINDS);
		last = (int)limit->kind;
	}
	for (int kind = 0; kind < LIMIT_KINDS; kind++)
		CU_ASSERT_PTR_NOT_NULL(limit_kind_titles[kind]);
	CU_ASSERT_PTR_NULL(limit_kind_titles[LIMIT_KINDS]);
}

/* What was never tried is not put in milder words. */
static void test_platforms(void)
{
	static const char *const untested[] = { "cgroup-v2", "apparmor", "selinux", "arm64" };

	for (size_t i = 0; i < ARRAY_SIZE(untested); i++) {
		for (const struct limit *limit = limits; limit->id; limit++)
			if (strcmp(limit->id, untested[i]) == 0)
				CU_ASSERT(limit->kind == LIMIT_PLATFORM &&
					  strncmp(limit->reason, "not tested", 10) == 0);
		CU_ASSERT_EQUAL(rows_of(untested[i], strlen(untested[i])), 1);
	}
}

static void test_line(void)
{
	cleanup_buf struct buf line = BUF(TEXT_BYTES), page = BUF(TEXT_BYTES);
	char start[64];
	size_t rows = 0;

	limits_line(&line);
	limits_page(&page);
	snprintf(start, sizeof(start), "limits: %zu things that no run shows (timing, ", limits_count());
	CU_ASSERT(strncmp(buf_string(&line), start, strlen(start)) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&line), "docs/limits.md\n"));
	CU_ASSERT_EQUAL(strcspn(buf_string(&line), "\n"), line.length - 1);
	CU_ASSERT(line.length <= 121);
	for (const char *at = buf_string(&page); (at = strstr(at, "\n| `")); at++)
		rows++;
	CU_ASSERT_EQUAL(rows, limits_count());
}

static CU_TestInfo tests[] = {
	{ "those that there must be", test_required },
	{ "the lists of coverage.json", test_coverage },
	{ "their form", test_form },
	{ "what was not tested says so", test_platforms },
	{ "the line and the page", test_line },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "limits", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("limits", suites);
}
