/*
 * An MCP server over HTTP in this process, and clients on raw sockets: bytes go out as a test wrote them, and while a
 * client waits the server's loop runs.
 */
#ifndef HARNESS_TESTS_UNIT_MCP_HTTP_RIG_H
#define HARNESS_TESTS_UNIT_MCP_HTTP_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/loop.h"
#include "mcp/http_server.h"
#include "mcp/rpc.h"
#include "tests/unit/test.h"

#define GUARD_MS 4000
#define REPLY_BYTES (16 * MIB)
#define ANSWER_MAX (64 * KIB)
#define KEPT_MAX 8
#define LONG_BYTES (8 * MIB) /* of the answer of "long": more than sockets hold */
#define STATUS_BYTES 4096

struct rig {
	struct loop *loop;
	struct mcp_http_server *server;
	struct mcp_request *kept[KEPT_MAX]; /* by the handler "keep", in order */
	size_t kept_count;
	struct mcp_request *cancelled; /* the last that was */
	int cancelled_count;
	bool answers_cancelled; /* in the callback */
	struct mcp_http_exchange *route; /* kept by the route /kept */
	int runs; /* of "echo" and "long" */
};

struct reply {
	int status; /* 0: none came */
	struct buf bytes; /* head and body */
	size_t head; /* bytes of it; 0: not there yet */
	long length; /* of the body as announced, or -1 */
	const char *body; /* NUL-terminated; of chunks as they were sent */
	bool closed; /* by the server */
};

static inline void reply_free(struct reply *reply)
{
	buf_free(&reply->bytes);
}
#define REPLY(name) __attribute__((cleanup(reply_free))) struct reply name = { .bytes = BUF(REPLY_BYTES) }

static inline void rig_end(struct rig *rig)
{
	mcp_http_server_free(rig->server);
	loop_free(rig->loop);
}
#define RIG(name) __attribute__((cleanup(rig_end))) struct rig name = { .loop = NULL }

/* ---- what is served ---- */

static inline struct json_span span(const char *text)
{
	return (struct json_span){ .bytes = text, .length = strlen(text) };
}

static inline int run_echo(void *context, struct mcp_request *request, struct error **err)
{
	const struct json_node *params = mcp_request_params(request);
	struct rig *rig = context;

	(void)err;
	rig->runs++;
	mcp_request_result(request, params ? json_raw(params) : span("{}"));
	return 0;
}

static inline int run_refuse(void *context, struct mcp_request *request, struct error **err)
{
	(void)context;
	(void)err;
	mcp_request_status(request, 403);
	mcp_request_error(request, RPC_SERVER_ERROR, "Request denied by policy",
			  span("{\"error_code\":\"POLICY_DENY\"}"));
	return 0;
}

static inline int run_keep(void *context, struct mcp_request *request, struct error **err)
{
	struct rig *rig = context;

	(void)err;
	if (rig->kept_count < KEPT_MAX)
		rig->kept[rig->kept_count++] = request;
	return 0;
}

static inline int run_tell(void *context, struct mcp_request *request, struct error **err)
{
	(void)context;
	(void)err;
	mcp_request_notify(request, "notifications/progress", span("{\"progress\":1,\r\n\"progressToken\":\"t\"}"));
	mcp_request_notify(request, "notifications/progress", span("{\"progress\":2}"));
	mcp_request_result(request, span("{\"told\":\r2}"));
	return 0;
}

static inline int run_long(void *context, struct mcp_request *request, struct error **err)
{
	struct rig *rig = context;
	cleanup_buf struct buf result = BUF(2 * LONG_BYTES);

	(void)err;
	rig->runs++;
	buf_text(&result, "\"");
	for (int i = 0; i < LONG_BYTES / KIB; i++)
		buf_printf(&result, "%01024d", i);
	buf_text(&result, "\"");
	mcp_request_result(request, (struct json_span){ .bytes = result.data, .length = result.length });
	return 0;
}

static inline int run_fail(void *context, struct mcp_request *request, struct error **err)
{
	(void)context;
	(void)request;
	return error_set(err, ERROR_INTERNAL, "a handler failed");
}

static inline void on_cancelled(void *context, struct mcp_request *request)
{
	struct rig *rig = context;

	CU_ASSERT(mcp_request_cancelled(request));
	rig->cancelled = request;
	rig->cancelled_count++;
	if (rig->answers_cancelled)
		mcp_request_error(request, RPC_INTERNAL_ERROR, "cancelled", RPC_NONE);
}

static inline int route_health(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	(void)context;
	(void)err;
	mcp_http_exchange_retry_after(exchange, 60);
	mcp_http_exchange_answer(exchange, 429, "application/json", span("{\"status\":\"busy\"}"));
	return 0;
}

