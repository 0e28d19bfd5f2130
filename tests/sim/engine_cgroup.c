/* A container's cgroup: version 1 has one for pids and one for memory, version 2 one for all. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/engine_parts.h"

#define PROCS_BYTES (16 * KIB)
#define NAME_PREFIX "harness-sim-"
#define CGROUP_PATH_BYTES 160

static const char *const hierarchies[];

/* NULL-terminated, those that this host has. */
static const char *const *hierarchies_here(void)
{
	return hierarchies + (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0 ? 0 : 2);
}

static void folder_of(const char *hierarchy, const char *id, const char *file, char out[CGROUP_PATH_BYTES])
{
	snprintf(out, CGROUP_PATH_BYTES, "%s/" NAME_PREFIX "%s%s", hierarchy, id, file);
}

bool sim_cgroup_enter(const char *id, pid_t pid)
{
	char path[CGROUP_PATH_BYTES], text[16];
	int length = snprintf(text, sizeof(text), "%d", (int)pid);

	for (const char *const *one = hierarchies_here(); *one; one++) {
		cleanup_fd int procs = -1;

		folder_of(*one, id, "", path);
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return false;
		folder_of(*one, id, "/cgroup.procs", path);
		procs = open(path, O_WRONLY | O_CLOEXEC);
		if (procs < 0 || write(procs, text, (size_t)length) != length)
			return false;
	}
	return true;
}

void sim_cgroup_kill(const char *id)
{
	cleanup_buf struct buf procs = BUF(PROCS_BYTES);
	cleanup_error struct error *ignored = NULL;
	char path[CGROUP_PATH_BYTES], *rest, *line;

	folder_of(hierarchies_here()[0], id, "/cgroup.procs", path);
	if (fd_read_file(AT_FDCWD, path, PROCS_BYTES, &procs, &ignored) < 0)
		return;
	rest = procs.data;
	while ((line = strsep(&rest, "\n"))) {
		long pid = strtol(line, NULL, 10);

		if (pid > 1)
			kill((pid_t)pid, SIGKILL);
	}
}

void sim_cgroup_remove(const char *id)
{
	char path[CGROUP_PATH_BYTES];

	for (const char *const *one = hierarchies_here(); *one; one++) {
		int64_t deadline = clock_deadline(1000);

		folder_of(*one, id, "", path);
		/* What was just reaped may still be counted for a moment. */
		while (rmdir(path) < 0 && errno == EBUSY && clock_now() < deadline)
			sched_yield();
	}
}

static const char *const hierarchies[] = {
	"/sys/fs/cgroup", NULL, "/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory", NULL,
};
