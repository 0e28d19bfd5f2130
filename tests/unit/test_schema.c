#include "core/fd.h"
#include "core/limits.h"
#include "core/schema.h"
#include "tests/unit/test.h"

enum op { OP_EQ, OP_GE, OP_LE };

struct expectation {
	char subject[NAME_MAX_SHORT];
	int op;
	int64_t value;
};

struct sample {
	char id[16];
	char hash[HEX_SHA256];
	char created[24];
	char title[12];
	char field[24];
	char note[8];
	int64_t count;
	bool strict;
	int op;
	struct expectation main;
	struct expectation expect[4];
	size_t expect_count;
	int64_t ports[3];
	size_t ports_count;
	char names[2][8];
	size_t names_count;
	bool flags[2];
	size_t flags_count;
	int ops[2];
	size_t ops_count;
};

static const char *const op_names[] = { [OP_EQ] = "eq", [OP_GE] = "ge", [OP_LE] = "le", NULL };

#define AT(member) .offset = offsetof(struct sample, member)
#define ARRAY_AT(member)                                                                                               \
	.offset = offsetof(struct sample, member), .count_offset = offsetof(struct sample, member##_count)
#define SIZE(member) .size = sizeof(((struct sample *)NULL)->member)

static const struct schema_field expectation_fields[] = {
	{ .key = "subject",
	  .type = SCHEMA_STRING,
	  .required = true,
	  .offset = offsetof(struct expectation, subject),
	  .size = NAME_MAX_SHORT,
	  .pattern = PATTERN_ID },
	{ .key = "op",
	  .type = SCHEMA_ENUM,
	  .offset = offsetof(struct expectation, op),
	  .names = op_names,
	  .value = OP_GE },
	{ .key = "value", .type = SCHEMA_INT, .offset = offsetof(struct expectation, value), .max = 255, .value = 7 },
	{ .key = NULL },
};

static const struct schema_field sample_fields[] = {
	{ .key = "id", .type = SCHEMA_STRING, .required = true, AT(id), SIZE(id), .pattern = PATTERN_ID },
	{ .key = "hash",
	  .type = SCHEMA_STRING,
	  .nullable = true,
	  AT(hash),
	  SIZE(hash),
	  .min = 64,
	  .pattern = PATTERN_HEX },
	{ .key = "created", .type = SCHEMA_STRING, AT(created), SIZE(created), .pattern = PATTERN_TIME },
	{ .key = "title", .type = SCHEMA_STRING, AT(title), SIZE(title), .pattern = PATTERN_ASCII },
	{ .key = "field", .type = SCHEMA_STRING, AT(field), SIZE(field), .pattern = PATTERN_FIELD },
	{ .key = "note", .type = SCHEMA_STRING, .nullable = true, AT(note), SIZE(note), .pattern = PATTERN_ASCII },
	{ .key = "count", .type = SCHEMA_INT, AT(count), .min = -2, .max = 9, .value = 3 },
	{ .key = "strict", .type = SCHEMA_BOOL, AT(strict), .value = true },
	{ .key = "op", .type = SCHEMA_ENUM, AT(op), .names = op_names, .value = OP_LE },
	{ .key = "main", .type = SCHEMA_OBJECT, AT(main), SIZE(main), .fields = expectation_fields },
	{ .key = "expect",
	  .type = SCHEMA_OBJECT,
	  ARRAY_AT(expect),
	  .size = sizeof(struct expectation),
	  .fields = expectation_fields,
	  .array_max = 4 },
	{ .key = "ports", .type = SCHEMA_INT, ARRAY_AT(ports), .min = 1, .max = 65535, .array_min = 1, .array_max = 3 },
	{ .key = "names", .type = SCHEMA_STRING, ARRAY_AT(names), .size = 8, .pattern = PATTERN_ID, .array_max = 2 },
	{ .key = "flags", .type = SCHEMA_BOOL, ARRAY_AT(flags), .array_max = 2 },
	{ .key = "ops", .type = SCHEMA_ENUM, ARRAY_AT(ops), .names = op_names, .array_max = 2 },
	{ .key = NULL },
};

static int decode(const char *text, struct sample *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	int result = json_parse(text, strlen(text), JSON_DEPTH, &document, err);

	if (result < 0)
		return result;
	return schema_decode(sample_fields, json_root(document), "scenarios/x.json", out, sizeof(*out), err);
}

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FULL                                                                                                           \
	"{\"id\":\"net/tcp.direct\",\"hash\":\"" HASH                                                                  \
	"\",\"created\":\"2026-02-28T23:59:59Z\",\"title\":\"A title!\","                                              \
	"\"field\":\"HostConfig/Privileged\",\"note\":null,\"count\":-2,\"strict\":false,\"op\":\"ge\","               \
	"\"main\":{\"subject\":\"main\",\"op\":\"eq\",\"value\":0},"                                                   \
	"\"expect\":[{\"subject\":\"a\",\"op\":\"le\",\"value\":255},{\"subject\":\"b\",\"op\":\"ge\",\"value\":7}],"  \
	"\"ports\":[1,65535],\"names\":[\"one\",\"two\"],\"flags\":[true,false],\"ops\":[\"le\",\"eq\"]}"

static void test_decode(void)
{
	struct sample sample;
	struct error *err = NULL;

	memset(&sample, 0xa5, sizeof(sample));
	CU_ASSERT_EQUAL(decode(FULL, &sample, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(sample.id, "net/tcp.direct");
	CU_ASSERT_STRING_EQUAL(sample.hash, HASH);
	CU_ASSERT_STRING_EQUAL(sample.created, "2026-02-28T23:59:59Z");
	CU_ASSERT_STRING_EQUAL(sample.title, "A title!");
	CU_ASSERT_STRING_EQUAL(sample.field, "HostConfig/Privileged");
	CU_ASSERT_STRING_EQUAL(sample.note, "");
	CU_ASSERT_EQUAL(sample.count, -2);
	CU_ASSERT(!sample.strict);
	CU_ASSERT_EQUAL(sample.op, OP_GE);
	CU_ASSERT_STRING_EQUAL(sample.main.subject, "main");
	CU_ASSERT_EQUAL(sample.main.op, OP_EQ);
	CU_ASSERT_EQUAL(sample.expect_count, 2);
	CU_ASSERT_EQUAL(sample.expect[0].value, 255);
	CU_ASSERT_STRING_EQUAL(sample.expect[1].subject, "b");
	CU_ASSERT_EQUAL(sample.expect[1].op, OP_GE);
	CU_ASSERT_EQUAL(sample.ports_count, 2);
	CU_ASSERT_EQUAL(sample.ports[1], 65535);
	CU_ASSERT_EQUAL(sample.names_count, 2);
	CU_ASSERT_STRING_EQUAL(sample.names[1], "two");
	CU_ASSERT_EQUAL(sample.flags_count, 2);
	CU_ASSERT(sample.flags[0] && !sample.flags[1]);
	CU_ASSERT_EQUAL(sample.ops_count, 2);
	CU_ASSERT(sample.ops[0] == OP_LE && sample.ops[1] == OP_EQ);
}

static void test_defaults(void)
{
	struct sample sample;
	struct error *err = NULL;

	memset(&sample, 0xa5, sizeof(sample));
	CU_ASSERT_EQUAL(decode("{\"id\":\"a\",\"expect\":[{\"subject\":\"s\"}]}", &sample, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(sample.count, 3);
	CU_ASSERT(sample.strict);
	CU_ASSERT_EQUAL(sample.op, OP_LE);
	CU_ASSERT_EQUAL(sample.main.op, OP_GE);
	CU_ASSERT_EQUAL(sample.main.value, 7);
	CU_ASSERT_EQUAL(sample.expect[0].op, OP_GE);
	CU_ASSERT_EQUAL(sample.expect[0].value, 7);
	CU_ASSERT_STRING_EQUAL(sample.hash, "");
	CU_ASSERT_EQUAL(sample.ports_count, 0);
	CU_ASSERT_EQUAL(sample.names_count, 0);
}

static void test_refusals(void)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{ "[]", "scenarios/x.json: must be an object" },
		{ "null", "scenarios/x.json: must be an object" },
		{ "{}", "scenarios/x.json: id: missing" },
		{ "{\"id\":null}", "scenarios/x.json: id: must be a string" },
		{ "{\"id\":7}", "scenarios/x.json: id: must be a string" },
		{ "{\"id\":\"\"}", "scenarios/x.json: id: not of the form that it must have: at least one of a-z 0-9 . "
				   "_ -, with / between parts" },
		{ "{\"id\":\"UPPER\"}", "scenarios/x.json: id: not of the form" },
		{ "{\"id\":\"0123456789abcdef\"}", "scenarios/x.json: id: longer than 15 bytes" },
		{ "{\"id\":\"a\",\"hash\":1}", "scenarios/x.json: hash: must be a string or null" },
		{ "{\"id\":\"a\",\"hash\":\"abc\"}", "scenarios/x.json: hash: shorter than 64 bytes" },
		{ "{\"id\":\"a\",\"created\":\"2026-02-29T00:00:00Z\"}",
		  "scenarios/x.json: created: not of the form that it must have: a time in UTC, as "
		  "2026-11-30T08:00:00Z" },
		{ "{\"id\":\"a\",\"title\":\"a\\n\"}",
		  "scenarios/x.json: title: not of the form that it must have: printable ASCII" },
		{ "{\"id\":\"a\",\"title\":null}", "scenarios/x.json: title: must be a string" },
		{ "{\"id\":\"a\",\"count\":\"1\"}", "scenarios/x.json: count: must be an integer" },
		{ "{\"id\":\"a\",\"count\":1.0}", "scenarios/x.json: count: must be an integer" },
		{ "{\"id\":\"a\",\"count\":null}", "scenarios/x.json: count: must be an integer" },
		{ "{\"id\":\"a\",\"count\":10}", "scenarios/x.json: count: outside -2 to 9" },
		{ "{\"id\":\"a\",\"count\":-3}", "scenarios/x.json: count: outside -2 to 9" },
		{ "{\"id\":\"a\",\"strict\":0}", "scenarios/x.json: strict: must be true or false" },
		{ "{\"id\":\"a\",\"op\":\"xx\"}", "scenarios/x.json: op: unknown value: not 'eq', 'ge' or 'le'" },
		{ "{\"id\":\"a\",\"op\":0}", "scenarios/x.json: op: must be a string" },
		{ "{\"id\":\"a\",\"main\":[]}", "scenarios/x.json: main: must be an object" },
		{ "{\"id\":\"a\",\"main\":{}}", "scenarios/x.json: main.subject: missing" },
		{ "{\"id\":\"a\",\"main\":{\"subject\":\"s\",\"value\":256}}",
		  "scenarios/x.json: main.value: outside 0 to 255" },
		{ "{\"id\":\"a\",\"expect\":{}}", "scenarios/x.json: expect: must be an array" },
		{ "{\"id\":\"a\",\"expect\":null}", "scenarios/x.json: expect: must be an array" },
		{ "{\"id\":\"a\",\"expect\":[1]}", "scenarios/x.json: expect[0]: must be an object" },
		{ "{\"id\":\"a\",\"expect\":[{\"subject\":\"s\"},{\"subject\":\"s\"},{\"subject\":\"s\"},"
		  "{\"subject\":\"s\",\"op\":\"no\"}]}",
		  "scenarios/x.json: expect[3].op: unknown value" },
		{ "{\"id\":\"a\",\"expect\":[{},{},{},{},{}]}", "scenarios/x.json: expect: must have 0 to 4 elements" },
		{ "{\"id\":\"a\",\"ports\":[]}", "scenarios/x.json: ports: must have 1 to 3 elements" },
		{ "{\"id\":\"a\",\"ports\":[1,2,3,4]}", "scenarios/x.json: ports: must have 1 to 3 elements" },
		{ "{\"id\":\"a\",\"ports\":[1,0]}", "scenarios/x.json: ports[1]: outside 1 to 65535" },
		{ "{\"id\":\"a\",\"names\":[\"12345678\"]}", "scenarios/x.json: names[0]: longer than 7 bytes" },
		{ "{\"id\":\"a\",\"flags\":[true,1]}", "scenarios/x.json: flags[1]: must be true or false" },
		{ "{\"id\":\"a\",\"ops\":[\"eq\",\"EQ\"]}",
		  "scenarios/x.json: ops[1]: unknown value: not 'eq', 'ge' or 'le'" },
		{ "{\"id\":\"a\",\"titel\":\"x\"}", "scenarios/x.json: unknown key 'titel'" },
		{ "{\"id\":\"a\",\"ID\":\"x\"}", "scenarios/x.json: unknown key 'ID'" },
		{ "{\"id\":\"a\",\"main\":{\"subject\":\"s\",\"a.b-c_D\":1}}",
		  "scenarios/x.json: main: unknown key 'a.b-c_D'" },
		{ "{\"id\":\"a\",\"expect\":[{\"subject\":\"s\",\"a b\":1}]}",
		  "scenarios/x.json: expect[0]: unknown key, number 2 of the object" },
		{ "{\"id\":\"a\",\"\":1}", "scenarios/x.json: unknown key, number 2 of the object" },
		{ "{\"canary-abcdefghijklmnopabcdefghijklmnop\":1}",
		  "scenarios/x.json: unknown key, number 1 of the object" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		static const struct sample zero;
		struct sample sample;
		struct error *err = NULL;

		memset(&sample, 0xa5, sizeof(sample));
		CU_ASSERT(decode(rows[i].text, &sample, &err) < 0);
		CU_ASSERT(err && strncmp(error_text(err), rows[i].message, strlen(rows[i].message)) == 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].message));
		CU_ASSERT_EQUAL(memcmp(&sample, &zero, sizeof(sample)), 0);
	}
}

static void encode(const struct sample *sample, struct buf *out)
{
	struct json_writer writer;

	json_begin(&writer, out);
	schema_encode(sample_fields, sample, &writer);
	CU_ASSERT(!out->failed);
}

static void test_round_trip(void)
{
	cleanup_buf struct buf out = BUF(4 * KIB);
	struct sample sample;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(decode(FULL, &sample, &err), 0);
	CU_ASSERT(test_no_error(&err));
	encode(&sample, &out);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), FULL);
}

