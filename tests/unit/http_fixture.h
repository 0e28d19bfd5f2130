/* A server, a client of it, and an answer: what most tests of core/http need. */
#ifndef HARNESS_TESTS_UNIT_HTTP_FIXTURE_H
#define HARNESS_TESTS_UNIT_HTTP_FIXTURE_H

#include <sys/mman.h>

#include "core/http.h"
#include "tests/unit/http_server.h"
#include "tests/unit/test.h"

struct fixture {
	struct server server;
	struct http_client *client;
	struct http_answer answer;
	struct error *err;
};
#define FIXTURE                                                                                                        \
	{                                                                                                              \
		.server = SERVER                                                                                       \
	}

static inline void fixture_end(struct fixture *fixture)
{
	http_answer_free(&fixture->answer);
	http_client_free(fixture->client);
	server_stop(&fixture->server);
	error_free(fixture->err);
}
#define cleanup_fixture __attribute__((cleanup(fixture_end)))

static inline bool fixture_begin(struct fixture *fixture, bool tcp)
{
	bool up = server_start(&fixture->server, tcp, "routes") &&
		  http_client_new(tcp ? NULL : fixture->server.path, tcp ? fixture->server.base : "http://localhost",
				  &fixture->client, &fixture->err) == 0;

	CU_ASSERT(up);
	return up;
}

static inline struct http_call get(const char *path)
{
	return (struct http_call){
		.method = "GET", .path = path, .body_fd = -1, .deadline = clock_deadline(3000), .body_max = 64 * KIB
	};
}

static inline bool body_is(const struct fixture *fixture, const char *text)
{
	const struct buf *body = &fixture->answer.body;

	return body->length == strlen(text) && strcmp(buf_string(body), text) == 0;
}

static inline int ask(struct fixture *fixture, const struct http_call *call)
{
	http_answer_free(&fixture->answer);
	fixture->answer = (struct http_answer){ .status = 0 };
	return http_do(fixture->client, call, &fixture->answer, &fixture->err);
}

static inline int ask_path(struct fixture *fixture, const char *path)
{
	struct http_call call = get(path);

	return ask(fixture, &call);
}

static inline int memory_file(size_t length)
{
	int fd = memfd_create("body", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)length) < 0 || pwrite(fd, "begin", 5, 0) != 5)
		CU_FAIL("memfd");
	return fd;
}

#endif
