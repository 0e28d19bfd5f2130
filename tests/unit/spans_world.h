/* For tests of spans: a request by a socket of the test's own, whole or in part, and the observer that takes it. */
#ifndef HARNESS_TESTS_UNIT_SPANS_WORLD_H
#define HARNESS_TESTS_UNIT_SPANS_WORLD_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "observers/address.h"
#include "observers/beacon.h"
#include "tests/unit/observing.h"

#define LOOPBACK "127.0.0.1"
#define POST_MS 3000
#define POST_BYTES (8 * MIB)

struct post {
	const char *request_line; /* NULL: "POST /v1/traces" */
	const char *type; /* NULL: none */
	const char *headers; /* each with its end of line, or NULL */
	const void *body;
	size_t length;
	size_t sent; /* of the body; 0: all */
};

static inline int post_connect(uint16_t port)
{
	struct error *err = NULL;
	union address to;
	socklen_t size = 0;
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL(address_parse(LOOPBACK, port, &to, &size, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(connect(fd, &to.any, size), 0);
	return steal_fd(&fd);
}

/* Sends it on a connection of its own, which is returned. */
static inline int post_begin(uint16_t port, const struct post *post)
{
	struct error *err = NULL;
	cleanup_buf struct buf head = BUF(64 * KIB);
	cleanup_fd int fd = post_connect(port);

	buf_printf(&head, "%s HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: %zu\r\n",
		   post->request_line ? post->request_line : "POST /v1/traces", post->length);
	if (post->type)
		buf_printf(&head, "Content-Type: %s\r\n", post->type);
	buf_printf(&head, "%s\r\n", post->headers ? post->headers : "");
	CU_ASSERT_EQUAL(fd_write_all(fd, head.data, head.length, clock_deadline(POST_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
	/* A peer that refuses may close before it read all. */
	if (fd_write_all(fd, post->body, post->sent ? post->sent : post->length, clock_deadline(POST_MS), &err) < 0)
		error_free(err);
	return steal_fd(&fd);
}

/* The whole answer, and its status. */
static inline int post(uint16_t port, const struct post *what, struct buf *answer)
{
	struct error *err = NULL;
	cleanup_fd int fd = post_begin(port, what);
	int status = -1;

	CU_ASSERT_EQUAL(fd_read_all(fd, answer, clock_deadline(POST_MS), &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(sscanf(buf_string(answer), "HTTP/1.1 %d", &status), 1);
	return status;
}

/* The observer, ready, with one subject; its port. */
static inline uint16_t spans_start(struct observing *observing, struct canary *canary)
{
	CU_ASSERT(observing_start(observing, "spans", NULL));
	CU_ASSERT(observing_expect(observing, "payload", NULL, canary));
	CU_ASSERT(observing_ready(observing));
	CU_ASSERT(observer_port(observing->process, "payload") != 0);
	return observer_port(observing->process, "payload");
}

static inline const struct wire_record *spans_record(const struct observing *observing, const char *subject)
{
	return observing_record(observing, "spans", subject);
}

#endif
