/* The logs observer as a process, over bodies and folders made here; and its reader of multiplexed streams alone. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "observers/logs_frames.h"
#include "tests/unit/watching.h"

#define BODY_BYTES (4 * MIB)

/* ---- frames --------------------------------------------------------------------------------------------------------
 */

struct heard {
	char text[LOGS_STREAMS][256];
	size_t length[LOGS_STREAMS];
};

static void hear(void *context, unsigned stream, const void *bytes, size_t length)
{
	struct heard *heard = context;

	if (heard->length[stream] + length < sizeof(heard->text[stream]))
		memcpy(heard->text[stream] + heard->length[stream], bytes, length);
	heard->length[stream] += length;
}

/* Two streams in turn, an empty frame, cut into pieces of every size. */
static void test_pieces(void)
{
	static const char body[] =
		"\2\0\0\0\0\0\0\3abc\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\2xy\2\0\0\0\0\0\0\1d\0\0\0\0\0\0\0\1i";

	for (size_t size = 1; size < sizeof(body); size++) {
		struct logs_frames frames = { .have = 0 };
		struct heard heard = { .length = { 0 } };

		for (size_t at = 0; at < sizeof(body) - 1; at += size) {
			size_t left = sizeof(body) - 1 - at;

			logs_frames_feed(&frames, body + at, left < size ? left : size, hear, &heard);
		}
		CU_ASSERT(logs_frames_whole(&frames));
		CU_ASSERT_STRING_EQUAL(heard.text[0], "i");
		CU_ASSERT_STRING_EQUAL(heard.text[1], "xy");
		CU_ASSERT_STRING_EQUAL(heard.text[2], "abcd");
	}
}

