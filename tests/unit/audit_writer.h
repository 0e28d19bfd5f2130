/* For tests of the audit chain: main_audit_writer as a child, with what it says on a pipe. */
#ifndef HARNESS_TESTS_UNIT_AUDIT_WRITER_H
#define HARNESS_TESTS_UNIT_AUDIT_WRITER_H

#include "tests/unit/audit_world.h"
#include "tests/unit/child.h"

struct audit_writer {
	struct child child;
	struct pipe said;
	char sink[AUDIT_PATH];
};

static inline void audit_writer_end(struct audit_writer *writer)
{
	child_end(&writer->child);
	pipe_close(&writer->said);
}
#define cleanup_audit_writer __attribute__((cleanup(audit_writer_end)))
#define AUDIT_WRITER                                                                                                   \
	{                                                                                                              \
		.child = CHILD_NONE, .said = { -1, -1 }                                                                \
	}

static inline bool audit_writer_start(struct audit_writer *writer, const struct audit_world *world, int calls)
{
	char program[] = TEST_BUILD "/tests/main_audit_writer", path[AUDIT_PATH], number[16];
	char *argv[] = { program, path, writer->sink, number, NULL };
	struct spawn_options options = { SPAWN_DEFAULTS, .path = program, .argv = argv };
	struct error *err = NULL;
	int status;

	snprintf(path, sizeof(path), "%s", world->path);
	snprintf(number, sizeof(number), "%d", calls);
	snprintf(writer->sink, sizeof(writer->sink), "%s/sink", world->folder);
	pipe_open(&writer->said);
	map(&options, writer->said.writer, 1);
	map(&options, 2, 2);
	status = spawn(&options, &writer->child, &err);
	fd_close(&writer->said.writer);
	return test_no_error(&err) && status == 0;
}

/* Waits until it has done so many calls. */
static inline bool audit_writer_calls(const struct audit_writer *writer, size_t count)
{
	struct error *err = NULL;
	char said[64];
	int status = 0;

	for (size_t part; count > 0 && status == 0; count -= part) {
		part = count < sizeof(said) ? count : sizeof(said);
		status = fd_read_exact(writer->said.reader, said, part, guard(), &err);
	}
	return test_no_error(&err) && status == 0;
}

#endif
