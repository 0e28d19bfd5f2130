/*
 * The two descriptors of an MCP endpoint: lines in, lines out through a bounded queue, neither ever blocking. Shared by
 * client and server.
 */
#ifndef HARNESS_MCP_STREAM_H
#define HARNESS_MCP_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/loop.h"
#include "mcp/rpc.h"

/* Of the envelope around a call's parameters, more than enough for each method of ours. */
#define MCP_LINE_OVERHEAD 256

struct mcp_limits {
	size_t line_max; /* bytes of a line, without its newline */
	size_t queue_max; /* bytes that wait to be written; with room for one line */
	size_t calls_max; /* calls under way */
};

struct mcp_stream {
	int in, out; /* owned; -1 after the stream was freed; may be the same descriptor */
	bool ended; /* end of file was read */
	size_t queue_max;
	struct buf queue;
	size_t sent; /* of the queue's first bytes */
	struct rpc_framer framer;
	struct loop *loop; /* or NULL: not watched */
	short in_events, out_events; /* as the loop knows them; -1: not watched */
};

/* Takes both descriptors, also when it fails, and makes them non-blocking. */
int mcp_stream_open(struct mcp_stream *stream, int in, int out, const struct mcp_limits *limits,
		    struct error **err) MUST_CHECK;
/* Leaves the loop, closes, wipes. Idempotent. */
void mcp_stream_close(struct mcp_stream *stream);

/* The buffer to which the next line is appended. */
struct buf *mcp_stream_queue(struct mcp_stream *stream);
/* Bytes that are queued and not yet written. */
size_t mcp_stream_pending(const struct mcp_stream *stream);
/* Writes what the peer takes now. ERROR_CLOSED when it is gone, ERROR_LIMIT when an append passed the maximum. */
int mcp_stream_flush(struct mcp_stream *stream, struct error **err) MUST_CHECK;
/* One read. Sets `ended` at the end of file. */
int mcp_stream_read(struct mcp_stream *stream, struct error **err) MUST_CHECK;
/* What to poll for: writes at most two entries and returns how many. */
size_t mcp_stream_fds(const struct mcp_stream *stream, bool reading, struct pollfd fds[2]);
/* Waits until one of them is ready, or the deadline; a deadline in the past does not wait. */
int mcp_stream_wait(const struct mcp_stream *stream, bool reading, int64_t deadline, struct error **err) MUST_CHECK;
/* Brings the loop's watches up to date with mcp_stream_fds(). */
int mcp_stream_watch(struct mcp_stream *stream, bool reading, struct loop *loop, loop_fd_callback callback,
		     void *context, struct error **err) MUST_CHECK;

#endif
