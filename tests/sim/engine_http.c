/* The simulated engine's HTTP: requests apart, answers together, and what a script's row makes of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/engine_parts.h"

#define NOISE 0x80
#define FIRST_WORD 8 /* "HTTP/1.1" */

/* ---- requests ---- */

/* The value of a header, up to its line's end, or NULL. `head` ends with an empty line. */
static const char *header(const char *head, const char *end, const char *name)
{
	for (const char *line = head; line < end;) {
		const char *next = strstr(line, "\r\n");

		if (strncasecmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
			return line + strlen(name) + 1 + strspn(line + strlen(name) + 1, " ");
		line = next + 2;
	}
	return NULL;
}

/* "METHOD TARGET HTTP/1.1", of which the version of the API is left out. */
static bool parse_line(struct sim_connection *connection, const char *line, const char *end)
{
	const char *target = memchr(line, ' ', (size_t)(end - line));
	const char *stop = target ? memchr(target + 1, ' ', (size_t)(end - target - 1)) : NULL;
	const char *query;
	size_t query_length;

	if (!stop || (size_t)(target - line) >= sizeof(connection->method) ||
	    (size_t)(stop - target) >= sizeof(connection->path))
		return false;
	snprintf(connection->method, sizeof(connection->method), "%.*s", (int)(target - line), line);
	target++;
	if (strncmp(target, "/v1.", 4) == 0)
		target += 4 + strspn(target + 4, "0123456789");
	query = memchr(target, '?', (size_t)(stop - target));
	query_length = query ? (size_t)(stop - query - 1) : 0;
	snprintf(connection->path, sizeof(connection->path), "%.*s", (int)((query ? query : stop) - target), target);
	snprintf(connection->query, sizeof(connection->query), "%.*s", (int)query_length, query ? query + 1 : "");
	return true;
}

enum sim_parsed sim_parse(struct sim_connection *connection)
{
	const char *start = buf_string(&connection->in), *end = strstr(start, "\r\n\r\n");
	const char *length_text, *expect;
	size_t length, head;

	if (!end)
		return connection->in.length > ENGINE_HEADER_BYTES ? SIM_PARSED_GARBAGE : SIM_PARSED_MORE;
	end += 2;
	head = (size_t)(end - start) + 2;
	length_text = header(start, end, "Content-Length");
	length = length_text ? strtoul(length_text, NULL, 10) : 0;
	expect = header(start, end, "Expect");
	if (length > SIM_REQUEST_BYTES || header(start, end, "Transfer-Encoding") ||
	    !parse_line(connection, start, strstr(start, "\r\n")))
		return SIM_PARSED_GARBAGE;
	if (connection->in.length < head + length) {
		if (expect && !connection->continued)
			buf_text(&connection->out, "HTTP/1.1 100 Continue\r\n\r\n");
		connection->continued = true;
		return SIM_PARSED_MORE;
	}
	connection->continued = false;
	connection->body = head;
	connection->body_length = length;
	connection->request = head + length;
	return SIM_PARSED_REQUEST;
}

static int hex(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = digit ? strchr(digits, digit | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

void sim_query(const struct sim_connection *connection, const char *key, char *out, size_t size)
{
	const char *at = connection->query;
	size_t length = 0;

	while (*at && !(strncmp(at, key, strlen(key)) == 0 && at[strlen(key)] == '=')) {
		at += strcspn(at, "&");
		at += *at == '&';
	}
	at += *at ? strlen(key) + 1 : 0;
	while (*at && *at != '&' && length + 1 < size) {
		bool escaped = at[0] == '%' && hex(at[1]) >= 0 && hex(at[2]) >= 0;

		out[length++] = escaped ? (char)(hex(at[1]) * 16 + hex(at[2])) : *at;
		at += escaped ? 3 : 1;
	}
	out[length] = '\0';
}

/* ---- answers ---- */

static bool bodiless(int64_t status)
{
	return status == 101 || status == 204 || status == 304;
}

static bool header_is(const struct json_node *answer, const char *name, const char *part)
{
	const char *value = json_string(json_member(json_member(answer, "headers"), name));

	return value && strstr(value, part);
}

static bool chunked(const struct json_node *answer)
{
	return header_is(answer, "Transfer-Encoding", "chunked");
}

/* An error about a stream has no length: its connection ends. */
static bool unmeasured(const struct json_node *answer)
{
	return header_is(answer, "Content-Type", "raw-stream");
}

static void put_head(const struct json_node *answer, size_t length, struct buf *out)
{
	const char *reason = json_string(json_member(answer, "reason"));
	int64_t status = 500;

	(void)json_int64(json_member(answer, "status"), &status);
	buf_printf(out, "HTTP/1.1 %d %s\r\n", (int)status, reason ? reason : "Scripted");
	for (const struct json_node *one = json_first(json_member(answer, "headers")); one; one = json_next(one))
		buf_printf(out, "%s: %s\r\n", json_key(one), json_string(one) ? json_string(one) : "");
	if (!chunked(answer) && !unmeasured(answer) && !bodiless(status))
		buf_printf(out, "Content-Length: %zu\r\n", length);
	buf_text(out, "\r\n");
}

/* One line of what is laid out for readers. */
static void put_compact(const struct json_node *node, struct buf *out)
{
	struct json_span span = json_raw(node);
	bool text = false;

	for (size_t i = 0; i < span.length; i++) {
		char byte = span.bytes[i];

		if (!text && strchr(" \t\r\n", byte))
			continue;
		if (text && byte == '\\')
			buf_add(out, &span.bytes[i++], 1);
		else if (byte == '"')
			text = !text;
		buf_add(out, &span.bytes[i], 1);
	}
	buf_text(out, "\n");
}

static void put_body(const struct sim *sim, const struct json_node *answer, struct buf *out)
{
	cleanup_error struct error *ignored = NULL;
	const struct json_node *json = json_member(answer, "json"), *text = json_member(answer, "text");
	const struct json_node *file = json_member(answer, "file");

	if (json)
		put_compact(json, out);
	for (const struct json_node *line = json_first(json_member(answer, "lines")); line; line = json_next(line))
		put_compact(line, out);
	if (text)
		buf_add(out, json_string(text), json_string_length(text));
	if (file && sim_data(sim, json_string(file), out, &ignored) < 0)
		out->failed = true;
}

static void put_chunk(const char *bytes, size_t length, struct buf *out)
{
	if (length == 0)
		return;
	buf_printf(out, "%zx\r\n", length);
	buf_add(out, bytes, length);
	buf_text(out, "\r\n");
}

static void make_noise(char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (char)(bytes[i] ^ NOISE);
}

/* Gives the answer to the connection as the row wants it. */
static void send_mangled(struct sim_connection *connection, const struct buf *whole)
{
	const struct sim_row *row = connection->row;
	bool cut = row && row->cut;

	buf_add(&connection->out, whole->data, cut ? whole->length / 2 : whole->length);
	connection->closing |= cut || whole->failed || connection->out.failed;
}

static void finish(struct sim_connection *connection)
{
	buf_consume(&connection->in, connection->request);
	connection->request = 0;
	connection->row = NULL;
	connection->wait = SIM_WAIT_NONE;
	if (!connection->stream)
		connection->container = NULL;
}

void sim_reply_node(struct sim_connection *connection, const struct json_node *answer, const struct buf *body)
{
	cleanup_buf struct buf own = BUF(SIM_ANSWER_BYTES), whole = BUF(2 * SIM_ANSWER_BYTES);
	bool garble = connection->row && connection->row->garble;

	if (body)
		buf_add(&own, buf_string(body), body->length);
	else
		put_body(connection->sim, answer, &own);
	put_head(answer, own.length, &whole);
	if (garble && own.length)
		make_noise(own.data, own.length);
	else if (garble)
		make_noise(whole.data, FIRST_WORD);
	if (strcmp(connection->method, "HEAD") == 0)
		buf_consume(&own, own.length);
	else if (chunked(answer))
		put_chunk(own.data, own.length, &whole);
	else if (own.length)
		buf_add(&whole, own.data, own.length);
	if (chunked(answer))
		buf_text(&whole, "0\r\n\r\n");
	whole.failed |= own.failed;
	send_mangled(connection, &whole);
	connection->closing |= (unmeasured(answer) && own.length) || (garble && !own.length);
	finish(connection);
}

void sim_reply(struct sim_connection *connection, const char *name, const struct buf *body)
{
	const struct json_node *answer = sim_answer(connection->sim, name);

	if (answer) {
		sim_reply_node(connection, answer, body);
		return;
	}
	/* A record that is missing must not look like any answer. */
	connection->closing = true;
	finish(connection);
}

void sim_begin(struct sim_connection *connection, const char *name)
{
	const struct json_node *answer = sim_answer(connection->sim, name);

	put_head(answer, 0, &connection->out);
	sim_settle(connection);
}

void sim_chunk(struct sim_connection *connection, const char *bytes, size_t length)
{
	put_chunk(bytes, length, &connection->out);
	sim_settle(connection);
}

void sim_end(struct sim_connection *connection)
{
	buf_text(&connection->out, "0\r\n\r\n");
	finish(connection);
	sim_settle(connection);
}
