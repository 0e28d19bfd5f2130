/* The wire between arm and observer, the registry behind it, and what the arm makes of a program that misbehaves. */
#include "observers/wire.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "observers/observer.h"
#include "tests/unit/observing.h"
#include "tests/unit/test.h"

static void round_trip(void)
{
	struct error *err = NULL;
	cleanup_fd int one = -1, other = -1, passed = -1, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct wire_message message = { .subject = "tcp4", .text = "pidfd", .phase = WIRE_AFTER, .time = 42 };
	struct wire_record record = { .observer = "tcp4", .subject = "tcp4-child", .value = -7, .unit = "records" };
	union wire_any any;

	CU_ASSERT_EQUAL(fd_seqpacket(&one, &other, &err), 0);
	CU_ASSERT_EQUAL(wire_send(one, &message, WIRE_INPUT, null, clock_deadline(1000), &err), 0);
	CU_ASSERT_EQUAL(wire_receive(other, &any, &passed, clock_deadline(1000), &err), 0);
	CU_ASSERT_EQUAL(any.header.type, WIRE_INPUT);
	CU_ASSERT_STRING_EQUAL(any.message.text, "pidfd");
	CU_ASSERT_EQUAL(any.message.time, 42);
	CU_ASSERT_EQUAL(any.message.phase, WIRE_AFTER);
	CU_ASSERT_TRUE(passed >= 0);
	fd_close(&passed);
	CU_ASSERT_EQUAL(wire_send_record(other, &record, clock_deadline(1000), &err), 0);
	CU_ASSERT_EQUAL(wire_receive(one, &any, &passed, clock_deadline(1000), &err), 0);
	CU_ASSERT_EQUAL(any.header.type, WIRE_RECORD);
	CU_ASSERT_EQUAL(any.record.value, -7);
	CU_ASSERT_EQUAL(passed, -1);
	CU_ASSERT_TRUE(test_no_error(&err));
	CU_ASSERT_TRUE(wire_receive(one, &any, &passed, clock_deadline(1), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_TIMEOUT, ""));
	fd_close(&other);
	CU_ASSERT_TRUE(wire_receive(one, &any, &passed, clock_deadline(1000), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, ""));
}

/* Each spoils one thing of a good message. */
static void spoil_version(union wire_any *any)
{
	any->header.version++;
}
static void spoil_type(union wire_any *any)
{
	any->header.type = WIRE_REVISION + 1;
}
static void spoil_gap_in_types(union wire_any *any)
{
	any->header.type = WIRE_POLICY + 1;
}
static void spoil_length(union wire_any *any)
{
	any->header.length--;
}
static void spoil_subject(union wire_any *any)
{
	memset(any->message.subject, 'a', sizeof(any->message.subject));
}
static void spoil_text(union wire_any *any)
{
	memset(any->message.text, 'a', sizeof(any->message.text));
}
static void spoil_canary_end(union wire_any *any)
{
	memset(any->message.canary, 'a', sizeof(any->message.canary));
}
static void spoil_canary(union wire_any *any)
{
	memcpy(any->message.canary, "canary-x", sizeof("canary-x"));
}
static void spoil_marker(union wire_any *any)
{
	any->message.marker = 2;
}
static void spoil_phase(union wire_any *any)
{
	any->message.phase = 2;
}
static void spoil_reason(union wire_any *any)
{
	any->message.reason = WIRE_REASONS;
}
static void spoil_input(union wire_any *any)
{
	any->header.type = WIRE_INPUT;
}
static void spoil_record_length(union wire_any *any)
{
	any->header.type = WIRE_RECORD;
}

static const struct {
	const char *says;
	void (*spoil)(union wire_any *any);
} spoilers[] = {
	{ "another version", spoil_version },           { "an unknown type", spoil_type },
	{ "an unknown type", spoil_gap_in_types },      { "a wrong length", spoil_length },
	{ "a name without its end", spoil_subject },    { "a name without its end", spoil_text },
	{ "a name without its end", spoil_canary_end }, { "a canary of another form", spoil_canary },
	{ "a value outside its range", spoil_marker },  { "a value outside its range", spoil_phase },
	{ "a value outside its range", spoil_reason },  { "an input without a descriptor", spoil_input },
	{ "a wrong length", spoil_record_length },
};

