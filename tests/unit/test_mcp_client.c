#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/loop.h"
#include "mcp/client.h"
#include "tests/unit/test.h"

#define GUARD_MS 3000
#define SOON_MS 20
#define OUT_BYTES (256 * KIB)
#define LINE_BYTES 512
#define CALLS 3

/* A client in this process, and the ends of the peer that the test plays. */
struct rig {
	struct mcp_client *client;
	int to, from;
};

/* What a callback was told. */
struct told {
	unsigned times;
	enum mcp_outcome outcome;
	int64_t code;
	char error_code[RPC_ERROR_CODE_BYTES];
	char result[LINE_BYTES];
	struct rig *again; /* starts a call from the callback */
};

static void rig_start(struct rig *rig, size_t queue_max)
{
	const struct mcp_limits limits = { .line_max = LINE_BYTES, .queue_max = queue_max, .calls_max = CALLS };
	struct error *err = NULL;
	int in = -1, out = -1;

	*rig = (struct rig){ .to = -1, .from = -1 };
	CU_ASSERT_EQUAL(fd_pipe(&in, &rig->to, &err), 0);
	CU_ASSERT_EQUAL(fd_pipe(&rig->from, &out, &err), 0);
	CU_ASSERT_EQUAL(mcp_client_new(in, out, &limits, &rig->client, &err), 0);
	CU_ASSERT_EQUAL(fd_nonblocking(rig->from, true, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void rig_end(struct rig *rig)
{
	mcp_client_free(rig->client);
	fd_close(&rig->to);
	fd_close(&rig->from);
}
#define cleanup_rig __attribute__((cleanup(rig_end)))

static int call_raw(struct rig *rig, const char *method, const char *params, int64_t deadline, struct told *told,
		    int64_t *token, struct error **err);

static void on_answer(void *context, const struct mcp_answer *answer)
{
	struct told *told = context;
	struct json_span raw = json_raw(answer->result);

	told->times++;
	told->outcome = answer->outcome;
	told->code = answer->code;
	snprintf(told->error_code, sizeof(told->error_code), "%s", answer->error_code);
	if (answer->result)
		snprintf(told->result, sizeof(told->result), "%.*s", (int)raw.length, raw.bytes);
	if (told->again) {
		cleanup_error struct error *late = NULL;
		struct rig *rig = steal_pointer(&told->again);

		(void)!call_raw(rig, "ping", "", clock_deadline(GUARD_MS), told, NULL, &late);
	}
}

static int call_raw(struct rig *rig, const char *method, const char *params, int64_t deadline, struct told *told,
		    int64_t *token, struct error **err)
{
	struct json_span span = { .bytes = params, .length = strlen(params) };

	return mcp_client_call(rig->client, method, span, deadline, on_answer, told, token, err);
}

static int64_t call(struct rig *rig, struct told *told, int64_t milliseconds)
{
	struct error *err = NULL;
	int64_t token = 0;

	CU_ASSERT_EQUAL(call_raw(rig, "tools/call", "{\"n\":1.0}", clock_deadline(milliseconds), told, &token, &err),
			0);
	CU_ASSERT(test_no_error(&err));
	return token;
}

static void say(struct rig *rig, const char *text)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_all(rig->to, text, strlen(text), clock_deadline(GUARD_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static bool heard(struct rig *rig, const char *expected)
{
	char out[4096];
	ssize_t got = read(rig->from, out, sizeof(out) - 1);

	out[got > 0 ? got : 0] = '\0';
	if (strcmp(out, expected) != 0)
		fprintf(stderr, "expected %s     heard %s\n", expected, out);
	return strcmp(out, expected) == 0;
}

static bool dispatches(struct rig *rig)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(mcp_client_dispatch(rig->client, clock_deadline(GUARD_MS), &err), 0);
	return test_no_error(&err);
}

#define HELLO                                                                                                          \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"                     \
	"\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"us\",\"version\":\"1\"}}}\n"

static void handshake(struct rig *rig, struct told *told, const char *answer)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(mcp_client_initialize(rig->client, "us", "1", clock_deadline(GUARD_MS), on_answer, told, &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(heard(rig, HELLO));
	say(rig, answer);
	CU_ASSERT(dispatches(rig));
	CU_ASSERT_EQUAL(told->times, 1);
}

static void test_handshake(void)
{
	static const char *const versions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", NULL };
	char answer[LINE_BYTES];

	for (size_t i = 0; versions[i]; i++) {
		cleanup_rig struct rig rig;
		struct told told = { .times = 0 };

		rig_start(&rig, OUT_BYTES);
		snprintf(answer, sizeof(answer),
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"%s\"}}\n", versions[i]);
		handshake(&rig, &told, answer);
		CU_ASSERT_EQUAL(told.outcome, MCP_RESULT);
		CU_ASSERT(heard(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
	}
}

static void test_handshake_refused(void)
{
	static const char *const answers[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"1999-01-01\"}}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
		NULL,
	};

	for (size_t i = 0; answers[i]; i++) {
		cleanup_rig struct rig rig;
		struct told told = { .times = 0 };

		rig_start(&rig, OUT_BYTES);
		handshake(&rig, &told, answers[i]);
		CU_ASSERT_EQUAL(told.outcome, MCP_LOST);
		CU_ASSERT(heard(&rig, ""));
	}
}

static void test_answers(void)
{
	cleanup_rig struct rig rig;
	struct told one = { .times = 0 }, two = { .times = 0 };

	rig_start(&rig, OUT_BYTES);
	call(&rig, &one, GUARD_MS);
	call(&rig, &two, GUARD_MS);
	CU_ASSERT(heard(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"n\":1.0}}\n"
			      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"n\":1.0}}\n"));
	CU_ASSERT_EQUAL(mcp_client_calls(rig.client), 2);
	/* In any order, in one piece, with a notification between. */
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"m\",\"data\":{\"error_code\":"
		  "\"POLICY_DENY\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n"
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"v\":1.50e3}}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT(one.times == 1 && one.outcome == MCP_RESULT);
	CU_ASSERT_STRING_EQUAL(one.result, "{\"v\":1.50e3}");
	CU_ASSERT(two.times == 1 && two.outcome == MCP_ERROR && two.code == -32000);
	CU_ASSERT_STRING_EQUAL(two.error_code, "POLICY_DENY");
	CU_ASSERT_EQUAL(mcp_client_calls(rig.client), 0);
}

static void test_call_from_callback(void)
{
	cleanup_rig struct rig rig;
	struct told told = { .again = &rig };

	rig_start(&rig, OUT_BYTES);
	call(&rig, &told, GUARD_MS);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT_EQUAL(told.times, 1);
	CU_ASSERT_EQUAL(mcp_client_calls(rig.client), 1);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT_EQUAL(told.times, 2);
}

static void test_timeout(void)
{
	cleanup_rig struct rig rig;
	struct told slow = { .times = 0 }, other = { .times = 0 };
	int64_t begin = clock_now();

	rig_start(&rig, OUT_BYTES);
	call(&rig, &slow, SOON_MS);
	call(&rig, &other, GUARD_MS);
	CU_ASSERT(mcp_client_deadline(rig.client) <= clock_deadline(SOON_MS));
	heard(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"n\":1.0}}\n"
		    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"n\":1.0}}\n");
	/* Waits for the nearest deadline, not for its own. */
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT(clock_now() - begin >= SOON_MS * NS_PER_MS && clock_now() - begin < GUARD_MS * NS_PER_MS);
	CU_ASSERT(slow.times == 1 && slow.outcome == MCP_TIMEOUT);
	CU_ASSERT_EQUAL(other.times, 0);
	CU_ASSERT(heard(&rig,
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"
			"\n"));
	/* The late answer is no fault, and tells nobody. */
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT(slow.times == 1 && other.times == 1 && other.outcome == MCP_RESULT);
	CU_ASSERT_EQUAL(mcp_client_deadline(rig.client), NEVER);
}

static void test_cancel(void)
{
	cleanup_rig struct rig rig;
	struct told told = { .times = 0 };
	struct error *err = NULL;
	int64_t token;

	rig_start(&rig, OUT_BYTES);
	token = call(&rig, &told, GUARD_MS);
	heard(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"n\":1.0}}\n");
	mcp_client_cancel(rig.client, token);
	mcp_client_cancel(rig.client, token);
	mcp_client_cancel(rig.client, 0);
	CU_ASSERT_EQUAL(mcp_client_calls(rig.client), 0);
	CU_ASSERT_EQUAL(mcp_client_dispatch(rig.client, 0, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(heard(&rig,
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"
			"\n"));
	CU_ASSERT_EQUAL(told.times, 0);
}

static void test_peer_asks(void)
{
	cleanup_rig struct rig rig;

	rig_start(&rig, OUT_BYTES);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n"
		  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\"}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT(heard(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n"
			      "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,\"message\":\"Method not "
			      "found\"}}\n"));
}

static void on_notice(void *context, const char *method, const struct json_node *params)
{
	struct told *told = context;
	struct json_span raw = json_raw(params);

	told->times++;
	snprintf(told->result, sizeof(told->result), "%s %.*s", method, params ? (int)raw.length : 0,
		 params ? raw.bytes : "");
}

static void test_notifications(void)
{
	cleanup_rig struct rig rig;
	struct told told = { .times = 0 }, called = { .times = 0 };

	rig_start(&rig, OUT_BYTES);
	mcp_client_on_notification(rig.client, on_notice, &told);
	call(&rig, &called, GUARD_MS);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,"
		  "\"progress\":1.50}}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT_EQUAL(told.times, 1);
	CU_ASSERT_STRING_EQUAL(told.result, "notifications/progress {\"progressToken\":1,\"progress\":1.50}");
	say(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n"
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT_EQUAL(told.times, 2);
	CU_ASSERT_STRING_EQUAL(told.result, "notifications/tools/list_changed ");
	CU_ASSERT(called.times == 1 && called.outcome == MCP_RESULT);
	mcp_client_on_notification(rig.client, NULL, NULL);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n");
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT_EQUAL(told.times, 2);
}

struct broken_row {
	const char *line;
	enum error_code code;
};

static const struct broken_row broken_rows[];

/* Whatever ends the peer, every call is told once, and no further call goes out. */
static void test_lost(void)
{
	for (const struct broken_row *row = broken_rows; row->code; row++) {
		cleanup_rig struct rig rig;
		struct told one = { .times = 0 }, two = { .again = &rig };
		struct error *err = NULL;

		rig_start(&rig, OUT_BYTES);
		call(&rig, &one, GUARD_MS);
		call(&rig, &two, GUARD_MS);
		if (row->line)
			say(&rig, row->line);
		else
			fd_close(&rig.to);
		CU_ASSERT(mcp_client_dispatch(rig.client, clock_deadline(GUARD_MS), &err) < 0);
		CU_ASSERT(test_error(&err, row->code, ""));
		CU_ASSERT(one.times == 1 && one.outcome == MCP_LOST);
		CU_ASSERT(two.times == 1 && two.outcome == MCP_LOST);
		CU_ASSERT(call_raw(&rig, "ping", "", NEVER, &one, NULL, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_CLOSED, "gone"));
		CU_ASSERT(mcp_client_dispatch(rig.client, 0, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_CLOSED, "gone"));
	}
}

static void test_answer_before_end(void)
{
	cleanup_rig struct rig rig;
	struct told told = { .times = 0 };
	struct error *err = NULL;

	rig_start(&rig, OUT_BYTES);
	call(&rig, &told, GUARD_MS);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
	fd_close(&rig.to);
	fd_close(&rig.from);
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT(told.times == 1 && told.outcome == MCP_RESULT);
	CU_ASSERT(mcp_client_dispatch(rig.client, clock_deadline(GUARD_MS), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_CLOSED, "gone"));
}

static void test_limits(void)
{
	cleanup_rig struct rig rig;
	struct told told = { .times = 0 };
	struct error *err = NULL;
	char params[LINE_BYTES];

	rig_start(&rig, 300);
	snprintf(params, sizeof(params), "{\"a\":\"%0290d\"}", 0);
	CU_ASSERT(strlen(params) <= 300);
	CU_ASSERT_EQUAL(call_raw(&rig, "m", params, NEVER, &told, NULL, &err), 0);
	snprintf(params, sizeof(params), "{\"a\":\"%0300d\"}", 0);
	CU_ASSERT(call_raw(&rig, "m", params, NEVER, &told, NULL, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "queue"));
	/* The refusal hurt nothing. */
	CU_ASSERT_EQUAL(call_raw(&rig, "m", "", NEVER, &told, NULL, &err), 0);
	CU_ASSERT_EQUAL(call_raw(&rig, "m", "", NEVER, &told, NULL, &err), 0);
	CU_ASSERT(call_raw(&rig, "m", "", NEVER, &told, NULL, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "3 calls"));
	CU_ASSERT_EQUAL(mcp_client_calls(rig.client), CALLS);
}

/* A peer that does not read blocks nobody: the line waits, and goes when there is room. */
static void test_slow_peer(void)
{
	cleanup_rig struct rig rig;
	cleanup_buf struct buf params = BUF(OUT_BYTES), out = BUF(OUT_BYTES);
	struct told told = { .times = 0 };
	struct error *err = NULL;
	struct pollfd fds[2];

	rig_start(&rig, OUT_BYTES);
	CU_ASSERT(fcntl(rig.from, F_SETPIPE_SZ, 4096) > 0);
	buf_printf(&params, "{\"a\":\"%020000d\"}", 0);
	CU_ASSERT_EQUAL(call_raw(&rig, "m", buf_string(&params), NEVER, &told, NULL, &err), 0);
	CU_ASSERT_EQUAL(mcp_client_fds(rig.client, fds), 2);
	CU_ASSERT_EQUAL(fds[1].events, POLLOUT);
	for (int round = 0; round < 100 && mcp_client_fds(rig.client, fds) == 2; round++) {
		char *room = buf_reserve(&out, 4096);
		ssize_t got = room ? read(rig.from, room, 4096) : 0;

		if (got > 0)
			buf_commit(&out, (size_t)got);
		CU_ASSERT_EQUAL(mcp_client_dispatch(rig.client, 0, &err), 0);
	}
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(mcp_client_fds(rig.client, fds), 1);
	CU_ASSERT(out.length > 15000);
}

static int on_ready(void *context, int fd, short revents, struct error **err)
{
	struct rig *rig = context;
	int r = mcp_client_dispatch(rig->client, 0, err);

	(void)fd;
	(void)revents;
	return r < 0 ? r : 1;
}

static void test_in_a_loop(void)
{
	cleanup_loop struct loop *loop = NULL;
	struct told told = { .times = 0 };
	struct error *err = NULL;
	struct rig rig;

	rig_start(&rig, OUT_BYTES);
	CU_ASSERT_EQUAL(loop_new(&loop, &err), 0);
	call(&rig, &told, GUARD_MS);
	CU_ASSERT_EQUAL(mcp_client_watch(rig.client, loop, on_ready, &rig, &err), 0);
	say(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
	CU_ASSERT_EQUAL(loop_run(loop, clock_deadline(GUARD_MS), &err), 1);
	CU_ASSERT_EQUAL(told.times, 1);
	/* Freed, it leaves the loop: nothing is left that could be ready. */
	rig_end(&rig);
	CU_ASSERT_EQUAL(loop_run(loop, clock_deadline(1), &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_one_socket(void)
{
	const struct mcp_limits limits = { .line_max = LINE_BYTES, .queue_max = OUT_BYTES, .calls_max = CALLS };
	cleanup_fd int peer = -1;
	struct told told = { .times = 0 };
	struct rig rig = { .to = -1, .from = -1 };
	struct error *err = NULL;
	int ends[2] = { -1, -1 };

	CU_ASSERT_EQUAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	peer = ends[1];
	CU_ASSERT_EQUAL(mcp_client_new(ends[0], ends[0], &limits, &rig.client, &err), 0);
	CU_ASSERT(test_no_error(&err));
	call(&rig, &told, GUARD_MS);
	CU_ASSERT_EQUAL(write(peer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 37), 37);
	CU_ASSERT(dispatches(&rig));
	CU_ASSERT_EQUAL(told.times, 1);
	mcp_client_free(rig.client);
}

static void test_tool_call(void)
{
	static const struct {
		struct mcp_call_meta meta;
		const char *text;
	} told[] = {
		{ { .progress = 0 }, "" },
		{ { .progress = 7 }, ",\"_meta\":{\"progressToken\":7}" },
		{ { .call_id = "c-1" }, ",\"_meta\":{\"call_id\":\"c-1\"}" },
		{ { .progress = 7, .call_id = "c-1" }, ",\"_meta\":{\"progressToken\":7,\"call_id\":\"c-1\"}" },
	};
	cleanup_buf struct buf out = BUF(OUT_BYTES);
	struct json_span raw = { .bytes = "{\"n\": 1.50e3}", .length = 13 };

	mcp_put_tool_call(&out, "permitted.tool", raw);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "{\"name\":\"permitted.tool\",\"arguments\":{\"n\": 1.50e3}}");
	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		char whole[OUT_BYTES];

		buf_free(&out);
		mcp_put_tool_call_meta(&out, "permitted.tool", raw, &told[i].meta);
		snprintf(whole, sizeof(whole), "{\"name\":\"permitted.tool\",\"arguments\":{\"n\": 1.50e3}%s}",
			 told[i].text);
		CU_ASSERT_STRING_EQUAL(buf_string(&out), whole);
	}
}

static const struct broken_row broken_rows[] = {
	{ .line = NULL, .code = ERROR_CLOSED },
	{ .line = "garbage\n", .code = ERROR_INPUT },
	{ .line = "{\"jsonrpc\":\"2.0\"}\n", .code = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n", .code = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n", .code = ERROR_PROTOCOL },
	{ .line = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\"}}\n",
	  .code = ERROR_PROTOCOL },
	{ .line = NULL, .code = 0 },
};

static CU_TestInfo tests[] = {
	{ "the handshake, in each version", test_handshake },
	{ "a handshake that we refuse", test_handshake_refused },
	{ "answers in any order", test_answers },
	{ "a callback may call", test_call_from_callback },
	{ "a deadline ends one call", test_timeout },
	{ "a cancelled call is forgotten", test_cancel },
	{ "what the peer asks", test_peer_asks },
	{ "a lost peer is told to every call", test_lost },
	{ "an answer before the end counts", test_answer_before_end },
	{ "calls and queue are bounded", test_limits },
	{ "a slow peer blocks nobody", test_slow_peer },
	{ "it lives in a loop", test_in_a_loop },
	{ "both directions on one socket", test_one_socket },
	{ "notifications of the peer", test_notifications },
	{ "parameters of a tool's call", test_tool_call },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "mcp_client", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("mcp_client", suites);
}
