/* A container's log as the engine sends it: the same streams however it is cut. */
#include "observers/logs_frames.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

struct streams {
	uint64_t sums[LOGS_STREAMS];
	size_t length;
	bool whole;
};

static void add(void *context, unsigned stream, const void *bytes, size_t length)
{
	struct streams *streams = context;

	FUZZ_HOLDS(length > 0 && stream < LOGS_STREAMS);
	streams->sums[stream] = fuzz_sum(streams->sums[stream], bytes, length);
	streams->length += length;
}

static struct streams read_in(const uint8_t *bytes, size_t size, size_t step)
{
	struct streams streams = { .sums = { FUZZ_SUM, FUZZ_SUM, FUZZ_SUM } };
	struct logs_frames frames = { .have = 0 };

	for (size_t at = 0; at < size; at += step)
		logs_frames_feed(&frames, bytes + at, size - at < step ? size - at : step, add, &streams);
	streams.whole = logs_frames_whole(&frames);
	FUZZ_HOLDS(streams.length <= size);
	return streams;
}

FUZZ_TARGET(logs_frames)
{
	struct streams whole = read_in(bytes, size, size), cut = read_in(bytes, size, 1);

	FUZZ_HOLDS(memcmp(whole.sums, cut.sums, sizeof(whole.sums)) == 0);
	FUZZ_HOLDS(whole.length == cut.length && whole.whole == cut.whole);
}
