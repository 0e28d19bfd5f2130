/* Faults of the engine and of its parts: only of one that was started to be hurt, which is asked each time anew. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>

#include "adapter/preflight.h"
#include "core/fd.h"
#include "runner/arm_steps.h"

#define STAT_BYTES 4096
#define COMM_BYTES 64
#define SHIM_COMM "containerd-shim"

/* Field 4 of /proc/PID/stat, behind the program's name, which may hold anything. */
static pid_t parent_of(int proc)
{
	cleanup_buf struct buf text = BUF(STAT_BYTES);
	cleanup_error struct error *gone = NULL;
	const char *rest;
	int parent = 0;

	if (proc < 0 || fd_read_file(proc, "stat", STAT_BYTES, &text, &gone) < 0)
		return 0;
	rest = strrchr(buf_string(&text), ')');
	return rest && sscanf(rest + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static bool is_shim(pid_t pid)
{
	cleanup_buf struct buf comm = BUF(COMM_BYTES);
	cleanup_error struct error *gone = NULL;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	return fd_read_file(AT_FDCWD, path, COMM_BYTES, &comm, &gone) == 0 &&
	       strncmp(buf_string(&comm), SHIM_COMM, sizeof(SHIM_COMM) - 1) == 0;
}

/* Held before it is looked at, so that what is looked at is what is struck. */
int arm_engine_signal(const struct arm *arm, int role, int number, struct error **err)
{
	pid_t pid = role == FAULT_SHIM ? parent_of(arm->session.proc) : (pid_t)arm->context.engine_pid;
	cleanup_fd int pidfd = pid > 1 ? pidfd_open(pid, 0) : -1;

	if (pidfd < 0)
		return error_set(err, ERROR_INTERNAL, "the engine's part that the fault strikes was not found");
	if (preflight_own(arm->context.socket, arm->context.engine_pid, arm->context.root, err) < 0)
		return -1;
	if (role == FAULT_SHIM && (!is_shim(pid) || parent_of(arm->session.proc) != pid))
		return error_set(err, ERROR_INTERNAL, "the container's process has another parent than a shim");
	if (pidfd_send_signal(pidfd, number, NULL, 0) < 0)
		return error_errno(err, errno, "the fault of the engine");
	return 0;
}
