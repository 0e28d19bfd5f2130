/* One HTTP request within libmicrohttpd: its body, waiting for the answer, and the answer's bytes. */
#include "mcp/http_exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

/* A refused body is read to its end, so that the client reads the refusal, unless it is longer. */
#define DISCARD_BYTES (4 * MIB)
/* Around an answer: its envelope, or a stream's events. */
#define OUT_OVERHEAD (512 * KIB)
#define STREAM_BLOCK (16 * KIB)

const char *http_header(const struct mcp_http_exchange *exchange, const char *name)
{
	return MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, name);
}

const char *mcp_http_exchange_query(const struct mcp_http_exchange *exchange, const char *key)
{
	return exchange->connection ? MHD_lookup_connection_value(exchange->connection, MHD_GET_ARGUMENT_KIND, key)
				    : NULL;
}

static void phase(struct mcp_http_exchange *exchange, enum http_phase next)
{
	exchange->peer->phase = next;
	exchange->peer->since = clock_now();
}

/* Brings the server's count of bytes up to date. */
static void count(struct mcp_http_exchange *exchange)
{
	size_t held = exchange->body.length + exchange->out.length;

	exchange->server->held += held - exchange->held;
	exchange->held = held;
}

/* ---- life ---- */

static void free_exchange(struct mcp_http_exchange *exchange)
{
	buf_wipe(&exchange->body);
	buf_wipe(&exchange->out);
	count(exchange);
	if (exchange->previous)
		exchange->previous->next = exchange->next;
	else
		exchange->server->exchanges = exchange->next;
	if (exchange->next)
		exchange->next->previous = exchange->previous;
	free(exchange);
}

static struct mcp_http_exchange *begin(struct mcp_http_server *server, struct MHD_Connection *connection,
				       const char *path, const char *method)
{
	struct http_connection *peer =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	struct mcp_http_exchange *exchange = peer ? calloc(1, sizeof(*exchange)) : NULL;
	struct http_head head;

	if (!exchange)
		return NULL;
	*exchange = (struct mcp_http_exchange){ .server = server,
						.next = server->exchanges,
						.connection = connection,
						.peer = peer,
						.body = BUF(MCP_HTTP_BODY_BYTES),
						.out = BUF(server->answer_max + OUT_OVERHEAD) };
	if (exchange->next)
		exchange->next->previous = exchange;
	server->exchanges = peer->exchange = exchange;
	head = (struct http_head){ .method = method,
				   .path = path,
				   .host = http_header(exchange, "Host"),
				   .origin = http_header(exchange, "Origin"),
				   .authorization = http_header(exchange, "Authorization"),
				   .protocol = http_header(exchange, "MCP-Protocol-Version") };
	exchange->refused = http_admit(&server->gate, &head, &exchange->route, exchange->id);
	exchange->deletes = !exchange->route && strcmp(method, "DELETE") == 0;
	phase(exchange, HTTP_SENDS);
	return exchange;
}

/* ---- waiting ---- */

/* False: its client is gone already. */
static bool suspend(struct mcp_http_exchange *exchange)
{
	if (exchange->peer->ended)
		return false;
	MHD_suspend_connection(exchange->connection);
	exchange->suspended = true;
	return true;
}

static void resume(struct mcp_http_exchange *exchange)
{
	if (!exchange->suspended)
		return;
	exchange->suspended = false;
	MHD_resume_connection(exchange->connection);
	http_stir(exchange->server);
}

void http_answered(struct mcp_http_exchange *exchange)
{
	exchange->state = HTTP_ANSWERED;
	if (!exchange->connection) {
		free_exchange(exchange);
		return;
	}
	count(exchange);
	phase(exchange, HTTP_TAKES);
	resume(exchange);
}

void http_stream(struct mcp_http_exchange *exchange)
{
	count(exchange);
	resume(exchange);
}

void http_lost(struct mcp_http_exchange *exchange)
{
	struct mcp_request *request = exchange->request;

	if (exchange->lost)
		return;
	exchange->lost = true;
	resume(exchange);
	if (!request)
		return;
	exchange->request = NULL;
	request->carrier = NULL;
	mcp_cancel(request);
}

