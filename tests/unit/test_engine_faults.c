/* The calls that change a running container: what is sent, what comes back, and what is refused before it is sent. */
#include "tests/unit/engine_fixture.h"

#define CONTAINER(id) "/v1.41/containers/" id
#define NONE ANSWER("204 No Content", "")

static const struct route fault_routes[] = {
	{ .request = "POST " CONTAINER(ID) "/rename?name=other", NONE },
	{ .request = "POST " CONTAINER(ID) "/rename?name=taken", ANSWER("409 Conflict", "{\"message\":\"evil\"}") },
	{ .request = "POST " CONTAINER(ID) "/update", ANSWER("200 OK", "{\"Warnings\":null}") },
	{ .request = "POST " CONTAINER(ID) "/pause", NONE },
	{ .request = "POST " CONTAINER(ID) "/unpause", NONE },
	{ .request = "POST /v1.41/networks/bridge/connect", ANSWER("200 OK", "") },
	{ .request = "POST /v1.41/networks/none/disconnect", ANSWER("200 OK", "") },
	{ .request = "POST " CONTAINER(ID) "/exec", ANSWER("201 Created", "{\"Id\":\"" ID "\"}") },
	{ .request = "POST /v1.42/containers/" ID "/exec", ANSWER("201 Created", "{\"Id\":\"../evil\"}") },
	{ .request = "POST /v1.43/containers/" ID "/exec", ANSWER("201 Created", "evil") },
	{ .request = "POST /v1.41/exec/" ID "/start",
	  .answer = "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nearly",
	  .echo = true },
	{ .request = "POST /v1.41/exec/" GONE "/start",
	  ANSWER("409 Conflict", "Container evil is not running: evil\n") },
	END,
};

static void finish(struct fixture *f, struct engine_request *request, long status)
{
	engine_result_free(&f->result);
	f->result = (struct engine_result){ .status = 0 };
	CU_ASSERT(test_no_error(&f->err));
	if (!request)
		return;
	CU_ASSERT_EQUAL(engine_finish(f->engine, request, &f->result, &f->err), 0);
	CU_ASSERT_EQUAL(f->result.status, status);
	CU_ASSERT(test_no_error(&f->err));
}

