#include "mcp/client.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"

#define HANDSHAKE_BYTES 1024
#define CANCELLED_BYTES 64

/* A call under way; id 0 is a free slot. */
struct pending {
	int64_t id;
	int64_t deadline;
	mcp_done done;
	void *context;
	bool handshake;
};

struct mcp_client {
	struct mcp_stream stream;
	size_t calls_max;
	int64_t last_id;
	struct pending calls[MCP_CLIENT_CALLS];
	mcp_notice notice; /* or NULL */
	void *notice_context;
	bool lost;
};

int mcp_client_new(int in, int out, const struct mcp_limits *limits, struct mcp_client **out_client, struct error **err)
{
	struct mcp_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client) {
		if (out != in)
			fd_close(&out);
		fd_close(&in);
		return error_set(err, ERROR_MEMORY, "no memory for an MCP client");
	}
	r = mcp_stream_open(&client->stream, in, out, limits, err);
	if (r < 0) {
		free(client);
		return r;
	}
	client->calls_max = limits->calls_max < MCP_CLIENT_CALLS ? limits->calls_max : MCP_CLIENT_CALLS;
	*out_client = client;
	return 0;
}

void mcp_client_free(struct mcp_client *client)
{
	if (!client)
		return;
	mcp_stream_close(&client->stream);
	free(client);
}

void mcp_client_on_notification(struct mcp_client *client, mcp_notice callback, void *context)
{
	client->notice = callback;
	client->notice_context = context;
}

size_t mcp_client_calls(const struct mcp_client *client)
{
	size_t count = 0;

	for (size_t i = 0; i < client->calls_max; i++)
		count += client->calls[i].id != 0;
	return count;
}

static struct pending *find(struct mcp_client *client, int64_t id)
{
	for (size_t i = 0; i < client->calls_max; i++)
		if (client->calls[i].id == id)
			return &client->calls[i];
	return NULL;
}

/* The slot is free before the callback, which may start a call. */
static void finish(struct pending *call, const struct mcp_answer *answer)
{
	struct pending told = *call;

	*call = (struct pending){ .id = 0 };
	told.done(told.context, answer);
}

static int start(struct mcp_client *client, const char *method, struct json_span params, const struct pending *call,
		 struct error **err)
{
	struct mcp_stream *stream = &client->stream;
	struct pending *slot = find(client, 0);
	int r;

	if (client->lost)
		return error_set(err, ERROR_CLOSED, "an MCP peer is gone");
	if (!slot)
		return error_set(err, ERROR_LIMIT, "an MCP peer has %zu calls under way", client->calls_max);
	/* Refused here the queue stays usable, refused by the buffer it does not. */
	if (params.length > stream->queue_max - mcp_stream_pending(stream))
		return error_set(err, ERROR_LIMIT, "an MCP peer's queue is full");
	rpc_put_request(mcp_stream_queue(stream), client->last_id + 1, method, params);
	r = mcp_stream_flush(stream, err);
	if (r < 0) {
		client->lost = true;
		return r;
	}
	*slot = *call;
	slot->id = ++client->last_id;
	return 0;
}

int mcp_client_call(struct mcp_client *client, const char *method, struct json_span params, int64_t deadline,
		    mcp_done done, void *context, int64_t *token, struct error **err)
{
	struct pending call = { .deadline = deadline, .done = done, .context = context };
	int r = start(client, method, params, &call, err);

	if (r == 0 && token)
		*token = client->last_id;
	return r;
}

int mcp_client_initialize(struct mcp_client *client, const char *name, const char *version, int64_t deadline,
			  mcp_done done, void *context, struct error **err)
{
	struct pending call = { .deadline = deadline, .done = done, .context = context, .handshake = true };
	cleanup_buf struct buf params = BUF(HANDSHAKE_BYTES);
	struct json_writer writer;
	int r;

	json_begin(&writer, &params);
	json_object(&writer);
	json_member_string(&writer, "protocolVersion", MCP_PROTOCOL);
	json_put_key(&writer, "capabilities");
	json_object(&writer);
	json_object_end(&writer);
	json_put_key(&writer, "clientInfo");
	json_object(&writer);
	json_member_string(&writer, "name", name);
	json_member_string(&writer, "version", version);
	json_object_end(&writer);
	json_object_end(&writer);
	r = buf_check(&params, "the MCP handshake", err);
	return r < 0 ? r : start(client, "initialize", rpc_span(&params), &call, err);
}

/* Best effort: a queue without room is no reason to lose the calls that are left. */
static void tell_cancelled(struct mcp_client *client, int64_t id)
{
	cleanup_buf struct buf params = BUF(CANCELLED_BYTES);
	struct mcp_stream *stream = &client->stream;
	struct json_writer writer;

	if (client->lost || stream->queue_max - mcp_stream_pending(stream) < MCP_LINE_OVERHEAD + CANCELLED_BYTES)
		return;
	json_begin(&writer, &params);
	json_object(&writer);
	json_member_int(&writer, "requestId", id);
	json_object_end(&writer);
	rpc_put_notification(mcp_stream_queue(stream), "notifications/cancelled", rpc_span(&params));
}

void mcp_client_cancel(struct mcp_client *client, int64_t token)
{
	struct pending *call = token > 0 ? find(client, token) : NULL;

	if (!call)
		return;
	*call = (struct pending){ .id = 0 };
	tell_cancelled(client, token);
}

static bool speaks_our_protocol(const struct json_node *result)
{
	const char *version = json_string(json_member(result, "protocolVersion"));

	return version && mcp_speaks(version);
}

