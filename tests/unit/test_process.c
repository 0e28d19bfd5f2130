/* What a program does about itself: core/process.c. Each test looks at a child, which this binary is too. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/child.h"

#define CHILD_HELPER "helper" /* prints the path of the helper named "tool", or its error */
#define CHILD_HARDEN "harden" /* hardens itself and prints what changed */
#define CHILD_ORPHAN "orphan" /* expects another parent than it has */
#define CHILD_CLOSED "closed" /* hardens itself with closed standard descriptors; its exit code says what followed */

#if defined(__SANITIZE_ADDRESS__)
#define DUMPABLE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DUMPABLE 1
#endif
#endif
#ifndef DUMPABLE
#define DUMPABLE 0
#endif

static int run_mode(const char *program, const char *mode, struct buf *out)
{
	char name[] = "test_process", argument[32];
	char *argv[] = { name, argument, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = program, .argv = argv, .survive_parent = true };

	snprintf(argument, sizeof(argument), "%s", mode);
	return run(&options, out);
}

/* mkdir -p for the folders above `path`. */
static void make_folders(int top, const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(top, part, 0700);
	}
}

static void copy_self(int top, const char *path)
{
	cleanup_fd int from = open(SELF, O_RDONLY | O_CLOEXEC);
	cleanup_fd int to = -1;
	char chunk[65536];
	ssize_t got;

	make_folders(top, path);
	to = openat(top, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	while ((got = read(from, chunk, sizeof(chunk))) > 0)
		CU_ASSERT_EQUAL(write(to, chunk, (size_t)got), got);
	CU_ASSERT_EQUAL(got, 0);
}

static void test_helper_path(void)
{
	static const struct {
		const char *program, *helper, *found; /* found: as spelled; NULL: not */
	} rows[] = {
		{ .program = "build/harness", .helper = "build/libexec/tool", .found = "build/libexec/tool" },
		{ .program = "build/libexec/bridge", .helper = "build/libexec/tool", .found = "build/libexec/tool" },
		{ .program = "build/tests/test",
		  .helper = "build/libexec/tool",
		  .found = "build/tests/../libexec/tool" },
		{ .program = "usr/bin/harness",
		  .helper = "usr/libexec/harness/tool",
		  .found = "usr/bin/../libexec/harness/tool" },
		{ .program = "usr/libexec/harness/bridge",
		  .helper = "usr/libexec/harness/tool",
		  .found = "usr/libexec/harness/tool" },
		{ .program = "harness/harness", .helper = "harness/tool", .found = NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char top[] = "/tmp/test_process.XXXXXX", program[PATH_MAX], found[PATH_MAX];
		cleanup_buf struct buf out = BUF(PATH_MAX);
		cleanup_fd int folder = -1;
		struct error *err = NULL;

		CU_ASSERT_PTR_NOT_NULL(mkdtemp(top));
		folder = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		copy_self(folder, rows[i].program);
		make_folders(folder, rows[i].helper);
		CU_ASSERT_EQUAL(fd_write_atomic(folder, rows[i].helper, "", 0, 0700, &err), 0);
		snprintf(program, sizeof(program), "%s/%s", top, rows[i].program);
		CU_ASSERT_EQUAL(run_mode(program, CHILD_HELPER, &out), rows[i].found ? 0 : 1);
		if (rows[i].found)
			snprintf(found, sizeof(found), "%s/%s", top, rows[i].found);
		else
			snprintf(found, sizeof(found), "the program tool is missing beside harness: run `make`");
		CU_ASSERT_STRING_EQUAL(buf_string(&out), found);
		CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, top, &err), 0);
		CU_ASSERT(test_no_error(&err));
	}
}

static void test_helper_refused(void)
{
	struct error *err = NULL;
	char out[PATH_MAX];

	CU_ASSERT(spawn_helper_path("../sh", out, sizeof(out), &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "not a name"));
	CU_ASSERT(spawn_helper_path("tool", out, 8, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "too long"));
}

