/*
 * The only place that makes a process, and it always executes a program: vfork semantics, signal mask and SIGPIPE
 * reset, descriptors mapped, every other one closed by close_range().
 */
#ifndef HARNESS_CORE_SPAWN_H
#define HARNESS_CORE_SPAWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

struct spawn_fd {
	int from; /* ours; not closed by spawn */
	int to; /* the number in the child */
};

#define SPAWN_FDS_MAX 24

struct spawn_options {
	const char *path; /* program; or NULL with executable >= 0: run by descriptor */
	int executable; /* used when path is NULL; -1 otherwise */
	char *const *argv;
	char *const *envp; /* NULL: empty environment */
	struct spawn_fd fds[SPAWN_FDS_MAX]; /* 0, 1, 2 are /dev/null unless mapped here */
	size_t fds_count;
	bool new_session; /* setsid() */
	bool survive_parent; /* no PDEATHSIG (watchdog alone) */
	bool drop_privileges; /* uid:gid below, no groups, no capabilities, no_new_privs; PDEATHSIG set again */
	uid_t uid;
	gid_t gid;
	int netns; /* setns() into it before exec, or -1 */
	const char *directory; /* chdir before exec, or NULL */
	int cpu; /* the processor that it and its children stay on, or -1; best effort */
};

struct child {
	pid_t pid; /* 0: none */
	int pidfd; /* -1: none; CLOEXEC */
};
#define CHILD_NONE                                                                                                     \
	{                                                                                                              \
		.pid = 0, .pidfd = -1                                                                                  \
	}
#define SPAWN_DEFAULTS .executable = -1, .netns = -1, .cpu = -1

/* Starts the program. An exec that fails is reported here, not by a dead child. */
int spawn(const struct spawn_options *options, struct child *out, struct error **err) MUST_CHECK;
/* Waits for its end until the absolute deadline: 0 with *status as of waitid (exit code, or 128 + signal);
 * ERROR_TIMEOUT leaves it running. */
int child_wait(struct child *child, int64_t deadline, int *status, struct error **err) MUST_CHECK;
int child_signal(const struct child *child, int signal);
bool child_running(const struct child *child);
/* Whether a signal holds it still; one that is traced is not meant. */
bool child_stopped(const struct child *child);
/* SIGKILL, SIGCONT not needed, reap; NULL-safe and idempotent. */
void child_end(struct child *child);
#define cleanup_child __attribute__((cleanup(child_end)))

/* The folder of the running program's helpers: libexec beside it ("build/libexec" in a tree, "../libexec/harness"
 * where installed), found from /proc/self/exe; a helper finds its siblings likewise. */
int spawn_helper_path(const char *name, char *out, size_t size, struct error **err) MUST_CHECK;

/* First thing in each main(): SIGPIPE and SIGXFSZ ignored, SIGCHLD reset, closed ones of descriptors 0 to 2 taken, core
 * limit 0, not dumpable (not in sanitizer builds), and with `parent_death` PDEATHSIG SIGKILL after which getppid() is
 * compared with `expected_parent` (0: not compared). */
int process_harden(bool parent_death, pid_t expected_parent, struct error **err) MUST_CHECK;

#endif
