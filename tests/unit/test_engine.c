#include <sys/mman.h>

#include "tests/unit/engine_routes.h"

static void test_documents(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	bool found = false;

	if (!fixture_begin(&f, "docker", NULL))
		return;
	CU_ASSERT_EQUAL(engine_negotiate(f.engine, &f.err), 0);
	CU_ASSERT_EQUAL(engine_version(f.engine, &f.json, &f.err), 0);
	CU_ASSERT(fetched(&f, "{\"versioned\":true}"));
	CU_ASSERT_EQUAL(engine_info(f.engine, &f.json, &f.err), 0);
	CU_ASSERT(fetched(&f, "{\"ID\":\"x\"}"));
	CU_ASSERT_EQUAL(engine_network_inspect(f.engine, "bridge", &f.json, &found, &f.err), 0);
	CU_ASSERT(found && fetched(&f, "{\"Name\":\"bridge\"}"));
	CU_ASSERT_EQUAL(engine_network_inspect(f.engine, "other", &f.json, &found, &f.err), 0);
	CU_ASSERT(!found && fetched(&f, ""));
	CU_ASSERT_EQUAL(engine_inspect(f.engine, ID, &f.json, &found, &f.err), 0);
	CU_ASSERT(found && fetched(&f, "{\"Id\":\"" ID "\"}"));
	CU_ASSERT_EQUAL(engine_inspect(f.engine, GONE, &f.json, &found, &f.err), 0);
	CU_ASSERT(!found && fetched(&f, ""));
	CU_ASSERT_EQUAL(engine_list(f.engine, "org.harness=a/b&c\"d", &f.json, &f.err), 0);
	CU_ASSERT(fetched(&f, "[1]"));
	CU_ASSERT_EQUAL(engine_changes(f.engine, ID, &f.json, &f.err), 0);
	CU_ASSERT(fetched(&f, "null"));
	CU_ASSERT(test_no_error(&f.err));
}

static void test_events(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *request = NULL;
	struct pollfd fds[4];

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_descriptors(f.engine, fds, ARRAY_SIZE(fds)), 0);
	CU_ASSERT_EQUAL(
		engine_events(f.engine, 1 * NS_PER_S + 5, 2 * NS_PER_S, "{\"type\":[\"network\"]}", &f.json, &f.err),
		0);
	CU_ASSERT(fetched(&f, "{\"a\":1}\n{\"b\":2}\n"));
	CU_ASSERT_EQUAL(
		engine_events_begin(f.engine, 0, NULL, clock_deadline(3000), collect, &f.json, &request, &f.err), 0);
	while (f.json.length == 0 && f.err == NULL) {
		/* An event loop of the caller's can wait for it. */
		CU_ASSERT_EQUAL(engine_descriptors(f.engine, fds, ARRAY_SIZE(fds)), 1);
		CU_ASSERT_EQUAL(poll(fds, 1, 2000), 1);
		CU_ASSERT_EQUAL(engine_pump(f.engine, &f.err), 0);
	}
	CU_ASSERT(!engine_done(request));
	CU_ASSERT(fetched(&f, "{\"live\":1}\n"));
	engine_cancel(f.engine, request);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT(engine_events(f.engine, 5, 4, NULL, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_USAGE, "before their start"));
	CU_ASSERT(engine_events(f.engine, -1, 4, NULL, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_USAGE, "after 1970"));
}

static void test_images(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	bool found = false;

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_image_inspect(f.engine, "registry:5000/some/agent:1", &f.json, &found, &f.err), 0);
	CU_ASSERT(found && fetched(&f, "{\"image\":1}"));
	CU_ASSERT_EQUAL(engine_image_inspect(f.engine, "sha256:" ID, &f.json, &found, &f.err), 0);
	CU_ASSERT(!found && fetched(&f, ""));
	CU_ASSERT_EQUAL(engine_images_by_label(f.engine, "org.harness", &f.json, &f.err), 0);
	CU_ASSERT(fetched(&f, "[]"));
	CU_ASSERT_EQUAL(engine_image_remove(f.engine, "sha256:" ID, &f.err), 0);
	CU_ASSERT_EQUAL(engine_image_remove(f.engine, "absent", &f.err), 0);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT(engine_image_remove(f.engine, "used", &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE, "asked to remove the image: the engine answered 409: a container"));
}

