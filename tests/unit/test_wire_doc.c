/* docs/observer-protocol.md says of each member of a message where it lies, and of each type its number. */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>

#include "core/fd.h"
#include "observers/table.h"
#include "observers/wire.h"
#include "tests/unit/test.h"

#define PAGE "docs/observer-protocol.md"
#define PAGE_BYTES (256 * KIB)

struct member {
	const char *name;
	size_t at, size;
};
#define MEMBER(owner, field)                                                                                           \
	{                                                                                                              \
		.name = #field, .at = offsetof(struct owner, field), .size = sizeof(((struct owner *)0)->field)        \
	}

static const struct member header[], message[], record[];

static bool read_page(struct buf *out)
{
	struct error *err = NULL;
	int status = fd_read_file(AT_FDCWD, PAGE, PAGE_BYTES, out, &err);

	return test_no_error(&err) && status == 0;
}

/* The table behind `text`, from there to the next empty line that follows its rows. */
static const char *table_behind(const char *page, const char *text, const char **end)
{
	const char *start = strstr(page, text);

	start = start ? strstr(start, "\n| 0 |") : NULL;
	*end = start ? strstr(start, "\n\n") : NULL;
	return *end ? start : NULL;
}

static bool has_row(const char *start, const char *end, const struct member *member)
{
	char row[80];
	const char *at;

	snprintf(row, sizeof(row), "\n| %zu | %zu | `%s` |", member->at, member->size, member->name);
	at = strstr(start, row);
	if (at && at < end)
		return true;
	fprintf(stderr, "no row:%s\n", row);
	return false;
}

static void check_table(const char *text, const struct member *members, size_t length)
{
	cleanup_buf struct buf page = BUF(PAGE_BYTES);
	const char *start, *end;
	size_t rows = 0, wanted = 0, covered = 0;

	CU_ASSERT_TRUE(read_page(&page));
	start = table_behind(buf_string(&page), text, &end);
	CU_ASSERT_PTR_NOT_NULL(start);
	if (!start)
		return;
	for (const char *at = start; at && at < end; at = strstr(at + 1, "\n| "))
		rows++;
	for (const struct member *member = header; member->name; member++, wanted++)
		CU_ASSERT_TRUE(has_row(start, end, member));
	for (const struct member *member = members; member->name; member++, wanted++) {
		CU_ASSERT_TRUE(has_row(start, end, member));
		covered = member->at + member->size;
	}
	CU_ASSERT_EQUAL(rows, wanted);
	CU_ASSERT_EQUAL(covered, length);
}

static void messages(void)
{
	check_table("A message has 144 bytes", message, sizeof(struct wire_message));
	CU_ASSERT_EQUAL(sizeof(struct wire_message), 144);
}

static void records(void)
{
	check_table("A `RECORD` has 184 bytes", record, sizeof(struct wire_record));
	CU_ASSERT_EQUAL(sizeof(struct wire_record), 184);
}

static void types(void)
{
	static const struct {
		enum wire_type type;
		const char *name;
	} rows[] = {
		{ WIRE_EXPECT, "EXPECT" }, { WIRE_BEGIN, "BEGIN" },   { WIRE_INPUT, "INPUT" },
		{ WIRE_LOSS, "LOSS" },     { WIRE_REPORT, "REPORT" }, { WIRE_STOP, "STOP" },
		{ WIRE_POLICY, "POLICY" }, { WIRE_BOUND, "BOUND" },   { WIRE_READY, "READY" },
		{ WIRE_SEEN, "SEEN" },     { WIRE_HIT, "HIT" },       { WIRE_RECORD, "RECORD" },
		{ WIRE_END, "END" },       { WIRE_BLIND, "BLIND" },   { WIRE_REVISION, "REVISION" },
	};
	cleanup_buf struct buf page = BUF(PAGE_BYTES);

	CU_ASSERT_TRUE(read_page(&page));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char row[64];

		snprintf(row, sizeof(row), "\n| %d | %s |", (int)rows[i].type, rows[i].name);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&page), row));
	}
}

static void inputs(void)
{
	cleanup_buf struct buf page = BUF(PAGE_BYTES);
	const char *start;

	CU_ASSERT_TRUE(read_page(&page));
	start = strstr(buf_string(&page), "## Programs that a declaration brings");
	CU_ASSERT_PTR_NOT_NULL(start);
	for (const char *const *input = observer_inputs; start && *input; input++) {
		char word[NAME_MAX_SHORT + 2];

		snprintf(word, sizeof(word), "`%s`", *input);
		CU_ASSERT_PTR_NOT_NULL(strstr(start, word));
	}
}

static CU_TestInfo tests[] = {
	{ "where each member of a message lies", messages },
	{ "where each member of a record lies", records },
	{ "the number of each type", types },
	{ "each input of a declared program", inputs },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "page", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("wire_doc", suites);
}

static const struct member header[] = {
	MEMBER(wire_header, version),
	MEMBER(wire_header, type),
	MEMBER(wire_header, length),
	{ .name = NULL },
};

static const struct member message[] = {
	MEMBER(wire_message, subject),
	MEMBER(wire_message, text),
	MEMBER(wire_message, canary),
	MEMBER(wire_message, marker),
	MEMBER(wire_message, phase),
	MEMBER(wire_message, reason),
	MEMBER(wire_message, port),
	MEMBER(wire_message, known_hits),
	MEMBER(wire_message, known_misses),
	MEMBER(wire_message, time),
	{ .name = NULL },
};

static const struct member record[] = {
	MEMBER(wire_record, observer),    MEMBER(wire_record, subject),       MEMBER(wire_record, kind),
	MEMBER(wire_record, status),      MEMBER(wire_record, reason),        MEMBER(wire_record, phase),
	MEMBER(wire_record, unit),        MEMBER(wire_record, value),         MEMBER(wire_record, attempts),
	MEMBER(wire_record, connections), MEMBER(wire_record, bytes),         MEMBER(wire_record, hits),
	MEMBER(wire_record, dropped),     MEMBER(wire_record, beacon_before), MEMBER(wire_record, beacon_after),
	MEMBER(wire_record, start),       MEMBER(wire_record, duration),      { .name = NULL },
};
