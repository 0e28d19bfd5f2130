#include "core/http.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/http_internal.h"
#include "core/limits.h"

struct http_client {
	CURLM *multi;
	char *unix_socket;
	char *base;
	struct http_request *requests;
};

struct failure {
	CURLcode code;
	enum error_code error;
	const char *text;
};
static const struct failure failures[];

void http_answer_free(struct http_answer *answer)
{
	buf_free(&answer->body);
}

/* ---- client ---- */

static int check_socket_path(const char *path, struct error **err)
{
	if (!*path || strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return error_set(err, ERROR_USAGE, "the path of a socket has 1 to %zu bytes",
				 sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
	return 0;
}

/* A name would need a resolver, which runs in a thread of libcurl. */
static bool base_is_numeric(const char *base)
{
	unsigned char address[sizeof(struct in6_addr)];
	char *scheme = NULL, *host = NULL, *user = NULL;
	CURLU *url = curl_url();
	bool numeric = false;
	size_t length;

	if (url && curl_url_set(url, CURLUPART_URL, base, 0) == CURLUE_OK &&
	    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK && strcmp(scheme, "http") == 0 &&
	    curl_url_get(url, CURLUPART_USER, &user, 0) == CURLUE_NO_USER &&
	    curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
		length = strlen(host);
		if (host[0] == '[' && host[length - 1] == ']') {
			host[length - 1] = '\0';
			numeric = inet_pton(AF_INET6, host + 1, address) == 1;
		} else {
			numeric = inet_pton(AF_INET, host, address) == 1;
		}
	}
	curl_free(scheme);
	curl_free(host);
	curl_free(user);
	curl_url_cleanup(url);
	return numeric;
}

int http_client_new(const char *unix_socket, const char *base, struct http_client **out, struct error **err)
{
	cleanup_http_client struct http_client *client = NULL;

	if (!unix_socket && !base_is_numeric(base))
		return error_set(err, ERROR_USAGE, "an endpoint needs a numeric host, as in http://127.0.0.1:8080");
	if (unix_socket && check_socket_path(unix_socket, err) < 0)
		return -(int)ERROR_USAGE;
	client = calloc(1, sizeof(*client));
	if (!client || curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK) {
		free(steal_pointer(&client));
		return error_set(err, ERROR_MEMORY, "no memory for an HTTP client");
	}
	client->multi = curl_multi_init();
	client->base = strdup(base);
	client->unix_socket = unix_socket ? strdup(unix_socket) : NULL;
	if (!client->multi || !client->base || (unix_socket && !client->unix_socket))
		return error_set(err, ERROR_MEMORY, "no memory for an HTTP client");
	*out = steal_pointer(&client);
	return 0;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	while (client->requests)
		http_cancel(client, client->requests);
	if (client->multi)
		curl_multi_cleanup(client->multi);
	free(client->unix_socket);
	free(client->base);
	free(client);
	curl_global_cleanup();
}

static int check_deadline(int64_t deadline, int *timeout, struct error **err)
{
	*timeout = clock_poll_timeout(deadline);
	if (*timeout < 0)
		return error_set(err, ERROR_INTERNAL, "a request without a deadline");
	if (*timeout == 0)
		return error_set(err, ERROR_TIMEOUT, "the deadline had passed before the request was sent");
	return 0;
}

/* ---- requests ---- */

void http_cancel(struct http_client *client, struct http_request *request)
{
	if (!request)
		return;
	for (struct http_request **link = &client->requests; *link; link = &(*link)->next) {
		if (*link == request) {
			*link = request->next;
			break;
		}
	}
	if (request->easy) {
		curl_multi_remove_handle(client->multi, request->easy);
		curl_easy_cleanup(request->easy);
	}
	curl_slist_free_all(request->headers);
	http_answer_free(&request->answer);
	error_free(request->error);
	free(request);
}

int http_pump(struct http_client *client, struct error **err)
{
	const CURLMsg *message;
	int running, queued;
	CURLMcode code = curl_multi_perform(client->multi, &running);

	if (code != CURLM_OK)
		return error_set(err, ERROR_INTERNAL, "libcurl cannot go on (its code %d)", (int)code);
	while ((message = curl_multi_info_read(client->multi, &queued)) != NULL) {
		char *private = NULL;
		struct http_request *request;

		if (message->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private) != CURLE_OK || !private)
			continue;
		request = (struct http_request *)(void *)private;
		if (!request->done)
			request->result = message->data.result;
		request->done = true;
	}
	return 0;
}

int http_drive_beside(struct http_client *client, const struct pollfd *others, size_t count, int64_t deadline,
		      struct error **err)
{
	struct curl_waitfd waits[HTTP_OTHERS_MAX];
	CURLMcode code;

	for (size_t i = 0; i < count && i < HTTP_OTHERS_MAX; i++)
		waits[i] =
			(struct curl_waitfd){ .fd = others[i].fd,
					      .events =
						      (short)(((others[i].events & POLLIN) ? CURL_WAIT_POLLIN : 0) |
							      ((others[i].events & POLLOUT) ? CURL_WAIT_POLLOUT : 0)) };
	if (count > HTTP_OTHERS_MAX)
		return error_set(err, ERROR_INTERNAL, "more descriptors beside libcurl's than %d", HTTP_OTHERS_MAX);

	if (http_pump(client, err) < 0)
		return -(int)ERROR_INTERNAL;
	for (const struct http_request *request = client->requests; request; request = request->next)
		if (request->done)
			return 0;
	code = curl_multi_poll(client->multi, waits, (unsigned)count, clock_poll_timeout(deadline), NULL);
	if (code != CURLM_OK)
		return error_set(err, ERROR_INTERNAL, "libcurl cannot wait (its code %d)", (int)code);
	return http_pump(client, err);
}

int http_drive(struct http_client *client, int64_t deadline, struct error **err)
{
	return http_drive_beside(client, NULL, 0, deadline, err);
}

/* libcurl's sets are those of select(): a descriptor beyond them is not told, and waits for the next pump. */
size_t http_descriptors(const struct http_client *client, struct pollfd *out, size_t max)
{
	fd_set readable, writable, exceptional;
	size_t count = 0;
	int last = -1;

	FD_ZERO(&readable);
	FD_ZERO(&writable);
	FD_ZERO(&exceptional);
	if (curl_multi_fdset(client->multi, &readable, &writable, &exceptional, &last) != CURLM_OK)
		return 0;
	for (int fd = 0; fd <= last && count < max; fd++) {
		short events = 0;

		if (FD_ISSET(fd, &readable))
			events |= POLLIN;
		if (FD_ISSET(fd, &writable))
			events |= POLLOUT;
		if (events)
			out[count++] = (struct pollfd){ .fd = fd, .events = events };
	}
	return count;
}

static bool request_sent(const struct http_request *request)
{
	curl_off_t body = 0;
	long head = 0;

	if (request->done || request->head_bytes)
		return true;
	curl_easy_getinfo(request->easy, CURLINFO_REQUEST_SIZE, &head);
	curl_easy_getinfo(request->easy, CURLINFO_SIZE_UPLOAD_T, &body);
	return head > 0 && (uint64_t)body >= request->call.body_length;
}

/* Drives the client until `reached` holds or the request's deadline ends it. */
static int drive(struct http_client *client, struct http_request *request,
		 bool (*reached)(const struct http_request *request), struct error **err)
{
	for (;;) {
		CURLMcode code;
		int timeout;

		if (http_pump(client, err) < 0)
			return -(int)ERROR_INTERNAL;
		if (reached(request))
			return 0;
		timeout = clock_poll_timeout(request->call.deadline);
		if (timeout == 0) {
			request->done = true;
			request->result = CURLE_OPERATION_TIMEDOUT;
			return 0;
		}
		code = curl_multi_poll(client->multi, NULL, 0, timeout, NULL);
		if (code != CURLM_OK)
			return error_set(err, ERROR_INTERNAL, "libcurl cannot wait (its code %d)", (int)code);
	}
}

static int start_request(struct http_client *client, struct http_request *request, int timeout, struct error **err)
{
	cleanup_buf struct buf url = BUF(ENGINE_HEADER_BYTES);
	bool failed = false;

	buf_printf(&url, "%s%s", client->base, request->call.path);
	if (buf_check(&url, "the address of a request", err) < 0)
		return -(int)ERROR_LIMIT;
	request->easy = curl_easy_init();
	if (!request->easy)
		return error_set(err, ERROR_MEMORY, "no memory for a request");
	http_common_options(request->easy, client->unix_socket, timeout, &failed);
	http_call_options(request, buf_string(&url), &failed);
	if (failed || curl_multi_add_handle(client->multi, request->easy) != CURLM_OK)
		return error_set(err, ERROR_INTERNAL, "libcurl does not take an option of the request");
	return 0;
}

int http_start(struct http_client *client, const struct http_call *call, struct http_request **out, struct error **err)
{
	struct http_request *request;
	int timeout = 0, result;

	if (call->path[0] != '/' || strpbrk(call->path, " \t\r\n"))
		return error_set(err, ERROR_INTERNAL, "the path of a request is not escaped");
	result = check_deadline(call->deadline, &timeout, err);
	if (result < 0)
		return result;
	request = calloc(1, sizeof(*request));
	if (!request)
		return error_set(err, ERROR_MEMORY, "no memory for a request");
	request->call = *call;
	request->answer.body = (struct buf)BUF(call->sink ? ENGINE_HEADER_BYTES : call->body_max);
	request->next = client->requests;
	client->requests = request;
	result = start_request(client, request, timeout, err);
	if (result < 0) {
		http_cancel(client, request);
		return result;
	}
	*out = request;
	return 0;
}

int http_begin(struct http_client *client, const struct http_call *call, struct http_request **out, struct error **err)
{
	struct http_request *request = NULL;
	int result = http_start(client, call, &request, err);

	if (result == 0)
		result = drive(client, request, request_sent, err);
	if (result < 0)
		http_cancel(client, request);
	else
		*out = request;
	return result;
}

const char *http_content_type(const struct http_request *request)
{
	return request->answer.content_type;
}

bool http_done(const struct http_request *request)
{
	return request->done;
}

/* libcurl does not keep why it got no socket. */
static long no_socket(void)
{
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? errno : 0;
}

static int describe(CURLcode code, long number, struct error **err)
{
	if (code == CURLE_COULDNT_CONNECT && number <= 0)
		number = no_socket();
	if (code == CURLE_COULDNT_CONNECT && number > 0)
		return error_errno(err, (int)number, "cannot connect");
	for (const struct failure *row = failures; row->text; row++)
		if (row->code == code)
			return error_set(err, row->error, "%s", row->text);
	return error_set(err, ERROR_PROTOCOL, "the request failed in libcurl (its code %d)", (int)code);
}

static int take_answer(struct http_request *request, struct http_answer *answer, struct error **err)
{
	long status = 0, number = 0;

	if (request->error) {
		enum error_code code = error_code(request->error);

		if (err)
			*err = steal_pointer(&request->error);
		return -(int)code;
	}
	if (request->result != CURLE_OK) {
		curl_easy_getinfo(request->easy, CURLINFO_OS_ERRNO, &number);
		return describe(request->result, number, err);
	}
	/* libcurl takes headers that a peer broke off for an answer without a body. */
	if (!request->head_whole)
		return error_set(err, ERROR_CLOSED, "the peer closed the connection within the headers of its answer");
	curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 100 || status > 599)
		return error_set(err, ERROR_PROTOCOL, "the answer's status is not one of HTTP");
	*answer = request->answer;
	answer->status = status;
	request->answer.body = (struct buf)BUF(0);
	return 0;
}

