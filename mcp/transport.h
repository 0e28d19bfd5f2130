/*
 * What the transports of an MCP server share: the open requests, and what becomes of a decoded message. Only the files
 * of a transport include this.
 */
#ifndef HARNESS_MCP_TRANSPORT_H
#define HARNESS_MCP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "mcp/request.h"
#include "mcp/rpc.h"

/* What a server is, on each transport. */
struct mcp_service {
	const char *name; /* serverInfo */
	const char *version;
	const struct mcp_handler *handlers; /* ended by .method = NULL */
	void *context;
	mcp_cancelled cancelled; /* or NULL */
};

/* How a transport takes what is written to a request. None but answered() is called once
 * the request is cancelled. */
struct mcp_transport {
	/* Where the line of the answer is appended. Never NULL. */
	struct buf *(*answer)(struct mcp_request *request);
	/* Where a notification of at most `length` bytes is appended, or NULL: there is no room for one. */
	struct buf *(*notice)(struct mcp_request *request, size_t length);
	/* A notification was appended. NULL: nothing to do. */
	void (*noticed)(struct mcp_request *request);
	/* It was cancelled, and the service is about to be told. NULL: nothing to do. */
	void (*cancelled)(struct mcp_request *request);
	/* The request was answered; it is freed when this returns. NULL: nothing to do. */
	void (*answered)(struct mcp_request *request);
};

/* The open requests of a server. */
struct mcp_requests {
	struct mcp_service service;
	const struct mcp_transport *transport;
	struct mcp_request *first;
	size_t count;
};

struct mcp_request {
	struct mcp_requests *list;
	struct mcp_request *next;
	void *carrier; /* the transport's own */
	uint64_t peer; /* whose ids are compared with its id; 0: nobody's */
	struct rpc_message message;
	int status; /* HTTP: of the error that it is answered with; 0: not set, or a result */
	bool cancelled;
};

/* Opens a request, which the transport may keep until answered() or cancelled(). The message is taken. */
int mcp_open(struct mcp_requests *list, void *carrier, uint64_t peer, struct rpc_message *message,
	     struct mcp_request **out, struct error **err) MUST_CHECK;
/* Runs what the service has for its method: `initialize` and `ping` by itself, the table, or "method not found". It may
 * be freed by then. Negative: a handler ends the server. */
int mcp_run(struct mcp_request *request, struct error **err) MUST_CHECK;
/* Takes in a notification: `notifications/cancelled` cancels the peer's request that it names. */
void mcp_notified(struct mcp_requests *list, uint64_t peer, const struct rpc_message *message);
/* Nobody waits for the request any more: the service is told, once. The request may be freed by then. */
void mcp_cancel(struct mcp_request *request);
/* Frees every request without an answer. */
void mcp_requests_free(struct mcp_requests *list);

#endif
