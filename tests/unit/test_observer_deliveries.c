/* observer-deliveries, the real program, on real files. */
#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "observers/decision_row.h"
#include "tests/unit/observing.h"

/* The two files as their writers hold them. */
struct sinks {
	struct observing observing;
	int recorder, decisions;
	uint64_t sequence;
	struct canary permitted, public;
};

static int temporary_file(void)
{
	char path[] = "/tmp/harness-deliveries-XXXXXX";
	int fd = mkostemp(path, O_APPEND | O_CLOEXEC);

	if (fd >= 0)
		unlink(path);
	return fd;
}

static bool give(struct sinks *sinks, const char *input, int fd)
{
	char path[32];
	cleanup_fd int reader = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	return reader >= 0 && observing_give(&sinks->observing, input, reader);
}

static bool begin(struct sinks *sinks)
{
	sinks->recorder = temporary_file();
	sinks->decisions = temporary_file();
	return observing_start(&sinks->observing, "deliveries", NULL) &&
	       observing_expect(&sinks->observing, "permitted", "permitted.tool", &sinks->permitted) &&
	       observing_expect(&sinks->observing, "public", "public.tool", &sinks->public) &&
	       observing_expect(&sinks->observing, "denied", "public.tool", NULL) && observing_ready(&sinks->observing);
}

static bool start(struct sinks *sinks)
{
	return begin(sinks) && give(sinks, "recorder", sinks->recorder) && give(sinks, "decisions", sinks->decisions);
}

static void end(struct sinks *sinks)
{
	observing_end(&sinks->observing);
	fd_close(&sinks->recorder);
	fd_close(&sinks->decisions);
}
#define cleanup_sinks __attribute__((cleanup(end)))
#define SINKS                                                                                                          \
	{                                                                                                              \
		.recorder = -1, .decisions = -1                                                                        \
	}

static bool append(int fd, const void *bytes, size_t length)
{
	return write(fd, bytes, length) == (ssize_t)length;
}

static bool deliver(const struct sinks *sinks, const char *tool, const char *text)
{
	char line[512];
	int length = snprintf(line, sizeof(line), "{\"tool\":\"%s\",\"arguments\":{\"text\":\"%s\"}}\n", tool, text);

	return append(sinks->recorder, line, (size_t)length);
}

static void make_row(uint64_t sequence, const char *tool, uint32_t decision, char row[DECISION_ROW_BYTES])
{
	const uint64_t number = htobe64(sequence), now = htobe64((uint64_t)clock_now());
	const uint32_t outcome = htobe32(decision), rule = htobe32(7);

	memset(row, 0, DECISION_ROW_BYTES);
	memcpy(row, "HDR1", 4);
	memcpy(row + 4, &number, sizeof(number));
	memcpy(row + 12, tool, strlen(tool));
	memcpy(row + 44, &outcome, sizeof(outcome));
	memcpy(row + 48, &rule, sizeof(rule));
	memcpy(row + 52, &now, sizeof(now));
	memcpy(row + 60, "\r\n\r\n", 4);
}

static bool decide(struct sinks *sinks, const char *tool, uint32_t decision)
{
	char row[DECISION_ROW_BYTES];

	make_row(++sinks->sequence, tool, decision, row);
	return append(sinks->decisions, row, sizeof(row));
}

/* The operator's call through the whole path. */
static bool mark(struct sinks *sinks, enum wire_phase phase)
{
	const struct canary *marker = phase == WIRE_AFTER ? &sinks->observing.after : &sinks->observing.before;

	return decide(sinks, "beacon.tool", DECISION_ALLOW) && deliver(sinks, "beacon.tool", marker->text) &&
	       observing_seen(&sinks->observing, "deliveries", phase) &&
	       observing_seen(&sinks->observing, "decisions", phase);
}

static const struct wire_record *record(const struct sinks *sinks, const char *observer, const char *subject)
{
	return observing_record(&sinks->observing, observer, subject);
}

