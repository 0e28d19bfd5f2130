/* libexec/mcp-http between our pipes and a small HTTP server. */
#include <fcntl.h>

#include "tests/unit/child.h"
#include "tests/unit/http_server.h"

#define OUT_BYTES (64 * KIB)
#define TOKEN "0123-the-token"
#define QUICK_MS "300"
#define LONG_MS "20000"
#define FD_TOKEN 3
#define URL_BYTES 128

struct talk_row {
	const char *says, *hears;
};
struct refused_row {
	const char *url, *time, *token;
	int status;
};

static const struct route routes[];
static const struct talk_row talk_rows[];
static const struct refused_row refused_rows[];

/* ---- a relay ---- */

struct relay {
	struct child child;
	int to, from;
	struct buf heard;
};
#define RELAY                                                                                                          \
	{                                                                                                              \
		.child = CHILD_NONE, .to = -1, .from = -1, .heard = BUF(OUT_BYTES)                                     \
	}

static void relay_close(struct relay *relay)
{
	fd_close(&relay->to);
	child_end(&relay->child);
	fd_close(&relay->from);
	buf_free(&relay->heard);
}
#define cleanup_relay __attribute__((cleanup(relay_close)))

static bool relay_start(struct relay *relay, const char *url, const char *time, const char *token)
{
	char path[PATH_MAX], name[] = "mcp-http", address[URL_BYTES], ms[32];
	char *argv[] = { name, address, ms, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
	PIPE(in);
	PIPE(out);
	PIPE(secret);
	struct error *err = NULL;

	snprintf(address, sizeof(address), "%s", url);
	snprintf(ms, sizeof(ms), "%s", time);
	pipe_open(&in);
	pipe_open(&out);
	pipe_open(&secret);
	map(&options, in.reader, 0);
	map(&options, out.writer, 1);
	map(&options, secret.reader, FD_TOKEN);
	CU_ASSERT_EQUAL(fd_write_all(secret.writer, token, strlen(token), guard(), &err), 0);
	CU_ASSERT_EQUAL(spawn_helper_path(name, path, sizeof(path), &err), 0);
	CU_ASSERT_EQUAL(spawn(&options, &relay->child, &err), 0);
	relay->to = steal_fd(&in.writer);
	relay->from = steal_fd(&out.reader);
	return test_no_error(&err);
}

static void say(struct relay *relay, const char *lines)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_all(relay->to, lines, strlen(lines), guard(), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Whether exactly these lines come next. */
static bool hears(struct relay *relay, const char *lines)
{
	size_t length = strlen(lines);
	struct error *err = NULL;
	bool same;

	while (relay->heard.length < length && fd_wait(relay->from, POLLIN, guard(), &err) > 0) {
		char *room = buf_reserve(&relay->heard, 4096);
		ssize_t got = room ? read(relay->from, room, 4096) : -1;

		if (got <= 0)
			break;
		buf_commit(&relay->heard, (size_t)got);
	}
	same = relay->heard.length >= length && memcmp(buf_string(&relay->heard), lines, length) == 0;
	if (!same)
		fprintf(stderr, "expected %s     got %s\n", lines, buf_string(&relay->heard));
	buf_consume(&relay->heard, same ? length : relay->heard.length);
	return test_no_error(&err) && same;
}

/* By the end of its stdin; nothing more may come. */
static int relay_end(struct relay *relay)
{
	struct error *err = NULL;
	int status = -1;

	fd_close(&relay->to);
	CU_ASSERT_EQUAL(fd_read_all(relay->from, &relay->heard, guard(), &err), 0);
	CU_ASSERT_EQUAL(relay->heard.length, 0);
	CU_ASSERT_EQUAL(child_wait(&relay->child, guard(), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return status;
}

static bool both_start(struct server *server, struct relay *relay, const char *time, const char *token)
{
	char url[URL_BYTES];
	bool started = server_start(server, true, "routes");

	CU_ASSERT(started);
	snprintf(url, sizeof(url), "%s/mcp", server->base);
	return started && relay_start(relay, url, time, token);
}

#define CALL(id, tag) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"tag\":\"" tag "\"}}\n"
#define FAILED(id, text, data)                                                                                         \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":-32000,\"message\":\"" text "\",\"data\":" data "}}\n"
#define RESULT(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define INITIALIZE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define WELCOME RESULT("1", "{\"protocolVersion\":\"2025-03-26\"}")

/* ---- tests ---- */

static void test_talk(void)
{
	cleanup_server struct server server = SERVER;
	cleanup_relay struct relay relay = RELAY;

	if (!both_start(&server, &relay, LONG_MS, ""))
		return;
	for (const struct talk_row *row = talk_rows; row->says; row++) {
		say(&relay, row->says);
		CU_ASSERT(hears(&relay, row->hears));
	}
	CU_ASSERT(server_saw_not(&server, "Authorization"));
	CU_ASSERT_EQUAL(relay_end(&relay), 0);
	CU_ASSERT(server_saw_not(&server, "DELETE"));
}

/* Token, session and version are sent where they belong, and the session is taken back. */
static void test_headers(void)
{
	cleanup_server struct server server = SERVER;
	cleanup_relay struct relay relay = RELAY;

	if (!both_start(&server, &relay, LONG_MS, TOKEN "\n"))
		return;
	say(&relay, INITIALIZE);
	CU_ASSERT(hears(&relay, WELCOME "\n"));
	CU_ASSERT(server_saw(&server, "\r\nAccept: application/json, text/event-stream\r\n"));
	CU_ASSERT(server_saw(&server, "\r\nAuthorization: Bearer " TOKEN "\r\n"));
	CU_ASSERT(server_saw_not(&server, "Mcp-Session-Id"));
	CU_ASSERT(server_saw_not(&server, "MCP-Protocol-Version"));
	say(&relay, INITIALIZED);
	CU_ASSERT(server_saw(&server, "\r\nMcp-Session-Id: session-1\r\n"));
	CU_ASSERT(server_saw(&server, "\r\nMCP-Protocol-Version: 2025-03-26\r\n"));
	CU_ASSERT_EQUAL(relay_end(&relay), 0);
	CU_ASSERT(server_saw(&server, "DELETE /mcp HTTP/1.1\r\n"));
}

static bool file_holds(pid_t pid, const char *name, const char *text)
{
	cleanup_buf struct buf bytes = BUF(OUT_BYTES);
	struct error *err = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, path, OUT_BYTES, &bytes, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return memmem(buf_string(&bytes), bytes.length, text, strlen(text)) != NULL;
}

static void test_token_is_hidden(void)
{
	cleanup_server struct server server = SERVER;
	cleanup_relay struct relay relay = RELAY;

	if (!both_start(&server, &relay, LONG_MS, TOKEN))
		return;
	say(&relay, CALL("1", "result"));
	CU_ASSERT(server_saw(&server, "Bearer " TOKEN));
	CU_ASSERT(file_holds(relay.child.pid, "cmdline", "mcp-http"));
	CU_ASSERT(!file_holds(relay.child.pid, "cmdline", TOKEN));
	CU_ASSERT(!file_holds(relay.child.pid, "environ", TOKEN));
}

/* What takes long holds up nobody; what has no answer is waited for. */
static void test_order(void)
{
	cleanup_server struct server server = SERVER;
	cleanup_relay struct relay relay = RELAY;

	if (!both_start(&server, &relay, LONG_MS, ""))
		return;
	say(&relay, CALL("1", "slow") CALL("2", "fast"));
	CU_ASSERT(hears(&relay, RESULT("2", "{}") "\n"));
	say(&relay, CALL("3", "release"));
	CU_ASSERT(hears(&relay, RESULT("1", "{}") "\n"));
	say(&relay, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/waited\"}\n" CALL("4", "behind"));
	CU_ASSERT(server_saw(&server, "notifications/waited"));
	CU_ASSERT(server_saw_not(&server, "behind"));
}

static void test_timeout_and_cancel(void)
{
	cleanup_server struct server server = SERVER;
	cleanup_relay struct relay relay = RELAY;

	if (!both_start(&server, &relay, QUICK_MS, ""))
		return;
	say(&relay, CALL("1", "hangs"));
	CU_ASSERT(hears(&relay, FAILED("1", "The server did not answer in time", "{\"error_code\":\"HTTP_TIMEOUT\"}")));
	/* Of the cancelled call nothing is heard: not even that its time is over. */
	say(&relay, CALL("2", "hangs") CALL("3", "hangs") "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
							  "cancelled\",\"params\":{\"requestId\":2}}\n");
	CU_ASSERT(hears(&relay, FAILED("3", "The server did not answer in time", "{\"error_code\":\"HTTP_TIMEOUT\"}")));
	CU_ASSERT(server_saw(&server, "notifications/cancelled"));
	CU_ASSERT_EQUAL(relay_end(&relay), 0);
}

static size_t times(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

/* A connection that was kept and ends under a call may have brought it there already. */
static void test_never_twice(void)
{
	cleanup_server struct server server = SERVER;
	cleanup_relay struct relay relay = RELAY;

	if (!both_start(&server, &relay, LONG_MS, ""))
		return;
	say(&relay, CALL("1", "kept"));
	CU_ASSERT(hears(&relay, RESULT("1", "{}") "\n"));
	say(&relay, CALL("2", "gone"));
	CU_ASSERT(hears(&relay, FAILED("2", "The server ended the connection", "{\"error_code\":\"HTTP_LOST\"}")));
	CU_ASSERT(server_saw(&server, "\"gone\""));
	CU_ASSERT(server_saw_not(&server, "never"));
	CU_ASSERT_EQUAL(times(buf_string(&server.seen), "\"gone\""), 1);
}

static void test_unreachable(void)
{
	cleanup_relay struct relay relay = RELAY;
	struct server nobody = SERVER;
	char url[URL_BYTES];
	int listener = server_listen_tcp(&nobody);

	CU_ASSERT(listener >= 0);
	fd_close(&listener);
	snprintf(url, sizeof(url), "%s/mcp", nobody.base);
	if (!relay_start(&relay, url, LONG_MS, ""))
		return;
	say(&relay, CALL("1", "result"));
	CU_ASSERT(hears(&relay, FAILED("1", "The server cannot be reached", "{\"error_code\":\"HTTP_UNREACHABLE\"}")));
}

static void test_refused(void)
{
	for (const struct refused_row *row = refused_rows; row->url; row++) {
		cleanup_relay struct relay relay = RELAY;
		int status;

		if (!relay_start(&relay, row->url, row->time, row->token))
			return;
		status = relay_end(&relay);
		if (status != row->status)
			fprintf(stderr, "%s: exit code %d\n", row->url, status);
		CU_ASSERT_EQUAL(status, row->status);
	}
}

static CU_TestInfo tests[] = {
	{ "what each answer of HTTP means", test_talk },
	{ "token, session and version in the headers", test_headers },
	{ "the token is in no argument and no environment", test_token_is_hidden },
	{ "answers as they come, notifications in order", test_order },
	{ "a call's time, and a call that is cancelled", test_timeout_and_cancel },
	{ "nothing is sent twice", test_never_twice },
	{ "nobody there", test_unreachable },
	{ "what it does not start with", test_refused },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "mcp_relay", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	(void)argv;
	return argc > 1 ? server_run(routes) : test_main("mcp_relay", suites);
}

#define ANSWER(status, type) "HTTP/1.1 " status "\r\nContent-Type: " type "\r\n\r\n"
#define JSON(status) ANSWER(status, "application/json")
#define EVENTS ANSWER("200 OK", "text/event-stream; charset=utf-8")
#define DENIED                                                                                                         \
	"\"error\":{\"code\":-32000,\"message\":\"Request denied by policy\",\"data\":"                                \
	"{\"error_code\":\"POLICY_DENY\",\"call_id\":\"x\"}}"
#define PROTOCOL(id) FAILED(id, "The server's answer is none of the protocol", "{\"error_code\":\"HTTP_PROTOCOL\"}")
#define STATUS(id, status)                                                                                             \
	FAILED(id, "The server refused the request", "{\"error_code\":\"HTTP_STATUS\",\"status\":" status "}")
#define LOST(id) FAILED(id, "The server ended the connection", "{\"error_code\":\"HTTP_LOST\"}")
#define PROGRESS "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}"

#define ROUTE(tag, text) .request = "POST /mcp", .holds = (tag), .answer = (text)
static const struct route routes[] = {
	{ ROUTE("\"initialize\"",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: session-1\r\n\r\n" WELCOME),
	  .close = true },
	{ ROUTE("notifications/initialized", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") },
	{ ROUTE("notifications/odd",
		JSON("404 Not Found") "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,"
				      "\"message\":\"no\"}}"),
	  .close = true },
	{ ROUTE("notifications/waited", NULL) },
	{ ROUTE("notifications/cancelled", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") },
	{ ROUTE("\"ping\"", JSON("404 Not Found") "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,"
						  "\"message\":\"no\"}}"),
	  .close = true },
	{ ROUTE("\"result\"", JSON("200 OK") "{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":\n{\"n\":1.50}}"),
	  .close = true },
	{ ROUTE("\"text id\"", JSON("200 OK") RESULT("\"a\\u0062\"", "{}")), .close = true },
	{ ROUTE("\"denied\"", JSON("403 Forbidden") "{\"jsonrpc\":\"2.0\"," DENIED ",\"id\":1}"), .close = true },
	{ ROUTE("\"null id\"", JSON("400 Bad Request") "{\"jsonrpc\":\"2.0\"," DENIED ",\"id\":null}"), .close = true },
	{ ROUTE("\"other id\"", JSON("200 OK") RESULT("9", "{}")), .close = true },
	{ ROUTE("\"other deny\"", JSON("403 Forbidden") "{\"jsonrpc\":\"2.0\"," DENIED ",\"id\":9}"), .close = true },
	{ ROUTE("\"result 500\"", JSON("500 Error") RESULT("1", "{}")), .close = true },
	{ ROUTE("\"401\"", JSON("401 Unauthorized") "{\"error\":\"unauthorized\"}"), .close = true },
	{ ROUTE("\"302\"", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n") },
	{ ROUTE("\"empty\"", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") },
	{ ROUTE("\"batch\"", JSON("200 OK") "[" RESULT("1", "{}") "]"), .close = true },
	{ ROUTE("\"not json\"", JSON("200 OK") "<html>"), .close = true },
	{ ROUTE("\"gone\"", NULL), .close = true },
	{ ROUTE("\"cut\"", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), .close = true },
	{ ROUTE("\"kept\"",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r\n" RESULT("1", "{}")) },
	{ ROUTE("\"events\"", EVENTS ": hello\n\nevent: message\ndata: " PROGRESS "\n\nid: 4\ndata: "
				     "{\"jsonrpc\":\"2.0\",\ndata:\"id\":1,\"result\":{\"n\":1}}\n\n"),
	  .close = true },
	/* The connection stays: the answer is there, so nobody waits for its end. */
	{ ROUTE("\"open events\"", EVENTS "\xef\xbb\xbf"
					  "data: " RESULT("1", "{}") "\r\n\r\ndata: " PROGRESS "\r\n\r\n") },
	{ ROUTE("\"no answer\"", EVENTS "data: " PROGRESS "\n\n"), .close = true },
	{ ROUTE("\"unended event\"", EVENTS ":\n\ndata: " RESULT("1", "{}") "\n"), .close = true },
	{ ROUTE("\"other event\"", EVENTS "data: " RESULT("9", "{}") "\n\n"), .close = true },
	{ ROUTE("\"bad event\"", EVENTS "data: {\"jsonrpc\"\n\n"), .close = true },
	{ ROUTE("\"hangs\"", NULL) },
	{ ROUTE("\"release\"", NULL) },
	{ ROUTE("\"slow\"", JSON("200 OK")), .after = "\"release\"", .rest = RESULT("1", "{}"), .close = true },
	{ ROUTE("\"fast\"", JSON("200 OK") RESULT("2", "{}")), .close = true },
	{ .request = "DELETE /mcp", .answer = "HTTP/1.1 204 No Content\r\n\r\n" },
	{ .request = "", .answer = "HTTP/1.1 500 Unknown\r\nContent-Length: 0\r\n\r\n" },
};

static const struct talk_row talk_rows[] = {
	{ CALL("1", "result"), RESULT("1", "{\"n\":1.50}") "\n" },
	{ CALL("\"a\\u0062\"", "text id"), RESULT("\"a\\u0062\"", "{}") "\n" },
	{ CALL("1", "denied"), "{\"jsonrpc\":\"2.0\",\"id\":1," DENIED "}\n" },
	{ CALL("1", "null id"), "{\"jsonrpc\":\"2.0\",\"id\":1," DENIED "}\n" },
	{ CALL("1", "other id"), PROTOCOL("1") },
	{ CALL("1", "other deny"), STATUS("1", "403") },
	{ CALL("1", "result 500"), STATUS("1", "500") },
	{ CALL("1", "401"), STATUS("1", "401") },
	{ CALL("1", "302"), STATUS("1", "302") },
	{ CALL("1", "empty"), PROTOCOL("1") },
	{ CALL("1", "batch"), PROTOCOL("1") },
	{ CALL("1", "not json"), PROTOCOL("1") },
	{ CALL("1", "gone"), LOST("1") },
	{ CALL("1", "cut"), LOST("1") },
	{ CALL("1", "events"), PROGRESS "\n" RESULT("1", "{\"n\":1}") "\n" },
	{ CALL("1", "open events"), RESULT("1", "{}") "\n" },
	{ CALL("1", "no answer"), PROGRESS "\n" LOST("1") },
	{ CALL("1", "unended event"), LOST("1") },
	{ CALL("1", "other event"), PROTOCOL("1") },
	{ CALL("1", "bad event"), PROTOCOL("1") },
	/* A server that offers neither is none the worse for it. */
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
	  "odd\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
	  RESULT("2", "{}") "\n" },
	{ "{]\n", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n" },
	{ "[]\n", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid Request\"}}\n" },
	{ .says = NULL },
};

static const struct refused_row refused_rows[] = {
	{ "https://127.0.0.1:1/mcp", LONG_MS, "", 4 },
	{ "http://localhost:1/mcp", LONG_MS, "", 4 },
	{ "http://user@127.0.0.1:1/mcp", LONG_MS, "", 4 },
	{ "http://127.0.0.1:1/mcp#part", LONG_MS, "", 4 },
	{ "http://127.0.0.1:1?query", LONG_MS, "", 4 },
	{ "http://127.0.0.1:1/mcp", "0", "", 4 },
	{ "http://127.0.0.1:1/mcp", "1s", "", 4 },
	{ "http://127.0.0.1:1/mcp", LONG_MS, "two words", 3 },
	{ "http://127.0.0.1:1/mcp", LONG_MS, "line\r\nInjected: yes", 3 },
	{ "http://127.0.0.1:1/mcp", LONG_MS, "line\n\n", 3 },
	{ "http://[::1]:1/mcp", LONG_MS, TOKEN, 0 },
	{ "http://127.0.0.1:1", LONG_MS, TOKEN "\n", 0 },
	{ .url = NULL },
};
