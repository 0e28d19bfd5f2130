/*
 * JSON-RPC 2.0 over newline-delimited JSON: the envelope and the line, both pure. An id is an integer or a string and
 * is echoed by the bytes it was written with; parameters and results are kept and passed on as the bytes they were
 * written with, so that no number changes on its way through.
 */
#ifndef HARNESS_MCP_RPC_H
#define HARNESS_MCP_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"

#define MCP_PROTOCOL "2025-06-18" /* the version of MCP that our sides ask for, and offer to who asks for another */
/* Whether it is a version that we speak: in each of them, what we use is the same. */
bool mcp_speaks(const char *version);

#define RPC_PARSE_ERROR (-32700)
#define RPC_INVALID_REQUEST (-32600)
#define RPC_METHOD_NOT_FOUND (-32601)
#define RPC_INVALID_PARAMS (-32602)
#define RPC_INTERNAL_ERROR (-32603)
#define RPC_SERVER_ERROR (-32000)

#define RPC_ID_BYTES 256 /* of an id as written */
#define RPC_METHOD_BYTES 128 /* of a method's name */
#define RPC_ERROR_CODE_BYTES 64 /* of data.error_code, with its NUL */

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESULT,
	RPC_ERROR,
};

/* One decoded message. Everything in it lives as long as `document`. */
struct rpc_message {
	enum rpc_kind kind;
	struct json_document *document;
	struct json_span id; /* as written; "null" of an error without one; empty of a notification */
	int64_t number; /* the id as an integer, or -1 */
	const char *method; /* requests and notifications */
	const struct json_node *params; /* object, or NULL */
	const struct json_node *result; /* RPC_RESULT */
	const struct json_node *error; /* RPC_ERROR: all of it */
	int64_t code; /* RPC_ERROR */
	char error_code[RPC_ERROR_CODE_BYTES]; /* RPC_ERROR: data.error_code when it is [A-Z0-9_]+, else "" */
};

/* Decodes one line (without its newline). ERROR_INPUT: no JSON by our strict rules, a RPC_PARSE_ERROR; ERROR_PROTOCOL:
 * JSON, but no envelope, a RPC_INVALID_REQUEST. Members that the envelope does not know are ignored. */
int rpc_decode(const char *line, size_t length, struct rpc_message *out, struct error **err) MUST_CHECK;
/* Idempotent. */
void rpc_message_free(struct rpc_message *message);
#define cleanup_rpc __attribute__((cleanup(rpc_message_free)))

/* Each appends one line with its newline; the buffer's sticky failure is the only error. Raw values are whole JSON
 * values; a newline in one (white space, there) becomes a space. `params` and `data` may be empty spans. */
void rpc_put_request(struct buf *out, int64_t id, const char *method, struct json_span params);
void rpc_put_notification(struct buf *out, const char *method, struct json_span params);
void rpc_put_result(struct buf *out, struct json_span id, struct json_span result);
void rpc_put_error(struct buf *out, struct json_span id, int code, const char *message, struct json_span data);

/* A line's worth of text as a span. */
struct json_span rpc_span(const struct buf *buf);
#define RPC_NONE ((struct json_span){ .bytes = NULL, .length = 0 })
#define RPC_NULL ((struct json_span){ .bytes = "null", .length = 4 })

/* Cuts a stream into lines. Bytes are added as they come; a line that is longer than `line_max` is an error at once,
 * before its end was seen. Wiped when freed. */
struct rpc_framer {
	struct buf buf;
	size_t line_max;
	size_t start; /* of the line that comes next */
	size_t scanned; /* bytes known to hold no newline from `start` on */
};

void rpc_framer_init(struct rpc_framer *framer, size_t line_max);
void rpc_framer_free(struct rpc_framer *framer);
/* Room for `length` bytes, or NULL (memory). Lines given out before are no longer valid. rpc_framer_commit() counts. */
char *rpc_framer_reserve(struct rpc_framer *framer, size_t length);
void rpc_framer_commit(struct rpc_framer *framer, size_t length);
/* 1 and the next line without its newline, valid until the next reserve; 0 when there is none yet; ERROR_LIMIT. */
int rpc_framer_next(struct rpc_framer *framer, struct json_span *line, struct error **err) MUST_CHECK;
/* Whether the bytes end within a line. */
bool rpc_framer_partial(const struct rpc_framer *framer);

#endif
