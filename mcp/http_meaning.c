#include "mcp/http_meaning.h"

#include <string.h>

#define DATA_BYTES 128

struct failure {
	const char *message, *code;
};
static const struct failure failures[HTTP_PROTOCOL + 1];

enum http_failure http_failure_of(const struct error *error)
{
	switch (error_code(error)) {
	case ERROR_SYSTEM:
		return HTTP_UNREACHABLE;
	case ERROR_TIMEOUT:
		return HTTP_TIMEOUT;
	case ERROR_CLOSED:
		return HTTP_LOST;
	case ERROR_LIMIT:
		return HTTP_LIMIT;
	default:
		return HTTP_PROTOCOL;
	}
}

void http_put_failure(struct buf *out, struct json_span id, enum http_failure failure, long status)
{
	cleanup_buf struct buf data = BUF(DATA_BYTES);
	struct json_writer json;

	json_begin(&json, &data);
	json_object(&json);
	json_member_string(&json, "error_code", failures[failure].code);
	if (status)
		json_member_int(&json, "status", status);
	json_object_end(&json);
	rpc_put_error(out, id, RPC_SERVER_ERROR, failures[failure].message, rpc_span(&data));
}

static bool is_of(struct json_span id, const struct rpc_message *message)
{
	return message->id.length == id.length && memcmp(message->id.bytes, id.bytes, id.length) == 0;
}

bool http_put_answer(struct buf *out, struct json_span id, const struct rpc_message *message)
{
	const struct json_node *error = json_member(json_root(message->document), "error");
	const struct json_node *data = json_member(error, "data");
	bool nobody =
		message->id.length == RPC_NULL.length && memcmp(message->id.bytes, "null", message->id.length) == 0;

	if (message->kind == RPC_RESULT && is_of(id, message)) {
		rpc_put_result(out, id, json_raw(message->result));
		return true;
	}
	if (message->kind != RPC_ERROR || !(is_of(id, message) || nobody) || message->code < INT32_MIN ||
	    message->code > INT32_MAX)
		return false;
	rpc_put_error(out, id, (int)message->code, json_string(json_member(error, "message")),
		      data ? json_raw(data) : RPC_NONE);
	return true;
}

void http_put_body(struct buf *out, struct json_span id, long status, struct json_span body)
{
	cleanup_error struct error *ignored = NULL;
	cleanup_rpc struct rpc_message message = { .document = NULL };
	bool success = status >= 200 && status < 300;
	bool read = rpc_decode(body.bytes, body.length, &message, &ignored) == 0;

	/* A result with a status that denies it is neither. */
	if (read && (success || message.kind == RPC_ERROR) && http_put_answer(out, id, &message))
		return;
	http_put_failure(out, id, success ? HTTP_PROTOCOL : HTTP_STATUS, success ? 0 : status);
}

static const struct failure failures[] = {
	[HTTP_UNREACHABLE] = { "The server cannot be reached", "HTTP_UNREACHABLE" },
	[HTTP_TIMEOUT] = { "The server did not answer in time", "HTTP_TIMEOUT" },
	[HTTP_LOST] = { "The server ended the connection", "HTTP_LOST" },
	[HTTP_LIMIT] = { "The server's answer is too long", "HTTP_LIMIT" },
	[HTTP_STATUS] = { "The server refused the request", "HTTP_STATUS" },
	[HTTP_PROTOCOL] = { "The server's answer is none of the protocol", "HTTP_PROTOCOL" },
};
