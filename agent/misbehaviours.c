/* What a hostile agent does besides trying ways out: a table, a row for each thing that a session must survive. */
#include "agent.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK 4096

/* Writes what it was given, as many times as it was told. */
static void write_raw(long long count, const char *bytes, unsigned long length)
{
	for (long long i = 0; i < (count > 0 ? count : 1); i++)
		write_all(STDOUT_FILENO, bytes, length);
}

static void flood(int fd, long long count)
{
	char chunk[CHUNK];

	memset(chunk, 'x', sizeof(chunk));
	chunk[sizeof(chunk) - 1] = '\n';
	for (long long written = 0; written < count; written += CHUNK)
		write_all(fd, chunk, sizeof(chunk));
}

static void flood_stdout(long long count, const char *bytes, unsigned long length)
{
	(void)bytes;
	(void)length;
	flood(STDOUT_FILENO, count);
}

static void flood_stderr(long long count, const char *bytes, unsigned long length)
{
	(void)bytes;
	(void)length;
	flood(STDERR_FILENO, count);
}

static void leave(long long count, const char *bytes, unsigned long length)
{
	(void)bytes;
	(void)length;
	_exit((int)count);
}

/* A signal that a process sends itself does nothing to the first one of a container: the kernel's own does. */
static void crash(long long count, const char *bytes, unsigned long length)
{
	volatile int *nowhere = NULL;

	(void)count;
	(void)bytes;
	(void)length;
	*nowhere = 0;
}

/* Others cannot come from the kernel: a child dies of it, and the first process leaves as a shell would. */
static void die_of(long long count, const char *bytes, unsigned long length)
{
	pid_t child = fork();
	int status = 0;

	(void)bytes;
	(void)length;
	if (child == 0) {
		signal((int)count, SIG_DFL);
		raise((int)count);
		_exit(0);
	}
	if (waitpid(child, &status, 0) == child && WIFSIGNALED(status))
		_exit(128 + WTERMSIG(status));
}

static void stall(long long count, const char *bytes, unsigned long length)
{
	(void)bytes;
	(void)length;
	poll(NULL, 0, (int)count);
}

static void ignore_signals(long long count, const char *bytes, unsigned long length)
{
	(void)count;
	(void)bytes;
	(void)length;
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
}

/* They stay, so that they count. */
static void fork_many(long long count, const char *bytes, unsigned long length)
{
	(void)bytes;
	(void)length;
	for (long long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			return;
		while (child == 0)
			pause();
	}
}

/* A child takes it, page by page, and is gone before the next step. */
static void allocate(long long count, const char *bytes, unsigned long length)
{
	pid_t child = fork();

	(void)bytes;
	(void)length;
	if (child == 0) {
		char *memory = malloc((unsigned long)count);

		for (long long at = 0; memory && at < count; at += CHUNK)
			((volatile char *)memory)[at] = 1;
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void close_output(long long count, const char *bytes, unsigned long length)
{
	(void)count;
	(void)bytes;
	(void)length;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
}

/* Where a peer is what misbehaves. */
static void go_on(long long count, const char *bytes, unsigned long length)
{
	(void)count;
	(void)bytes;
	(void)length;
}

const struct misbehaviour misbehaviours[] = {
	{ .id = "nothing", .what = "goes on as it should", .run = go_on },
	{ .id = "raw", .what = "writes bytes to standard output", .run = write_raw },
	{ .id = "flood-stdout", .what = "writes so many bytes to standard output", .run = flood_stdout },
	{ .id = "flood-stderr", .what = "writes so many bytes to standard error", .run = flood_stderr },
	{ .id = "exit", .what = "exits early, with this status", .run = leave },
	{ .id = "crash", .what = "writes to address 0", .run = crash },
	{ .id = "signal", .what = "dies of this signal", .run = die_of },
	{ .id = "stall", .what = "does nothing for so many milliseconds", .run = stall },
	{ .id = "ignore-signals", .what = "ignores every signal that can be", .run = ignore_signals },
	{ .id = "fork", .what = "starts so many processes", .run = fork_many },
	{ .id = "allocate", .what = "takes so many bytes of memory", .run = allocate },
	{ .id = "close-output", .what = "closes its output, and goes on", .run = close_output },
	{ .id = NULL },
};
