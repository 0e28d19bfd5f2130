/*
 * The engine's multiplexed stream: frames of 8 bytes {stream, 0, 0, 0, length big-endian} and their content. A line may
 * span frames of its stream, and a frame may span reads. Pure; no part of the session's own parser, so that the two
 * must agree by the format alone.
 */
#ifndef HARNESS_OBSERVERS_LOGS_FRAMES_H
#define HARNESS_OBSERVERS_LOGS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOGS_STREAMS 3 /* 0 standard input, 1 output, 2 error */
#define LOGS_HEADER_BYTES 8

struct logs_frames {
	uint8_t header[LOGS_HEADER_BYTES];
	size_t have; /* bytes of the header */
	uint32_t left; /* bytes of the content to come */
	bool invalid; /* what came is no such stream; nothing is taken any more */
};

typedef void (*logs_frames_sink)(void *context, unsigned stream, const void *bytes, size_t length);

/* Takes the next bytes of the stream and hands on what belongs to each of its streams. */
void logs_frames_feed(struct logs_frames *frames, const void *bytes, size_t length, logs_frames_sink sink,
		      void *context);
/* Whether the stream may end here: it is valid, and between two frames. */
bool logs_frames_whole(const struct logs_frames *frames);

#endif
