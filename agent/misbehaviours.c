/* What a hostile agent does besides trying ways out: a table, a row for each thing that a session must survive. */
#include "agent.h"

#include <string.h>
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

const struct misbehaviour misbehaviours[] = {
	{ .id = "raw", .what = "writes bytes to standard output", .run = write_raw },
	{ .id = "flood-stdout", .what = "writes so many bytes to standard output", .run = flood_stdout },
	{ .id = "flood-stderr", .what = "writes so many bytes to standard error", .run = flood_stderr },
	{ .id = "exit", .what = "exits early, with this status", .run = leave },
	{ .id = NULL },
};