static void counts_both_files(void)
{
	cleanup_sinks struct sinks sinks = SINKS;

	CU_ASSERT_TRUE(start(&sinks));
	CU_ASSERT_TRUE(mark(&sinks, WIRE_BEFORE));
	CU_ASSERT_FALSE(observer_seen(sinks.observing.process, NULL, WIRE_AFTER));
	CU_ASSERT_TRUE(decide(&sinks, "permitted.tool", DECISION_ALLOW));
	CU_ASSERT_TRUE(deliver(&sinks, "permitted.tool", sinks.permitted.text));
	CU_ASSERT_TRUE(observing_hit(&sinks.observing, "permitted"));
	CU_ASSERT_TRUE(decide(&sinks, "public.tool", DECISION_DENY));
	CU_ASSERT_TRUE(decide(&sinks, "public.tool", DECISION_FAULT));
	CU_ASSERT_TRUE(decide(&sinks, "permitted.tool", DECISION_DENY));
	CU_ASSERT_TRUE(mark(&sinks, WIRE_AFTER));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(sinks.observing.count, 6);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "peer-acted")->value, 0);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->value, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->hits, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->connections, 1);
	CU_ASSERT_TRUE(record(&sinks, "deliveries", "permitted")->bytes > CANARY_LENGTH);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->beacon_after, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->value, 0);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->connections, 0);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "permitted")->value, 1);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "permitted")->connections, 2);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "public")->value, 0);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->value, 1);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->connections, 2);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->beacon_after, 1);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->status, WIRE_OBSERVED);
}

/* They are no calls; but what they bear is found. */
static void notes_of_a_peer(void)
{
	cleanup_sinks struct sinks sinks = SINKS;

	CU_ASSERT_TRUE(start(&sinks));
	CU_ASSERT_TRUE(deliver(&sinks, "peer.acted", "nothing"));
	CU_ASSERT_TRUE(deliver(&sinks, "permitted.tool", "nothing"));
	CU_ASSERT_TRUE(deliver(&sinks, "peer.acted", sinks.public.text));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "peer-acted")->value, 2);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "peer-acted")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->connections, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->value, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->connections, 0);
}

static void leak_to_public(void)
{
	cleanup_sinks struct sinks sinks = SINKS;

	CU_ASSERT_TRUE(start(&sinks));
	CU_ASSERT_TRUE(decide(&sinks, "public.tool", DECISION_ALLOW));
	CU_ASSERT_TRUE(deliver(&sinks, "public.tool", sinks.public.text));
	CU_ASSERT_TRUE(deliver(&sinks, "public.tool", "nothing"));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->value, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->connections, 2);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "public")->value, 1);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->value, 0);
}

/* A letter as an escape, and the canary as a key: the decoded line bears it. */
static void escaped_canary(void)
{
	cleanup_sinks struct sinks sinks = SINKS;
	char text[CANARY_LENGTH + 8], line[256];
	int length;

	CU_ASSERT_TRUE(start(&sinks));
	snprintf(text, sizeof(text), "\\u0063%s", sinks.public.text + 1);
	CU_ASSERT_TRUE(deliver(&sinks, "public.tool", text));
	length = snprintf(line, sizeof(line), "{\"tool\":\"public.tool\",\"arguments\":{\"a\":[{\"%s\":1}]}}\n", text);
	CU_ASSERT_TRUE(append(sinks.recorder, line, (size_t)length));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->value, 2);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->hits, 2);
}

