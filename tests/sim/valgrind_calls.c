/*
 * The system calls that valgrind does not know, done in another way. Linked (ld --wrap) into the programs of `make
 * check-valgrind` alone: what the product does stays as it is.
 */
#include "tests/sim/valgrind_calls.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"

#define ASK_MS 5000
#define FDS_MAX 1024
#define ARGUMENTS 6

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
int __wrap_pidfd_open(pid_t pid, unsigned flags);
int __wrap_pidfd_send_signal(int pidfd, int signal, siginfo_t *info, unsigned flags);
int __wrap_close_range(unsigned first, unsigned last, int flags);

/* The helper is nobody's child, so that a test that looks for children left over does not find it. */
static void start_helper(int socket)
{
	char path[PATH_MAX] = "", *slash;
	pid_t pid = fork();

	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	if (pid != 0)
		return;
	if (fork() == 0 && readlink("/proc/self/exe", path, sizeof(path) - 1) > 0) {
		slash = strrchr(path, '/');
		snprintf(slash, sizeof(path) - (size_t)(slash - path), "/sim-main_pidfd");
		if (dup2(socket, VALGRIND_FD) == VALGRIND_FD)
			execl(path, path, NULL);
	}
	_exit(0);
}

/* One socket for the whole life of the program, opened before any test counts descriptors. */
static int *helper(void)
{
	static int socket = -1;

	return &socket;
}

__attribute__((constructor)) static void open_helper(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	start_helper(ends[1]);
	close(ends[1]);
	*helper() = ends[0];
}

static int ask(const struct valgrind_ask *question, int given, int *out)
{
	cleanup_error struct error *err = NULL;
	int64_t deadline = clock_deadline(ASK_MS);
	size_t count = 1;
	int number = EIO, fd = -1;

	if (fd_send(*helper(), question, sizeof(*question), &given, given >= 0, deadline, &err) < 0 ||
	    fd_receive(*helper(), &number, sizeof(number), &fd, &count, deadline, &err) < 0)
		number = EIO;
	if (number != 0) {
		errno = number;
		return -1;
	}
	if (out)
		*out = fd;
	return 0;
}

int __wrap_pidfd_open(pid_t pid, unsigned flags)
{
	struct valgrind_ask question = { .call = VALGRIND_OPEN, .pid = pid };
	int fd = -1;

	(void)flags;
	return ask(&question, -1, &fd) < 0 ? -1 : fd;
}

int __wrap_pidfd_send_signal(int pidfd, int signal, siginfo_t *info, unsigned flags)
{
	struct valgrind_ask question = { .call = VALGRIND_SEND_SIGNAL, .signal = signal };

	(void)info;
	(void)flags;
	return ask(&question, pidfd, NULL);
}

int __wrap_close_range(unsigned first, unsigned last, int flags)
{
	(void)flags;
	for (unsigned fd = first; fd <= last && fd < FDS_MAX; fd++)
		close((int)fd);
	return 0;
}

long __wrap_syscall(long number, ...)
{
	long arguments[ARGUMENTS];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < ARGUMENTS; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_pidfd_open)
		return __wrap_pidfd_open((pid_t)arguments[0], 0);
	if (number == SYS_pidfd_send_signal)
		return __wrap_pidfd_send_signal((int)arguments[0], (int)arguments[1], NULL, 0);
	return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
			      arguments[5]);
}
