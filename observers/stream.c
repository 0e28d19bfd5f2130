#include "observers/stream.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"

#define CHUNK_BYTES (64 * KIB)

static int take(struct stream *stream, const char *bytes, size_t length, struct error **err)
{
	uint64_t room = stream->max - stream->bytes;

	if (length > room) {
		stream->reason = WIRE_REASON_LIMIT;
		length = (size_t)room;
	}
	stream->bytes += length;
	return length ? stream->sink(stream->context, bytes, length, err) : 0;
}

static void end(struct stream *stream)
{
	stream->ended = true;
	stream_close(stream);
}

/* Reads once; nothing to read is no error. */
static int read_some(struct stream *stream, struct error **err)
{
	char chunk[CHUNK_BYTES];
	ssize_t got = read(stream->fd, chunk, sizeof(chunk));
	int status = 0;

	if (got > 0) {
		status = take(stream, chunk, (size_t)got, err);
		explicit_bzero(chunk, (size_t)got);
	} else if (got == 0) {
		end(stream);
	} else if (errno != EAGAIN && errno != EINTR) {
		status = error_errno(err, errno, "reading an input");
	}
	return status;
}

static int on_readable(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	return read_some(context, err);
}

int stream_open(struct stream *stream, struct loop *loop, int fd, struct error **err)
{
	int status;

	if (stream->came) {
		fd_close(&fd);
		return error_set(err, ERROR_PROTOCOL, "an input came twice");
	}
	stream->came = true;
	stream->fd = fd;
	stream->loop = loop;
	status = fd_nonblocking(fd, true, err);
	if (status)
		return status;
	return loop_fd(loop, fd, POLLIN, on_readable, stream, err);
}

int stream_finish(struct stream *stream, int64_t deadline, struct error **err)
{
	while (stream->fd >= 0) {
		int ready = clock_now() < deadline ? fd_wait(stream->fd, POLLIN, deadline, err) : 0;
		int status;

		if (ready < 0)
			return ready;
		if (!ready) {
			stream_close(stream);
			return 0;
		}
		status = read_some(stream, err);
		if (status)
			return status;
	}
	return 0;
}

enum wire_reason stream_reason(const struct stream *stream)
{
	if (!stream->came)
		return WIRE_REASON_INPUT_MISSING;
	if (stream->reason != WIRE_REASON_NONE)
		return stream->reason;
	return stream->ended ? WIRE_REASON_NONE : WIRE_REASON_TIMEOUT;
}

void stream_close(struct stream *stream)
{
	if (stream->fd >= 0 && stream->loop)
		loop_remove(stream->loop, stream->fd);
	fd_close(&stream->fd);
}

int input_take(const struct input *inputs, size_t count, const char *name, int fd, struct loop *loop,
	       struct error **err)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(inputs[i].name, name) != 0)
			continue;
		if (inputs[i].folder) {
			fd_close(inputs[i].folder);
			*inputs[i].folder = fd;
			return 0;
		}
		return stream_open(inputs[i].stream, loop, fd, err);
	}
	fd_close(&fd);
	return error_set(err, ERROR_PROTOCOL, "an input that this observer does not know");
}
