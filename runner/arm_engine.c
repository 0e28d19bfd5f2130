/* Faults of the engine and of its parts: only of one that was started to be hurt, which is asked each time anew. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>

#include "adapter/preflight.h"
#include "core/fd.h"
#include "core/proc.h"
#include "runner/arm_steps.h"

#define SHIM_COMM "containerd-shim"

static bool is_shim(pid_t pid)
{
	cleanup_fd int process = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return proc_named(process, SHIM_COMM);
}

/* Held before it is looked at, so that what is looked at is what is struck. */
int arm_engine_signal(const struct arm *arm, int role, int number, struct error **err)
{
	pid_t pid = role == FAULT_SHIM ? proc_parent(arm->session.proc) : (pid_t)arm->context.engine_pid;
	cleanup_fd int pidfd = pid > 1 ? pidfd_open(pid, 0) : -1;

	if (pidfd < 0)
		return error_set(err, ERROR_INTERNAL, "the engine's part that the fault strikes was not found");
	if (preflight_own(arm->context.socket, arm->context.engine_pid, arm->context.root, err) < 0)
		return -1;
	if (role == FAULT_SHIM && (!is_shim(pid) || proc_parent(arm->session.proc) != pid))
		return error_set(err, ERROR_INTERNAL, "the container's process has another parent than a shim");
	if (pidfd_send_signal(pidfd, number, NULL, 0) < 0)
		return error_errno(err, errno, "the fault of the engine");
	return 0;
}
