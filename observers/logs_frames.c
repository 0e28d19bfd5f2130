#include "observers/logs_frames.h"

#include <string.h>

/* Takes bytes of the header; returns how many. */
static size_t take_header(struct logs_frames *frames, const uint8_t *bytes, size_t length)
{
	size_t want = LOGS_HEADER_BYTES - frames->have;
	size_t taken = length < want ? length : want;
	const uint8_t *header = frames->header;

	memcpy(frames->header + frames->have, bytes, taken);
	frames->have += taken;
	if (frames->have < LOGS_HEADER_BYTES)
		return taken;
	if (header[0] >= LOGS_STREAMS || header[1] || header[2] || header[3])
		frames->invalid = true;
	frames->left = (uint32_t)header[4] << 24 | (uint32_t)header[5] << 16 | (uint32_t)header[6] << 8 | header[7];
	if (!frames->left)
		frames->have = 0;
	return taken;
}

void logs_frames_feed(struct logs_frames *frames, const void *bytes, size_t length, logs_frames_sink sink,
		      void *context)
{
	const uint8_t *at = bytes;

	while (length && !frames->invalid) {
		size_t taken;

		if (frames->have < LOGS_HEADER_BYTES) {
			taken = take_header(frames, at, length);
		} else {
			taken = length < frames->left ? length : frames->left;
			sink(context, frames->header[0], at, taken);
			frames->left -= (uint32_t)taken;
			if (!frames->left)
				frames->have = 0;
		}
		at += taken;
		length -= taken;
	}
}

bool logs_frames_whole(const struct logs_frames *frames)
{
	return !frames->invalid && !frames->have;
}
