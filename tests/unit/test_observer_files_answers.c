/* The files observer as a process, over archives and lists of changes as an engine answers them. */
#include "tests/unit/files_world.h"

static void build_content(struct buf *out, const struct canary *canary)
{
	add_member(out, "/a", '0', "", canary->text, CANARY_LENGTH);
	add_member(out, "/b", '0', "", canary->text, CANARY_LENGTH);
}

static void build_name(struct buf *out, const struct canary *canary)
{
	add_member(out, canary->text, '5', "", "", 0);
}

static void build_link(struct buf *out, const struct canary *canary)
{
	add_member(out, "/link", '2', canary->text, "", 0);
}

static void build_nodes(struct buf *out, const struct canary *canary)
{
	char name[64];

	snprintf(name, sizeof(name), "/fifo-%s", canary->text);
	add_member(out, name, '6', "", "", 0);
	snprintf(name, sizeof(name), "/null-%s", canary->text);
	add_member(out, name, '3', "", "", 0);
}

/* An extended attribute, in the extended header of its file. */
static void build_attribute(struct buf *out, const struct canary *canary)
{
	static const char key[] = " SCHILY.xattr.user.leak=";
	size_t length = 2 + strlen(key) + CANARY_LENGTH + 1;
	char record[128];

	CU_ASSERT_EQUAL(snprintf(record, sizeof(record), "%zu%s%s\n", length, key, canary->text), (int)length);
	add_member(out, "/PaxHeaders/marked", 'x', "", record, length);
	add_member(out, "/marked", '0', "", "", 0);
}

/* In a field that the listing does not show: the raw bytes have it. */
static void build_owner(struct buf *out, const struct canary *canary)
{
	size_t at = out->length;
	unsigned sum = 0;

	add_member(out, "/owned", '0', "", "", 0);
	memcpy(out->data + at + 265, canary->text, CANARY_LENGTH);
	memset(out->data + at + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)out->data[at + i];
	put_octal(out->data + at + 148, 7, sum);
}

static void build_large(struct buf *out, const struct canary *canary)
{
	cleanup_free char *content = calloc(1, MIB);

	memcpy(content + MIB - CANARY_LENGTH, canary->text, CANARY_LENGTH);
	memcpy(content + 64 * KIB - 5, canary->text, CANARY_LENGTH);
	add_member(out, "/large", '0', "", content, MIB);
}