struct load {
	const char *api; /* another version, another answer */
	enum error_code code;
	const char *part;
};
static const struct load loads[6];

static void test_image_load(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	cleanup_fd int fd = memfd_create("image", MFD_CLOEXEC);

	CU_ASSERT_EQUAL(ftruncate(fd, 200000), 0);
	if (!fixture_begin(&f, "docker", NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		const struct load *row = &loads[i];
		int code;

		CU_ASSERT_EQUAL(engine_use_version(f.engine, row->api, &f.err), 0);
		code = engine_image_load(f.engine, fd, 200000, &f.err);
		CU_ASSERT_EQUAL(code, -(int)row->code);
		if (row->code)
			CU_ASSERT(test_error(&f.err, row->code, row->part))
		else
			CU_ASSERT(test_no_error(&f.err))
	}
	CU_ASSERT(server_saw(&f.server, "POST /v1.41/images/load?quiet=1 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n"
					"Content-Type: application/x-tar\r\nContent-Length: 200000\r\n\r\n"));
}

struct creation {
	const char *name;
	const char *warnings;
	const char *part; /* NULL: created */
	enum error_code code;
};
static const struct creation creations[9];

static void test_create(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(creations); i++) {
		const struct creation *row = &creations[i];
		char id[CONTAINER_ID_MAX] = "";
		int code = engine_create(f.engine, row->name, "{\"Image\":1}", 11, id, &f.json, &f.err);

		CU_ASSERT_EQUAL(code, row->part ? -(int)row->code : 0);
		if (row->part)
			CU_ASSERT(test_error(&f.err, row->code, row->part))
		else
			CU_ASSERT(test_no_error(&f.err))
		CU_ASSERT_STRING_EQUAL(id, row->part ? "" : ID);
		CU_ASSERT(fetched(&f, row->part ? "" : row->warnings));
	}
	CU_ASSERT(server_saw(&f.server, "POST /v1.41/containers/create?name=plain HTTP/1.1\r\nHost: localhost\r\n"
					"Accept: */*\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n"
					"{\"Image\":1}"));
}

static void test_start_and_wait(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *wait = NULL, *start = NULL;
	int64_t exit_code = -1, deadline = clock_deadline(3000);

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_wait_begin(f.engine, ID, deadline, &wait, &f.err), 0);
	CU_ASSERT(server_saw(&f.server, "POST /v1.41/containers/" ID "/wait?condition=next-exit"));
	CU_ASSERT_EQUAL(engine_pump(f.engine, &f.err), 0);
	CU_ASSERT(!engine_done(wait));
	CU_ASSERT_EQUAL(engine_start_begin(f.engine, ID, &start, &f.err), 0);
	CU_ASSERT(server_saw(&f.server, "POST /v1.41/containers/" ID "/start"));
	CU_ASSERT_EQUAL(engine_start_finish(f.engine, start, &f.err), 0);
	CU_ASSERT_EQUAL(engine_wait_finish(f.engine, wait, &exit_code, &f.err), 0);
	CU_ASSERT_EQUAL(exit_code, 137);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT(engine_start(f.engine, GONE, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE,
			     "asked to start the container: the engine answered 404: the container is gone"));
}

static const char *const bad_waits[4][2];

static void test_bad_waits(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, "docker", NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(bad_waits); i++) {
		struct engine_request *wait = NULL;
		int64_t exit_code = -1;

		CU_ASSERT_EQUAL(engine_use_version(f.engine, bad_waits[i][0], &f.err), 0);
		CU_ASSERT_EQUAL(engine_wait_begin(f.engine, GONE, clock_deadline(2000), &wait, &f.err), 0);
		CU_ASSERT(engine_wait_finish(f.engine, wait, &exit_code, &f.err) < 0);
		CU_ASSERT_EQUAL(exit_code, -1);
		CU_ASSERT_PTR_NOT_NULL(f.err);
		CU_ASSERT(test_error(&f.err, error_code(f.err), bad_waits[i][1]));
	}
}

