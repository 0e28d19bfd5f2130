/* MCP over HTTP: what is asked, and what comes back. */
#include "tests/unit/mcp_http_rig.h"

static const struct answer_row {
	const char *line, *head, *body;
	int status;
	const char *part; /* of the answer, its head included */
	const char *exactly; /* the whole body, or NULL */
} answer_rows[], token_rows[], session_rows[];

static void check_rows(struct rig *rig, const struct answer_row *rows, const char *more)
{
	for (const struct answer_row *row = rows; row->line; row++) {
		REPLY(reply);
		char head[512];

		snprintf(head, sizeof(head), "%s%s", more, row->head);
		fetch(rig, row->line, head, row->body, &reply);
		if (reply.status != row->status)
			fprintf(stderr, "%s %s %s: %d\n", row->line, row->head, row->body ? row->body : "",
				reply.status);
		CU_ASSERT_EQUAL(reply.status, row->status);
		if (row->part)
			CU_ASSERT(holds(&reply, row->part));
		if (row->exactly)
			CU_ASSERT_STRING_EQUAL(reply.body, row->exactly);
	}
}

static void test_answers(void)
{
	RIG(rig);

	rig_start(&rig, DEFAULTS);
	check_rows(&rig, answer_rows, "");
}

static void test_tokens(void)
{
	RIG(rig);
	RIG(open);
	RIG(one);
	REPLY(reply);

	rig_start(&rig, &(struct mcp_http_options){ .bearer = "secret-token", .operator_token = "operator" });
	check_rows(&rig, token_rows, "");
	/* Nothing was run for those that were refused: one row passes. */
	CU_ASSERT_EQUAL(rig.runs, 1);

	rig_start(&open, &(struct mcp_http_options){ .bearer = "", .operator_token = "operator" });
	fetch(&open, "POST /sessions/x/reset", "Authorization: Bearer operator\r\n", "", &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	fetch(&open, "POST /sessions/x/reset", "", "", &reply);
	CU_ASSERT_EQUAL(reply.status, 401);
	fetch(&open, "POST /sessions/x/close", "", "", &reply);
	CU_ASSERT_EQUAL(reply.status, 200);

	rig_start(&one, &(struct mcp_http_options){ .bearer = "b" });
	fetch(&one, "POST /sessions/x/reset", "Authorization: Bearer b\r\n", "", &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
}

static void test_session(void)
{
	RIG(rig);
	REPLY(reply);
	char head[128], other[128];

	rig_start(&rig, DEFAULTS);
	open_session(&rig, head, sizeof(head));
	open_session(&rig, other, sizeof(other));
	CU_ASSERT(strlen(head) == strlen("Mcp-Session-Id: \r\n") + 32 && strcmp(head, other) != 0);
	check_rows(&rig, session_rows, head);

	fetch(&rig, "DELETE /mcp", head, NULL, &reply);
	CU_ASSERT_EQUAL(reply.status, 204);
	post(&rig, head, CALL(1, "echo"), &reply);
	CU_ASSERT_EQUAL(reply.status, 404);
	CU_ASSERT(holds(&reply, "Session not found"));
	fetch(&rig, "DELETE /mcp", head, NULL, &reply);
	CU_ASSERT_EQUAL(reply.status, 404);
	fetch(&rig, "DELETE /mcp", "", NULL, &reply);
	CU_ASSERT_EQUAL(reply.status, 400);
	/* The other one lives on. */
	post(&rig, other, CALL(1, "echo"), &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
}

static void test_versions(void)
{
	static const struct {
		const char *asked, *answered;
	} rows[] = {
		{ "2025-11-25", "2025-11-25" }, { "2025-06-18", "2025-06-18" }, { "2025-03-26", "2025-03-26" },
		{ "2024-11-05", "2024-11-05" }, { "2024-10-07", "2025-06-18" }, { "2099-01-01", "2025-06-18" },
		{ "", "2025-06-18" },
	};
	RIG(rig);

	rig_start(&rig, DEFAULTS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		REPLY(reply);
		char text[256];

		snprintf(text, sizeof(text),
			 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"%"
			 "s\"}}",
			 rows[i].asked);
		post(&rig, "", text, &reply);
		snprintf(text, sizeof(text),
			 "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"%s\",\"capabilities\":{"
			 "\"tools\":{}},"
			 "\"serverInfo\":{\"name\":\"tested\",\"version\":\"1\"}}}",
			 rows[i].answered);
		CU_ASSERT_STRING_EQUAL(reply.body, text);
	}
}

/* As many sessions as there are rows, and one more: the one that was unused for longest went. */
static void test_sessions_full(void)
{
	enum { KEPT_ALIVE = 3 };
	static char heads[MCP_HTTP_SESSIONS + 1][64];
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	for (size_t i = 0; i < MCP_HTTP_SESSIONS; i++)
		open_session(&rig, heads[i], sizeof(heads[i]));
	for (size_t i = 0; i < KEPT_ALIVE; i++) {
		post(&rig, heads[i], CALL(1, "ping"), &reply);
		CU_ASSERT_EQUAL(reply.status, 200);
	}
	open_session(&rig, heads[MCP_HTTP_SESSIONS], sizeof(heads[0]));
	for (size_t i = 0; i <= MCP_HTTP_SESSIONS; i += i < KEPT_ALIVE + 2 ? 1 : 333) {
		post(&rig, heads[i], CALL(1, "ping"), &reply);
		CU_ASSERT_EQUAL(reply.status, i == KEPT_ALIVE ? 404 : 200);
	}
	post(&rig, heads[MCP_HTTP_SESSIONS], CALL(1, "ping"), &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
}

static void test_keep_alive(void)
{
	RIG(rig);
	REPLY(reply);
	cleanup_fd int fd = -1;

	rig_start(&rig, DEFAULTS);
	fd = dial(&rig);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT(ask(&rig, fd, "POST /mcp", "", i == 1 ? "not json" : CALL(7, "echo")));
		hear(&rig, fd, &reply);
		CU_ASSERT_EQUAL(reply.status, i == 1 ? 400 : 200);
		CU_ASSERT_FALSE(reply.closed);
	}
	/* Two at once are answered in order. */
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "", CALL(1, "keep")));
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "", CALL(2, "echo")));
	settle(&rig);
	CU_ASSERT_EQUAL(rig.kept_count, 1);
	CU_ASSERT_EQUAL(rig.cancelled_count, 0);
	if (rig.kept_count)
		mcp_request_result(rig.kept[0], span("1"));
	hear(&rig, fd, &reply);
	CU_ASSERT(holds(&reply, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}"));
	settle(&rig);
	CU_ASSERT_EQUAL(rig.runs, 3);
}

