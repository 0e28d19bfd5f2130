/* For tests of what a process wrote: a process that writes once it is told, and a name of this one for its parent. */
#ifndef HARNESS_TESTS_UNIT_WRITER_H
#define HARNESS_TESTS_UNIT_WRITER_H

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "tests/unit/test.h"

#define WRITER_MS 3000
/* By a child of the writer's that it waits for, and its own "done" with the end of the line. */
#define WRITER_BYTES (100000 + 5)

struct writer {
	struct child child;
	int orders, answers, proc;
};

static inline void writer_end(struct writer *writer)
{
	child_end(&writer->child);
	fd_close(&writer->orders);
	fd_close(&writer->answers);
	fd_close(&writer->proc);
}
#define cleanup_writer __attribute__((cleanup(writer_end)))

static inline bool writer_start(struct writer *writer)
{
	struct error *err = NULL;
	cleanup_fd int orders = -1, answers = -1;
	char program[] = "sh", flag[] = "-c", path[32],
	     script[] = "read go; head -c 100000 /dev/zero >/dev/null; echo done; exec cat";
	char *argv[] = { program, flag, script, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = "/bin/sh", .argv = argv, .fds_count = 2 };

	*writer = (struct writer){ .child = CHILD_NONE, .orders = -1, .answers = -1, .proc = -1 };
	if (fd_pipe(&orders, &writer->orders, &err) < 0 || fd_pipe(&writer->answers, &answers, &err) < 0)
		return test_no_error(&err);
	options.fds[0] = (struct spawn_fd){ .from = orders, .to = STDIN_FILENO };
	options.fds[1] = (struct spawn_fd){ .from = answers, .to = STDOUT_FILENO };
	if (spawn(&options, &writer->child, &err) < 0)
		return test_no_error(&err);
	snprintf(path, sizeof(path), "/proc/%d", writer->child.pid);
	writer->proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return writer->proc >= 0;
}

/* Until it has written all. */
static inline bool writer_write(const struct writer *writer)
{
	struct error *err = NULL;
	char answer[5] = { 0 };
	int r = fd_write_all(writer->orders, "go\n", 3, clock_deadline(WRITER_MS), &err);

	if (r == 0)
		r = fd_read_exact(writer->answers, answer, sizeof(answer), clock_deadline(WRITER_MS), &err);
	return test_no_error(&err) && r == 0 && memcmp(answer, "done\n", sizeof(answer)) == 0;
}

/* It stays as it ended until it is waited for. */
static inline bool writer_kill(const struct writer *writer)
{
	struct error *err = NULL;
	int r = child_signal(&writer->child, SIGKILL);

	return r == 0 && fd_wait(writer->child.pidfd, POLLIN, clock_deadline(WRITER_MS), &err) == 1 &&
	       test_no_error(&err);
}

/* The writer's parent is this process. */
static inline void parent_is(const char *name)
{
	CU_ASSERT_EQUAL(prctl(PR_SET_NAME, name), 0);
}

#endif
