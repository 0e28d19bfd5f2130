/*
 * HTTP over a Unix socket or to a numeric host (libcurl). One client keeps its connections alive; requests may overlap:
 * http_begin() sends, http_finish() waits. A client never crosses spawn().
 */
#ifndef HARNESS_CORE_HTTP_H
#define HARNESS_CORE_HTTP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"

struct http_client;
struct http_request;

/* Receives the body in pieces; negative with *err set cancels the request. */
typedef int (*http_sink)(void *context, const void *bytes, size_t length, struct error **err);

/* `unix_socket` or NULL; `base` like "http://localhost". */
int http_client_new(const char *unix_socket, const char *base, struct http_client **out, struct error **err) MUST_CHECK;
/* Cancels and frees what is still under way. NULL-safe. */
void http_client_free(struct http_client *client);
static inline void http_client_cleanup(struct http_client **client)
{
	http_client_free(*client);
}
#define cleanup_http_client __attribute__((cleanup(http_client_cleanup)))

struct http_call {
	const char *method; /* "GET", "POST", "DELETE", "PUT", "HEAD" */
	const char *path; /* from "/" on, already escaped */
	const char *content_type; /* or NULL */
	const void *body; /* or NULL; must live until http_finish() */
	size_t body_length;
	int body_fd; /* -1, or a file sent as the body: body_length bytes */
	const char *const *headers; /* NULL-terminated "Name: value", or NULL */
	int64_t deadline; /* absolute; each call has one */
	http_sink sink; /* or NULL: the body goes to the answer's buffer */
	void *sink_context;
	size_t body_max; /* of the answer, whether kept or given to the sink */
	bool fresh; /* on a connection of its own: it is never sent a second time because a kept one had died */
};

#define HTTP_SESSION_BYTES 257
struct http_answer {
	long status; /* 100 to 599 */
	struct buf body; /* empty with a sink (but of a status >= 400 the body always comes here) */
	char api_version[16]; /* header Api-Version, "" when absent or longer */
	char content_type[64];
	char server[64];
	char mcp_session[HTTP_SESSION_BYTES]; /* header Mcp-Session-Id, "" when absent or longer */
};
void http_answer_free(struct http_answer *answer);
#define cleanup_answer __attribute__((cleanup(http_answer_free)))

/* Sends the request, body included, without waiting for the answer: the peer works while the caller does something
 * else. A peer that cannot be reached is reported by http_finish(). */
int http_begin(struct http_client *client, const struct http_call *call, struct http_request **out,
	       struct error **err) MUST_CHECK;
/* As http_begin(), and waits for nothing: what the peer does not take at once is sent while the client is driven. */
int http_start(struct http_client *client, const struct http_call *call, struct http_request **out,
	       struct error **err) MUST_CHECK;
/* The answer's content type, as far as its headers came: for a sink. */
const char *http_content_type(const struct http_request *request);
/* Whether http_finish() would return at once. Pumping, driving, and finishing any request change it. */
bool http_done(const struct http_request *request);
/* Drives all requests of the client until this one is done; frees it. A status is no error here. `answer` is empty
 * before ({ 0 }) and stays so on error. A peer that cannot be reached is ERROR_SYSTEM with its errno, one that goes
 * away ERROR_CLOSED, one that does not speak HTTP ERROR_PROTOCOL. */
int http_finish(struct http_client *client, struct http_request *request, struct http_answer *answer,
		struct error **err) MUST_CHECK;
/* Cancels and frees. NULL-safe. */
void http_cancel(struct http_client *client, struct http_request *request);
/* Begin and finish. */
int http_do(struct http_client *client, const struct http_call *call, struct http_answer *answer,
	    struct error **err) MUST_CHECK;
/* Drives whatever is under way without blocking. */
int http_pump(struct http_client *client, struct error **err) MUST_CHECK;
/* Waits until something happened on any connection of the client, or the deadline, and drives it. Returns at once while
 * a done request was not finished. */
int http_drive(struct http_client *client, int64_t deadline, struct error **err) MUST_CHECK;
/* Likewise, and for what is awaited on other descriptors: events of POLLIN and POLLOUT; their revents are not set. */
int http_drive_beside(struct http_client *client, const struct pollfd *others, size_t count, int64_t deadline,
		      struct error **err) MUST_CHECK;
#define HTTP_OTHERS_MAX 4

/* What to poll() for between two pumps: at most `max` descriptors with their events; returns how many. They are
 * libcurl's, and hold until the client is used again. */
size_t http_descriptors(const struct http_client *client, struct pollfd *out, size_t max);

/* Connects to a Unix socket by `deadline`; the descriptor is non-blocking and CLOEXEC. Errors as of http_finish(). */
int http_connect(const char *unix_socket, int64_t deadline, int *socket, struct error **err) MUST_CHECK;

/* Sends `call`, whose body if any is in memory, with "Connection: Upgrade, Upgrade: tcp", reads exactly the headers of
 * the answer and, on 101, returns a duplicate of the connection's socket (non-blocking, CLOEXEC) without shutting it
 * down. Bytes that came behind the headers are in answer->body. On another status *socket is -1 and the answer's text,
 * as far as it came, is in the body. */
int http_hijack(const char *unix_socket, const struct http_call *call, int *socket, struct http_answer *answer,
		struct error **err) MUST_CHECK;

#endif
