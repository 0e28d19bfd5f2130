/* The readers of spans, as protobuf and as JSON, over bytes. */
#include <fcntl.h>
#include <stdlib.h>

#include "core/fd.h"
#include "core/limits.h"
#include "observers/otlp.h"
#include "tests/unit/test.h"

#define RECORDED "tests/data/otlp/python-sdk.bin"
#define RECORDED_BYTES (64 * KIB)

#define BYTES(text) .bytes = (text), .length = sizeof(text) - 1

/* In memory of its exact size, so that a sanitizer sees each byte behind it. */
static bool read_exactly(const void *bytes, size_t length, struct otlp_counts *counts)
{
	cleanup_free char *exact = malloc(length ? length : 1);
	struct error *err = NULL;
	int r;

	memcpy(exact, bytes, length);
	r = otlp_read_protobuf(exact, length, counts, &err);
	return r == 0 ? test_no_error(&err) : !test_error(&err, ERROR_INPUT, "no export of spans");
}

static const struct {
	const char *name;
	const char *bytes;
	size_t length;
	bool taken;
	uint64_t spans, errors;
} rows[] = {
	{ "nothing", BYTES(""), true, 0, 0 },
	{ "no scope", BYTES("\x0a\x00"), true, 0, 0 },
	{ "no span", BYTES("\x0a\x02\x12\x00"), true, 0, 0 },
	{ "empty span", BYTES("\x0a\x04\x12\x02\x12\x00"), true, 1, 0 },
	{ "two spans", BYTES("\x0a\x06\x12\x04\x12\x00\x12\x00"), true, 2, 0 },
	{ "two resources", BYTES("\x0a\x04\x12\x02\x12\x00\x0a\x04\x12\x02\x12\x00"), true, 2, 0 },
	{ "status of nothing", BYTES("\x0a\x06\x12\x04\x12\x02\x7a\x00"), true, 1, 0 },
	{ "status ok", BYTES("\x0a\x08\x12\x06\x12\x04\x7a\x02\x18\x01"), true, 1, 0 },
	{ "status error", BYTES("\x0a\x08\x12\x06\x12\x04\x7a\x02\x18\x02"), true, 1, 1 },
	{ "error, then ok", BYTES("\x0a\x0c\x12\x0a\x12\x08\x7a\x02\x18\x02\x7a\x02\x18\x01"), true, 1, 0 },
	{ "status and message", BYTES("\x0a\x0b\x12\x09\x12\x07\x7a\x05\x12\x01\x61\x18\x02"), true, 1, 1 },
	{ "a longer varint", BYTES("\x0a\x84\x00\x12\x02\x12\x00"), true, 1, 0 },
	{ "unknown fields",
	  BYTES("\xf8\x07\x01\xf9\x07\x01\x02\x03\x04\x05\x06\x07\x08\xfd\x07\x01\x02\x03\x04\xfa\x07\x01\x61"), true,
	  0, 0 },
	{ "a length beyond the end", BYTES("\x0a\x05\x12\x02\x12\x00"), false, 0, 0 },
	{ "a length beyond its message", BYTES("\x0a\x04\x12\x03\x12\x00\x0a\x00"), false, 0, 0 },
	{ "a length of 2^63", BYTES("\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), false, 0, 0 },
	{ "a length of 2^64 - 1", BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), false, 0, 0 },
	{ "a varint of 65 bits", BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), false, 0, 0 },
	{ "a varint of 11 bytes", BYTES("\x18\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), false, 0, 0 },
	{ "half a varint", BYTES("\x18\x80"), false, 0, 0 },
	{ "a tag alone", BYTES("\x0a"), false, 0, 0 },
	{ "half of fixed64", BYTES("\x19\x01\x02\x03\x04\x05\x06\x07"), false, 0, 0 },
	{ "half of fixed32", BYTES("\x1d\x01\x02\x03"), false, 0, 0 },
	{ "field 0", BYTES("\x02\x00"), false, 0, 0 },
	{ "a field beyond 2^29 - 1", BYTES("\x80\x80\x80\x80\x10\x01"), false, 0, 0 },
	{ "a group", BYTES("\x1b\x1c"), false, 0, 0 },
	{ "type 7", BYTES("\x1f"), false, 0, 0 },
	{ "resources as a number", BYTES("\x08\x01"), false, 0, 0 },
	{ "scopes as a number", BYTES("\x0a\x02\x10\x01"), false, 0, 0 },
	{ "spans as a number", BYTES("\x0a\x04\x12\x02\x10\x01"), false, 0, 0 },
	{ "a name as a number", BYTES("\x0a\x06\x12\x04\x12\x02\x28\x01"), false, 0, 0 },
	{ "a name that is no text", BYTES("\x0a\x07\x12\x05\x12\x03\x2a\x01\xff"), false, 0, 0 },
	{ "a short trace id", BYTES("\x0a\x07\x12\x05\x12\x03\x0a\x01\x61"), false, 0, 0 },
	{ "a short span id", BYTES("\x0a\x07\x12\x05\x12\x03\x12\x01\x61"), false, 0, 0 },
	{ "status as a number", BYTES("\x0a\x06\x12\x04\x12\x02\x78\x02"), false, 0, 0 },
	{ "a code as text", BYTES("\x0a\x09\x12\x07\x12\x05\x7a\x03\x1a\x01\x02"), false, 0, 0 },
	{ "JSON", BYTES("{\"resourceSpans\":[]}"), false, 0, 0 },
};

static void protobuf(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct otlp_counts counts = { 7, 7 };
		bool taken = read_exactly(rows[i].bytes, rows[i].length, &counts);

		if (taken != rows[i].taken || counts.spans != rows[i].spans)
			fprintf(stderr, "row: %s\n", rows[i].name);
		CU_ASSERT_EQUAL(taken, rows[i].taken);
		CU_ASSERT_EQUAL(counts.spans, rows[i].spans);
		CU_ASSERT_EQUAL(counts.errors, rows[i].errors);
	}
}

/* What the Python SDK sent is one resource: cut anywhere it is no message. */
static void recorded(void)
{
	cleanup_buf struct buf body = BUF(RECORDED_BYTES);
	struct error *err = NULL;
	struct otlp_counts counts;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, RECORDED, RECORDED_BYTES, &body, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(read_exactly(buf_string(&body), body.length, &counts));
	CU_ASSERT_EQUAL(counts.spans, 5);
	CU_ASSERT_EQUAL(counts.errors, 2);
	CU_ASSERT(body.length > 500);
	for (size_t length = 1; length < body.length; length++) {
		CU_ASSERT_FALSE(read_exactly(body.data, length, &counts));
		CU_ASSERT_EQUAL(counts.spans, 0);
	}
}

static void add_text(void *context, const char *text, size_t length)
{
	struct buf *all = context;

	buf_add(all, text, length);
	buf_text(all, "|");
}

static void json(void)
{
	static const struct {
		const char *text;
		bool taken;
		uint64_t spans, errors;
	} cases[] = {
		{ "{}", true, 0, 0 },
		{ "{\"resourceSpans\":[]}", true, 0, 0 },
		{ "{\"resourceSpans\":[{},{\"scopeSpans\":[{}]}]}", true, 0, 0 },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{},{\"status\":{\"code\":2}}]}]}]}", true, 2, 1 },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"status\":null,\"name\":null}]}]}]}", true, 1,
		  0 },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"status\":{\"code\":\"2\"}}]}]}]}", true, 1, 0 },
		{ "", false, 0, 0 },
		{ "[]", false, 0, 0 },
		{ "null", false, 0, 0 },
		{ "{\"resourceSpans\":{}}", false, 0, 0 },
		{ "{\"resourceSpans\":[[]]}", false, 0, 0 },
		{ "{\"resourceSpans\":[{\"scopeSpans\":7}]}", false, 0, 0 },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{},{\"name\":1}]}]}]}", false, 0, 0 },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"status\":2}]}]}]}", false, 0, 0 },
		{ "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"status\":{\"code\":[2]}}]}]}]}", false, 0, 0 },
		{ "{\"resourceSpans\":[],\"resourceSpans\":[]}", false, 0, 0 },
		{ "{} {}", false, 0, 0 },
	};
	static const char escaped[] = "{\"\\u0061b\":[\"c\\u0064\",{\"e\":1}]}";
	cleanup_buf struct buf all = BUF(256);
	struct otlp_counts counts;
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r = otlp_read_json(cases[i].text, strlen(cases[i].text), NULL, NULL, &counts, &err);

		if ((r == 0) != cases[i].taken)
			fprintf(stderr, "row: %s\n", cases[i].text);
		CU_ASSERT_EQUAL(r == 0, cases[i].taken);
		CU_ASSERT_EQUAL(r == 0 ? test_no_error(&err) : test_error(&err, ERROR_INPUT, ""), 1);
		CU_ASSERT_EQUAL(counts.spans, cases[i].spans);
		CU_ASSERT_EQUAL(counts.errors, cases[i].errors);
	}
	CU_ASSERT_EQUAL(otlp_read_json(escaped, strlen(escaped), add_text, &all, &counts, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&all), "ab|cd|e|");
	CU_ASSERT(test_no_error(&err));
}

static CU_TestInfo tests[] = {
	{ "protobuf", protobuf },
	{ "recorded", recorded },
	{ "JSON", json },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "otlp", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("otlp", suites);
}
