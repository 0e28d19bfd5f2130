#include <signal.h>

#include "tests/unit/http_fixture.h"
#include "tests/unit/http_routes.h"

struct sunk {
	struct buf bytes;
	size_t refuse_at;
	bool silent;
};

static int sink(void *context, const void *bytes, size_t length, struct error **err)
{
	struct sunk *sunk = context;

	buf_add(&sunk->bytes, bytes, length);
	if (sunk->bytes.length < sunk->refuse_at)
		return 0;
	return sunk->silent ? -1 : error_set(err, ERROR_REFUSED, "the sink has enough");
}

static void test_sink(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct sunk sunk = { .bytes = BUF(64 * KIB), .refuse_at = SIZE_MAX };
	struct http_call call = get("/kilobytes");

	if (!fixture_begin(&f, false))
		return;
	call.sink = sink;
	call.sink_context = &sunk;
	call.body_max = 4096;
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT_EQUAL(sunk.bytes.length, 4096);
	CU_ASSERT_EQUAL(f.answer.body.length, 0);
	call.body_max = 4095;
	CU_ASSERT(ask(&f, &call) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_LIMIT, "longer than 4095"));
	/* The text of an error never reaches the sink, and does not count. */
	sunk.bytes.length = 0;
	call.path = "/missing";
	call.body_max = 0;
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT_EQUAL(f.answer.status, 404);
	CU_ASSERT(body_is(&f, "no"));
	CU_ASSERT_EQUAL(sunk.bytes.length, 0);
	call.path = "/long-error";
	CU_ASSERT_EQUAL(ask(&f, &call), 0);
	CU_ASSERT_EQUAL(f.answer.body.length, ENGINE_HEADER_BYTES);
	buf_free(&sunk.bytes);
}

static void test_sink_refuses(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct sunk sunk = { .bytes = BUF(64 * KIB), .refuse_at = 1 };
	struct http_call call = get("/kilobytes");

	if (!fixture_begin(&f, false))
		return;
	call.sink = sink;
	call.sink_context = &sunk;
	CU_ASSERT_EQUAL(ask(&f, &call), -(int)ERROR_REFUSED);
	CU_ASSERT(test_error(&f.err, ERROR_REFUSED, "the sink has enough"));
	sunk.silent = true;
	CU_ASSERT(ask(&f, &call) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "gave up"));
	CU_ASSERT_EQUAL(ask_path(&f, "/chunked"), 0);
	CU_ASSERT(test_no_error(&f.err));
	buf_free(&sunk.bytes);
}

/* ---- overlap ---- */

static void test_begin_sends(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	cleanup_fd int fd = memory_file(2 * MIB);
	struct http_request *request = NULL;
	struct http_call call = get("/made");

	if (!fixture_begin(&f, false))
		return;
	call.method = "POST";
	call.body_fd = fd;
	call.body_length = 2 * MIB;
	CU_ASSERT_EQUAL(http_begin(f.client, &call, &request, &f.err), 0);
	/* Whole, though nobody drives the client any more. */
	CU_ASSERT(server_saw(&f.server, "POST /made"));
	CU_ASSERT_EQUAL(http_finish(f.client, request, &f.answer, &f.err), 0);
	CU_ASSERT_EQUAL(f.answer.status, 201);
	CU_ASSERT(test_no_error(&f.err));
}

static void test_overlap(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_request *slow = NULL, *fast = NULL;
	struct http_call first = get("/slow"), second = get("/fast");
	int64_t deadline = clock_deadline(3000);

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT_EQUAL(http_begin(f.client, &first, &slow, &f.err), 0);
	CU_ASSERT(server_saw(&f.server, "GET /slow"));
	CU_ASSERT_EQUAL(http_pump(f.client, &f.err), 0);
	CU_ASSERT(!http_done(slow));
	CU_ASSERT_EQUAL(http_begin(f.client, &second, &fast, &f.err), 0);
	CU_ASSERT_EQUAL(http_finish(f.client, fast, &f.answer, &f.err), 0);
	CU_ASSERT(body_is(&f, "fast"));
	while (!http_done(slow) && clock_now() < deadline)
		CU_ASSERT_EQUAL(http_pump(f.client, &f.err), 0);
	CU_ASSERT(http_done(slow));
	http_answer_free(&f.answer);
	CU_ASSERT_EQUAL(http_finish(f.client, slow, &f.answer, &f.err), 0);
	CU_ASSERT(body_is(&f, "slow"));
	CU_ASSERT(test_no_error(&f.err));
}

static void test_drive(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_request *slow = NULL, *fast = NULL;
	struct http_call first = get("/slow"), second = get("/fast");
	int64_t start;

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT_EQUAL(http_begin(f.client, &first, &slow, &f.err), 0);
	/* Half an answer wakes it, silence is waited out. */
	CU_ASSERT_EQUAL(http_drive(f.client, clock_deadline(2000), &f.err), 0);
	start = clock_now();
	while (clock_now() - start < 50 * NS_PER_MS)
		CU_ASSERT_EQUAL(http_drive(f.client, clock_add(start, 50 * NS_PER_MS), &f.err), 0);
	CU_ASSERT(!http_done(slow));
	CU_ASSERT_EQUAL(http_begin(f.client, &second, &fast, &f.err), 0);
	while (!http_done(fast) && clock_now() - start < 2 * NS_PER_S)
		CU_ASSERT_EQUAL(http_drive(f.client, clock_deadline(2000), &f.err), 0);
	CU_ASSERT(http_done(fast));
	start = clock_now();
	CU_ASSERT_EQUAL(http_drive(f.client, clock_deadline(2000), &f.err), 0);
	CU_ASSERT(clock_now() - start < NS_PER_S);
	http_cancel(f.client, fast);
	CU_ASSERT_EQUAL(http_finish(f.client, slow, &f.answer, &f.err), 0);
	CU_ASSERT(body_is(&f, "slow"));
	CU_ASSERT(test_no_error(&f.err));
}

static void test_cancel(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct http_request *one = NULL, *two = NULL, *three = NULL;
	struct http_call call = get("/never");

	if (!fixture_begin(&f, false))
		return;
	CU_ASSERT_EQUAL(http_begin(f.client, &call, &one, &f.err), 0);
	CU_ASSERT_EQUAL(http_begin(f.client, &call, &two, &f.err), 0);
	CU_ASSERT_EQUAL(http_begin(f.client, &call, &three, &f.err), 0);
	http_cancel(f.client, two);
	http_cancel(f.client, NULL);
	CU_ASSERT_EQUAL(ask_path(&f, "/chunked"), 0);
	CU_ASSERT(!http_done(one));
	http_cancel(f.client, one);
	CU_ASSERT(test_no_error(&f.err));
	/* The third is freed with the client. */
}

static CU_TestInfo tests[] = {
	{ "sink", test_sink },
	{ "a sink refuses", test_sink_refuses },
	{ "begin sends all", test_begin_sends },
	{ "overlap", test_overlap },
	{ "drive", test_drive },
	{ "cancel", test_cancel },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "streams and overlap", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "routes") == 0)
		return server_run(routes);
	return test_main("http_overlap", suites);
}
