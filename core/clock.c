#include "core/clock.h"

#include <limits.h>
#include <time.h>

int64_t clock_now(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_realtime(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_add(int64_t time, int64_t nanoseconds)
{
	int64_t sum;

	if (time == NEVER)
		return NEVER;
	if (__builtin_add_overflow(time, nanoseconds, &sum))
		return nanoseconds > 0 ? NEVER : INT64_MIN;
	return sum;
}

int64_t clock_deadline(int64_t milliseconds)
{
	int64_t nanoseconds;

	if (__builtin_mul_overflow(milliseconds, NS_PER_MS, &nanoseconds))
		nanoseconds = milliseconds > 0 ? NEVER : INT64_MIN;
	return clock_add(clock_now(), nanoseconds);
}

int clock_poll_timeout(int64_t deadline)
{
	int64_t now, left;

	if (deadline == NEVER)
		return -1;
	now = clock_now();
	if (deadline <= now)
		return 0;
	/* The deadline may be far in the past of an int64_t, never in its future: now is not negative. */
	left = (deadline - now - 1) / NS_PER_MS + 1;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static void wall(struct tm *utc)
{
	time_t now = time(NULL);

	if (!gmtime_r(&now, utc))
		*utc = (struct tm){ .tm_mday = 1, .tm_year = 70 };
}

void clock_wall(char out[CLOCK_TEXT])
{
	struct tm utc;

	wall(&utc);
	if (strftime(out, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		out[0] = '\0';
}

void clock_stamp(char out[CLOCK_STAMP])
{
	struct tm utc;

	wall(&utc);
	if (strftime(out, CLOCK_STAMP, "%Y%m%dT%H%M%SZ", &utc) == 0)
		out[0] = '\0';
}
