/*
 * The agent of the round trips: a static program that includes nothing of ours, and is /agent of an image of its own.
 * It makes calls of the application channel one after the other, each like those of the fixture, and times them. Its
 * numbers leave as the arguments of a last call, so that they take the same way as the calls.
 *
 * One order on standard input: "calls N\n".
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP 100
#define CALLS_MAX 1000000
#define LINE_BYTES 4096

static const char call[] =
	"{\"operation\":\"permitted\",\"arguments\":{\"value\":\"canary-abcdefghijklmnopabcdefghijklmnop\"}}\n";
static const char done[] = "{\"operation\":\"done\",\"arguments\":{}}\n";

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int put(const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(STDOUT_FILENO, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return -1;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

/* One line at a time is ever under way: what a read brings belongs to it. */
static int get(char line[LINE_BYTES])
{
	size_t length = 0;

	while (length < LINE_BYTES - 1) {
		ssize_t got = read(STDIN_FILENO, line + length, LINE_BYTES - 1 - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		length += (size_t)got;
		if (line[length - 1] == '\n') {
			line[length] = '\0';
			return 0;
		}
	}
	return -1;
}

static int round_trip(const char *frame, size_t length)
{
	char reply[LINE_BYTES];

	return put(frame, length) < 0 || get(reply) < 0 || strncmp(reply, "{\"allowed\":true", 15) != 0 ? -1 : 0;
}

static int compare(const void *left, const void *right)
{
	int64_t one = *(const int64_t *)left, other = *(const int64_t *)right;

	return (one > other) - (one < other);
}

static int measure(int64_t *times, long count, int64_t *total)
{
	int64_t start;

	for (int i = 0; i < WARM_UP; i++)
		if (round_trip(call, sizeof(call) - 1) < 0)
			return -1;
	start = now();
	for (long i = 0; i < count; i++) {
		int64_t before = now();

		if (round_trip(call, sizeof(call) - 1) < 0)
			return -1;
		times[i] = now() - before;
	}
	*total = now() - start;
	return 0;
}

static int tell(int64_t *times, long count, int64_t total)
{
	char frame[LINE_BYTES];
	int length;

	qsort(times, (size_t)count, sizeof(*times), compare);
	length = snprintf(frame, sizeof(frame),
			  "{\"operation\":\"permitted\",\"arguments\":{\"calls\":%ld,\"medianNs\":%lld,\"p99Ns\":%lld,"
			  "\"totalNs\":%lld}}\n",
			  count, (long long)times[count / 2], (long long)times[count * 99 / 100], (long long)total);
	return round_trip(frame, (size_t)length);
}

int main(void)
{
	char line[LINE_BYTES];
	int64_t *times, total = 0;
	long count;
	int status;

	if (get(line) < 0 || strncmp(line, "calls ", 6) != 0)
		return 126;
	count = strtol(line + 6, NULL, 10);
	times = count > 0 && count <= CALLS_MAX ? calloc((size_t)count, sizeof(*times)) : NULL;
	if (!times)
		return 125;
	status = measure(times, count, &total) < 0 || tell(times, count, total) < 0 ? 124 : 0;
	free(times);
	if (status == 0 && put(done, sizeof(done) - 1) == 0)
		while (read(STDIN_FILENO, line, sizeof(line)) > 0)
			;
	return status;
}
