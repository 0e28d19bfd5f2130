#include "mcp/server.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "mcp/rpc.h"
#include "mcp/transport.h"

#define ONLY_PEER 1 /* a pipe has one */

struct mcp_server {
	struct mcp_stream stream;
	struct mcp_limits limits;
	struct mcp_requests open;
};

static const struct mcp_transport transport;

int mcp_server_new(int in, int out, const struct mcp_server_options *options, struct mcp_server **out_server,
		   struct error **err)
{
	struct mcp_server *server = calloc(1, sizeof(*server));
	int r;

	if (!server) {
		if (out != in)
			fd_close(&out);
		fd_close(&in);
		return error_set(err, ERROR_MEMORY, "no memory for an MCP server");
	}
	r = mcp_stream_open(&server->stream, in, out, &options->limits, err);
	if (r < 0) {
		free(server);
		return r;
	}
	server->limits = options->limits;
	server->open.transport = &transport;
	server->open.service = (struct mcp_service){ .name = options->name,
						     .version = options->version,
						     .handlers = options->handlers,
						     .context = options->context,
						     .cancelled = options->cancelled };
	*out_server = server;
	return 0;
}

void mcp_server_free(struct mcp_server *server)
{
	if (!server)
		return;
	mcp_requests_free(&server->open);
	mcp_stream_close(&server->stream);
	free(server);
}

static struct buf *answer(struct mcp_request *request)
{
	struct mcp_server *server = request->carrier;

	return mcp_stream_queue(&server->stream);
}

/* Answers have the queue's second half to themselves. */
static struct buf *notice(struct mcp_request *request, size_t length)
{
	struct mcp_server *server = request->carrier;
	size_t pending = mcp_stream_pending(&server->stream), room = server->limits.queue_max / 2;

	return pending < room && length < room - pending ? mcp_stream_queue(&server->stream) : NULL;
}

static void refuse_line(struct mcp_server *server, const struct error *reason)
{
	struct buf *queue = mcp_stream_queue(&server->stream);

	if (error_code(reason) == ERROR_INPUT)
		rpc_put_error(queue, RPC_NULL, RPC_PARSE_ERROR, "Parse error", RPC_NONE);
	else
		rpc_put_error(queue, RPC_NULL, RPC_INVALID_REQUEST, "Invalid Request", RPC_NONE);
}

static int take_request(struct mcp_server *server, struct rpc_message *message, struct error **err)
{
	struct mcp_request *request;
	int r = mcp_open(&server->open, server, ONLY_PEER, message, &request, err);

	return r < 0 ? r : mcp_run(request, err);
}

static int take_line(struct mcp_server *server, struct json_span line, struct error **err)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_error struct error *reason = NULL;

	if (rpc_decode(line.bytes, line.length, &message, &reason) < 0) {
		refuse_line(server, reason);
		return 0;
	}
	if (message.kind == RPC_REQUEST)
		return take_request(server, &message, err);
	/* We ask nothing that could be answered. */
	if (message.kind == RPC_NOTIFICATION)
		mcp_notified(&server->open, ONLY_PEER, &message);
	return 0;
}

static bool accepting(const struct mcp_server *server)
{
	return server->open.count < server->limits.calls_max &&
	       mcp_stream_pending(&server->stream) <= server->limits.queue_max / 2;
}

/* 0 when no whole line is left, 1 when lines may have to wait. */
static int take_lines(struct mcp_server *server, struct error **err)
{
	struct json_span line;
	int r = 1;

	while (r > 0 && accepting(server)) {
		r = rpc_framer_next(&server->stream.framer, &line, err);
		if (r > 0 && take_line(server, line, err) < 0)
			return -1;
		if (r > 0 && !accepting(server) && mcp_stream_flush(&server->stream, err) < 0)
			return -1;
	}
	return r;
}

static int settle(struct mcp_server *server, int left, struct error **err)
{
	int r = left < 0 ? left : mcp_stream_flush(&server->stream, err);

	if (r < 0)
		return r;
	return left == 0 && server->stream.ended;
}

int mcp_server_dispatch(struct mcp_server *server, int64_t deadline, struct error **err)
{
	struct mcp_stream *stream = &server->stream;
	int r = mcp_stream_wait(stream, accepting(server), deadline, err);

	if (r == 0)
		r = take_lines(server, err);
	/* Nothing is read while lines wait: they would grow without end. */
	if (r == 0 && !stream->ended) {
		r = mcp_stream_read(stream, err);
		if (r == 0)
			r = take_lines(server, err);
	}
	return settle(server, r, err);
}

int mcp_server_resume(struct mcp_server *server, struct error **err)
{
	int r = mcp_stream_flush(&server->stream, err);

	return settle(server, r < 0 ? r : take_lines(server, err), err);
}

int mcp_server_flush(struct mcp_server *server, int64_t deadline, struct error **err)
{
	int r;

	for (;;) {
		r = mcp_stream_flush(&server->stream, err);
		if (r < 0 || mcp_stream_pending(&server->stream) == 0)
			return r;
		r = fd_wait(server->stream.out, POLLOUT, deadline, err);
		if (r <= 0)
			return r < 0 ? r : error_set(err, ERROR_TIMEOUT, "writing to an MCP peer: the deadline passed");
	}
}

int mcp_server_serve(struct mcp_server *server, int64_t end, int last_ms, struct error **err)
{
	int r = 0;

	while (r == 0) {
		r = mcp_server_dispatch(server, end, err);
		if (r == 0 && clock_now() >= end)
			r = error_set(err, ERROR_TIMEOUT, "nobody ended it");
	}
	return r < 0 ? r : mcp_server_flush(server, clock_deadline(last_ms), err);
}

size_t mcp_server_fds(const struct mcp_server *server, struct pollfd fds[2])
{
	return mcp_stream_fds(&server->stream, accepting(server), fds);
}

int mcp_server_watch(struct mcp_server *server, struct loop *loop, loop_fd_callback callback, void *context,
		     struct error **err)
{
	return mcp_stream_watch(&server->stream, accepting(server), loop, callback, context, err);
}

static const struct mcp_transport transport = { .answer = answer, .notice = notice };
