/*
 * An MCP client that never blocks unless it is asked to: calls go out, answers come back by callback. Used by the
 * bridge towards the gateway and by the gateway towards its upstreams. Each call has an absolute deadline.
 */
#ifndef HARNESS_MCP_CLIENT_H
#define HARNESS_MCP_CLIENT_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/json.h"
#include "core/loop.h"
#include "mcp/stream.h"

#define MCP_CLIENT_CALLS 64 /* the most that limits.calls_max may ask for */

enum mcp_outcome {
	MCP_RESULT, /* the peer answered */
	MCP_ERROR, /* the peer answered with an error */
	MCP_TIMEOUT, /* the call's deadline passed; the peer was told that it is cancelled */
	MCP_LOST, /* the peer is gone, or broke the protocol */
};

/* Valid only during the callback. */
struct mcp_answer {
	enum mcp_outcome outcome;
	const struct json_node *result; /* MCP_RESULT; json_raw() gives its bytes as written */
	int64_t code; /* MCP_ERROR */
	const char *error_code; /* MCP_ERROR: data.error_code, or ""; never NULL */
	const struct json_node *error; /* MCP_ERROR: the peer's whole error, which may hold anything */
};

/* Called once a call, from mcp_client_dispatch() alone. It may start and cancel calls, and may not free the client. */
typedef void (*mcp_done)(void *context, const struct mcp_answer *answer);

struct mcp_client;

/* Takes both descriptors (we read `in` and write `out`; they may be the same), also when it fails. */
int mcp_client_new(int in, int out, const struct mcp_limits *limits, struct mcp_client **out_client,
		   struct error **err) MUST_CHECK;
/* Closes; calls under way are forgotten without their callback. NULL-safe. */
void mcp_client_free(struct mcp_client *client);
static inline void mcp_client_cleanup(struct mcp_client **client)
{
	mcp_client_free(*client);
}
#define cleanup_mcp_client __attribute__((cleanup(mcp_client_cleanup)))

/* Told of each notification of the peer's, under the same rules as mcp_done; `params` may be NULL. One a client; NULL:
 * they are ignored. */
typedef void (*mcp_notice)(void *context, const char *method, const struct json_node *params);
void mcp_client_on_notification(struct mcp_client *client, mcp_notice callback, void *context);

/* Sends the handshake (initialize, then notifications/initialized); `done` is told the peer's answer, and MCP_LOST when
 * the peer speaks no protocol version of ours. `name` and `version` are ours. */
int mcp_client_initialize(struct mcp_client *client, const char *name, const char *version, int64_t deadline,
			  mcp_done done, void *context, struct error **err) MUST_CHECK;
/* Sends a call. `params` is one raw JSON object, or empty. *token (may be NULL) names the call for cancelling. As much
 * as the peer takes is written at once. ERROR_LIMIT: too many calls, or the queue is full. ERROR_CLOSED: the peer is
 * gone. */
int mcp_client_call(struct mcp_client *client, const char *method, struct json_span params, int64_t deadline,
		    mcp_done done, void *context, int64_t *token, struct error **err) MUST_CHECK;
/* Forgets a call and tells the peer. Its callback is not called. Unknown tokens are no error. */
void mcp_client_cancel(struct mcp_client *client, int64_t token);
/* Gives the peer up: every call under way is told MCP_LOST, and nothing more can be sent. Not from a callback. */
void mcp_client_lose(struct mcp_client *client);
/* Calls under way. */
size_t mcp_client_calls(const struct mcp_client *client);

/* What to poll for; at most two entries. */
size_t mcp_client_fds(const struct mcp_client *client, struct pollfd fds[2]);
/* The nearest deadline of a call, or NEVER. */
int64_t mcp_client_deadline(const struct mcp_client *client);
/* Keeps the loop's watches as mcp_client_fds() wants them; call it after each dispatch and after a round of calls. */
int mcp_client_watch(struct mcp_client *client, struct loop *loop, loop_fd_callback callback, void *context,
		     struct error **err) MUST_CHECK;
/* Waits until the peer is ready, or `deadline` (0: does not wait), then writes, reads once and delivers every answer
 * and timeout. Negative when the peer is gone or broke the protocol: by then every call was told MCP_LOST. */
int mcp_client_dispatch(struct mcp_client *client, int64_t deadline, struct error **err) MUST_CHECK;

/* Appends the parameters of tools/call, {"name":tool,"arguments":raw}: the bytes of `arguments` stay as written. */
void mcp_put_tool_call(struct buf *out, const char *tool, struct json_span arguments);
/* What a call tells its peer beside its arguments. */
struct mcp_call_meta {
	int64_t progress; /* the peer may tell its progress by notifications that name this token; 0: it need not */
	const char *call_id; /* under which the caller authorised it; NULL: the peer is not told */
};
/* The same with "_meta":{"progressToken":token,"call_id":id}: of what is given. Without either there is no "_meta". */
void mcp_put_tool_call_meta(struct buf *out, const char *tool, struct json_span arguments,
			    const struct mcp_call_meta *meta);

#endif
