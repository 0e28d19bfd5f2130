#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/fd.h"
#include "tests/unit/test.h"

#if defined(__SANITIZE_ADDRESS__)
#define OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_MALLOC 0
#endif
#endif
#ifndef OWN_MALLOC
#define OWN_MALLOC 1
#endif

#if OWN_MALLOC
/* Stands before the C library's, so that a test can make memory short; the sanitizers bring their own. */
static bool memory_is_short;
void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	return memory_is_short ? NULL : __libc_malloc(size);
}
#endif

static void test_set(void)
{
	cleanup_error struct error *err = NULL;

	CU_ASSERT_EQUAL(error_set(&err, ERROR_LIMIT, "%d of %s", 3, "four"), -ERROR_LIMIT);
	CU_ASSERT_EQUAL(error_code(err), ERROR_LIMIT);
	CU_ASSERT_STRING_EQUAL(error_text(err), "3 of four");
	CU_ASSERT_EQUAL(error_number(err), 0);
}

/* It stays what it is behind a context, and no other error is one. */
static void test_unlisted(void)
{
	cleanup_error struct error *err = NULL, *other = NULL;

	CU_ASSERT_EQUAL(error_unlisted(&err, "key %d", 3), -ERROR_INPUT);
	CU_ASSERT_EQUAL(error_code(err), ERROR_INPUT);
	CU_ASSERT_EQUAL(error_wrap(&err, "file"), -ERROR_INPUT);
	CU_ASSERT_STRING_EQUAL(error_text(err), "file: key 3");
	CU_ASSERT(error_is_unlisted(err));
	CU_ASSERT_EQUAL(error_unlisted(NULL, "nobody asks"), -ERROR_INPUT);
	CU_ASSERT_EQUAL(error_set(&other, ERROR_INPUT, "unknown key"), -ERROR_INPUT);
	CU_ASSERT(!error_is_unlisted(other));
	CU_ASSERT(!error_is_unlisted(NULL));
}

static void test_errno_text(void)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(error_errno(&err, ENOENT, "opening %s", "it"), -ERROR_SYSTEM);
	CU_ASSERT_EQUAL(error_number(err), ENOENT);
	CU_ASSERT_STRING_EQUAL(error_text(err), "opening it: No such file or directory");
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "opening"));
	CU_ASSERT_EQUAL(error_errno(&err, 123456, "odd"), -ERROR_SYSTEM);
	CU_ASSERT_STRING_EQUAL(error_text(err), "odd: error 123456");
	error_free(err);
}

static void test_wrap(void)
{
	cleanup_error struct error *err = NULL;

	CU_ASSERT_EQUAL(error_wrap(&err, "nothing"), 0);
	CU_ASSERT_PTR_NULL(err);
	error_errno(&err, EIO, "inner");
	CU_ASSERT_EQUAL(error_wrap(&err, "outer %d", 1), -ERROR_SYSTEM);
	CU_ASSERT_STRING_EQUAL(error_text(err), "outer 1: inner: Input/output error");
	CU_ASSERT_EQUAL(error_number(err), EIO);
}

static void test_nobody_asks(void)
{
	CU_ASSERT_EQUAL(error_set(NULL, ERROR_INPUT, "text"), -ERROR_INPUT);
	CU_ASSERT_EQUAL(error_errno(NULL, EIO, "text"), -ERROR_SYSTEM);
	CU_ASSERT_EQUAL(error_wrap(NULL, "text"), 0);
	CU_ASSERT_STRING_EQUAL(error_text(NULL), "");
	CU_ASSERT_EQUAL(error_code(NULL), 0);
	CU_ASSERT_EQUAL(error_number(NULL), 0);
	error_free(NULL);
}

static void test_bounded_line(void)
{
	cleanup_error struct error *err = NULL;
	char longer[2000];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	error_set(&err, ERROR_INPUT, "%s", longer);
	CU_ASSERT_EQUAL(strlen(error_text(err)), 511);
	error_wrap(&err, "%s", longer);
	CU_ASSERT_EQUAL(strlen(error_text(err)), 511);
	error_free(steal_pointer(&err));
	error_set(&err, ERROR_INPUT, "one\ntwo\x1b[0m\xff");
	CU_ASSERT_STRING_EQUAL(error_text(err), "one?two?[0m?");
}

static void test_safe(void)
{
	static const struct {
		const char *text, *safe;
		size_t size;
	} rows[] = {
		{ .text = "plain ~", .safe = "plain ~", .size = 16 },
		{ .text = "a\tb\nc\x7f\x80", .safe = "a?b?c??", .size = 16 },
		{ .text = "abcdef", .safe = "abc", .size = 4 },
		{ .text = "abc", .safe = "abc", .size = 4 },
		{ .text = "abc", .safe = "", .size = 1 },
		{ .text = NULL, .safe = "", .size = 4 },
	};
	char out[16];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_PTR_EQUAL(error_safe(rows[i].text, out, rows[i].size), out);
		CU_ASSERT_STRING_EQUAL(out, rows[i].safe);
	}
	out[0] = 'x';
	error_safe("abc", out, 0);
	CU_ASSERT_EQUAL(out[0], 'x');
}

static void test_keep_first(void)
{
	struct error *first = NULL, *second = NULL;

	error_keep_first(&first, &second);
	CU_ASSERT_PTR_NULL(first);
	error_set(&second, ERROR_CLOSED, "one");
	error_keep_first(&first, &second);
	CU_ASSERT_PTR_NULL(second);
	error_set(&second, ERROR_LIMIT, "two");
	error_keep_first(&first, &second);
	CU_ASSERT_PTR_NULL(second);
	CU_ASSERT(test_error(&first, ERROR_CLOSED, "one"));
	error_set(&second, ERROR_LIMIT, "three");
	error_keep_first(NULL, &second);
	CU_ASSERT_PTR_NULL(second);
}

#if OWN_MALLOC
static void test_short_memory(void)
{
	struct error *err = NULL, *other = NULL;
	int r, wrapped;

	memory_is_short = true;
	r = error_set(&err, ERROR_LIMIT, "text");
	wrapped = error_wrap(&err, "context");
	error_set(&other, ERROR_INPUT, "text");
	memory_is_short = false;
	CU_ASSERT_EQUAL(r, -ERROR_MEMORY);
	CU_ASSERT_EQUAL(wrapped, -ERROR_MEMORY);
	CU_ASSERT_STRING_EQUAL(error_text(err), "out of memory");
	error_keep_first(&err, &other);
	CU_ASSERT(test_error(&err, ERROR_MEMORY, "out of memory"));
}
#endif

static CU_TestInfo tests[] = {
	{ "set", test_set },
	{ "what no list has", test_unlisted },
	{ "errno", test_errno_text },
	{ "wrap", test_wrap },
	{ "no error pointer", test_nobody_asks },
	{ "one bounded line", test_bounded_line },
	{ "safe text", test_safe },
	{ "the first error wins", test_keep_first },
#if OWN_MALLOC
	{ "short memory", test_short_memory },
#endif
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "error", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("error", suites);
}
