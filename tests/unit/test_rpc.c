#include <stdlib.h>

#include "core/fd.h"
#include "core/limits.h"
#include "mcp/rpc.h"
#include "tests/unit/test.h"

#define LINE_MAX_BYTES 16
#define OUT_BYTES 4096

struct decode_row {
	const char *line;
	enum error_code fails; /* 0: it does not */
	enum rpc_kind kind;
	const char *id;
	int64_t number;
	const char *method; /* or NULL */
};

static const struct decode_row decode_rows[];

static bool span_is(struct json_span span, const char *text)
{
	return span.length == strlen(text) && memcmp(span.bytes ? span.bytes : "", text, span.length) == 0;
}

static bool decodes_as(const struct decode_row *row)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_error struct error *err = NULL;
	int r = rpc_decode(row->line, strlen(row->line), &message, &err);

	if (row->fails)
		return r == -(int)row->fails && error_code(err) == row->fails && !message.document;
	return r == 0 && message.kind == row->kind && span_is(message.id, row->id) && message.number == row->number &&
	       (row->method ? message.method && strcmp(message.method, row->method) == 0 : !message.method);
}

static void test_decode(void)
{
	for (const struct decode_row *row = decode_rows; row->line; row++) {
		bool ok = decodes_as(row);

		if (!ok)
			fprintf(stderr, "row: %s\n", row->line);
		CU_ASSERT(ok);
	}
}

static void test_decode_limits(void)
{
	cleanup_buf struct buf line = BUF(OUT_BYTES);
	cleanup_rpc struct rpc_message message = { .document = NULL };
	struct error *err = NULL;

	buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"m\"}", RPC_ID_BYTES - 2, 0);
	CU_ASSERT_EQUAL(rpc_decode(buf_string(&line), line.length, &message, &err), 0);
	CU_ASSERT(test_no_error(&err));
	rpc_message_free(&message);
	buf_free(&line);
	buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":\"%0*d\",\"method\":\"m\"}", RPC_ID_BYTES - 1, 0);
	CU_ASSERT(rpc_decode(buf_string(&line), line.length, &message, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "id"));
	buf_free(&line);
	buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%0*d\"}", RPC_METHOD_BYTES + 1, 0);
	CU_ASSERT(rpc_decode(buf_string(&line), line.length, &message, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_PROTOCOL, "method"));
}

