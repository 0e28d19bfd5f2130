/* What a child of spawn() is born with: core/spawn.c. The child is this binary too, and shows it. */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "tests/unit/child.h"

#define NOBODY 65534
#define CHILD_SHOW "show" /* prints what it was born with */
#define CHILD_MIDDLE "middle" /* starts a cat, and ends */
#define CHILD_SURVIVED "survived" /* the same, and the cat shall live on */
#define CHILD_NETNS "netns" /* makes a network namespace, prints its name, waits for the end of stdin */

/* This binary as a child that shows what it was born with. */
static int run_show(struct spawn_options *options, struct buf *out)
{
	char *argv[] = { (char[]){ "test_spawn" }, (char[]){ CHILD_SHOW }, NULL };

	if (options->executable < 0)
		options->path = SELF;
	options->argv = argv;
	return run(options, out);
}

static bool born(const struct buf *out, const char *line)
{
	return strstr(buf_string(out), line) != NULL;
}

/* Ignored and blocked here, default and open there; and nothing of ours is changed by it. */
static void test_signals(void)
{
	struct spawn_options options = { SPAWN_DEFAULTS };
	cleanup_buf struct buf out = BUF(1000);
	struct sigaction action;
	sigset_t set, before, after;

	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	CU_ASSERT_EQUAL(run_show(&options, &out), 0);
	sigprocmask(SIG_SETMASK, &before, &after);
	CU_ASSERT(sigismember(&after, SIGTERM) && !sigismember(&after, SIGINT));
	sigaction(SIGPIPE, NULL, &action);
	CU_ASSERT_PTR_EQUAL(action.sa_handler, SIG_IGN);
	signal(SIGUSR1, SIG_DFL);
	CU_ASSERT(born(&out, "SigBlk:\t0000000000000000\n"));
	CU_ASSERT(born(&out, "SigIgn:\t0000000000000000\n"));
}

static void test_parent_death(void)
{
	for (int survive = 0; survive < 2; survive++) {
		struct spawn_options options = { SPAWN_DEFAULTS, .survive_parent = survive };
		cleanup_buf struct buf out = BUF(1000);

		CU_ASSERT_EQUAL(run_show(&options, &out), 0);
		CU_ASSERT(born(&out, survive ? "pdeathsig 0\n" : "pdeathsig 9\n"));
	}
}

static void test_session(void)
{
	for (int own = 0; own < 2; own++) {
		struct spawn_options options = { SPAWN_DEFAULTS, .new_session = own };
		cleanup_buf struct buf out = BUF(1000);

		CU_ASSERT_EQUAL(run_show(&options, &out), 0);
		CU_ASSERT(born(&out, own ? "session own\n" : "session inherited\n"));
	}
}

/* On one processor; where that is none of ours, as without the wish. */
static void test_cpu(void)
{
	int ours = sched_getcpu();
	char line[64];

	snprintf(line, sizeof(line), "Cpus_allowed_list:\t%d\n", ours);
	CU_ASSERT(ours >= 0);
	for (int far = 0; far < 2; far++) {
		struct spawn_options options = { SPAWN_DEFAULTS };
		cleanup_buf struct buf out = BUF(4000);

		options.cpu = far ? CPU_SETSIZE - 1 : ours;
		CU_ASSERT_EQUAL(run_show(&options, &out), 0);
		CU_ASSERT(born(&out, "Cpus_allowed_list:"));
		CU_ASSERT(far || born(&out, line));
	}
}

/* A cat between two pipes of ours, whose parent ends: it ends too, or it survives and answers. */
static void test_parent_ends(void)
{
	for (int survive = 0; survive < 2; survive++) {
		PIPE(in);
		PIPE(out);
		cleanup_child struct child middle = CHILD_NONE;
		cleanup_buf struct buf text = BUF(10);
		char mode[] = CHILD_SURVIVED, dying[] = CHILD_MIDDLE;
		char *argv[] = { (char[]){ "test_spawn" }, survive ? mode : dying, NULL };
		struct spawn_options options = { SPAWN_DEFAULTS, .path = SELF, .argv = argv };
		struct error *err = NULL;
		int status = -1;

		pipe_open(&in);
		pipe_open(&out);
		map(&options, in.reader, 0);
		map(&options, out.writer, 1);
		CU_ASSERT_EQUAL(spawn(&options, &middle, &err), 0);
		fd_close(&in.reader);
		fd_close(&out.writer);
		CU_ASSERT_EQUAL(child_wait(&middle, guard(), &status, &err), 0);
		CU_ASSERT_EQUAL(status, 0);
		if (survive) {
			CU_ASSERT_EQUAL(fd_write_all(in.writer, "alive", 5, guard(), &err), 0);
			fd_close(&in.writer);
		}
		CU_ASSERT_EQUAL(fd_read_all(out.reader, &text, guard(), &err), 0);
		CU_ASSERT_STRING_EQUAL(buf_string(&text), survive ? "alive" : "");
		CU_ASSERT(test_no_error(&err));
	}
}

