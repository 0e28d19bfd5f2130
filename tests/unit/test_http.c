#include <fcntl.h>
#include <signal.h>

#include "tests/unit/http_fixture.h"
#include "tests/unit/http_routes.h"

/* ---- answers ---- */

static void test_get(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT_EQUAL(ask_path(&f, "/plain?x=%20y"), 0);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT_EQUAL(f.answer.status, 200);
	CU_ASSERT(body_is(&f, "hello"));
	CU_ASSERT_STRING_EQUAL(f.answer.api_version, "1.41");
	CU_ASSERT_STRING_EQUAL(f.answer.content_type, "text/plain; charset=utf-8");
	CU_ASSERT_STRING_EQUAL(f.answer.server, "Docker/20.10.24 (linux)");
	CU_ASSERT(server_saw(&f.server, "GET /plain?x=%20y HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"));
}

static void test_headers(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, false))
		return;
	/* Those of an interim answer do not count, nor values that are too long or hold control bytes. */
	CU_ASSERT_EQUAL(ask_path(&f, "/interim"), 0);
	CU_ASSERT_EQUAL(f.answer.status, 200);
	CU_ASSERT_STRING_EQUAL(f.answer.server, "");
	CU_ASSERT_STRING_EQUAL(f.answer.api_version, "");
	CU_ASSERT_STRING_EQUAL(f.answer.content_type, "");
	CU_ASSERT(ask_path(&f, "/long-headers") < 0);
	CU_ASSERT(test_error(&f.err, ERROR_LIMIT, "headers of the answer"));
}

static void test_chunked_and_statuses(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT_EQUAL(ask_path(&f, "/chunked"), 0);
	CU_ASSERT(body_is(&f, "one two"));
	CU_ASSERT_EQUAL(ask_path(&f, "/missing"), 0);
	CU_ASSERT_EQUAL(f.answer.status, 404);
	CU_ASSERT(body_is(&f, "no"));
	/* A redirection is an answer, never followed. */
	CU_ASSERT_EQUAL(ask_path(&f, "/moved"), 0);
	CU_ASSERT_EQUAL(f.answer.status, 302);
	CU_ASSERT(server_saw_not(&f.server, "GET /missing-too"));
	CU_ASSERT(test_no_error(&f.err));
}

struct broken {
	const char *path;
	enum error_code code;
	const char *part;
};
static const struct broken broken_answers[7];

static void test_broken_answers(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, false))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(broken_answers); i++) {
		CU_ASSERT_EQUAL(ask_path(&f, broken_answers[i].path), -(int)broken_answers[i].code);
		CU_ASSERT(test_error(&f.err, broken_answers[i].code, broken_answers[i].part));
		CU_ASSERT_EQUAL(f.answer.body.length, 0);
	}
	/* The client outlives them all. */
	CU_ASSERT_EQUAL(ask_path(&f, "/chunked"), 0);
	CU_ASSERT(test_no_error(&f.err));
}

static void test_body_max(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_call call = get("/plain?x=%20y");

	if (!fixture_begin(&f, false))
		return;
	call.body_max = 5;
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT(body_is(&f, "hello"));
	call.body_max = 4;
	CU_ASSERT(ask(&f, &call) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_LIMIT, "longer than 4 bytes"));
}

/* ---- requests ---- */

static void test_methods(void)
{
	static const char *const headers[] = { "X-One: 1", "X-Two: 2", NULL };
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_call call = get("/made");

	if (!fixture_begin(&f, false))
		return;
	call.method = "POST";
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT(server_saw(&f.server,
			     "POST /made HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nContent-Length: 0\r\n\r\n"));
	call.body = "{\"a\":1}";
	call.body_length = 7;
	call.content_type = "application/json";
	call.headers = headers;
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT_EQUAL(f.answer.status, 201);
	CU_ASSERT(server_saw(&f.server, "POST /made HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"
					"Content-Type: application/json\r\nX-One: 1\r\nX-Two: 2\r\n"
					"Content-Length: 7\r\n\r\n{\"a\":1}"));
	call.method = "PUT";
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT(server_saw(&f.server, "PUT /made HTTP/1.1\r\n"));
	call = get("/made");
	call.method = "DELETE";
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT_EQUAL(f.answer.status, 204);
	call.method = "HEAD";
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT_EQUAL(f.answer.status, 200);
	CU_ASSERT_EQUAL(f.answer.body.length, 0);
	CU_ASSERT(test_no_error(&f.err));
}

