/*
 * MCP over Streamable HTTP, on loopback (libmicrohttpd, driven by our loop: no threads). POST /mcp takes one JSON-RPC
 * message. `initialize` opens a session, whose id the client sends from then on: its errors come with status 200, as
 * MCP wants them. A caller without a session is served too, and gets an HTTP status with each error. Web pages are
 * refused by Host and Origin, callers by their token. Everything that a client can make us keep is bounded:
 * connections, sessions, a body, all bodies and answers together, and the time that a client takes to send and to read.
 */
#ifndef HARNESS_MCP_HTTP_SERVER_H
#define HARNESS_MCP_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/json.h"
#include "core/loop.h"
#include "mcp/request.h"

#define MCP_HTTP_BODY_BYTES 1000000 /* of a request */
#define MCP_HTTP_CONNECTIONS 512 /* at once; the rest waits in the kernel's queue */
#define MCP_HTTP_SESSIONS 1024 /* the one that was unused for longest makes room for another */
#define MCP_HTTP_ID_BYTES 129 /* of a path's {id}, with its NUL */
#define MCP_HTTP_REQUEST_MS 30000 /* to send a request's head, then its body; to take its answer */

struct mcp_http_server;
struct mcp_http_exchange; /* an open request of a route; freed by its answer, or with the server */

enum mcp_http_auth {
	MCP_HTTP_OPEN, /* no token */
	MCP_HTTP_BEARER,
	MCP_HTTP_OPERATOR, /* the operator's token alone, where there is one; else the bearer token */
};

/* What is served beside /mcp. */
struct mcp_http_route {
	const char *method; /* "GET", "POST" */
	const char *path; /* may hold one whole segment "{id}": any of 1 to 128 letters, digits, '-', '_' and '.' */
	enum mcp_http_auth auth;
	/* Must see to it that the exchange is answered once, now or later. Negative with *err set ends the server. */
	int (*run)(void *context, struct mcp_http_exchange *exchange, struct error **err);
};

struct mcp_http_options {
	const char *address; /* "127.0.0.1" or "::1": others are refused */
	uint16_t port; /* 0: any that is free */
	const char *bearer; /* "" or NULL: nobody needs one */
	const char *operator_token; /* "" or NULL: the bearer token will do */
	const char *name; /* serverInfo */
	const char *version;
	const struct mcp_handler *handlers; /* ended by .method = NULL; must outlive the server */
	const struct mcp_http_route *routes; /* ended by .method = NULL, or NULL; must outlive the server */
	void *context; /* of handlers, routes and `cancelled` */
	/* NULL, or: the client cancelled a request of its session, or closed the connection that waits for the answer.
	 */
	mcp_cancelled cancelled;
	size_t answer_max; /* bytes of an answer; a longer one becomes an internal error */
	int64_t request_ms; /* 0: MCP_HTTP_REQUEST_MS */
};

/* Binds and listens. ERROR_REFUSED: the address is not one of loopback. Tokens are copied, and wiped in the end. */
int mcp_http_server_new(const struct mcp_http_options *options, struct mcp_http_server **out,
			struct error **err) MUST_CHECK;
/* Closes every connection at once; what is open is forgotten, without a callback. NULL-safe. */
void mcp_http_server_free(struct mcp_http_server *server);
static inline void mcp_http_server_cleanup(struct mcp_http_server **server)
{
	mcp_http_server_free(*server);
}
#define cleanup_mcp_http_server __attribute__((cleanup(mcp_http_server_cleanup)))

/* The port it listens on. */
uint16_t mcp_http_server_port(const struct mcp_http_server *server);
/* Serves in the loop from now on, with one descriptor and the timer `slot`, until it is freed; answers given outside a
 * handler wake it by themselves. What a handler returns as an error ends loop_run(). */
int mcp_http_server_attach(struct mcp_http_server *server, struct loop *loop, unsigned slot,
			   struct error **err) MUST_CHECK;

/* The path's {id}, or "". */
const char *mcp_http_exchange_id(const struct mcp_http_exchange *exchange);
/* The decoded value of a query's key, or NULL. Only while the route's run() has not returned. */
const char *mcp_http_exchange_query(const struct mcp_http_exchange *exchange, const char *key);
/* The request's body; it lives until the answer. */
struct json_span mcp_http_exchange_body(const struct mcp_http_exchange *exchange);
/* For an answer that follows: the header Retry-After. */
void mcp_http_exchange_retry_after(struct mcp_http_exchange *exchange, unsigned seconds);
/* Answers and frees. `body` is copied; where it is longer than answer_max an internal error is sent. `content_type`
 * must be a constant. */
void mcp_http_exchange_answer(struct mcp_http_exchange *exchange, int status, const char *content_type,
			      struct json_span body);

#endif