static inline int route_echo(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	const char *query = mcp_http_exchange_query(exchange, "session_id");
	char text[512];

	(void)context;
	(void)err;
	snprintf(text, sizeof(text), "id=%s query=%s body=%.*s", mcp_http_exchange_id(exchange), query ? query : "none",
		 (int)mcp_http_exchange_body(exchange).length, mcp_http_exchange_body(exchange).bytes);
	mcp_http_exchange_answer(exchange, 200, "text/plain", span(text));
	return 0;
}

static inline int route_keep(void *context, struct mcp_http_exchange *exchange, struct error **err)
{
	struct rig *rig = context;

	(void)err;
	rig->route = exchange;
	return 0;
}

static const struct mcp_handler rig_handlers[] = {
	{ .method = "echo", .run = run_echo },
	{ .method = "refuse", .run = run_refuse },
	{ .method = "keep", .run = run_keep },
	{ .method = "tell", .run = run_tell },
	{ .method = "long", .run = run_long },
	{ .method = "fail", .run = run_fail },
	{ .method = NULL },
};

static const struct mcp_http_route rig_routes[] = {
	{ .method = "GET", .path = "/health", .auth = MCP_HTTP_OPEN, .run = route_health },
	{ .method = "POST", .path = "/sessions/{id}/close", .auth = MCP_HTTP_BEARER, .run = route_echo },
	{ .method = "POST", .path = "/sessions/{id}/reset", .auth = MCP_HTTP_OPERATOR, .run = route_echo },
	{ .method = "GET", .path = "/audit/export", .auth = MCP_HTTP_BEARER, .run = route_echo },
	{ .method = "POST", .path = "/kept", .auth = MCP_HTTP_BEARER, .run = route_keep },
	{ .method = NULL },
};