/* A line that comes in pieces is one record, counted when it is whole. */
static void line_in_pieces(void)
{
	cleanup_sinks struct sinks sinks = SINKS;
	char line[256];
	size_t length, half;

	CU_ASSERT_TRUE(start(&sinks));
	length = (size_t)snprintf(line, sizeof(line), "{\"tool\":\"permitted.tool\",\"arguments\":{\"text\":\"%s\"}}\n",
				  sinks.permitted.text);
	half = length - CANARY_LENGTH / 2;
	CU_ASSERT_TRUE(append(sinks.recorder, line, half));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->value, 0);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->reason, WIRE_REASON_NONE);
	CU_ASSERT_TRUE(append(sinks.recorder, line + half, length - half));
	CU_ASSERT_TRUE(observing_hit(&sinks.observing, "permitted"));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->value, 1);
}

/* What was written before the input was given is read as well. */
static void starts_from_the_first_byte(void)
{
	cleanup_sinks struct sinks sinks = SINKS;

	CU_ASSERT_TRUE(begin(&sinks));
	CU_ASSERT_TRUE(deliver(&sinks, "permitted.tool", sinks.permitted.text));
	CU_ASSERT_TRUE(give(&sinks, "recorder", sinks.recorder));
	CU_ASSERT_TRUE(observing_hit(&sinks.observing, "permitted"));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->value, 1);
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "permitted")->reason, WIRE_REASON_NONE);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "permitted")->reason, WIRE_REASON_INPUT_MISSING);
}

/* ---- files that are no evidence --------------------------------------------------------------- */

static bool shrink(struct sinks *sinks)
{
	return ftruncate(sinks->recorder, 10) == 0;
}

/* Bytes that were read already are others now: the length alone does not show it. */
static bool rewrite(struct sinks *sinks)
{
	char path[32];
	cleanup_fd int writer = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", sinks->recorder);
	writer = open(path, O_WRONLY | O_CLOEXEC);
	return pwrite(writer, "X", 1, 0) == 1 && deliver(sinks, "permitted.tool", "something else");
}

static bool leave_half_a_line(struct sinks *sinks)
{
	return append(sinks->recorder, "{\"tool\":", 8);
}

static bool write_no_json(struct sinks *sinks)
{
	return append(sinks->recorder, "no JSON\n", 8);
}

static bool write_no_tool(struct sinks *sinks)
{
	return append(sinks->recorder, "{\"arguments\":{}}\n", 17);
}

static bool write_long_line(struct sinks *sinks)
{
	cleanup_free char *line = malloc(MCP_LINE_BYTES + KIB);

	memset(line, 'a', MCP_LINE_BYTES + KIB);
	return append(sinks->recorder, line, MCP_LINE_BYTES + KIB);
}

static bool shrink_decisions(struct sinks *sinks)
{
	return ftruncate(sinks->decisions, 0) == 0;
}

static bool leave_half_a_row(struct sinks *sinks)
{
	return append(sinks->decisions, "HDR1", 4);
}

static bool skip_a_row(struct sinks *sinks)
{
	sinks->sequence++;
	return decide(sinks, "public.tool", DECISION_DENY);
}

static bool repeat_a_row(struct sinks *sinks)
{
	sinks->sequence--;
	return decide(sinks, "public.tool", DECISION_DENY);
}

static bool write_broken_row(struct sinks *sinks)
{
	char row[DECISION_ROW_BYTES];

	make_row(++sinks->sequence, "public.tool", DECISION_DENY, row);
	row[DECISION_ROW_BYTES - 1] = '\r';
	return append(sinks->decisions, row, sizeof(row));
}

