/* observer-state, the real program, with a real child; and the parser of its limits. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/spawn.h"
#include "observers/limits_file.h"
#include "tests/unit/observing.h"
#include "tests/unit/writer.h"

#define ID64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CREATE "{\"Type\":\"container\",\"Action\":\"create\",\"Actor\":{\"ID\":\"" ID64 "\"}}\n"
#define START "{\"Type\":\"container\",\"Action\":\"start\",\"Actor\":{\"ID\":\"" ID64 "\"}}\n"
#define NETWORK "{\"Type\":\"network\",\"Action\":\"start\",\"Actor\":{\"ID\":\"" ID64 "\"}}\n"

/* A process that lives until it is told otherwise, and a folder that stands for its cgroup. */
struct subject {
	struct child child;
	char folder[32];
	int cgroup;
};

static bool write_procs(const struct subject *subject, const char *text)
{
	struct error *err = NULL;
	int r = fd_write_atomic(subject->cgroup, "cgroup.procs", text, strlen(text), 0600, &err);

	return test_no_error(&err) && r == 0;
}

static bool subject_start(struct subject *subject)
{
	struct error *err = NULL;
	cleanup_fd int read_end = -1, write_end = -1;
	char program[] = "cat";
	char *argv[] = { program, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/cat", .argv = argv };

	*subject = (struct subject){ .child = CHILD_NONE, .folder = "/tmp/harness-state-XXXXXX", .cgroup = -1 };
	if (!mkdtemp(subject->folder))
		return false;
	subject->cgroup = open(subject->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd_pipe(&read_end, &write_end, &err) < 0)
		return test_no_error(&err);
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = read_end, .to = STDIN_FILENO };
	/* Its input never ends: the child holds the other end itself. */
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = write_end, .to = 5 };
	return spawn(&options, &subject->child, &err) == 0 && test_no_error(&err) && write_procs(subject, "1\n");
}

static void subject_end(struct subject *subject)
{
	struct error *err = NULL;

	child_end(&subject->child);
	fd_close(&subject->cgroup);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, subject->folder, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}
#define cleanup_subject __attribute__((cleanup(subject_end)))

/* As a container's end: its process is gone and its cgroup is empty. */
static bool subject_die(struct subject *subject)
{
	struct error *err = NULL;

	child_signal(&subject->child, SIGKILL);
	return fd_wait(subject->child.pidfd, POLLIN, clock_deadline(1000), &err) == 1 && test_no_error(&err) &&
	       write_procs(subject, "");
}

static bool give_life(struct observing *observing, const struct subject *subject)
{
	return observing_give(observing, "pidfd", subject->child.pidfd) &&
	       observing_give(observing, "cgroup", subject->cgroup);
}

static bool give_text(struct observing *observing, const char *input, const char *text)
{
	struct error *err = NULL;
	cleanup_fd int read_end = -1, write_end = -1;

	if (fd_pipe(&read_end, &write_end, &err) < 0 ||
	    fd_write_all(write_end, text, strlen(text), clock_deadline(1000), &err) < 0)
		return test_no_error(&err);
	return observing_give(observing, input, read_end);
}

static bool ready(struct observing *observing)
{
	return observing_start(observing, "state", NULL) && observing_ready(observing);
}

static const struct wire_record *measure(const struct observing *observing, const char *name)
{
	return observing_record(observing, "state", name);
}

static void alive_and_dead(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_subject struct subject subject = { 0 };
	struct error *err = NULL;

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(give_life(&observing, &subject));
	CU_ASSERT_TRUE(observing_seen(&observing, "state", WIRE_BEFORE));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(measure(&observing, "alive")->value, 1);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->beacon_before, 1);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->beacon_after, 0);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->kind, WIRE_STATE);
	CU_ASSERT_STRING_EQUAL(measure(&observing, "alive")->unit, "bool");
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->value, -1);
	CU_ASSERT_EQUAL(observer_loss(observing.process, clock_now(), &err), 0);
	CU_ASSERT_TRUE(subject_die(&subject));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "alive")->value, 0);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->beacon_after, 1);
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->status, WIRE_OBSERVED);
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->reason, WIRE_REASON_NONE);
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->kind, WIRE_DURATION);
	CU_ASSERT_STRING_EQUAL(measure(&observing, "loss_to_dead")->unit, "ns");
	CU_ASSERT_TRUE(measure(&observing, "loss_to_dead")->value > 0);
	CU_ASSERT_TRUE(measure(&observing, "loss_to_dead")->value < 2 * NS_PER_S);
	CU_ASSERT_TRUE(test_no_error(&err));
}

