/*
 * What an HTTP answer means to the caller of a JSON-RPC request: the line that it gets. Pure. What the peer says in
 * JSON-RPC is passed on; anything else becomes an error of ours with a fixed text and a code in data.error_code.
 */
#ifndef HARNESS_MCP_HTTP_MEANING_H
#define HARNESS_MCP_HTTP_MEANING_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"
#include "mcp/rpc.h"

enum http_failure {
	HTTP_UNREACHABLE, /* nobody takes the connection */
	HTTP_TIMEOUT, /* no whole answer within the call's time; whether it took effect is unknown */
	HTTP_LOST, /* the connection ended without an answer; likewise */
	HTTP_LIMIT, /* the answer is longer than may pass */
	HTTP_STATUS, /* a status that is no success, and no JSON-RPC error with it; data.status holds it */
	HTTP_PROTOCOL, /* no answer of the protocol, or of another request */
};

/* The failure that an error of core/http amounts to. */
enum http_failure http_failure_of(const struct error *error);
/* Appends the line of an error of ours. `status`: 0, or what HTTP said. */
void http_put_failure(struct buf *out, struct json_span id, enum http_failure failure, long status);

/* Appends the line that answers request `id` when `message` does: its result, or its error; an error without an id is
 * taken for this request's. Else it appends nothing, and false. */
bool http_put_answer(struct buf *out, struct json_span id, const struct rpc_message *message);
/* A whole answer that is no event stream. */
void http_put_body(struct buf *out, struct json_span id, long status, struct json_span body);

#endif
