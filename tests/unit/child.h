/* Children of unit tests: pipes, and running a program to its end. */
#ifndef HARNESS_TESTS_UNIT_CHILD_H
#define HARNESS_TESTS_UNIT_CHILD_H

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"
#include "tests/unit/test.h"

#define GUARD_MS 4000
#define SELF "/proc/self/exe"

struct pipe {
	int reader, writer;
};

static inline void pipe_close(struct pipe *pipe)
{
	fd_close(&pipe->reader);
	fd_close(&pipe->writer);
}
#define PIPE(name) __attribute__((cleanup(pipe_close))) struct pipe name = { -1, -1 }

static inline void pipe_open(struct pipe *pipe)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_pipe(&pipe->reader, &pipe->writer, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static inline void map(struct spawn_options *options, int from, int to)
{
	options->fds[options->fds_count++] = (struct spawn_fd){ .from = from, .to = to };
}

static inline int64_t guard(void)
{
	return clock_deadline(GUARD_MS);
}

/* Runs a program to its end with stdout in `out`. Returns its status, or -1. */
static inline int run(struct spawn_options *options, struct buf *out)
{
	PIPE(pipe);
	cleanup_child struct child child = CHILD_NONE;
	struct error *err = NULL;
	int status = -1;

	pipe_open(&pipe);
	map(options, pipe.writer, 1);
	if (spawn(options, &child, &err) == 0) {
		fd_close(&pipe.writer);
		CU_ASSERT_EQUAL(fd_read_all(pipe.reader, out, guard(), &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(child_wait(&child, guard(), &status, &err), 0);
	}
	CU_ASSERT(test_no_error(&err));
	return status;
}

static inline int run_shell(struct spawn_options *options, const char *script, struct buf *out)
{
	char text[512];
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, text, NULL };

	snprintf(text, sizeof(text), "%s", script);
	options->path = "/bin/sh";
	options->argv = argv;
	return run(options, out);
}

#endif
