/*
 * libexec/refusals: stands behind a gateway's output. Every byte goes on as it came, and each line that is no result is
 * written down before it does: whoever is refused reads why, and that must say nothing of the call.
 *
 *   refusals      stdin: what the gateway says; stdout: who asked; descriptor 3: the file, opened to append
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "mcp/rpc.h"

#define FILE_FD 3
#define CHUNK (64 * KIB)
#define WRITE_MS 5000
#define EXIT_ERROR 3

static bool is_result(struct json_span line)
{
	cleanup_rpc struct rpc_message message = { .document = NULL };
	cleanup_error struct error *broken = NULL;

	return rpc_decode(line.bytes, line.length, &message, &broken) == 0 && message.kind == RPC_RESULT;
}

static int keep(struct rpc_framer *framer, struct error **err)
{
	struct json_span line;
	int r;

	while ((r = rpc_framer_next(framer, &line, err)) > 0)
		if (!is_result(line) &&
		    fd_write_all(FILE_FD, line.bytes, line.length, clock_deadline(WRITE_MS), err) < 0)
			return -1;
	return r;
}

/* 1 at the end. */
static int pass(struct rpc_framer *framer, struct error **err)
{
	char *room = rpc_framer_reserve(framer, CHUNK);
	ssize_t got;

	if (!room)
		return error_set(err, ERROR_MEMORY, "no memory for an answer");
	if (fd_wait(STDIN_FILENO, POLLIN, clock_deadline(HELPER_LIFE_MS), err) <= 0)
		return *err ? -1 : error_set(err, ERROR_TIMEOUT, "nobody ended it");
	got = read(STDIN_FILENO, room, CHUNK);
	if (got <= 0)
		return got == 0 || errno == EINTR ? got == 0 : error_errno(err, errno, "a gateway's output");
	rpc_framer_commit(framer, (size_t)got);
	if (keep(framer, err) < 0)
		return -1;
	return fd_write_all(STDOUT_FILENO, room, (size_t)got, clock_deadline(WRITE_MS), err);
}

int main(void)
{
	cleanup_error struct error *err = NULL;
	struct rpc_framer framer;
	int r = process_harden(true, 0, &err);

	rpc_framer_init(&framer, MCP_LINE_BYTES);
	while (r == 0)
		r = pass(&framer, &err);
	rpc_framer_free(&framer);
	if (r > 0)
		return 0;
	fprintf(stderr, "refusals: %s\n", error_text(err));
	return EXIT_ERROR;
}