/* What a server may ask of us: whether we are alive. */
static void answer_peer(struct mcp_client *client, const struct rpc_message *message)
{
	struct buf *queue = mcp_stream_queue(&client->stream);

	if (strcmp(message->method, "ping") == 0)
		rpc_put_result(queue, message->id, (struct json_span){ .bytes = "{}", .length = 2 });
	else
		rpc_put_error(queue, message->id, RPC_METHOD_NOT_FOUND, "Method not found", RPC_NONE);
}

static int deliver(struct mcp_client *client, const struct rpc_message *message, struct error **err)
{
	struct mcp_answer answer = { .outcome = message->kind == RPC_RESULT ? MCP_RESULT : MCP_ERROR,
				     .result = message->result,
				     .error = message->error,
				     .code = message->code,
				     .error_code = message->error_code };
	struct pending *call = message->number > 0 ? find(client, message->number) : NULL;

	if (message->number <= 0 || message->number > client->last_id)
		return error_set(err, ERROR_PROTOCOL, "an MCP peer answers what was not asked");
	/* An answer that comes after its deadline or its cancelling is no fault. */
	if (!call)
		return 0;
	if (call->handshake && answer.outcome == MCP_RESULT) {
		if (speaks_our_protocol(message->result)) {
			rpc_put_notification(mcp_stream_queue(&client->stream), "notifications/initialized", RPC_NONE);
		} else {
			answer.outcome = MCP_LOST;
			answer.result = NULL;
		}
	}
	finish(call, &answer);
	return 0;
}

static int take_line(struct mcp_client *client, struct json_span line, struct error **err)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };
	int r = rpc_decode(line.bytes, line.length, &message, err);

	if (r < 0)
		return r;
	if (message.kind == RPC_REQUEST)
		answer_peer(client, &message);
	else if (message.kind == RPC_NOTIFICATION && client->notice)
		client->notice(client->notice_context, message.method, message.params);
	else if (message.kind != RPC_NOTIFICATION)
		r = deliver(client, &message, err);
	return r;
}

static int take_lines(struct mcp_client *client, struct error **err)
{
	struct json_span line;
	int r;

	do {
		r = rpc_framer_next(&client->stream.framer, &line, err);
		if (r > 0)
			r = take_line(client, line, err) < 0 ? -1 : 1;
	} while (r > 0);
	return r;
}

static void expire(struct mcp_client *client)
{
	static const struct mcp_answer answer = { .outcome = MCP_TIMEOUT, .error_code = "" };
	int64_t now = clock_now();

	for (size_t i = 0; i < client->calls_max; i++) {
		int64_t id = client->calls[i].id;

		if (id == 0 || client->calls[i].deadline > now)
			continue;
		/* The protocol lets everything be cancelled but the handshake. */
		if (!client->calls[i].handshake)
			tell_cancelled(client, id);
		finish(&client->calls[i], &answer);
	}
}

/* Calls that a callback starts from here on fail, since the peer is marked as lost. */
void mcp_client_lose(struct mcp_client *client)
{
	static const struct mcp_answer answer = { .outcome = MCP_LOST, .error_code = "" };

	client->lost = true;
	for (size_t i = 0; i < client->calls_max; i++)
		if (client->calls[i].id != 0)
			finish(&client->calls[i], &answer);
}

static int exchange(struct mcp_client *client, struct error **err)
{
	int r = mcp_stream_read(&client->stream, err);

	if (r == 0)
		r = take_lines(client, err);
	if (r == 0 && client->stream.ended)
		r = error_set(err, ERROR_CLOSED, "an MCP peer is gone");
	if (r < 0)
		return r;
	expire(client);
	return mcp_stream_flush(&client->stream, err);
}

int mcp_client_dispatch(struct mcp_client *client, int64_t deadline, struct error **err)
{
	int64_t nearest = mcp_client_deadline(client);
	int r = client->lost ? error_set(err, ERROR_CLOSED, "an MCP peer is gone")
			     : mcp_stream_wait(&client->stream, true, deadline < nearest ? deadline : nearest, err);

	if (r == 0)
		r = exchange(client, err);
	if (r < 0)
		mcp_client_lose(client);
	return r;
}

int64_t mcp_client_deadline(const struct mcp_client *client)
{
	int64_t nearest = NEVER;

	for (size_t i = 0; i < client->calls_max; i++)
		if (client->calls[i].id != 0 && client->calls[i].deadline < nearest)
			nearest = client->calls[i].deadline;
	return nearest;
}

size_t mcp_client_fds(const struct mcp_client *client, struct pollfd fds[2])
{
	return mcp_stream_fds(&client->stream, true, fds);
}

int mcp_client_watch(struct mcp_client *client, struct loop *loop, loop_fd_callback callback, void *context,
		     struct error **err)
{
	return mcp_stream_watch(&client->stream, !client->lost, loop, callback, context, err);
}

static void begin_tool_call(struct json_writer *writer, struct buf *out, const char *tool, struct json_span arguments)
{
	json_begin(writer, out);
	json_object(writer);
	json_member_string(writer, "name", tool);
	json_put_key(writer, "arguments");
	json_put_raw(writer, arguments.bytes, arguments.length);
}

void mcp_put_tool_call(struct buf *out, const char *tool, struct json_span arguments)
{
	struct json_writer writer;

	begin_tool_call(&writer, out, tool, arguments);
	json_object_end(&writer);
}

void mcp_put_tool_call_meta(struct buf *out, const char *tool, struct json_span arguments,
			    const struct mcp_call_meta *meta)
{
	struct json_writer writer;

	begin_tool_call(&writer, out, tool, arguments);
	if (meta->progress || meta->call_id) {
		json_put_key(&writer, "_meta");
		json_object(&writer);
		if (meta->progress)
			json_member_int(&writer, "progressToken", meta->progress);
		if (meta->call_id)
			json_member_string(&writer, "call_id", meta->call_id);
		json_object_end(&writer);
	}
	json_object_end(&writer);
}
