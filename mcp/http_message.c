/* POST and DELETE /mcp: from a body to an answer, by MCP's rules for sessions, statuses and event streams. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "mcp/http_internal.h"

#define EVENT "event: message\ndata: "
#define STREAM_QUEUE (256 * KIB) /* of notifications that a client did not take yet */
#define REFUSAL_BYTES 128

static void put_parse_failure(struct buf *out, const char *body, size_t length)
{
	char hex[HEX_SHA256], data[REFUSAL_BYTES + HEX_SHA256];
	int written;

	hash_bytes(body, length, hex);
	written = snprintf(data, sizeof(data), "{\"error_code\":\"MCP_PARSE_FAILURE\",\"payload_hash\":\"sha256:%s\"}",
			   hex);
	rpc_put_error(out, RPC_NULL, RPC_PARSE_ERROR, "Parse error",
		      (struct json_span){ .bytes = data, .length = (size_t)written });
}

int http_decode(const char *body, size_t length, struct rpc_message *message, struct buf *out)
{
	static const char invalid[] = "{\"error_code\":\"MCP_INVALID_REQUEST\"}";
	cleanup_error struct error *reason = NULL;
	int r = rpc_decode(body, length, message, &reason);

	if (r == 0)
		return 0;
	if (error_code(reason) == ERROR_INPUT)
		put_parse_failure(out, body, length);
	else
		rpc_put_error(out, RPC_NULL, RPC_INVALID_REQUEST, "Invalid Request",
			      (struct json_span){ .bytes = invalid, .length = sizeof(invalid) - 1 });
	return r;
}

/* ---- what handlers write ---- */

static struct buf *answer(struct mcp_request *request)
{
	struct mcp_http_exchange *exchange = request->carrier;

	if (exchange->streams)
		buf_text(&exchange->out, EVENT);
	return &exchange->out;
}

static struct buf *notice(struct mcp_request *request, size_t length)
{
	struct mcp_http_exchange *exchange = request->carrier;
	size_t waiting = exchange->out.length + sizeof(EVENT);

	if (!exchange->accepts_stream || waiting >= STREAM_QUEUE || length > STREAM_QUEUE - waiting)
		return NULL;
	exchange->streams = true;
	buf_text(&exchange->out, EVENT);
	return &exchange->out;
}

/* An event ends with an empty line. A carriage return would end a line too: outside a string it is white space, and in
 * one it is written \r. */
static void end_event(struct buf *out)
{
	buf_text(out, "\n");
	for (size_t i = 0; i < out->length; i++)
		if (out->data[i] == '\r')
			out->data[i] = ' ';
}

static void noticed(struct mcp_request *request)
{
	struct mcp_http_exchange *exchange = request->carrier;

	end_event(&exchange->out);
	http_stream(exchange);
}

/* A line ends; a body does not. */
static void end_line(struct buf *out)
{
	if (out->length > 0)
		out->data[--out->length] = '\0';
}

static void end_plain(struct mcp_http_exchange *exchange, const struct mcp_request *request)
{
	if (exchange->out.failed) {
		buf_wipe(&exchange->out);
		rpc_put_error(&exchange->out, request->message.id, RPC_INTERNAL_ERROR, "Internal error", RPC_NONE);
		exchange->status = exchange->session ? 200 : 500;
	} else {
		exchange->status = request->status && !exchange->session ? request->status : 200;
	}
	end_line(&exchange->out);
}

/* The exchange of a request that somebody waits for, which lets go of it; else NULL. */
static struct mcp_http_exchange *part(struct mcp_request *request)
{
	struct mcp_http_exchange *exchange = request->carrier;

	request->carrier = NULL;
	if (exchange)
		exchange->request = NULL;
	return exchange;
}

static void answered(struct mcp_request *request)
{
	struct mcp_http_exchange *exchange = part(request);

	if (!exchange)
		return;
	if (exchange->streams)
		end_event(&exchange->out);
	else
		end_plain(exchange, request);
	http_answered(exchange);
}

/* The client asked for this, and waits for no message. */
static void cancelled(struct mcp_request *request)
{
	struct mcp_http_exchange *exchange = part(request);

	if (!exchange)
		return;
	exchange->status = 202;
	exchange->content_type = NULL;
	http_answered(exchange);
}

/* ---- what clients send ---- */

static int take_request(struct mcp_http_exchange *exchange, uint64_t session, struct rpc_message *message,
			struct error **err)
{
	struct mcp_http_server *server = exchange->server;
	int r = 0;

	if (strcmp(message->method, "initialize") == 0)
		r = http_sessions_open(&server->sessions, exchange->new_session, err);
	if (r == 0)
		r = mcp_open(&server->open, exchange, session, message, &exchange->request, err);
	return r < 0 ? r : mcp_run(exchange->request, err);
}

static int take_message(struct mcp_http_exchange *exchange, uint64_t session, struct error **err)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };

	exchange->content_type = "application/json";
	if (http_decode(exchange->body.data, exchange->body.length, &message, &exchange->out) < 0) {
		exchange->status = 400;
		end_line(&exchange->out);
		http_answered(exchange);
		return 0;
	}
	buf_wipe(&exchange->body);
	if (message.kind == RPC_REQUEST)
		return take_request(exchange, session, &message, err);
	/* We ask nothing that could be answered. */
	if (message.kind == RPC_NOTIFICATION)
		mcp_notified(&exchange->server->open, session, &message);
	exchange->status = 202;
	exchange->content_type = NULL;
	http_answered(exchange);
	return 0;
}

static void end_session(struct mcp_http_exchange *exchange, const char *id)
{
	http_sessions_end(&exchange->server->sessions, id);
	exchange->status = 204;
	http_answered(exchange);
}

int http_message(struct mcp_http_exchange *exchange, struct error **err)
{
	const char *id = http_header(exchange, "Mcp-Session-Id");
	uint64_t session = id ? http_sessions_find(&exchange->server->sessions, id) : 0;

	exchange->session = session != 0;
	exchange->accepts_stream = http_accepts_stream(http_header(exchange, "Accept"));
	if (id && !session) {
		http_refuse(exchange, HTTP_SESSION);
	} else if (exchange->deletes) {
		if (id)
			end_session(exchange, id);
		else
			http_refuse(exchange, HTTP_SESSION_MISSING);
	} else {
		return take_message(exchange, session, err);
	}
	return 0;
}

const struct mcp_transport http_transport = {
	.answer = answer,
	.notice = notice,
	.noticed = noticed,
	.cancelled = cancelled,
	.answered = answered,
};
