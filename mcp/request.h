/*
 * A request that an MCP server has open, whichever way it came: its parameters, and the one answer that it gets, now or
 * later. Everything that is written goes to the peer that asked; what its peer no longer waits for goes nowhere.
 */
#ifndef HARNESS_MCP_REQUEST_H
#define HARNESS_MCP_REQUEST_H

#include <stdbool.h>

#include "core/error.h"
#include "core/json.h"

struct mcp_request; /* an open request; freed by its answer, or with the server */

struct mcp_handler {
	const char *method;
	/* Must see to it that the request is answered once, now or later. Negative with *err set ends the server. */
	int (*run)(void *context, struct mcp_request *request, struct error **err);
};

/* Told once that the peer no longer waits for the request: it was cancelled, or the connection that carries its answer
 * is gone. The request still has to be answered, in the callback or later, which frees it; that answer goes nowhere. */
typedef void (*mcp_cancelled)(void *context, struct mcp_request *request);

/* The request's parameters, or NULL; they live until the answer. */
const struct json_node *mcp_request_params(const struct mcp_request *request);
/* Each answers and frees the request. `result` and `data` are raw JSON; `data` may be an empty span. */
void mcp_request_result(struct mcp_request *request, struct json_span result);
void mcp_request_error(struct mcp_request *request, int code, const char *message, struct json_span data);
/* The HTTP status of an error that follows, for a caller without an MCP session; without this the error's code decides.
 * A session's errors come with status 200, as MCP wants them; a pipe has no status. */
void mcp_request_status(struct mcp_request *request, int http_status);
/* Sends a notification that belongs to the request, before its answer: `params` is one raw JSON object, or empty. It is
 * dropped where the peer cannot take one: it reads too slowly, or accepts no stream. */
void mcp_request_notify(struct mcp_request *request, const char *method, struct json_span params);
/* Whether the peer no longer waits. */
bool mcp_request_cancelled(const struct mcp_request *request);

#endif
