/* MCP over HTTP: clients that leave, wait, or send too much. */
#include "tests/unit/mcp_http_rig.h"

#define SHORT_MS 100

/* ---- clients that leave ---- */

/* False: it was not cancelled, and its request is still waited for. */
static bool leave_and_check(struct rig *rig, int fd, int expected)
{
	fd_close(&fd);
	for (int i = 0; i < 100 && rig->cancelled_count < expected; i++)
		turn(rig, 1);
	CU_ASSERT_EQUAL(rig->cancelled_count, expected);
	return rig->cancelled_count == expected;
}

static void test_leaves(void)
{
	RIG(rig);
	int fd;

	rig_start(&rig, DEFAULTS);
	/* Answered after it left, by the callback, and never. */
	fd = keep_one(&rig, "");
	if (!leave_and_check(&rig, fd, 1))
		return;
	CU_ASSERT_PTR_EQUAL(rig.cancelled, rig.kept[0]);
	CU_ASSERT(mcp_request_cancelled(rig.kept[0]));
	CU_ASSERT_PTR_NULL(mcp_request_params(rig.kept[0]));
	settle(&rig);
	CU_ASSERT_EQUAL(rig.cancelled_count, 1);
	mcp_request_notify(rig.kept[0], "notifications/progress", span("{}"));
	mcp_request_result(rig.kept[0], span("{}"));
	check_served(&rig);

	rig.answers_cancelled = true;
	fd = keep_one(&rig, "");
	CU_ASSERT(leave_and_check(&rig, fd, 2));
	check_served(&rig);

	rig.answers_cancelled = false;
	fd = keep_one(&rig, "");
	CU_ASSERT(leave_and_check(&rig, fd, 3));
	check_served(&rig);
}

/* A client that read a part of a stream leaves; one that is still there does not. */
static void test_leaves_stream(void)
{
	RIG(rig);
	REPLY(reply);
	cleanup_fd int other = -1;
	int fd;

	rig_start(&rig, DEFAULTS);
	fd = keep_one(&rig, "Accept: text/event-stream\r\n");
	other = keep_one(&rig, "Accept: text/event-stream\r\n");
	if (rig.kept_count < 2)
		return;
	mcp_request_notify(rig.kept[0], "notifications/progress", span("{\"progress\":1}"));
	hear_part(&rig, fd, &reply, "\"progress\":1");
	CU_ASSERT(holds(&reply, "\"progress\":1"));
	if (!leave_and_check(&rig, fd, 1))
		return;
	CU_ASSERT_PTR_EQUAL(rig.cancelled, rig.kept[0]);
	mcp_request_result(rig.kept[0], span("{}"));
	mcp_request_result(rig.kept[1], span("{\"still\":1}"));
	hear(&rig, other, &reply);
	CU_ASSERT(holds(&reply, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"still\":1}}"));
	check_served(&rig);
}

/* A flood of notifications to a client that does not read is dropped, and the answer still comes. */
static void test_stream_unread(void)
{
	enum { NOTICES = 40000 };
	RIG(rig);
	REPLY(reply);
	cleanup_fd int fd = -1;
	size_t before;

	rig_start(&rig, DEFAULTS);
	fd = keep_one(&rig, "Accept: text/event-stream\r\n");
	before = resident();
	for (int i = 0; i < NOTICES; i++) {
		mcp_request_notify(
			rig.kept[0], "notifications/progress",
			span("{\"message\":\"0123456789012345678901234567890123456789012345678901234567890123456789"
			     "0123456789012345678901234567890123456789012345678901234567890123456789\"}"));
		if (i % 100 == 0)
			turn(&rig, 0);
	}
	CU_ASSERT(resident() < before + 4 * KIB);
	mcp_request_result(rig.kept[0], span("\"the end\""));
	hear(&rig, fd, &reply);
	CU_ASSERT(holds(&reply, "\"result\":\"the end\"}\n\n"));
	/* Of 9 MB the sockets took a part. */
	CU_ASSERT(reply.bytes.length < 8 * MIB);
	CU_ASSERT_EQUAL(rig.cancelled_count, 0);
}

/* A client that sends no more still reads what is answered at once; for what takes longer it is one that left. */
static void test_half_closes(void)
{
	RIG(rig);
	REPLY(reply);
	cleanup_fd int fd = -1, waiting = -1;

	rig_start(&rig, DEFAULTS);
	fd = dial(&rig);
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "", CALL(1, "echo")));
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	waiting = keep_one(&rig, "");
	CU_ASSERT_EQUAL(shutdown(waiting, SHUT_WR), 0);
	hear(&rig, waiting, &reply);
	CU_ASSERT_TRUE(reply.closed);
	CU_ASSERT_EQUAL(reply.status, 0);
	CU_ASSERT_EQUAL(rig.cancelled_count, 1);
	check_served(&rig);
}

/* ---- handlers that hang ---- */

