#include "tests/unit/engine_routes.h"

/* ---- what goes wrong ---- */

static void test_deadlines(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_limits limits = { .call_ms = SHORT_MS,
					.start_ms = 4 * SHORT_MS,
					.load_ms = SHORT_MS,
					.answer_bytes = 4096,
					.stream_bytes = 4096 };
	struct engine_request *request = NULL;
	int64_t start = clock_now();
	bool found;
	int fd = -1;

	if (!fixture_begin(&f, "silent", "1.41"))
		return;
	engine_set_limits(f.engine, &limits);
	CU_ASSERT(engine_inspect(f.engine, ID, &f.json, &found, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT,
			     "asked to inspect the container: no whole answer before the deadline"));
	CU_ASSERT(engine_attach(f.engine, ID, &fd, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT, "asked to attach to the container"));
	CU_ASSERT_EQUAL(engine_wait_begin(f.engine, ID, clock_deadline(SHORT_MS), &request, &f.err), 0);
	CU_ASSERT(engine_finish(f.engine, request, &f.result, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT, "asked to wait for the container's exit"));
	CU_ASSERT(clock_now() - start < 1500 * NS_PER_MS);
	start = clock_now();
	CU_ASSERT(engine_start(f.engine, ID, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT, "asked to start the container"));
	CU_ASSERT(clock_now() - start >= (4 * SHORT_MS - 5) * NS_PER_MS);
	/* A stop is given its seconds on top. */
	start = clock_now();
	CU_ASSERT(engine_stop(f.engine, ID, 1, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT, "asked to stop the container"));
	CU_ASSERT(clock_now() - start >= (1000 + SHORT_MS - 5) * NS_PER_MS);
}

