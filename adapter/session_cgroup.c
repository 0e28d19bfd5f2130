/* Where the container's processes are counted: read from /proc/PID/cgroup, never built from the container's id. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "adapter/session.h"
#include "core/fd.h"

#define CGROUP_FILE_BYTES (16 * KIB)

/* One line "HIERARCHY:CONTROLLERS:PATH" that is the unified hierarchy or this controller's own. */
static bool folder_of(char *line, const char *controller, char *out, size_t size)
{
	char *rest = line;
	const char *hierarchy = strsep(&rest, ":");
	const char *controllers = strsep(&rest, ":");

	if (!rest || !hierarchy || !controllers || rest[0] != '/' || strstr(rest, "/../"))
		return false;
	if (strcmp(hierarchy, "0") == 0 && controllers[0] == '\0')
		return snprintf(out, size, "/sys/fs/cgroup%s", rest) < (int)size;
	if (strcmp(controllers, controller) == 0)
		return snprintf(out, size, "/sys/fs/cgroup/%s%s", controller, rest) < (int)size;
	return false;
}

int session_cgroup_open(int proc, const char *container, const char *controller, int *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(CGROUP_FILE_BYTES);
	char *rest, *line;

	if (fd_read_file(proc, "cgroup", CGROUP_FILE_BYTES, &text, err) < 0)
		return error_wrap(err, "the container's cgroup");
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		cleanup_fd int folder = -1;
		char path[PATH_MAX];

		if (!strstr(line, container) || !folder_of(line, controller, path, sizeof(path)))
			continue;
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (folder >= 0 && faccessat(folder, "cgroup.procs", R_OK, 0) == 0) {
			*out = steal_fd(&folder);
			return 0;
		}
	}
	return error_set(err, ERROR_REFUSED,
			 "the container's cgroup is not in our /sys/fs/cgroup: is the engine local?");
}