static void test_hung_handlers(void)
{
	struct rig rig = { .loop = NULL };
	int fds[KEPT_MAX];
	int64_t start;
	char head[128];

	rig_start(&rig, DEFAULTS);
	open_session(&rig, head, sizeof(head));
	for (size_t i = 0; i < KEPT_MAX; i++)
		fds[i] = keep_one(&rig, i % 2 ? head : "Accept: text/event-stream\r\n");
	mcp_request_notify(rig.kept[0], "notifications/progress", span("{}"));
	check_served(&rig);
	start = clock_now();
	rig_end(&rig);
	CU_ASSERT(clock_now() - start < NS_PER_S);
	CU_ASSERT_EQUAL(rig.cancelled_count, 0);
	for (size_t i = 0; i < KEPT_MAX; i++) {
		char byte;

		CU_ASSERT_EQUAL(fcntl(fds[i], F_SETFL, 0), 0);
		while (recv(fds[i], &byte, 1, 0) > 0)
			;
		fd_close(&fds[i]);
	}
}

/* ---- clients that wait ---- */

/* The server closes the connection by itself, once the time for what it waits for is over. */
static void check_closed(struct rig *rig, int fd, int64_t start)
{
	REPLY(reply);

	hear(rig, fd, &reply);
	CU_ASSERT_TRUE(reply.closed);
	CU_ASSERT_EQUAL(reply.status, 0);
	CU_ASSERT(clock_now() - start >= (SHORT_MS - 10) * NS_PER_MS);
	CU_ASSERT(clock_now() - start < 20 * SHORT_MS * NS_PER_MS);
	fd_close(&fd);
}

static void test_waits(void)
{
	static const char *const parts[] = {
		"",
		"POST /mcp HTTP/1.1\r\nHost: local",
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n",
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n\r\n{\"jsonrpc\":",
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"jso\r\n",
		"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 40\r\n\r\n{\"jsonrpc\":",
	};
	RIG(rig);

	rig_start(&rig, &(struct mcp_http_options){ .request_ms = SHORT_MS });
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		int64_t start = clock_now();
		int fd = dial(&rig);

		CU_ASSERT(put_text(&rig, fd, parts[i]));
		check_closed(&rig, fd, start);
		check_served(&rig);
	}
}

/* One byte now and then does not make it longer. */
static void test_drips(void)
{
	static const char head[] = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n";
	RIG(rig);

	rig_start(&rig, &(struct mcp_http_options){ .request_ms = SHORT_MS });
	for (int body = 0; body < 2; body++) {
		cleanup_fd int fd = dial(&rig);
		int64_t start = clock_now();
		size_t sent = 0;

		if (body)
			CU_ASSERT(put_text(&rig, fd, head));
		while (clock_now() - start < 30 * SHORT_MS * NS_PER_MS &&
		       put(&rig, fd, body ? "x" : head + sent % (sizeof(head) - 2), 1)) {
			sent++;
			turn(&rig, 5);
		}
		CU_ASSERT(clock_now() - start < 20 * SHORT_MS * NS_PER_MS);
	}
	check_served(&rig);
}

/* A client that waits for its answer, however long, is no client that lets us wait. */
static void test_waits_for_answer(void)
{
	RIG(rig);
	REPLY(reply);
	cleanup_fd int fd = -1;

	rig_start(&rig, &(struct mcp_http_options){ .request_ms = 3 * SHORT_MS });
	fd = keep_one(&rig, "");
	turn(&rig, 6 * SHORT_MS);
	CU_ASSERT_EQUAL(rig.cancelled_count, 0);
	mcp_request_result(rig.kept[0], span("{}"));
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	/* The next request of the connection has its own time. */
	turn(&rig, SHORT_MS);
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "", CALL(2, "echo")));
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	check_closed(&rig, steal_fd(&fd), clock_now());
}

