/* Whether an engine may be hurt: only one that was started for that, which says so where root alone can write. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapter/preflight.h"
#include "adapter/preflight_internal.h"
#include "core/fd.h"

#define MARKER "own-engine"
#define MARKER_BYTES 64
#define STAT_BYTES 4096
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static int refuse(const char *why, struct error **err)
{
	return error_set(
		err, ERROR_REFUSED,
		"the engine behind the socket may not be hurt: %s; these scenarios need one that was started with "
		"`ci/engine start --own DIR`, named with --socket DIR/docker.sock",
		why);
}

/* Nobody else could have written it. */
static bool is_ours(const struct stat *status)
{
	return status->st_uid == geteuid() && !(status->st_mode & OTHERS_WRITE);
}

/* "PID START", and nothing else. */
static bool read_marker(int folder, long long *pid, long long *start)
{
	cleanup_fd int file = openat(folder, MARKER, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[MARKER_BYTES];
	struct stat status;
	ssize_t got;
	int used = 0;

	if (file < 0 || fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || !is_ours(&status))
		return false;
	got = read(file, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	return sscanf(text, "%lld %lld%n", pid, start, &used) == 2 && strcmp(text + used, "\n") == 0;
}

/* Ticks since boot at which it began: field 22 of /proc/PID/stat, behind its name, which may hold anything. */
static bool start_time(int proc, long long pid, long long *out)
{
	cleanup_buf struct buf text = BUF(STAT_BYTES);
	cleanup_error struct error *gone = NULL;
	const char *rest;
	char path[40];

	snprintf(path, sizeof(path), "%lld/stat", pid);
	if (fd_read_file(proc, path, STAT_BYTES, &text, &gone) < 0)
		return false;
	rest = strrchr(buf_string(&text), ')');
	return rest &&
	       sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lld",
		      out) == 1;
}

static bool lies_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return strncmp(path, folder, length) == 0 && path[length] == '/';
}

int preflight_own_in(int proc, const char *folder_path, int64_t pid, const char *root, struct error **err)
{
	cleanup_fd int folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	long long noted = 0, noted_start = 0, start = 0;
	struct stat status;

	if (folder < 0 || fstat(folder, &status) < 0)
		return refuse("the folder of its socket cannot be opened", err);
	if (!is_ours(&status))
		return refuse("others can write to the folder of its socket", err);
	if (!read_marker(folder, &noted, &noted_start))
		return refuse("no file " MARKER " of root's beside its socket says that it is for that", err);
	if (noted != pid || !start_time(proc, noted, &start) || start != noted_start)
		return refuse("another process listens on its socket than the one that was started for that", err);
	if (!lies_below(root, folder_path))
		return refuse("its data does not lie beside its socket", err);
	return 0;
}

int preflight_own(const char *socket_path, int64_t pid, const char *root, struct error **err)
{
	cleanup_fd int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_MAX];
	char *slash;

	if (proc < 0)
		return error_errno(err, errno, "/proc");
	if (!realpath(socket_path, path))
		return error_errno(err, errno, "the engine's socket");
	slash = strrchr(path, '/');
	if (!slash || slash == path)
		return refuse("its socket lies at the root of the file system", err);
	*slash = '\0';
	return preflight_own_in(proc, path, pid, root, err);
}
