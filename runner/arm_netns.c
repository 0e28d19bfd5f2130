#include "runner/arm_netns.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm.h"

#define STEP_NS (2 * NS_PER_MS)
#define PROCS_BYTES 4096
#define ROUTES_BYTES (64 * KIB)
/* In the kernel's table of local routes once the loopback interface is up (proc(5), /proc/net/fib_trie). */
#define LOOPBACK_ROUTE "127.0.0.1"

/* The cgroupfs driver's layout on cgroup v1 and v2; where an engine's differs, the namespace is opened after the start.
 */
static const char *const layouts[] = { "/sys/fs/cgroup/pids/docker", "/sys/fs/cgroup/docker" };

bool arm_netns_apart(int netns)
{
	cleanup_fd int ours = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	return ours >= 0 && !fd_same(ours, netns);
}

static int first_process(const char *container)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		cleanup_buf struct buf text = BUF(PROCS_BYTES);
		cleanup_error struct error *ignored = NULL;
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s/cgroup.procs", layouts[i], container);
		if (fd_read_file(AT_FDCWD, path, PROCS_BYTES, &text, &ignored) == 0 && text.length)
			return (int)strtol(text.data, NULL, 10);
	}
	return -1;
}

static int namespace_of(int pid)
{
	cleanup_fd int proc = -1, netns = -1;
	cleanup_buf struct buf routes = BUF(ROUTES_BYTES);
	cleanup_error struct error *ignored = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return -1;
	netns = openat(proc, "ns/net", O_RDONLY | O_CLOEXEC);
	if (netns < 0 || !arm_netns_apart(netns) ||
	    fd_read_file(proc, "net/fib_trie", ROUTES_BYTES, &routes, &ignored) < 0 ||
	    !strstr(buf_string(&routes), LOOPBACK_ROUTE))
		return -1;
	return steal_fd(&netns);
}

int arm_netns_early(struct arm *arm)
{
	while (!engine_done(arm->session.starting)) {
		cleanup_error struct error *ignored = NULL;
		int pid = first_process(arm->session.container);
		int netns = pid > 0 ? namespace_of(pid) : -1;

		if (netns >= 0)
			return netns;
		if (engine_drive(arm->engine, clock_add(clock_now(), STEP_NS), &ignored) < 0)
			return -1;
	}
	return -1;
}