void http_on_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode reason)
{
	struct mcp_http_exchange *exchange = *request;

	(void)context;
	(void)connection;
	(void)reason;
	*request = NULL;
	if (!exchange)
		return;
	phase(exchange, HTTP_IDLE);
	if (!exchange->server->ending)
		http_lost(exchange);
	exchange->connection = NULL;
	exchange->peer->exchange = NULL;
	exchange->peer = NULL;
	/* A route's handler still has it, and answers it. */
	if (exchange->state != HTTP_PENDING || !exchange->route)
		free_exchange(exchange);
}

void http_resume_all(struct mcp_http_server *server)
{
	for (struct mcp_http_exchange *exchange = server->exchanges; exchange; exchange = exchange->next)
		resume(exchange);
}

void http_free_all(struct mcp_http_server *server)
{
	while (server->exchanges)
		free_exchange(server->exchanges);
}

/* ---- answering ---- */

void http_refuse(struct mcp_http_exchange *exchange, enum http_refused refused)
{
	const struct http_refusal *row = http_refusal(refused);

	buf_wipe(&exchange->out);
	buf_text(&exchange->out, row->body);
	exchange->status = row->status;
	exchange->content_type = "application/json";
	exchange->header = row->header;
	exchange->value = row->value;
	if (refused == HTTP_METHOD)
		exchange->value = exchange->route ? exchange->route->method : "POST, DELETE";
	http_answered(exchange);
}

/* The next bytes of an event stream. With none there it waits as the first answer does. */
static ssize_t read_stream(void *context, uint64_t at, char *to, size_t room)
{
	struct mcp_http_exchange *exchange = context;
	struct buf *out = &exchange->out;
	size_t left = out->length - exchange->given, length = left < room ? left : room;

	(void)at;
	if (exchange->lost || out->failed || exchange->server->ending)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (length == 0 && exchange->state == HTTP_ANSWERED)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (length == 0)
		return suspend(exchange) ? 0 : MHD_CONTENT_READER_END_WITH_ERROR;
	memcpy(to, out->data + exchange->given, length);
	exchange->given += length;
	/* Moved when half of it went: each byte once or twice. */
	if (exchange->given > out->length / 2) {
		buf_consume(out, exchange->given);
		exchange->given = 0;
		count(exchange);
	}
	return (ssize_t)length;
}

static struct MHD_Response *make_response(struct mcp_http_exchange *exchange)
{
	if (exchange->streams)
		return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, exchange, NULL);
	return MHD_create_response_from_buffer(exchange->out.length, exchange->out.data, MHD_RESPMEM_PERSISTENT);
}

static bool add_headers(const struct mcp_http_exchange *exchange, struct MHD_Response *response)
{
	const struct {
		const char *name, *value;
	} rows[] = {
		{ "Content-Type", exchange->streams ? "text/event-stream" : exchange->content_type },
		{ "Cache-Control", "no-store" },
		{ "Mcp-Session-Id", *exchange->new_session ? exchange->new_session : NULL },
		{ "Retry-After", *exchange->retry_after ? exchange->retry_after : NULL },
		{ exchange->header, exchange->value },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].value && MHD_add_response_header(response, rows[i].name, rows[i].value) != MHD_YES)
			return false;
	return true;
}

static enum MHD_Result queue(struct mcp_http_exchange *exchange)
{
	struct MHD_Response *response = make_response(exchange);
	enum MHD_Result result = MHD_NO;

	if (!response)
		return MHD_NO;
	if (add_headers(exchange, response))
		result = MHD_queue_response(exchange->connection,
					    exchange->streams ? MHD_HTTP_OK : (unsigned)exchange->status, response);
	exchange->queued = true;
	MHD_destroy_response(response);
	return result;
}

/* ---- reading ---- */

/* Whether the refusal should come before the body: the client waits for our leave, or sends more than we discard. */
static bool answers_early(const struct mcp_http_exchange *exchange)
{
	const char *length = http_header(exchange, "Content-Length");

	return http_header(exchange, "Expect") || (length && strtoumax(length, NULL, 10) > DISCARD_BYTES);
}

