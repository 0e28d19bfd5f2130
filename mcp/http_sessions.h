/* The MCP sessions of an HTTP server: ids that cannot be guessed, a fixed number of them. */
#ifndef HARNESS_MCP_HTTP_SESSIONS_H
#define HARNESS_MCP_HTTP_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "mcp/http_server.h"

#define HTTP_SESSION_ID 33 /* 128 random bits as hexadecimal digits, and a NUL */

struct http_session {
	char id[HTTP_SESSION_ID]; /* "": a free row */
	uint64_t serial; /* never used again */
	uint64_t used; /* by the table's clock of uses */
};

struct http_sessions {
	uint64_t last_serial;
	uint64_t uses;
	struct http_session rows[MCP_HTTP_SESSIONS];
};

/* Opens one; with no row free the one that was unused for longest ends. */
int http_sessions_open(struct http_sessions *sessions, char id[HTTP_SESSION_ID], struct error **err) MUST_CHECK;
/* The session's serial, from 1 on, or 0: none of ours, or ended. Counts as a use. */
uint64_t http_sessions_find(struct http_sessions *sessions, const char *id);
/* False: it was none. */
bool http_sessions_end(struct http_sessions *sessions, const char *id);

#endif
