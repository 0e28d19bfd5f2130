/* DNS questions as bytes. */
#include "observers/dns.h"

#include "core/fd.h"
#include "tests/unit/test.h"

#define HEADER(flags, questions) "\x12\x34" flags "\0" questions "\0\0\0\0\0\0"
#define QUERY "\x01\0"
#define A_IN "\0\1\0\1"

static const struct {
	const char *name;
	const char *bytes;
	size_t length;
	const char *labels; /* NULL: refused */
} rows[] = {
#define ROW(name, bytes, labels)                                                                                       \
	{                                                                                                              \
		name, bytes, sizeof(bytes) - 1, labels                                                                 \
	}
	ROW("one question", HEADER(QUERY, "\1") "\3abc\2de\0" A_IN, "abcde\n"),
	ROW("letters become small", HEADER(QUERY, "\1") "\3AbC\0" A_IN, "abc\n"),
	ROW("the root", HEADER(QUERY, "\1") "\0" A_IN, "\n"),
	ROW("two questions stay apart", HEADER(QUERY, "\2") "\3abc\0" A_IN "\2de\0" A_IN, "abc\nde\n"),
	ROW("a pointer", HEADER(QUERY, "\2") "\3abc\0" A_IN "\2de\xc0\x0c" A_IN, "abc\ndeabc\n"),
	ROW("a dot in a label is no border", HEADER(QUERY, "\1") "\3a.c\0" A_IN, "a\\.c\n"),
	ROW("nothing", "", NULL),
	ROW("shorter than a header", "\x12\x34\1\0\0\1", NULL),
	ROW("no question", HEADER(QUERY, "\0"), NULL),
	ROW("an answer", HEADER("\x81\x80", "\1") "\3abc\0" A_IN, NULL),
	ROW("a cut name", HEADER(QUERY, "\1") "\11abc", NULL),
	ROW("a cut question", HEADER(QUERY, "\1") "\3abc\0\0\1", NULL),
	ROW("bytes behind the end", HEADER(QUERY, "\1") "\3abc\0" A_IN "x", NULL),
	ROW("a pointer to itself", HEADER(QUERY, "\1") "\xc0\x0c" A_IN, NULL),
	ROW("a label of a reserved kind", HEADER(QUERY, "\1") "\203abc\0" A_IN, NULL),
	ROW("more questions than bytes", HEADER(QUERY, "\2") "\3abc\0" A_IN, NULL),
#undef ROW
};

static void forms(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;
		cleanup_buf struct buf labels = BUF(1024);
		int r = dns_labels(rows[i].bytes, rows[i].length, &labels, &err);

		if ((r == 0) != (rows[i].labels != NULL))
			fprintf(stderr, "row: %s\n", rows[i].name);
		if (rows[i].labels) {
			CU_ASSERT_EQUAL(r, 0);
			CU_ASSERT_STRING_EQUAL(buf_string(&labels), rows[i].labels);
			CU_ASSERT_TRUE(test_no_error(&err));
		} else {
			CU_ASSERT_TRUE(r < 0);
			CU_ASSERT_TRUE(test_error(&err, ERROR_INPUT, "DNS"));
		}
	}
}

/* A question cut at any byte is refused, and never read behind its end. */
static void cut_anywhere(void)
{
	static const char question[] = HEADER(QUERY, "\1") "\3abc\2de\0" A_IN;

	for (size_t length = 0; length < sizeof(question) - 1; length++) {
		struct error *err = NULL;
		cleanup_buf struct buf labels = BUF(1024);
		char *copy = malloc(length + 1);

		memcpy(copy, question, length);
		CU_ASSERT_TRUE(dns_labels(copy, length, &labels, &err) < 0);
		CU_ASSERT_TRUE(test_error(&err, ERROR_INPUT, "DNS"));
		free(copy);
	}
}

static void labels_have_a_maximum(void)
{
	static const char question[] = HEADER(QUERY, "\1") "\3abc\2de\0" A_IN;
	struct error *err = NULL;
	cleanup_buf struct buf labels = BUF(4);

	CU_ASSERT_TRUE(dns_labels(question, sizeof(question) - 1, &labels, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_LIMIT, "labels"));
}

static CU_TestInfo tests[] = {
	{ "forms", forms },
	{ "cut anywhere", cut_anywhere },
	{ "labels have a maximum", labels_have_a_maximum },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "dns", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("dns", suites);
}
