#include <fcntl.h>
#include <signal.h>

#include "tests/unit/http_fixture.h"
#include "tests/unit/http_routes.h"

static struct http_call attach(const char *path)
{
	struct http_call call = get(path);

	call.method = "POST";
	call.body_max = 4096;
	return call;
}

static void test_hijack(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_call call = attach("/attach");
	cleanup_fd int fd = -1;
	char got[8] = "";

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT_EQUAL(http_hijack(f.server.path, &call, &fd, &f.answer, &f.err), 0);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT_EQUAL(f.answer.status, 101);
	CU_ASSERT_STRING_EQUAL(f.answer.content_type, "application/vnd.docker.raw-stream");
	CU_ASSERT(body_is(&f, "early"));
	CU_ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	CU_ASSERT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	CU_ASSERT(server_saw(&f.server, "POST /attach HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
					"Upgrade: tcp\r\nContent-Length: 0\r\n\r\n"));
	/* Both directions live, and end one after the other. */
	CU_ASSERT_EQUAL(fd_write_all(fd, "ping", 4, clock_deadline(2000), &f.err), 0);
	CU_ASSERT_EQUAL(fd_read_exact(fd, got, 4, clock_deadline(2000), &f.err), 0);
	CU_ASSERT_STRING_EQUAL(got, "ping");
	CU_ASSERT_EQUAL(shutdown(fd, SHUT_WR), 0);
	CU_ASSERT_EQUAL(fd_wait(fd, POLLIN, clock_deadline(2000), &f.err), 1);
	CU_ASSERT_EQUAL(read(fd, got, 1), 0);
	CU_ASSERT(test_no_error(&f.err));
}

/* A body belongs to the request, and comes before the stream. */
static void test_hijack_body(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_call call = attach("/attach");
	cleanup_fd int fd = -1;

	if (!fixture_begin(&f, false))
		return;
	call.content_type = "application/json";
	call.body = "{\"Tty\":false}";
	call.body_length = 13;
	CU_ASSERT_EQUAL(http_hijack(f.server.path, &call, &fd, &f.answer, &f.err), 0);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT(server_saw(&f.server, "Upgrade: tcp\r\nContent-Length: 13\r\nContent-Type: application/json\r\n\r\n"
					"{\"Tty\":false}"));
}

struct refusal {
	const char *path;
	long status; /* 0: an error */
	const char *body;
	enum error_code code;
	const char *part;
};
static const struct refusal refusals[8];

static void test_hijack_refused(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, false))
		return;
	for (const struct refusal *row = refusals; row < refusals + ARRAY_SIZE(refusals); row++) {
		struct http_call call = attach(row->path);
		int fd = 77, code;

		call.deadline = clock_deadline(row->code == ERROR_TIMEOUT ? 50 : 3000);
		http_answer_free(&f.answer);
		f.answer = (struct http_answer){ .status = 0 };
		code = http_hijack(f.server.path, &call, &fd, &f.answer, &f.err);
		CU_ASSERT_EQUAL(fd, -1);
		CU_ASSERT_EQUAL(code, row->status ? 0 : -(int)row->code);
		CU_ASSERT_EQUAL(f.answer.status, row->status);
		CU_ASSERT(body_is(&f, row->body));
		if (row->status)
			CU_ASSERT(test_no_error(&f.err))
		else
			CU_ASSERT(test_error(&f.err, row->code, row->part))
	}
}

static void test_hijack_mistakes(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_call call = attach("/attach");
	int fd = -1;

	if (!fixture_begin(&f, false))
		return;
	call.body_max = 4;
	CU_ASSERT(http_hijack(f.server.path, &call, &fd, &f.answer, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_LIMIT, "more than 4 bytes came"));
	call.body_length = 1;
	CU_ASSERT(http_hijack(f.server.path, &call, &fd, &f.answer, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "a body in memory"));
	call = attach("/at tach");
	CU_ASSERT(http_hijack(f.server.path, &call, &fd, &f.answer, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "a body in memory"));
	CU_ASSERT_EQUAL(fd, -1);
}

static const struct refusal refusals[8] = {
	{ .path = "/attach-missing", .status = 404, .body = "No such container: x\n" },
	{ .path = "/attach-open", .status = 409, .body = "paused" },
	{ .path = "/attach-plain", .status = 200, .body = "raw" },
	{ .path = "/garbage", .body = "", .code = ERROR_PROTOCOL, .part = "not HTTP/1" },
	{ .path = "/nothing", .body = "", .code = ERROR_CLOSED, .part = "without an answer" },
	{ .path = "/long-headers", .body = "", .code = ERROR_LIMIT, .part = "headers of the answer" },
	{ .path = "/never", .body = "", .code = ERROR_TIMEOUT, .part = "before the deadline" },
	{ .path = "/status-600", .body = "", .code = ERROR_PROTOCOL, .part = "not HTTP/1" },
};

static CU_TestInfo hijack_tests[] = {
	{ "hijack", test_hijack },
	{ "a body", test_hijack_body },
	{ "refused", test_hijack_refused },
	{ "mistakes", test_hijack_mistakes },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "hijack", NULL, NULL, NULL, NULL, hijack_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "routes") == 0)
		return server_run(routes);
	return test_main("http_hijack", suites);
}
