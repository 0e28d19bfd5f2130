#include <limits.h>
#include <poll.h>
#include <time.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/unit/test.h"

static void test_now(void)
{
	int64_t one = clock_now(), other = clock_now();

	CU_ASSERT(one > 0);
	CU_ASSERT(other >= one);
	poll(NULL, 0, 2);
	other = clock_now();
	CU_ASSERT(other - one >= 2 * NS_PER_MS);
	CU_ASSERT(other - one < 5 * NS_PER_S);
}

static void test_add(void)
{
	static const struct {
		int64_t time, nanoseconds, sum;
	} rows[] = {
		{ .time = 5, .nanoseconds = 6, .sum = 11 },
		{ .time = 5, .nanoseconds = -6, .sum = -1 },
		{ .time = INT64_MAX - 5, .nanoseconds = 6, .sum = NEVER },
		{ .time = INT64_MIN + 5, .nanoseconds = -6, .sum = INT64_MIN },
		{ .time = NEVER, .nanoseconds = 1, .sum = NEVER },
		{ .time = NEVER, .nanoseconds = -1, .sum = NEVER },
		{ .time = 0, .nanoseconds = NEVER, .sum = NEVER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(clock_add(rows[i].time, rows[i].nanoseconds), rows[i].sum);
}

static void test_deadline(void)
{
	int64_t before = clock_now(), deadline = clock_deadline(1500);

	CU_ASSERT(deadline >= before + 1500 * NS_PER_MS);
	CU_ASSERT(deadline <= clock_now() + 1500 * NS_PER_MS);
	CU_ASSERT(clock_deadline(0) <= clock_now());
	CU_ASSERT(clock_deadline(-1) < clock_now());
	CU_ASSERT_EQUAL(clock_deadline(INT64_MAX), NEVER);
	CU_ASSERT_EQUAL(clock_deadline(INT64_MAX / NS_PER_MS), NEVER);
	CU_ASSERT(clock_deadline(INT64_MIN) < 0);
}

static void test_poll_timeout(void)
{
	CU_ASSERT_EQUAL(clock_poll_timeout(NEVER), -1);
	CU_ASSERT_EQUAL(clock_poll_timeout(NEVER - 1), INT_MAX);
	CU_ASSERT_EQUAL(clock_poll_timeout(0), 0);
	CU_ASSERT_EQUAL(clock_poll_timeout(INT64_MIN), 0);
	CU_ASSERT_EQUAL(clock_poll_timeout(clock_now()), 0);
	/* Rounded down, a wait of the answer's length would end before the deadline. */
	for (int i = 0; i < 200; i++) {
		int64_t deadline = clock_now() + 20 * NS_PER_MS + i * 4999;
		int timeout = clock_poll_timeout(deadline);

		CU_ASSERT(timeout <= 22);
		CU_ASSERT(clock_now() + timeout * NS_PER_MS >= deadline);
	}
}

static void test_wall(void)
{
	char text[CLOCK_TEXT], stamp[CLOCK_STAMP];
	time_t before = time(NULL), seen;
	struct tm fields = { 0 };
	const char *end;

	CU_ASSERT(clock_realtime() >= before * NS_PER_S);
	CU_ASSERT(clock_realtime() < (before + 5) * NS_PER_S);
	clock_wall(text);
	clock_stamp(stamp);
	CU_ASSERT_EQUAL(strlen(text), CLOCK_TEXT - 1);
	end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &fields);
	CU_ASSERT(end && *end == '\0');
	seen = timegm(&fields);
	CU_ASSERT(seen >= before && seen <= time(NULL));
	CU_ASSERT_EQUAL(strlen(stamp), CLOCK_STAMP - 1);
	fields = (struct tm){ 0 };
	end = strptime(stamp, "%Y%m%dT%H%M%SZ", &fields);
	CU_ASSERT(end && *end == '\0');
	seen = timegm(&fields);
	CU_ASSERT(seen >= before && seen <= time(NULL));
}

static CU_TestInfo tests[] = {
	{ "now", test_now },           { "add saturates", test_add },
	{ "deadline", test_deadline }, { "poll timeout", test_poll_timeout },
	{ "wall clock", test_wall },   CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "clock", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("clock", suites);
}
