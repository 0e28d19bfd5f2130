/* What must hold on the host: core patterns, kinds of engines, peers of a socket in a made-up /proc, findings. */
#include "adapter/preflight.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "adapter/preflight_internal.h"
#include "reports/manifest.h"
#include "tests/unit/admission_fixture.h"

static void test_core_patterns(void)
{
	static const struct {
		const char *pattern;
		enum core_class expected;
	} rows[] = {
		{ "core", CORE_FILE },
		{ "core\n", CORE_FILE },
		{ "/var/crash/core.%p", CORE_FILE },
		{ "core|x", CORE_FILE },
		{ "core@x", CORE_FILE },
		{ " core", CORE_FILE },
		{ "|/usr/lib/systemd/systemd-coredump %P", CORE_PIPE },
		{ "|", CORE_PIPE },
		{ " |/bin/x", CORE_PIPE },
		{ "\t|/bin/x", CORE_PIPE },
		{ "@/run/core.socket\n", CORE_SOCKET },
		{ "@@/run/core.socket", CORE_SOCKET },
		{ " @/run/core.socket", CORE_SOCKET },
		{ "", CORE_EMPTY },
		{ "\n", CORE_EMPTY },
		{ "  \n", CORE_EMPTY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(core_pattern_class(rows[i].pattern), rows[i].expected);
	CU_ASSERT_STRING_EQUAL(core_class_names[CORE_FILE], "file");
	CU_ASSERT_STRING_EQUAL(core_class_names[CORE_PIPE], "pipe");
	CU_ASSERT_STRING_EQUAL(core_class_names[CORE_SOCKET], "socket");
	CU_ASSERT_STRING_EQUAL(core_class_names[CORE_EMPTY], "empty");
	CU_ASSERT_PTR_NULL(core_class_names[CORE_EMPTY + 1]);
}

static void test_core_pattern_of_this_host(void)
{
	enum core_class found = CORE_EMPTY;
	struct error *err = NULL;
	char pattern[256] = "";
	cleanup_fd int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);

	CU_ASSERT_TRUE(read(fd, pattern, sizeof(pattern) - 1) >= 0);
	CU_ASSERT_EQUAL(core_pattern_read(&found, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	CU_ASSERT_EQUAL(found, core_pattern_class(pattern));
}

/* ---- kinds of engines ---- */

static void test_recorded_engine(void)
{
	cleanup_recorded struct recorded recorded;
	struct error *err = NULL;

	recorded_open(&recorded, "reference");
	CU_ASSERT_EQUAL(preflight_engine(json_root(recorded.version), json_root(recorded.info), &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}

static void test_refused_engines(void)
{
	static const struct {
		bool info;
		const char *path, *value, *text;
	} rows[] = {
		{ false, "Components", "[{\"Name\":\"Podman Engine\",\"Version\":\"4.3.1\"}]", "Podman" },
		{ false, "Components", "[{\"Name\":\"Engine\"},{\"Name\":\"Podman Engine\"}]", "Podman" },
		{ false, "Components", "[{\"Name\":\"Other\"}]", "not Docker Engine" },
		{ false, "Components", NULL, "not Docker Engine" },
		{ false, "Platform", "{\"Name\":\"Docker Desktop 4.30.0 (149282)\"}", "Docker Desktop" },
		{ true, "OperatingSystem", "\"Docker Desktop\"", "Docker Desktop" },
		{ true, "OSType", "\"windows\"", "Linux containers" },
		{ true, "OSType", NULL, "Linux containers" },
		{ true, "KernelVersion", "\"5.15.153.1-microsoft-standard-WSL2\"", "virtual machine" },
		{ true, "KernelVersion", "\"6.6.26-linuxkit\"", "virtual machine" },
		{ true, "KernelVersion", NULL, "virtual machine" },
		{ true, "SecurityOptions", "[\"name=seccomp,profile=builtin\",\"name=rootless\"]", "rootless" },
		{ true, "SecurityOptions", "[\"name=seccomp,profile=default\",\"name=userns\"]", "userns-remap" },
		{ true, "SecurityOptions", "null", "security options" },
		{ true, "SecurityOptions", NULL, "security options" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_recorded struct recorded recorded;
		struct error *err = NULL;

		recorded_open(&recorded, "reference");
		fixture_weaken(rows[i].info ? &recorded.info : &recorded.version, rows[i].path, rows[i].value);
		CU_ASSERT_TRUE(preflight_engine(json_root(recorded.version), json_root(recorded.info), &err) < 0);
		CU_ASSERT_TRUE(test_error(&err, ERROR_REFUSED, rows[i].text));
	}
}

static void test_no_answers(void)
{
	struct error *err = NULL;

	CU_ASSERT_TRUE(preflight_engine(NULL, NULL, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_REFUSED, "Linux containers"));
}

/* ---- peers ---- */

/* A folder with self/ns/net and a process for each row; two processes share a namespace where they share its file. */
struct world {
	char path[64];
	int proc;
};

static void put_file(int folder, const char *path, const char *text)
{
	cleanup_fd int fd = openat(folder, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void world_process(const struct world *world, const char *name, const char *comm, const char *namespace_file)
{
	char path[64];

	CU_ASSERT_EQUAL(mkdirat(world->proc, name, 0700), 0);
	snprintf(path, sizeof(path), "%s/ns", name);
	CU_ASSERT_EQUAL(mkdirat(world->proc, path, 0700), 0);
	snprintf(path, sizeof(path), "%s/comm", name);
	put_file(world->proc, path, comm);
	snprintf(path, sizeof(path), "%s/ns/net", name);
	if (namespace_file)
		CU_ASSERT_EQUAL(linkat(world->proc, namespace_file, world->proc, path, 0), 0);
}

static void world_open(struct world *world)
{
	snprintf(world->path, sizeof(world->path), "/tmp/test_preflight-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(world->path));
	world->proc = open(world->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_file(world->proc, "ours", "");
	put_file(world->proc, "another", "");
	world_process(world, "self", "test\n", "ours");
	world_process(world, "1", "systemd\n", "ours");
	world_process(world, "7", "nginx\n", "ours");
}

static void world_close(struct world *world)
{
	cleanup_error struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, world->path, &err), 0);
	fd_close(&world->proc);
}
#define cleanup_world __attribute__((cleanup(world_close)))

static void test_peer_is_the_engine(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;
	int64_t engine = 0;

	world_open(&world);
	world_process(&world, "20", "dockerd\n", "ours");
	CU_ASSERT_EQUAL(preflight_peer_in(world.proc, 20, 0, &engine, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	CU_ASSERT_EQUAL(engine, 20);
}

static void test_socket_activation(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;
	int64_t engine = 0;

	world_open(&world);
	CU_ASSERT_TRUE(preflight_peer_in(world.proc, 1, 0, &engine, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_REFUSED, "not local"));
	world_process(&world, "20", "dockerd\n", "ours");
	CU_ASSERT_EQUAL(preflight_peer_in(world.proc, 1, 0, &engine, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	CU_ASSERT_EQUAL(engine, 20);
	world_process(&world, "21", "dockerd\n", "ours");
	CU_ASSERT_TRUE(preflight_peer_in(world.proc, 1, 0, &engine, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_REFUSED, "several"));
}

static void test_engine_is_pid_1(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;
	int64_t engine = 0;

	world_open(&world);
	put_file(world.proc, "1/comm", "dockerd\n");
	CU_ASSERT_EQUAL(preflight_peer_in(world.proc, 1, 0, &engine, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	CU_ASSERT_EQUAL(engine, 1);
}

static void test_other_network_namespace(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;
	int64_t engine = -5;

	world_open(&world);
	world_process(&world, "20", "dockerd\n", "another");
	CU_ASSERT_TRUE(preflight_peer_in(world.proc, 20, 0, &engine, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_REFUSED, "nsenter --net=/proc/20/ns/net"));
	CU_ASSERT_TRUE(preflight_peer_in(world.proc, 1, 0, &engine, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_REFUSED, "nsenter --net=/proc/20/ns/net"));
	CU_ASSERT_EQUAL(engine, -5);
}

static void test_unreadable_namespace(void)
{
	cleanup_world struct world world;
	struct error *err = NULL;
	int64_t engine = 0;

	world_open(&world);
	world_process(&world, "20", "dockerd\n", NULL);
	CU_ASSERT_TRUE(preflight_peer_in(world.proc, 20, 0, &engine, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_SYSTEM, "network namespace"));
}

static void test_refused_peers(void)
{
	static const struct {
		int pid;
		unsigned uid;
		const char *text;
	} rows[] = {
		{ 20, 1000, "user 1000" },     { 0, 0, "another PID namespace" },   { -1, 0, "another PID namespace" },
		{ 7, 0, "process 7, is not" }, { 4000, 0, "process 4000, is not" }, { 22, 0, "process 22, is not" },
	};
	cleanup_world struct world world;

	world_open(&world);
	world_process(&world, "20", "dockerd\n", "ours");
	world_process(&world, "22", "dockerd2\n", "ours");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;
		int64_t engine = 0;

		CU_ASSERT_TRUE(preflight_peer_in(world.proc, rows[i].pid, rows[i].uid, &engine, &err) < 0);
		CU_ASSERT_TRUE(test_error(&err, ERROR_REFUSED, rows[i].text));
	}
}

/* ---- findings ---- */

static void test_findings(void)
{
	static const char *const ids[] = { "linux",         "root",        "helpers", "core-pattern", "ipv6-loopback",
					   "engine-socket", "engine-peer", "engine",  "user-xattr" };
	struct preflight_finding findings[16];
	size_t count = preflight_findings("/nonexistent/engine.sock", findings, ARRAY_SIZE(findings));

	CU_ASSERT_EQUAL(count, ARRAY_SIZE(ids));
	for (size_t i = 0; i < count && i < ARRAY_SIZE(ids); i++) {
		CU_ASSERT_STRING_EQUAL(findings[i].id, ids[i]);
		CU_ASSERT_TRUE(findings[i].found[0] != '\0');
		/* What is there needs no mending, and everything else has one. */
		CU_ASSERT_EQUAL(findings[i].status == FINDING_OK, findings[i].mend == NULL);
		/* Without an engine nothing is known of it; the others are looked at all the same. */
		if (i >= 5)
			CU_ASSERT_EQUAL(findings[i].status, i == 5 ? FINDING_MISSING : FINDING_UNKNOWN);
		if (strcmp(findings[i].id, "root") == 0)
			CU_ASSERT_EQUAL(findings[i].status, geteuid() == 0 ? FINDING_OK : FINDING_MISSING);
		if (strcmp(findings[i].id, "ipv6-loopback") == 0)
			CU_ASSERT_EQUAL(findings[i].status, preflight_ipv6_loopback() ? FINDING_OK : FINDING_ABSENT);
	}
	CU_ASSERT_EQUAL(preflight_findings("/nonexistent/engine.sock", findings, 3), 3);
	CU_ASSERT_EQUAL(preflight_findings("/nonexistent/engine.sock", findings, 0), 0);
}

/* Each program that the Makefile puts into libexec, and no other. */
static void test_helpers(void)
{
	static const char before[] = "call program,libexec/";
	cleanup_buf struct buf makefile = BUF(MIB);
	struct error *err = NULL;
	size_t made = 0, listed = 0;

	CU_ASSERT_EQUAL(fd_read_file(AT_FDCWD, "Makefile", MIB, &makefile, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (const char *at = buf_string(&makefile); (at = strstr(at, before)); made++)
		at += strlen(before);
	for (; preflight_helpers[listed]; listed++) {
		char line[ID_MAX];

		snprintf(line, sizeof(line), "%s%s,", before, preflight_helpers[listed]);
		CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&makefile), line));
	}
	CU_ASSERT_EQUAL(listed, made);
}

/* What a manifest must list is what a run measures: the agent, these, and harness. */
static void test_measured(void)
{
	size_t count = 0;

	CU_ASSERT_STRING_EQUAL(manifest_program_names[0], "agent");
	for (; preflight_helpers[count] && manifest_program_names[1 + count]; count++)
		CU_ASSERT_STRING_EQUAL(manifest_program_names[1 + count], preflight_helpers[count]);
	CU_ASSERT_PTR_NULL(preflight_helpers[count]);
	CU_ASSERT(manifest_program_names[1 + count] && strcmp(manifest_program_names[1 + count], "harness") == 0);
	CU_ASSERT(manifest_program_names[1 + count] && !manifest_program_names[2 + count]);
}

/* The kernel's own list of addresses says the same, where it has one. */
static void test_ipv6_loopback(void)
{
	cleanup_fd int fd = open("/proc/net/if_inet6", O_RDONLY | O_CLOEXEC);
	char addresses[16384] = "";

	if (fd >= 0)
		CU_ASSERT_TRUE(read(fd, addresses, sizeof(addresses) - 1) >= 0);
	CU_ASSERT_EQUAL(preflight_ipv6_loopback(), strstr(addresses, "00000000000000000000000000000001 ") != NULL);
}

/* The same as what setting one gives, where a file can be made. */
static void test_user_xattr(void)
{
	static const char *const folders[] = { "/tmp", "/dev/shm", "/var/tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char path[64];
		cleanup_fd int fd = -1;

		snprintf(path, sizeof(path), "%s/harness-test-XXXXXX", folders[i]);
		fd = mkstemp(path);
		if (fd < 0)
			continue;
		CU_ASSERT_EQUAL(preflight_user_xattr(getpid(), folders[i]),
				fsetxattr(fd, "user.harness", "x", 1, 0) == 0);
		CU_ASSERT_EQUAL(unlink(path), 0);
	}
	CU_ASSERT_FALSE(preflight_user_xattr(getpid(), "/proc"));
	CU_ASSERT_FALSE(preflight_user_xattr(getpid(), "/nonexistent"));
	CU_ASSERT_FALSE(preflight_user_xattr(0, "/tmp"));
}

static CU_TestInfo host_tests[] = {
	{ "classes of core patterns", test_core_patterns },
	{ "this host's core pattern", test_core_pattern_of_this_host },
	{ "findings without an engine", test_findings },
	{ "helpers", test_helpers },
	{ "what a manifest must list", test_measured },
	{ "IPv6 loopback", test_ipv6_loopback },
	{ "attributes of users", test_user_xattr },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo engine_tests[] = {
	{ "the recorded engine", test_recorded_engine },
	{ "refused by name", test_refused_engines },
	{ "no answers", test_no_answers },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo peer_tests[] = {
	{ "the engine itself", test_peer_is_the_engine },
	{ "socket activation", test_socket_activation },
	{ "an engine that is pid 1", test_engine_is_pid_1 },
	{ "another network namespace", test_other_network_namespace },
	{ "a namespace that cannot be read", test_unreadable_namespace },
	{ "refused peers", test_refused_peers },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "host", NULL, NULL, NULL, NULL, host_tests },
	{ "engine", NULL, NULL, NULL, NULL, engine_tests },
	{ "peer", NULL, NULL, NULL, NULL, peer_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("preflight", suites);
}