/* Without a Host nobody knows whom it meant. */
static void test_no_host(void)
{
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	for (int version = 0; version < 2; version++) {
		cleanup_fd int fd = dial(&rig);
		char text[128];

		snprintf(text, sizeof(text), "POST /mcp HTTP/1.%d\r\nContent-Length: 40\r\n\r\n" CALL(1, "echo"),
			 version);
		CU_ASSERT(put_text(&rig, fd, text));
		hear(&rig, fd, &reply);
		CU_ASSERT_EQUAL(reply.status, version ? 400 : 403);
	}
	CU_ASSERT_EQUAL(rig.runs, 0);
}

static void test_stream(void)
{
	static const char expected[] =
		"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
		"{\"progress\":1,  \"progressToken\":\"t\"}}\n\n"
		"event: message\ndata: "
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":2}}\n\n"
		"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"told\": 2}}\n\n";
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	post(&rig, "Accept: application/json, text/event-stream\r\n", CALL(1, "tell"), &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT(holds(&reply, "\r\nContent-Type: text/event-stream\r\n"));
	CU_ASSERT(holds(&reply, expected));
	/* One that takes no stream gets the answer alone. */
	post(&rig, "Accept: application/json\r\n", CALL(1, "tell"), &reply);
	CU_ASSERT(holds(&reply, "\r\nContent-Type: application/json\r\n"));
	CU_ASSERT_STRING_EQUAL(reply.body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"told\":\r2}}");
}

/* Notifications reach the client while the handler still works. */
static void test_stream_later(void)
{
	RIG(rig);
	REPLY(reply);
	cleanup_fd int fd = -1;

	rig_start(&rig, DEFAULTS);
	fd = dial(&rig);
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "Accept: text/event-stream\r\n", CALL(1, "keep")));
	settle(&rig);
	CU_ASSERT_EQUAL(rig.kept_count, 1);
	if (rig.kept_count == 0)
		return;
	for (int i = 0; i < 3; i++) {
		mcp_request_notify(rig.kept[0], "notifications/progress", span("{\"progress\":1}"));
		hear_part(&rig, fd, &reply, "\n\n");
		CU_ASSERT(holds(&reply, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\""));
	}
	mcp_request_error(rig.kept[0], RPC_SERVER_ERROR, "m", RPC_NONE);
	hear_part(&rig, fd, &reply, "\r\n0\r\n\r\n");
	CU_ASSERT(holds(&reply,
			"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"m\"}}\n\n"));
	CU_ASSERT(holds(&reply, "\r\n0\r\n\r\n"));
	CU_ASSERT_EQUAL(rig.cancelled_count, 0);
	/* The connection serves on. */
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "", CALL(2, "echo")));
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
}

