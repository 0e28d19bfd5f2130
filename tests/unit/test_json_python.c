/* The reference's canonical form: rows that Python 3.11 gave, and the vectors that its gateway hashes. */
#include <stdlib.h>

#include "core/fd.h"
#include "core/json_python.h"
#include "core/limits.h"
#include "tests/unit/test.h"

static const struct {
	const char *text, *form;
} forms[] = {
	{ " { \"b\" : 1 , \"a\" : [ true , false , null ] } ", "{\"a\":[true,false,null],\"b\":1}" },
	{ "{}", "{}" },
	{ "[]", "[]" },
	{ "[{},[],\"\"]", "[{},[],\"\"]" },
	{ "\"\\u00e9\\uD83D\\uDE00\\/\\u007f\"", "\"\\u00e9\\ud83d\\ude00/\\u007f\"" },
	{ "\"\xc3\xa9\xf0\x9f\x98\x80\x7f~\"", "\"\\u00e9\\ud83d\\ude00\\u007f~\"" },
	{ "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0001\\u001f\"", "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0001\\u001f\"" },
	{ "\"\xf4\x8f\xbf\xbf\xef\xbf\xbf\"", "\"\\udbff\\udfff\\uffff\"" },
	/* By code point U+FFFF stands before U+10000; by UTF-16 behind it. */
	{ "{\"\xf0\x90\x80\x80\":1,\"\xef\xbf\xbf\":2,\"z\":3,\"\":4}",
	  "{\"\":4,\"z\":3,\"\\uffff\":2,\"\\ud800\\udc00\":1}" },
	{ "{\"a\":{\"d\":1,\"c\":2},\"B\":0}", "{\"B\":0,\"a\":{\"c\":2,\"d\":1}}" },
	{ "0", "0" },
	{ "-0", "0" },
	{ "-1", "-1" },
	{ "123456789012345678901234567890", "123456789012345678901234567890" },
	{ "-123456789012345678901234567890", "-123456789012345678901234567890" },
	{ "0.0", "0.0" },
	{ "-0.0", "-0.0" },
	{ "1.0", "1.0" },
	{ "1.50", "1.5" },
	{ "0.1", "0.1" },
	{ "1e0", "1.0" },
	{ "1E2", "100.0" },
	{ "1e15", "1000000000000000.0" },
	{ "1e16", "1e+16" },
	{ "1.5e16", "1.5e+16" },
	{ "123456789012345.67", "123456789012345.67" },
	{ "1234567890123456.7", "1234567890123456.8" },
	{ "12345678901234567.8", "1.2345678901234568e+16" },
	{ "0.0001", "0.0001" },
	{ "0.00001", "1e-05" },
	{ "0.000123", "0.000123" },
	{ "1e-400", "0.0" },
	{ "-1e-400", "-0.0" },
	{ "5e-324", "5e-324" },
	{ "2e-324", "0.0" },
	{ "1.7976931348623157e308", "1.7976931348623157e+308" },
	{ "1e100", "1e+100" },
	{ "9007199254740993.0", "9007199254740992.0" },
	{ "2.2250738585072011e-308", "2.225073858507201e-308" },
	/* Powers of two whose shortest decimal is not the nearest of its length. */
	{ "7.120236347223045e-307", "7.120236347223045e-307" },
	{ "7.8545495444763625e-90", "7.854549544476363e-90" },
	{ "9.5e-7", "9.5e-07" },
	{ "1e23", "1e+23" },
};

static const struct {
	const char *text;
	enum error_code code;
	const char *part;
} refused[] = {
	{ "1e309", ERROR_INPUT, "beyond the doubles" },
	{ "[-1e309]", ERROR_INPUT, "beyond the doubles" },
	{ "{\"a\":1,\"a\":2}", ERROR_INPUT, "duplicate key" },
	{ "NaN", ERROR_INPUT, "expected a value" },
	{ "\"\\ud800\"", ERROR_INPUT, "surrogate" },
	{ "[[[]]]", ERROR_INPUT, "nested" },
	{ "", ERROR_INPUT, "expected a value" },
};

/* gateway 3.4 and 2.4. */
static const struct {
	const char *text, *hash;
} hashes[] = {
	{ "{\"value\": \"synthetic\"}", "fbef60c9191aaf7a66637178e11570c4211ec3e03a12cb100e6f3a33b1db46c2" },
	{ "{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" },
	{ "{\"d\":null,\"a\":\"\\u00e9\\ud83d\\ude00\",\"b\":1,\"c\":1.5}",
	  "d67e51595f70eab46d01d46bc8dec3752dbaea012b7246d0b324905b45856eac" },
	/* Of a call to the real gateway, as it was written down there. */
	{ "{\"value\": 1e16, \"b\": [0.00001, -0.0, -0, \"\\ud83d\\ude00\"]}",
	  "23616f775625b9864b9972a61078b18b8bf868e88cf31f88eb64c63db2b09f81" },
	{ "{\"description\":\"record synthetic data\",\"input_schema\":{\"type\":\"object\"}}",
	  "66da7c2a0825fb5b93874fe9076d9cc11b8338bae4e58ad9931dcc159706ea2e" },
};

