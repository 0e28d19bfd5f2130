/* What a program does about itself; declared in core/spawn.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/spawn.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(leak_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static const char *const places[];

/* Cuts `path` at its last slash and returns what followed it. */
static const char *cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return "";
	*slash = '\0';
	return slash + 1;
}

/* Whether the folder is one that helpers live in: libexec, or libexec/harness. */
static bool is_helper_folder(const char *folder)
{
	char parts[PATH_MAX];
	const char *base;

	snprintf(parts, sizeof(parts), "%s", folder);
	base = cut_last(parts);
	if (strcmp(base, "harness") == 0)
		base = cut_last(parts);
	return strcmp(base, "libexec") == 0;
}

int spawn_helper_path(const char *name, char *out, size_t size, struct error **err)
{
	char folder[PATH_MAX], shown[64];
	ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

	if (length < 0)
		return error_errno(err, errno, "reading /proc/self/exe");
	folder[length] = '\0';
	cut_last(folder);
	error_safe(name, shown, sizeof(shown));
	if (strchr(name, '/'))
		return error_set(err, ERROR_INTERNAL, "helper %s: not a name", shown);
	for (const char *const *place = is_helper_folder(folder) ? &places[0] : &places[1]; *place; place++) {
		int written = snprintf(out, size, "%s%s/%s", folder, *place, name);

		if (written < 0 || (size_t)written >= size)
			return error_set(err, ERROR_LIMIT, "helper %s: its path is too long", shown);
		if (access(out, X_OK) == 0)
			return 0;
	}
	out[0] = '\0';
	return error_set(err, ERROR_SYSTEM, "the program %s is missing beside harness: run `make`", shown);
}

/* A file of ours must not get the number of one that the caller closed, for what is printed would go into it. Standard
 * output stays as useless as it was: nothing can be written to it. */
static int fill_standard(struct error **err)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return error_errno(err, errno, "filling a closed standard descriptor");
	}
	return 0;
}

int process_harden(bool parent_death, pid_t expected_parent, struct error **err)
{
	const struct rlimit none = { .rlim_cur = 0, .rlim_max = 0 };
	struct sigaction action = { .sa_handler = SIG_IGN };

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return error_errno(err, errno, "setting the core limit");
	if (!SANITIZED && prctl(PR_SET_DUMPABLE, 0) < 0)
		return error_errno(err, errno, "PR_SET_DUMPABLE");
	if (sigaction(SIGPIPE, &action, NULL) < 0 || sigaction(SIGXFSZ, &action, NULL) < 0)
		return error_errno(err, errno, "ignoring SIGPIPE and SIGXFSZ");
	/* Where a caller left SIGCHLD ignored, the kernel would reap our children and lose their status. */
	action.sa_handler = SIG_DFL;
	if (sigaction(SIGCHLD, &action, NULL) < 0)
		return error_errno(err, errno, "resetting SIGCHLD");
	if (parent_death && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return error_errno(err, errno, "PR_SET_PDEATHSIG");
	if (parent_death && expected_parent != 0 && getppid() != expected_parent)
		return error_set(err, ERROR_CLOSED, "the parent is gone");
	return fill_standard(err);
}

/* Relative to the program's folder; the first is for a helper that seeks its sibling, the last for a test's binary. */
static const char *const places[] = { "", "/libexec", "/../libexec/harness", "/../libexec", NULL };