static void test_cancel_by_id(void)
{
	RIG(rig);
	REPLY(reply);
	char head[128], other[128];
	cleanup_fd int fd = -1;

	rig_start(&rig, DEFAULTS);
	open_session(&rig, head, sizeof(head));
	open_session(&rig, other, sizeof(other));
	fd = dial(&rig);
	CU_ASSERT(ask(&rig, fd, "POST /mcp", head, "{\"jsonrpc\":\"2.0\",\"id\":\"k\\u0041\",\"method\":\"keep\"}"));
	settle(&rig);
	CU_ASSERT_EQUAL(rig.kept_count, 1);
	if (rig.kept_count == 0)
		return;
#define CANCEL(id) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"
	/* Neither another session's word, nor nobody's, nor another id. */
	post(&rig, other, CANCEL("\"kA\""), &reply);
	CU_ASSERT_EQUAL(reply.status, 202);
	post(&rig, "", CANCEL("\"kA\""), &reply);
	post(&rig, head, CANCEL("\"k\""), &reply);
	post(&rig, head, CANCEL("1"), &reply);
	CU_ASSERT_EQUAL(rig.cancelled_count, 0);
	post(&rig, head, CANCEL("\"kA\""), &reply);
	CU_ASSERT_EQUAL(reply.status, 202);
	CU_ASSERT_EQUAL(rig.cancelled_count, 1);
	CU_ASSERT_PTR_EQUAL(rig.cancelled, rig.kept[0]);
	post(&rig, head, CANCEL("\"kA\""), &reply);
	CU_ASSERT_EQUAL(rig.cancelled_count, 1);
	/* The client that waited is let go, and the answer goes nowhere. */
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 202);
	CU_ASSERT_STRING_EQUAL(reply.body, "");
	mcp_request_notify(rig.kept[0], "notifications/progress", span("{}"));
	mcp_request_result(rig.kept[0], span("\"late\""));
	CU_ASSERT(ask(&rig, fd, "POST /mcp", head, CALL(2, "echo")));
	hear(&rig, fd, &reply);
	CU_ASSERT_STRING_EQUAL(reply.body, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
}

static void test_routes(void)
{
	RIG(rig);
	REPLY(reply);
	cleanup_fd int fd = -1;

	rig_start(&rig, DEFAULTS);
	fetch(&rig, "GET /health", "", NULL, &reply);
	CU_ASSERT_EQUAL(reply.status, 429);
	CU_ASSERT(holds(&reply, "\r\nRetry-After: 60\r\n"));
	fetch(&rig, "POST /sessions/a-1_B.c/close", "", "{\"a\":1}", &reply);
	CU_ASSERT_STRING_EQUAL(reply.body, "id=a-1_B.c query=none body={\"a\":1}");
	fetch(&rig, "GET /audit/export?session_id=x%20y&z=1", "", NULL, &reply);
	CU_ASSERT_STRING_EQUAL(reply.body, "id= query=x y body=");
	/* An answer that comes later, and one for a client that left. */
	for (int i = 0; i < 2; i++) {
		fd_close(&fd);
		fd = dial(&rig);
		rig.route = NULL;
		CU_ASSERT(ask(&rig, fd, "POST /kept", "", "body"));
		settle(&rig);
		CU_ASSERT_PTR_NOT_NULL(rig.route);
		if (!rig.route)
			return;
		if (i == 1) {
			fd_close(&fd);
			settle(&rig);
		}
		CU_ASSERT_EQUAL(mcp_http_exchange_body(rig.route).length, 4);
		mcp_http_exchange_answer(rig.route, 200, "text/plain", span("later"));
		if (i == 0) {
			hear(&rig, fd, &reply);
			CU_ASSERT_STRING_EQUAL(reply.body, "later");
		}
	}
	/* One that is never answered is freed with the server. */
	fetch(&rig, "GET /health", "", NULL, &reply);
	fd = dial(&rig);
	CU_ASSERT(ask(&rig, fd, "POST /kept", "", ""));
	settle(&rig);
}

