/* What a program that was started leaves behind, and who ends it: in a process of its own, since it adopts. */
#include <signal.h>
#include <sys/prctl.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "core/strays.h"
#include "tests/unit/test.h"

#define WAIT_MS 5000

/* A shell that says the number of what it starts in a session of its own, and ends. */
static pid_t leave_behind(const char *script)
{
	cleanup_child struct child child = CHILD_NONE;
	cleanup_fd int out_read = -1, out_write = -1;
	char name[] = "sh", flag[] = "-c", text[256], line[32] = "";
	char *argv[] = { name, flag, text, NULL };
	struct error *err = NULL;
	int status = -1;

	snprintf(text, sizeof(text), "%s", script);
	CU_ASSERT_EQUAL(fd_pipe(&out_read, &out_write, &err), 0);

	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/sh", .argv = argv,
					 .fds = { { .from = out_write, .to = 1 } }, .fds_count = 1 };
	CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
	fd_close(&out_write);
	CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(WAIT_MS), &status, &err), 0);
	for (size_t at = 0; at < sizeof(line) - 1 && (at == 0 || line[at - 1] != '\n'); at++)
		if (fd_read_exact(out_read, &line[at], 1, clock_deadline(WAIT_MS), &err) < 0)
			break;
	CU_ASSERT(test_no_error(&err));
	return (pid_t)strtol(line, NULL, 10);
}

static bool lives(pid_t pid)
{
	return pid > 0 && kill(pid, 0) == 0;
}

static void ended_with_its_session(void)
{
	struct strays strays;
	struct error *err = NULL;
	pid_t pid;

	CU_ASSERT_EQUAL(strays_adopt(&strays, &err), 0);
	CU_ASSERT(test_no_error(&err));
	pid = leave_behind("setsid /bin/sleep 60 >/dev/null & echo $!");
	CU_ASSERT_TRUE(lives(pid));
	CU_ASSERT_EQUAL(strays_end(&strays, NULL, clock_deadline(WAIT_MS)), 1);
	CU_ASSERT_FALSE(lives(pid));
	CU_ASSERT_EQUAL(strays_end(&strays, NULL, clock_deadline(WAIT_MS)), 0);
}

/* What is killed leaves its own behind, which is ended too. */
static void and_what_that_leaves(void)
{
	struct strays strays;
	struct error *err = NULL;
	pid_t pid;

	CU_ASSERT_EQUAL(strays_adopt(&strays, &err), 0);
	CU_ASSERT(test_no_error(&err));
	pid = leave_behind("/bin/sh -c 'setsid /bin/sleep 60 >/dev/null & echo $!; exec >/dev/null; wait' & read x");
	CU_ASSERT_TRUE(lives(pid));
	CU_ASSERT_EQUAL(strays_end(&strays, NULL, clock_deadline(WAIT_MS)), 2);
	CU_ASSERT_FALSE(lives(pid));
}

/* Children that were there before, and a program that is to be spared, live on. */
static void spares(void)
{
	cleanup_child struct child own = CHILD_NONE;
	char name[] = "sleep", time[] = "60";
	char *argv[] = { name, time, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/sleep", .argv = argv };
	char program[256] = "", link[64];
	struct strays strays, everything;
	struct error *err = NULL;
	ssize_t length;
	pid_t pid;

	CU_ASSERT_EQUAL(spawn(&options, &own, &err), 0);
	CU_ASSERT_EQUAL(strays_adopt(&strays, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(strays.known_count, 1);
	pid = leave_behind("setsid /bin/sleep 60 >/dev/null & echo $!");
	snprintf(link, sizeof(link), "/proc/%d/exe", own.pid);
	length = readlink(link, program, sizeof(program) - 1);
	CU_ASSERT(length > 0);
	/* It may still be the shell that starts it. */
	for (int64_t end = clock_deadline(WAIT_MS); clock_now() < end;) {
		char now[256] = "";

		snprintf(link, sizeof(link), "/proc/%d/exe", pid);
		if (readlink(link, now, sizeof(now) - 1) > 0 && strcmp(now, program) == 0)
			break;
	}
	CU_ASSERT_EQUAL(strays_end(&strays, program, clock_deadline(WAIT_MS)), 0);
	CU_ASSERT_TRUE(lives(pid));
	CU_ASSERT_EQUAL(strays_end(&strays, NULL, clock_deadline(WAIT_MS)), 1);
	CU_ASSERT_FALSE(lives(pid));
	CU_ASSERT_TRUE(child_running(&own));
	everything = (struct strays){ .adopts = false };
	CU_ASSERT_EQUAL(strays_end(&everything, NULL, clock_deadline(WAIT_MS)), 0);
	CU_ASSERT_TRUE(child_running(&own));
}

static CU_TestInfo tests[] = {
	{ "whatever session it is in", ended_with_its_session },
	{ "and what that leaves", and_what_that_leaves },
	{ "but not what was there, or is spared", spares },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "strays", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("strays", suites);
}