static void test_engine_dies(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *request = NULL;
	int fd = -1;

	if (!fixture_begin(&f, "silent", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_changes_begin(f.engine, ID, &request, &f.err), 0);
	child_end(&f.server.child);
	CU_ASSERT(engine_finish(f.engine, request, &f.result, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_CLOSED, "asked to list the container's changes: the connection"));
	CU_ASSERT(engine_remove(f.engine, ID, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_CLOSED, "no engine listens there: start Docker"));
	unlink(f.server.path);
	CU_ASSERT(engine_attach(f.engine, ID, &fd, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_CLOSED, "asked to attach to the container: /tmp/"));
}

static void test_answer_limit(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_limits limits = ENGINE_LIMITS;

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	limits.answer_bytes = 9;
	engine_set_limits(f.engine, &limits);
	CU_ASSERT(engine_info(f.engine, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_LIMIT, "asked to describe itself: the answer is longer than 9"));
	limits.answer_bytes = 10;
	engine_set_limits(f.engine, &limits);
	CU_ASSERT_EQUAL(engine_info(f.engine, &f.json, &f.err), 0);
	CU_ASSERT(test_no_error(&f.err));
}

/* Requests that nobody finished go with the engine. */
static void test_close_with_requests(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *one = NULL, *two = NULL;

	if (!fixture_begin(&f, "silent", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_changes_begin(f.engine, ID, &one, &f.err), 0);
	CU_ASSERT_EQUAL(engine_start_begin(f.engine, ID, &two, &f.err), 0);
	engine_cancel(f.engine, NULL);
	CU_ASSERT(test_no_error(&f.err));
}

/* ---- words ---- */

static const char *const bad_ids[7];
static const char *const bad_names[7];
static const char *const bad_references[9];
static const char *const bad_labels[4];
static const char *const bad_signals[4];
static const char *const bad_paths[4];

#define EACH(words, call)                                                                                              \
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {                                                               \
		const char *word = (words)[i];                                                                         \
		if ((call) == 0)                                                                                       \
			CU_FAIL("a bad word was taken");                                                               \
		CU_ASSERT(test_error(&f.err, ERROR_USAGE, ""));                                                        \
	}

static void test_words(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *request = NULL;
	char id[CONTAINER_ID_MAX] = "", label[300];
	bool found;
	int fd = -1;

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	EACH(bad_ids, engine_inspect(f.engine, word, &f.json, &found, &f.err));
	EACH(bad_ids, engine_attach(f.engine, word, &fd, &f.json, &f.err));
	EACH(bad_ids, engine_archive_begin(f.engine, word, "/", collect, &f.json, &request, &f.err));
	EACH(bad_ids, engine_logs_begin(f.engine, word, collect, &f.json, &request, &f.err));
	EACH(bad_ids, engine_start_begin(f.engine, word, &request, &f.err));
	EACH(bad_ids, engine_remove(f.engine, word, &f.err));
	EACH(bad_ids, engine_remove_begin(f.engine, word, &request, &f.err));
	EACH(bad_names, engine_create(f.engine, word, "{}", 2, id, &f.json, &f.err));
	EACH(bad_names, engine_network_inspect(f.engine, word, &f.json, &found, &f.err));
	EACH(bad_references, engine_image_inspect(f.engine, word, &f.json, &found, &f.err));
	EACH(bad_references, engine_image_remove(f.engine, word, &f.err));
	EACH(bad_labels, engine_list(f.engine, word, &f.json, &f.err));
	EACH(bad_labels, engine_images_by_label(f.engine, word, &f.json, &f.err));
	EACH(bad_signals, engine_kill(f.engine, ID, word, &f.err));
	EACH(bad_paths, engine_archive_begin(f.engine, ID, word, collect, &f.json, &request, &f.err));
	memset(label, 'a', 256);
	label[256] = '\0';
	CU_ASSERT(engine_list(f.engine, label, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_USAGE, "1 to 255"));
	/* None of them was sent. */
	CU_ASSERT(server_saw_not(&f.server, "HTTP/1.1"));
}

/* ---- meanings ---- */

enum expected { EXPECT_ERROR, EXPECT_FOUND, EXPECT_ABSENT };
struct judgment {
	enum engine_operation operation;
	long status;
	const char *body;
	enum expected expected;
	const char *part;
	bool extra; /* beyond the one of each row of the table */
};
static const struct judgment judgments[];
static const size_t judgments_count;

static void test_judge(void)
{
	size_t rows = 0;

	for (const struct judgment *row = judgments; row < judgments + judgments_count; row++) {
		struct error *err = NULL;
		bool found = row->expected == EXPECT_ABSENT;
		int code = engine_judge(row->operation, row->status, row->body, strlen(row->body), &found, &err);

		rows += !row->extra;
		CU_ASSERT_EQUAL(code, row->expected == EXPECT_ERROR ? -(int)ERROR_ENGINE : 0);
		CU_ASSERT_EQUAL(found, row->expected == EXPECT_FOUND);
		if (row->expected != EXPECT_ERROR) {
			CU_ASSERT(test_no_error(&err));
			continue;
		}
		/* Not a byte of the answer. */
		CU_ASSERT_PTR_NULL(strstr(error_text(err), "evil"));
		CU_ASSERT_PTR_NOT_NULL(strstr(error_text(err), engine_operation_text(row->operation)));
		CU_ASSERT(test_error(&err, ERROR_ENGINE, row->part));
	}
	CU_ASSERT_EQUAL(rows, engine_judge_rows());
}

static void test_successes(void)
{
	for (int operation = ENGINE_PING; operation < ENGINE_OPERATIONS; operation++) {
		enum engine_operation each = (enum engine_operation)operation;
		size_t successes = 0;

		CU_ASSERT_PTR_NOT_NULL(engine_operation_text(each));
		CU_ASSERT_PTR_NOT_NULL(engine_operation_method(each));
		for (long status = 100; status < 300; status++) {
			struct error *err = NULL;
			bool found = false;

			successes += engine_judge(each, status, NULL, 0, &found, &err) == 0 && found;
			error_free(err);
		}
		CU_ASSERT_EQUAL(successes, 1);
	}
}

static const char *const bad_ids[7] = {
	"", "0123456789a", "0123456789ag", "0123456789AB", "../0123456789ab", ID "0", "0123456789ab/json",
};
static const char *const bad_names[7] = {
	"", "-a", "a/b", "a b", "a?x", "..", "a123456789a123456789a123456789a123456789a123456789a123456789a123",
};
static const char *const bad_references[9] = { "", "/a", "../a", "a/../b", "a//b", "a?b", "a#b", "a%2e", "a b" };
static const char *const bad_labels[4] = { "", "a b", "a\n", "\303\244" };
static const char *const bad_signals[4] = { "", "kill", "KILL&x=1", "ABCDEFGHIJKLMNOPQ" };
static const char *const bad_paths[4] = { "", "export", "/a b", "/a\n" };

static const struct judgment judgments[] = {
	{ ENGINE_IMAGE_INSPECT, 404, "No such image", EXPECT_ABSENT, NULL, false },
	{ ENGINE_IMAGE_REMOVE, 404, "No such image", EXPECT_FOUND, NULL, false },
	{ ENGINE_IMAGE_REMOVE, 409, "conflict: evil", EXPECT_ERROR, "409: a container or another name", false },
	{ ENGINE_NETWORK, 404, "network evil not found", EXPECT_ABSENT, NULL, false },
	{ ENGINE_INSPECT, 404, "No such container: evil", EXPECT_ABSENT, NULL, false },
	{ ENGINE_REMOVE, 404, "No such container: evil", EXPECT_FOUND, NULL, false },
	{ ENGINE_REMOVE, 409, "removal of evil is already in progress", EXPECT_ERROR, "409: its removal is under way",
	  false },
	{ ENGINE_CREATE, 404, "No such image: evil", EXPECT_ERROR, "404: the image is not there", false },
	{ ENGINE_CREATE, 409, "The name evil is in use", EXPECT_ERROR, "409: the name is taken", false },
	{ ENGINE_START, 304, "", EXPECT_ERROR, "304: somebody else started it", false },
	{ ENGINE_KILL, 409, "Container evil is not running", EXPECT_FOUND, NULL, false },
	{ ENGINE_STOP, 304, "", EXPECT_FOUND, NULL, false },
	{ ENGINE_ARCHIVE, 404, "Could not find the file /evil in container x", EXPECT_ABSENT, NULL, false },
	{ ENGINE_LOGS, 501, "configured logging driver does not support reading", EXPECT_ABSENT, NULL, false },
	{ ENGINE_LOGS, 500, "configured logging driver does not support reading", EXPECT_ABSENT, NULL, false },
	{ ENGINE_ARCHIVE, 404, "No such container: evil", EXPECT_ERROR, "404: the container is gone", false },
	{ ENGINE_ATTACH, 409, "container evil is paused, unpause", EXPECT_ERROR, "409: the container is paused",
	  false },
	{ ENGINE_START, 500, "Bind for evil failed: port is already allocated", EXPECT_ERROR, "holds the port", false },
	{ ENGINE_CREATE, 500, "write evil: no space left on device", EXPECT_ERROR, "disk is full", false },
	{ ENGINE_START, 500, "evil: cannot allocate memory", EXPECT_ERROR, "out of memory", false },
	{ ENGINE_INFO, 400, "client version evil is too new", EXPECT_ERROR, "400: it does not speak this version",
	  false },
	{ ENGINE_LIST, 404, "page not found", EXPECT_ERROR, "404: it does not know the request", false },
	{ ENGINE_START, 400, "OCI runtime create failed: evil", EXPECT_ERROR, "400: the runtime cannot start", false },
	{ ENGINE_CREATE, 400, "evil", EXPECT_ERROR, "400: it does not accept the request", false },
	{ ENGINE_CREATE, 401, "evil", EXPECT_ERROR, "401: it wants a login", false },
	{ ENGINE_CREATE, 403, "evil", EXPECT_ERROR, "403: a rule of the engine", false },
	{ ENGINE_ARCHIVE, 404, "evil", EXPECT_ERROR, "404: there is no such thing", false },
	{ ENGINE_KILL, 409, "evil", EXPECT_ERROR, "409: the container's state forbids it", false },
	{ ENGINE_EVENTS, 503, "evil", EXPECT_ERROR, "503: the engine is not ready", false },
	{ ENGINE_STOP, 500, "evil", EXPECT_ERROR,
	  "asked to stop the container: the engine answered 500: see the engine's log", true },
	{ ENGINE_LOGS, 500, "evil", EXPECT_ERROR, "500: see the engine's log", true },
	{ ENGINE_LOGS, 404, "No such container: evil", EXPECT_ERROR, "404: the container is gone", true },
	{ ENGINE_CHANGES, 404, "No such container: evil", EXPECT_ERROR, "404: the container is gone", true },
	{ ENGINE_CHANGES, 501, "evil", EXPECT_ERROR, "501: see the engine's log", true },
	{ ENGINE_ATTACH, 200, "evil", EXPECT_ERROR, "200: see the engine's log", true },
	{ ENGINE_CREATE, 200, "evil", EXPECT_ERROR, "200: see the engine's log", true },
};
static const size_t judgments_count = ARRAY_SIZE(judgments);

static const struct table {
	const char *name;
	const struct route *routes;
} tables[] = {
	{ "docker", docker_routes },
	{ "silent", silent_routes },
};

static CU_TestInfo failure_tests[] = {
	{ "deadlines", test_deadlines },
	{ "the engine dies", test_engine_dies },
	{ "an answer's maximum", test_answer_limit },
	{ "close with requests", test_close_with_requests },
	{ "words", test_words },
	{ "each meaning", test_judge },
	{ "one success each", test_successes },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "failures", NULL, NULL, NULL, NULL, failure_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(tables); i++)
		if (strcmp(tables[i].name, argv[1]) == 0)
			return server_run(tables[i].routes);
	return test_main("engine_answers", suites);
}
