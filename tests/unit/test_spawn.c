#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/child.h"

static void test_status(void)
{
	static const struct {
		const char *script;
		int status;
	} rows[] = {
		{ .script = "exit 0", .status = 0 },
		{ .script = "exit 7", .status = 7 },
		{ .script = "kill -TERM $$", .status = 128 + SIGTERM },
		{ .script = "kill -KILL $$", .status = 128 + SIGKILL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spawn_options options = { SPAWN_DEFAULTS };
		cleanup_buf struct buf out = BUF(100);

		CU_ASSERT_EQUAL(run_shell(&options, rows[i].script, &out), rows[i].status);
	}
}

static void test_failures(void)
{
	static const struct {
		const char *part, *path, *directory;
		int from, netns, number;
	} rows[] = {
		{ .part = "/nonexistent: execve", .path = "/nonexistent", .from = 2, .netns = -1, .number = ENOENT },
		{ .part = "execve", .path = "/etc/passwd", .from = 2, .netns = -1, .number = EACCES },
		{ .part = "execve", .path = NULL, .from = 2, .netns = -1, .number = EACCES },
		{ .part = "chdir",
		  .path = "/bin/true",
		  .directory = "/nonexistent",
		  .from = 2,
		  .netns = -1,
		  .number = ENOENT },
		{ .part = "descriptors", .path = "/bin/true", .from = 9999, .netns = -1, .number = EBADF },
		{ .part = "descriptors", .path = "/bin/true", .from = 2, .netns = 9999, .number = EBADF },
		{ .part = "setns", .path = "/bin/true", .from = 2, .netns = 2, .number = EINVAL },
	};
	cleanup_fd int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *argv[] = { (char[]){ "program" }, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spawn_options options = { .path = rows[i].path,
						 .executable = folder,
						 .argv = argv,
						 .directory = rows[i].directory,
						 .netns = rows[i].netns };
		cleanup_child struct child child = CHILD_NONE;
		struct error *err = NULL;
		siginfo_t info;

		map(&options, rows[i].from, 2);
		CU_ASSERT(spawn(&options, &child, &err) < 0);
		CU_ASSERT_EQUAL(error_number(err), rows[i].number);
		CU_ASSERT(test_error(&err, ERROR_SYSTEM, rows[i].part));
		CU_ASSERT_EQUAL(child.pid, 0);
		CU_ASSERT_EQUAL(child.pidfd, -1);
		/* No dead child waits to be reaped. */
		CU_ASSERT_EQUAL(waitid(P_ALL, 0, &info, WEXITED | WNOHANG), -1);
		CU_ASSERT_EQUAL(errno, ECHILD);
	}
}

static void test_refused(void)
{
	char *argv[] = { (char[]){ "true" }, NULL };
	struct spawn_options twice = { SPAWN_DEFAULTS, .path = "/bin/true", .argv = argv };
	struct spawn_options many = twice, negative = twice, nothing = { SPAWN_DEFAULTS, .argv = argv };
	const struct spawn_options *const rows[] = { &twice, &many, &negative, &nothing };

	map(&twice, 2, 5);
	map(&twice, 1, 5);
	many.fds_count = SPAWN_FDS_MAX + 1;
	map(&negative, -1, 5);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_child struct child child = CHILD_NONE;
		struct error *err = NULL;

		CU_ASSERT(spawn(rows[i], &child, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INTERNAL, "spawn"));
		CU_ASSERT_EQUAL(child.pid, 0);
	}
}

/* Three pipes whose numbers are each other's targets: each word must reach the pipe that was mapped there. */
static void test_overlapping_map(void)
{
	PIPE(one);
	PIPE(two);
	PIPE(three);
	struct pipe *const pipes[] = { &one, &two, &three };
	struct spawn_options options = { SPAWN_DEFAULTS };
	cleanup_buf struct buf out = BUF(100);
	int targets[ARRAY_SIZE(pipes)];
	char script[256], word[16];

	for (size_t i = 0; i < ARRAY_SIZE(pipes); i++)
		pipe_open(pipes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(pipes); i++) {
		targets[i] = pipes[(i + 1) % ARRAY_SIZE(pipes)]->writer;
		map(&options, pipes[i]->writer, targets[i]);
	}
	snprintf(script, sizeof(script), "for fd in %d %d %d; do printf $fd >/proc/self/fd/$fd; done", targets[0],
		 targets[1], targets[2]);
	CU_ASSERT_EQUAL(run_shell(&options, script, &out), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pipes); i++) {
		struct error *err = NULL;

		fd_close(&pipes[i]->writer);
		buf_free(&out);
		CU_ASSERT_EQUAL(fd_read_all(pipes[i]->reader, &out, guard(), &err), 0);
		CU_ASSERT(test_no_error(&err));
		snprintf(word, sizeof(word), "%d", targets[i]);
		CU_ASSERT_STRING_EQUAL(buf_string(&out), word);
	}
}

/* What a child sees of descriptors that do not close on exec, at low numbers and high, mapped beside them or not. */
static void test_no_leak(void)
{
	cleanup_fd int low = open("/dev/zero", O_RDONLY);
	cleanup_fd int high = fcntl(low, F_DUPFD, 200);
	cleanup_fd int gap = fcntl(low, F_DUPFD, 7);
	cleanup_fd int executable = open("/bin/ls", O_RDONLY | O_CLOEXEC);
	char *argv[] = { (char[]){ "ls" }, (char[]){ "-m" }, (char[]){ "/proc/self/fd" }, NULL };

	for (int by_descriptor = 0; by_descriptor < 2; by_descriptor++) {
		for (int mapped = 0; mapped < 2; mapped++) {
			struct spawn_options options = { .path = by_descriptor ? NULL : "/bin/ls",
							 .executable = by_descriptor ? executable : -1,
							 .argv = argv,
							 .netns = -1 };
			cleanup_buf struct buf out = BUF(1000);

			if (mapped) {
				map(&options, high, 30);
				map(&options, low, 12);
			}
			CU_ASSERT_EQUAL(run(&options, &out), 0);
			/* 3 is what ls reads the folder by. */
			CU_ASSERT_STRING_EQUAL(buf_string(&out), mapped ? "0, 1, 12, 2, 3, 30\n" : "0, 1, 2, 3\n");
		}
	}
	CU_ASSERT(gap >= 7);
}