static void test_addresses(void)
{
	static const char *const refused[] = { "0.0.0.0",  "::", "127.0.0.2",       "localhost",
					       "10.0.0.1", "",   "::ffff:127.0.0.1" };
	struct mcp_http_options options = { .handlers = rig_handlers };
	struct mcp_http_server *server = NULL;
	struct error *err = NULL;
	RIG(rig);

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		options.address = refused[i];
		CU_ASSERT(mcp_http_server_new(&options, &server, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_REFUSED, "127.0.0.1"));
		CU_ASSERT_PTR_NULL(server);
	}
	rig_start(&rig, DEFAULTS);
	CU_ASSERT(mcp_http_server_port(rig.server) > 0);
	options.address = "127.0.0.1";
	options.port = mcp_http_server_port(rig.server);
	CU_ASSERT(mcp_http_server_new(&options, &server, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "in use"));
}

static void test_six(void)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	cleanup_fd int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, &(struct mcp_http_options){ .address = "::1" });
	address.sin6_port = htons(mcp_http_server_port(rig.server));
	CU_ASSERT_EQUAL(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "Host: [::1]:1234\r\n", CALL(1, "ping")));
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
}

static void test_handler_error(void)
{
	static const char request[] =
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n" CALL(1, "fail");
	RIG(rig);
	struct error *err = NULL;
	cleanup_fd int fd = -1;

	rig_start(&rig, DEFAULTS);
	fd = dial(&rig);
	CU_ASSERT_EQUAL(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
	CU_ASSERT(loop_run(rig.loop, clock_deadline(GUARD_MS), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "a handler failed"));
}

static void test_long_answer(void)
{
	RIG(rig);
	REPLY(reply);
	char head[128];

	rig_start(&rig, DEFAULTS);
	open_session(&rig, head, sizeof(head));
	post(&rig, "", CALL(1, "long"), &reply);
	CU_ASSERT_EQUAL(reply.status, 500);
	CU_ASSERT(holds(&reply, "\"id\":1,\"error\":{\"code\":-32603"));
	post(&rig, head, CALL(1, "long"), &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	CU_ASSERT(holds(&reply, "\"id\":1,\"error\":{\"code\":-32603"));
}

#define OK_ECHO "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
#define DENIED                                                                                                         \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"Request denied by "                    \
	"policy\",\"data\":{\"error_code\":\"POLICY_DENY\"}}}"
#define UNKNOWN "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}"
#define INVALID                                                                                                        \
	"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid "                           \
	"Request\",\"data\":{\"error_code\":\"MCP_INVALID_REQUEST\"}}}"
#define PARSE(hash)                                                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse "                             \
	"error\",\"data\":{\"error_code\":\"MCP_PARSE_FAILURE\",\"payload_hash\":\"sha256:" hash "\"}}}"

static const struct answer_row answer_rows[] = {
	{ "POST /mcp", "", CALL(1, "echo"), 200, "\r\nContent-Type: application/json\r\n", OK_ECHO },
	{ "POST /mcp", "", "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0041\",\"method\":\"echo\",\"params\":{\"n\":1e400}}",
	  200, NULL, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0041\",\"result\":{\"n\":1e400}}" },
	{ "POST /mcp", "", CALL(1, "refuse"), 403, NULL, DENIED },
	{ "POST /mcp", "", CALL(1, "resources/list"), 404, NULL, UNKNOWN },
	{ "POST /mcp", "", CALL(1, "prompts/list"), 404, NULL, UNKNOWN },
	{ "POST /mcp", "", CALL(1, "logging/setLevel"), 404, NULL, UNKNOWN },
	{ "POST /mcp", "", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202, NULL, "" },
	{ "POST /mcp", "", "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}", 202, NULL, "" },
	{ "POST /mcp", "", "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}", 202, NULL, "" },
	{ "POST /mcp", "", "not json", 400, NULL,
	  PARSE("7ccfa1fbf3940e6f0c0375d87c0f9235a50514e14cb427bdfaf5077987b26ccf") },
	{ "POST /mcp", "", "", 400, NULL, PARSE("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") },
	{ "POST /mcp", "", NULL, 400, NULL, PARSE("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") },
	{ "POST /mcp", "", "[" CALL(1, "echo") "]", 400, NULL, INVALID },
	{ "POST /mcp", "", "[]", 400, NULL, INVALID },
	{ "POST /mcp", "", "{\"id\":1,\"method\":\"echo\"}", 400, NULL, INVALID },
	{ "POST /mcp", "", "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"echo\"}", 400, NULL, INVALID },
	{ "POST /mcp", "", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[]}", 400, NULL, INVALID },
	{ "GET /mcp", "Accept: text/event-stream\r\n", NULL, 405, "\r\nAllow: POST, DELETE\r\n", NULL },
	{ "PUT /mcp", "", "x", 405, NULL, NULL },
	{ "OPTIONS /mcp", "Origin: http://localhost\r\n", NULL, 405, NULL, NULL },
	{ "POST /mcp/", "", CALL(1, "echo"), 404, NULL, NULL },
	{ "POST /other", "", CALL(1, "echo"), 404, NULL, NULL },
	{ "GET /sessions/x/close", "", NULL, 405, "\r\nAllow: POST\r\n", NULL },
	{ "POST /sessions//close", "", "", 404, NULL, NULL },
	{ "POST /sessions/x%2fy/close", "", "", 404, NULL, NULL },
	{ "POST /sessions/x/y/close", "", "", 404, NULL, NULL },
	{ "POST /sessions/x/closed", "", "", 404, NULL, NULL },
	{ "POST /mcp", "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n", CALL(1, "echo"), 404, NULL, NULL },
	{ "POST /mcp", "Mcp-Session-Id:\r\n", CALL(1, "echo"), 404, NULL, NULL },
	{ "POST /mcp", "MCP-Protocol-Version: 2025-06-18\r\n", CALL(1, "echo"), 200, NULL, OK_ECHO },
	{ "POST /mcp", "MCP-Protocol-Version: 1999-01-01\r\n", CALL(1, "echo"), 400, "Unsupported protocol version",
	  NULL },
	{ "POST /mcp", "Accept: text/html\r\n", CALL(1, "echo"), 200, NULL, OK_ECHO },
	{ "POST /mcp", "Host: localhost:65535\r\nOrigin: http://localhost:1\r\n", CALL(1, "echo"), 200, NULL, OK_ECHO },
	{ "POST /mcp", "Host: LOCALHOST\r\nOrigin: HTTP://LocalHost\r\n", CALL(1, "echo"), 200, NULL, OK_ECHO },
	{ "POST /mcp", "Host: [::1]:80\r\nOrigin: http://[::1]:80\r\n", CALL(1, "echo"), 200, NULL, OK_ECHO },
	{ "POST /mcp", "Host: evil.example\r\n", CALL(1, "echo"), 403, "Host is not loopback", NULL },
	{ "GET /health", "Host: evil.example\r\n", NULL, 403, NULL, NULL },
	{ "POST /mcp", "Host: localhost.evil.example\r\n", CALL(1, "echo"), 403, NULL, NULL },
	{ "POST /mcp", "Host: 127.0.0.1:80.evil.example\r\n", CALL(1, "echo"), 403, NULL, NULL },
	{ "POST /mcp", "Host: 127.0.0.1:\r\n", CALL(1, "echo"), 403, NULL, NULL },
	{ "POST /mcp", "Origin: http://evil.example\r\n", CALL(1, "echo"), 403, "Origin is not loopback", NULL },
	{ "POST /mcp", "Origin: http://localhost.evil.example\r\n", CALL(1, "echo"), 403, NULL, NULL },
	{ "POST /mcp", "Origin: http://127.0.0.1@evil.example\r\n", CALL(1, "echo"), 403, NULL, NULL },
	{ "POST /mcp", "Origin: null\r\n", CALL(1, "echo"), 403, NULL, NULL },
	{ "POST /mcp", "Origin: \r\n", CALL(1, "echo"), 403, NULL, NULL },
	{ NULL, NULL, NULL, 0, NULL, NULL },
};

#define MISSING "{\"error\":\"unauthorized\",\"error_code\":\"MISSING_BEARER_TOKEN\"}"
#define WRONG "{\"error\":\"unauthorized\",\"error_code\":\"INVALID_BEARER_TOKEN\"}"

static const struct answer_row token_rows[] = {
	{ "POST /mcp", "", CALL(1, "echo"), 401, "\r\nWWW-Authenticate: Bearer\r\n", MISSING },
	{ "POST /mcp", "Authorization: Basic c2VjcmV0\r\n", CALL(1, "echo"), 401, NULL, MISSING },
	{ "POST /mcp", "Authorization: Bearer\r\n", CALL(1, "echo"), 401, NULL, MISSING },
	{ "POST /mcp", "Authorization: Bearer wrong-token!\r\n", CALL(1, "echo"), 401, "\r\nWWW-Authenticate: Bearer",
	  WRONG },
	{ "POST /mcp", "Authorization: Bearer secret\r\n", CALL(1, "echo"), 401, NULL, WRONG },
	{ "POST /mcp", "Authorization: Bearer s\r\n", CALL(1, "echo"), 401, NULL, WRONG },
	{ "POST /mcp", "Authorization: Bearer secret-token2\r\n", CALL(1, "echo"), 401, NULL, WRONG },
	{ "POST /mcp", "Authorization: Bearer secret-tokensecret-token\r\n", CALL(1, "echo"), 401, NULL, WRONG },
	{ "POST /mcp", "Authorization: Bearer operator\r\n", CALL(1, "echo"), 401, NULL, WRONG },
	{ "POST /mcp", "Authorization: bearer secret-token\r\n", CALL(1, "echo"), 200, NULL, OK_ECHO },
	{ "DELETE /mcp", "", NULL, 401, NULL, MISSING },
	{ "GET /nothing", "", NULL, 401, NULL, MISSING },
	{ "GET /nothing", "Authorization: Bearer secret-token\r\n", NULL, 404, NULL, NULL },
	{ "GET /health", "", NULL, 429, NULL, NULL },
	{ "GET /audit/export", "", NULL, 401, NULL, MISSING },
	{ "POST /sessions/x/close", "Authorization: Bearer secret-token\r\n", "", 200, NULL, NULL },
	{ "POST /sessions/x/reset", "Authorization: Bearer secret-token\r\n", "", 401, NULL, WRONG },
	{ "POST /sessions/x/reset", "Authorization: Bearer operator\r\n", "", 200, NULL, NULL },
	{ NULL, NULL, NULL, 0, NULL, NULL },
};

/* Behind a session's header. */
static const struct answer_row session_rows[] = {
	{ "POST /mcp", "", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202, NULL, "" },
	{ "POST /mcp", "", CALL(1, "echo"), 200, NULL, OK_ECHO },
	{ "POST /mcp", "", CALL(1, "refuse"), 200, NULL, DENIED },
	{ "POST /mcp", "", CALL(1, "resources/list"), 200, NULL, UNKNOWN },
	{ "POST /mcp", "", "not json", 400, NULL, NULL },
	{ "POST /mcp", "", "[]", 400, NULL, INVALID },
	{ NULL, NULL, NULL, 0, NULL, NULL },
};

static CU_TestInfo tests[] = {
	{ "what is answered to a caller without a session", test_answers },
	{ "tokens", test_tokens },
	{ "a session, from its opening to its end", test_session },
	{ "versions of the protocol", test_versions },
	{ "sessions beyond the most", test_sessions_full },
	{ "a connection serves on", test_keep_alive },
	{ "a request without a host", test_no_host },
	{ "notifications make an event stream", test_stream },
	{ "notifications arrive at once", test_stream_later },
	{ "a session cancels its own requests", test_cancel_by_id },
	{ "routes beside /mcp", test_routes },
	{ "only loopback", test_addresses },
	{ "the other loopback", test_six },
	{ "a handler's error ends the loop", test_handler_error },
	{ "an answer has a maximum", test_long_answer },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "mcp_http", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("mcp_http", suites);
}
