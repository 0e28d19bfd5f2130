/* The elements of an array as the bytes come by: however they are cut, and whatever stands for the frame. */
#include "reports/verify_elements.h"

#include "core/fd.h"
#include "tests/unit/test.h"

#define ELEMENT_BYTES 64

static int take(void *context, const char *element, size_t length, struct error **err)
{
	if (length == 9 && memcmp(element, "{\"no\":{}}", length) == 0)
		return error_set(err, ERROR_INPUT, "refused");
	buf_printf(context, "<%.*s>", (int)length, element);
	return 0;
}

static const struct {
	const char *text, *taken;
	bool whole;
} rows[] = {
	{ "{\"arms\":[]}", "", true },
	{ "{\"arms\":[{}]}", "<{}>", true },
	{ "{\"arms\":[{\"a\":[1,{}]},{\"b\":\"]}\"}]}", "<{\"a\":[1,{}]}><{\"b\":\"]}\"}>", true },
	{ "{\"arms\":[{\"a\":\"\\\"}\\\\\"},{}]}", "<{\"a\":\"\\\"}\\\\\"}><{}>", true },
	{ "{\"arms\":[{},{}]}x", "<{}><{}>", false },
	{ "{\"arms\":[{},{}]", "<{}><{}>", false },
	{ "{\"arms\":[{},]}", "<{}>", false },
	{ "{\"arms\":[,{}]}", "", false },
	{ "{\"arms\":[{} ]}", "<{}>", false },
	{ "{\"arms\":[1]}", "", false },
	{ "{\"arms\":[[]]}", "", false },
	{ "{ \"arms\":[{}]}", "", false },
	{ "{\"arms\":[{}],\"more\":1}", "<{}>", false },
	{ "{\"arms\":[{\"a\":\"", "", false },
	{ "", "", false },
};

static void test_cuts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t length = strlen(rows[i].text);

		for (size_t cut = 0; cut <= length; cut++) {
			cleanup_buf struct buf out = BUF(256);
			struct elements elements = ELEMENTS("{\"arms\":[", "]}", ELEMENT_BYTES, take, &out);
			struct error *err = NULL;

			CU_ASSERT_EQUAL(elements_feed(&elements, rows[i].text, cut, &err), 0);
			CU_ASSERT_EQUAL(elements_feed(&elements, rows[i].text + cut, length - cut, &err), 0);
			CU_ASSERT(test_no_error(&err));
			CU_ASSERT_STRING_EQUAL(buf_string(&out), rows[i].taken);
			CU_ASSERT_EQUAL(elements_whole(&elements), rows[i].whole);
			elements_free(&elements);
		}
	}
}

/* Without an end what follows the array does not matter; a longer end must be there to the byte. */
static void test_ends(void)
{
	static const char text[] = "{\"arms\":[{}],\"schema\":\"x\"}";
	static const struct {
		const char *end;
		bool whole;
	} ends[] = {
		{ NULL, true }, { "],\"schema\":\"x\"}", true }, { "],\"schema\":\"y\"}", false }, { "]", false }
	};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		cleanup_buf struct buf out = BUF(256);
		struct elements elements = ELEMENTS("{\"arms\":[", ends[i].end, ELEMENT_BYTES, take, &out);
		struct error *err = NULL;

		CU_ASSERT_EQUAL(elements_feed(&elements, text, strlen(text), &err), 0);
		CU_ASSERT_STRING_EQUAL(buf_string(&out), "<{}>");
		CU_ASSERT_EQUAL(elements_whole(&elements), ends[i].whole);
		elements_free(&elements);
	}
}

static void test_refused(void)
{
	static const char refused[] = "{\"arms\":[{},{\"no\":{}},{}]}";
	char text[ELEMENT_BYTES + 32] = "{\"arms\":[{\"";
	cleanup_buf struct buf out = BUF(256);
	struct elements elements = ELEMENTS("{\"arms\":[", "]}", ELEMENT_BYTES, take, &out);
	struct elements longer = ELEMENTS("{\"arms\":[", "]}", ELEMENT_BYTES, take, &out);
	struct error *err = NULL;

	CU_ASSERT(elements_feed(&elements, refused, strlen(refused), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "refused"));
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "<{}>");
	memset(text + strlen("{\"arms\":[{\""), 'a', ELEMENT_BYTES);
	CU_ASSERT_EQUAL(elements_feed(&longer, text, sizeof(text), &err), -ERROR_LIMIT);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, ""));
	elements_free(&elements);
	elements_free(&longer);
}

static CU_TestInfo tests[] = {
	{ "however they are cut", test_cuts },
	{ "ends", test_ends },
	{ "refused", test_refused },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "verify_elements", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify_elements", suites);
}
