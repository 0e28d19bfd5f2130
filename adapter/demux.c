#include "adapter/demux.h"

#include <string.h>

void demux_init(struct demux *demux, size_t frame_max)
{
	*demux = (struct demux){ .frame_max = frame_max };
}

static int open_frame(struct demux *demux, struct error **err)
{
	const unsigned char *header = demux->header;
	uint32_t length = (uint32_t)header[4] << 24 | (uint32_t)header[5] << 16 | (uint32_t)header[6] << 8 | header[7];

	if (header[0] != DEMUX_STDOUT && header[0] != DEMUX_STDERR)
		return error_set(err, ERROR_PROTOCOL, "the attach stream has a frame of stream %u",
				 (unsigned)header[0]);
	if (header[1] || header[2] || header[3])
		return error_set(err, ERROR_PROTOCOL, "the attach stream has a frame with padding that is not zero");
	if (length > demux->frame_max)
		return error_set(err, ERROR_LIMIT, "the attach stream has a frame of %lu bytes, more than %zu",
				 (unsigned long)length, demux->frame_max);
	demux->stream = header[0] == DEMUX_STDOUT ? DEMUX_STDOUT : DEMUX_STDERR;
	demux->payload_left = length;
	demux->header_length = 0;
	return 0;
}

static int feed(struct demux *demux, const unsigned char *from, size_t length, demux_sink sink, void *context,
		struct error **err)
{
	while (length > 0) {
		size_t open = demux->payload_left, room = DEMUX_HEADER_BYTES - demux->header_length;
		size_t take = open ? open : room;
		int result = 0;

		if (take > length)
			take = length;
		if (open) {
			demux->payload_left -= (uint32_t)take;
			result = sink(context, demux->stream, from, take, err);
		} else {
			memcpy(demux->header + demux->header_length, from, take);
			demux->header_length += take;
			if (demux->header_length == DEMUX_HEADER_BYTES)
				result = open_frame(demux, err);
		}
		if (result < 0)
			return result;
		from += take;
		length -= take;
	}
	return 0;
}

int demux_feed(struct demux *demux, const void *bytes, size_t length, demux_sink sink, void *context,
	       struct error **err)
{
	int result;

	if (demux->failed)
		return error_set(err, ERROR_PROTOCOL, "the attach stream was given up before");
	result = feed(demux, bytes, length, sink, context, err);
	demux->failed = result < 0;
	return result;
}

bool demux_whole(const struct demux *demux)
{
	return !demux->failed && demux->header_length == 0 && demux->payload_left == 0;
}
