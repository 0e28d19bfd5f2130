/*
 * The children of a process as /proc shows them: what their environment and command line hold, and their descriptors.
 * Reading another user's process takes CAP_SYS_PTRACE: one that cannot be read is told apart from one that has nothing.
 */
#ifndef HARNESS_OBSERVERS_CHILDREN_LOOK_H
#define HARNESS_OBSERVERS_CHILDREN_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"

#define CHILDREN_MAX 32
#define CHILD_TEXT_BYTES (1 * MIB) /* of environment and command line each */
/* Standard streams, and the one that the gateway passes on. */
#define CHILD_DESCRIPTOR_LAST 3

struct child_id {
	pid_t pid;
	uint64_t born; /* clock ticks since boot: a pid alone may come again */
};

struct child_look {
	struct child_id id;
	int64_t environment; /* variables */
	int64_t descriptors; /* beyond CHILD_DESCRIPTOR_LAST */
	struct buf text; /* environment and command line */
};
#define CHILD_LOOK                                                                                                     \
	{                                                                                                              \
		.text = BUF(2 * CHILD_TEXT_BYTES)                                                                      \
	}

/* The pids of the children of the process whose /proc folder this is: how many, or -1 when the kernel does not say, or
 * they are more than `max`. */
int children_list(int process, pid_t *out, size_t max);
/* The process whose /proc folder this is, by its own word: pid and birth. False when it is gone, or dead and only not
 * waited for. */
bool child_identify(int process, struct child_id *out);
/* Looks at one child of `parent` (a pid). `out->text` is the caller's, with its maximum; it is emptied first. False
 * when it could not be read whole, or is no living child of that parent. */
bool child_look(pid_t pid, pid_t parent, struct child_look *out);
/* The same of a process given by its folder, whoever its parent is. */
bool child_look_at(int process, struct child_look *out);
/* Whether the process runs the program that this descriptor is of. */
bool child_runs(pid_t pid, int program);

#endif