static void test_archive_members(void)
{
	static const struct {
		void (*build)(struct buf *out, const struct canary *canary);
		int64_t value, hits;
	} rows[] = {
		{ .build = build_content, .value = 2, .hits = 2 },   { .build = build_name, .value = 1, .hits = 1 },
		{ .build = build_link, .value = 1, .hits = 1 },      { .build = build_owner, .value = 1, .hits = 1 },
		{ .build = build_large, .value = 1, .hits = 2 },     { .build = build_nodes, .value = 2, .hits = 2 },
		{ .build = build_attribute, .value = 1, .hits = 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		WORLD(world);
		cleanup_observing struct observing observing = { .process = NULL };
		cleanup_buf struct buf archive = BUF(ARCHIVE_BYTES);

		world_open(&world);
		rows[i].build(&archive, &world.canary);
		add_marker(&archive);
		end_archive(&archive);
		if (!watching_start(&observing, "files", -1, world.subjects, 2))
			return;
		watching_pour(&observing, "archive", archive.data, archive.length, false);
		watching_report(&observing, WIRE_AFTER);
		check(&observing, "files-archive", "file", rows[i].value, WIRE_REASON_NONE, 1);
		CU_ASSERT_EQUAL(observing_record(&observing, "files-archive", "file")->hits, rows[i].hits);
	}
}

/* An archive that was cut, anywhere, or that is none. */
static void test_archive_faults(void)
{
	static const struct {
		size_t cut; /* bytes taken off the end */
		size_t change; /* offset of a byte that is changed; 0: none */
		const char *text;
		enum wire_reason reason;
	} rows[] = {
		{ .cut = 512, .reason = WIRE_REASON_TRUNCATED },
		{ .cut = 1024, .reason = WIRE_REASON_TRUNCATED },
		{ .cut = 1, .reason = WIRE_REASON_TRUNCATED },
		{ .cut = 1024 + 512, .reason = WIRE_REASON_TRUNCATED },
		{ .change = 1, .reason = WIRE_REASON_INPUT_INVALID },
		{ .text = "", .reason = WIRE_REASON_TRUNCATED },
		{ .text = "{\"message\":\"No such container\"}", .reason = WIRE_REASON_TRUNCATED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		WORLD(world);
		cleanup_observing struct observing observing = { .process = NULL };
		cleanup_buf struct buf archive = BUF(ARCHIVE_BYTES);

		world_open(&world);
		add_marker(&archive);
		end_archive(&archive);
		if (rows[i].change)
			archive.data[rows[i].change] ^= 1;
		if (!watching_start(&observing, "files", -1, world.subjects, 2))
			return;
		if (rows[i].text)
			watching_text(&observing, "archive", rows[i].text);
		else
			watching_pour(&observing, "archive", archive.data, archive.length - rows[i].cut, false);
		watching_report(&observing, WIRE_AFTER);
		check(&observing, "files-archive", "file", 0, rows[i].reason, 0);
	}
}

static void test_changes(void)
{
	static const struct {
		const char *changes, *control;
		int64_t value, beacons;
		enum wire_reason reason;
	} rows[] = {
		{ .changes = "null", .control = "null", .beacons = 0 },
		{ .changes = "[]", .control = "[1,2]", .beacons = 2 },
		{ .changes = "[1]", .control = NULL, .value = 1 },
		{ .changes = NULL, .control = "[1]", .beacons = 1, .reason = WIRE_REASON_INPUT_MISSING },
		{ .changes = "{\"message\":\"x\"}",
		  .control = "[1]",
		  .beacons = 1,
		  .reason = WIRE_REASON_INPUT_INVALID },
		{ .changes = "[1", .control = "[1]", .beacons = 1, .reason = WIRE_REASON_INPUT_INVALID },
		{ .changes = "", .control = "[1]", .beacons = 1, .reason = WIRE_REASON_INPUT_INVALID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		WORLD(world);
		cleanup_observing struct observing observing = { .process = NULL };

		world_open(&world);
		if (!watching_start(&observing, "files", -1, world.subjects, 2))
			return;
		if (rows[i].changes)
			watching_text(&observing, "changes", rows[i].changes);
		if (rows[i].control)
			watching_text(&observing, "control-changes", rows[i].control);
		watching_report(&observing, WIRE_AFTER);
		check(&observing, "files-changes", "file", rows[i].value, rows[i].reason, rows[i].beacons);
	}
}

/* A path bears a canary or not; the control's paths are nobody's. */
static void test_changed_paths(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	char changes[512], control[128];

	world_open(&world);
	snprintf(changes, sizeof(changes),
		 "[{\"Path\":\"/export\",\"Kind\":0},{\"Path\":\"/export/%s\",\"Kind\":1},"
		 "{\"Path\":\"/export/\\u0063%s\",\"Kind\":1},{\"Path\":7},8]",
		 world.canary.text, world.canary.text + 1);
	snprintf(control, sizeof(control), "[{\"Path\":\"/export/%s\",\"Kind\":1}]", world.other.text);
	if (!watching_start(&observing, "files", -1, world.subjects, 2))
		return;
	watching_text(&observing, "changes", changes);
	watching_text(&observing, "control-changes", control);
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "files-changes", "file", 5, WIRE_REASON_NONE, 1);
	check(&observing, "files-changes", "stderr", 5, WIRE_REASON_NONE, 1);
	CU_ASSERT_EQUAL(observing_record(&observing, "files-changes", "file")->hits, 2);
	CU_ASSERT_EQUAL(observing_record(&observing, "files-changes", "stderr")->hits, 0);
}

static CU_TestInfo answer_tests[] = {
	{ "archive members", test_archive_members },
	{ "archive faults", test_archive_faults },
	{ "changes", test_changes },
	{ "paths of changes", test_changed_paths },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "answers", NULL, NULL, NULL, NULL, answer_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_files_answers", suites);
}