static void test_frame_faults(void)
{
	static const struct {
		const char *body;
		size_t length;
		bool invalid;
	} rows[] = {
		{ .body = "\3\0\0\0\0\0\0\1a", .length = 9, .invalid = true },
		{ .body = "\1\1\0\0\0\0\0\1a", .length = 9, .invalid = true },
		{ .body = "\1\0\1\0\0\0\0\1a", .length = 9, .invalid = true },
		{ .body = "\1\0\0\1\0\0\0\1a", .length = 9, .invalid = true },
		{ .body = "{\"message\":\"x\"}", .length = 15, .invalid = true },
		{ .body = "\1\0\0\0\0\0\0\2a", .length = 9, .invalid = false },
		{ .body = "\1\0\0\0", .length = 4, .invalid = false },
		{ .body = "\1\0\0\0\377\377\377\377a", .length = 9, .invalid = false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct logs_frames frames = { .have = 0 };
		struct heard heard = { .length = { 0 } };

		logs_frames_feed(&frames, rows[i].body, rows[i].length, hear, &heard);
		CU_ASSERT_FALSE(logs_frames_whole(&frames));
		CU_ASSERT_EQUAL(frames.invalid, rows[i].invalid);
		if (frames.invalid)
			CU_ASSERT_EQUAL(heard.length[1], 0);
	}
}

/* ---- the program ---------------------------------------------------------------------------------------------------
 */

enum { SUBJECT, CONTROL, SUBJECTS };

struct world {
	struct canary canaries[SUBJECTS];
	struct observer_subject subjects[SUBJECTS];
	char folder[64];
	int disk, control;
};

static void world_open(struct world *world)
{
	struct error *err = NULL;
	cleanup_fd int root = -1;

	snprintf(world->folder, sizeof(world->folder), "/tmp/harness-test-logs-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(world->folder));
	root = open(world->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(mkdirat(root, "disk", 0700), 0);
	CU_ASSERT_EQUAL(mkdirat(root, "control", 0700), 0);
	world->disk = openat(root, "disk", O_PATH | O_DIRECTORY | O_CLOEXEC);
	world->control = openat(root, "control", O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < SUBJECTS; i++)
		watching_canary(&world->canaries[i]);
	world->subjects[SUBJECT] =
		(struct observer_subject){ .subject = "stderr", .canary = &world->canaries[SUBJECT] };
	world->subjects[CONTROL] =
		(struct observer_subject){ .subject = "control", .canary = &world->canaries[CONTROL], .marker = true };
	CU_ASSERT(test_no_error(&err));
}

static void world_close(struct world *world)
{
	struct error *err = NULL;

	fd_close(&world->disk);
	fd_close(&world->control);
	if (world->folder[0])
		CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, world->folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define WORLD(name) __attribute__((cleanup(world_close))) struct world name = { .disk = -1, .control = -1 }

static void put_bytes(int folder, const char *path, const void *bytes, size_t length)
{
	cleanup_fd int fd = openat(folder, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	CU_ASSERT_EQUAL(write(fd, bytes, length), (ssize_t)length);
}

static void put_text(int folder, const char *path, const char *text)
{
	put_bytes(folder, path, text, strlen(text));
}

static void add_frame(struct buf *body, char stream, const char *bytes, size_t length)
{
	const char header[] = { stream,      0, 0, 0, (char)(length >> 24), (char)(length >> 16), (char)(length >> 8),
				(char)length };

	CU_ASSERT_EQUAL(buf_add(body, header, sizeof(header)), 0);
	CU_ASSERT_EQUAL(buf_add(body, bytes, length), 0);
}

/* A line of the json-file driver. */
static void put_entry(int folder, const char *before, const char *text, const char *after, const char *stream)
{
	cleanup_buf struct buf line = BUF(BODY_BYTES);

	CU_ASSERT_EQUAL(buf_printf(&line, "{\"log\":\"%s%s%s\",\"stream\":\"%s\",\"time\":\"2026-01-01T00:00:00Z\"}\n",
				   before, text, after, stream),
			0);
	put_bytes(folder, "id-json.log", line.data, line.length);
}

/* What an arm gives of the control container: its marker by both ways, and the container's own file on disk. */
static void give_control(struct observing *observing, const struct world *world)
{
	cleanup_buf struct buf body = BUF(BODY_BYTES);

	add_frame(&body, 2, world->canaries[CONTROL].text, CANARY_LENGTH);
	add_frame(&body, 2, "\n", 1);
	put_entry(world->control, "", world->canaries[CONTROL].text, "\\n", "stderr");
	put_text(world->disk, "config.v2.json", "{}");
	watching_pour(observing, "control-api", body.data, body.length, false);
	watching_give(observing, "control-disk", world->control);
	watching_give(observing, "disk", world->disk);
}

static void check(const struct observing *observing, const char *observer, int64_t value, int64_t hits,
		  enum wire_reason reason, int64_t beacons)
{
	const struct wire_record *record = observing_record(observing, observer, "stderr");

	if (record->value != value || record->reason != (uint32_t)reason)
		fprintf(stderr, "%s: value %lld, reason %u\n", observer, (long long)record->value, record->reason);
	CU_ASSERT_EQUAL(record->value, value);
	CU_ASSERT_EQUAL(record->hits, hits);
	CU_ASSERT_EQUAL(record->reason, reason);
	CU_ASSERT_EQUAL(record->status, reason == WIRE_REASON_NONE ? WIRE_OBSERVED : WIRE_NOT_OBSERVABLE);
	CU_ASSERT_EQUAL(record->beacon_before, beacons);
	CU_ASSERT_EQUAL(record->beacon_after, beacons);
}

static void test_none(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };

	world_open(&world);
	if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
		return;
	give_control(&observing, &world);
	watching_text(&observing, "api-status", "501");
	watching_text(&observing, "api", "{\"message\":\"configured logging driver does not support reading\"}");
	watching_report(&observing, WIRE_BEFORE);
	CU_ASSERT_EQUAL(observing.count, 0);
	watching_report(&observing, WIRE_AFTER);
	CU_ASSERT_EQUAL(observing.count, 2);
	check(&observing, "logs-api", 0, 0, WIRE_REASON_NONE, 1);
	check(&observing, "logs-disk", 0, 0, WIRE_REASON_NONE, 1);
}

/* Three tries are three lines, whatever frames and messages they were cut into. */
static void test_leak(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_buf struct buf body = BUF(BODY_BYTES);
	const char *canary = world.canaries[SUBJECT].text;

	world_open(&world);
	add_frame(&body, 2, canary, 10);
	add_frame(&body, 1, "between\n", 8);
	add_frame(&body, 2, canary + 10, CANARY_LENGTH - 10);
	add_frame(&body, 2, "\n", 1);
	add_frame(&body, 2, canary, CANARY_LENGTH);
	add_frame(&body, 2, " twice ", 7);
	add_frame(&body, 2, canary, CANARY_LENGTH);
	add_frame(&body, 2, "\nno line feed ", 14);
	add_frame(&body, 2, canary, CANARY_LENGTH);
	put_entry(world.disk, "first ", canary, "\\n", "stderr");
	put_entry(world.disk, "cut over two messages ", "", "canary-", "stderr");
	put_entry(world.disk, "other stream", "", "\\n", "stdout");
	put_entry(world.disk, "", canary + 7, "\\n", "stderr");
	put_entry(world.disk, "escaped \\u0063", canary + 1, "\\n", "stderr");
	if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
		return;
	give_control(&observing, &world);
	watching_text(&observing, "api-status", "200\n");
	watching_pour(&observing, "api", body.data, body.length, false);
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "logs-api", 3, 4, WIRE_REASON_NONE, 1);
	check(&observing, "logs-disk", 3, 3, WIRE_REASON_NONE, 1);
}

/* A canary that is cut over two streams is none. */
static void test_streams_apart(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_buf struct buf body = BUF(BODY_BYTES);
	const char *canary = world.canaries[SUBJECT].text;

	world_open(&world);
	add_frame(&body, 2, canary, 10);
	add_frame(&body, 1, canary + 10, CANARY_LENGTH - 10);
	put_entry(world.disk, "", "canary-", "", "stderr");
	put_entry(world.disk, "", canary + 7, "", "stdout");
	if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
		return;
	give_control(&observing, &world);
	watching_text(&observing, "api-status", "200");
	watching_pour(&observing, "api", body.data, body.length, false);
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "logs-api", 0, 0, WIRE_REASON_NONE, 1);
	check(&observing, "logs-disk", 0, 0, WIRE_REASON_NONE, 1);
}

/* Other drivers keep other files, and some lines are not what they should be. */
static void test_other_files(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	const char *canary = world.canaries[SUBJECT].text;
	char line[128];

	world_open(&world);
	CU_ASSERT_EQUAL(mkdirat(world.disk, "local-logs", 0700), 0);
	put_text(world.disk, "local-logs/container.log", canary);
	put_text(world.disk, "container-cached.log", canary);
	put_text(world.disk, "container-cached.log", canary);
	put_text(world.disk, "id-json.log.1", "{\"log\":\"");
	put_text(world.disk, "id-json.log.1", canary);
	snprintf(line, sizeof(line), "not JSON %s\n", canary);
	put_text(world.disk, "id-json.log", line);
	snprintf(line, sizeof(line), "{\"attrs\":\"%s\",\"log\":1}\n", canary);
	put_text(world.disk, "id-json.log", line);
	if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
		return;
	give_control(&observing, &world);
	watching_text(&observing, "api-status", "501");
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "logs-disk", 5, 6, WIRE_REASON_NONE, 1);
}

static void test_long_line(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };
	cleanup_free char *filler = calloc(1, MIB + 1);

	world_open(&world);
	memset(filler, 'x', MIB);
	put_entry(world.disk, filler, world.canaries[SUBJECT].text, "\\n", "stderr");
	put_entry(world.disk, "", world.canaries[SUBJECT].text, "\\n", "stderr");
	if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
		return;
	give_control(&observing, &world);
	watching_text(&observing, "api-status", "501");
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "logs-disk", 2, 2, WIRE_REASON_LIMIT, 1);
}