static void test_file_as_body(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	cleanup_fd int fd = memory_file(1 * MIB);
	struct http_call call = get("/made");

	if (!fixture_begin(&f, false))
		return;
	call.method = "POST";
	call.content_type = "application/x-tar";
	call.body_fd = fd;
	call.body_length = 1 * MIB;
	CU_ASSERT_EQUAL(lseek(fd, 9, SEEK_SET), 9);
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT(server_saw(&f.server, "Content-Type: application/x-tar\r\nContent-Length: 1048576\r\n\r\nbegin"));
	CU_ASSERT(server_saw_not(&f.server, "Expect"));
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_CUR), 9);
	call.body_length = 1 * MIB + 1;
	CU_ASSERT(ask(&f, &call) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INPUT, "shorter than 1048577 bytes"));
	call.body_fd = 999;
	CU_ASSERT(ask(&f, &call) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_SYSTEM, "cannot read the file"));
}

/* The server closes each connection after its answer without saying so: the next call takes a new one. */
static void test_dropped_connection(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	cleanup_fd int fd = memory_file(256 * KIB);
	struct http_call call = get("/drops");

	if (!fixture_begin(&f, false))
		return;
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(ask(&f, &call), 0);
	call.method = "POST";
	call.body_fd = fd;
	call.body_length = 256 * KIB;
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT(test_no_error(&f.err));
}

static void test_callers_mistakes(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_call call = get("/plain");

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT(ask_path(&f, "plain") < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "escaped"));
	CU_ASSERT(ask_path(&f, "/a b") < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "escaped"));
	CU_ASSERT(ask_path(&f, "/a\r\nX: y") < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "escaped"));
	call.deadline = NEVER;
	CU_ASSERT(ask(&f, &call) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "without a deadline"));
	call.deadline = clock_now() - 1;
	CU_ASSERT(ask(&f, &call) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT, "had passed"));
}

static void test_deadline(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_call call = get("/never");
	int64_t start, took;

	if (!fixture_begin(&f, false))
		return;
	start = clock_now();
	call.deadline = clock_add(start, 60 * NS_PER_MS);
	CU_ASSERT_EQUAL(ask(&f, &call), -(int)ERROR_TIMEOUT);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT, "before the deadline"));
	took = clock_now() - start;
	CU_ASSERT(took >= 55 * NS_PER_MS && took < 1500 * NS_PER_MS);
}

