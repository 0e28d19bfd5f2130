/* What a request tells libcurl: its options, and the callbacks that take the answer and give the body. */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/http_internal.h"
#include "core/limits.h"

/* Remembers a failure instead of returning at each of the many options. */
#define SET(easy, failed, option, value)                                                                               \
	do {                                                                                                           \
		if (curl_easy_setopt(easy, option, value) != CURLE_OK)                                                 \
			*(failed) = true;                                                                              \
	} while (0)

void http_header_value(const char *line, size_t length, const char *name, char *out, size_t size)
{
	size_t name_length = strlen(name);

	if (length <= name_length || line[name_length] != ':' || strncasecmp(line, name, name_length) != 0)
		return;
	line += name_length + 1;
	length -= name_length + 1;
	while (length && (*line == ' ' || *line == '\t')) {
		line++;
		length--;
	}
	while (length && memchr(" \t\r\n", line[length - 1], 4))
		length--;
	out[0] = '\0';
	if (length >= size)
		return;
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)line[i] < ' ' || (unsigned char)line[i] >= 0x7f)
			return;
	memcpy(out, line, length);
	out[length] = '\0';
}

void http_keep_header(struct http_answer *answer, const char *line, size_t length)
{
	http_header_value(line, length, "Api-Version", answer->api_version, sizeof(answer->api_version));
	http_header_value(line, length, "Content-Type", answer->content_type, sizeof(answer->content_type));
	http_header_value(line, length, "Server", answer->server, sizeof(answer->server));
	http_header_value(line, length, "Mcp-Session-Id", answer->mcp_session, sizeof(answer->mcp_session));
}

/* ---- libcurl's callbacks ---- */

static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
	struct http_request *request = context;
	struct http_answer *answer = &request->answer;
	size_t length = size * count;

	request->head_bytes += length;
	if (request->head_bytes > ENGINE_HEADER_BYTES) {
		error_set(&request->error, ERROR_LIMIT, "the headers of the answer are longer than %d bytes",
			  ENGINE_HEADER_BYTES);
		return CURL_WRITEFUNC_ERROR;
	}
	if (length == 2 && memcmp(bytes, "\r\n", 2) == 0)
		request->head_whole = true;
	/* An interim answer (100) has headers of its own: only those of the last block count. */
	if (length >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
		request->head_whole = false;
		answer->api_version[0] = answer->content_type[0] = '\0';
		answer->server[0] = answer->mcp_session[0] = '\0';
	}
	http_keep_header(answer, bytes, length);
	return length;
}

static size_t over_limit(struct http_request *request)
{
	error_set(&request->error, ERROR_LIMIT, "the answer is longer than %zu bytes", request->call.body_max);
	return CURL_WRITEFUNC_ERROR;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
	struct http_request *request = context;
	const struct http_call *call = &request->call;
	struct buf *body = &request->answer.body;
	size_t length = size * count, keep = length;
	long status = 0;

	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
	if (call->sink && status < 400) {
		if (length > call->body_max - request->streamed)
			return over_limit(request);
		request->streamed += length;
		if (call->sink(call->sink_context, bytes, length, &request->error) == 0)
			return length;
		if (!request->error)
			error_set(&request->error, ERROR_INTERNAL, "the reader of the answer gave up");
		return CURL_WRITEFUNC_ERROR;
	}
	/* The text of an error explains, no more: what passes the room is dropped. */
	if (call->sink && keep > body->max - body->length)
		keep = body->max - body->length;
	if (keep > body->max - body->length)
		return over_limit(request);
	if (keep && buf_add(body, bytes, keep) < 0) {
		error_set(&request->error, ERROR_MEMORY, "no memory for the answer");
		return CURL_WRITEFUNC_ERROR;
	}
	return length;
}

static size_t on_read(char *room, size_t size, size_t count, void *context)
{
	struct http_request *request = context;
	size_t want = request->call.body_length - request->body_read;
	ssize_t got;

	if (want > size * count)
		want = size * count;
	if (want == 0)
		return 0;
	do
		got = pread(request->call.body_fd, room, want, (off_t)request->body_read);
	while (got < 0 && errno == EINTR);
	if (got > 0) {
		request->body_read += (size_t)got;
		return (size_t)got;
	}
	if (got < 0)
		error_errno(&request->error, errno, "cannot read the file to send");
	else
		error_set(&request->error, ERROR_INPUT, "the file to send is shorter than %zu bytes",
			  request->call.body_length);
	return CURL_READFUNC_ABORT;
}

