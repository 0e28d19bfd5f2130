/* Another process's folder in /proc: its parent and its name, which may be chosen to mislead. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/proc.h"
#include "tests/unit/test.h"

struct named {
	pid_t pid;
	int folder;
};

/* A child of that name, which is there once this returns. */
static struct named named_start(const char *name)
{
	struct named named = { .folder = -1 };
	int ready[2];
	char path[32], byte;

	CU_ASSERT_EQUAL(pipe2(ready, O_CLOEXEC), 0);
	named.pid = fork();
	if (named.pid == 0) {
		prctl(PR_SET_NAME, name);
		(void)!write(ready[1], "", 1);
		for (;;)
			pause();
	}
	CU_ASSERT(named.pid > 0);
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	snprintf(path, sizeof(path), "/proc/%d", (int)named.pid);
	named.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT(named.folder >= 0);
	return named;
}

static void named_end(struct named *named)
{
	/* A number that is none would be everybody. */
	if (named->pid <= 0)
		return;
	kill(named->pid, SIGKILL);
	CU_ASSERT_EQUAL(waitpid(named->pid, NULL, 0), named->pid);
}

static void test_parent(void)
{
	static const char *const names[] = { "plain", "a) S 1 (b", ")", "(((", "a b c" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct named named = named_start(names[i]);

		CU_ASSERT_EQUAL(proc_parent(named.folder), getpid());
		named_end(&named);
		CU_ASSERT_EQUAL(proc_parent(named.folder), -1);
		fd_close(&named.folder);
	}
	CU_ASSERT_EQUAL(proc_parent(-1), -1);
}

static void test_name(void)
{
	static const struct {
		const char *name, *asked;
		bool same;
	} rows[] = {
		{ "dockerd", "dockerd", true },
		{ "dockerd", "docker", false },
		{ "docker", "dockerd", false },
		{ "docker\nd", "docker", false },
		/* The kernel keeps 15 bytes. */
		{ "containerd-shim-runc-v2", "containerd-shim", true },
		{ "containerd-shim-runc-v2", "containerd-shim-runc-v2", false },
		{ "containerd", "containerd-shim", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct named named = named_start(rows[i].name);

		CU_ASSERT_EQUAL(proc_named(named.folder, rows[i].asked), rows[i].same);
		named_end(&named);
		CU_ASSERT_FALSE(proc_named(named.folder, rows[i].asked));
		fd_close(&named.folder);
	}
	CU_ASSERT_FALSE(proc_named(-1, "dockerd"));
}

static CU_TestInfo tests[] = {
	{ "parent", test_parent },
	{ "name", test_name },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "proc", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("proc", suites);
}
