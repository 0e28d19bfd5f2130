/* The client observer as a process: streams as an engine frames them, and the control that proves it hears. */
#include "tests/unit/watching.h"

#define FRAME_BYTES_MAX 4096

static struct canary subject, quiet;

static void put_frame(struct buf *out, unsigned stream, const char *text, size_t length)
{
	const char header[8] = { (char)stream, 0, 0, 0, 0, 0, (char)(length >> 8), (char)length };

	buf_add(out, header, sizeof(header));
	buf_add(out, text, length);
}

static void put_line(struct buf *out, unsigned stream, const struct canary *canary)
{
	char line[CANARY_LENGTH + 2];
	int length = snprintf(line, sizeof(line), "%s\n", canary->text);

	put_frame(out, stream, line, (size_t)length);
}

static bool start(struct observing *observing)
{
	return observing_start(observing, "client", NULL) && observing_expect(observing, "stderr", NULL, &subject) &&
	       observing_expect(observing, "quiet", NULL, &quiet) && observing_ready(observing);
}

static void give_control(struct observing *observing)
{
	cleanup_buf struct buf control = BUF(FRAME_BYTES_MAX);

	put_line(&control, 2, &observing->before);
	watching_pour(observing, "control", control.data, control.length, false);
}

static const struct wire_record *record(const struct observing *observing, const char *name)
{
	return observing_record(observing, "client", name);
}

/* A canary in one frame, one across two frames of its stream with another stream's frame between, and one in pieces
 * that belong to two streams, which is none. */
static void test_heard(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_buf struct buf body = BUF(FRAME_BYTES_MAX);

	CU_ASSERT(start(&observing));
	give_control(&observing);
	put_line(&body, 2, &subject);
	put_frame(&body, 1, subject.text, 20);
	put_frame(&body, 2, "x\n", 2);
	put_frame(&body, 1, subject.text + 20, CANARY_LENGTH - 20);
	put_frame(&body, 1, "\n", 1);
	put_frame(&body, 1, quiet.text, 20);
	put_frame(&body, 2, quiet.text + 20, CANARY_LENGTH - 20);
	watching_pour(&observing, "stream", body.data, body.length, false);
	watching_report(&observing, WIRE_AFTER);
	CU_ASSERT_EQUAL(record(&observing, "stderr")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(record(&observing, "stderr")->value, 2);
	CU_ASSERT_EQUAL(record(&observing, "stderr")->hits, 2);
	CU_ASSERT_EQUAL(record(&observing, "stderr")->bytes, (int64_t)body.length);
	CU_ASSERT_EQUAL(record(&observing, "stderr")->beacon_before, 1);
	CU_ASSERT_EQUAL(record(&observing, "stderr")->beacon_after, 1);
	CU_ASSERT_EQUAL(record(&observing, "quiet")->value, 0);
}

/* An engine that opened no stream said nothing; but one that is not there at all is no zero, nor is one that cannot be
 * read, is cut, or does not end. */
static void test_reasons(void)
{
	static const struct {
		const char *bytes; /* NULL: no stream comes */
		size_t length;
		bool held;
		enum wire_reason reason;
	} cases[] = {
		{ "", 0, false, WIRE_REASON_NONE },
		{ NULL, 0, false, WIRE_REASON_INPUT_MISSING },
		{ "HTTP/1.1 409 Conflict", 21, false, WIRE_REASON_INPUT_INVALID },
		{ "\1\0\0\0\0\0\0\4ab", 10, false, WIRE_REASON_TRUNCATED },
		{ "\1\0\0\0\0\0\0\2ab", 10, true, WIRE_REASON_TIMEOUT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_observing struct observing observing = { 0 };
		cleanup_fd int held = -1;

		CU_ASSERT(start(&observing));
		give_control(&observing);
		if (cases[i].bytes)
			held = watching_pour(&observing, "stream", cases[i].bytes, cases[i].length, cases[i].held);
		watching_report(&observing, WIRE_AFTER);
		CU_ASSERT_EQUAL(record(&observing, "stderr")->reason, cases[i].reason);
		CU_ASSERT_EQUAL(record(&observing, "stderr")->value, 0);
	}
}

/* Without the control's marker nothing proves that it hears. */
static void test_unproven(void)
{
	static const char *const controls[] = { NULL, "", "\1\0\0\0\0\0\0\2ab", "no frames" };
	static const size_t lengths[] = { 0, 0, 10, 9 };

	for (size_t i = 0; i < ARRAY_SIZE(controls); i++) {
		cleanup_observing struct observing observing = { 0 };

		CU_ASSERT(start(&observing));
		if (controls[i])
			watching_pour(&observing, "control", controls[i], lengths[i], false);
		watching_pour(&observing, "stream", "", 0, false);
		watching_report(&observing, WIRE_AFTER);
		CU_ASSERT_EQUAL(record(&observing, "stderr")->beacon_before, 0);
		CU_ASSERT_EQUAL(record(&observing, "stderr")->beacon_after, 0);
	}
}

static CU_TestInfo client_tests[] = {
	{ "heard", test_heard },
	{ "reasons", test_reasons },
	{ "unproven", test_unproven },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "client", NULL, NULL, NULL, NULL, client_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_client", suites);
}
