/*
 * The attach stream of a container without a terminal: frames of an 8-byte header {stream, 0, 0, 0, length as 32 bits,
 * big-endian} and their payload. The parser is pure and incremental: it keeps no payload, and gives each piece to the
 * sink as it comes, wherever the reads cut headers and payloads. Lines are the business of whoever reads a stream: a
 * frame may hold many lines, or a part of one.
 */
#ifndef HARNESS_ADAPTER_DEMUX_H
#define HARNESS_ADAPTER_DEMUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define DEMUX_HEADER_BYTES 8

enum demux_stream { DEMUX_STDOUT = 1, DEMUX_STDERR = 2 };

struct demux {
	unsigned char header[DEMUX_HEADER_BYTES];
	size_t header_length; /* of it, so far */
	uint32_t payload_left; /* of the open frame */
	enum demux_stream stream; /* of the open frame */
	size_t frame_max; /* longest payload that is taken */
	bool failed;
};

/* Receives a piece of one stream, never empty; negative with *err set ends the parsing. */
typedef int (*demux_sink)(void *context, enum demux_stream stream, const void *bytes, size_t length,
			  struct error **err);

void demux_init(struct demux *demux, size_t frame_max);
/* Takes the next bytes of the attach stream. A stream other than stdout and stderr (so also the engine's own error
 * stream), a padding byte that is not zero, and a frame over the maximum are ERROR_PROTOCOL or ERROR_LIMIT. After an
 * error, the sink's included, each further call is ERROR_PROTOCOL: what follows has no meaning. */
int demux_feed(struct demux *demux, const void *bytes, size_t length, demux_sink sink, void *context,
	       struct error **err) MUST_CHECK;
/* Whether the stream may end here: no header and no payload is open. */
bool demux_whole(const struct demux *demux);

#endif