static void test_harden(void)
{
	cleanup_buf struct buf out = BUF(200);
	char expected[100];

	CU_ASSERT_EQUAL(run_mode(SELF, CHILD_HARDEN, &out), 0);
	snprintf(expected, sizeof(expected), "core 0:0 dumpable %d pipe ignored size ignored child default death %d",
		 DUMPABLE, SIGKILL);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), expected);
}

static void test_orphan(void)
{
	cleanup_buf struct buf out = BUF(200);

	CU_ASSERT_EQUAL(run_mode(SELF, CHILD_ORPHAN, &out), 1);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "the parent is gone");
}

static void test_closed(void)
{
	cleanup_buf struct buf out = BUF(200);

	CU_ASSERT_EQUAL(run_mode(SELF, CHILD_CLOSED, &out), 0);
}

static int child_helper(void)
{
	cleanup_error struct error *err = NULL;
	char path[PATH_MAX];
	int r = spawn_helper_path("tool", path, sizeof(path), &err);

	fputs(r < 0 ? error_text(err) : path, stdout);
	return r < 0;
}

static int child_harden(void)
{
	cleanup_error struct error *err = NULL;
	struct sigaction pipe = { 0 }, size = { 0 }, child = { 0 };
	struct rlimit core = { .rlim_cur = 1, .rlim_max = 1 };
	int death = -1;

	signal(SIGCHLD, SIG_IGN);
	if (process_harden(true, getppid(), &err) < 0)
		return 1;
	getrlimit(RLIMIT_CORE, &core);
	sigaction(SIGPIPE, NULL, &pipe);
	sigaction(SIGXFSZ, NULL, &size);
	sigaction(SIGCHLD, NULL, &child);
	prctl(PR_GET_PDEATHSIG, &death);
	printf("core %llu:%llu dumpable %d pipe %s size %s child %s death %d", (unsigned long long)core.rlim_cur,
	       (unsigned long long)core.rlim_max, prctl(PR_GET_DUMPABLE),
	       pipe.sa_handler == SIG_IGN ? "ignored" : "kept", size.sa_handler == SIG_IGN ? "ignored" : "kept",
	       child.sa_handler == SIG_DFL ? "default" : "kept", death);
	return 0;
}

static int child_orphan(void)
{
	cleanup_error struct error *err = NULL;
	int r = process_harden(false, getpid(), &err);

	if (r < 0)
		return 2;
	/* Its own pid is never its parent's. */
	r = process_harden(true, getpid(), &err);
	fputs(error_text(err), stdout);
	return r == -ERROR_CLOSED;
}

/* The descriptors are filled, and take nothing. */
static int child_closed(void)
{
	cleanup_error struct error *err = NULL;
	int next;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (process_harden(false, 0, &err) < 0)
		return 1;
	next = dup(STDOUT_FILENO);
	if (next <= STDERR_FILENO)
		return 2;
	close(next);
	return write(STDOUT_FILENO, "x", 1) == 1 || write(STDERR_FILENO, "x", 1) == 1 ? 3 : 0;
}

static CU_TestInfo helper_tests[] = {
	{ "where helpers are found", test_helper_path },
	{ "refused", test_helper_refused },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo harden_tests[] = {
	{ "harden", test_harden },
	{ "another parent", test_orphan },
	{ "closed standard descriptors", test_closed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "helpers", .pTests = helper_tests },
	{ .pName = "harden", .pTests = harden_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, CHILD_HELPER) == 0)
		return child_helper();
	if (strcmp(mode, CHILD_HARDEN) == 0)
		return child_harden();
	if (strcmp(mode, CHILD_ORPHAN) == 0)
		return child_orphan();
	if (strcmp(mode, CHILD_CLOSED) == 0)
		return child_closed();
	return test_main("process", suites);
}
