/*
 * An MCP endpoint over HTTP as lines: each message on stdin is POSTed to one URL, what answers it is written to stdout
 * as it comes, in whatever order. Bridge and gateway reach an HTTP server through it, so that neither links libcurl.
 *
 *   mcp-http URL MILLISECONDS    descriptor 3: the bearer token, read to its end; nothing in it is no token
 *
 * Every request has a connection of its own: a kept one that had died would be tried again, and a call may have had its
 * effect by then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/http.h"
#include "core/limits.h"
#include "core/schema.h"
#include "core/spawn.h"
#include "mcp/http_meaning.h"
#include "mcp/sse.h"
#include "mcp/stream.h"

#define FD_TOKEN 3
#define CALLS 16
#define TOKEN_BYTES (4 * KIB)
#define TOKEN_MS 5000
#define QUIET_MS 5000 /* of what has no answer: the next line waits so long for it */
#define LAST_MS 1000 /* of taking the session back, and of what is still to be written */
#define CALL_MS_MAX (60 * 60 * 1000)
#define VERSION_BYTES 16
#define QUEUE_BYTES ((size_t)(CALLS + 2) * MCP_LINE_BYTES)
#define EXIT_ERROR 3
#define EXIT_USAGE 4

enum call_kind {
	CALL_NONE,
	CALL_REQUEST,
	CALL_HANDSHAKE, /* a request that names session and version for all that follow */
	CALL_QUIET, /* a notification, or an answer to the server */
	CALL_CANCELLED, /* a notification that nothing waits for */
};

struct call {
	enum call_kind kind;
	struct relay *relay;
	struct http_request *http;
	struct buf body, answer; /* what is sent; what came that is no event stream */
	char id[RPC_ID_BYTES];
	size_t id_length;
	bool ping;
	bool answered; /* the caller has its line */
	struct sse sse;
};

struct relay {
	struct mcp_stream stream;
	struct http_client *client;
	const char *path;
	int64_t call_ms;
	struct buf authorization;
	char session[HTTP_SESSION_BYTES], version[VERSION_BYTES];
	struct call calls[CALLS];
};

static struct json_span id_of(const struct call *call)
{
	return (struct json_span){ .bytes = call->id, .length = call->id_length };
}

static void end_call(struct call *call)
{
	http_cancel(call->relay->client, call->http);
	buf_wipe(&call->body);
	buf_wipe(&call->answer);
	sse_free(&call->sse);
	*call = (struct call){ .kind = CALL_NONE };
}

/* ---- what comes from the server ---- */

/* A server that says anything to a ping lives, whether it knows the method or not. */
static bool put_answer(struct call *call, const struct rpc_message *message)
{
	struct buf *out = mcp_stream_queue(&call->relay->stream);

	if (call->ping && message->kind == RPC_ERROR && message->code == RPC_METHOD_NOT_FOUND) {
		rpc_put_result(out, id_of(call), (struct json_span){ .bytes = "{}", .length = 2 });
		return true;
	}
	return http_put_answer(out, id_of(call), message);
}

static void put_line(struct buf *out, struct json_span line)
{
	size_t before = out->length;

	buf_add(out, line.bytes, line.length);
	/* Between the values of a document a newline is white space, and within one it is written \n. */
	for (size_t i = before; i < out->length; i++)
		if (out->data[i] == '\n' || out->data[i] == '\r')
			out->data[i] = ' ';
	buf_text(out, "\n");
}

static void keep_version(struct call *call, const struct rpc_message *message)
{
	const char *version = json_string(json_member(message->result, "protocolVersion"));

	if (call->kind == CALL_HANDSHAKE && version && strlen(version) < VERSION_BYTES &&
	    strspn(version, "0123456789-") == strlen(version))
		snprintf(call->relay->version, VERSION_BYTES, "%s", version);
}

/* One message of an event stream. */
static int on_event(void *context, struct json_span data, struct error **err)
{
	struct call *call = context;
	cleanup_rpc struct rpc_message message = { .document = NULL };

	if (call->answered)
		return 0;
	if (rpc_decode(data.bytes, data.length, &message, err) < 0)
		return error_wrap(err, "an event");
	if (message.kind == RPC_REQUEST || message.kind == RPC_NOTIFICATION) {
		put_line(mcp_stream_queue(&call->relay->stream), data);
		return 0;
	}
	keep_version(call, &message);
	call->answered = put_answer(call, &message);
	return call->answered ? 0 : error_set(err, ERROR_PROTOCOL, "an answer to another request");
}

