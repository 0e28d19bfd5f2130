/*
 * What the transports of an MCP server share: the open requests, and what becomes of a decoded message. Only the files
 * of a transport include this.
 */
#ifndef HARNESS_MCP_TRANSPORT_H
#define HARNESS_MCP_TRANSPORT_H

#include <stddef.h>

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

/* How a transport takes what is written to a request. None is called once the request is cancelled but answered(). */
struct mcp_transport {
	/* Where the line of the answer is appended. Never NULL. */
	struct buf *(*answer)(struct mcp_request *request);
	/* Where a notification of at most `length` bytes is appended, or NULL: there is no room for one. */
	struct buf *(*notice)(struct mcp_request *request, size_t length);
	/* A notification was appended. NULL: nothing to do. */
	void (*noticed)(struct mcp_request *request);
	/* The request was answered; it is freed when this returns. NULL: nothing to do. */
	void (*answered)(struct mcp_request *request);
};

/* The open requests of a server, or of one session. */
struct mcp_requests {
	struct mcp_request *first;
	size_t count;
};

struct mcp_request {
	const struct mcp_transport *transport;
	void *carrier; /* the transport's own */
	struct mcp_requests *list;
	struct mcp_request *next;
	struct rpc_message message;
	int status; /* HTTP: of the error that it is answered with; 0: not set, or a result */
	bool cancelled;
};

/* Opens a request and runs what the service has for its method: `initialize` and `ping` by itself, the table, or
 * "method not found". The message is taken. Negative: a handler ends the server. */
int mcp_serve(const struct mcp_service *service, struct mcp_requests *list, const struct mcp_transport *transport,
	      void *carrier, struct rpc_message *message, struct error **err) MUST_CHECK;
/* Takes in a notification: `notifications/cancelled` cancels the request of the list that it names. */
void mcp_notified(const struct mcp_service *service, struct mcp_requests *list, const struct rpc_message *message);
/* Nobody waits for the request any more: the service is told, once. It may be freed by then. */
void mcp_cancel(const struct mcp_service *service, struct mcp_request *request);
/* Frees every request without an answer. */
void mcp_requests_free(struct mcp_requests *list);
/* The HTTP status that goes with an error's code. */
int mcp_http_status(int code);

#endif