/* Dead before anything was lost: of something else, and in no time of the loss's. */
static void dies_before_the_loss(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_subject struct subject subject = { 0 };
	struct error *err = NULL;

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(give_life(&observing, &subject));
	CU_ASSERT_TRUE(subject_die(&subject));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_EQUAL(observer_loss(observing.process, clock_now(), &err), 0);
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->reason, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->status, WIRE_NOT_OBSERVABLE);
	CU_ASSERT_TRUE(test_no_error(&err));
}

static void survives_the_loss(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_subject struct subject subject = { 0 };
	struct error *err = NULL;

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(give_life(&observing, &subject));
	CU_ASSERT_EQUAL(observer_loss(observing.process, clock_now() - 5 * NS_PER_S, &err), 0);
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "alive")->value, 1);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->beacon_after, 1);
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->reason, WIRE_REASON_CENSORED);
	CU_ASSERT_EQUAL(measure(&observing, "loss_to_dead")->status, WIRE_OBSERVED);
	CU_ASSERT_TRUE(measure(&observing, "loss_to_dead")->value >= 5 * NS_PER_S);
	CU_ASSERT_TRUE(test_no_error(&err));
}

/* Pidfd and cgroup contradict each other: no control after; alive as long as anything is left. */
static void contradictions(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_subject struct subject subject = { 0 };

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(give_life(&observing, &subject));
	CU_ASSERT_TRUE(subject_die(&subject));
	CU_ASSERT_TRUE(write_procs(&subject, "17\n"));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "alive")->value, 1);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->beacon_after, 0);
}

/* A process that was dead when it was shown proves nothing. */
static void dead_from_the_start(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_subject struct subject subject = { 0 };

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_TRUE(subject_die(&subject));
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(give_life(&observing, &subject));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "alive")->value, 0);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->beacon_before, 0);
}

/* The folder goes with its last process. */
static void cgroup_vanishes(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_subject struct subject subject = { 0 };

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(give_life(&observing, &subject));
	CU_ASSERT_TRUE(observing_seen(&observing, "state", WIRE_BEFORE));
	CU_ASSERT_TRUE(subject_die(&subject));
	CU_ASSERT_EQUAL(unlinkat(subject.cgroup, "cgroup.procs", 0), 0);
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "alive")->value, 0);
	CU_ASSERT_EQUAL(measure(&observing, "alive")->beacon_after, 1);
}

static void without_inputs(void)
{
	static const char *const names[] = { "core-limit-soft", "core-limit-hard", "restarts",  "starts",
					     "alive",           "exit-code",       "processes", "process-limit",
					     "memory",          "oom-kills",       "written",   "attempted" };
	cleanup_observing struct observing observing = { 0 };

	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(observing.count, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CU_ASSERT_EQUAL(measure(&observing, names[i])->reason, WIRE_REASON_INPUT_MISSING);
		CU_ASSERT_EQUAL(measure(&observing, names[i])->status, WIRE_NOT_OBSERVABLE);
		CU_ASSERT_EQUAL(measure(&observing, names[i])->beacon_before, 0);
	}
}

static void core_limits(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_subject struct subject subject = { 0 };
	const struct rlimit limit = { .rlim_cur = 0, .rlim_max = 0 };
	char path[32];
	cleanup_fd int proc = -1;

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_EQUAL(prlimit(subject.child.pid, RLIMIT_CORE, &limit, NULL), 0);
	snprintf(path, sizeof(path), "/proc/%d", subject.child.pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(observing_give(&observing, "proc", proc));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_TRUE(subject_die(&subject));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "core-limit-soft")->value, 0);
	CU_ASSERT_EQUAL(measure(&observing, "core-limit-hard")->value, 0);
	CU_ASSERT_EQUAL(measure(&observing, "core-limit-soft")->reason, WIRE_REASON_NONE);
	CU_ASSERT_STRING_EQUAL(measure(&observing, "core-limit-hard")->unit, "bytes");
	/* The parent of this process is no engine's shim. */
	CU_ASSERT_EQUAL(measure(&observing, "written")->reason, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(measure(&observing, "attempted")->reason, WIRE_REASON_INPUT_INVALID);
}

