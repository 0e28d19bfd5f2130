/* The agent's stdout: the same lines however it is cut, and of each line a frame or a refusal. */
#include "adapter/frame.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

/* Small, so that they are reached. */
#define FRAME_MAX 512
#define TOTAL_MAX 4096

struct lines {
	enum control_reason reason;
	size_t count;
	uint64_t sum;
};

static void parse(struct json_span line)
{
	cleanup_frame struct frame frame = { .document = NULL };

	if (frame_parse(line, &frame) != CONTROL_REASON_NONE) {
		FUZZ_HOLDS(!frame.document);
		return;
	}
	FUZZ_HOLDS(strlen(frame.operation) == frame.operation_length);
	FUZZ_HOLDS(frame.arguments.length >= 2 && frame.arguments.bytes[0] == '{');
	FUZZ_HOLDS(frame.arguments.bytes[frame.arguments.length - 1] == '}');
	FUZZ_HOLDS(memmem(line.bytes, line.length, frame.arguments.bytes, frame.arguments.length));
	FUZZ_HOLDS(!memchr(frame.arguments.bytes, '\r', frame.arguments.length));
}

static struct lines read_in(const uint8_t *bytes, size_t size, size_t step)
{
	struct lines lines = { .reason = CONTROL_REASON_NONE, .sum = FUZZ_SUM };
	struct frame_reader reader;
	struct json_span line;

	frame_reader_init(&reader, FRAME_MAX, TOTAL_MAX);
	for (size_t at = 0; at < size && lines.reason == CONTROL_REASON_NONE; at += step) {
		lines.reason = frame_reader_feed(&reader, bytes + at, size - at < step ? size - at : step);
		while (lines.reason == CONTROL_REASON_NONE && frame_reader_next(&reader, &line)) {
			FUZZ_HOLDS(line.length <= FRAME_MAX && !memchr(line.bytes, '\n', line.length));
			lines.sum = fuzz_sum(fuzz_sum(lines.sum, line.bytes, line.length), "\n", 1);
			lines.count++;
			if (step == size)
				parse(line);
		}
	}
	if (lines.reason == CONTROL_REASON_NONE) {
		FUZZ_HOLDS(frame_reader_total(&reader) == size);
		FUZZ_HOLDS(frame_reader_partial(&reader) == (size > 0 && bytes[size - 1] != '\n'));
	}
	frame_reader_free(&reader);
	return lines;
}

FUZZ_TARGET(frame)
{
	struct lines whole = read_in(bytes, size, size), cut = read_in(bytes, size, size > 0 ? 1 + bytes[0] % 7 : 1);

	/* Both maxima may be passed, and which is seen first depends on the cuts. */
	FUZZ_HOLDS((whole.reason == CONTROL_REASON_NONE) == (cut.reason == CONTROL_REASON_NONE));
	if (whole.reason == CONTROL_REASON_NONE)
		FUZZ_HOLDS(whole.count == cut.count && whole.sum == cut.sum);
}
