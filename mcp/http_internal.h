/* The two objects of the HTTP server, for its own files: the server, and one request with its answer. */
#ifndef HARNESS_MCP_HTTP_INTERNAL_H
#define HARNESS_MCP_HTTP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/limits.h"
#include "mcp/http_gate.h"
#include "mcp/http_server.h"
#include "mcp/http_sessions.h"
#include "mcp/transport.h"

/* Of all bodies and answers that are kept at a time; beyond it what comes is refused as too much. */
#define HTTP_HELD_BYTES (32 * MIB)

struct MHD_Connection;
struct MHD_Daemon;

/* What a connection is waited for; but for HTTP_WORKS its time is bounded. */
enum http_phase {
	HTTP_IDLE, /* the head of a request */
	HTTP_SENDS, /* its body */
	HTTP_WORKS, /* our answer, or more of it */
	HTTP_TAKES, /* that it reads the rest */
};

struct http_connection {
	struct http_connection *next, *previous;
	int fd; /* libmicrohttpd's */
	struct mcp_http_exchange *exchange; /* or NULL: between two */
	bool ended; /* its client sends no more */
	enum http_phase phase;
	int64_t since;
};

enum http_state {
	HTTP_READING, /* its head was read */
	HTTP_PENDING, /* a handler has it */
	HTTP_ANSWERED, /* the whole answer is in `out` */
};

/* One HTTP request. It lives until the connection let go of it, and its handler too. */
struct mcp_http_exchange {
	struct mcp_http_server *server;
	struct mcp_http_exchange *next, *previous;
	struct MHD_Connection *connection; /* NULL once the connection let go */
	struct http_connection *peer; /* as long as `connection` */
	enum http_state state;
	bool lost; /* the client is gone; its connection is about to be closed */
	bool suspended; /* the connection waits for our answer */

	enum http_refused refused; /* by its head or its length */
	const struct mcp_http_route *route; /* NULL: /mcp */
	char id[MCP_HTTP_ID_BYTES];
	bool deletes; /* the session: it brings no message */
	struct buf body;
	size_t discarded; /* bytes of a body that is refused */

	struct mcp_request *request; /* open, or NULL */
	bool session; /* it named one */
	bool accepts_stream;
	bool streams; /* the answer is an event stream */
	bool queued; /* the answer's head is on its way */

	int status;
	const char *content_type;
	const char *header, *value; /* one more header, or NULL */
	char new_session[HTTP_SESSION_ID]; /* "": none was opened */
	char retry_after[16];
	struct buf out; /* the answer, or a stream's part */
	size_t given; /* of a stream's first bytes: on their way */
	size_t held; /* bytes that the server counted for it */
};

struct mcp_http_server {
	struct http_gate gate;
	char *bearer, *operator_token;
	void *context;
	size_t answer_max;
	int64_t request_ms;
	uint16_t port;

	struct mcp_requests open;
	struct http_sessions sessions;
	struct mcp_http_exchange *exchanges;
	size_t held; /* bytes of all exchanges */

	struct MHD_Daemon *daemon;
	int epoll; /* libmicrohttpd's epoll, and the end of each connection */
	struct http_connection *connections;
	size_t connections_count;
	struct loop *loop; /* or NULL */
	unsigned timer;
	bool stirred; /* a connection was resumed since the last round */
	struct error *failure; /* a handler's */
	bool ending;
};

/* ---- http_exchange.c: what becomes of the answer ---- */

/* The answer is complete: `status`, `content_type` and `out` are set. The exchange may be freed by now. */
void http_answered(struct mcp_http_exchange *exchange);
/* Answers with a row of the refusals. */
void http_refuse(struct mcp_http_exchange *exchange, enum http_refused refused);
/* More of a stream is in `out`. */
void http_stream(struct mcp_http_exchange *exchange);
/* The client is gone: the connection closes, and who works on the answer is told. */
void http_lost(struct mcp_http_exchange *exchange);
/* A header of the request, or NULL. Not once the connection let go. */
const char *http_header(const struct mcp_http_exchange *exchange, const char *name);

/* ---- http_server.c ---- */

/* A connection was resumed: without this libmicrohttpd would look at it when something else happens. */
void http_stir(struct mcp_http_server *server);

/* ---- http_message.c: /mcp ---- */

extern const struct mcp_transport http_transport;
/* The whole request is here. Negative: a handler ends the server. */
int http_message(struct mcp_http_exchange *exchange, struct error **err) MUST_CHECK;
/* Decodes a body into one message, or appends the refusal's JSON to `out` and returns negative. */
int http_decode(const char *body, size_t length, struct rpc_message *message, struct buf *out) MUST_CHECK;

#endif
