#include "core/strays.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/proc.h"

#define DECIMAL 10

/* The next child in the list, with a descriptor of its folder; 0 at the end. */
static pid_t next_child(DIR *list, int *proc)
{
	const struct dirent *entry;

	while ((entry = readdir(list))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		*proc = openat(dirfd(list), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*proc >= 0 && proc_parent(*proc) == getpid())
			return (pid_t)strtol(entry->d_name, NULL, DECIMAL);
		fd_close(proc);
	}
	return 0;
}

int strays_adopt(struct strays *out, struct error **err)
{
	cleanup_dir DIR *list = opendir("/proc");
	pid_t pid;

	*out = (struct strays){ .adopts = false };
	if (!list)
		return error_errno(err, errno, "/proc");
	for (int proc = -1; (pid = next_child(list, &proc)) > 0; fd_close(&proc)) {
		if (out->known_count == STRAYS_KNOWN_MAX) {
			fd_close(&proc);
			return error_set(err, ERROR_LIMIT, "more than %d children", STRAYS_KNOWN_MAX);
		}
		out->known[out->known_count++] = pid;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return error_errno(err, errno, "adopting what others leave behind");
	out->adopts = true;
	return 0;
}

static bool is_known(const struct strays *strays, pid_t pid)
{
	for (size_t i = 0; i < strays->known_count; i++)
		if (strays->known[i] == pid)
			return true;
	return false;
}

static bool runs(int proc, const char *program)
{
	char path[PATH_MAX];
	ssize_t length = program ? readlinkat(proc, "exe", path, sizeof(path) - 1) : -1;

	if (length < 0)
		return false;
	path[length] = '\0';
	return strcmp(path, program) == 0;
}

/* Whether it lived. It is a child of ours: its number stays its own until it is reaped here. */
static bool end_one(pid_t pid, int64_t deadline)
{
	cleanup_fd int pidfd = pidfd_open(pid, 0);
	bool lived = pidfd >= 0 && fd_wait(pidfd, POLLIN, 0, NULL) == 0;
	siginfo_t info;

	if (pidfd < 0 || (lived && pidfd_send_signal(pidfd, SIGKILL, NULL, 0) < 0))
		return false;
	if (fd_wait(pidfd, POLLIN, deadline, NULL) == 1)
		while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
			;
	return lived;
}

/* One look at all: what is killed leaves its own children to the next. */
static unsigned end_all(const struct strays *strays, const char *spare, int64_t deadline, bool *any)
{
	cleanup_dir DIR *list = opendir("/proc");
	unsigned lived = 0;
	pid_t pid;

	*any = false;
	if (!list)
		return 0;
	for (int proc = -1; (pid = next_child(list, &proc)) > 0; fd_close(&proc)) {
		if (is_known(strays, pid) || runs(proc, spare))
			continue;
		*any = true;
		lived += end_one(pid, deadline);
	}
	return lived;
}

unsigned strays_end(const struct strays *strays, const char *spare, int64_t deadline)
{
	unsigned lived = 0;
	bool any = strays->adopts;

	while (any) {
		lived += end_all(strays, spare, deadline, &any);
		any = any && clock_now() < deadline;
	}
	return lived;
}
