#include <stdint.h>

#include "core/buf.h"
#include "core/fd.h"
#include "tests/unit/test.h"

static void test_append(void)
{
	cleanup_buf struct buf buf = BUF(100);
	struct error *err = NULL;

	CU_ASSERT_STRING_EQUAL(buf_string(&buf), "");
	CU_ASSERT_EQUAL(buf_text(&buf, "one "), 0);
	CU_ASSERT_EQUAL(buf_printf(&buf, "%d %s", 2, "three"), 0);
	CU_ASSERT_EQUAL(buf_add(&buf, "\0!", 2), 0);
	CU_ASSERT_EQUAL(buf.length, 13);
	CU_ASSERT_EQUAL(memcmp(buf_string(&buf), "one 2 three\0!", 14), 0);
	CU_ASSERT_EQUAL(buf_check(&buf, "text", &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_nothing_appended(void)
{
	cleanup_buf struct buf buf = BUF(0);

	CU_ASSERT_EQUAL(buf_add(&buf, NULL, 0), 0);
	CU_ASSERT_EQUAL(buf_text(&buf, ""), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&buf), "");
	CU_ASSERT(!buf.failed);
	CU_ASSERT(buf_text(&buf, "x") < 0);
}

/* The maximum itself fits, one more byte does not, by each way of appending. */
static void test_maximum(void)
{
	enum { ADD, TEXT, PRINTF, RESERVE, WAYS };

	for (int way = 0; way < WAYS; way++) {
		cleanup_buf struct buf buf = BUF(4);
		struct error *err = NULL;
		int r = 0;

		CU_ASSERT_EQUAL(buf_text(&buf, "1234"), 0);
		if (way == ADD)
			r = buf_add(&buf, "5", 1);
		else if (way == TEXT)
			r = buf_text(&buf, "5");
		else if (way == PRINTF)
			r = buf_printf(&buf, "%d", 5);
		else
			r = buf_reserve(&buf, 1) ? 0 : -1;
		CU_ASSERT(r < 0);
		CU_ASSERT(buf.failed);
		CU_ASSERT_STRING_EQUAL(buf_string(&buf), "1234");
		CU_ASSERT_EQUAL(buf_check(&buf, "a name", &err), -ERROR_LIMIT);
		CU_ASSERT(test_error(&err, ERROR_LIMIT, "a name: more than 4 bytes"));
	}
}

static void test_sticky(void)
{
	cleanup_buf struct buf buf = BUF(4);

	CU_ASSERT(buf_text(&buf, "12345") < 0);
	CU_ASSERT(buf_text(&buf, "1") < 0);
	CU_ASSERT_PTR_NULL(buf_reserve(&buf, 1));
	CU_ASSERT_EQUAL(buf.length, 0);
	buf_free(&buf);
	CU_ASSERT(!buf.failed);
	CU_ASSERT_EQUAL(buf.max, 4);
	CU_ASSERT_EQUAL(buf_text(&buf, "1234"), 0);
}

static void test_growth(void)
{
	enum { MAXIMUM = 100000 };
	cleanup_buf struct buf buf = BUF(MAXIMUM);
	size_t grown = 0, capacity = 0;

	for (size_t i = 0; i < MAXIMUM; i++) {
		char byte = (char)(i % 251);

		buf_add(&buf, &byte, 1);
		grown += buf.capacity != capacity;
		capacity = buf.capacity;
	}
	CU_ASSERT_EQUAL(buf.length, MAXIMUM);
	CU_ASSERT(grown < 12);
	CU_ASSERT(buf.capacity <= MAXIMUM + 1);
	CU_ASSERT(!buf.failed);
	for (size_t i = 0; i < MAXIMUM; i += 997)
		CU_ASSERT_EQUAL(buf.data[i], (char)(i % 251));
}

static void test_huge(void)
{
	cleanup_buf struct buf buf = BUF(SIZE_MAX);

	CU_ASSERT_EQUAL(buf_text(&buf, "1"), 0);
	CU_ASSERT_PTR_NULL(buf_reserve(&buf, SIZE_MAX - 1));
	CU_ASSERT(buf.failed);
	CU_ASSERT_STRING_EQUAL(buf_string(&buf), "1");
}

static void test_reserve(void)
{
	cleanup_buf struct buf buf = BUF(10);
	char *room = buf_reserve(&buf, 10);

	CU_ASSERT_PTR_NOT_NULL(room);
	if (!room)
		return;
	memcpy(room, "abcdef", 6);
	CU_ASSERT_EQUAL(buf.length, 0);
	buf_commit(&buf, 6);
	CU_ASSERT_STRING_EQUAL(buf_string(&buf), "abcdef");
}

static void test_consume(void)
{
	cleanup_buf struct buf buf = BUF(10);

	buf_consume(&buf, 0);
	buf_consume(&buf, 5);
	buf_text(&buf, "abcdef");
	buf_consume(&buf, 2);
	CU_ASSERT_STRING_EQUAL(buf_string(&buf), "cdef");
	CU_ASSERT_EQUAL(buf_text(&buf, "ghijkl"), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&buf), "cdefghijkl");
	buf_consume(&buf, 100);
	CU_ASSERT_EQUAL(buf.length, 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&buf), "");
}

static void test_wipe(void)
{
	struct buf buf = BUF(10);

	buf_wipe(&buf);
	buf_text(&buf, "secret");
	buf_wipe(&buf);
	CU_ASSERT_PTR_NULL(buf.data);
	CU_ASSERT_EQUAL(buf.length, 0);
	CU_ASSERT_EQUAL(buf.max, 10);
	CU_ASSERT_EQUAL(buf_text(&buf, "0123456789"), 0);
	buf_free(&buf);
	buf_free(&buf);
}

static void take_drained(void *context, const void *bytes, size_t length)
{
	buf_add(context, bytes, length);
}

/* What goes on is what was appended, in order, in bounded memory; the maximum holds for the whole. */
static void test_drain(void)
{
	static const char line[] = "0123456789abcdef\n";
	struct buf all = BUF(1000000), expected = BUF(1000000);
	struct buf small = BUF(500000);

	small.drain = take_drained;
	small.drain_context = &all;
	while (buf_printf(&small, "%s", line) == 0) {
		buf_text(&expected, line);
		CU_ASSERT(small.capacity <= 4 * BUF_DRAIN_BYTES);
	}
	CU_ASSERT(small.failed && small.drained > 0);
	CU_ASSERT_EQUAL(expected.length, 500000 / strlen(line) * strlen(line));
	buf_drain(&small);
	buf_drain(&small);
	CU_ASSERT_EQUAL(small.drained, expected.length);
	CU_ASSERT_STRING_EQUAL(buf_string(&all), buf_string(&expected));
	buf_free(&small);
	buf_free(&all);
	buf_free(&expected);
}

static CU_TestInfo tests[] = {
	{ "append", test_append },
	{ "append nothing", test_nothing_appended },
	{ "maximum", test_maximum },
	{ "failure is sticky", test_sticky },
	{ "growth", test_growth },
	{ "sizes near SIZE_MAX", test_huge },
	{ "reserve and commit", test_reserve },
	{ "consume", test_consume },
	{ "wipe and free", test_wipe },
	{ "drain", test_drain },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "buf", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("buf", suites);
}