static int on_body(void *context, const void *bytes, size_t length, struct error **err)
{
	static const char events[] = "text/event-stream";
	struct call *call = context;

	if (call->kind == CALL_QUIET || call->kind == CALL_CANCELLED)
		return 0;
	if (strncasecmp(http_content_type(call->http), events, sizeof(events) - 1) == 0)
		return sse_feed(&call->sse, bytes, length, err);
	buf_add(&call->answer, bytes, length);
	return buf_check(&call->answer, "an answer", err);
}

static void take_body(struct call *call, long status, struct json_span body)
{
	cleanup_error struct error *ignored = NULL;
	cleanup_rpc struct rpc_message message = { .document = NULL };

	if (rpc_decode(body.bytes, body.length, &message, &ignored) == 0) {
		keep_version(call, &message);
		if (call->ping && put_answer(call, &message))
			return;
	}
	http_put_body(mcp_stream_queue(&call->relay->stream), id_of(call), status, body);
}

static void take(struct call *call)
{
	struct relay *relay = call->relay;
	struct http_request *http = steal_pointer(&call->http);
	cleanup_error struct error *failed = NULL;
	cleanup_answer struct http_answer answer = { .status = 0 };
	struct buf *out = mcp_stream_queue(&relay->stream);
	int r = http_finish(relay->client, http, &answer, &failed);

	if (call->kind == CALL_HANDSHAKE && r == 0 && answer.status < 300)
		snprintf(relay->session, sizeof(relay->session), "%s", answer.mcp_session);
	if (call->kind == CALL_QUIET || call->kind == CALL_CANCELLED || call->answered)
		return;
	if (r < 0)
		http_put_failure(out, id_of(call), http_failure_of(failed), 0);
	else if (call->sse.begun)
		http_put_failure(out, id_of(call), HTTP_LOST, 0);
	else
		take_body(call, answer.status, rpc_span(answer.status >= 400 ? &answer.body : &call->answer));
}

/* An event stream may stay open behind the answer: nothing of it is for anybody. The handshake's is read to its end,
 * since its headers are asked for. */
static void take_all(struct relay *relay)
{
	for (size_t i = 0; i < CALLS; i++) {
		struct call *call = &relay->calls[i];

		if (call->kind == CALL_NONE)
			continue;
		if (http_done(call->http))
			take(call);
		else if (!call->answered || call->kind == CALL_HANDSHAKE)
			continue;
		end_call(call);
	}
}

/* ---- what goes to the server ---- */

static struct call *find_free(struct relay *relay)
{
	for (size_t i = 0; i < CALLS; i++)
		if (relay->calls[i].kind == CALL_NONE)
			return &relay->calls[i];
	return NULL;
}

/* The next line waits for the handshake, and for what has no answer, so that the server hears all in order. */
static bool takes_lines(struct relay *relay)
{
	for (size_t i = 0; i < CALLS; i++)
		if (relay->calls[i].kind == CALL_HANDSHAKE || relay->calls[i].kind == CALL_QUIET)
			return false;
	return find_free(relay) && mcp_stream_pending(&relay->stream) <= MCP_LINE_BYTES;
}

/* Each as libcurl copies it. */
static int post(struct relay *relay, const char *method, struct call *call, const struct buf *body, int64_t deadline,
		struct http_request **out, struct error **err)
{
	char session[HTTP_SESSION_BYTES + 20], version[VERSION_BYTES + 24];
	const char *headers[5] = { "Accept: application/json, text/event-stream" };
	size_t count = 1;
	struct http_call http = { .method = method,
				  .path = relay->path,
				  .content_type = body ? "application/json" : NULL,
				  .body = body ? buf_string(body) : NULL,
				  .body_length = body ? body->length : 0,
				  .body_fd = -1,
				  .headers = headers,
				  .deadline = deadline,
				  .sink = call ? on_body : NULL,
				  .sink_context = call,
				  .body_max = MCP_LINE_BYTES,
				  .fresh = true };

	if (relay->authorization.length)
		headers[count++] = buf_string(&relay->authorization);
	snprintf(session, sizeof(session), "Mcp-Session-Id: %s", relay->session);
	if (relay->session[0])
		headers[count++] = session;
	snprintf(version, sizeof(version), "MCP-Protocol-Version: %s", relay->version);
	if (relay->version[0])
		headers[count++] = version;
	return http_start(relay->client, &http, out, err);
}

