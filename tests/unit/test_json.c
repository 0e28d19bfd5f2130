/* jansson reads the same documents as a second opinion. Some of its names are ours too; none of those is called here.
 */
#define json_object jansson_object
#define json_array jansson_array
#define json_string jansson_string
#define json_string_length jansson_string_length
#define json_type jansson_type
#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY JANSSON_ARRAY
#define JSON_STRING JANSSON_STRING
#define JSON_NULL JANSSON_NULL
#include <jansson.h>
#undef json_object
#undef json_array
#undef json_string
#undef json_string_length
#undef json_type
#undef json_is_null
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_NULL

#include <inttypes.h>
#include <stdlib.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "tests/unit/test.h"

#define DECODE_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_ANY)

static const char *const accepted[] = {
	"null",
	"true",
	"false",
	"0",
	"-1",
	"9007199254740991",
	"-9007199254740991",
	"9223372036854775807",
	"-9223372036854775808",
	"0.5",
	"-0",
	"-0.0",
	"1e5",
	"1E+5",
	"1.25e-3",
	"\"\"",
	"\"a\"",
	"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
	"\"\\u0001\\u001f\\u007f\"",
	"\"\\u00e9\\u20AC\"",
	"\"\\ud83d\\ude00\"",
	"\"\xc3\xa9\"",
	"\"\xe2\x82\xac\"",
	"\"\xed\x9f\xbf\"",
	"\"\xee\x80\x80\"",
	"\"\xef\xbf\xbf\"",
	"\"\xf0\x90\x80\x80\"",
	"\"\xf4\x8f\xbf\xbf\"",
	"\"\x7f\"",
	"\"a\\u0041\xc3\xa9\"",
	"[]",
	"[ ]",
	"[1]",
	"[1,2,3]",
	"[[],[[]],{}]",
	"[null,true,false,\"x\",0]",
	"{}",
	"{ }",
	"{\"a\":1}",
	"{\"a\":{\"b\":{\"c\":[]}}}",
	"{\"\":0}",
	"{\"a\":1,\"A\":2}",
	"{\"a\":{\"a\":{\"a\":1}}}",
	"[{\"a\":1},{\"a\":2}]",
	"{\"a\\u0062\":1,\"a\":2}",
	"{\"\xc3\xa9\":1,\"e\":2}",
	" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : null } \n",
	"{\"operation\":\"tool\",\"arguments\":{\"path\":\"/tmp/x\",\"n\":-7}}",
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}",
	"[\"\\\\\",\"\\\"\",\"\\\\\\\"\"]",
	"[0,-1,10,100]",
	"[1.0]",
	"[1e1]",
	"{\"z\":1,\"y\":{\"z\":2},\"x\":[{\"z\":3}]}",
	"[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
	"\"canary-abcdefghijklmnopabcdefghijklmnop\"",
	"[\"\\u0020\",\" \"]",
	"[\"\\uFFFF\",\"\\uDBFF\\uDFFF\"]",
	"{\"a\":[],\"b\":{},\"c\":\"\"}",
	"[true,\n\tfalse,\r\nnull]",
	"12",
	"\"/\"",
};

struct refusal {
	const char *bytes;
	size_t length;
	const char *reason;
};
#define REFUSED(literal, why)                                                                                          \
	{                                                                                                              \
		.bytes = (literal), .length = sizeof(literal) - 1, .reason = (why)                                     \
	}

