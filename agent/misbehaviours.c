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
#define PIECE 65536 /* a pipe holds it */

/* Writes what it was given, as many times as it was told, in one piece: whoever kills it then, it was all written. */
static void write_raw(const struct misbehaviour_order *order)
{
	char piece[PIECE];
	unsigned long used = 0;

	for (long long i = 0; i < (order->count > 0 ? order->count : 1) && order->length <= PIECE - used; i++) {
		memcpy(piece + used, order->bytes, order->length);
		used += order->length;
	}
	write_all(STDOUT_FILENO, piece, used);
}

/* Each byte of it by itself. */
static void write_bytes(const struct misbehaviour_order *order)
{
	for (unsigned long i = 0; i < order->length; i++)
		write_all(STDOUT_FILENO, order->bytes + i, 1);
}

static void repeat(char byte, long long count)
{
	char piece[PIECE];

	memset(piece, byte, sizeof(piece));
	for (; count > 0; count -= PIECE)
		write_all(STDOUT_FILENO, piece, (unsigned long)(count < PIECE ? count : PIECE));
}

/* A good frame of so many bytes, with blanks in it. */
static void big_frame(const struct misbehaviour_order *order)
{
	static const char front[] = "{\"operation\":\"permitted\",", back[] = "\"arguments\":{}}";

	write_all(STDOUT_FILENO, front, sizeof(front) - 1);
	repeat(' ', order->count - (long long)(sizeof(front) - 1) - (long long)(sizeof(back) - 1));
	write_all(STDOUT_FILENO, back, sizeof(back) - 1);
}

static void whole_frame(const struct misbehaviour_order *order)
{
	big_frame(order);
	write_all(STDOUT_FILENO, "\n", 1);
}

static void cut_frame(const struct misbehaviour_order *order)
{
	big_frame(order);
	_exit(0);
}

/* A frame whose argument holds an array in an array, so many deep. */
static void nested(const struct misbehaviour_order *order)
{
	static const char front[] = "{\"operation\":\"permitted\",\"arguments\":{\"a\":", back[] = "}}\n";

	write_all(STDOUT_FILENO, front, sizeof(front) - 1);
	repeat('[', order->count);
	repeat(']', order->count);
	write_all(STDOUT_FILENO, back, sizeof(back) - 1);
}

/* Calls so often, and never reads an answer: nor anything else. */
static void never_read(const struct misbehaviour_order *order)
{
	static const char frame[] = "{\"operation\":\"permitted\",\"arguments\":{}}\n";

	for (long long i = 0; i < order->count; i++)
		write_all(STDOUT_FILENO, frame, sizeof(frame) - 1);
	for (;;)
		pause();
}

static void flood(int fd, long long count)
{
	char chunk[CHUNK];

	memset(chunk, 'x', sizeof(chunk));
	chunk[sizeof(chunk) - 1] = '\n';
	for (long long written = 0; written < count; written += CHUNK)
		write_all(fd, chunk, sizeof(chunk));
}

static void flood_stdout(const struct misbehaviour_order *order)
{
	flood(STDOUT_FILENO, order->count);
}

static void flood_stderr(const struct misbehaviour_order *order)
{
	flood(STDERR_FILENO, order->count);
}

static void leave(const struct misbehaviour_order *order)
{
	_exit((int)order->count);
}

/* A signal that a process sends itself does nothing to the first one of a container: the kernel's own does. */
static void crash(const struct misbehaviour_order *order)
{
	(void)order;
	volatile int *nowhere = NULL;

	*nowhere = 0; /* NOLINT(clang-analyzer-core.NullDereference): that is the crash */
}

/* Others cannot come from the kernel: a child dies of it, and the first process leaves as a shell would. */
static void die_of(const struct misbehaviour_order *order)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		signal((int)order->count, SIG_DFL);
		raise((int)order->count);
		_exit(0);
	}
	if (waitpid(child, &status, 0) == child && WIFSIGNALED(status))
		_exit(128 + WTERMSIG(status));
}

static void stall(const struct misbehaviour_order *order)
{
	poll(NULL, 0, (int)order->count);
}

static void ignore_signals(const struct misbehaviour_order *order)
{
	(void)order;
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
}

static void stay(void)
{
	for (;;)
		pause();
}

/* They stay, so that they count. */
static void fork_many(const struct misbehaviour_order *order)
{
	for (long long i = 0; i < order->count; i++) {
		pid_t child = fork();

		if (child < 0)
			return;
		if (child == 0)
			stay();
	}
}

/* A child takes it, page by page, and is gone before the next step. */
static void allocate(const struct misbehaviour_order *order)
{
	pid_t child = fork();

	if (child == 0) {
		char *memory = malloc((unsigned long)order->count);

		for (long long at = 0; memory && at < order->count; at += CHUNK)
			((volatile char *)memory)[at] = 1;
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void close_output(const struct misbehaviour_order *order)
{
	(void)order;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
}

/* Where a peer is what misbehaves. */
static void go_on(const struct misbehaviour_order *order)
{
	(void)order;
}

const struct misbehaviour misbehaviours[] = {
	{ .id = "nothing", .what = "goes on as it should", .run = go_on },
	{ .id = "raw", .what = "writes bytes to standard output", .run = write_raw },
	{ .id = "split", .what = "writes bytes to standard output, one at a time", .run = write_bytes },
	{ .id = "big-frame", .what = "writes a frame of so many bytes", .run = whole_frame },
	{ .id = "cut-frame", .what = "writes so many bytes of a frame that has no end, and leaves", .run = cut_frame },
	{ .id = "nested", .what = "writes a frame that is so many levels deep", .run = nested },
	{ .id = "never-reads", .what = "calls so often, and reads no answer", .run = never_read },
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
