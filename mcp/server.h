/*
 * An MCP server over a table of methods, on two descriptors. It answers `initialize` and `ping` itself, refuses what is
 * no envelope and what the table does not name, and hands the rest to a handler, which answers at once or later. While
 * as many requests are open as its limits allow, or answers pile up, it stops reading: a peer is slowed down, never
 * buffered without end.
 */
#ifndef HARNESS_MCP_SERVER_H
#define HARNESS_MCP_SERVER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/json.h"
#include "core/loop.h"
#include "mcp/request.h"
#include "mcp/stream.h"

struct mcp_server;
struct mcp_server_options {
	const char *name; /* serverInfo */
	const char *version;
	const struct mcp_handler *handlers; /* ended by .method = NULL; must outlive the server */
	void *context;
	mcp_cancelled cancelled; /* or NULL */
	struct mcp_limits limits;
};

/* Takes both descriptors (the same one is allowed), also when it fails. */
int mcp_server_new(int in, int out, const struct mcp_server_options *options, struct mcp_server **out_server,
		   struct error **err) MUST_CHECK;
void mcp_server_free(struct mcp_server *server); /* NULL-safe */
static inline void mcp_server_cleanup(struct mcp_server **server)
{
	mcp_server_free(*server);
}
#define cleanup_mcp_server __attribute__((cleanup(mcp_server_cleanup)))

size_t mcp_server_fds(const struct mcp_server *server, struct pollfd fds[2]);
/* Keeps the loop's watches as mcp_server_fds() wants them; call it after each dispatch and resume. */
int mcp_server_watch(struct mcp_server *server, struct loop *loop, loop_fd_callback callback, void *context,
		     struct error **err) MUST_CHECK;
/* Waits until the peer is ready, or `deadline` (0: does not wait), then reads once, runs the handlers and writes. 1
 * when the peer closed and all its requests were handled, 0 to go on, negative when the stream failed. */
int mcp_server_dispatch(struct mcp_server *server, int64_t deadline, struct error **err) MUST_CHECK;
/* After answers and notifications that were given outside a handler: writes them, and handles the lines that had to
 * wait. Returns as mcp_server_dispatch(). */
int mcp_server_resume(struct mcp_server *server, struct error **err) MUST_CHECK;
/* Handles what comes until the peer closes, and writes what is queued then, within `last_ms`. ERROR_TIMEOUT where
 * nobody ended it by the absolute deadline `end`. */
int mcp_server_serve(struct mcp_server *server, int64_t end, int last_ms, struct error **err) MUST_CHECK;
/* Writes what is queued, until the absolute deadline. */
int mcp_server_flush(struct mcp_server *server, int64_t deadline, struct error **err) MUST_CHECK;

#endif
