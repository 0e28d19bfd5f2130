/* The streaming check of the canonical form against the writer of that form. */
#include "core/json_form.h"

#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "tests/unit/test.h"

#define TEXT_BYTES 4096

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static bool canonical(const char *text, size_t length)
{
	cleanup_buf struct buf again = BUF(TEXT_BYTES);
	cleanup_error struct error *err = NULL;
	cleanup_json struct json_document *document = NULL;

	return json_parse(text, length, JSON_DEPTH, &document, &err) == 0 &&
	       json_canonical(text, length, &again, &err) == 0 && again.length == length &&
	       memcmp(buf_string(&again), text, length) == 0;
}

/* In pieces of random length. */
static bool formed(const char *text, size_t length, uint32_t *state, struct json_form *form)
{
	json_form_begin(form, JSON_DEPTH);
	for (size_t at = 0; at < length;) {
		size_t part = 1 + next(state) % 7;

		part = part < length - at ? part : length - at;
		(void)json_form_feed(form, text + at, part);
		at += part;
	}
	return json_form_end(form);
}

static const char *const texts[] = {
	"{}",
	"[]",
	"0",
	"-1",
	"9007199254740991",
	"-9007199254740991",
	"\"\"",
	"true",
	"false",
	"null",
	"[[],{},[[{\"a\":[1,2,{\"b\":null}]}]]]",
	"{\"a\":1,\"aa\":2,\"b\":{\"a\":\"x\\\"y\\\\z\"},\"c\":[true,false,null,-12]}",
	"{\"\":0,\"A\":1,\"a\":2,\"\\u0001\":3}",
	"[\"\\b\\t\\n\\f\\r\\u001f\\u0000\",\"/\",\"\x7f\"]",
	"[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\"\xed\x9f\xbf\",\"\xee\x80\x80\"]",
	"{\"\xf0\x90\x80\x80\":1,\"\xee\x80\x80\":2}",
	"{\"\xee\x80\x80\":2,\"\xf0\x90\x80\x80\":1}",
	"[\"\xc0\x80\"]",
	"[\"\xed\xa0\x80\"]",
	"[\"\xf4\x90\x80\x80\"]",
	"[1.0]",
	"[1e3]",
	"[01]",
	"[-0]",
	"[9007199254740992]",
	"[99999999999999999999]",
	"{\"a\":1,\"a\":2}",
	"{\"b\":1,\"a\":2}",
	"{\"a\":1,}",
	"[1,]",
	"[1 ]",
	" 1",
	"1 ",
	"1\n",
	"[\"\\u0041\"]",
	"[\"\\u001F\"]",
	"[\"\\/\"]",
	"[\"\\u000a\"]",
	"[\"a",
	"[",
	"{\"a\"",
	"{\"a\":",
	"tru",
	"nul",
	"-",
	"",
	"[}",
	"{]",
	"]",
	"1]",
	"[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
	"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
	"{\"a\" :1}",
	"{\"a\";1}",
	"{1:1}",
	"[tRue]",
	"[\"\t\"]",
};

static void test_texts(void)
{
	uint32_t state = 88172645;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		for (int again = 0; again < 5; again++) {
			struct json_form form;
			bool found = formed(texts[i], strlen(texts[i]), &state, &form);

			if (found != canonical(texts[i], strlen(texts[i])) || found != !form.why)
				CU_FAIL(texts[i]);
		}
}

/* Bytes of the texts above changed, dropped and doubled. */
static void test_mutated(void)
{
	uint32_t state = 2463534242u;
	size_t yes = 0, no = 0;

	for (int i = 0; i < 100000; i++) {
		static const char bytes[] = "{}[]\",:\\u0123456789abcdefnrt -.E\xc3\xa9\xed\x80";
		const char *text = texts[next(&state) % 16];
		char changed[256];
		size_t length = strlen(text), at = length ? next(&state) % length : 0;
		struct json_form form;
		bool found;

		memcpy(changed, text, length + 1);
		switch (next(&state) % 3) {
		case 0:
			changed[at] = bytes[next(&state) % (sizeof(bytes) - 1)];
			break;
		case 1:
			memmove(changed + at, changed + at + 1, length - at);
			length--;
			break;
		default:
			memmove(changed + at + 1, changed + at, length - at);
			length++;
			break;
		}
		found = formed(changed, length, &state, &form);
		if (found != canonical(changed, length)) {
			fprintf(stderr, "they differ: %.*s\n", (int)length, changed);
			CU_FAIL("the form differs");
			return;
		}
		yes += found;
		no += !found;
	}
	CU_ASSERT(yes > 1000 && no > 1000);
}

/* The closed grammar: printable ASCII of at most so many bytes. */
static void test_grammar(void)
{
	static const struct {
		const char *text;
		bool foreign;
	} rows[] = {
		{ "[\"plain ~ text\"]", false }, { "[\"\\\"\\\\\"]", false }, { "[\"\\n\"]", true },
		{ "[\"\\u001b\"]", true },       { "[\"\x7f\"]", true },      { "[\"\xc3\xa9\"]", true },
		{ "{\"\\n\":1}", true },
	};
	uint32_t state = 1;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct json_form form;

		CU_ASSERT(formed(rows[i].text, strlen(rows[i].text), &state, &form));
		CU_ASSERT_EQUAL(form.foreign, rows[i].foreign);
	}
	for (size_t length = JSON_FORM_TEXT; length <= JSON_FORM_TEXT + 1; length++) {
		char text[JSON_FORM_TEXT + 16] = "[\"";
		struct json_form form;

		memset(text + 2, 'a', length);
		memcpy(text + 2 + length, "\"]", 3);
		CU_ASSERT(formed(text, strlen(text), &state, &form));
		CU_ASSERT_EQUAL(form.foreign, length > JSON_FORM_TEXT);
		memcpy(text, "{\"", 2);
		memcpy(text + 2 + length, "\":1}", 5);
		CU_ASSERT_EQUAL(formed(text, strlen(text), &state, &form), length <= JSON_FORM_TEXT);
	}
}

/* Depths beyond its own are refused, whatever is asked for, and values are counted. */
static void test_bounds(void)
{
	static const char counted[] = "{\"a\":[1,\"x\",null],\"b\":{}}";
	uint32_t state = 1;
	struct json_form form;

	json_form_begin(&form, 1000);
	for (int i = 0; i < JSON_FORM_DEPTH; i++)
		CU_ASSERT(json_form_feed(&form, "[", 1));
	CU_ASSERT_FALSE(json_form_feed(&form, "[", 1));
	CU_ASSERT_STRING_EQUAL(form.why, "nested too deeply");
	CU_ASSERT_EQUAL(form.at, JSON_FORM_DEPTH);
	CU_ASSERT(formed(counted, strlen(counted), &state, &form));
	CU_ASSERT_EQUAL(form.values, 6);
}

static CU_TestInfo tests[] = {
	{ "texts", test_texts },   { "mutated", test_mutated }, { "grammar", test_grammar },
	{ "bounds", test_bounds }, CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "json_form", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("json_form", suites);
}
