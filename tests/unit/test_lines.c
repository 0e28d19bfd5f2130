/* Lines out of a stream: however it is cut, each line comes once and whole. */
#include "core/lines.h"

#include <string.h>

#include "tests/unit/test.h"

#define LINE_BYTES 8

static int take(void *context, const char *line, size_t length, struct error **err)
{
	struct buf *out = context;

	if (length == 4 && memcmp(line, "stop", 4) == 0)
		return error_set(err, ERROR_INPUT, "stopped");
	buf_printf(out, "[%.*s]", (int)length, line);
	return 0;
}

static void test_cuts(void)
{
	static const char text[] = "a\n\nbcd\n12345678\nend";
	const size_t length = sizeof(text) - 1;

	for (size_t first = 0; first <= length; first++)
		for (size_t second = first; second <= length; second++) {
			cleanup_buf struct buf out = BUF(256);
			cleanup_lines struct lines lines = LINES(LINE_BYTES, take, &out);
			struct error *err = NULL;

			CU_ASSERT_EQUAL(lines_feed(&lines, text, first, &err), 0);
			CU_ASSERT_EQUAL(lines_feed(&lines, text + first, second - first, &err), 0);
			CU_ASSERT_EQUAL(lines_feed(&lines, text + second, length - second, &err), 0);
			CU_ASSERT(test_no_error(&err));
			CU_ASSERT_STRING_EQUAL(buf_string(&out), "[a][][bcd][12345678]");
			CU_ASSERT(lines_cut(&lines));
			CU_ASSERT_EQUAL(lines_feed(&lines, "\n", 1, &err), 0);
			CU_ASSERT_STRING_EQUAL(buf_string(&out), "[a][][bcd][12345678][end]");
			CU_ASSERT_FALSE(lines_cut(&lines));
		}
}

/* One byte more than a line may have, whole or in two pieces, ended or not. */
static void test_too_long(void)
{
	static const char *const texts[] = { "ok\n123456789\n", "ok\n123456789" };

	for (size_t i = 0; i < 2; i++)
		for (size_t cut = 3; cut <= strlen(texts[i]); cut++) {
			cleanup_buf struct buf out = BUF(256);
			cleanup_lines struct lines lines = LINES(LINE_BYTES, take, &out);
			struct error *err = NULL;
			int result = lines_feed(&lines, texts[i], cut, &err);

			if (result == 0)
				result = lines_feed(&lines, texts[i] + cut, strlen(texts[i]) - cut, &err);
			CU_ASSERT_EQUAL(result, -ERROR_LIMIT);
			CU_ASSERT(test_error(&err, ERROR_LIMIT, ""));
			CU_ASSERT_STRING_EQUAL(buf_string(&out), "[ok]");
		}
}

static void test_refused(void)
{
	cleanup_buf struct buf out = BUF(256);
	cleanup_lines struct lines lines = LINES(LINE_BYTES, take, &out);
	struct error *err = NULL;

	CU_ASSERT(lines_feed(&lines, "a\nstop\nb\n", 9, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "stopped"));
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "[a]");
}

static CU_TestInfo tests[] = {
	{ "however they are cut", test_cuts },
	{ "too long", test_too_long },
	{ "refused", test_refused },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "lines", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("lines", suites);
}