/* A lower bound until its end was seen. This process is the shim, and writes a few orders. */
static void bytes_written(void)
{
	static const char *const names[] = { "written", "attempted" };
	cleanup_observing struct observing observing = { 0 };
	cleanup_writer struct writer writer = { .child = CHILD_NONE };
	cleanup_fd int cgroup = open("/proc/self/fdinfo", O_PATH | O_DIRECTORY | O_CLOEXEC);

	parent_is("containerd-shim");
	CU_ASSERT_TRUE(writer_start(&writer));
	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(observing_give(&observing, "pidfd", writer.child.pidfd));
	CU_ASSERT_TRUE(observing_give(&observing, "cgroup", cgroup));
	CU_ASSERT_TRUE(observing_give(&observing, "proc", writer.proc));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_TRUE(measure(&observing, "written")->value < KIB);
	CU_ASSERT_TRUE(writer_write(&writer));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_BEFORE));
	CU_ASSERT_TRUE(measure(&observing, "written")->value >= WRITER_BYTES);
	CU_ASSERT_EQUAL(measure(&observing, "written")->reason, WIRE_REASON_CENSORED);
	CU_ASSERT_TRUE(writer_kill(&writer));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct wire_record *record = measure(&observing, names[i]);

		CU_ASSERT_TRUE(record->value >= WRITER_BYTES && record->value < WRITER_BYTES + KIB);
		CU_ASSERT_EQUAL(record->reason, WIRE_REASON_NONE);
		CU_ASSERT_EQUAL(record->kind, WIRE_COUNT);
		CU_ASSERT_STRING_EQUAL(record->unit, "bytes");
	}
}

static void core_limits_of_no_process(void)
{
	cleanup_observing struct observing observing = { 0 };
	cleanup_fd int folder = open("/proc/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);

	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(observing_give(&observing, "proc", folder));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "core-limit-soft")->reason, WIRE_REASON_INPUT_INVALID);
	CU_ASSERT_EQUAL(measure(&observing, "core-limit-hard")->reason, WIRE_REASON_INPUT_INVALID);
}

