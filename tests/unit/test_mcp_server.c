#include <fcntl.h>
#include <signal.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "mcp/server.h"
#include "tests/unit/test.h"

#define GUARD_MS 3000
#define OUT_BYTES (256 * KIB)
#define LINE_BYTES 512

/* A server in this process, and the peer's ends of its pipes. */
struct rig {
	struct mcp_server *server;
	int to, from;
	struct mcp_request *kept;
	struct mcp_request *cancelled;
};

static const struct mcp_handler handlers[];

static void on_cancelled(void *context, struct mcp_request *request)
{
	struct rig *rig = context;

	CU_ASSERT_PTR_NULL(rig->cancelled);
	CU_ASSERT(mcp_request_cancelled(request));
	rig->cancelled = request;
}

static void rig_start(struct rig *rig, size_t calls_max, size_t queue_max)
{
	struct mcp_server_options options = {
		.name = "tested",
		.version = "1",
		.handlers = handlers,
		.context = rig,
		.cancelled = on_cancelled,
		.limits = { .line_max = LINE_BYTES, .queue_max = queue_max, .calls_max = calls_max },
	};
	struct error *err = NULL;
	int in = -1, out = -1;

	*rig = (struct rig){ .to = -1, .from = -1 };
	CU_ASSERT_EQUAL(fd_pipe(&in, &rig->to, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&rig->from, &out, &err), 0);
	CU_ASSERT_EQUAL(mcp_server_new(in, out, &options, &rig->server, &err), 0);
	CU_ASSERT_EQUAL(fd_nonblocking(rig->from, true, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void rig_end(struct rig *rig)
{
	mcp_server_free(rig->server);
	fd_close(&rig->to);
	fd_close(&rig->from);
}
#define cleanup_rig __attribute__((cleanup(rig_end)))

static void say(struct rig *rig, const char *text)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_all(rig->to, text, strlen(text), clock_deadline(GUARD_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* What the server has written so far. */
static void hear(struct rig *rig, struct buf *out)
{
	char *room;
	ssize_t got;

	do {
		room = buf_reserve(out, 4096);
		got = room ? read(rig->from, room, 4096) : 0;
		if (got > 0)
			buf_commit(out, (size_t)got);
	} while (got > 0);
}

static bool answers(struct rig *rig, const char *text, const char *expected)
{
	cleanup_buf struct buf out = BUF(OUT_BYTES);
	struct error *err = NULL;

	say(rig, text);
	CU_ASSERT_EQUAL(mcp_server_dispatch(rig->server, clock_deadline(GUARD_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
	hear(rig, &out);
	if (strcmp(buf_string(&out), expected) != 0)
		fprintf(stderr, "expected %s     heard %s", expected, buf_string(&out));
	return strcmp(buf_string(&out), expected) == 0;
}

static int run_echo(void *context, struct mcp_request *request, struct error **err)
{
	const struct json_node *params = mcp_request_params(request);

	(void)context;
	(void)err;
	if (params)
		mcp_request_result(request, json_raw(params));
	else
		mcp_request_error(request, RPC_INVALID_PARAMS, "Invalid params",
				  (struct json_span){ .bytes = "{\"k\":1}", .length = 7 });
	return 0;
}

static int run_keep(void *context, struct mcp_request *request, struct error **err)
{
	struct rig *rig = context;

	(void)err;
	CU_ASSERT_PTR_NULL(rig->kept);
	rig->kept = request;
	return 0;
}

static int run_fail(void *context, struct mcp_request *request, struct error **err)
{
	(void)context;
	(void)request;
	return error_set(err, ERROR_INTERNAL, "a handler failed");
}

struct line_row {
	const char *line, *answer;
};

static const struct line_row line_rows[];

static void test_lines(void)
{
	cleanup_rig struct rig rig;

	rig_start(&rig, 4, OUT_BYTES);
	for (const struct line_row *row = line_rows; row->line; row++)
		CU_ASSERT(answers(&rig, row->line, row->answer));
}

static void test_deferred(void)
{
	cleanup_rig struct rig rig;
	cleanup_buf struct buf out = BUF(OUT_BYTES);
	struct error *err = NULL;

	rig_start(&rig, 2, OUT_BYTES);
	CU_ASSERT(answers(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"k\",\"method\":\"keep\",\"params\":{\"v\":1e2}}\n", ""));
	/* Another one passes it. */
	CU_ASSERT(answers(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
			  "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"));
	CU_ASSERT_PTR_NOT_NULL(rig.kept);
	if (!rig.kept)
		return;
	mcp_request_result(rig.kept, json_raw(mcp_request_params(rig.kept)));
	CU_ASSERT_EQUAL(mcp_server_resume(rig.server, &err), 0);
	CU_ASSERT(test_no_error(&err));
	hear(&rig, &out);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "{\"jsonrpc\":\"2.0\",\"id\":\"k\",\"result\":{\"v\":1e2}}\n");
}

/* A peer cancels what it asked for, by the id however it writes it; the answer then goes nowhere. */
static void test_cancelled(void)
{
#define CANCEL(id) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}\n"
	cleanup_rig struct rig rig;
	struct error *err = NULL;

	rig_start(&rig, 4, OUT_BYTES);
	CU_ASSERT(answers(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"k\\u0041\",\"method\":\"keep\"}\n", ""));
	CU_ASSERT(answers(&rig, CANCEL("\"k\"") CANCEL("1") CANCEL("null") CANCEL("[]"), ""));
	CU_ASSERT_PTR_NULL(rig.cancelled);
	if (!rig.kept)
		return;
	CU_ASSERT_FALSE(mcp_request_cancelled(rig.kept));
	CU_ASSERT(answers(&rig, CANCEL("\"kA\"") CANCEL("\"kA\""), ""));
	CU_ASSERT_PTR_EQUAL(rig.cancelled, rig.kept);
	mcp_request_notify(rig.kept, "notifications/progress", RPC_NONE);
	mcp_request_result(rig.kept, RPC_NULL);
	CU_ASSERT_EQUAL(mcp_server_resume(rig.server, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(answers(&rig, CANCEL("\"kA\"") "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
			  "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n"));
}

/* Notifications come before the answer; those for which there is no room are dropped, and the answer is not. */
static void test_notify(void)
{
	enum { QUEUE = 4 * KIB, NOTICES = 200 };
	static const struct json_span params = { .bytes = "{\"progress\":1}", .length = 14 };
	cleanup_rig struct rig rig;
	cleanup_buf struct buf out = BUF(OUT_BYTES);
	struct error *err = NULL;

	rig_start(&rig, 4, QUEUE);
	CU_ASSERT(answers(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"keep\"}\n", ""));
	if (!rig.kept)
		return;
	mcp_request_status(rig.kept, 403);
	mcp_request_notify(rig.kept, "notifications/progress", params);
	CU_ASSERT_EQUAL(mcp_server_resume(rig.server, &err), 0);
	hear(&rig, &out);
	CU_ASSERT_STRING_EQUAL(
		buf_string(&out),
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1}}\n");
	for (int i = 0; i < NOTICES; i++)
		mcp_request_notify(rig.kept, "notifications/progress", params);
	mcp_request_error(rig.kept, RPC_SERVER_ERROR, "m", RPC_NONE);
	CU_ASSERT_EQUAL(mcp_server_resume(rig.server, &err), 0);
	CU_ASSERT(test_no_error(&err));
	buf_free(&out);
	hear(&rig, &out);
	CU_ASSERT(out.length > QUEUE / 4 && out.length < QUEUE);
	CU_ASSERT_PTR_NOT_NULL(strstr(
		buf_string(&out), "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"m\"}}\n"));
}

/* With as many requests open as allowed it reads no more; the lines that came are served after an answer. */
static void test_held_back(void)
{
	cleanup_rig struct rig rig;
	cleanup_buf struct buf out = BUF(OUT_BYTES);
	struct error *err = NULL;
	struct pollfd fds[2];

	rig_start(&rig, 1, OUT_BYTES);
	CU_ASSERT(
		answers(&rig,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"keep\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":"
			"\"ping\"}\n",
			""));
	CU_ASSERT_EQUAL(mcp_server_fds(rig.server, fds), 0);
	fd_close(&rig.to);
	CU_ASSERT_EQUAL(mcp_server_dispatch(rig.server, 0, &err), 0);
	CU_ASSERT_PTR_NOT_NULL(rig.kept);
	if (!rig.kept)
		return;
	mcp_request_error(rig.kept, RPC_INTERNAL_ERROR, "m", RPC_NONE);
	CU_ASSERT_EQUAL(mcp_server_resume(rig.server, &err), 0);
	CU_ASSERT_EQUAL(mcp_server_dispatch(rig.server, 0, &err), 1);
	CU_ASSERT(test_no_error(&err));
	hear(&rig, &out);
	CU_ASSERT_STRING_EQUAL(buf_string(&out),
			       "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"m\"}}\n"
			       "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
}

/* A peer that asks and does not read is held back by its own pipe, in bounded memory, and gets every answer later. */
static void test_slow_reader(void)
{
	enum { REQUESTS = 400 };
	cleanup_rig struct rig rig;
	cleanup_buf struct buf out = BUF(OUT_BYTES);
	struct error *err = NULL;
	size_t lines = 0;
	char line[LINE_BYTES];

	rig_start(&rig, 4, 2 * KIB);
	CU_ASSERT(fcntl(rig.from, F_SETPIPE_SZ, 4096) > 0);
	for (int i = 0; i < REQUESTS; i++) {
		snprintf(line, sizeof(line),
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"echo\",\"params\":{\"a\":\"%0100d\"}}\n", i, i);
		say(&rig, line);
		if (i % 7 == 0)
			CU_ASSERT_EQUAL(mcp_server_dispatch(rig.server, 0, &err), 0);
	}
	fd_close(&rig.to);
	for (int round = 0; round < 2 * REQUESTS; round++) {
		hear(&rig, &out);
		if (mcp_server_dispatch(rig.server, 0, &err) != 0)
			break;
	}
	CU_ASSERT(test_no_error(&err));
	hear(&rig, &out);
	for (size_t i = 0; i < out.length; i++)
		lines += out.data[i] == '\n';
	CU_ASSERT_EQUAL(lines, REQUESTS);
}

static void test_ends(void)
{
	struct error *err = NULL;
	struct rig rig;

	rig_start(&rig, 4, OUT_BYTES);
	fd_close(&rig.to);
	CU_ASSERT_EQUAL(mcp_server_dispatch(rig.server, clock_deadline(GUARD_MS), &err), 1);
	rig_end(&rig);

	rig_start(&rig, 4, OUT_BYTES);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fail\"}\n");
	CU_ASSERT(mcp_server_dispatch(rig.server, clock_deadline(GUARD_MS), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "a handler failed"));
	rig_end(&rig);

	rig_start(&rig, 4, OUT_BYTES);
	for (int i = 0; i < LINE_BYTES + 1; i++)
		say(&rig, "x");
	CU_ASSERT(mcp_server_dispatch(rig.server, clock_deadline(GUARD_MS), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "longer"));
	rig_end(&rig);

	rig_start(&rig, 4, OUT_BYTES);
	fd_close(&rig.from);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
	CU_ASSERT(mcp_server_dispatch(rig.server, clock_deadline(GUARD_MS), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_CLOSED, "gone"));
	rig_end(&rig);
}

static void test_flush_deadline(void)
{
	cleanup_rig struct rig rig;
	struct error *err = NULL;
	char line[LINE_BYTES];

	rig_start(&rig, 4, 64 * KIB);
	CU_ASSERT(fcntl(rig.from, F_SETPIPE_SZ, 4096) > 0);
	for (int i = 0; i < 60; i++) {
		snprintf(line, sizeof(line),
			 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"echo\",\"params\":{\"a\":\"%0200d\"}}\n", i, i);
		say(&rig, line);
		CU_ASSERT_EQUAL(mcp_server_dispatch(rig.server, 0, &err), 0);
	}
	CU_ASSERT(mcp_server_flush(rig.server, clock_deadline(20), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "deadline"));
}

static const struct mcp_handler handlers[] = {
	{ .method = "echo", .run = run_echo },
	{ .method = "keep", .run = run_keep },
	{ .method = "fail", .run = run_fail },
	{ .method = NULL },
};

static const struct line_row line_rows[] = {
	{ "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}"
	  ","
	  "\"serverInfo\":{\"name\":\"tested\",\"version\":\"1\"}}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}}"
	  ","
	  "\"serverInfo\":{\"name\":\"tested\",\"version\":\"1\"}}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}"
	  ","
	  "\"serverInfo\":{\"name\":\"tested\",\"version\":\"1\"}}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n", "" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":\"p\\u0041\",\"method\":\"ping\"}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":\"p\\u0041\",\"result\":{}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"n\":12345678901234567890.10}}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":12345678901234567890.10}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid "
	  "params\",\"data\":{\"k\":1}}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"other\"}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}\n" },
	{ "not json\n", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n" },
	{ "\n", "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}\n" },
	{ "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid Request\"}}\n" },
	{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
	  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n" },
	{ NULL, NULL },
};

static CU_TestInfo tests[] = {
	{ "lines are answered as the table says", test_lines },
	{ "an answer may come later", test_deferred },
	{ "a cancelled request", test_cancelled },
	{ "notifications before an answer", test_notify },
	{ "a full server reads no more, and goes on", test_held_back },
	{ "a slow reader is held back, not buffered", test_slow_reader },
	{ "how a server ends", test_ends },
	{ "the last flush has a deadline", test_flush_deadline },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "mcp_server", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("mcp_server", suites);
}
