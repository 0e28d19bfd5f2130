/* The attach stream: the same streams however it is cut, and the same as the observers' own reader makes of it. */
#include "adapter/demux.h"
#include "observers/logs_frames.h"
#include "tests/fuzz/fuzz.h"

#define FRAME_MAX 4096

struct streams {
	int result;
	bool whole;
	uint64_t sums[LOGS_STREAMS];
	size_t length;
};
#define STREAMS                                                                                                        \
	{                                                                                                              \
		.sums = { FUZZ_SUM, FUZZ_SUM, FUZZ_SUM }                                                               \
	}

static void add(void *context, unsigned stream, const void *bytes, size_t length)
{
	struct streams *streams = context;

	FUZZ_HOLDS(length > 0 && stream < LOGS_STREAMS);
	streams->sums[stream] = fuzz_sum(streams->sums[stream], bytes, length);
	streams->length += length;
}

static int take(void *context, enum demux_stream stream, const void *bytes, size_t length, struct error **err)
{
	(void)err;
	add(context, stream, bytes, length);
	return 0;
}

static struct streams demux_in(const uint8_t *bytes, size_t size, size_t step)
{
	struct streams streams = STREAMS;
	struct demux demux;

	demux_init(&demux, FRAME_MAX);
	for (size_t at = 0; at < size && streams.result == 0; at += step) {
		cleanup_error struct error *err = NULL;

		streams.result =
			demux_feed(&demux, bytes + at, size - at < step ? size - at : step, take, &streams, &err);
		FUZZ_HOLDS((streams.result < 0) == (err != NULL));
	}
	streams.whole = demux_whole(&demux);
	FUZZ_HOLDS(streams.length <= size);
	return streams;
}

static bool same(const struct streams *one, const struct streams *other)
{
	for (size_t i = 0; i < LOGS_STREAMS; i++)
		if (one->sums[i] != other->sums[i])
			return false;
	return one->length == other->length && one->whole == other->whole;
}

FUZZ_TARGET(demux)
{
	struct streams whole = demux_in(bytes, size, size), cut = demux_in(bytes, size, 1), other = STREAMS;
	struct logs_frames frames = { .have = 0 };

	FUZZ_HOLDS(whole.result == cut.result && same(&whole, &cut));
	if (whole.result < 0)
		return;
	logs_frames_feed(&frames, bytes, size, add, &other);
	other.whole = logs_frames_whole(&frames);
	FUZZ_HOLDS(same(&whole, &other));
}
