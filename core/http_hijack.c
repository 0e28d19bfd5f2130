/*
 * The upgrade of a connection to a raw stream. libcurl only connects: a server that hijacks a connection throws away
 * what was sent behind the request, so nothing more is written before the whole 101 was read.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/http_internal.h"
#include "core/limits.h"

#define CHUNK (4 * KIB)

static int send_request(int fd, const struct http_call *call, struct error **err)
{
	cleanup_buf struct buf text = BUF(ENGINE_HEADER_BYTES);

	if (call->path[0] != '/' || strpbrk(call->path, " \t\r\n") || (!call->body && call->body_length))
		return error_set(err, ERROR_INTERNAL, "a request to upgrade has an escaped path and a body in memory");
	buf_printf(&text,
		   "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
		   "Content-Length: %zu\r\n",
		   call->method, call->path, call->body_length);
	if (call->content_type)
		buf_printf(&text, "Content-Type: %s\r\n", call->content_type);
	for (size_t i = 0; call->headers && call->headers[i]; i++)
		buf_printf(&text, "%s\r\n", call->headers[i]);
	buf_text(&text, "\r\n");
	if (call->body_length)
		buf_add(&text, call->body, call->body_length);
	if (buf_check(&text, "a request", err) < 0)
		return -(int)ERROR_LIMIT;
	return fd_write_all(fd, text.data, text.length, call->deadline, err);
}

/* Appends one read of at most `size` bytes: how many came, 0 at the end of the stream, negative on error. */
static int read_some(int fd, size_t size, int64_t deadline, struct buf *out, struct error **err)
{
	for (;;) {
		char *room = buf_reserve(out, size);
		ssize_t got;
		int ready;

		if (!room)
			return error_set(err, ERROR_MEMORY, "no memory for the answer");
		ready = fd_wait(fd, POLLIN, deadline, err);
		if (ready < 0)
			return ready;
		if (ready == 0)
			return error_set(err, ERROR_TIMEOUT, "no whole answer before the deadline");
		got = read(fd, room, size);
		if (got >= 0) {
			buf_commit(out, (size_t)got);
			return (int)got;
		}
		if (errno == ECONNRESET)
			return error_set(err, ERROR_CLOSED, "the connection broke during the answer");
		if (errno != EAGAIN && errno != EINTR)
			return error_errno(err, errno, "cannot read the answer");
	}
}

/* Reads until the empty line; *head is the length of all before the body. */
static int read_head(int fd, int64_t deadline, struct buf *text, size_t *head, struct error **err)
{
	for (;;) {
		const char *end = text->length ? memmem(text->data, text->length, "\r\n\r\n", 4) : NULL;
		size_t room = text->max - text->length;
		int got;

		if (end) {
			*head = (size_t)(end - text->data) + 4;
			return 0;
		}
		if (room == 0)
			return error_set(err, ERROR_LIMIT, "the headers of the answer are longer than %d bytes",
					 ENGINE_HEADER_BYTES);
		got = read_some(fd, room < CHUNK ? room : CHUNK, deadline, text, err);
		if (got < 0)
			return got;
		if (got == 0)
			return error_set(err, ERROR_CLOSED, "the connection ended without an answer");
	}
}

static bool digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* "HTTP/1.x NNN" and a space or the line's end. */
static bool parse_status(const char *line, size_t length, long *status)
{
	if (length < 13 || memcmp(line, "HTTP/1.", 7) != 0 || !digit(line[7]) || line[8] != ' ')
		return false;
	if (!digit(line[9]) || !digit(line[10]) || !digit(line[11]) || (line[12] != ' ' && line[12] != '\r'))
		return false;
	*status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
	return *status >= 100 && *status <= 599;
}

static int parse_head(const char *text, size_t length, struct http_answer *answer, size_t *body_length,
		      struct error **err)
{
	char number[8] = "";

	if (!parse_status(text, length, &answer->status))
		return error_set(err, ERROR_PROTOCOL, "the answer is not HTTP/1");
	for (const char *line = text, *next; line < text + length; line = next) {
		const char *end = memchr(line, '\n', (size_t)(text + length - line));

		next = end ? end + 1 : text + length;
		http_keep_header(answer, line, (size_t)(next - line));
		http_header_value(line, (size_t)(next - line), "Content-Length", number, sizeof(number));
	}
	*body_length = SIZE_MAX;
	if (digit(number[0]))
		*body_length = strtoul(number, NULL, 10);
	return 0;
}

/* The text of a refusal, as far as it comes: it only explains, so that nothing here is an error. */
static void read_refusal(int fd, int64_t deadline, size_t length, struct buf *body)
{
	if (length > body->max)
		length = body->max;
	while (body->length < length) {
		cleanup_error struct error *ignored = NULL;
		size_t room = length - body->length;

		if (read_some(fd, room < CHUNK ? room : CHUNK, deadline, body, &ignored) <= 0)
			return;
	}
}

int http_read_answer(int fd, const struct http_call *call, struct http_answer *answer, struct error **err)
{
	cleanup_buf struct buf text = BUF(ENGINE_HEADER_BYTES);
	size_t head = 0, body_length = 0;
	int result = read_head(fd, call->deadline, &text, &head, err);

	if (result == 0)
		result = parse_head(text.data, head, answer, &body_length, err);
	if (result < 0)
		return result;
	answer->body = (struct buf)BUF(call->body_max);
	if (text.length > head && buf_add(&answer->body, text.data + head, text.length - head) < 0)
		return error_set(err, ERROR_LIMIT, "more than %zu bytes came behind the headers", call->body_max);
	if (answer->status != 101)
		read_refusal(fd, call->deadline, body_length, &answer->body);
	return 0;
}

int http_hijack(const char *unix_socket, const struct http_call *call, int *socket, struct http_answer *answer,
		struct error **err)
{
	cleanup_answer struct http_answer got = { .status = 0 };
	cleanup_fd int fd = -1;
	int result;

	*socket = -1;
	result = http_connect(unix_socket, call->deadline, &fd, err);
	if (result == 0)
		result = send_request(fd, call, err);
	if (result == 0)
		result = http_read_answer(fd, call, &got, err);
	if (result < 0)
		return result;
	if (got.status == 101)
		*socket = steal_fd(&fd);
	*answer = got;
	got.body = (struct buf)BUF(0);
	return 0;
}
