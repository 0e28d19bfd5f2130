/* Another core pattern, seen by this process and by what it starts alone. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>

#include "core/fd.h"
#include "runner/arm_fault.h"

#define PATTERN "/proc/sys/kernel/core_pattern"

/* Mounts of the host's still come in; ours never go out. */
int arm_fault_apart(struct error **err)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_errno(err, errno, "a mount namespace of the arm's own");
	return 0;
}

int arm_fault_pattern(struct arm *arm, struct arm_fault_state *state, struct error **err)
{
	static const char program[] = "|/bin/false\n";
	char path[PATH_MAX + 16];

	if (fd_write_atomic(arm->folder, "pattern", program, sizeof(program) - 1, 0600, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/pattern", arm->path);
	if (mount(path, PATTERN, NULL, MS_BIND, NULL) < 0)
		return error_errno(err, errno, "covering the core pattern");
	state->mounted = true;
	return 0;
}

void arm_fault_uncover(struct arm_fault_state *state)
{
	if (state->mounted)
		(void)umount2(PATTERN, MNT_DETACH);
	state->mounted = false;
}