static const struct refusal refused[] = {
	REFUSED("", "expected a value at byte 0"),
	REFUSED("  ", "expected a value at byte 2"),
	REFUSED("\xef\xbb\xbf{}", "byte order mark"),
	REFUSED("{\"a\":1}\0", "NUL byte at byte 7"),
	REFUSED("\"a\0b\"", "NUL byte at byte 2"),
	REFUSED("\"\\u0000\"", "escaped NUL"),
	REFUSED("{\"a\\u0000\":1}", "escaped NUL"),
	REFUSED("\"\xff\"", "invalid UTF-8"),
	REFUSED("\"\x80\"", "invalid UTF-8"),
	REFUSED("\"\xc0\x80\"", "invalid UTF-8"),
	REFUSED("\"\xc1\xbf\"", "invalid UTF-8"),
	REFUSED("\"\xc3\"", "invalid UTF-8"),
	REFUSED("\"\xe0\x9f\xbf\"", "invalid UTF-8"),
	REFUSED("\"\xe2\x82\"", "invalid UTF-8"),
	REFUSED("\"\xe2\x82", "invalid UTF-8"),
	REFUSED("\"\xed\xa0\x80\"", "invalid UTF-8"),
	REFUSED("\"\xed\xbf\xbf\"", "invalid UTF-8"),
	REFUSED("\"\xf0\x8f\xbf\xbf\"", "invalid UTF-8"),
	REFUSED("\"\xf4\x90\x80\x80\"", "invalid UTF-8"),
	REFUSED("\"\xf5\x80\x80\x80\"", "invalid UTF-8"),
	REFUSED("\"\xf0\x90\x80\"", "invalid UTF-8"),
	REFUSED("{\"\xff\":1}", "invalid UTF-8"),
	REFUSED("\"\\ud800\"", "lone surrogate"),
	REFUSED("\"\\udc00\"", "lone surrogate"),
	REFUSED("\"\\ud800\\ud800\"", "lone surrogate"),
	REFUSED("\"\\udc00\\udc00\"", "lone surrogate"),
	REFUSED("\"\\ud800x\"", "lone surrogate"),
	REFUSED("\"\\ud800\\n1234\"", "lone surrogate"),
	REFUSED("\"\\ud800\\u12", "lone surrogate"),
	REFUSED("\"\\u12g4\"", "escape without four digits"),
	REFUSED("\"\\u12", "escape without four digits"),
	REFUSED("\"\\x41\"", "unknown escape"),
	REFUSED("\"\\'\"", "unknown escape"),
	REFUSED("\"\\", "string without an end"),
	REFUSED("\"abc", "string without an end"),
	REFUSED("\"a\nb\"", "control character"),
	REFUSED("\"a\tb\"", "control character"),
	REFUSED("\"\x1f\"", "control character"),
	REFUSED("{\"a\":1,\"a\":2}", "duplicate key"),
	REFUSED("{\"a\":1,\"\\u0061\":2}", "duplicate key"),
	REFUSED("{\"\":1,\"\":2}", "duplicate key"),
	REFUSED("[{\"b\":{\"a\":1,\"c\":0,\"a\":2}}]", "duplicate key"),
	REFUSED("{} {}", "bytes after the value at byte 3"),
	REFUSED("{},", "bytes after the value"),
	REFUSED("1 2", "bytes after the value"),
	REFUSED("01", "bytes after the value at byte 1"),
	REFUSED("-01", "bytes after the value"),
	REFUSED("[01]", "expected ',' or ']'"),
	REFUSED("[1 2]", "expected ',' or ']'"),
	REFUSED("[1", "expected ',' or ']'"),
	REFUSED("[1}", "expected ',' or ']'"),
	REFUSED("{\"a\":1]", "expected ',' or '}'"),
	REFUSED("{\"a\":1 \"b\":2}", "expected ',' or '}'"),
	REFUSED("{\"a\" 1}", "expected ':'"),
	REFUSED("{\"a\"", "expected ':'"),
	REFUSED("{a:1}", "expected a key"),
	REFUSED("{'a':1}", "expected a key"),
	REFUSED("{\"a\":1,}", "expected a key"),
	REFUSED("{,}", "expected a key"),
	REFUSED("{", "expected a key"),
	REFUSED("{1:2}", "expected a key"),
	REFUSED("[1,]", "expected a value"),
	REFUSED("[,1]", "expected a value"),
	REFUSED("[", "expected a value"),
	REFUSED("{\"a\":}", "expected a value"),
	REFUSED("-", "expected a digit at byte 1"),
	REFUSED("-a", "expected a digit"),
	REFUSED("1.", "expected a digit"),
	REFUSED("1.e5", "expected a digit"),
	REFUSED("1e", "expected a digit"),
	REFUSED("1e+", "expected a digit"),
	REFUSED("+1", "expected a value"),
	REFUSED(".5", "expected a value"),
	REFUSED("0x10", "bytes after the value"),
	REFUSED("NaN", "expected a value"),
	REFUSED("Infinity", "expected a value"),
	REFUSED("-Infinity", "expected a digit"),
	REFUSED("nul", "expected a value"),
	REFUSED("nulL", "expected a value"),
	REFUSED("True", "expected a value"),
	REFUSED("truex", "bytes after the value"),
	REFUSED("[1]// x", "bytes after the value"),
	REFUSED("/* x */1", "expected a value"),
	REFUSED("\xc2\xa0"
		"1",
		"expected a value"),
	REFUSED("\v1", "expected a value"),
};