static void refused(void)
{
	struct error *err = NULL;
	cleanup_fd int one = -1, other = -1, passed = -1;
	union wire_any any;

	CU_ASSERT_EQUAL(fd_seqpacket(&one, &other, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(spoilers); i++) {
		union wire_any bad = { .message = { .header = { .version = WIRE_VERSION,
								.type = WIRE_HIT,
								.length = sizeof(struct wire_message) },
						    .subject = "tcp4" } };

		spoilers[i].spoil(&bad);
		CU_ASSERT_EQUAL(send(one, &bad, sizeof(bad.message), 0), (ssize_t)sizeof(bad.message));
		CU_ASSERT_TRUE(wire_receive(other, &any, &passed, clock_deadline(1000), &err) < 0);
		CU_ASSERT_TRUE(test_error(&err, ERROR_PROTOCOL, spoilers[i].says));
	}
	CU_ASSERT_EQUAL(send(one, "abc", 3, 0), 3);
	CU_ASSERT_TRUE(wire_receive(other, &any, &passed, clock_deadline(1000), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_PROTOCOL, "shorter than its header"));
}

static void refused_records(void)
{
	const struct wire_record bad[] = {
		{ .kind = WIRE_STATE + 1 },
		{ .status = WIRE_OBSERVER_ERROR + 1 },
		{ .reason = WIRE_REASONS },
		{ .phase = WIRE_AFTER + 1 },
		{ .unit = { 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r', 'r' } },
	};
	struct error *err = NULL;
	cleanup_fd int one = -1, other = -1, passed = -1;
	union wire_any any;

	CU_ASSERT_EQUAL(fd_seqpacket(&one, &other, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct wire_record record = bad[i];

		CU_ASSERT_EQUAL(wire_send_record(one, &record, clock_deadline(1000), &err), 0);
		CU_ASSERT_TRUE(wire_receive(other, &any, &passed, clock_deadline(1000), &err) < 0);
		CU_ASSERT_TRUE(test_error(&err, ERROR_PROTOCOL, "an observer's wire: "));
	}
}

/* A descriptor with anything but an input is refused, and closed. */
static void refused_descriptor(void)
{
	struct error *err = NULL;
	cleanup_fd int one = -1, other = -1, passed = -1, read_end = -1, write_end = -1;
	struct wire_message message = { .subject = "tcp4" };
	union wire_any any;
	char byte;

	CU_ASSERT_EQUAL(fd_seqpacket(&one, &other, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&read_end, &write_end, &err), 0);
	CU_ASSERT_EQUAL(wire_send(one, &message, WIRE_LOSS, write_end, clock_deadline(1000), &err), 0);
	CU_ASSERT_TRUE(wire_receive(other, &any, &passed, clock_deadline(1000), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_PROTOCOL, "belongs to no input"));
	CU_ASSERT_EQUAL(passed, -1);
	fd_close(&write_end);
	CU_ASSERT_EQUAL(read(read_end, &byte, 1), 0);
}

static size_t length_of(const char *const *list)
{
	size_t length = 0;

	while (list[length])
		length++;
	return length;
}

static bool has(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static const struct observer_kind *first_with(const char *measure)
{
	const struct observer_kind *kind = observer_kinds;

	while (kind->id && !has(kind->measures, measure))
		kind++;
	return kind;
}

static void registry(void)
{
	size_t observers = 0, measures = 0;

	for (const struct observer_kind *kind = observer_kinds; kind->id; kind++) {
		CU_ASSERT_PTR_EQUAL(observer_kind_find(kind->id), kind);
		CU_ASSERT_TRUE(strlen(kind->id) < NAME_MAX_SHORT && strlen(kind->program) < NAME_MAX_SHORT);
		CU_ASSERT_TRUE(strlen(kind->title) > 0 && kind->needs != 0);
		CU_ASSERT_TRUE(length_of(kind->observers) >= 1 && length_of(kind->observers) <= OBSERVER_VIEWS);
		for (const char *const *id = kind->observers; *id; id++, observers++) {
			CU_ASSERT_TRUE(has(observer_ids, *id) && strlen(*id) < NAME_MAX_SHORT);
			CU_ASSERT_PTR_EQUAL(observer_kind_of(*id), kind);
		}
		/* Two kinds may count the same. */
		for (const char *const *id = kind->measures; *id; id++) {
			CU_ASSERT_TRUE(has(measure_ids, *id) && strlen(*id) < NAME_MAX_SHORT);
			measures += first_with(*id) == kind;
		}
	}
	CU_ASSERT_EQUAL(observers, length_of(observer_ids));
	CU_ASSERT_EQUAL(measures, length_of(measure_ids));
	CU_ASSERT_PTR_NULL(observer_kind_find("no-such"));
	CU_ASSERT_PTR_NULL(observer_kind_of("no-such"));
}

/* ---- the arm's end ---------------------------------------------------------------------------- */

static void killed_is_lost(void)
{
	struct error *err = NULL;
	cleanup_observing struct observing observing = { 0 };
	struct canary canary;

	CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
	CU_ASSERT_TRUE(observing_expect(&observing, "probe", NULL, &canary));
	CU_ASSERT_TRUE(observing_ready(&observing));
	CU_ASSERT_FALSE(observer_lost(observing.process));
	child_signal(observer_child(observing.process), SIGKILL);
	CU_ASSERT_TRUE(observer_wait_seen(observing.process, NULL, WIRE_BEFORE, clock_deadline(OBSERVING_MS), &err) <
		       0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, "observer tcp4"));
	CU_ASSERT_TRUE(observer_lost(observing.process));
	CU_ASSERT_EQUAL(observer_fd(observing.process), -1);
	CU_ASSERT_TRUE(observer_collect(observing.process, WIRE_AFTER, observing_take, &observing,
					clock_deadline(OBSERVING_MS), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, "observer tcp4"));
	CU_ASSERT_EQUAL(observer_ask(observing.process, WIRE_AFTER, &err), -ERROR_CLOSED);
	CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, "observer tcp4"));
	CU_ASSERT_EQUAL(observing.count, 0);
}

static void paused_is_a_timeout(void)
{
	struct error *err = NULL;
	cleanup_observing struct observing observing = { 0 };

	CU_ASSERT_TRUE(observing_start(&observing, "state", NULL));
	CU_ASSERT_TRUE(observing_ready(&observing));
	child_signal(observer_child(observing.process), SIGSTOP);
	CU_ASSERT_EQUAL(observer_ask(observing.process, WIRE_AFTER, &err), 0);
	CU_ASSERT_TRUE(observer_collect(observing.process, WIRE_AFTER, observing_take, &observing, clock_deadline(50),
					&err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_TIMEOUT, "no report"));
	CU_ASSERT_EQUAL(observing.count, 0);
	child_signal(observer_child(observing.process), SIGCONT);
}

/* Both reports are asked for before the first is taken; each comes whole, in any order. */
static void reports_wait(void)
{
	size_t whole;
	struct error *err = NULL;
	cleanup_observing struct observing observing = { 0 };

	CU_ASSERT_TRUE(observing_start(&observing, "state", NULL));
	CU_ASSERT_TRUE(observing_ready(&observing));
	CU_ASSERT_EQUAL(observer_ask(observing.process, WIRE_BEFORE, &err), 0);
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	whole = observing.count;
	CU_ASSERT(whole > 1);
	observing.count = 0;
	CU_ASSERT_EQUAL(observer_collect(observing.process, WIRE_BEFORE, observing_take, &observing,
					 clock_deadline(OBSERVING_MS), &err),
			0);
	CU_ASSERT_EQUAL(observing.count, whole);
	CU_ASSERT_EQUAL(observing.records[0].phase, WIRE_BEFORE);
	CU_ASSERT_TRUE(test_no_error(&err));
}

/* The arm's words out of their order end the program. */
static void out_of_order(void)
{
	struct error *err = NULL;
	cleanup_observing struct observing observing = { 0 };

	CU_ASSERT_TRUE(observing_start(&observing, "tcp4", NULL));
	CU_ASSERT_EQUAL(observer_ask(observing.process, WIRE_BEFORE, &err), 0);
	CU_ASSERT_TRUE(observer_wait_ready(observing.process, clock_deadline(OBSERVING_MS), &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, "observer tcp4"));
}

/* An observer that takes no inputs, and one that does not know this one. */
static void unknown_input(void)
{
	static const char *const kinds[] = { "tcp4", "dns", "state", "deliveries" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct error *err = NULL;
		cleanup_observing struct observing observing = { 0 };

		CU_ASSERT_TRUE(observing_start(&observing, kinds[i], NULL));
		CU_ASSERT_TRUE(observing_ready(&observing));
		CU_ASSERT_TRUE(observing_give(&observing, "no-such", STDERR_FILENO));
		CU_ASSERT_TRUE(observer_wait_seen(observing.process, NULL, WIRE_BEFORE, clock_deadline(OBSERVING_MS),
						  &err) < 0);
		CU_ASSERT_TRUE(test_error(&err, ERROR_CLOSED, kinds[i]));
	}
}

static void names_too_long(void)
{
	static const char name[] = "a-name-that-is-longer-than-it-may-be";
	struct error *err = NULL;
	cleanup_observing struct observing observing = { 0 };
	const struct observer_subject row = { .subject = name };

	CU_ASSERT_TRUE(observing_start(&observing, "state", NULL));
	CU_ASSERT_TRUE(observer_expect(observing.process, &row, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_LIMIT, "a name"));
	CU_ASSERT_TRUE(observer_give(observing.process, name, STDERR_FILENO, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_LIMIT, "a name"));
	CU_ASSERT_TRUE(observer_give(observing.process, "pidfd", -1, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_INTERNAL, "without a descriptor"));
}

static CU_TestInfo wire_tests[] = {
	{ "a message with its descriptor and a record arrive", round_trip },
	{ "messages of another form are refused", refused },
	{ "records out of range are refused", refused_records },
	{ "a descriptor out of place is refused", refused_descriptor },
	{ "registry: lists and rows agree", registry },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo control_tests[] = {
	{ "a killed observer is lost", killed_is_lost },
	{ "a paused observer is a timeout", paused_is_a_timeout },
	{ "reports wait for their taker", reports_wait },
	{ "words out of order end the program", out_of_order },
	{ "an unknown input ends the program", unknown_input },
	{ "names have a maximum", names_too_long },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "wire", .pTests = wire_tests },
	{ .pName = "control", .pTests = control_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("wire", suites);
}
