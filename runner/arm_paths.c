#include "runner/arm_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/fd.h"
#include "runner/arm.h"

#define MOUNTINFO_BYTES (256 * KIB)
/* A ".." (each link of a layer's has one) is refused while anything on the host is mounted or renamed. */
#define OPEN_TRIES 1000

static int open_below(pid_t engine, const char *path, struct error **err)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	cleanup_fd int root = -1;
	char name[48];
	int fd = -1;

	snprintf(name, sizeof(name), "/proc/%d/root", (int)engine);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_errno(err, errno, "the engine's root folder");
	errno = EAGAIN;
	for (int i = 0; i < OPEN_TRIES && fd < 0 && errno == EAGAIN; i++)
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd >= 0 ? fd : error_errno(err, errno, "a folder of the engine's");
}

/* The value of a mount option "name=VALUE", cut off at the next comma; NULL when there is none. */
static char *option(char *line, const char *name)
{
	char *value = strstr(line, name);

	if (!value)
		return NULL;
	value += strlen(name);
	value[strcspn(value, ", \n")] = '\0';
	return value;
}

static char *last_part(char *list)
{
	char *colon = strrchr(list, ':');

	return colon ? colon + 1 : list;
}

/* "ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS ... - overlay overlay rw,lowerdir=A:B,upperdir=C,workdir=D" */
static bool is_root_overlay(const char *line)
{
	return strstr(line, " / / ") && strstr(line, " - overlay ");
}

int arm_path_layers(int proc, pid_t engine, int *upper, int *lower, struct error **err)
{
	cleanup_buf struct buf text = BUF(MOUNTINFO_BYTES);
	char *rest, *line;

	if (fd_read_file(proc, "mountinfo", MOUNTINFO_BYTES, &text, err) < 0)
		return -1;
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		char copy[8 * KIB];
		char *path;

		if (!is_root_overlay(line))
			continue;
		snprintf(copy, sizeof(copy), "%s", line);
		path = option(copy, "upperdir=");
		*upper = path ? open_below(engine, path, err) : -1;
		snprintf(copy, sizeof(copy), "%s", line);
		path = option(copy, "lowerdir=");
		*lower = path && *upper >= 0 ? open_below(engine, last_part(path), err) : -1;
		if (*upper >= 0 && *lower >= 0)
			return 0;
		break;
	}
	return *err ? -1
		    : error_set(err, ERROR_REFUSED,
				"the container's root is not an overlay that names its directories");
}

int arm_path_container(const struct arm_context *context, const char *container)
{
	cleanup_error struct error *ignored = NULL;
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/containers/%s", context->root, container) >= (int)sizeof(path))
		return -1;
	fd = open_below((pid_t)context->engine_pid, path, &ignored);
	return fd < 0 ? -1 : fd;
}
