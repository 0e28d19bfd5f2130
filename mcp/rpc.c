#include "mcp/rpc.h"

#include <string.h>

#include "core/limits.h"
#include "core/schema.h"

/* Bytes that a read may add beyond the longest line. */
#define FRAMER_SLACK (64 * KIB)

static const char *const protocols[]; /* ended by NULL */

static int invalid(struct error **err, const char *reason)
{
	return error_set(err, ERROR_PROTOCOL, "JSON-RPC: %s", reason);
}

static int decode_id(const struct json_node *id, struct rpc_message *out, struct error **err)
{
	out->id = json_raw(id);
	if (out->id.length > RPC_ID_BYTES)
		return invalid(err, "an id is too long");
	if (json_type(id) == JSON_STRING)
		return 0;
	if (json_int64(id, &out->number)) {
		if (out->number < 0)
			out->number = -1;
		return 0;
	}
	return invalid(err, "an id is neither an integer nor a string");
}

static int decode_call(const struct json_node *root, const struct json_node *method, struct rpc_message *out,
		       struct error **err)
{
	const struct json_node *id = json_member(root, "id");

	out->method = json_string(method);
	if (!out->method || json_string_length(method) > RPC_METHOD_BYTES)
		return invalid(err, "a method is no string, or too long");
	out->params = json_member(root, "params");
	if (out->params && json_type(out->params) != JSON_OBJECT)
		return invalid(err, "params is no object");
	out->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
	return id ? decode_id(id, out, err) : 0;
}

/* Only codes as a table of ours could hold them; free text of a peer goes no further. */
static void copy_error_code(const char *text, char out[RPC_ERROR_CODE_BYTES])
{
	size_t length = text ? strlen(text) : 0;

	if (length >= RPC_ERROR_CODE_BYTES || length == 0 ||
	    strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != length)
		return;
	memcpy(out, text, length);
}

static int decode_answer(const struct json_node *root, struct rpc_message *out, struct error **err)
{
	const struct json_node *id = json_member(root, "id");
	const struct json_node *error = json_member(root, "error");

	out->result = json_member(root, "result");
	if (!out->result == !error)
		return invalid(err, "an answer has either a result or an error");
	if (!id)
		return invalid(err, "an answer without an id");
	out->kind = error ? RPC_ERROR : RPC_RESULT;
	out->error = error;
	if (error) {
		if (!json_int64(json_member(error, "code"), &out->code) || !json_string(json_member(error, "message")))
			return invalid(err, "an error without code and message");
		copy_error_code(json_string(json_member(json_member(error, "data"), "error_code")), out->error_code);
		if (json_is_null(id)) {
			out->id = json_raw(id);
			return 0;
		}
	}
	return decode_id(id, out, err);
}

static int decode_envelope(struct rpc_message *out, struct error **err)
{
	const struct json_node *root = json_root(out->document);
	const struct json_node *method = json_member(root, "method");
	const char *version = json_string(json_member(root, "jsonrpc"));

	if (json_type(root) != JSON_OBJECT)
		return invalid(err, "a message is no object");
	if (!version || strcmp(version, "2.0") != 0)
		return invalid(err, "jsonrpc is not 2.0");
	if (method && (json_member(root, "result") || json_member(root, "error")))
		return invalid(err, "a call and an answer at once");
	return method ? decode_call(root, method, out, err) : decode_answer(root, out, err);
}

int rpc_decode(const char *line, size_t length, struct rpc_message *out, struct error **err)
{
	int r;

	*out = (struct rpc_message){ .number = -1 };
	r = json_parse(line, length, JSON_ENGINE_DEPTH, &out->document, err);
	if (r == 0)
		r = decode_envelope(out, err);
	if (r < 0)
		rpc_message_free(out);
	return r;
}

void rpc_message_free(struct rpc_message *message)
{
	json_free(message->document);
	*message = (struct rpc_message){ .number = -1 };
}