static enum MHD_Result take_head(struct mcp_http_exchange *exchange)
{
	const char *length = http_header(exchange, "Content-Length");

	if (exchange->refused == HTTP_PASSED && length && strtoumax(length, NULL, 10) > MCP_HTTP_BODY_BYTES)
		exchange->refused = HTTP_TOO_LARGE;
	if (exchange->refused == HTTP_PASSED && exchange->server->held > HTTP_HELD_BYTES)
		exchange->refused = HTTP_BUSY;
	if (exchange->refused == HTTP_PASSED || !answers_early(exchange))
		return MHD_YES;
	http_refuse(exchange, exchange->refused);
	return queue(exchange);
}

static enum MHD_Result take_body(struct mcp_http_exchange *exchange, const char *bytes, size_t length)
{
	if (exchange->refused == HTTP_PASSED && exchange->server->held + length > HTTP_HELD_BYTES)
		exchange->refused = HTTP_BUSY;
	if (exchange->refused == HTTP_PASSED && buf_add(&exchange->body, bytes, length) < 0)
		exchange->refused = exchange->body.no_memory ? HTTP_BUSY : HTTP_TOO_LARGE;
	if (exchange->refused != HTTP_PASSED) {
		buf_wipe(&exchange->body);
		exchange->discarded += length;
	}
	count(exchange);
	return exchange->discarded > DISCARD_BYTES ? MHD_NO : MHD_YES;
}

static int run(struct mcp_http_exchange *exchange, struct error **err)
{
	exchange->state = HTTP_PENDING;
	phase(exchange, HTTP_WORKS);
	if (exchange->refused != HTTP_PASSED)
		http_refuse(exchange, exchange->refused);
	else if (exchange->route)
		return exchange->route->run(exchange->server->context, exchange, err);
	else
		return http_message(exchange, err);
	return 0;
}

/* The whole request is here: called once, and again each time the connection was resumed. */
static enum MHD_Result proceed(struct mcp_http_exchange *exchange)
{
	struct mcp_http_server *server = exchange->server;
	struct error *err = NULL;

	if (exchange->lost)
		return MHD_NO;
	if (exchange->state == HTTP_READING && run(exchange, &err) < 0) {
		error_keep_first(&server->failure, &err);
		return MHD_NO;
	}
	count(exchange);
	if (exchange->queued)
		return MHD_YES;
	if (exchange->streams || exchange->state == HTTP_ANSWERED)
		return queue(exchange);
	return suspend(exchange) ? MHD_YES : MHD_NO;
}

enum MHD_Result http_on_request(void *context, struct MHD_Connection *connection, const char *path, const char *method,
				const char *version, const char *bytes, size_t *length, void **request)
{
	struct mcp_http_server *server = context;
	struct mcp_http_exchange *exchange = *request;
	size_t given = *length;

	(void)version;
	if (server->ending || server->failure)
		return MHD_NO;
	if (!exchange) {
		*request = exchange = begin(server, connection, path, method);
		return exchange ? take_head(exchange) : MHD_NO;
	}
	if (given == 0)
		return proceed(exchange);
	*length = 0;
	return take_body(exchange, bytes, given);
}

/* ---- for routes ---- */

const char *mcp_http_exchange_id(const struct mcp_http_exchange *exchange)
{
	return exchange->id;
}

struct json_span mcp_http_exchange_body(const struct mcp_http_exchange *exchange)
{
	return (struct json_span){ .bytes = buf_string(&exchange->body), .length = exchange->body.length };
}

void mcp_http_exchange_retry_after(struct mcp_http_exchange *exchange, unsigned seconds)
{
	snprintf(exchange->retry_after, sizeof(exchange->retry_after), "%u", seconds);
}

void mcp_http_exchange_answer(struct mcp_http_exchange *exchange, int status, const char *content_type,
			      struct json_span body)
{
	if (body.length > exchange->server->answer_max || buf_add(&exchange->out, body.bytes, body.length) < 0) {
		http_refuse(exchange, HTTP_FAILED);
		return;
	}
	exchange->status = status;
	exchange->content_type = content_type;
	http_answered(exchange);
}
