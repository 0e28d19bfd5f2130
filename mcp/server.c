#include "mcp/server.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "mcp/rpc.h"

#define HANDSHAKE_BYTES 1024

struct mcp_request {
	struct mcp_server *server;
	struct mcp_request *next;
	struct rpc_message message;
};

struct mcp_server {
	struct mcp_stream stream;
	struct mcp_server_options options;
	struct mcp_request *open;
	size_t open_count;
};

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
	server->options = *options;
	*out_server = server;
	return 0;
}

/* Takes the request out of the open ones. */
static void drop(struct mcp_request *request)
{
	struct mcp_server *server = request->server;
	struct mcp_request **at = &server->open;

	while (*at != request)
		at = &(*at)->next;
	*at = request->next;
	server->open_count--;
	rpc_message_free(&request->message);
	free(request);
}

void mcp_server_free(struct mcp_server *server)
{
	if (!server)
		return;
	while (server->open)
		drop(server->open);
	mcp_stream_close(&server->stream);
	free(server);
}

const struct json_node *mcp_request_params(const struct mcp_request *request)
{
	return request->message.params;
}

void mcp_request_result(struct mcp_request *request, struct json_span result)
{
	rpc_put_result(mcp_stream_queue(&request->server->stream), request->message.id, result);
	drop(request);
}

void mcp_request_error(struct mcp_request *request, int code, const char *message, struct json_span data)
{
	rpc_put_error(mcp_stream_queue(&request->server->stream), request->message.id, code, message, data);
	drop(request);
}

static void initialize(struct mcp_request *request)
{
	const struct mcp_server_options *options = &request->server->options;
	cleanup_buf struct buf result = BUF(HANDSHAKE_BYTES);
	struct json_writer writer;

	json_begin(&writer, &result);
	json_object(&writer);
	json_member_string(&writer, "protocolVersion", MCP_PROTOCOL);
	json_put_key(&writer, "capabilities");
	json_object(&writer);
	json_put_key(&writer, "tools");
	json_object(&writer);
	json_object_end(&writer);
	json_object_end(&writer);
	json_put_key(&writer, "serverInfo");
	json_object(&writer);
	json_member_string(&writer, "name", options->name);
	json_member_string(&writer, "version", options->version);
	json_object_end(&writer);
	json_object_end(&writer);
	mcp_request_result(request, rpc_span(&result));
}

static int handle(struct mcp_request *request, struct error **err)
{
	const struct mcp_server_options *options = &request->server->options;
	const char *method = request->message.method;

	if (strcmp(method, "initialize") == 0) {
		initialize(request);
		return 0;
	}
	if (strcmp(method, "ping") == 0) {
		mcp_request_result(request, (struct json_span){ .bytes = "{}", .length = 2 });
		return 0;
	}
	for (const struct mcp_handler *handler = options->handlers; handler->method; handler++)
		if (strcmp(method, handler->method) == 0)
			return handler->run(options->context, request, err);
	mcp_request_error(request, RPC_METHOD_NOT_FOUND, "Method not found", RPC_NONE);
	return 0;
}

static int take_request(struct mcp_server *server, struct rpc_message *message, struct error **err)
{
	struct mcp_request *request = malloc(sizeof(*request));

	if (!request)
		return error_set(err, ERROR_MEMORY, "no memory for an MCP request");
	*request = (struct mcp_request){ .server = server, .next = server->open, .message = *message };
	*message = (struct rpc_message){ .document = NULL };
	server->open = request;
	server->open_count++;
	return handle(request, err);
}

static void refuse_line(struct mcp_server *server, const struct error *reason)
{
	struct buf *queue = mcp_stream_queue(&server->stream);

	if (error_code(reason) == ERROR_INPUT)
		rpc_put_error(queue, RPC_NULL, RPC_PARSE_ERROR, "Parse error", RPC_NONE);
	else
		rpc_put_error(queue, RPC_NULL, RPC_INVALID_REQUEST, "Invalid Request", RPC_NONE);
}

static int take_line(struct mcp_server *server, struct json_span line, struct error **err)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_error struct error *reason = NULL;

	if (rpc_decode(line.bytes, line.length, &message, &reason) < 0) {
		refuse_line(server, reason);
		return 0;
	}
	/* Notifications ask for nothing, and we ask nothing that could be answered. */
	return message.kind == RPC_REQUEST ? take_request(server, &message, err) : 0;
}

static bool accepting(const struct mcp_server *server)
{
	return server->open_count < server->options.limits.calls_max &&
	       mcp_stream_pending(&server->stream) <= server->options.limits.queue_max / 2;
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

size_t mcp_server_fds(const struct mcp_server *server, struct pollfd fds[2])
{
	return mcp_stream_fds(&server->stream, accepting(server), fds);
}

int mcp_server_watch(struct mcp_server *server, struct loop *loop, loop_fd_callback callback, void *context,
		     struct error **err)
{
	return mcp_stream_watch(&server->stream, accepting(server), loop, callback, context, err);
}