static void test_null_device(void)
{
	struct spawn_options options = { SPAWN_DEFAULTS };
	cleanup_buf struct buf out = BUF(100);

	CU_ASSERT_EQUAL(run_shell(&options, "readlink /proc/self/fd/0 /proc/self/fd/2", &out), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "/dev/null\n/dev/null\n");
}

static void test_environment(void)
{
	char *argv[] = { (char[]){ "env" }, NULL };
	char *envp[] = { (char[]){ "A=B" }, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/usr/bin/env", .argv = argv };
	cleanup_buf struct buf out = BUF(1000);

	CU_ASSERT_EQUAL(run(&options, &out), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "");
	options.fds_count = 0;
	options.envp = envp;
	CU_ASSERT_EQUAL(run(&options, &out), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "A=B\n");
}

static void test_directory(void)
{
	struct spawn_options options = { SPAWN_DEFAULTS, .directory = "/proc" };
	cleanup_buf struct buf out = BUF(100);

	CU_ASSERT_EQUAL(run_shell(&options, "pwd -P", &out), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), "/proc\n");
}

static void start_cat(struct pipe *in, struct child *child)
{
	char *argv[] = { (char[]){ "cat" }, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/cat", .argv = argv };
	struct error *err = NULL;

	pipe_open(in);
	map(&options, in->reader, 0);
	CU_ASSERT_EQUAL(spawn(&options, child, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(fcntl(child->pidfd, F_GETFD), FD_CLOEXEC);
}

static void test_wait_timeout(void)
{
	PIPE(in);
	cleanup_child struct child child = CHILD_NONE;
	struct error *err = NULL;
	int64_t start = clock_now();
	int status = -1;

	start_cat(&in, &child);
	CU_ASSERT(child_wait(&child, clock_deadline(20), &status, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_TIMEOUT, "child"));
	CU_ASSERT(clock_now() - start >= 20 * NS_PER_MS);
	CU_ASSERT(child_running(&child));
	fd_close(&in.writer);
	CU_ASSERT_EQUAL(child_wait(&child, guard(), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT(!child_running(&child));
	CU_ASSERT_EQUAL(child.pidfd, -1);
	CU_ASSERT(child_wait(&child, guard(), &status, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, "no child"));
}

static void test_signal_and_end(void)
{
	PIPE(in);
	PIPE(again);
	struct child child = CHILD_NONE;
	struct error *err = NULL;
	siginfo_t info;
	int status = -1;

	CU_ASSERT(child_signal(&child, SIGTERM) < 0);
	start_cat(&in, &child);
	CU_ASSERT_EQUAL(child_signal(&child, SIGTERM), 0);
	CU_ASSERT_EQUAL(child_wait(&child, guard(), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(status, 128 + SIGTERM);
	start_cat(&again, &child);
	child_end(&child);
	CU_ASSERT_EQUAL(child.pid, 0);
	CU_ASSERT_EQUAL(child.pidfd, -1);
	CU_ASSERT(!child_running(&child));
	child_end(&child);
	child_end(NULL);
	CU_ASSERT_EQUAL(waitid(P_ALL, 0, &info, WEXITED | WNOHANG), -1);
}

/* Looking does not use up what is looked at. */
static void test_stopped(void)
{
	PIPE(in);
	cleanup_child struct child child = CHILD_NONE;
	siginfo_t info;

	CU_ASSERT_FALSE(child_stopped(&child));
	start_cat(&in, &child);
	CU_ASSERT_FALSE(child_stopped(&child));
	CU_ASSERT_EQUAL(child_signal(&child, SIGSTOP), 0);
	CU_ASSERT_EQUAL(waitid(P_PIDFD, (id_t)child.pidfd, &info, WSTOPPED | WNOWAIT), 0);
	for (int i = 0; i < 2; i++)
		CU_ASSERT(child_stopped(&child));
	CU_ASSERT_EQUAL(child_signal(&child, SIGCONT), 0);
	CU_ASSERT_EQUAL(waitid(P_PIDFD, (id_t)child.pidfd, &info, WCONTINUED), 0);
	CU_ASSERT_FALSE(child_stopped(&child));
	CU_ASSERT_EQUAL(child_signal(&child, SIGKILL), 0);
	CU_ASSERT_EQUAL(fd_wait(child.pidfd, POLLIN, guard(), NULL), 1);
	CU_ASSERT_FALSE(child_stopped(&child));
}

static CU_TestInfo start_tests[] = {
	{ "exit status", test_status },      { "failures before the program runs", test_failures },
	{ "refused options", test_refused }, { "environment", test_environment },
	{ "directory", test_directory },     CU_TEST_INFO_NULL,
};

static CU_TestInfo descriptor_tests[] = {
	{ "overlapping map", test_overlapping_map },
	{ "no leak", test_no_leak },
	{ "null device", test_null_device },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo end_tests[] = {
	{ "wait: deadline", test_wait_timeout },
	{ "signal and end", test_signal_and_end },
	{ "stopped", test_stopped },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "start", .pTests = start_tests },
	{ .pName = "descriptors", .pTests = descriptor_tests },
	{ .pName = "end", .pTests = end_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("spawn", suites);
}