int http_finish(struct http_client *client, struct http_request *request, struct http_answer *answer,
		struct error **err)
{
	int result = drive(client, request, http_done, err);

	if (result == 0)
		result = take_answer(request, answer, err);
	http_cancel(client, request);
	return result;
}

int http_do(struct http_client *client, const struct http_call *call, struct http_answer *answer, struct error **err)
{
	struct http_request *request = NULL;
	int result = http_begin(client, call, &request, err);

	return result < 0 ? result : http_finish(client, request, answer, err);
}

/* ---- connection only ---- */

static int duplicate_socket(CURL *easy, int *out, struct error **err)
{
	curl_socket_t socket = CURL_SOCKET_BAD;

	if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK || socket == CURL_SOCKET_BAD)
		return error_set(err, ERROR_CLOSED, "the peer closed the connection at once");
	*out = fcntl(socket, F_DUPFD_CLOEXEC, 3);
	return *out < 0 ? error_errno(err, errno, "cannot duplicate a socket") : 0;
}

static int connect_only(CURL *easy, const char *unix_socket, int timeout, int *socket, struct error **err)
{
	bool failed = false;
	long number = 0;
	CURLcode code;

	http_common_options(easy, unix_socket, timeout, &failed);
	if (curl_easy_setopt(easy, CURLOPT_URL, "http://localhost/") != CURLE_OK ||
	    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L) != CURLE_OK || failed)
		return error_set(err, ERROR_INTERNAL, "libcurl does not take an option of the connection");
	code = curl_easy_perform(easy);
	if (code == CURLE_OK)
		return duplicate_socket(easy, socket, err);
	curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, &number);
	return describe(code, number, err);
}

