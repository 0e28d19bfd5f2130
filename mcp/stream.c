#include "mcp/stream.h"

#include <errno.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"

#define READ_BYTES (16 * KIB)
#define UNWATCHED (-1)

int mcp_stream_open(struct mcp_stream *stream, int in, int out, const struct mcp_limits *limits, struct error **err)
{
	int r;

	*stream = (struct mcp_stream){ .in = in,
				       .out = out,
				       .queue_max = limits->queue_max,
				       .queue = BUF(limits->queue_max + MCP_LINE_OVERHEAD),
				       .in_events = UNWATCHED,
				       .out_events = UNWATCHED };
	rpc_framer_init(&stream->framer, limits->line_max);
	r = fd_nonblocking(in, true, err);
	if (r == 0 && out != in)
		r = fd_nonblocking(out, true, err);
	if (r < 0)
		mcp_stream_close(stream);
	return r;
}

static void unwatch(struct mcp_stream *stream)
{
	if (stream->loop && stream->in_events != UNWATCHED)
		loop_remove(stream->loop, stream->in);
	if (stream->loop && stream->out_events != UNWATCHED)
		loop_remove(stream->loop, stream->out);
	stream->in_events = UNWATCHED;
	stream->out_events = UNWATCHED;
	stream->loop = NULL;
}

void mcp_stream_close(struct mcp_stream *stream)
{
	unwatch(stream);
	if (stream->out == stream->in)
		stream->out = -1;
	fd_close(&stream->in);
	fd_close(&stream->out);
	rpc_framer_free(&stream->framer);
	buf_wipe(&stream->queue);
	stream->sent = 0;
}

struct buf *mcp_stream_queue(struct mcp_stream *stream)
{
	return &stream->queue;
}

size_t mcp_stream_pending(const struct mcp_stream *stream)
{
	return stream->queue.length - stream->sent;
}

int mcp_stream_flush(struct mcp_stream *stream, struct error **err)
{
	int r = buf_check(&stream->queue, "lines that wait for an MCP peer", err);

	while (r == 0 && mcp_stream_pending(stream) > 0) {
		ssize_t put = write(stream->out, stream->queue.data + stream->sent, mcp_stream_pending(stream));

		if (put >= 0)
			stream->sent += (size_t)put;
		else if (errno == EAGAIN)
			break;
		else if (errno == EPIPE || errno == ECONNRESET)
			return error_set(err, ERROR_CLOSED, "writing to an MCP peer: it is gone");
		else if (errno != EINTR)
			return error_errno(err, errno, "writing to an MCP peer");
	}
	buf_consume(&stream->queue, stream->sent);
	stream->sent = 0;
	return r;
}

int mcp_stream_read(struct mcp_stream *stream, struct error **err)
{
	char *to = rpc_framer_reserve(&stream->framer, READ_BYTES);
	ssize_t got;

	if (!to)
		return error_set(err, ERROR_MEMORY, "no memory for a line");
	got = read(stream->in, to, READ_BYTES);
	if (got > 0)
		rpc_framer_commit(&stream->framer, (size_t)got);
	else if (got == 0 || errno == ECONNRESET)
		stream->ended = true;
	else if (errno != EAGAIN && errno != EINTR)
		return error_errno(err, errno, "reading from an MCP peer");
	return 0;
}

size_t mcp_stream_fds(const struct mcp_stream *stream, bool reading, struct pollfd fds[2])
{
	bool writing = mcp_stream_pending(stream) > 0;
	size_t count = 0;

	if (stream->in < 0)
		return 0;
	reading = reading && !stream->ended;
	if (stream->in == stream->out) {
		fds[0] = (struct pollfd){ .fd = stream->in,
					  .events = (short)((reading ? POLLIN : 0) | (writing ? POLLOUT : 0)) };
		return fds[0].events ? 1 : 0;
	}
	if (reading)
		fds[count++] = (struct pollfd){ .fd = stream->in, .events = POLLIN };
	if (writing)
		fds[count++] = (struct pollfd){ .fd = stream->out, .events = POLLOUT };
	return count;
}

int mcp_stream_wait(const struct mcp_stream *stream, bool reading, int64_t deadline, struct error **err)
{
	struct pollfd fds[2];
	size_t count = mcp_stream_fds(stream, reading, fds);

	if (deadline <= clock_now())
		return 0;
	if (poll(fds, count, clock_poll_timeout(deadline)) < 0 && errno != EINTR)
		return error_errno(err, errno, "waiting for an MCP peer");
	return 0;
}

static int watch_one(struct loop *loop, int fd, short *known, short wanted, loop_fd_callback callback, void *context,
		     struct error **err)
{
	int r = 0;

	if (*known == wanted)
		return 0;
	if (wanted == UNWATCHED)
		loop_remove(loop, fd);
	else
		r = loop_fd(loop, fd, wanted, callback, context, err);
	if (r == 0)
		*known = wanted;
	return r;
}

int mcp_stream_watch(struct mcp_stream *stream, bool reading, struct loop *loop, loop_fd_callback callback,
		     void *context, struct error **err)
{
	struct pollfd fds[2];
	size_t count = mcp_stream_fds(stream, reading, fds);
	short in = UNWATCHED, out = UNWATCHED;
	int r;

	for (size_t i = 0; i < count; i++)
		*(fds[i].fd == stream->in ? &in : &out) = fds[i].events;
	stream->loop = loop;
	r = watch_one(loop, stream->in, &stream->in_events, in, callback, context, err);
	if (r == 0)
		r = watch_one(loop, stream->out, &stream->out_events, out, callback, context, err);
	return r;
}