/* Nor may it let us wait until it reads. */
static void test_unread_answer(void)
{
	RIG(rig);
	RIG(patient);
	REPLY(reply);
	cleanup_fd int fd = -1;
	int small = 64 * KIB;

	rig_start(&rig, &(struct mcp_http_options){ .request_ms = SHORT_MS, .answer_max = 2 * LONG_BYTES });
	fd = dial(&rig);
	CU_ASSERT_EQUAL(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	CU_ASSERT(ask(&rig, fd, "POST /mcp", "", CALL(1, "long")));
	for (int i = 0; i < 100 && rig.runs == 0; i++)
		turn(&rig, 1);
	turn(&rig, 2 * SHORT_MS);
	hear(&rig, fd, &reply);
	CU_ASSERT_TRUE(reply.closed);
	CU_ASSERT(reply.status == 200 && reply.bytes.length < LONG_BYTES);
	rig_start(&patient, &(struct mcp_http_options){ .answer_max = 2 * LONG_BYTES });
	post(&patient, "", CALL(1, "long"), &reply);
	CU_ASSERT_FALSE(reply.closed);
	CU_ASSERT(reply.bytes.length > LONG_BYTES);
}

/* ---- too much ---- */

static void test_body_limit(void)
{
	static const char too_large[] =
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Request body too large\"}}";
	cleanup_free char *largest = spaces(MCP_HTTP_BODY_BYTES, CALL(1, "echo"), "");
	cleanup_free char *larger = spaces(MCP_HTTP_BODY_BYTES + 1, CALL(1, "echo"), "");
	cleanup_fd int fd = -1;
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	post(&rig, "", largest, &reply);
	CU_ASSERT_EQUAL(reply.status, 200);
	post(&rig, "", larger, &reply);
	CU_ASSERT_EQUAL(reply.status, 413);
	CU_ASSERT_STRING_EQUAL(reply.body, too_large);
	CU_ASSERT_EQUAL(rig.runs, 1);

	/* Asked for leave first, it does not get it; said to be endless, it is not read. */
	fd = dial(&rig);
	CU_ASSERT(put_text(
		&rig, fd,
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000001\r\nExpect: 100-continue\r\n\r\n"));
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 413);
	fd_close(&fd);
	fd = dial(&rig);
	CU_ASSERT(
		put_text(&rig, fd, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n"));
	hear(&rig, fd, &reply);
	CU_ASSERT_EQUAL(reply.status, 413);
	check_served(&rig);
}

static void test_body_chunked(void)
{
	enum { CHUNK = 64 * KIB };
	cleanup_free char *chunk = spaces(CHUNK, "", "");
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	for (int endless = 0; endless < 2; endless++) {
		cleanup_fd int fd = dial(&rig);
		bool open = put_text(&rig, fd,
				     "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
		size_t before = resident();

		for (int i = 0; open && i < (endless ? 2000 : 20); i++)
			open = put_text(&rig, fd, "10000\r\n") && put(&rig, fd, chunk, CHUNK) &&
			       put_text(&rig, fd, "\r\n");
		CU_ASSERT_EQUAL(open, !endless);
		CU_ASSERT(resident() < before + 8 * KIB);
		if (endless)
			continue;
		CU_ASSERT(put_text(&rig, fd, "0\r\n\r\n"));
		hear(&rig, fd, &reply);
		CU_ASSERT_EQUAL(reply.status, 413);
	}
	check_served(&rig);
}

static void test_heads(void)
{
	enum { LONG = 64 * KIB };
	cleanup_free char *header = spaces(LONG, "X-Long: ", "x\r\n"), *path = spaces(LONG, "/", "x");
	cleanup_fd int fd = -1;
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	post(&rig, header, CALL(1, "echo"), &reply);
	CU_ASSERT(reply.status == 431 || reply.closed);
	memset(path + 1, 'x', LONG - 1);
	fd = dial(&rig);
	put_text(&rig, fd, "GET ");
	put_text(&rig, fd, path);
	hear(&rig, fd, &reply);
	CU_ASSERT(reply.status == 414 || reply.status == 431 || reply.closed);
	fd_close(&fd);
	fd = dial(&rig);
	for (int i = 0; i < 10000 && put_text(&rig, fd, i ? "X-A: b\r\n" : "GET /health HTTP/1.1\r\n"); i++)
		;
	hear(&rig, fd, &reply);
	CU_ASSERT(reply.status == 431 || reply.closed);
	fd_close(&fd);
	fd = dial(&rig);
	put_text(&rig, fd, "\x16\x03\x01 no http at all\r\n\r\n");
	hear(&rig, fd, &reply);
	CU_ASSERT(reply.status == 400 || reply.closed);
	CU_ASSERT_EQUAL(rig.runs, 0);
	check_served(&rig);
}

static void test_bombs(void)
{
	enum { DEEP = 500000 };
	cleanup_free char *deep = spaces(DEEP, "", ""), *wide = spaces(DEEP, "", "");
	size_t before;
	RIG(rig);
	REPLY(reply);

	rig_start(&rig, DEFAULTS);
	memset(deep, '[', DEEP);
	post(&rig, "", deep, &reply);
	CU_ASSERT_EQUAL(reply.status, 400);
	CU_ASSERT(holds(&reply, "-32700"));
	for (size_t i = 0; i + 1 < DEEP; i += 2)
		memcpy(wide + i, i ? ",1" : "[1", 2);
	memcpy(wide + DEEP - 2, " ]", 2);
	before = resident();
	post(&rig, "", wide, &reply);
	CU_ASSERT_EQUAL(reply.status, 400);
	CU_ASSERT(holds(&reply, "-32600"));
	CU_ASSERT(resident() < before + 100 * KIB);
	check_served(&rig);
}

static CU_TestInfo tests[] = {
	{ "a client that leaves cancels", test_leaves },
	{ "a client that leaves a stream cancels", test_leaves_stream },
	{ "notifications that nobody reads", test_stream_unread },
	{ "a client that closes one half", test_half_closes },
	{ "hung handlers hold up nobody, nor the end", test_hung_handlers },
	{ "a client that lets us wait", test_waits },
	{ "a client that drips", test_drips },
	{ "a client that waits for us", test_waits_for_answer },
	{ "a client that does not read", test_unread_answer },
	{ "a body has a maximum", test_body_limit },
	{ "so has one in chunks", test_body_chunked },
	{ "heads that are too long, and none", test_heads },
	{ "deep and wide JSON", test_bombs },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "mcp_http_limits", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("mcp_http_limits", suites);
}
