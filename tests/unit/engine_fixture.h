/* A scripted server and an engine of it: what most tests of adapter/engine need. */
#ifndef HARNESS_TESTS_UNIT_ENGINE_FIXTURE_H
#define HARNESS_TESTS_UNIT_ENGINE_FIXTURE_H

#include <signal.h>

#include "adapter/engine_internal.h"
#include "tests/unit/http_server.h"
#include "tests/unit/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define GONE "ffffffffffff"
#define SHORT_MS 60

struct fixture {
	struct server server;
	struct engine *engine;
	struct engine_result result;
	struct buf json;
	struct error *err;
};
#define FIXTURE                                                                                                        \
	{                                                                                                              \
		.server = SERVER, .json = BUF(64 * KIB)                                                                \
	}

static inline void fixture_end(struct fixture *fixture)
{
	engine_result_free(&fixture->result);
	engine_close(fixture->engine);
	server_stop(&fixture->server);
	buf_free(&fixture->json);
	error_free(fixture->err);
}
#define cleanup_fixture __attribute__((cleanup(fixture_end)))

/* `api` NULL: no version is agreed on yet. */
static inline bool fixture_begin(struct fixture *fixture, const char *table, const char *api)
{
	bool up = server_start(&fixture->server, false, table) &&
		  engine_open(fixture->server.path, &fixture->engine, &fixture->err) == 0 &&
		  (!api || engine_use_version(fixture->engine, api, &fixture->err) == 0);

	CU_ASSERT(up);
	return up;
}

static inline bool fetched(struct fixture *fixture, const char *text)
{
	bool same = strcmp(buf_string(&fixture->json), text) == 0;

	buf_consume(&fixture->json, fixture->json.length);
	return same;
}

static inline int collect(void *context, const void *bytes, size_t length, struct error **err)
{
	return buf_add(context, bytes, length) < 0 ? error_set(err, ERROR_LIMIT, "too much") : 0;
}

/* Bodies end with their connection, so that nobody counts bytes. */
#define ANSWER(line, body) .answer = "HTTP/1.1 " line "\r\nConnection: close\r\n\r\n" body, .close = true
#define PING(header) .request = "GET /_ping", ANSWER("200 OK\r\n" header, "OK")
#define VERSION(newest, oldest)                                                                                        \
	.request = "GET /version", ANSWER("200 OK", "{\"Components\":[{\"Name\":\"Engine\"}],\"ApiVersion\":\"" newest \
						    "\",\"MinAPIVersion\":\"" oldest "\"}")
#define END                                                                                                            \
	{                                                                                                              \
		.request = "", ANSWER("404 Not Found", "{\"message\":\"page not found\"}")                             \
	}

static const struct route silent_routes[] = { { .request = "" } };

#endif
