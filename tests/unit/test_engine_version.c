#include "tests/unit/engine_routes.h"

/* ---- reaching an engine ---- */

static void test_peer(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	pid_t pid = 0;
	uid_t uid = 12345;

	if (!fixture_begin(&f, "docker", NULL))
		return;
	/* Who called listen(), which was this process. */
	engine_peer(f.engine, &pid, &uid);
	CU_ASSERT_EQUAL(pid, getpid());
	CU_ASSERT_EQUAL(uid, geteuid());
	CU_ASSERT_STRING_EQUAL(engine_api(f.engine), "");
	CU_ASSERT_EQUAL(engine_api_minor(f.engine), 0);
	/* A call before a version is a mistake of ours. */
	CU_ASSERT(engine_info(f.engine, &f.json, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_INTERNAL, "no version"));
}

static void refused_open(const char *path, enum error_code code, const char *part)
{
	cleanup_engine struct engine *engine = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(engine_open(path, &engine, &err), -(int)code);
	CU_ASSERT(test_error(&err, code, part));
	CU_ASSERT_PTR_NULL(engine);
}

static void test_no_engine(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char folder[] = "/tmp/harness-test-XXXXXX", path[64];
	cleanup_fd int stream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_fd int datagram = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	refused_open(path, ERROR_REFUSED, "no engine there: start Docker, or name its socket with --socket");
	refused_open("/proc/self/exe", ERROR_REFUSED, "not a socket: name the engine's socket with --socket");
	refused_open("/proc/self/exe/s", ERROR_REFUSED, "no engine there");
	refused_open(folder, ERROR_REFUSED, "not a socket");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	CU_ASSERT_EQUAL(bind(stream, (struct sockaddr *)&address, sizeof(address)), 0);
	refused_open(path, ERROR_REFUSED, "no engine listens there: start Docker");
	unlink(path);
	CU_ASSERT_EQUAL(bind(datagram, (struct sockaddr *)&address, sizeof(address)), 0);
	refused_open(path, ERROR_REFUSED, "not a stream socket: name the engine's socket");
	unlink(path);
	rmdir(folder);
	refused_open("", ERROR_USAGE, "1 to 107 bytes");
	refused_open("/nowhere/\033[31m\n", ERROR_REFUSED, "/nowhere/?[31m?: no engine there");
}

struct number {
	int number;
	const char *part; /* NULL: the error stays as it is */
};
static const struct number numbers[8];

static void test_explain(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const struct number *row = &numbers[i];
		struct error *err = NULL;

		error_errno(&err, row->number, "cannot connect");
		CU_ASSERT_EQUAL(engine_explain_connection("/nowhere/s", ERROR_CLOSED, &err),
				row->part ? -(int)ERROR_CLOSED : -(int)ERROR_SYSTEM);
		CU_ASSERT(test_error(&err, row->part ? ERROR_CLOSED : ERROR_SYSTEM,
				     row->part ? row->part : "cannot connect"));
	}
}

/* ---- versions ---- */

struct negotiation {
	const char *table;
	const char *api; /* NULL: refused */
	const char *part;
};
static const struct negotiation negotiations[15];

static void test_negotiate(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(negotiations); i++) {
		const struct negotiation *row = &negotiations[i];
		cleanup_fixture struct fixture f = FIXTURE;
		int code;

		if (!fixture_begin(&f, row->table, NULL))
			return;
		code = engine_negotiate(f.engine, &f.err);
		if (row->api) {
			CU_ASSERT_EQUAL(code, 0);
			CU_ASSERT(test_no_error(&f.err));
			CU_ASSERT_STRING_EQUAL(engine_api(f.engine), row->api);
			CU_ASSERT_EQUAL(engine_api_minor(f.engine), atoi(row->api + 2));
		} else {
			CU_ASSERT_EQUAL(code, -(int)ERROR_REFUSED);
			CU_ASSERT(test_error(&f.err, ERROR_REFUSED, row->part));
			CU_ASSERT_STRING_EQUAL(engine_api(f.engine), "");
		}
		CU_ASSERT(server_saw(&f.server, "GET /_ping HTTP/1.1"));
	}
}

static void test_negotiate_silence(void)
{
	cleanup_fixture struct fixture f = FIXTURE;
	struct engine_limits limits = ENGINE_LIMITS;

	if (!fixture_begin(&f, "silent", NULL))
		return;
	limits.call_ms = SHORT_MS;
	engine_set_limits(f.engine, &limits);
	CU_ASSERT(engine_negotiate(f.engine, &f.err) < 0);
	CU_ASSERT(test_error(&f.err, ERROR_TIMEOUT, "asked to answer a ping"));
}

static const char *const bad_versions[10];

static void test_versions(void)
{
	cleanup_fixture struct fixture f = FIXTURE;

	if (!fixture_begin(&f, "docker", "1.45"))
		return;
	CU_ASSERT_STRING_EQUAL(engine_api(f.engine), "1.45");
	for (size_t i = 0; i < ARRAY_SIZE(bad_versions); i++) {
		if (engine_use_version(f.engine, bad_versions[i], &f.err) == 0)
			CU_FAIL(bad_versions[i]);
		CU_ASSERT(test_error(&f.err, ERROR_USAGE, "1.41 to 1.55"));
	}
	CU_ASSERT_STRING_EQUAL(engine_api(f.engine), "1.45");
}