static void takes_their_form(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		cleanup_buf struct buf out = BUF(KIB);
		struct error *err = NULL;

		CU_ASSERT_EQUAL(json_python(forms[i].text, strlen(forms[i].text), 2, &out, &err), 0);
		CU_ASSERT(test_no_error(&err));
		if (strcmp(buf_string(&out), forms[i].form) != 0)
			fprintf(stderr, "%s: %s\n", forms[i].form, buf_string(&out));
		CU_ASSERT_STRING_EQUAL(buf_string(&out), forms[i].form);
	}
}

static void refuses(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		cleanup_buf struct buf out = BUF(KIB);
		struct error *err = NULL;

		CU_ASSERT_EQUAL(buf_text(&out, "before"), 0);
		CU_ASSERT(json_python(refused[i].text, strlen(refused[i].text), 2, &out, &err) < 0);
		CU_ASSERT(test_error(&err, refused[i].code, refused[i].part));
		CU_ASSERT_STRING_EQUAL(buf_string(&out), "before");
	}
}

static void digits_are_bounded(void)
{
	char text[4400];

	for (size_t length = 4300; length < 4304; length++) {
		cleanup_buf struct buf out = BUF(sizeof(text));
		struct error *err = NULL;
		bool negative = length % 2 != 0;
		int status;

		memset(text, '7', length);
		text[0] = negative ? '-' : '7';
		status = json_python(text, length, 0, &out, &err);
		CU_ASSERT_EQUAL(status == 0, length <= 4301);
		CU_ASSERT(status == 0 ? out.length == length : test_error(&err, ERROR_INPUT, "4300 digits"));
	}
	memset(text, '0', sizeof(text));
	memcpy(text, "1.", 2);
	memcpy(text + 4300, "e-5]", 4);
	text[sizeof(text) - 1] = '1';
	{
		cleanup_buf struct buf out = BUF(sizeof(text));
		struct error *err = NULL;

		CU_ASSERT_EQUAL(json_python(text, 4303, 0, &out, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(buf_string(&out), "1e-05");
	}
}

static void form_is_bounded(void)
{
	static const char text[] = "[\"\xc3\xa9\",\"\xc3\xa9\"]";

	for (size_t max = 0; max < 20; max++) {
		cleanup_buf struct buf out = BUF(max);
		struct error *err = NULL;
		int status = json_python(text, strlen(text), 1, &out, &err);

		CU_ASSERT_EQUAL(status == 0, max >= 19);
		CU_ASSERT(status == 0 ? out.length == 19 : test_error(&err, ERROR_LIMIT, "canonical JSON"));
		CU_ASSERT(status == 0 || out.length == 0);
	}
}

static void hashes_are_the_references(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(hashes); i++) {
		cleanup_json struct json_document *document = NULL;
		struct error *err = NULL;
		char hex[HEX_SHA256] = "";

		CU_ASSERT_EQUAL(json_parse(hashes[i].text, strlen(hashes[i].text), 2, &document, &err), 0);
		CU_ASSERT_EQUAL(json_python_hash(json_root(document), KIB, hex, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_STRING_EQUAL(hex, hashes[i].hash);
		CU_ASSERT(json_python_hash(json_root(document), 1, hex, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_LIMIT, "canonical JSON"));
	}
}

/* What Python writes and our reader refuses: the escape's place is taken, its length stays. */
static const struct {
	const char *text, *mended; /* NULL: refused */
} written[] = {
	{ "\"\\u0000\"", "\"\\ufffd\"" },
	{ "\"\\ud800\"", "\"\\ufffd\"" },
	{ "\"\\ud800\\ud800\\udc00\\udc00\"", "\"\\ufffd\\ud800\\udc00\\ufffd\"" },
	{ "\"\\ud83d\\ude00\\u00e9\"", "\"\\ud83d\\ude00\\u00e9\"" },
	{ "\"\\\\u0000\\\\\"", "\"\\\\u0000\\\\\"" },
	{ "\"\\ud800", NULL },
	{ "\"\\ud800\\", NULL },
	{ "\"\\u00", NULL },
	{ "\\", NULL },
	{ "", NULL },
	{ "{\"a\":1,\"a\":2}", NULL },
};

static void reads_what_python_wrote(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(written); i++) {
		cleanup_json struct json_document *document = NULL;
		struct error *err = NULL;
		int status = json_python_parse(written[i].text, strlen(written[i].text), 1, &document, &err);
		struct json_span raw = json_raw(json_root(document));

		CU_ASSERT_EQUAL(status == 0, written[i].mended != NULL);
		CU_ASSERT(status == 0 ? test_no_error(&err) : test_error(&err, ERROR_INPUT, "JSON"));
		CU_ASSERT(!written[i].mended || (raw.length == strlen(written[i].mended) &&
						 memcmp(raw.bytes, written[i].mended, raw.length) == 0));
	}
}

static void text_that_is_none(void)
{
	cleanup_buf struct buf out = BUF(KIB);

	json_python_string("a\xff", 2, &out);
	CU_ASSERT_TRUE(out.failed);
}

static CU_TestInfo tests[] = {
	{ "forms", takes_their_form },
	{ "refused", refuses },
	{ "digits of an integer", digits_are_bounded },
	{ "bounded", form_is_bounded },
	{ "vectors", hashes_are_the_references },
	{ "what Python wrote", reads_what_python_wrote },
	{ "no UTF-8", text_that_is_none },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "json_python", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("json_python", suites);
}