static void test_end(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	cleanup_result struct engine_result removed = { .status = 0 };
	struct engine_request *request = NULL;

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_kill(f.engine, ID, "KILL", &f.err), 0);
	CU_ASSERT_EQUAL(engine_kill(f.engine, ID, "TERM", &f.err), 0);
	CU_ASSERT_EQUAL(engine_stop(f.engine, ID, 0, &f.err), 0);
	CU_ASSERT_EQUAL(engine_stop(f.engine, ID, 2, &f.err), 0);
	CU_ASSERT_EQUAL(engine_remove(f.engine, ID, &f.err), 0);
	CU_ASSERT_EQUAL(engine_remove(f.engine, GONE, &f.err), 0);
	CU_ASSERT_EQUAL(engine_remove_begin(f.engine, ID, &request, &f.err), 0);
	CU_ASSERT_EQUAL(engine_finish(f.engine, request, &removed, &f.err), 0);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT(engine_kill(f.engine, GONE, "KILL", &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE, "asked to kill the container: the engine answered 404"));
}

/* ---- evidence ---- */

static void test_evidence_together(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	cleanup_buf struct buf tar = BUF(64 * KIB), log = BUF(64 * KIB);
	cleanup_result struct engine_result changes = { .status = 0 }, logs = { .status = 0 };
	struct engine_request *one = NULL, *two = NULL, *three = NULL;

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_archive_begin(f.engine, ID, "/export/a%b", collect, &tar, &one, &f.err), 0);
	CU_ASSERT_EQUAL(engine_changes_begin(f.engine, ID, &two, &f.err), 0);
	CU_ASSERT_EQUAL(engine_logs_begin(f.engine, ID, collect, &log, &three, &f.err), 0);
	CU_ASSERT(server_saw(&f.server, "GET /v1.41/containers/" ID "/logs?stdout=1&stderr=1"));
	CU_ASSERT_EQUAL(engine_finish(f.engine, one, &f.result, &f.err), 0);
	CU_ASSERT(f.result.found && f.result.status == 200);
	CU_ASSERT_STRING_EQUAL(buf_string(&tar), "tar bytes");
	CU_ASSERT_EQUAL(engine_finish(f.engine, three, &logs, &f.err), 0);
	CU_ASSERT(!logs.found && logs.status == 501 && log.length == 0);
	CU_ASSERT_EQUAL(engine_finish(f.engine, two, &changes, &f.err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&changes.body), "null");
	CU_ASSERT(test_no_error(&f.err));
}

static void test_archive_absent(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *request = NULL;

	if (!fixture_begin(&f, "docker", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_archive_begin(f.engine, ID, "/absent", collect, &f.json, &request, &f.err), 0);
	CU_ASSERT_EQUAL(engine_finish(f.engine, request, &f.result, &f.err), 0);
	CU_ASSERT(!f.result.found && f.result.status == 404 && f.json.length == 0 && f.result.body.length == 0);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT_EQUAL(engine_archive_begin(f.engine, GONE, "/absent", collect, &f.json, &request, &f.err), 0);
	CU_ASSERT(engine_finish(f.engine, request, &f.result, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE, "the container is gone"));
}

static void test_logs(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_limits limits = ENGINE_LIMITS;
	long status = 0;

	if (!fixture_begin(&f, "docker", "1.45"))
		return;
	CU_ASSERT_EQUAL(engine_logs(f.engine, ID, collect, &f.json, &status, &f.err), 0);
	CU_ASSERT_EQUAL(status, 200);
	CU_ASSERT(fetched(&f, "a line"));
	CU_ASSERT_EQUAL(engine_use_version(f.engine, "1.44", &f.err), 0);
	CU_ASSERT_EQUAL(engine_logs(f.engine, ID, collect, &f.json, &status, &f.err), 0);
	CU_ASSERT_EQUAL(status, 500);
	CU_ASSERT(fetched(&f, ""));
	CU_ASSERT(test_no_error(&f.err));
	/* A stream has a maximum. */
	limits.stream_bytes = 5;
	engine_set_limits(f.engine, &limits);
	CU_ASSERT_EQUAL(engine_use_version(f.engine, "1.45", &f.err), 0);
	CU_ASSERT(engine_logs(f.engine, ID, collect, &f.json, &status, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_LIMIT, "asked to read the container's log: the answer is longer than 5"));
}

/* ---- attach ---- */

static void test_attach(void)
{
	static const char *const versions[] = { "1.41", "1.45" };

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup_fixture struct fixture f = FIXTURE;
		cleanup_fd int fd = -1;
		char got[8] = "";

		if (!fixture_begin(&f, "docker", versions[i]))
			return;
		CU_ASSERT_EQUAL(engine_attach(f.engine, ID, &fd, &f.json, &f.err), 0);
		CU_ASSERT(test_no_error(&f.err));
		CU_ASSERT(fetched(&f, i == 0 ? "" : "rest"));
		CU_ASSERT(server_saw(&f.server,
				     "/containers/" ID "/attach?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\n"));
		CU_ASSERT_EQUAL(fd_write_all(fd, "in", 2, clock_deadline(2000), &f.err), 0);
		CU_ASSERT_EQUAL(fd_read_exact(fd, got, 2, clock_deadline(2000), &f.err), 0);
		CU_ASSERT_STRING_EQUAL(got, "in");
		CU_ASSERT(test_no_error(&f.err));
	}
}

