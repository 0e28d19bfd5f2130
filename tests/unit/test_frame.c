/* Frames: the lines of a hostile stdout, and what one line may be. */
#include "adapter/frame.h"

#include <stdlib.h>

#include "tests/unit/test.h"

#define FRAME_MAX 32
#define TOTAL_MAX 100

struct feed_row {
	const char *bytes;
	size_t lines; /* that can be taken */
	enum control_reason reason;
	bool partial;
};

struct parse_row {
	const char *line;
	size_t length; /* 0: strlen */
	enum control_reason reason;
	const char *operation;
	const char *arguments;
};

static const struct feed_row feed_rows[];
static const struct parse_row parse_rows[];

static size_t count_lines(struct frame_reader *reader)
{
	struct json_span line;
	size_t count = 0;

	while (frame_reader_next(reader, &line))
		count++;
	return count;
}

static enum control_reason feed_in_parts(struct frame_reader *reader, const char *bytes, size_t part)
{
	size_t length = strlen(bytes);
	enum control_reason reason = CONTROL_REASON_NONE;

	for (size_t at = 0; at < length && reason == CONTROL_REASON_NONE; at += part)
		reason = frame_reader_feed(reader, bytes + at, length - at < part ? length - at : part);
	return reason;
}

/* Wherever the pieces are cut, the same comes of them. */
static void test_feed(void)
{
	for (const struct feed_row *row = feed_rows; row->bytes; row++) {
		for (size_t part = 1; part <= strlen(row->bytes) + 1; part++) {
			struct frame_reader reader;
			enum control_reason reason;

			frame_reader_init(&reader, FRAME_MAX, TOTAL_MAX);
			reason = feed_in_parts(&reader, row->bytes, part);
			CU_ASSERT_EQUAL(reason, row->reason);
			if (reason == CONTROL_REASON_NONE) {
				CU_ASSERT_EQUAL(frame_reader_partial(&reader), row->partial);
				CU_ASSERT_EQUAL(count_lines(&reader), row->lines);
				CU_ASSERT_EQUAL(frame_reader_total(&reader), strlen(row->bytes));
			}
			frame_reader_free(&reader);
		}
	}
}

/* Lines are taken between the feeds, as they are in a session. */
static void test_take_between(void)
{
	static const char text[] = "one\ntwo\n\nlast";
	static const char *const expected[] = { "one", "two", "" };
	struct frame_reader reader;
	struct json_span line;
	size_t taken = 0;

	frame_reader_init(&reader, FRAME_MAX, TOTAL_MAX);
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		CU_ASSERT_EQUAL(frame_reader_feed(&reader, text + i, 1), CONTROL_REASON_NONE);
		while (frame_reader_next(&reader, &line) && taken < 3) {
			CU_ASSERT_EQUAL(line.length, strlen(expected[taken]));
			CU_ASSERT_EQUAL(memcmp(line.bytes, expected[taken], line.length), 0);
			taken++;
		}
	}
	CU_ASSERT_EQUAL(taken, 3);
	CU_ASSERT(frame_reader_partial(&reader));
	CU_ASSERT_EQUAL(frame_reader_total(&reader), sizeof(text) - 1);
	frame_reader_free(&reader);
	CU_ASSERT_EQUAL(frame_reader_total(&reader), 0);
	CU_ASSERT_FALSE(frame_reader_partial(&reader));
}

/* What was taken counts on: the budget is for the session. */
static void test_budget(void)
{
	struct frame_reader reader;

	frame_reader_init(&reader, FRAME_MAX, TOTAL_MAX);
	for (size_t i = 0; i < TOTAL_MAX / 2; i++) {
		CU_ASSERT_EQUAL(frame_reader_feed(&reader, "x\n", 2), CONTROL_REASON_NONE);
		CU_ASSERT_EQUAL(count_lines(&reader), 1);
	}
	CU_ASSERT_EQUAL(frame_reader_feed(&reader, "", 0), CONTROL_REASON_NONE);
	CU_ASSERT_EQUAL(frame_reader_feed(&reader, "x", 1), CONTROL_REASON_STDOUT_LIMIT);
	frame_reader_free(&reader);
}

static bool parse_as(const struct parse_row *row)
{
	const struct json_span line = { .bytes = row->line, .length = row->length ? row->length : strlen(row->line) };
	cleanup_frame struct frame frame = { .document = NULL };
	bool fits;

	if (frame_parse(line, &frame) != row->reason)
		return false;
	if (row->reason != CONTROL_REASON_NONE)
		return frame.document == NULL;
	fits = frame.operation_length == strlen(row->operation) && strcmp(frame.operation, row->operation) == 0;
	return fits && frame.arguments.length == strlen(row->arguments) &&
	       memcmp(frame.arguments.bytes, row->arguments, frame.arguments.length) == 0;
}

static void test_parse(void)
{
	for (const struct parse_row *row = parse_rows; row->line; row++) {
		bool fits = parse_as(row);

		if (!fits)
			fprintf(stderr, "row %td: %s\n", row - parse_rows, row->line);
		CU_ASSERT(fits);
	}
}

