/* What the core/http*.c share. libcurl's types stay out of it, since not all of them include its header. */
#ifndef HARNESS_CORE_HTTP_INTERNAL_H
#define HARNESS_CORE_HTTP_INTERNAL_H

#include <stddef.h>

#include "core/http.h"

struct curl_slist;

struct http_request {
	struct http_request *next;
	void *easy; /* CURL, owned */
	struct curl_slist *headers; /* owned */
	struct http_call call;
	size_t body_read; /* of body_fd */
	size_t head_bytes; /* of the answer's headers so far */
	bool head_whole; /* their empty line came */
	size_t streamed; /* given to the sink so far */
	bool done;
	int result; /* CURLcode, once done */
	struct http_answer answer;
	struct error *error; /* what a callback could not return */
};

/* Options of every connection: `unix_socket` or NULL, `timeout` in milliseconds. Sets *failed when one was not taken.
 */
void http_common_options(void *easy, const char *unix_socket, int timeout, bool *failed);
/* Options of request->call. */
void http_call_options(struct http_request *request, const char *url, bool *failed);
/* Copies the value of a header line (with or without its line end) into `out` when the line's name is `name`, without
 * regard to case. A value that does not fit, or holds a control byte, leaves `out` as "". */
void http_header_value(const char *line, size_t length, const char *name, char *out, size_t size);
/* Keeps the header lines that struct http_answer has a place for. */
void http_keep_header(struct http_answer *answer, const char *line, size_t length);
/* Reads the answer to a request for an upgrade from a connection, by call->deadline: its headers, what came behind
 * them, and of a status other than 101 the body, up to call->body_max. `answer` may hold a body on error too. */
int http_read_answer(int fd, const struct http_call *call, struct http_answer *answer, struct error **err) MUST_CHECK;

#endif
