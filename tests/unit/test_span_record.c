/* Records on the pipe to the exporter: what is written is read, and nothing else is. */
#include <stdlib.h>

#include "core/fd.h"
#include "core/limits.h"
#include "gateway/span_record.h"
#include "tests/unit/test.h"

#define ROOM (64 * KIB)

static const struct audit_entry entry = {
	.entry_id = "e", .entry_type = "fault", .latency_us = -1, .tool_name = "", .sequence_number = 258
};

/* entry as a record: id, sequence number, type, tool. */
#define TIMES "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
#define ID "\0\1\0e"
#define NUMBER "\1\x08\0\2\1\0\0\0\0\0\0"
#define TYPE "\4\5\0fault"
#define TOOL "\5\0\0"
static const char expected[] = "SPN1\x2b\0\0\0" TIMES "\4" ID NUMBER TYPE TOOL;

/* In memory of its exact size, so that a sanitizer sees each byte behind it. */
static bool read_exactly(const void *bytes, size_t length, struct span_record *out)
{
	cleanup_free char *exact = malloc(length ? length : 1);
	struct error *err = NULL;
	int r;

	memcpy(exact, bytes, length);
	r = span_record_read(exact, length, out, &err);
	return r == 0 ? test_no_error(&err) : !test_error(&err, ERROR_PROTOCOL, "span");
}

static void written_and_read(void)
{
	cleanup_buf struct buf out = BUF(ROOM);
	struct error *err = NULL;
	struct span_record record;

	CU_ASSERT(span_record_write(&entry, 1, 2, &out));
	CU_ASSERT_EQUAL(out.length, sizeof(expected) - 1);
	CU_ASSERT_EQUAL(memcmp(buf_string(&out), expected, sizeof(expected) - 1), 0);
	CU_ASSERT_EQUAL(span_record_size(out.data, out.length, &err), (int)out.length);
	CU_ASSERT_EQUAL(span_record_read(out.data, out.length, &record, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(record.start, 1);
	CU_ASSERT_EQUAL(record.end, 2);
	for (size_t i = 0; i < SPAN_FIELDS; i++)
		CU_ASSERT_EQUAL(record.values[i].present, i == 0 || i == 1 || i == 4 || i == 5);
	CU_ASSERT_EQUAL(record.values[1].number, 258);
	CU_ASSERT_EQUAL(record.values[SPAN_ENTRY_TYPE].length, 5);
	CU_ASSERT_EQUAL(memcmp(record.values[SPAN_ENTRY_TYPE].text, "fault", 5), 0);
	for (size_t length = 0; length < out.length; length++)
		CU_ASSERT_FALSE(read_exactly(out.data, length, &record));
}

/* The queue that is full keeps what it holds. */
static void no_room(void)
{
	cleanup_buf struct buf out = BUF(2 * (sizeof(expected) - 1) + 3);
	struct span_record record;

	CU_ASSERT(span_record_write(&entry, 1, 2, &out));
	CU_ASSERT(span_record_write(&entry, 1, 2, &out));
	CU_ASSERT_FALSE(span_record_write(&entry, 1, 2, &out));
	CU_ASSERT_FALSE(out.failed);
	CU_ASSERT_EQUAL(out.length, 2 * (sizeof(expected) - 1));
	buf_consume(&out, sizeof(expected) - 1);
	CU_ASSERT(read_exactly(out.data, out.length, &record));
	CU_ASSERT(span_record_write(&entry, 1, 2, &out));
}

static void no_records(void)
{
	static const struct {
		const char *name, *bytes;
		size_t length;
	} cases[] = {
#define CASE(name, text) { name, text, sizeof(text) - 1 }
		CASE("another magic", "SPN2\x2b\0\0\0" TIMES "\4" ID NUMBER TYPE TOOL),
		CASE("a byte behind", "SPN1\x2c\0\0\0" TIMES "\4" ID NUMBER TYPE TOOL "x"),
		CASE("no length", "SPN1\0\0\0\0"),
		CASE("a length beyond all", "SPN1\0\0\0\x80" TIMES "\0"),
		CASE("no type", "SPN1\x15\0\0\0" TIMES "\1" ID),
		CASE("no field", "SPN1\x11\0\0\0" TIMES "\0"),
		CASE("a field less than it says", "SPN1\x19\0\0\0" TIMES "\2" TYPE),
		CASE("a field more than it says", "SPN1\x1c\0\0\0" TIMES "\1" TYPE TOOL),
		CASE("fields that fall", "SPN1\x1c\0\0\0" TIMES "\2" TOOL TYPE),
		CASE("a field twice", "SPN1\x21\0\0\0" TIMES "\2" TYPE TYPE),
		CASE("a field of no table", "SPN1\x1c\0\0\0" TIMES "\2" TYPE "\x13\0\0"),
		CASE("a field far beyond", "SPN1\x1c\0\0\0" TIMES "\2" TYPE "\xff\0\0"),
		CASE("a text beyond the end", "SPN1\x19\0\0\0" TIMES "\1\4\6\0fault"),
		CASE("a text that is none", "SPN1\x19\0\0\0" TIMES "\1\4\5\0faul\xff"),
		CASE("a text with a NUL", "SPN1\x19\0\0\0" TIMES "\1\4\5\0faul\0"),
		CASE("an empty id", "SPN1\x1c\0\0\0" TIMES "\2\0\0\0" TYPE),
		CASE("an id of 37 bytes", "SPN1\x41\0\0\0" TIMES "\2\0\x25\0"
					  "1234567890123456789012345678901234567" TYPE),
		CASE("a number of 7 bytes", "SPN1\x23\0\0\0" TIMES "\2\1\7\0\2\1\0\0\0\0\0" TYPE),
		CASE("a number below 0", "SPN1\x24\0\0\0" TIMES "\2\1\x08\0\2\1\0\0\0\0\0\x80" TYPE),
#undef CASE
	};
	struct span_record record;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool taken = read_exactly(cases[i].bytes, cases[i].length, &record);

		if (taken)
			fprintf(stderr, "row: %s\n", cases[i].name);
		CU_ASSERT_FALSE(taken);
	}
	CU_ASSERT(read_exactly("SPN1\x19\0\0\0" TIMES "\1" TYPE, 33, &record));
}

/* A text of 1024 bytes goes; one more does not, nor a byte that is no text. */
static void texts(void)
{
	cleanup_buf struct buf out = BUF(ROOM);
	struct audit_entry one = entry;
	char text[SPAN_TEXT_BYTES + 2];
	struct span_record record;

	memset(text, 'a', sizeof(text));
	text[SPAN_TEXT_BYTES] = '\0';
	one.workflow_id = text;
	CU_ASSERT(span_record_write(&one, 1, 2, &out));
	CU_ASSERT(read_exactly(out.data, out.length, &record));
	text[SPAN_TEXT_BYTES] = 'a';
	text[SPAN_TEXT_BYTES + 1] = '\0';
	CU_ASSERT_FALSE(span_record_write(&one, 1, 2, &out));
	one.workflow_id = "\xc3";
	CU_ASSERT_FALSE(span_record_write(&one, 1, 2, &out));
	one = entry;
	one.entry_type = NULL;
	CU_ASSERT_FALSE(span_record_write(&one, 1, 2, &out));
}

static CU_TestInfo tests[] = {
	{ "written and read", written_and_read },
	{ "no room", no_room },
	{ "no records", no_records },
	{ "texts", texts },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "span_record", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("span_record", suites);
}