static bool try_parse(const char *bytes, size_t length)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *err = NULL;

	return json_parse(bytes, length, JSON_DEPTH, &document, &err) == 0;
}

/* Asserts that it is accepted. */
static struct json_document *parse(const char *text)
{
	struct json_document *document = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(text, strlen(text), JSON_DEPTH, &document, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return document;
}

static void test_accepts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		cleanup_json struct json_document *document = parse(accepted[i]);
		json_error_t error;
		json_t *other = json_loadb(accepted[i], strlen(accepted[i]), DECODE_FLAGS, &error);

		CU_ASSERT_PTR_NOT_NULL(document);
		CU_ASSERT_PTR_NOT_NULL(other);
		json_decref(other);
	}
}

static void test_refuses(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		struct json_document *document = NULL;
		struct error *err = NULL;

		CU_ASSERT(json_parse(refused[i].bytes, refused[i].length, JSON_DEPTH, &document, &err) < 0);
		CU_ASSERT_PTR_NULL(document);
		if (!test_error(&err, ERROR_INPUT, refused[i].reason)) {
			fprintf(stderr, "row %zu\n", i);
			CU_FAIL("another reason");
		}
	}
}

/* Whatever we accept, jansson accepts: each document cut at each byte, and with each byte replaced by some others. */
static void test_differential(void)
{
	static const char replacements[] = "\"\\{}[],:0-e.u d\x80\xed\x01";
	size_t compared = 0;

	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		size_t length = strlen(accepted[i]);
		char text[128];

		CU_ASSERT(length < sizeof(text));
		for (size_t at = 0; at < length; at++) {
			for (size_t r = 0; r < sizeof(replacements); r++) {
				/* The last round cuts instead. */
				size_t kept = r == sizeof(replacements) - 1 ? at : length;
				json_error_t error;
				json_t *other;

				memcpy(text, accepted[i], length);
				text[at] = replacements[r];
				if (!try_parse(text, kept))
					continue;
				compared++;
				other = json_loadb(text, kept, DECODE_FLAGS, &error);
				if (!other && json_error_code(&error) != json_error_numeric_overflow) {
					fprintf(stderr, "jansson refuses '%.*s'\n", (int)kept, text);
					CU_FAIL("jansson refuses what we accept");
				}
				json_decref(other);
			}
		}
	}
	CU_ASSERT(compared > 1000);
}

/* The canonical form says the same as the document, in jansson's reading of both. */
static void test_canonical_means_the_same(void)
{
	size_t compared = 0;

	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++) {
		cleanup_buf struct buf out = BUF(KIB);
		cleanup_error struct error *err = NULL;
		json_error_t error;
		json_t *before, *after;

		if (json_canonical(accepted[i], strlen(accepted[i]), &out, &err) < 0)
			continue;
		before = json_loadb(accepted[i], strlen(accepted[i]), DECODE_FLAGS, &error);
		after = json_loadb(buf_string(&out), out.length, DECODE_FLAGS, &error);
		CU_ASSERT(json_equal(before, after));
		json_decref(before);
		json_decref(after);
		compared++;
	}
	CU_ASSERT(compared > 40);
}