/* A finished transfer does not make its caller wait. */
static void test_no_needless_wait(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	int64_t start;

	if (!fixture_begin(&f, false))
		return;
	start = clock_now();
	for (int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(ask_path(&f, "/chunked"), 0);
	CU_ASSERT(clock_now() - start < 1500 * NS_PER_MS);
}

/* A connection is not inherited by a program that is started. */
static void test_cloexec(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	int connections = 0;

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT_EQUAL(ask_path(&f, "/chunked"), 0);
	for (int fd = 3; fd < 64; fd++) {
		struct sockaddr_un peer = { .sun_family = AF_UNSPEC };
		socklen_t size = sizeof(peer);

		if (getpeername(fd, (struct sockaddr *)&peer, &size) < 0 || strcmp(peer.sun_path, f.server.path) != 0)
			continue;
		connections++;
		CU_ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	CU_ASSERT_EQUAL(connections, 1);
}

/* ---- where to ---- */

static void test_tcp(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	/* A proxy of the environment is not asked. */
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	if (fixture_begin(&f, true)) {
		CU_ASSERT_EQUAL(ask_path(&f, "/chunked"), 0);
		CU_ASSERT(body_is(&f, "one two"));
		CU_ASSERT(test_no_error(&f.err));
	}
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
}

static const char *const bad_bases[9];
static const char *const good_bases[3];

static void test_bases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad_bases); i++) {
		cleanup_http_client struct http_client *client = NULL;
		struct error *err = NULL;

		if (http_client_new(NULL, bad_bases[i], &client, &err) == 0)
			CU_FAIL(bad_bases[i]);
		CU_ASSERT(test_error(&err, ERROR_USAGE, "numeric host"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(good_bases); i++) {
		cleanup_http_client struct http_client *client = NULL;
		struct error *err = NULL;

		CU_ASSERT_EQUAL(http_client_new(NULL, good_bases[i], &client, &err), 0);
		CU_ASSERT(test_no_error(&err));
	}
}

static void test_no_peer(void)
{
	cleanup_http_client struct http_client *client = NULL;
	cleanup_answer struct http_answer answer = { .status = 0 };
	struct http_call call = get("/x");
	struct error *err = NULL;
	char path[200];
	int fd = -1;

	CU_ASSERT_EQUAL(http_client_new("/nonexistent/socket", "http://localhost", &client, &err), 0);
	CU_ASSERT_EQUAL(http_do(client, &call, &answer, &err), -(int)ERROR_SYSTEM);
	CU_ASSERT_EQUAL(error_number(err), ENOENT);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "cannot connect"));
	CU_ASSERT_EQUAL(http_connect("/nonexistent/socket", clock_deadline(1000), &fd, &err), -(int)ERROR_SYSTEM);
	CU_ASSERT_EQUAL(error_number(err), ENOENT);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "cannot connect"));
	CU_ASSERT(http_connect("/proc/self/exe", clock_deadline(1000), &fd, &err) < 0);
	CU_ASSERT_EQUAL(error_number(err), ECONNREFUSED);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "cannot connect"));
	CU_ASSERT_EQUAL(fd, -1);
	memset(path, 'a', sizeof(path) - 1);
	path[108] = '\0';
	CU_ASSERT(http_connect(path, clock_deadline(1000), &fd, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_USAGE, "1 to 107 bytes"));
	CU_ASSERT(http_connect("", clock_deadline(1000), &fd, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_USAGE, "1 to 107 bytes"));
}

static const struct broken broken_answers[7] = {
	{ .path = "/garbage", .code = ERROR_PROTOCOL, .part = "not HTTP/1" },
	{ .path = "/nothing", .code = ERROR_CLOSED, .part = "without an answer" },
	{ .path = "/cut", .code = ERROR_CLOSED, .part = "within the answer" },
	{ .path = "/cut-chunk", .code = ERROR_CLOSED, .part = "within the answer" },
	{ .path = "/bad-chunk", .code = ERROR_CLOSED, .part = "the connection broke" },
	{ .path = "/status-600", .code = ERROR_PROTOCOL, .part = "" },
	{ .path = "/http2", .code = ERROR_PROTOCOL, .part = "not HTTP/1" },
};

static const char *const bad_bases[9] = {
	"http://localhost:80", "http://example.org",    "https://127.0.0.1", "ftp://127.0.0.1",
	"127.0.0.1",           "http://user@127.0.0.1", "http://",           "",
	"http://[::1",
};
static const char *const good_bases[3] = { "http://127.0.0.1", "http://127.0.0.1:8080", "http://[::1]:8080" };

static CU_TestInfo answer_tests[] = {
	{ "get", test_get },
	{ "headers", test_headers },
	{ "chunks and statuses", test_chunked_and_statuses },
	{ "broken answers", test_broken_answers },
	{ "a body's maximum", test_body_max },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo request_tests[] = {
	{ "methods", test_methods },
	{ "a file as body", test_file_as_body },
	{ "a dropped connection", test_dropped_connection },
	{ "callers' mistakes", test_callers_mistakes },
	{ "deadline", test_deadline },
	{ "no needless wait", test_no_needless_wait },
	{ "descriptors are not inherited", test_cloexec },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo peer_tests[] = {
	{ "tcp", test_tcp },
	{ "bases", test_bases },
	{ "no peer", test_no_peer },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "answers", NULL, NULL, NULL, NULL, answer_tests },
	{ "requests", NULL, NULL, NULL, NULL, request_tests },
	{ "peers", NULL, NULL, NULL, NULL, peer_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "routes") == 0)
		return server_run(routes);
	return test_main("http", suites);
}