static void test_attach_refused(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	int fd = 77;

	if (!fixture_begin(&f, "docker", "1.44"))
		return;
	CU_ASSERT(engine_attach(f.engine, ID, &fd, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_PROTOCOL, "the stream has no frames"));
	CU_ASSERT_EQUAL(fd, -1);
	CU_ASSERT_EQUAL(engine_use_version(f.engine, "1.41", &f.err), 0);
	CU_ASSERT(engine_attach(f.engine, GONE, &fd, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE,
			     "asked to attach to the container: the engine answered 404: the container is gone"));
	CU_ASSERT(engine_attach(f.engine, "aaaaaaaaaaaa", &fd, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE, "answered 409: the container is paused"));
	/* Without an upgrade there is no stream, even when the answer is a success. */
	CU_ASSERT(engine_attach(f.engine, "bbbbbbbbbbbb", &fd, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE, "answered 200"));
	CU_ASSERT_EQUAL(fd, -1);
}

static const struct load loads[6] = {
	{ .api = "1.41" },
	{ .api = "1.42", .code = ERROR_ENGINE, .part = "refused the archive" },
	{ .api = "1.43", .code = ERROR_ENGINE, .part = "refused the archive" },
	{ .api = "1.44", .code = ERROR_PROTOCOL, .part = "no JSON" },
	{ .api = "1.45", .code = ERROR_ENGINE, .part = "answered 500: the engine's disk is full" },
	{ .api = "1.46" },
};

static const struct creation creations[9] = {
	{ .name = "plain", .warnings = "" },
	{ .name = "empty", .warnings = "" },
	{ .name = "warned", .warnings = "[\"no swap\", \"x\"]" },
	{ .name = "odd", .warnings = "\"text\"" },
	{ .name = "short-id", .part = "names no container", .code = ERROR_PROTOCOL },
	{ .name = "bad-id", .part = "names no container", .code = ERROR_PROTOCOL },
	{ .name = "no-id", .part = "names no container", .code = ERROR_PROTOCOL },
	{ .name = "no-json", .part = "names no container", .code = ERROR_PROTOCOL },
	{ .name = "taken", .part = "answered 409: the name is taken", .code = ERROR_ENGINE },
};

static const char *const bad_waits[4][2] = {
	{ "1.42", "could not wait" },
	{ "1.43", "no exit code" },
	{ "1.44", "no JSON" },
	{ "1.45", "the container is gone" },
};

static const struct table {
	const char *name;
	const struct route *routes;
} tables[] = {
	{ "docker", docker_routes },
	{ "silent", silent_routes },
};

static CU_TestInfo call_tests[] = {
	{ "documents", test_documents },
	{ "events", test_events },
	{ "images", test_images },
	{ "loading an image", test_image_load },
	{ "create", test_create },
	{ "start and wait", test_start_and_wait },
	{ "bad answers to wait", test_bad_waits },
	{ "kill, stop, remove", test_end },
	{ "evidence together", test_evidence_together },
	{ "absent files", test_archive_absent },
	{ "logs", test_logs },
	{ "attach", test_attach },
	{ "attach refused", test_attach_refused },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "calls", NULL, NULL, NULL, NULL, call_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(tables); i++)
		if (strcmp(tables[i].name, argv[1]) == 0)
			return server_run(tables[i].routes);
	return test_main("engine", suites);
}