static void test_changes(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *request = NULL;

	if (!fixture_begin(&f, "faults", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_rename_begin(f.engine, ID, "other", &request, &f.err), 0);
	finish(&f, steal_pointer(&request), 204);
	CU_ASSERT_EQUAL(engine_update_begin(f.engine, ID, 64, &request, &f.err), 0);
	finish(&f, steal_pointer(&request), 200);
	CU_ASSERT(server_saw(&f.server, "\r\n\r\n{\"PidsLimit\":64}"));
	CU_ASSERT_EQUAL(engine_pause_begin(f.engine, ID, &request, &f.err), 0);
	finish(&f, steal_pointer(&request), 204);
	CU_ASSERT_EQUAL(engine_unpause_begin(f.engine, ID, &request, &f.err), 0);
	finish(&f, steal_pointer(&request), 204);
	CU_ASSERT_EQUAL(engine_disconnect_begin(f.engine, "none", ID, &request, &f.err), 0);
	finish(&f, steal_pointer(&request), 200);
	CU_ASSERT_EQUAL(engine_connect_begin(f.engine, "bridge", ID, &request, &f.err), 0);
	finish(&f, steal_pointer(&request), 200);
	CU_ASSERT(server_saw(&f.server, "\r\n\r\n{\"Container\":\"" ID "\"}"));
	CU_ASSERT_EQUAL(engine_rename_begin(f.engine, ID, "taken", &request, &f.err), 0);
	CU_ASSERT(engine_finish(f.engine, request, &f.result, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE, "asked to rename the container: the engine answered 409"));
}

static void test_exec(void)
{
	static const char *const command[] = { "/agent", "one", NULL };
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *request = NULL;
	char exec[CONTAINER_ID_MAX] = "", got[8] = "";
	cleanup_fd int fd = -1, none = -1;

	if (!fixture_begin(&f, "faults", "1.41"))
		return;
	CU_ASSERT_EQUAL(engine_exec_begin(f.engine, ID, command, &request, &f.err), 0);
	CU_ASSERT_EQUAL(engine_exec_finish(f.engine, request, exec, &f.err), 0);
	CU_ASSERT_STRING_EQUAL(exec, ID);
	CU_ASSERT(server_saw(&f.server, "{\"AttachStdin\":true,\"AttachStdout\":true,\"AttachStderr\":true,"
					"\"Cmd\":[\"/agent\",\"one\"]}"));
	CU_ASSERT_EQUAL(engine_exec_start(f.engine, exec, &fd, &f.json, &f.err), 0);
	CU_ASSERT(test_no_error(&f.err));
	CU_ASSERT(fetched(&f, "early"));
	CU_ASSERT(server_saw(&f.server, "{\"Detach\":false,\"Tty\":false}"));
	CU_ASSERT_EQUAL(fd_write_all(fd, "ping", 4, clock_deadline(2000), &f.err), 0);
	CU_ASSERT_EQUAL(fd_read_exact(fd, got, 4, clock_deadline(2000), &f.err), 0);
	CU_ASSERT_STRING_EQUAL(got, "ping");
	CU_ASSERT(engine_exec_start(f.engine, GONE, &none, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_ENGINE, "asked to run a command in the container: the engine answered 409"));
	CU_ASSERT_EQUAL(none, -1);
}

static void test_exec_answers(void)
{
	static const char *const command[] = { "/agent", NULL };
	static const char *const versions[] = { "1.42", "1.43" };
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, "faults", NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		struct engine_request *request = NULL;
		char exec[CONTAINER_ID_MAX] = "";

		CU_ASSERT_EQUAL(engine_use_version(f.engine, versions[i], &f.err), 0);
		CU_ASSERT_EQUAL(engine_exec_begin(f.engine, ID, command, &request, &f.err), 0);
		CU_ASSERT(engine_exec_finish(f.engine, request, exec, &f.err) < 0);
		CU_ASSERT(test_error(&f.err, ERROR_PROTOCOL, "the engine's answer names none"));
		CU_ASSERT_STRING_EQUAL(exec, "");
	}
}

#define REFUSED(call)                                                                                                  \
	do {                                                                                                           \
		CU_ASSERT((call) < 0);                                                                                 \
		CU_ASSERT(test_error(&f.err, ERROR_USAGE, ""));                                                        \
	} while (0)

static void test_words(void)
{
	static const char *const bad_commands[][2] = { { NULL }, { "a b", NULL }, { "", NULL } };
	static const char *const good[] = { "/agent", NULL };
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_request *request = NULL;
	int fd = -1;

	if (!fixture_begin(&f, "faults", "1.41"))
		return;
	REFUSED(engine_rename_begin(f.engine, "../x", "other", &request, &f.err));
	REFUSED(engine_rename_begin(f.engine, ID, "a&b", &request, &f.err));
	REFUSED(engine_update_begin(f.engine, "../x", 1, &request, &f.err));
	REFUSED(engine_pause_begin(f.engine, "../x", &request, &f.err));
	REFUSED(engine_unpause_begin(f.engine, "../x", &request, &f.err));
	REFUSED(engine_connect_begin(f.engine, "a/b", ID, &request, &f.err));
	REFUSED(engine_connect_begin(f.engine, "bridge", "../x", &request, &f.err));
	REFUSED(engine_disconnect_begin(f.engine, "a/b", ID, &request, &f.err));
	REFUSED(engine_exec_begin(f.engine, "../x", good, &request, &f.err));
	for (size_t i = 0; i < ARRAY_SIZE(bad_commands); i++)
		REFUSED(engine_exec_begin(f.engine, ID, bad_commands[i], &request, &f.err));
	REFUSED(engine_exec_start(f.engine, "../x", &fd, &f.json, &f.err));
	CU_ASSERT(server_saw_not(&f.server, "HTTP/1.1"));
}

static CU_TestInfo fault_tests[] = {
	{ "changes", test_changes }, { "a command", test_exec }, { "a command without an id", test_exec_answers },
	{ "bad words", test_words }, CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "faults", NULL, NULL, NULL, NULL, fault_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "faults") == 0)
		return server_run(fault_routes);
	return test_main("engine_faults", suites);
}
