/* Callers of a gateway: HTTP/1.1 over connections that are kept, as little of it as a call needs. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/bench/gateway.h"

#define ANSWER_BYTES_MAX (64 * KIB)
#define REQUEST_BYTES (4 * KIB)
#define ANSWER_MS 10000
#define CALL                                                                                                           \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"permitted.tool\","             \
	"\"arguments\":{\"value\":\"synthetic\"}}}"

static int connect_caller(const struct side *side, struct caller *caller, struct error **err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) },
				       .sin_port = htons(side->port) };
	int on = 1;

	caller->in = (struct buf)BUF(ANSWER_BYTES_MAX);
	caller->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (caller->fd < 0 || connect(caller->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    setsockopt(caller->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		return error_errno(err, errno, "a caller's connection");
	return fd_nonblocking(caller->fd, true, err);
}

static int send_request(const struct side *side, struct caller *caller, const char *path, const char *body,
			struct error **err)
{
	char text[REQUEST_BYTES];
	int length =
		snprintf(text, sizeof(text),
			 "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nAuthorization: Bearer %s\r\n"
			 "Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
			 path, side->port, side->token, strlen(body), body);

	caller->in.length = 0;
	caller->sent = clock_now();
	return fd_write_all(caller->fd, text, (size_t)length, clock_deadline(ANSWER_MS), err);
}

/* 1: the whole answer is there, and its body is *body. */
static int read_answer(struct caller *caller, const char **body, struct error **err)
{
	char *room = buf_reserve(&caller->in, 8 * KIB);
	ssize_t count = room ? recv(caller->fd, room, 8 * KIB, MSG_DONTWAIT) : 0;
	const char *end, *length;

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (count <= 0)
		return error_set(err, ERROR_CLOSED, "a gateway closed a caller's connection");
	buf_commit(&caller->in, (size_t)count);
	*buf_reserve(&caller->in, 1) = '\0';
	end = strstr(caller->in.data, "\r\n\r\n");
	length = end ? strcasestr(caller->in.data, "\r\ncontent-length:") : NULL;
	if (!end)
		return 0;
	if (!length || length > end || strncmp(caller->in.data, "HTTP/1.1 200 ", 13) != 0)
		return error_set(err, ERROR_PROTOCOL, "a gateway answered a permitted call with something else: %.12s",
				 caller->in.data);
	*body = end + 4;
	return caller->in.length - (size_t)(*body - caller->in.data) >=
	       strtoull(length + strlen("\r\ncontent-length:"), NULL, 10);
}

/* Sends and waits; what the first caller has no part in waits meanwhile. */
static int ask(struct side *side, const char *path, const char *body, const char **answer, struct error **err)
{
	struct caller *caller = &side->callers[0];
	int64_t deadline = clock_deadline(ANSWER_MS);
	int r = send_request(side, caller, path, body, err);

	while (r == 0) {
		r = fd_wait(caller->fd, POLLIN, deadline, err);
		if (r == 0)
			return error_set(err, ERROR_TIMEOUT, "a gateway does not answer");
		if (r > 0)
			r = read_answer(caller, answer, err);
	}
	caller->sent = 0;
	return r < 0 ? r : 0;
}

static int take_session(struct side *side, const char *answer, const char *key, struct error **err)
{
	const char *found = strstr(answer, key);

	if (!found)
		return error_set(err, ERROR_PROTOCOL, "a gateway does not name its session");
	found += strlen(key);
	snprintf(side->session, sizeof(side->session), "%.*s", (int)strcspn(found, "\""), found);
	return 0;
}

int load_open(struct side *side, struct error **err)
{
	const char *answer;

	for (size_t i = 0; i < CALLERS; i++)
		if (connect_caller(side, &side->callers[i], err) < 0)
			return -1;
	if (ask(side, "/mcp", CALL, &answer, err) < 0 || take_session(side, answer, "\"session_id\":\"", err) < 0)
		return -1;
	return load_reset(side, err);
}

void load_close(struct side *side)
{
	for (size_t i = 0; i < CALLERS; i++) {
		fd_close(&side->callers[i].fd);
		buf_free(&side->callers[i].in);
	}
}

int load_reset(struct side *side, struct error **err)
{
	const char *answer;
	char path[2 * SESSION_ID_BYTES];

	if (side->kind != SIDE_CMCP)
		return 0;
	snprintf(path, sizeof(path), "/sessions/%s/reset", side->session);
	if (ask(side, path, "{}", &answer, err) < 0)
		return error_wrap(err, "a reset");
	return take_session(side, answer, "\"new_session_id\":\"", err);
}

/* One answer of those that are awaited: 1 when it was the last one's end. */
static int take_one(struct caller *caller, struct side_times *out, struct error **err)
{
	const char *body;
	int r = read_answer(caller, &body, err);

	if (r <= 0)
		return r;
	if (!strstr(body, "\"audit_entry_hash\"") && !strstr(body, "\"_cmcp\""))
		return error_set(err, ERROR_PROTOCOL, "a gateway refused a permitted call");
	if (out->count < SIDE_SAMPLES)
		out->each[out->count++] = clock_now() - caller->sent;
	caller->sent = 0;
	return 1;
}

static int run(struct side *side, size_t callers, size_t calls, struct side_times *out, struct error **err)
{
	size_t begun = 0, ended = 0;

	for (; begun < callers && begun < calls; begun++)
		if (send_request(side, &side->callers[begun], "/mcp", CALL, err) < 0)
			return -1;
	while (ended < calls) {
		struct pollfd polled[CALLERS];

		for (size_t i = 0; i < callers; i++)
			polled[i] = (struct pollfd){ .fd = side->callers[i].sent ? side->callers[i].fd : -1,
						     .events = POLLIN };
		if (poll(polled, callers, ANSWER_MS) <= 0)
			return error_set(err, ERROR_TIMEOUT, "a gateway does not answer");
		for (size_t i = 0; i < callers; i++) {
			struct caller *caller = &side->callers[i];
			int r = polled[i].revents ? take_one(caller, out, err) : 0;

			if (r < 0)
				return r;
			ended += (size_t)r;
			if (r > 0 && begun < calls) {
				begun++;
				if (send_request(side, caller, "/mcp", CALL, err) < 0)
					return -1;
			}
		}
	}
	return 0;
}

int load_calls(struct side *side, size_t callers, size_t calls, struct side_times *out, struct error **err)
{
	int64_t before, after, start;

	if (side_cpu(side, &before, err) < 0)
		return -1;
	start = clock_now();
	if (run(side, callers, calls, out, err) < 0)
		return -1;
	out->wall += clock_now() - start;
	if (side_cpu(side, &after, err) < 0)
		return -1;
	out->cpu += after - before;
	return 0;
}