#define ROW(columns) "Limit                     Soft Limit           Hard Limit           Units\n" columns "\n"
static void parse_limits(void)
{
	static const struct {
		const char *text;
		bool valid;
		int64_t soft, hard;
	} rows[] = {
		{ ROW("Max core file size        0                    0                    bytes     "), true, 0, 0 },
		{ ROW("Max core file size        0                    unlimited            bytes"), true, 0,
		  INT64_MAX },
		{ ROW("Max core file size        1024                 4096                 bytes"), true, 1024, 4096 },
		{ ROW("Max core file size        18446744073709551615 18446744073709551615 bytes"), true, INT64_MAX,
		  INT64_MAX },
		{ ROW("Max core file size        99999999999999999999 0                    bytes"), false, 0, 0 },
		{ ROW("Max core file size        -1                   0                    bytes"), false, 0, 0 },
		{ ROW("Max core file size        0                    bytes"), false, 0, 0 },
		{ ROW("Max core file size        0                    0                    us"), false, 0, 0 },
		{ ROW("Max core file size"), false, 0, 0 },
		{ ROW("Max file size             unlimited            unlimited            bytes"), false, 0, 0 },
		{ "", false, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct core_limit limit = { .soft = -1, .hard = -1 };

		CU_ASSERT_EQUAL(core_limit_parse(rows[i].text, &limit), rows[i].valid);
		CU_ASSERT_EQUAL(limit.soft, rows[i].valid ? rows[i].soft : -1);
		CU_ASSERT_EQUAL(limit.hard, rows[i].valid ? rows[i].hard : -1);
	}
}

static void restarts(void)
{
	static const struct {
		const char *document;
		enum wire_reason reason;
		int64_t value;
		int64_t exit_code; /* -1: none */
	} cases[] = {
		{ "{\"Id\":\"" ID64 "\",\"State\":{\"ExitCode\":139},\"RestartCount\":0}", WIRE_REASON_NONE, 0, 139 },
		{ "{\"Id\":\"" ID64 "\",\"State\":{\"ExitCode\":\"1\"},\"RestartCount\":0}", WIRE_REASON_NONE, 0, -1 },
		{ "{\"Id\":\"" ID64 "\",\"State\":{},\"RestartCount\":0}", WIRE_REASON_NONE, 0, -1 },
		{ "{\"Id\":\"" ID64 "\",\"State\":{},\"RestartCount\":3}", WIRE_REASON_NONE, 3, -1 },
		{ "{\"Id\":\"\",\"State\":{},\"RestartCount\":0}", WIRE_REASON_INPUT_INVALID, 0, -1 },
		{ "{\"Id\":\"" ID64 "\",\"State\":{}}", WIRE_REASON_INPUT_INVALID, 0, -1 },
		{ "{\"Id\":\"" ID64 "\",\"RestartCount\":0}", WIRE_REASON_INPUT_INVALID, 0, -1 },
		{ "{\"Id\":\"" ID64 "\",\"State\":{},\"RestartCount\":0", WIRE_REASON_INPUT_INVALID, 0, -1 },
		{ "{\"message\":\"No such container\"}", WIRE_REASON_INPUT_INVALID, 0, -1 },
		{ "", WIRE_REASON_INPUT_INVALID, 0, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_observing struct observing observing = { 0 };

		CU_ASSERT_TRUE(ready(&observing));
		CU_ASSERT_TRUE(give_text(&observing, "inspect", cases[i].document));
		CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
		CU_ASSERT_EQUAL(measure(&observing, "restarts")->reason, cases[i].reason);
		CU_ASSERT_EQUAL(measure(&observing, "restarts")->value, cases[i].value);
		CU_ASSERT_EQUAL(measure(&observing, "exit-code")->reason,
				cases[i].exit_code < 0 ? WIRE_REASON_INPUT_INVALID : WIRE_REASON_NONE);
		if (cases[i].exit_code >= 0)
			CU_ASSERT_EQUAL(measure(&observing, "exit-code")->value, cases[i].exit_code);
	}
}

static void starts(void)
{
	static const struct {
		const char *lines;
		enum wire_reason reason;
		int64_t value;
	} cases[] = {
		{ CREATE START, WIRE_REASON_NONE, 1 },
		{ CREATE START NETWORK START, WIRE_REASON_NONE, 2 },
		{ CREATE, WIRE_REASON_NONE, 0 },
		{ START, WIRE_REASON_TRUNCATED, 1 },
		{ "", WIRE_REASON_TRUNCATED, 0 },
		{ CREATE START "{\"Type\"", WIRE_REASON_TRUNCATED, 1 },
		{ CREATE "no JSON\n" START, WIRE_REASON_INPUT_INVALID, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_observing struct observing observing = { 0 };

		CU_ASSERT_TRUE(ready(&observing));
		CU_ASSERT_TRUE(give_text(&observing, "events", cases[i].lines));
		CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
		CU_ASSERT_EQUAL(measure(&observing, "starts")->reason, cases[i].reason);
		CU_ASSERT_EQUAL(measure(&observing, "starts")->value, cases[i].value);
	}
}

/* ---- changes ---------------------------------------------------------------------------------- */

#define ANSWER(name, pids, networks)                                                                                   \
	"{\"Name\":\"" name "\",\"HostConfig\":{\"PidsLimit\":" pids "},\"NetworkSettings\":{\"Networks\":" networks   \
	"}}"
#define ADMITTED ANSWER("/a", "32", "{\"none\":{}}")

static const char *const outlived_measures[] = { "renamed", "limits-changed", "networks-changed" };

/* A window of a loss that closes with the process alive or dead, and what the engine said before and then. */
static void close_window(struct observing *observing, bool alive, const char *window)
{
	cleanup_subject struct subject subject = { 0 };
	struct error *err = NULL;

	CU_ASSERT_TRUE(subject_start(&subject));
	CU_ASSERT_TRUE(ready(observing));
	CU_ASSERT_TRUE(give_life(observing, &subject));
	CU_ASSERT_TRUE(observing_seen(observing, "state", WIRE_BEFORE));
	CU_ASSERT_TRUE(give_text(observing, "inspect-before", ADMITTED));
	CU_ASSERT_EQUAL(observer_loss(observing->process, clock_now(), &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	if (!alive)
		CU_ASSERT_TRUE(subject_die(&subject));
	if (window)
		CU_ASSERT_TRUE(give_text(observing, "inspect-window", window));
	CU_ASSERT_TRUE(observing_report(observing, WIRE_BEFORE));
	if (alive)
		CU_ASSERT_TRUE(subject_die(&subject));
	CU_ASSERT_TRUE(observing_report(observing, WIRE_AFTER));
}

static void outlived(void)
{
	static const struct {
		bool alive;
		const char *window;
		enum wire_reason reason;
		int64_t values[ARRAY_SIZE(outlived_measures)];
	} cases[] = {
		{ true, ADMITTED, WIRE_REASON_NONE, { 0, 0, 0 } },
		{ true, ANSWER("/b", "32", "{\"none\":{}}"), WIRE_REASON_NONE, { 1, 0, 0 } },
		{ true, ANSWER("/a", "64", "{\"none\":{}}"), WIRE_REASON_NONE, { 0, 1, 0 } },
		{ true, ANSWER("/a", "32", "{}"), WIRE_REASON_NONE, { 0, 0, 1 } },
		{ true, ANSWER("/b", "64", "{\"bridge\":{}}"), WIRE_REASON_NONE, { 1, 1, 1 } },
		/* Who is dead outlived nothing, whatever the engine says. */
		{ false, ANSWER("/b", "64", "{}"), WIRE_REASON_NONE, { 0, 0, 0 } },
		{ false, NULL, WIRE_REASON_NONE, { 0, 0, 0 } },
		{ true, NULL, WIRE_REASON_INPUT_MISSING, { 0, 0, 0 } },
		{ true, "{}", WIRE_REASON_INPUT_INVALID, { 0, 0, 0 } },
		{ true, "", WIRE_REASON_INPUT_INVALID, { 0, 0, 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_observing struct observing observing = { 0 };

		close_window(&observing, cases[i].alive, cases[i].window);
		for (size_t m = 0; m < ARRAY_SIZE(outlived_measures); m++) {
			const struct wire_record *record = measure(&observing, outlived_measures[m]);

			CU_ASSERT_EQUAL(record->reason, cases[i].reason);
			CU_ASSERT_EQUAL(record->value, cases[i].values[m]);
			CU_ASSERT_STRING_EQUAL(record->unit, "bool");
		}
	}
}

/* Over the host's, in a mount namespace of this test's own. */
static bool cover_pattern(const char *pattern)
{
	char path[] = "/tmp/harness-pattern-XXXXXX";
	cleanup_fd int fd = mkostemp(path, O_CLOEXEC);
	bool covered = fd >= 0 && write(fd, pattern, strlen(pattern)) == (ssize_t)strlen(pattern) &&
		       unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		       mount(path, "/proc/sys/kernel/core_pattern", NULL, MS_BIND, NULL) == 0;

	unlink(path);
	return covered;
}

static void outlived_pattern(void)
{
	static const struct {
		const char *pattern;
		bool alive;
		int64_t value;
	} cases[] = {
		{ "core\n", true, 0 },    { "/var/core.%p\n", true, 0 },
		{ "|/bin/x\n", true, 1 }, { "@/run/socket", true, 1 },
		{ "\n", true, 1 },        { "|/bin/x\n", false, 0 },
	};

	if (geteuid() != 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_observing struct observing observing = { 0 };

		CU_ASSERT_TRUE(cover_pattern(cases[i].pattern));
		close_window(&observing, cases[i].alive, ADMITTED);
		CU_ASSERT_EQUAL(measure(&observing, "core-pattern")->reason, WIRE_REASON_NONE);
		CU_ASSERT_EQUAL(measure(&observing, "core-pattern")->value, cases[i].value);
		CU_ASSERT_EQUAL(umount2("/proc/sys/kernel/core_pattern", MNT_DETACH), 0);
	}
}

/* Where nobody changes anything there is nothing to say. */
static void outlived_unasked(void)
{
	cleanup_observing struct observing observing = { 0 };

	CU_ASSERT_TRUE(ready(&observing));
	CU_ASSERT_TRUE(observing_report(&observing, WIRE_AFTER));
	CU_ASSERT_EQUAL(measure(&observing, "renamed")->value, -1);
	CU_ASSERT_EQUAL(measure(&observing, "core-pattern")->value, -1);
}

static CU_TestInfo outlived_tests[] = {
	{ "changes outlived", outlived },
	{ "nothing asked", outlived_unasked },
	{ "core pattern outlived", outlived_pattern },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo life_tests[] = {
	{ "alive, then dead", alive_and_dead },
	{ "dead before the loss", dies_before_the_loss },
	{ "survives the loss", survives_the_loss },
	{ "pidfd and cgroup contradict", contradictions },
	{ "dead from the start", dead_from_the_start },
	{ "the cgroup vanishes", cgroup_vanishes },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo input_tests[] = {
	{ "without inputs", without_inputs },
	{ "core limits", core_limits },
	{ "bytes that it wrote", bytes_written },
	{ "core limits of no process", core_limits_of_no_process },
	{ "limits are parsed", parse_limits },
	{ "restarts", restarts },
	{ "starts", starts },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "life", .pTests = life_tests },
	{ .pName = "inputs", .pTests = input_tests },
	{ .pName = "changes", .pTests = outlived_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("observer_state", suites);
}