static enum call_kind kind_of(const struct rpc_message *message)
{
	switch (message->kind) {
	case RPC_REQUEST:
		return strcmp(message->method, "initialize") == 0 ? CALL_HANDSHAKE : CALL_REQUEST;
	case RPC_NOTIFICATION:
		return strcmp(message->method, "notifications/cancelled") == 0 ? CALL_CANCELLED : CALL_QUIET;
	case RPC_RESULT:
	case RPC_ERROR:
		break;
	}
	return CALL_QUIET;
}

static void cancel(struct relay *relay, const struct rpc_message *message)
{
	const struct json_node *asked = json_member(message->params, "requestId");
	struct json_span id = asked ? json_raw(asked) : RPC_NONE;

	for (size_t i = 0; i < CALLS && id.length; i++) {
		struct call *call = &relay->calls[i];

		if (call->kind == CALL_REQUEST && call->id_length == id.length &&
		    memcmp(call->id, id.bytes, id.length) == 0)
			end_call(call);
	}
}

static void begin(struct relay *relay, struct json_span line, const struct rpc_message *message)
{
	struct call *call = find_free(relay);
	cleanup_error struct error *failed = NULL;
	int64_t ms = relay->call_ms;

	*call = (struct call){ .kind = kind_of(message),
			       .relay = relay,
			       .body = BUF(MCP_LINE_BYTES),
			       .answer = BUF(MCP_LINE_BYTES),
			       .ping = message->kind == RPC_REQUEST && strcmp(message->method, "ping") == 0 };
	sse_init(&call->sse, MCP_LINE_BYTES, on_event, call);
	if (message->kind == RPC_REQUEST) {
		call->id_length = message->id.length < sizeof(call->id) ? message->id.length : sizeof(call->id);
		memcpy(call->id, message->id.bytes, call->id_length);
	} else if (ms > QUIET_MS) {
		ms = QUIET_MS;
	}
	buf_add(&call->body, line.bytes, line.length);
	if (buf_check(&call->body, "a message", &failed) == 0 &&
	    post(relay, "POST", call, &call->body, clock_deadline(ms), &call->http, &failed) == 0)
		return;
	if (message->kind == RPC_REQUEST)
		http_put_failure(mcp_stream_queue(&relay->stream), id_of(call), http_failure_of(failed), 0);
	end_call(call);
}

static void take_line(struct relay *relay, struct json_span line)
{
	cleanup_error struct error *bad = NULL;
	cleanup_rpc struct rpc_message message = { .document = NULL };

	if (rpc_decode(line.bytes, line.length, &message, &bad) < 0) {
		bool json = error_code(bad) == ERROR_PROTOCOL;

		rpc_put_error(mcp_stream_queue(&relay->stream), RPC_NULL, json ? RPC_INVALID_REQUEST : RPC_PARSE_ERROR,
			      json ? "Invalid Request" : "Parse error", RPC_NONE);
		return;
	}
	if (kind_of(&message) == CALL_CANCELLED)
		cancel(relay, &message);
	begin(relay, line, &message);
}

/* ---- the way of both ---- */

static int turn(struct relay *relay, struct error **err)
{
	struct mcp_stream *stream = &relay->stream;
	struct json_span line;
	int r = 0;

	if (takes_lines(relay) && !stream->ended)
		r = mcp_stream_read(stream, err);
	while (r == 0 && takes_lines(relay)) {
		r = rpc_framer_next(&stream->framer, &line, err);
		if (r <= 0)
			break;
		take_line(relay, line);
		r = 0;
	}
	if (r == 0)
		r = http_pump(relay->client, err);
	if (r == 0)
		take_all(relay);
	return r < 0 ? r : mcp_stream_flush(stream, err);
}

/* Whether a line, or a part of one, is there that can be taken now. */
static bool has_line(struct relay *relay)
{
	const struct rpc_framer *framer = &relay->stream.framer;

	return takes_lines(relay) && rpc_framer_partial(framer) &&
	       memchr(buf_string(&framer->buf) + framer->start, '\n', framer->buf.length - framer->start);
}

static int serve(struct relay *relay, struct error **err)
{
	int64_t end = clock_deadline(HELPER_LIFE_MS);
	int r = 0;

	while (r == 0 && clock_now() < end) {
		struct pollfd fds[2];
		size_t count;

		r = turn(relay, err);
		if (r < 0 || (relay->stream.ended && !has_line(relay)))
			break;
		if (has_line(relay))
			continue;
		count = mcp_stream_fds(&relay->stream, takes_lines(relay), fds);
		r = http_drive_beside(relay->client, fds, count, end, err);
	}
	return r;
}