/* Outside a string a newline is white space, inside one it is written \n: a raw one may become a space. */
static void put_raw(struct buf *out, struct json_span raw)
{
	size_t before = out->length;

	if (buf_add(out, raw.bytes, raw.length) < 0)
		return;
	for (char *at = out->data + before; (at = memchr(at, '\n', out->length - (size_t)(at - out->data)));)
		*at = ' ';
}

static void put_call(struct json_writer *writer, struct buf *out, const char *method, struct json_span params)
{
	json_member_string(writer, "method", method);
	if (params.length > 0) {
		buf_text(out, ",\"params\":");
		put_raw(out, params);
	}
	buf_text(out, "}\n");
}

void rpc_put_request(struct buf *out, int64_t id, const char *method, struct json_span params)
{
	struct json_writer writer;

	json_begin(&writer, out);
	json_object(&writer);
	json_member_string(&writer, "jsonrpc", "2.0");
	json_member_int(&writer, "id", id);
	put_call(&writer, out, method, params);
}

void rpc_put_notification(struct buf *out, const char *method, struct json_span params)
{
	struct json_writer writer;

	json_begin(&writer, out);
	json_object(&writer);
	json_member_string(&writer, "jsonrpc", "2.0");
	put_call(&writer, out, method, params);
}

static void put_answer(struct buf *out, struct json_span id, const char *key)
{
	buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	put_raw(out, id);
	buf_text(out, key);
}

void rpc_put_result(struct buf *out, struct json_span id, struct json_span result)
{
	put_answer(out, id, ",\"result\":");
	put_raw(out, result);
	buf_text(out, "}\n");
}

void rpc_put_error(struct buf *out, struct json_span id, int code, const char *message, struct json_span data)
{
	struct json_writer writer;

	put_answer(out, id, ",\"error\":");
	json_begin(&writer, out);
	json_object(&writer);
	json_member_int(&writer, "code", code);
	json_member_string(&writer, "message", message);
	if (data.length > 0) {
		buf_text(out, ",\"data\":");
		put_raw(out, data);
	}
	buf_text(out, "}}\n");
}

struct json_span rpc_span(const struct buf *buf)
{
	return (struct json_span){ .bytes = buf_string(buf), .length = buf->length };
}

void rpc_framer_init(struct rpc_framer *framer, size_t line_max)
{
	*framer = (struct rpc_framer){ .buf = BUF(line_max + 1 + FRAMER_SLACK), .line_max = line_max };
}

void rpc_framer_free(struct rpc_framer *framer)
{
	buf_wipe(&framer->buf);
	framer->start = 0;
	framer->scanned = 0;
}

char *rpc_framer_reserve(struct rpc_framer *framer, size_t length)
{
	buf_consume(&framer->buf, framer->start);
	framer->start = 0;
	return buf_reserve(&framer->buf, length);
}

void rpc_framer_commit(struct rpc_framer *framer, size_t length)
{
	buf_commit(&framer->buf, length);
}

int rpc_framer_next(struct rpc_framer *framer, struct json_span *line, struct error **err)
{
	size_t length = framer->buf.length - framer->start;
	const char *from = buf_string(&framer->buf) + framer->start;
	const char *newline =
		length > framer->scanned ? memchr(from + framer->scanned, '\n', length - framer->scanned) : NULL;

	framer->scanned = length;
	if (newline)
		length = (size_t)(newline - from);
	if (length > framer->line_max)
		return error_set(err, ERROR_LIMIT, "a line is longer than %zu bytes", framer->line_max);
	if (!newline)
		return 0;
	*line = (struct json_span){ .bytes = from, .length = length };
	framer->start += length + 1;
	framer->scanned = 0;
	return 1;
}

bool rpc_framer_partial(const struct rpc_framer *framer)
{
	return framer->buf.length > framer->start;
}

bool mcp_speaks(const char *version)
{
	return schema_enum(protocols, version) >= 0;
}

static const char *const protocols[] = { "2025-11-25", MCP_PROTOCOL, "2025-03-26", "2024-11-05", NULL };