static const struct number numbers[8] = {
	{ .number = ENOENT, .part = "/nowhere/s: no engine there" },
	{ .number = ENOTDIR, .part = "/nowhere/s: no engine there" },
	{ .number = ECONNREFUSED, .part = "/nowhere/s: no engine listens there" },
	{ .number = EACCES, .part = "/nowhere/s: no permission: run as root, or join the group" },
	{ .number = EPERM, .part = "/nowhere/s: no permission: run as root, or join the group" },
	{ .number = ENOTSOCK, .part = "/nowhere/s: not a socket" },
	{ .number = EPROTOTYPE, .part = "/nowhere/s: not a stream socket" },
	{ .number = EMFILE },
};

static const struct negotiation negotiations[15] = {
	{ .table = "docker", .api = "1.41" },
	{ .table = "middle", .api = "1.45" },
	{ .table = "newest", .api = "1.55" },
	{ .table = "old", .part = "up to 1.40, and 1.41 is needed: install Docker 20.10" },
	{ .table = "future", .part = "from 1.60 on, and this program up to 1.55: install a newer harness" },
	{ .table = "podman", .part = "podman answers" },
	{ .table = "podman-parts", .part = "podman answers" },
	{ .table = "other", .part = "not a Docker engine" },
	{ .table = "other-status", .part = "not a Docker engine" },
	{ .table = "other-garbage", .part = "not a Docker engine" },
	{ .table = "other-closes", .part = "not a Docker engine" },
	{ .table = "other-json", .part = "not a Docker engine" },
	{ .table = "other-member", .part = "not a Docker engine" },
	{ .table = "other-order", .part = "not a Docker engine" },
	{ .table = "other-major", .part = "not a Docker engine" },
};

static const char *const bad_versions[10] = {
	"", "1", "1.", "1.40", "1.56", "2.41", "1.41.1", "1.4x", "v1.41", "1.041"
};

static const struct route middle[] = {
	{ PING("Api-Version: 1.45\r\nServer: Docker/26.1.5 (linux)") },
	{ VERSION("1.45", "1.24") },
	END,
};
static const struct route newest[] = {
	{ PING("Api-Version: 1.99\r\nServer: Docker/40.0.0 (linux)") },
	{ VERSION("1.99", "1.55") },
	END,
};
static const struct route old[] = {
	{ PING("Api-Version: 1.40\r\nServer: Docker/19.03.15 (linux)") },
	{ VERSION("1.40", "1.12") },
	END,
};
static const struct route future[] = {
	{ PING("Api-Version: 1.70\r\nServer: Docker/60.0.0 (linux)") },
	{ VERSION("1.70", "1.60") },
	END,
};
static const struct route podman[] = {
	{ PING("Api-Version: 1.41\r\nLibpod-Api-Version: 4.3.1\r\nServer: Libpod/4.3.1 (linux)") },
	{ VERSION("1.41", "1.24") },
	END,
};
static const struct route podman_parts[] = {
	{ PING("Api-Version: 1.41") },
	{ .request = "GET /version",
	  ANSWER("200 OK", "{\"Components\":[{\"Name\":\"Podman "
			   "Engine\"}],\"ApiVersion\":\"1.41\",\"MinAPIVersion\":\"1.24\"}") },
	END,
};
static const struct route other[] = { { PING("Server: nginx") }, END };
static const struct route other_status[] = {
	{ .request = "GET /_ping", ANSWER("500 Oops\r\nApi-Version: 1.41", "") },
	END,
};
static const struct route other_garbage[] = { { .request = "GET /_ping", .answer = "+OK redis\r\n", .close = true },
					      END };
static const struct route other_closes[] = { { .request = "GET /_ping", .close = true }, END };
static const struct route other_json[] = {
	{ PING("Api-Version: 1.41") },
	{ .request = "GET /version", ANSWER("200 OK", "<html>") },
	END,
};
static const struct route other_member[] = {
	{ PING("Api-Version: 1.41") },
	{ .request = "GET /version", ANSWER("200 OK", "{\"ApiVersion\":\"1.41\"}") },
	END,
};
static const struct route other_order[] = { { PING("Api-Version: 1.41") }, { VERSION("1.41", "1.42") }, END };
static const struct route other_major[] = { { PING("Api-Version: 2.41") }, { VERSION("1.41", "1.12") }, END };
static const struct table {
	const char *name;
	const struct route *routes;
} tables[] = {
	{ "docker", docker_routes },
	{ "silent", silent_routes },
	{ "middle", middle },
	{ "newest", newest },
	{ "old", old },
	{ "future", future },
	{ "podman", podman },
	{ "podman-parts", podman_parts },
	{ "other", other },
	{ "other-status", other_status },
	{ "other-garbage", other_garbage },
	{ "other-closes", other_closes },
	{ "other-json", other_json },
	{ "other-member", other_member },
	{ "other-order", other_order },
	{ "other-major", other_major },
};

static CU_TestInfo reach_tests[] = {
	{ "the peer", test_peer },
	{ "no engine", test_no_engine },
	{ "what an errno means", test_explain },
	{ "negotiation", test_negotiate },
	{ "negotiation meets silence", test_negotiate_silence },
	{ "versions", test_versions },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "reaching an engine", NULL, NULL, NULL, NULL, reach_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(tables); i++)
		if (strcmp(tables[i].name, argv[1]) == 0)
			return server_run(tables[i].routes);
	return test_main("engine_version", suites);
}
