/* What is refused by a request's head alone. Pure: strings in, a row of a table out. */
#ifndef HARNESS_MCP_HTTP_GATE_H
#define HARNESS_MCP_HTTP_GATE_H

#include <stdbool.h>

#include "mcp/http_server.h"

/* An answer that never changes. */
struct http_refusal {
	int status;
	const char *body; /* JSON */
	const char *header, *value; /* one more header, or NULL */
};

enum http_refused {
	HTTP_PASSED,
	HTTP_HOST,
	HTTP_ORIGIN,
	HTTP_TOKEN_MISSING,
	HTTP_TOKEN_WRONG,
	HTTP_NO_ROUTE,
	HTTP_METHOD,
	HTTP_PROTOCOL,
	HTTP_SESSION,
	HTTP_SESSION_MISSING,
	HTTP_TOO_LARGE,
	HTTP_BUSY,
	HTTP_FAILED,
};

const struct http_refusal *http_refusal(enum http_refused refused);

/* A request's head: NULL for a header that is not there. */
struct http_head {
	const char *method, *path;
	const char *host, *origin, *authorization, *protocol;
};

/* Who may pass, and what is served beside /mcp. */
struct http_gate {
	const char *bearer, *operator_token; /* never NULL */
	const struct mcp_http_route *routes; /* or NULL */
};

/* HTTP_PASSED with *route (NULL: /mcp) and the path's {id}, or why not. */
enum http_refused http_admit(const struct http_gate *gate, const struct http_head *head,
			     const struct mcp_http_route **route, char id[MCP_HTTP_ID_BYTES]);
/* Whether an Accept header lets an event stream come back; NULL does not. */
bool http_accepts_stream(const char *accept);

#endif
