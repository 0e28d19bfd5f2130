/* Event streams, whole and byte by byte. */
#include "core/fd.h"
#include "core/limits.h"
#include "mcp/sse.h"
#include "tests/unit/test.h"

#define LINE_MAX_BYTES 64

static const struct {
	const char *stream, *events; /* each with a '|' behind it */
} rows[] = {
	{ "", "" },
	{ "data: one\n\n", "one|" },
	{ "data:one\n\ndata: two\n\n", "one|two|" },
	{ "data: one\r\n\r\n", "one|" },
	{ "data: one\r\rdata: two\r\n\n", "one|two|" },
	{ "data:  kept space\n\n", " kept space|" },
	{ "data: a\ndata: b\n\n", "a\nb|" },
	{ "event: message\nid: 7\ndata: one\nretry: 5\n\n", "one|" },
	{ ": comment\n\n: another\n", "" },
	{ "\xef\xbb\xbf"
	  "data: one\n\n",
	  "one|" },
	{ "data: one\n\n\xef\xbb\xbf"
	  "data: two\n\n",
	  "one|" },
	/* No data, no event; nor where its end does not come. */
	{ "event: message\n\n", "" },
	{ "data\n\n", "" },
	{ "data:\n\n", "" },
	{ "data: one\n", "" },
	{ "data: one", "" },
	{ "datax: one\n\nData: one\n\n data: one\n\n", "" },
};

static int on_event(void *context, struct json_span data, struct error **err)
{
	struct buf *out = context;

	buf_add(out, data.bytes, data.length);
	buf_text(out, "|");
	return buf_check(out, "events", err);
}

static int refuse(void *context, struct json_span data, struct error **err)
{
	(void)context;
	(void)data;
	return error_set(err, ERROR_PROTOCOL, "refused");
}

static void feed(const char *stream, size_t piece, struct buf *out)
{
	struct error *err = NULL;
	size_t length = strlen(stream);
	struct sse sse;

	sse_init(&sse, LINE_MAX_BYTES, on_event, out);
	for (size_t at = 0; at < length; at += piece)
		CU_ASSERT_EQUAL(sse_feed(&sse, stream + at, length - at < piece ? length - at : piece, &err), 0);
	CU_ASSERT(test_no_error(&err));
	sse_free(&sse);
}

static void test_rows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t piece = 1; piece <= 64; piece *= 4) {
			cleanup_buf struct buf out = BUF(KIB);

			feed(rows[i].stream, piece, &out);
			if (strcmp(buf_string(&out), rows[i].events) != 0)
				fprintf(stderr, "row %zu by %zu: %s\n", i, piece, buf_string(&out));
			CU_ASSERT_STRING_EQUAL(buf_string(&out), rows[i].events);
		}
}

/* A line and an event have a maximum, seen before their ends; and what takes the events may end it. */
static void test_limits(void)
{
	cleanup_buf struct buf out = BUF(KIB);
	struct error *err = NULL;
	char text[2 * LINE_MAX_BYTES];
	struct sse sse;

	memset(text, 'x', sizeof(text));
	sse_init(&sse, LINE_MAX_BYTES, on_event, &out);
	CU_ASSERT(sse_feed(&sse, text, sizeof(text), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "a line of an event stream"));
	sse_free(&sse);
	sse_init(&sse, LINE_MAX_BYTES, on_event, &out);
	memcpy(text, "data:", 5);
	text[LINE_MAX_BYTES - 1] = '\n';
	CU_ASSERT_EQUAL(sse_feed(&sse, text, LINE_MAX_BYTES, &err), 0);
	CU_ASSERT(sse_feed(&sse, text, LINE_MAX_BYTES, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "an event"));
	sse_free(&sse);
	sse_init(&sse, LINE_MAX_BYTES, refuse, NULL);
	CU_ASSERT(sse_feed(&sse, "data: x\n\n", 9, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "refused"));
	sse_free(&sse);
	CU_ASSERT_EQUAL(out.length, 0);
}

static CU_TestInfo tests[] = {
	{ "streams", test_rows },
	{ "limits", test_limits },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "sse", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("sse", suites);
}