/* The server keeps no session of a caller that is gone; what it says of that is its own matter. */
static void leave(struct relay *relay)
{
	cleanup_error struct error *ignored = NULL;
	cleanup_answer struct http_answer answer = { .status = 0 };
	struct http_request *http = NULL;

	for (size_t i = 0; i < CALLS; i++)
		if (relay->calls[i].kind != CALL_NONE)
			end_call(&relay->calls[i]);
	if (relay->session[0] && post(relay, "DELETE", NULL, NULL, clock_deadline(LAST_MS), &http, &ignored) == 0 &&
	    http_finish(relay->client, http, &answer, &ignored) == 0)
		relay->session[0] = '\0';
}

/* ---- start ---- */

static int read_token(struct relay *relay, struct error **err)
{
	struct buf token = BUF(TOKEN_BYTES);
	int r = fd_read_all(FD_TOKEN, &token, clock_deadline(TOKEN_MS), err);

	if (r == 0 && token.length && token.data[token.length - 1] == '\n')
		token.length--;
	for (size_t i = 0; i < token.length && r == 0; i++)
		if (token.data[i] <= ' ' || token.data[i] > '~')
			r = error_set(err, ERROR_INPUT, "a token is one word of printable ASCII");
	if (r == 0 && token.length) {
		buf_text(&relay->authorization, "Authorization: Bearer ");
		buf_add(&relay->authorization, token.data, token.length);
		r = buf_check(&relay->authorization, "the token", err);
	}
	buf_wipe(&token);
	return r < 0 ? error_wrap(err, "descriptor %d", FD_TOKEN) : 0;
}

/* The server's address ends where its path begins. */
static int open_client(struct relay *relay, char *url, struct error **err)
{
	static const char scheme[] = "http://";
	cleanup_free char *base = NULL;
	size_t length;

	if (strncmp(url, scheme, sizeof(scheme) - 1) != 0)
		return error_set(err, ERROR_USAGE, "an endpoint is http://, as in http://127.0.0.1:8080/mcp");
	length = sizeof(scheme) - 1 + strcspn(url + sizeof(scheme) - 1, "/?#");
	relay->path = url[length] ? url + length : "/";
	if (relay->path[0] != '/' || strpbrk(relay->path, "# \t\r\n"))
		return error_set(err, ERROR_USAGE, "an endpoint has a path, and no fragment");
	base = strndup(url, length);
	if (!base)
		return error_set(err, ERROR_MEMORY, "no memory for an address");
	return http_client_new(NULL, base, &relay->client, err);
}

static int parse_ms(const char *text, int64_t *out, struct error **err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 1 || value > CALL_MS_MAX)
		return error_set(err, ERROR_USAGE, "a call's time is 1 to %d milliseconds", CALL_MS_MAX);
	*out = value;
	return 0;
}

static int run(struct relay *relay, char **argv, struct error **err)
{
	static const struct mcp_limits limits = { .line_max = MCP_LINE_BYTES, .queue_max = QUEUE_BYTES };
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = parse_ms(argv[2], &relay->call_ms, err);
	if (r == 0)
		r = open_client(relay, argv[1], err);
	if (r == 0)
		r = read_token(relay, err);
	if (r == 0)
		r = mcp_stream_open(&relay->stream, STDIN_FILENO, STDOUT_FILENO, &limits, err);
	if (r < 0)
		return r;
	r = serve(relay, err);
	leave(relay);
	mcp_stream_close(&relay->stream);
	return r;
}

int main(int argc, char **argv)
{
	cleanup_free struct relay *relay = calloc(1, sizeof(*relay));
	cleanup_error struct error *err = NULL;
	int r;

	if (argc != 3 || !relay) {
		fprintf(stderr, "mcp-http: URL MILLISECONDS, and the token on descriptor %d\n", FD_TOKEN);
		return EXIT_USAGE;
	}
	relay->authorization = (struct buf)BUF(TOKEN_BYTES + 64);
	relay->stream = (struct mcp_stream){ .in = -1, .out = -1 };
	r = run(relay, argv, &err);
	http_client_free(relay->client);
	buf_wipe(&relay->authorization);
	if (r == 0)
		return 0;
	fprintf(stderr, "mcp-http: %s\n", error_text(err));
	return error_code(err) == ERROR_USAGE ? EXIT_USAGE : EXIT_ERROR;
}
