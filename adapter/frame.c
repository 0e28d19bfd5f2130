#include "adapter/frame.h"

#include <string.h>

#define FRAME_MEMBERS 2
#define NUMBER_DIGITS 308 /* before the point, written out: a double holds each such number */

void frame_reader_init(struct frame_reader *reader, size_t frame_max, size_t total_max)
{
	*reader = (struct frame_reader){ .buf = BUF(total_max), .frame_max = frame_max };
}

void frame_reader_free(struct frame_reader *reader)
{
	size_t frame_max = reader->frame_max, total_max = reader->buf.max;

	buf_wipe(&reader->buf);
	frame_reader_init(reader, frame_max, total_max);
}

/* Whether each line of the buffer is short enough, the open one so far. */
static bool lines_fit(struct frame_reader *reader, size_t scanned)
{
	const char *bytes = reader->buf.data;
	const char *newline;

	while ((newline = memchr(bytes + scanned, '\n', reader->buf.length - scanned))) {
		size_t end = (size_t)(newline - bytes);

		if (end - reader->open > reader->frame_max)
			return false;
		scanned = reader->open = end + 1;
	}
	return reader->buf.length - reader->open <= reader->frame_max;
}

enum control_reason frame_reader_feed(struct frame_reader *reader, const void *bytes, size_t length)
{
	size_t scanned;

	if (length == 0)
		return CONTROL_REASON_NONE;
	if (length > reader->buf.max - frame_reader_total(reader))
		return CONTROL_REASON_STDOUT_LIMIT;
	buf_consume(&reader->buf, reader->start);
	reader->taken += reader->start;
	reader->open -= reader->start;
	reader->start = 0;
	scanned = reader->buf.length;
	if (buf_add(&reader->buf, bytes, length) < 0)
		return CONTROL_REASON_INTERNAL;
	return lines_fit(reader, scanned) ? CONTROL_REASON_NONE : CONTROL_REASON_FRAME_LIMIT;
}

bool frame_reader_next(struct frame_reader *reader, struct json_span *line)
{
	const char *from = buf_string(&reader->buf) + reader->start;
	const char *newline = reader->open > reader->start ? memchr(from, '\n', reader->open - reader->start) : NULL;

	if (!newline)
		return false;
	*line = (struct json_span){ .bytes = from, .length = (size_t)(newline - from) };
	reader->start += line->length + 1;
	return true;
}

bool frame_reader_partial(const struct frame_reader *reader)
{
	return reader->buf.length > reader->open;
}

size_t frame_reader_total(const struct frame_reader *reader)
{
	return reader->taken + reader->buf.length;
}

/* The document's text ends with a NUL. */
static bool number_fits(const char *number)
{
	static const char decimal[] = "0123456789";
	const char *at = number + (*number == '-');
	size_t digits = strspn(at, decimal), exponent = 0;

	at += digits;
	if (*at == '.')
		at += 1 + strspn(at + 1, decimal);
	if (*at != 'e' && *at != 'E')
		return digits <= NUMBER_DIGITS;
	at++;
	if (*at == '-')
		return digits <= NUMBER_DIGITS;
	at += *at == '+';
	for (; *at >= '0' && *at <= '9' && exponent <= NUMBER_DIGITS; at++)
		exponent = exponent * 10 + (size_t)(*at - '0');
	return digits + exponent <= NUMBER_DIGITS;
}

/* 1e999 is a number of the grammar, and infinite or an error to whoever reads it behind the gateway. */
static bool numbers_fit(const struct json_node *node)
{
	if (json_type(node) == JSON_NUMBER)
		return number_fits(json_raw(node).bytes);
	for (const struct json_node *child = json_first(node); child; child = json_next(child))
		if (!numbers_fit(child))
			return false;
	return true;
}

enum control_reason frame_parse(struct json_span line, struct frame *out)
{
	cleanup_error struct error *reason = NULL;
	const struct json_node *root, *operation, *arguments;

	*out = (struct frame){ .document = NULL };
	/* White space in JSON, but a line that ends with CR LF was not written by our protocol. */
	if (line.length && memchr(line.bytes, '\r', line.length))
		return CONTROL_REASON_FRAME_INVALID;
	if (json_parse(line.bytes, line.length, JSON_DEPTH, &out->document, &reason) < 0)
		return error_code(reason) == ERROR_MEMORY ? CONTROL_REASON_INTERNAL : CONTROL_REASON_FRAME_INVALID;
	root = json_root(out->document);
	if (!numbers_fit(root)) {
		frame_free(out);
		return CONTROL_REASON_FRAME_INVALID;
	}
	operation = json_member(root, "operation");
	arguments = json_member(root, "arguments");
	/* Keys are unique, so that two members of which both are there are these two. */
	if (json_type(root) != JSON_OBJECT || json_count(root) != FRAME_MEMBERS || !json_string(operation) ||
	    !arguments || json_type(arguments) != JSON_OBJECT) {
		frame_free(out);
		return CONTROL_REASON_FRAME_INVALID;
	}
	out->operation = json_string(operation);
	out->operation_length = json_string_length(operation);
	out->arguments = json_raw(arguments);
	return CONTROL_REASON_NONE;
}

void frame_free(struct frame *frame)
{
	json_free(frame->document);
	*frame = (struct frame){ .document = NULL };
}