static void test_privileges(void)
{
	static const char *const lines[] = {
		"Uid:\t65534\t65534\t65534\t65534\n",
		"Gid:\t65534\t65534\t65534\t65534\n",
		"Groups:\t \n",
		"CapInh:\t0000000000000000\n",
		"CapPrm:\t0000000000000000\n",
		"CapEff:\t0000000000000000\n",
		"CapAmb:\t0000000000000000\n",
		"NoNewPrivs:\t1\n",
		"pdeathsig 9\n",
	};
	cleanup_fd int executable = open(SELF, O_RDONLY | O_CLOEXEC);
	struct spawn_options options = {
		.executable = executable, .netns = -1, .cpu = -1, .drop_privileges = true, .uid = NOBODY, .gid = NOBODY
	};
	cleanup_buf struct buf out = BUF(1000);
	static const gid_t groups[] = { 1, 2 };
	int dumpable = prctl(PR_GET_DUMPABLE), groups_before;
	gid_t before[64];
	struct error *err = NULL;

	if (geteuid() != 0) {
		cleanup_child struct child child = CHILD_NONE;
		char *argv[] = { (char[]){ "test_spawn" }, (char[]){ CHILD_SHOW }, NULL };

		options.argv = argv;
		CU_ASSERT(spawn(&options, &child, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_SYSTEM, "dropping privileges"));
		return;
	}
	groups_before = getgroups(ARRAY_SIZE(before), before);
	CU_ASSERT(groups_before >= 0);
	CU_ASSERT_EQUAL(setgroups(ARRAY_SIZE(groups), groups), 0);
	CU_ASSERT_EQUAL(run_show(&options, &out), 0);
	CU_ASSERT_EQUAL(setgroups((size_t)groups_before, before), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		CU_ASSERT(born(&out, lines[i]));
	CU_ASSERT_EQUAL(prctl(PR_GET_DUMPABLE), dumpable);
	CU_ASSERT_EQUAL(geteuid(), 0);
}

/* One child makes a network namespace; another is born in it. */
static void test_netns(void)
{
	PIPE(in);
	PIPE(out);
	cleanup_child struct child holder = CHILD_NONE;
	cleanup_buf struct buf text = BUF(100);
	cleanup_fd int netns = -1;
	char *argv[] = { (char[]){ "test_spawn" }, (char[]){ CHILD_NETNS }, NULL };
	struct spawn_options hold = { SPAWN_DEFAULTS, .path = SELF, .argv = argv };
	struct spawn_options options = { SPAWN_DEFAULTS };
	char ours[64] = "", theirs[64] = "", path[64];
	struct error *err = NULL;

	pipe_open(&in);
	pipe_open(&out);
	map(&hold, in.reader, 0);
	map(&hold, out.writer, 1);
	CU_ASSERT_EQUAL(spawn(&hold, &holder, &err), 0);
	CU_ASSERT(test_no_error(&err));
	fd_close(&out.writer);
	if (fd_read_exact(out.reader, theirs, strlen("net:[4026531833]"), guard(), &err) < 0) {
		/* Only root may make one. */
		CU_ASSERT(geteuid() != 0);
		CU_ASSERT(test_error(&err, ERROR_CLOSED, "peer"));
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)holder.pid);
	netns = open(path, O_RDONLY | O_CLOEXEC);
	options.netns = netns;
	CU_ASSERT_EQUAL(run_shell(&options, "readlink /proc/self/ns/net", &text), 0);
	CU_ASSERT_EQUAL(strncmp(buf_string(&text), theirs, strlen(theirs)), 0);
	CU_ASSERT(readlink("/proc/self/ns/net", ours, sizeof(ours) - 1) > 0);
	CU_ASSERT_STRING_NOT_EQUAL(ours, theirs);
}

static int child_show(void)
{
	cleanup_buf struct buf status = BUF(16384);
	static const char *const wanted[] = { "Uid:", "Gid:",        "Groups:",           "Sig",
					      "Cap",  "NoNewPrivs:", "Cpus_allowed_list:" };
	struct error *err = NULL;
	int signal = -1;

	if (prctl(PR_GET_PDEATHSIG, &signal) < 0 ||
	    fd_read_file(AT_FDCWD, "/proc/self/status", 16384, &status, &err) < 0)
		return 1;
	printf("pdeathsig %d\nsession %s\n", signal, getsid(0) == getpid() ? "own" : "inherited");
	for (char *line = strtok(status.data, "\n"); line; line = strtok(NULL, "\n"))
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
				puts(line);
	return 0;
}

static int child_middle(bool survive)
{
	char *argv[] = { (char[]){ "cat" }, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/cat", .argv = argv, .survive_parent = survive };
	struct child child = CHILD_NONE;
	int r;

	map(&options, 0, 0);
	map(&options, 1, 1);
	r = spawn(&options, &child, NULL);
	fd_close(&child.pidfd);
	return r < 0;
}

static int child_netns(void)
{
	char name[64] = "";

	if (unshare(CLONE_NEWNET) < 0 || readlink("/proc/self/ns/net", name, sizeof(name) - 1) < 0)
		return 1;
	puts(name);
	fflush(stdout);
	return getchar() != EOF;
}

static CU_TestInfo birth_tests[] = {
	{ "signals", test_signals },
	{ "parent death signal", test_parent_death },
	{ "the parent ends", test_parent_ends },
	{ "session", test_session },
	{ "processor", test_cpu },
	{ "privileges", test_privileges },
	{ "network namespace", test_netns },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "birth", .pTests = birth_tests },
	CU_SUITE_INFO_NULL,
};

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, CHILD_SHOW) == 0)
		return child_show();
	if (strcmp(mode, CHILD_MIDDLE) == 0 || strcmp(mode, CHILD_SURVIVED) == 0)
		return child_middle(strcmp(mode, CHILD_SURVIVED) == 0);
	if (strcmp(mode, CHILD_NETNS) == 0)
		return child_netns();
	signal(SIGPIPE, SIG_IGN);
	return test_main("spawn_birth", suites);
}