static void test_error_code(void)
{
	static const char good[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"m\","
				   "\"data\":{\"error_code\":\"POLICY_DENY\"}}}";
	static const char odd[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"m\","
				  "\"data\":{\"error_code\":\"some text\"}}}";
	cleanup_rpc struct rpc_message message = { .document = NULL };
	struct error *err = NULL;

	CU_ASSERT_EQUAL(rpc_decode(good, strlen(good), &message, &err), 0);
	CU_ASSERT_EQUAL(message.code, RPC_SERVER_ERROR);
	CU_ASSERT_STRING_EQUAL(message.error_code, "POLICY_DENY");
	rpc_message_free(&message);
	CU_ASSERT_EQUAL(rpc_decode(odd, strlen(odd), &message, &err), 0);
	CU_ASSERT_STRING_EQUAL(message.error_code, "");
	CU_ASSERT(test_no_error(&err));
}

static void test_errors_hold_no_input(void)
{
	static const char line[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"secret\",\"params\":{\"a\":\"secret\"}}";
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_error struct error *err = NULL;

	CU_ASSERT(rpc_decode(line, strlen(line), &message, &err) < 0);
	CU_ASSERT_PTR_NULL(strstr(error_text(err), "secret"));
}

static void test_encode(void)
{
	cleanup_buf struct buf out = BUF(OUT_BYTES);
	struct json_span params = { .bytes = "{\"n\":1.50e3,\n\"b\":[]}", .length = 20 };
	struct json_span id = { .bytes = "\"a\\u0041\"", .length = 9 };

	rpc_put_request(&out, 7, "tools/call", params);
	rpc_put_request(&out, 8, "ping", RPC_NONE);
	rpc_put_notification(&out, "notifications/initialized", RPC_NONE);
	rpc_put_result(&out, id, params);
	rpc_put_error(&out, RPC_NULL, RPC_PARSE_ERROR, "Parse \"error\"", RPC_NONE);
	rpc_put_error(&out, id, RPC_SERVER_ERROR, "m", params);
	CU_ASSERT_STRING_EQUAL(
		buf_string(&out),
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"n\":1.50e3, \"b\":[]}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n"
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0041\",\"result\":{\"n\":1.50e3, \"b\":[]}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse \\\"error\\\"\"}}\n"
		"{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0041\",\"error\":{\"code\":-32000,\"message\":\"m\","
		"\"data\":{\"n\":1.50e3, \"b\":[]}}}\n");
}

static void test_encode_bounded(void)
{
	cleanup_buf struct buf out = BUF(20);
	struct json_span params = { .bytes = "{\"a\":1}", .length = 7 };

	rpc_put_request(&out, 7, "tools/call", params);
	CU_ASSERT(out.failed);
	CU_ASSERT(out.length <= 20);
}

static void add(struct rpc_framer *framer, const char *bytes, size_t length)
{
	char *room = rpc_framer_reserve(framer, length);

	CU_ASSERT_PTR_NOT_NULL(room);
	if (!room)
		return;
	memcpy(room, bytes, length);
	rpc_framer_commit(framer, length);
}

/* The lines that come out, each closed by '|', whatever the pieces. */
static void test_framer_pieces(void)
{
	static const char stream[] = "one\n\ntwo and more\nrest";

	for (size_t piece = 1; piece <= strlen(stream); piece++) {
		cleanup_buf struct buf seen = BUF(OUT_BYTES);
		struct rpc_framer framer;
		struct error *err = NULL;
		struct json_span line;

		rpc_framer_init(&framer, LINE_MAX_BYTES);
		for (size_t at = 0; at < strlen(stream); at += piece) {
			size_t left = strlen(stream) - at;

			add(&framer, stream + at, left < piece ? left : piece);
			while (rpc_framer_next(&framer, &line, &err) == 1) {
				buf_add(&seen, line.bytes, line.length);
				buf_text(&seen, "|");
			}
		}
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&seen), "one||two and more|");
		CU_ASSERT(rpc_framer_partial(&framer));
		rpc_framer_free(&framer);
	}
}

static void test_framer_limit(void)
{
	static const char longest[] = "0123456789abcdef";
	struct rpc_framer framer;
	struct error *err = NULL;
	struct json_span line;

	rpc_framer_init(&framer, LINE_MAX_BYTES);
	CU_ASSERT_EQUAL(rpc_framer_next(&framer, &line, &err), 0);
	add(&framer, longest, LINE_MAX_BYTES);
	CU_ASSERT_EQUAL(rpc_framer_next(&framer, &line, &err), 0);
	add(&framer, "\n", 1);
	CU_ASSERT_EQUAL(rpc_framer_next(&framer, &line, &err), 1);
	CU_ASSERT_EQUAL(line.length, LINE_MAX_BYTES);
	CU_ASSERT(!rpc_framer_partial(&framer));
	CU_ASSERT(test_no_error(&err));
	/* Too long is told before the newline comes, and with it. */
	add(&framer, longest, LINE_MAX_BYTES);
	add(&framer, "g", 1);
	CU_ASSERT(rpc_framer_next(&framer, &line, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "16 bytes"));
	rpc_framer_free(&framer);
	rpc_framer_init(&framer, LINE_MAX_BYTES);
	add(&framer, longest, LINE_MAX_BYTES);
	add(&framer, "g\n", 2);
	CU_ASSERT(rpc_framer_next(&framer, &line, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "16 bytes"));
	rpc_framer_free(&framer);
}

static const struct decode_row decode_rows[] = {
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
	  .kind = RPC_REQUEST,
	  .id = "1",
	  .number = 1,
	  .method = "ping" },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0041\",\"method\":\"m\",\"params\":{}}",
	  .kind = RPC_REQUEST,
	  .id = "\"a\\u0041\"",
	  .number = -1,
	  .method = "m" },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":-5,\"method\":\"m\"}",
	  .kind = RPC_REQUEST,
	  .id = "-5",
	  .number = -1,
	  .method = "m" },
	{ .line = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"other\":1}",
	  .kind = RPC_NOTIFICATION,
	  .id = "",
	  .number = -1,
	  .method = "m" },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":null}", .kind = RPC_RESULT, .id = "3", .number = 3 },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,\"message\":\"\"}}",
	  .kind = RPC_ERROR,
	  .id = "3",
	  .number = 3 },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}}",
	  .kind = RPC_ERROR,
	  .id = "null",
	  .number = -1 },
	{ .line = "", .fails = ERROR_INPUT },
	{ .line = "garbage", .fails = ERROR_INPUT },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"m\"}", .fails = ERROR_INPUT },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} x", .fails = ERROR_INPUT },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":{\"b\":1,\"b\":2}}}",
	  .fails = ERROR_INPUT },
	{ .line = "[]", .fails = ERROR_PROTOCOL },
	{ .line = "{\"id\":1,\"method\":\"m\"}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"m\"}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":1}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"result\":1}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"result\":1}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":1}", .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{\"code\":1,\"message\":\"\"}}",
	  .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"\"}}",
	  .fails = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}", .fails = ERROR_PROTOCOL },
	{ .line = NULL },
};

static CU_TestInfo tests[] = {
	{ "messages as the table says", test_decode },
	{ "ids and methods have a longest form", test_decode_limits },
	{ "only codes are taken from an error", test_error_code },
	{ "an error holds no input", test_errors_hold_no_input },
	{ "lines are written as values were", test_encode },
	{ "a full buffer is told", test_encode_bounded },
	{ "lines come out whole in whatever pieces", test_framer_pieces },
	{ "a line has a longest form", test_framer_limit },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "rpc", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("rpc", suites);
}
