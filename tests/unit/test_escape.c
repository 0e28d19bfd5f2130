/* Whatever is printed into markup stands for itself. */
#include <inttypes.h>

#include "core/fd.h"
#include "reports/escape.h"
#include "tests/unit/test.h"

#define TEXT_BYTES 4096

static void test_texts(void)
{
	static const struct {
		const char *text, *escaped;
	} rows[] = {
		{ "", "" },
		{ NULL, "" },
		{ "mutation/network@tcp4 #2", "mutation/network@tcp4 #2" },
		{ "<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;" },
		{ "\" onload='x' ", "&quot; onload=&#39;x&#39; " },
		{ "&lt;&#39;", "&amp;lt;&amp;#39;" },
		{ "a\nb\tc\x1b[31m\x7f", "a?b?c?[31m?" },
		{ "\xc3\xa4\xff\xe2\x80\xae", "??????" },
		{ "]]>--><!--", "]]&gt;--&gt;&lt;!--" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF(TEXT_BYTES);

		escape_text(&out, rows[i].text);
		CU_ASSERT_STRING_EQUAL(buf_string(&out), rows[i].escaped);
	}
}

/* Of every byte: nothing that ends a text or an attribute comes through. */
static void test_bytes(void)
{
	for (int byte = 1; byte < 256; byte++) {
		cleanup_buf struct buf out = BUF(TEXT_BYTES);
		const char text[] = { (char)byte, '\0' };

		escape_text(&out, text);
		CU_ASSERT(out.length > 0);
		CU_ASSERT_PTR_NULL(strpbrk(buf_string(&out), "<>\"'"));
		for (size_t i = 0; i < out.length; i++)
			CU_ASSERT(out.data[i] >= ' ' && out.data[i] <= '~');
		if (byte == '&')
			CU_ASSERT_STRING_EQUAL(buf_string(&out), "&amp;");
	}
}

static void test_formats(void)
{
	cleanup_buf struct buf out = BUF(TEXT_BYTES);

	escape_printf(&out, "<td title=\"%s\">%s%c%d|%ld|%lld|%zu|%" PRId64 "|100%%</td>", "\"", "<b>", '<', -1, 2L,
		      -3LL, (size_t)4, INT64_MIN);
	CU_ASSERT_STRING_EQUAL(buf_string(&out),
			       "<td title=\"&quot;\">&lt;b&gt;&lt;-1|2|-3|4|-9223372036854775808|100%</td>");
	CU_ASSERT(!out.failed);
}

/* What it does not know is no silent loss. */
static void test_refused(void)
{
	cleanup_buf struct buf out = BUF(TEXT_BYTES), small = BUF(4);
	struct error *err = NULL;

	escape_printf(&out, "%5d", 1);
	CU_ASSERT(out.failed);
	escape_printf(&small, "%s", "<");
	CU_ASSERT(!small.failed);
	escape_printf(&small, "%s", "<");
	CU_ASSERT(buf_check(&small, "a text", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "a text"));
	CU_ASSERT_STRING_EQUAL(buf_string(&small), "&lt;");
}

static CU_TestInfo tests[] = {
	{ "texts", test_texts }, { "every byte", test_bytes }, { "formats", test_formats }, { "refused", test_refused },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "escape", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("escape", suites);
}