static const struct {
	const char *name;
	bool (*spoil)(struct sinks *sinks);
	const char *observer, *other;
	enum wire_reason reason;
} spoilers[] = {
	{ "shrunk", shrink, "deliveries", "decisions", WIRE_REASON_TRUNCATED },
	{ "written over", rewrite, "deliveries", "decisions", WIRE_REASON_TRUNCATED },
	{ "half a line", leave_half_a_line, "deliveries", "decisions", WIRE_REASON_TRUNCATED },
	{ "no JSON", write_no_json, "deliveries", "decisions", WIRE_REASON_INPUT_INVALID },
	{ "no tool", write_no_tool, "deliveries", "decisions", WIRE_REASON_INPUT_INVALID },
	{ "a line without end", write_long_line, "deliveries", "decisions", WIRE_REASON_LIMIT },
	{ "shrunk rows", shrink_decisions, "decisions", "deliveries", WIRE_REASON_TRUNCATED },
	{ "half a row", leave_half_a_row, "decisions", "deliveries", WIRE_REASON_TRUNCATED },
	{ "a gap", skip_a_row, "decisions", "deliveries", WIRE_REASON_INPUT_INVALID },
	{ "a number twice", repeat_a_row, "decisions", "deliveries", WIRE_REASON_INPUT_INVALID },
	{ "a broken row", write_broken_row, "decisions", "deliveries", WIRE_REASON_INPUT_INVALID },
};

/* Only the view of the spoilt file goes blind. */
static void spoilt_files(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(spoilers); i++) {
		cleanup_sinks struct sinks sinks = SINKS;

		CU_ASSERT_TRUE(start(&sinks));
		CU_ASSERT_TRUE(mark(&sinks, WIRE_BEFORE));
		CU_ASSERT_TRUE(spoilers[i].spoil(&sinks));
		CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
		if (record(&sinks, spoilers[i].observer, "permitted")->reason != spoilers[i].reason)
			fprintf(stderr, "row: %s\n", spoilers[i].name);
		CU_ASSERT_EQUAL(record(&sinks, spoilers[i].observer, "permitted")->reason, spoilers[i].reason);
		CU_ASSERT_EQUAL(record(&sinks, spoilers[i].observer, "permitted")->status, WIRE_NOT_OBSERVABLE);
		CU_ASSERT_TRUE(observer_blinded(sinks.observing.process, spoilers[i].observer, NULL));
		CU_ASSERT_EQUAL(record(&sinks, spoilers[i].other, "permitted")->status, WIRE_OBSERVED);
		CU_ASSERT_FALSE(observer_blinded(sinks.observing.process, spoilers[i].other, NULL));
	}
}

static void without_inputs(void)
{
	cleanup_sinks struct sinks sinks = SINKS;

	CU_ASSERT_TRUE(begin(&sinks));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&sinks, "deliveries", "public")->reason, WIRE_REASON_INPUT_MISSING);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->reason, WIRE_REASON_INPUT_MISSING);
}

/* A row without its line, or a line without its row, is no beacon of the decisions. */
static void beacon_needs_row_and_line(void)
{
	cleanup_sinks struct sinks sinks = SINKS;

	CU_ASSERT_TRUE(start(&sinks));
	CU_ASSERT_TRUE(decide(&sinks, "beacon.tool", DECISION_DENY));
	CU_ASSERT_TRUE(deliver(&sinks, "beacon.tool", sinks.observing.before.text));
	CU_ASSERT_TRUE(observing_seen(&sinks.observing, "deliveries", WIRE_BEFORE));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->beacon_before, 0);
	CU_ASSERT_TRUE(decide(&sinks, "beacon.tool", DECISION_ALLOW));
	CU_ASSERT_TRUE(decide(&sinks, "beacon.tool", DECISION_ALLOW));
	CU_ASSERT_TRUE(observing_report(&sinks.observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&sinks, "decisions", "denied")->beacon_after, 0);
}