/* The frame itself is one level of the depth. */
static void test_depth(void)
{
	for (int depth = JSON_DEPTH - 2; depth <= JSON_DEPTH - 1; depth++) {
		cleanup_buf struct buf line = BUF(KIB);
		cleanup_frame struct frame frame = { .document = NULL };
		struct json_span span;

		buf_text(&line, "{\"operation\":\"x\",\"arguments\":{\"a\":");
		for (int i = 0; i < depth; i++)
			buf_text(&line, "[");
		for (int i = 0; i < depth; i++)
			buf_text(&line, "]");
		buf_text(&line, "}}");
		span = (struct json_span){ .bytes = line.data, .length = line.length };
		CU_ASSERT_EQUAL(frame_parse(span, &frame),
				depth + 2 <= JSON_DEPTH ? CONTROL_REASON_NONE : CONTROL_REASON_FRAME_INVALID);
	}
}

/* Each reason has a name of its own. */
static void test_reasons(void)
{
	size_t count = 0;

	for (; control_reason_names[count]; count++)
		for (size_t other = 0; other < count; other++)
			CU_ASSERT_NOT_EQUAL(strcmp(control_reason_names[count], control_reason_names[other]), 0);
	CU_ASSERT_EQUAL(count, CONTROL_REASON_INTERNAL + 1);
}

#define LINE32 "abcdefghijklmnopqrstuvwxyz012345"

static const struct feed_row feed_rows[] = {
	{ .bytes = "\n", .lines = 1 },
	{ .bytes = "a", .partial = true },
	{ .bytes = "a\nb\n", .lines = 2 },
	{ .bytes = "a\nb", .lines = 1, .partial = true },
	{ .bytes = "\r\n", .lines = 1 },
	{ .bytes = LINE32 "\n", .lines = 1 },
	{ .bytes = LINE32, .partial = true },
	{ .bytes = LINE32 "6", .reason = CONTROL_REASON_FRAME_LIMIT },
	{ .bytes = LINE32 "6\n", .reason = CONTROL_REASON_FRAME_LIMIT },
	{ .bytes = "a\n" LINE32 "\n" LINE32 "6", .reason = CONTROL_REASON_FRAME_LIMIT },
	{ .bytes = LINE32 "\n" LINE32 "\n" LINE32 "\nx", .lines = 3, .partial = true },
	{ .bytes = LINE32 "\n" LINE32 "\n" LINE32 "\nx\n", .reason = CONTROL_REASON_STDOUT_LIMIT },
	{ .bytes = NULL },
};

#define INVALID .reason = CONTROL_REASON_FRAME_INVALID

static const struct parse_row parse_rows[] = {
	{ .line = "{\"operation\":\"x\",\"arguments\":{}}", .operation = "x", .arguments = "{}" },
	{ .line = "{\"arguments\":{},\"operation\":\"\"}", .operation = "", .arguments = "{}" },
	{ .line = " { \"operation\" : \"\\u0078\" , \"arguments\" : { \"n\" : 1.50e3 } } ",
	  .operation = "x",
	  .arguments = "{ \"n\" : 1.50e3 }" },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"n\":123456789012345678901234567890}}",
	  .operation = "x",
	  .arguments = "{\"n\":123456789012345678901234567890}" },
	{ .line = "{\"\\u006fperation\":\"x\",\"arguments\":{}}", .operation = "x", .arguments = "{}" },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"n\":-1e+307}}",
	  .operation = "x",
	  .arguments = "{\"n\":-1e+307}" },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"n\":1e-999}}",
	  .operation = "x",
	  .arguments = "{\"n\":1e-999}" },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"n\":1e308}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"n\":[0.5,10E307]}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{}}\r", INVALID },
	{ .line = "", INVALID },
	{ .line = "x", INVALID },
	{ .line = "null", INVALID },
	{ .line = "[]", INVALID },
	{ .line = "{}", INVALID },
	{ .line = "\"operation\"", INVALID },
	{ .line = "{\"operation\":\"x\"}", INVALID },
	{ .line = "{\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"argument\":{}}", INVALID },
	{ .line = "{\"Operation\":\"x\",\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":1,\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":null,\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":[]}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":null}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":\"{}\"}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{},\"name\":\"y\"}", INVALID },
	{ .line = "{\"operation\":\"x\",\"operation\":\"y\",\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"\\u006fperation\":\"y\",\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"a\":1,\"a\":2}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"a\":[{\"b\":1,\"b\":2}]}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{}}x", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{}}{}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{},}", INVALID },
	{ .line = "{\"operation\":\"x\\u0000\",\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"x\0\",\"arguments\":{}}", .length = 33, INVALID },
	{ .line = "{\"operation\":\"\xff\",\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"\xc0\xae\",\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"\\ud800\",\"arguments\":{}}", INVALID },
	{ .line = "{\"operation\":\"x\",\"arguments\":{\"n\":01}}", INVALID },
	{ .line = "\xef\xbb\xbf{\"operation\":\"x\",\"arguments\":{}}", INVALID },
	{ .line = NULL },
};

static CU_TestInfo reader_tests[] = {
	{ "cut anywhere", test_feed },
	{ "lines between feeds", test_take_between },
	{ "budget of a session", test_budget },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo parse_tests[] = {
	{ "rows", test_parse },
	{ "depth", test_depth },
	{ "names of reasons", test_reasons },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "reader", NULL, NULL, NULL, NULL, reader_tests },
	{ "parse", NULL, NULL, NULL, NULL, parse_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("frame", suites);
}