static void test_depth(void)
{
	static const struct {
		const char *text;
		size_t depth;
	} rows[] = { { "1", 0 },    { "[]", 1 },           { "{}", 1 },
		     { "[[]]", 2 }, { "[{\"a\":[]}]", 3 }, { "{\"a\":{\"b\":{}}}", 3 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_json struct json_document *document = NULL;
		cleanup_json struct json_document *none = NULL;
		struct error *err = NULL;

		CU_ASSERT_EQUAL(json_parse(rows[i].text, strlen(rows[i].text), rows[i].depth, &document, &err), 0);
		CU_ASSERT(test_no_error(&err));
		if (!rows[i].depth)
			continue;
		CU_ASSERT(json_parse(rows[i].text, strlen(rows[i].text), rows[i].depth - 1, &none, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, "nested too deeply"));
	}
}

static void test_lookups(void)
{
	cleanup_json struct json_document *document =
		parse("{\"a\":{\"b\":[1,\"two\",{\"c\":true}]},\"k\\u0065y\":\"v\\u00e9\",\"n\":null,\"A\":0}");
	const struct json_node *root = json_root(document);
	const struct json_node *array = json_member(json_member(root, "a"), "b");
	const struct json_node *child = json_first(array);
	bool truth = false;
	int64_t number = 0;

	CU_ASSERT_EQUAL(json_type(root), JSON_OBJECT);
	CU_ASSERT_EQUAL(json_count(root), 4);
	CU_ASSERT_EQUAL(json_type(array), JSON_ARRAY);
	CU_ASSERT_EQUAL(json_count(array), 3);
	CU_ASSERT_STRING_EQUAL(json_key(array), "b");
	CU_ASSERT(json_int64(child, &number) && number == 1);
	CU_ASSERT_PTR_NULL(json_key(child));
	CU_ASSERT_PTR_NULL(json_string(child));
	child = json_next(child);
	CU_ASSERT_STRING_EQUAL(json_string(child), "two");
	CU_ASSERT_EQUAL(json_string_length(child), 3);
	CU_ASSERT(json_text_is(child, "two"));
	CU_ASSERT(!json_text_is(child, "tw") && !json_text_is(child, "twos") && !json_text_is(child, NULL));
	CU_ASSERT(!json_text_is(json_first(array), "1"));
	child = json_next(child);
	CU_ASSERT(json_bool(json_member(child, "c"), &truth) && truth);
	CU_ASSERT_PTR_NULL(json_next(child));
	CU_ASSERT_STRING_EQUAL(json_string(json_member(root, "key")), "v\xc3\xa9");
	CU_ASSERT(json_is_null(json_member(root, "n")));
	CU_ASSERT_PTR_NOT_NULL(json_member(root, "n"));
	CU_ASSERT_PTR_NULL(json_member(root, "K"));
	CU_ASSERT(json_int64(json_member(root, "A"), &number) && number == 0);
}

static void test_null_safe(void)
{
	cleanup_json struct json_document *document = parse("[\"a\"]");
	const struct json_node *string = json_first(json_root(document));
	int64_t number = 7;
	bool truth = true;

	CU_ASSERT_PTR_NULL(json_member(json_member(NULL, "a"), "b"));
	CU_ASSERT_PTR_NULL(json_member(json_root(document), "a"));
	CU_ASSERT_PTR_NULL(json_first(NULL));
	CU_ASSERT_PTR_NULL(json_first(string));
	CU_ASSERT_PTR_NULL(json_next(NULL));
	CU_ASSERT_PTR_NULL(json_next(json_root(document)));
	CU_ASSERT_EQUAL(json_count(NULL), 0);
	CU_ASSERT_EQUAL(json_count(string), 0);
	CU_ASSERT_PTR_NULL(json_key(NULL));
	CU_ASSERT_PTR_NULL(json_string(NULL));
	CU_ASSERT_EQUAL(json_string_length(NULL), 0);
	CU_ASSERT(!json_text_is(NULL, "") && !json_text_is(NULL, NULL));
	CU_ASSERT(!json_int64(NULL, &number) && number == 7);
	CU_ASSERT(!json_bool(string, &truth) && truth);
	CU_ASSERT(json_is_null(NULL));
	CU_ASSERT_EQUAL(json_raw(NULL).length, 0);
	CU_ASSERT_PTR_NULL(json_root(NULL));
	json_free(NULL);
}

static void test_integers(void)
{
	static const struct {
		const char *text;
		bool integer;
		int64_t value;
	} rows[] = {
		{ "0", true, 0 },
		{ "-1", true, -1 },
		{ "1234567890123460", true, 1234567890123460 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN },
		{ "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 },
		{ "99999999999999999999999", false, 0 },
		{ "-0", false, 0 },
		{ "1.0", false, 0 },
		{ "1e2", false, 0 },
		{ "1E2", false, 0 },
		{ "1e999", false, 0 },
		{ "\"1\"", false, 0 },
		{ "true", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_json struct json_document *document = parse(rows[i].text);
		struct json_span raw = json_raw(json_root(document));
		int64_t value = 0;

		CU_ASSERT_EQUAL(json_int64(json_root(document), &value), rows[i].integer);
		CU_ASSERT_EQUAL(value, rows[i].value);
		CU_ASSERT_EQUAL(raw.length, strlen(rows[i].text));
		CU_ASSERT_NSTRING_EQUAL(raw.bytes, rows[i].text, raw.length);
	}
}

static void test_raw(void)
{
	cleanup_json struct json_document *document = parse(" { \"a\" : [ 1 , { } ] , \"b\" : 1.50 } ");
	const struct json_node *root = json_root(document);
	struct json_span all = json_raw(root), array = json_raw(json_member(root, "a")),
			 number = json_raw(json_member(root, "b"));

	CU_ASSERT_EQUAL(all.length, strlen("{ \"a\" : [ 1 , { } ] , \"b\" : 1.50 }"));
	CU_ASSERT_EQUAL(array.length, strlen("[ 1 , { } ]"));
	CU_ASSERT_NSTRING_EQUAL(array.bytes, "[ 1 , { } ]", array.length);
	CU_ASSERT_EQUAL(number.length, 4);
	CU_ASSERT_NSTRING_EQUAL(number.bytes, "1.50", 4);
}

static void many_keys(struct buf *out, size_t count, bool twice)
{
	struct json_writer writer;
	char key[16];

	json_begin(&writer, out);
	json_object(&writer);
	for (size_t i = 0; i < count; i++) {
		snprintf(key, sizeof(key), "k%zu", (i * 7919) % count);
		json_member_int(&writer, key, (int64_t)i);
	}
	if (twice)
		json_member_int(&writer, "k17", 0);
	json_object_end(&writer);
}

static void test_many_keys(void)
{
	for (int twice = 0; twice < 2; twice++) {
		cleanup_buf struct buf text = BUF(4 * MIB);
		cleanup_json struct json_document *document = NULL;
		struct error *err = NULL;
		int result;

		many_keys(&text, 100000, twice);
		CU_ASSERT(!text.failed);
		result = json_parse(buf_string(&text), text.length, 1, &document, &err);
		if (twice) {
			CU_ASSERT(result < 0);
			CU_ASSERT(test_error(&err, ERROR_INPUT, "duplicate key"));
		} else {
			CU_ASSERT(test_no_error(&err));
			CU_ASSERT_EQUAL(json_count(json_root(document)), 100000);
		}
	}
}

static void test_canonical(void)
{
	static const struct {
		const char *in;
		const char *out;
	} rows[] = {
		{ " { \"b\" : 1 , \"a\" : [ true , null ] } ", "{\"a\":[true,null],\"b\":1}" },
		{ "{\"b\":{\"d\":1,\"c\":2},\"a\":{}}", "{\"a\":{},\"b\":{\"c\":2,\"d\":1}}" },
		{ "{\"a\":1,\"\":2,\"aa\":3,\"B\":4,\"_\":5}", "{\"\":2,\"B\":4,\"_\":5,\"a\":1,\"aa\":3}" },
		{ "\"\\u0041\\u00e9\\/\\u007f\"", "\"A\xc3\xa9/\x7f\"" },
		{ "\"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0022\\u005c\"", "\"\\b\\t\\n\\f\\r\\\"\\\\\"" },
		{ "\"\\u0001\\u000b\\u001F\"", "\"\\u0001\\u000b\\u001f\"" },
		{ "[9007199254740991,-9007199254740991,0,-1]", "[9007199254740991,-9007199254740991,0,-1]" },
		/* RFC 8785, section 3.2.3 */
		{ "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7}",
		  "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,\"\xe2\x82\xac\":1,\"\xf0\x9f\x98\x80\":5,"
		  "\"\xef\xac\xb3\":3}" },
		{ "{\"\\uffff\":1,\"\\ue000\":2,\"\\ud800\\udc00\":3,\"\\ud7ff\":4}",
		  "{\"\xed\x9f\xbf\":4,\"\xf0\x90\x80\x80\":3,\"\xee\x80\x80\":2,\"\xef\xbf\xbf\":1}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF(KIB);
		cleanup_buf struct buf again = BUF(KIB);
		struct error *err = NULL;

		CU_ASSERT_EQUAL(json_canonical(rows[i].in, strlen(rows[i].in), &out, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&out), rows[i].out);
		CU_ASSERT_EQUAL(json_canonical(buf_string(&out), out.length, &again, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&again), rows[i].out);
	}
}

static void test_canonical_refuses(void)
{
	static const struct {
		const char *text;
		const char *reason;
	} rows[] = {
		{ "9007199254740992", "canonical form" },
		{ "-9007199254740992", "canonical form" },
		{ "[1,2,1.0]", "canonical form" },
		{ "{\"a\":-0}", "canonical form" },
		{ "1e3", "canonical form" },
		{ "{\"a\":1,\"a\":1}", "duplicate key" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF(KIB);
		struct error *err = NULL;

		CU_ASSERT_EQUAL(buf_text(&out, "before"), 0);
		CU_ASSERT(json_canonical(rows[i].text, strlen(rows[i].text), &out, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].reason));
		CU_ASSERT_STRING_EQUAL(buf_string(&out), "before");
	}
}

static void test_canonical_full(void)
{
	cleanup_buf struct buf out = BUF(8);
	struct error *err = NULL;

	CU_ASSERT(json_canonical("[1,2,3,4,5]", 11, &out, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "canonical JSON"));
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "");
}

static void test_writer(void)
{
	cleanup_buf struct buf out = BUF(KIB);
	struct json_writer writer;

	json_begin(&writer, &out);
	json_object(&writer);
	json_member_string(&writer, "s", "a\"\\\n\x01\xc3\xa9/");
	json_member_int(&writer, "min", INT64_MIN);
	json_member_bool(&writer, "t", true);
	json_put_key(&writer, "list");
	json_array(&writer);
	json_array(&writer);
	json_array_end(&writer);
	json_object(&writer);
	json_object_end(&writer);
	json_put_null(&writer);
	json_put_bool(&writer, false);
	json_put_bytes(&writer, "cut here", 3);
	json_put_raw(&writer, "1.5", 3);
	json_array_end(&writer);
	json_put_key(&writer, "k\n");
	json_put_int(&writer, 0);
	json_object_end(&writer);
	CU_ASSERT(!out.failed);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "{\"s\":\"a\\\"\\\\\\n\\u0001\xc3\xa9/\",\"min\":-9223372036854775808,"
						 "\"t\":true,\"list\":[[],{},null,false,\"cut\",1.5],\"k\\n\":0}");
}

/* A line of JSONL is a document of its own in the same buffer. */
static void test_writer_lines(void)
{
	cleanup_buf struct buf out = BUF(KIB);

	for (int64_t i = 0; i < 3; i++) {
		struct json_writer writer;

		json_begin(&writer, &out);
		json_put_int(&writer, i);
		CU_ASSERT_EQUAL(buf_text(&out, "\n"), 0);
	}
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "0\n1\n2\n");
}

static void invalid_utf8(struct json_writer *writer)
{
	json_put_string(writer, "ok\xff");
}

static void cut_utf8(struct json_writer *writer)
{
	json_put_bytes(writer, "\xc3\xa9", 1);
}

static void utf8_surrogate(struct json_writer *writer)
{
	json_put_string(writer, "\xed\xa0\x80");
}

static void invalid_key(struct json_writer *writer)
{
	json_object(writer);
	json_member_int(writer, "\xff", 1);
}

static void nul_byte(struct json_writer *writer)
{
	json_put_bytes(writer, "a\0b", 3);
}

static void null_string(struct json_writer *writer)
{
	json_put_string(writer, NULL);
}

static void too_deep(struct json_writer *writer)
{
	for (int i = 0; i <= JSON_ENGINE_DEPTH; i++)
		json_array(writer);
}

static void too_many_ends(struct json_writer *writer)
{
	json_array(writer);
	json_array_end(writer);
	json_array_end(writer);
}

static void end_after_key(struct json_writer *writer)
{
	json_object(writer);
	json_put_key(writer, "a");
	json_object_end(writer);
}

static void key_after_key(struct json_writer *writer)
{
	json_object(writer);
	json_put_key(writer, "a");
	json_put_key(writer, "b");
}

static void key_at_root(struct json_writer *writer)
{
	json_put_key(writer, "a");
}

static void two_values(struct json_writer *writer)
{
	json_put_int(writer, 1);
	json_put_int(writer, 2);
}

static void test_writer_fails(void)
{
	static void (*const rows[])(struct json_writer * writer) = {
		invalid_utf8, cut_utf8,      utf8_surrogate, invalid_key,   nul_byte,    null_string,
		too_deep,     too_many_ends, end_after_key,  key_after_key, key_at_root, two_values,
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF(KIB);
		struct json_writer writer;
		struct error *err = NULL;

		json_begin(&writer, &out);
		rows[i](&writer);
		CU_ASSERT(buf_check(&out, "text", &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_LIMIT, "text"));
		CU_ASSERT_PTR_NULL(memchr(buf_string(&out), '\xff', out.length));
	}
}

static void test_writer_depth(void)
{
	cleanup_buf struct buf out = BUF(KIB);
	struct json_writer writer;

	json_begin(&writer, &out);
	for (int i = 0; i < JSON_ENGINE_DEPTH; i++)
		json_array(&writer);
	for (int i = 0; i < JSON_ENGINE_DEPTH; i++)
		json_array_end(&writer);
	CU_ASSERT(!out.failed);
	CU_ASSERT_EQUAL(out.length, 2 * JSON_ENGINE_DEPTH);
}

static CU_TestInfo scanner_tests[] = {
	{ "accepted documents", test_accepts },
	{ "refused documents", test_refuses },
	{ "never laxer than jansson", test_differential },
	{ "depth", test_depth },
	{ "lookups", test_lookups },
	{ "NULL-safe", test_null_safe },
	{ "integers", test_integers },
	{ "spans", test_raw },
	{ "100000 keys", test_many_keys },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo writer_tests[] = {
	{ "canonical form", test_canonical },
	{ "canonical form means the same", test_canonical_means_the_same },
	{ "no canonical form", test_canonical_refuses },
	{ "canonical form in a full buffer", test_canonical_full },
	{ "writer", test_writer },
	{ "one writer a line", test_writer_lines },
	{ "writer fails", test_writer_fails },
	{ "writer's depth", test_writer_depth },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "scanner", .pTests = scanner_tests },
	{ .pName = "writing", .pTests = writer_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("json", suites);
}