static void test_answers(void)
{
	static const struct {
		const char *status, *body;
		size_t length;
		enum wire_reason reason;
	} rows[] = {
		{ .status = "501", .body = NULL, .reason = WIRE_REASON_NONE },
		{ .status = "500", .body = "{\"message\":\"does not support reading\"}", .length = 38 },
		{ .status = "500",
		  .body = "{\"message\":\"other\"}",
		  .length = 19,
		  .reason = WIRE_REASON_INPUT_INVALID },
		{ .status = "500", .body = NULL, .reason = WIRE_REASON_INPUT_INVALID },
		{ .status = "404", .body = "", .reason = WIRE_REASON_INPUT_INVALID },
		{ .status = "5010", .body = "", .reason = WIRE_REASON_INPUT_INVALID },
		{ .status = "", .body = "", .reason = WIRE_REASON_INPUT_INVALID },
		{ .status = NULL, .body = "", .reason = WIRE_REASON_INPUT_MISSING },
		{ .status = "200", .body = NULL, .reason = WIRE_REASON_INPUT_MISSING },
		{ .status = "200", .body = "", .reason = WIRE_REASON_NONE },
		{ .status = "200", .body = "\1\0\0\0\0\0\0\2a", .length = 9, .reason = WIRE_REASON_TRUNCATED },
		{ .status = "200", .body = "plain text", .length = 10, .reason = WIRE_REASON_INPUT_INVALID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		WORLD(world);
		cleanup_observing struct observing observing = { .process = NULL };

		world_open(&world);
		if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
			return;
		give_control(&observing, &world);
		if (rows[i].status)
			watching_text(&observing, "api-status", rows[i].status);
		if (rows[i].body)
			watching_pour(&observing, "api", rows[i].body, rows[i].length, false);
		watching_report(&observing, WIRE_AFTER);
		check(&observing, "logs-api", 0, 0, rows[i].reason, 1);
	}
}

/* Without a control, or without the engine's own file, a zero proves nothing. */
static void test_unproved(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };

	world_open(&world);
	put_entry(world.control, "", world.canaries[CONTROL].text, "\\n", "stderr");
	if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
		return;
	watching_text(&observing, "api-status", "501");
	watching_text(&observing, "control-api", "");
	watching_give(&observing, "control-disk", world.control);
	watching_give(&observing, "disk", world.disk);
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "logs-api", 0, 0, WIRE_REASON_NONE, 0);
	check(&observing, "logs-disk", 0, 0, WIRE_REASON_NONE, 0);
}

static void test_missing(void)
{
	WORLD(world);
	cleanup_observing struct observing observing = { .process = NULL };

	world_open(&world);
	if (!watching_start(&observing, "logs", -1, world.subjects, SUBJECTS))
		return;
	watching_report(&observing, WIRE_AFTER);
	check(&observing, "logs-api", 0, 0, WIRE_REASON_INPUT_MISSING, 0);
	check(&observing, "logs-disk", 0, 0, WIRE_REASON_INPUT_MISSING, 0);
}

static CU_TestInfo frames_tests[] = {
	{ "pieces of every size", test_pieces },
	{ "faults", test_frame_faults },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo logs_tests[] = {
	{ "no log", test_none },
	{ "leak", test_leak },
	{ "streams apart", test_streams_apart },
	{ "other files", test_other_files },
	{ "a line beyond the buffer", test_long_line },
	{ "answers", test_answers },
	{ "unproved", test_unproved },
	{ "inputs missing", test_missing },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "frames", NULL, NULL, NULL, NULL, frames_tests },
	{ "logs", NULL, NULL, NULL, NULL, logs_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_logs", suites);
}