static void rows_are_parsed(void)
{
	static const struct {
		size_t at;
		char byte;
	} spoils[] = {
		{ 0, 'h' }, { 12, '\0' }, { 43, 'x' }, { 44, 1 }, { 47, 0 }, { 47, 4 }, { 60, '\n' }, { 63, '\0' },
	};
	struct decision_row row;
	char bytes[DECISION_ROW_BYTES];

	make_row(0x0102030405060708, "a.tool", DECISION_DENY, bytes);
	CU_ASSERT_TRUE(decision_row_parse(bytes, &row));
	CU_ASSERT_EQUAL(row.sequence, 0x0102030405060708);
	CU_ASSERT_STRING_EQUAL(row.tool, "a.tool");
	CU_ASSERT_EQUAL(row.decision, DECISION_DENY);
	CU_ASSERT_EQUAL(row.rule, 7);
	CU_ASSERT_TRUE(row.time > 0 && row.time <= (uint64_t)clock_now());
	for (size_t i = 0; i < ARRAY_SIZE(spoils); i++) {
		make_row(1, "a.tool", DECISION_DENY, bytes);
		bytes[spoils[i].at] = spoils[i].byte;
		CU_ASSERT_FALSE(decision_row_parse(bytes, &row));
	}
	make_row(1, "a-tool-whose-name-is-32-letters-", DECISION_ALLOW, bytes);
	CU_ASSERT_TRUE(decision_row_parse(bytes, &row));
	CU_ASSERT_STRING_EQUAL(row.tool, "a-tool-whose-name-is-32-letters-");
}

static bool tell_policy(struct sinks *sinks, const char *tool, bool revoked)
{
	struct error *err = NULL;
	int r = observer_policy(sinks->observing.process, tool, revoked, &err);

	return test_no_error(&err) && r == 0;
}

/* Only what comes while the tool is revoked is late, whatever it bears; where nothing was revoked none is reported. */
static void late_deliveries(void)
{
	cleanup_sinks struct sinks sinks = SINKS;
	const struct wire_record *late;

	CU_ASSERT(start(&sinks));
	CU_ASSERT(observing_report(&sinks.observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(observing_record(&sinks.observing, "deliveries", "late")->reason, WIRE_REASONS);
	CU_ASSERT(deliver(&sinks, "permitted.tool", sinks.permitted.text));
	CU_ASSERT(tell_policy(&sinks, "permitted.tool", true));
	CU_ASSERT(tell_policy(&sinks, "permitted.tool", true));
	CU_ASSERT(deliver(&sinks, "public.tool", sinks.public.text));
	CU_ASSERT(observing_report(&sinks.observing, WIRE_BEFORE));
	late = observing_record(&sinks.observing, "deliveries", "late");
	CU_ASSERT(late->value == 0 && late->status == WIRE_OBSERVED);
	CU_ASSERT(deliver(&sinks, "permitted.tool", sinks.permitted.text));
	CU_ASSERT(deliver(&sinks, "permitted.tool", "no canary"));
	CU_ASSERT(tell_policy(&sinks, "permitted.tool", false));
	CU_ASSERT(observing_report(&sinks.observing, WIRE_BEFORE));
	CU_ASSERT(deliver(&sinks, "permitted.tool", sinks.permitted.text));
	CU_ASSERT(tell_policy(&sinks, "public.tool", true));
	CU_ASSERT(tell_policy(&sinks, "permitted.tool", false));
	CU_ASSERT(observing_report(&sinks.observing, WIRE_AFTER));
	late = observing_record(&sinks.observing, "deliveries", "late");
	CU_ASSERT(late->value == 2 && late->connections == 2 && late->kind == WIRE_COUNT);
	CU_ASSERT_EQUAL(observing_record(&sinks.observing, "deliveries", "permitted")->value, 3);
}

static CU_TestInfo count_tests[] = {
	{ "both files are counted", counts_both_files },
	{ "the notes of a peer are counted apart", notes_of_a_peer },
	{ "a leak to public", leak_to_public },
	{ "an escaped canary", escaped_canary },
	{ "a line in pieces", line_in_pieces },
	{ "from the first byte", starts_from_the_first_byte },
	{ "late ones", late_deliveries },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo file_tests[] = {
	{ "spoilt files", spoilt_files },
	{ "without inputs", without_inputs },
	{ "a beacon needs row and line", beacon_needs_row_and_line },
	{ "rows are parsed", rows_are_parsed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "counts", .pTests = count_tests },
	{ .pName = "files", .pTests = file_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_deliveries", suites);
}