/* A kept-alive connection that died is tried again on a new one: the body starts over. */
static int on_seek(void *context, curl_off_t offset, int origin)
{
	struct http_request *request = context;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > request->call.body_length)
		return CURL_SEEKFUNC_CANTSEEK;
	request->body_read = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static int on_socket(void *context, curl_socket_t socket, curlsocktype purpose)
{
	(void)context;
	(void)purpose;
	return fcntl(socket, F_SETFD, FD_CLOEXEC) < 0 ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

/* ---- options ---- */

void http_common_options(void *easy, const char *unix_socket, int timeout, bool *failed)
{
	SET(easy, failed, CURLOPT_NOSIGNAL, 1L);
	SET(easy, failed, CURLOPT_PROXY, "");
	SET(easy, failed, CURLOPT_NOPROXY, "*");
	SET(easy, failed, CURLOPT_PROTOCOLS_STR, "http");
	SET(easy, failed, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(easy, failed, CURLOPT_TIMEOUT_MS, (long)timeout);
	SET(easy, failed, CURLOPT_SOCKOPTFUNCTION, on_socket);
	if (unix_socket)
		SET(easy, failed, CURLOPT_UNIX_SOCKET_PATH, unix_socket);
}

static bool add_header(struct http_request *request, const char *line)
{
	struct curl_slist *longer = curl_slist_append(request->headers, line);

	if (longer)
		request->headers = longer;
	return longer != NULL;
}

static void header_options(struct http_request *request, bool *failed)
{
	const struct http_call *call = &request->call;
	cleanup_buf struct buf type = BUF(ENGINE_HEADER_BYTES);

	/* No "Expect: 100-continue", and no content type that nobody named. */
	buf_text(&type, "Content-Type:");
	if (call->content_type)
		buf_printf(&type, " %s", call->content_type);
	if (type.failed || !add_header(request, "Expect:") || !add_header(request, buf_string(&type)))
		*failed = true;
	for (size_t i = 0; call->headers && call->headers[i]; i++)
		if (!add_header(request, call->headers[i]))
			*failed = true;
	SET(request->easy, failed, CURLOPT_HTTPHEADER, request->headers);
}

static void body_options(struct http_request *request, bool *failed)
{
	const struct http_call *call = &request->call;
	CURL *easy = request->easy;

	if (call->body_fd >= 0) {
		SET(easy, failed, CURLOPT_READFUNCTION, on_read);
		SET(easy, failed, CURLOPT_READDATA, (void *)request);
		SET(easy, failed, CURLOPT_SEEKFUNCTION, on_seek);
		SET(easy, failed, CURLOPT_SEEKDATA, (void *)request);
		SET(easy, failed, CURLOPT_POST, 1L);
	} else {
		SET(easy, failed, CURLOPT_POSTFIELDS, call->body ? call->body : "");
	}
	SET(easy, failed, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_length);
}

void http_call_options(struct http_request *request, const char *url, bool *failed)
{
	const struct http_call *call = &request->call;
	CURL *easy = request->easy;

	SET(easy, failed, CURLOPT_URL, url);
	SET(easy, failed, CURLOPT_PATH_AS_IS, 1L);
	SET(easy, failed, CURLOPT_PRIVATE, (void *)request);
	SET(easy, failed, CURLOPT_FRESH_CONNECT, call->fresh ? 1L : 0L);
	SET(easy, failed, CURLOPT_FORBID_REUSE, call->fresh ? 1L : 0L);
	SET(easy, failed, CURLOPT_BUFFERSIZE, 64L * KIB);
	SET(easy, failed, CURLOPT_HEADERFUNCTION, on_header);
	SET(easy, failed, CURLOPT_HEADERDATA, (void *)request);
	SET(easy, failed, CURLOPT_WRITEFUNCTION, on_body);
	SET(easy, failed, CURLOPT_WRITEDATA, (void *)request);
	header_options(request, failed);
	if (strcmp(call->method, "HEAD") == 0) {
		SET(easy, failed, CURLOPT_NOBODY, 1L);
		return;
	}
	if (call->body || call->body_fd >= 0 || strcmp(call->method, "POST") == 0)
		body_options(request, failed);
	SET(easy, failed, CURLOPT_CUSTOMREQUEST, call->method);
}