int http_connect(const char *unix_socket, int64_t deadline, int *socket, struct error **err)
{
	cleanup_fd int fd = -1;
	CURL *easy;
	int timeout = 0, result;

	result = check_socket_path(unix_socket, err);
	if (result == 0)
		result = check_deadline(deadline, &timeout, err);
	if (result < 0)
		return result;
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK)
		return error_set(err, ERROR_MEMORY, "no memory for a connection");
	easy = curl_easy_init();
	result = easy ? connect_only(easy, unix_socket, timeout, &fd, err)
		      : error_set(err, ERROR_MEMORY, "no memory for a connection");
	/* Closes libcurl's own copy without shutdown(): the duplicate lives on. */
	curl_easy_cleanup(easy);
	curl_global_cleanup();
	if (result == 0)
		result = fd_nonblocking(fd, true, err);
	if (result == 0)
		*socket = steal_fd(&fd);
	return result;
}

static const struct failure failures[] = {
	{ .code = CURLE_OPERATION_TIMEDOUT, .error = ERROR_TIMEOUT, .text = "no whole answer before the deadline" },
	{ .code = CURLE_COULDNT_CONNECT, .error = ERROR_CLOSED, .text = "cannot connect" },
	{ .code = CURLE_GOT_NOTHING, .error = ERROR_CLOSED, .text = "the connection ended without an answer" },
	{ .code = CURLE_PARTIAL_FILE, .error = ERROR_CLOSED, .text = "the connection ended within the answer" },
	{ .code = CURLE_RECV_ERROR, .error = ERROR_CLOSED, .text = "the connection broke during the answer" },
	{ .code = CURLE_SEND_ERROR, .error = ERROR_CLOSED, .text = "the connection broke while the request was sent" },
	{ .code = CURLE_UNSUPPORTED_PROTOCOL, .error = ERROR_PROTOCOL, .text = "the answer is not HTTP/1" },
	{ .code = CURLE_WEIRD_SERVER_REPLY, .error = ERROR_PROTOCOL, .text = "the answer is not HTTP/1" },
	{ .code = CURLE_OUT_OF_MEMORY, .error = ERROR_MEMORY, .text = "no memory for the answer" },
	{ .text = NULL },
};