/* What was absent comes back as it was: written as its default, as null, or left out where no form would be valid. */
static void test_round_trip_of_absent(void)
{
	cleanup_buf struct buf out = BUF(4 * KIB);
	struct sample sample, again;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(decode("{\"id\":\"a\"}", &sample, &err), 0);
	CU_ASSERT(test_no_error(&err));
	encode(&sample, &out);
	CU_ASSERT_STRING_EQUAL(buf_string(&out),
			       "{\"id\":\"a\",\"hash\":null,\"title\":\"\",\"note\":null,\"count\":3,\"strict\":true,"
			       "\"op\":\"le\",\"expect\":[],\"names\":[],\"flags\":[],\"ops\":[]}");
	CU_ASSERT_EQUAL(decode(buf_string(&out), &again, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(memcmp(&sample, &again, sizeof(sample)), 0);
}

static void test_encode_bad_enum(void)
{
	cleanup_buf struct buf out = BUF(4 * KIB);
	struct sample sample = { .id = "a", .op = 3 };
	struct json_writer writer;

	json_begin(&writer, &out);
	schema_encode(sample_fields, &sample, &writer);
	CU_ASSERT(out.failed);
}

static const struct json_node *property(const struct json_node *object, const char *name)
{
	return json_member(json_member(object, "properties"), name);
}

static void check_int(const struct json_node *node, const char *key, int64_t expected)
{
	int64_t value = -77;

	CU_ASSERT(json_int64(json_member(node, key), &value));
	CU_ASSERT_EQUAL(value, expected);
}

static void check_string(const struct json_node *node, const char *key, const char *expected)
{
	const char *text = json_string(json_member(node, key));

	CU_ASSERT(text && strcmp(text, expected) == 0);
}

static void test_print(void)
{
	cleanup_buf struct buf out = BUF(16 * KIB);
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root, *expect;
	struct error *err = NULL;
	bool truth = true;

	CU_ASSERT_EQUAL(schema_print(sample_fields, "A \"sample\"", &out, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(json_parse(buf_string(&out), out.length, JSON_ENGINE_DEPTH, &document, &err), 0);
	CU_ASSERT(test_no_error(&err));
	root = json_root(document);
	check_string(root, "$schema", "https://json-schema.org/draft/2020-12/schema");
	check_string(root, "title", "A \"sample\"");
	check_string(root, "type", "object");
	CU_ASSERT(json_bool(json_member(root, "additionalProperties"), &truth) && !truth);
	CU_ASSERT_EQUAL(json_count(json_member(root, "required")), 1);
	CU_ASSERT_STRING_EQUAL(json_string(json_first(json_member(root, "required"))), "id");
	CU_ASSERT_EQUAL(json_count(json_member(root, "properties")), ARRAY_SIZE(sample_fields) - 1);

	check_string(property(root, "id"), "type", "string");
	check_int(property(root, "id"), "minLength", 1);
	check_int(property(root, "id"), "maxLength", 15);
	CU_ASSERT_EQUAL(json_count(json_member(property(root, "hash"), "type")), 2);
	check_int(property(root, "hash"), "minLength", 64);
	check_string(property(root, "hash"), "pattern", "^[0-9a-f]+$");
	check_string(property(root, "title"), "pattern", "^[ -~]*$");
	check_string(property(root, "count"), "type", "integer");
	check_int(property(root, "count"), "minimum", -2);
	check_int(property(root, "count"), "maximum", 9);
	check_int(property(root, "count"), "default", 3);
	CU_ASSERT(json_bool(json_member(property(root, "strict"), "default"), &truth) && truth);
	CU_ASSERT_EQUAL(json_count(json_member(property(root, "op"), "enum")), 3);
	check_string(property(root, "op"), "default", "le");
	check_string(property(root, "main"), "type", "object");

	expect = property(root, "expect");
	check_string(expect, "type", "array");
	check_int(expect, "minItems", 0);
	check_int(expect, "maxItems", 4);
	check_int(property(json_member(expect, "items"), "value"), "maximum", 255);
	check_int(property(root, "ports"), "minItems", 1);
	check_int(json_member(property(root, "ports"), "items"), "maximum", 65535);
}

static void test_print_full(void)
{
	cleanup_buf struct buf out = BUF(100);
	struct error *err = NULL;

	CU_ASSERT(schema_print(sample_fields, "title", &out, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "JSON Schema"));
}

static void test_patterns(void)
{
	static const struct {
		enum schema_pattern pattern;
		const char *text;
		bool matches;
	} rows[] = {
		{ PATTERN_ID, "a", true },
		{ PATTERN_ID, "net.tcp_6-direct", true },
		{ PATTERN_ID, "a/b/c", true },
		{ PATTERN_ID, ".a/..b/...", true },
		{ PATTERN_ID, "", false },
		{ PATTERN_ID, "/a", false },
		{ PATTERN_ID, "a/", false },
		{ PATTERN_ID, "a//b", false },
		{ PATTERN_ID, ".", false },
		{ PATTERN_ID, "..", false },
		{ PATTERN_ID, "../a", false },
		{ PATTERN_ID, "a/../b", false },
		{ PATTERN_ID, "a/.", false },
		{ PATTERN_ID, "A", false },
		{ PATTERN_ID, "a b", false },
		{ PATTERN_ID, "\xc3\xa9", false },
		{ PATTERN_FIELD, "HostConfig/Memory", true },
		{ PATTERN_FIELD, "a/..", false },
		{ PATTERN_FIELD, "a:b", false },
		{ PATTERN_FIELD, "", false },
		{ PATTERN_HEX, "00ff", true },
		{ PATTERN_HEX, "", false },
		{ PATTERN_HEX, "FF", false },
		{ PATTERN_HEX, "0g", false },
		{ PATTERN_ASCII, "", true },
		{ PATTERN_ASCII, " ~", true },
		{ PATTERN_ASCII, "a\tb", false },
		{ PATTERN_ASCII, "\x7f", false },
		{ PATTERN_ASCII, "\xc3\xa9", false },
		{ PATTERN_TIME, "2026-11-29T15:04:05Z", true },
		{ PATTERN_TIME, "2024-02-29T00:00:00Z", true },
		{ PATTERN_TIME, "2000-02-29T00:00:00Z", true },
		{ PATTERN_TIME, "1900-02-29T00:00:00Z", false },
		{ PATTERN_TIME, "2026-04-31T00:00:00Z", false },
		{ PATTERN_TIME, "2026-00-01T00:00:00Z", false },
		{ PATTERN_TIME, "2026-13-01T00:00:00Z", false },
		{ PATTERN_TIME, "2026-01-00T00:00:00Z", false },
		{ PATTERN_TIME, "2026-01-01T24:00:00Z", false },
		{ PATTERN_TIME, "2026-01-01T00:60:00Z", false },
		{ PATTERN_TIME, "2026-01-01T00:00:60Z", false },
		{ PATTERN_TIME, "2026-01-01T00:00:00z", false },
		{ PATTERN_TIME, "2026-01-01 00:00:00Z", false },
		{ PATTERN_TIME, "2026-01-01T00:00:00.0Z", false },
		{ PATTERN_TIME, "2026-01-01T00:00:00+00:00", false },
		{ PATTERN_TIME, "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool matches = schema_matches(rows[i].pattern, rows[i].text, strlen(rows[i].text));

		if (matches != rows[i].matches)
			fprintf(stderr, "pattern %d: '%s'\n", (int)rows[i].pattern, rows[i].text);
		CU_ASSERT_EQUAL(matches, rows[i].matches);
	}
	CU_ASSERT(!schema_matches(PATTERN_ASCII, "a\0b", 3));
	CU_ASSERT(!schema_matches(PATTERN_ID, "a\0b", 3));
}

static void test_enum(void)
{
	CU_ASSERT_EQUAL(schema_enum(op_names, "eq"), OP_EQ);
	CU_ASSERT_EQUAL(schema_enum(op_names, "le"), OP_LE);
	CU_ASSERT_EQUAL(schema_enum(op_names, "l"), -1);
	CU_ASSERT_EQUAL(schema_enum(op_names, ""), -1);
}

static CU_TestInfo tests[] = {
	{ "decode", test_decode },
	{ "defaults", test_defaults },
	{ "refusals name the place", test_refusals },
	{ "round trip", test_round_trip },
	{ "round trip of what is absent", test_round_trip_of_absent },
	{ "encode an enum out of range", test_encode_bad_enum },
	{ "JSON Schema", test_print },
	{ "JSON Schema in a full buffer", test_print_full },
	{ "patterns", test_patterns },
	{ "enum", test_enum },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "schema", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("schema", suites);
}