static inline void rig_start(struct rig *rig, const struct mcp_http_options *changes)
{
	struct mcp_http_options options = *changes;
	struct error *err = NULL;

	options.address = options.address ? options.address : "127.0.0.1";
	options.name = "tested";
	options.version = "1";
	options.handlers = rig_handlers;
	options.routes = rig_routes;
	options.context = rig;
	options.cancelled = on_cancelled;
	options.answer_max = options.answer_max ? options.answer_max : ANSWER_MAX;
	CU_ASSERT_EQUAL(loop_new(&rig->loop, &err), 0);
	CU_ASSERT_EQUAL(mcp_http_server_new(&options, &rig->server, &err), 0);
	CU_ASSERT_EQUAL(mcp_http_server_attach(rig->server, rig->loop, 3, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define DEFAULTS (&(struct mcp_http_options){ .port = 0 })

/* ---- clients ---- */

static inline void turn(struct rig *rig, int64_t milliseconds)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(loop_run(rig->loop, clock_deadline(milliseconds), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Time enough for what is under way, however busy the machine: rounds count, not milliseconds alone. */
static inline void settle(struct rig *rig)
{
	for (int i = 0; i < 10; i++)
		turn(rig, 1);
}

static inline int dial(const struct rig *rig)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons(mcp_http_server_port(rig->server)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	CU_ASSERT(fd >= 0);
	CU_ASSERT(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EINPROGRESS);
	return fd;
}

/* False: the server closed, or the guard passed. */
static inline bool put(struct rig *rig, int fd, const char *bytes, size_t length)
{
	int64_t guard = clock_deadline(GUARD_MS);

	while (length > 0 && clock_now() < guard) {
		ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

		if (sent < 0 && errno != EAGAIN)
			return false;
		if (sent > 0) {
			bytes += sent;
			length -= (size_t)sent;
		}
		turn(rig, 0);
	}
	return length == 0;
}

static inline bool put_text(struct rig *rig, int fd, const char *text)
{
	return put(rig, fd, text, strlen(text));
}

/* Whether the answer is whole. Its head is looked at once. */
static inline bool is_whole(struct reply *reply)
{
	const char *text = buf_string(&reply->bytes), *end, *length;
	size_t body;

	if (reply->head == 0) {
		end = strstr(text, "\r\n\r\n");
		if (!end)
			return false;
		length = strcasestr(text, "\r\nContent-Length:");
		reply->head = (size_t)(end - text) + 4;
		reply->status = atoi(text + strlen("HTTP/1.1 "));
		reply->length = length && length < end ? strtol(length + strlen("\r\nContent-Length:"), NULL, 10) : -1;
	}
	reply->body = text + reply->head;
	body = reply->bytes.length - reply->head;
	if (reply->length >= 0)
		return body >= (size_t)reply->length;
	/* Chunks, or no body at all. */
	return reply->status == 204 || (body >= 5 && strcmp(reply->body + body - 5, "0\r\n\r\n") == 0);
}

/* Reads what comes for one answer until it is whole, the server closes, `part` came (or NULL), or the guard passed. */
static inline void hear_part(struct rig *rig, int fd, struct reply *reply, const char *part)
{
	int64_t guard = clock_deadline(GUARD_MS);

	buf_free(&reply->bytes);
	reply->bytes = (struct buf)BUF(REPLY_BYTES);
	reply->status = 0;
	reply->head = 0;
	reply->body = "";
	reply->closed = false;
	while (!reply->closed && !is_whole(reply) && !(part && strstr(buf_string(&reply->bytes), part)) &&
	       clock_now() < guard) {
		char *room = buf_reserve(&reply->bytes, 64 * KIB);
		ssize_t got = room ? recv(fd, room, 64 * KIB, 0) : 0;

		if (got > 0)
			buf_commit(&reply->bytes, (size_t)got);
		else if (got == 0 || errno != EAGAIN)
			reply->closed = true;
		else
			turn(rig, 1);
	}
}

static inline void hear(struct rig *rig, int fd, struct reply *reply)
{
	hear_part(rig, fd, reply, NULL);
	CU_ASSERT(reply->status != 0 || reply->closed);
}

/* `head`: lines that each end with \r\n, behind a Host. */
static inline bool ask(struct rig *rig, int fd, const char *line, const char *head, const char *body)
{
	cleanup_buf struct buf text = BUF(2 * MIB);

	buf_printf(&text, "%s HTTP/1.1\r\n%s%s", line, strcasestr(head, "Host:") ? "" : "Host: 127.0.0.1\r\n", head);
	if (body)
		buf_printf(&text, "Content-Length: %zu\r\n", strlen(body));
	buf_printf(&text, "\r\n%s", body ? body : "");
	return put(rig, fd, text.data, text.length);
}

/* One request on a connection of its own. */
static inline void fetch(struct rig *rig, const char *line, const char *head, const char *body, struct reply *reply)
{
	cleanup_fd int fd = dial(rig);

	CU_ASSERT(ask(rig, fd, line, head, body));
	hear(rig, fd, reply);
}

static inline void post(struct rig *rig, const char *head, const char *body, struct reply *reply)
{
	fetch(rig, "POST /mcp", head, body, reply);
}

/* Opens a session; its header line, with \r\n, goes to `head`. */
static inline void open_session(struct rig *rig, char *head, size_t size)
{
	REPLY(reply);
	const char *id;

	post(rig, "",
	     "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}",
	     &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	id = strcasestr(buf_string(&reply.bytes), "\r\nMcp-Session-Id: ");
	CU_ASSERT_PTR_NOT_NULL(id);
	snprintf(head, size, "%.*s", id ? (int)strcspn(id + 2, "\r") + 2 : 0, id ? id + 2 : "");
}

static inline bool holds(const struct reply *reply, const char *part)
{
	bool found = strstr(buf_string(&reply->bytes), part) != NULL;

	if (!found)
		fprintf(stderr, "expected '%s' in:\n%s\n", part, buf_string(&reply->bytes));
	return found;
}

#define CALL(id, method) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"" method "\"}"

/* A client that is served, and quickly. */
static inline void check_served(struct rig *rig)
{
	int64_t start = clock_now();
	REPLY(reply);

	post(rig, "", CALL(9, "echo"), &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT(clock_now() - start < 3 * NS_PER_S);
}

/* Memory of this process, in KiB. */
static inline size_t resident(void)
{
	cleanup_buf struct buf text = BUF(STATUS_BYTES);
	struct error *err = NULL;
	const char *row;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, "/proc/self/status", STATUS_BYTES, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	row = strstr(buf_string(&text), "VmRSS:");
	return row ? (size_t)atoi(row + strlen("VmRSS:")) : 0;
}

/* A client whose request waits in the handler "keep". */
static inline int keep_one(struct rig *rig, const char *head)
{
	size_t before = rig->kept_count;
	int fd = dial(rig);

	CU_ASSERT(ask(rig, fd, "POST /mcp", head, CALL(1, "keep")));
	for (int i = 0; i < 100 && rig->kept_count == before; i++)
		turn(rig, 1);
	CU_ASSERT_EQUAL(rig->kept_count, before + 1);
	return fd;
}

/* `length` spaces with a front and a back; malloc()ed. */
static inline char *spaces(size_t length, const char *front, const char *back)
{
	char *text = malloc(length + 1);

	if (!text)
		return NULL;
	memset(text, ' ', length);
	text[length] = '\0';
	memcpy(text, front, strlen(front));
	memcpy(text + length - strlen(back), back, strlen(back));
	return text;
}

#endif
