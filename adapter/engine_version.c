/* Which engine answers, and the version of its API that both sides speak. */
#include <stdio.h>
#include <string.h>

#include "adapter/engine_internal.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/json.h"

#define NOT_AN_ENGINE "what answers is not a Docker engine: name the engine's socket with --socket"
#define PODMAN "podman answers, whose containers cannot be admitted: install Docker, or name its socket with --socket"

int engine_parse_version(const char *text)
{
	int minor = 0;

	if (strncmp(text, "1.", 2) != 0 || !text[2] || strlen(text) > 5 || text[2] == '0')
		return -1;
	for (const char *digit = text + 2; *digit; digit++) {
		if (*digit < '0' || *digit > '9')
			return -1;
		minor = minor * 10 + (*digit - '0');
	}
	return minor;
}

static void agree(struct engine *engine, int minor)
{
	engine->minor = minor;
	snprintf(engine->api, sizeof(engine->api), "1.%d", minor);
}

static int refuse(const struct engine *engine, struct error **err, const char *text)
{
	char safe[128];

	return error_set(err, ERROR_REFUSED, "%s: %s", error_safe(engine->socket_path, safe, sizeof(safe)), text);
}

/* A peer that speaks no HTTP, or breaks off, is no engine; one that does not answer in time may be one. */
static int explain_ping(const struct engine *engine, struct error **err)
{
	enum error_code code = err && *err ? error_code(*err) : ERROR_INTERNAL;

	if (code == ERROR_PROTOCOL || code == ERROR_CLOSED || code == ERROR_LIMIT) {
		error_free(*err);
		*err = NULL;
		return refuse(engine, err, NOT_AN_ENGINE);
	}
	engine_explain_connection(engine->socket_path, ERROR_REFUSED, err);
	return error_wrap(err, "asked to %s", engine_operation_text(ENGINE_PING));
}

static int ping(struct engine *engine, struct error **err)
{
	cleanup_answer struct http_answer answer = { .status = 0 };
	struct http_call call = {
		.method = "GET",
		.path = "/_ping",
		.body_fd = -1,
		.deadline = clock_deadline(engine->limits.call_ms),
		.body_max = ENGINE_HEADER_BYTES,
	};

	if (http_do(engine->client, &call, &answer, err) < 0)
		return explain_ping(engine, err);
	if (strncmp(answer.server, "Libpod/", 7) == 0)
		return refuse(engine, err, PODMAN);
	if (answer.status != 200 || engine_parse_version(answer.api_version) < 0)
		return refuse(engine, err, NOT_AN_ENGINE);
	return 0;
}

static bool has_podman(const struct json_node *root)
{
	for (const struct json_node *part = json_first(json_member(root, "Components")); part; part = json_next(part)) {
		const char *name = json_string(json_member(part, "Name"));

		if (name && strncmp(name, "Podman", 6) == 0)
			return true;
	}
	return false;
}

static int member_version(const struct json_node *root, const char *key)
{
	const char *text = json_string(json_member(root, key));

	return text ? engine_parse_version(text) : -1;
}

static int choose(struct engine *engine, int oldest, int newest, struct error **err)
{
	if (newest < ENGINE_MINOR_MIN)
		return error_set(
			err, ERROR_REFUSED,
			"the engine speaks its API up to 1.%d, and 1.%d is needed: install Docker 20.10 or newer",
			newest, ENGINE_MINOR_MIN);
	if (oldest > ENGINE_MINOR_MAX)
		return error_set(
			err, ERROR_REFUSED,
			"the engine speaks its API from 1.%d on, and this program up to 1.%d: install a newer harness",
			oldest, ENGINE_MINOR_MAX);
	agree(engine, newest < ENGINE_MINOR_MAX ? newest : ENGINE_MINOR_MAX);
	return 0;
}

int engine_negotiate(struct engine *engine, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_buf struct buf json = BUF(engine->limits.answer_bytes);
	cleanup_error struct error *ignored = NULL;
	const struct json_node *root;
	int oldest, newest, code;

	engine->minor = 0;
	engine->api[0] = '\0';
	code = ping(engine, err);
	if (code == 0)
		code = engine_version(engine, &json, err);
	if (code < 0)
		return code;
	if (json_parse(buf_string(&json), json.length, JSON_ENGINE_DEPTH, &document, &ignored) < 0)
		return refuse(engine, err, NOT_AN_ENGINE);
	root = json_root(document);
	if (has_podman(root))
		return refuse(engine, err, PODMAN);
	newest = member_version(root, "ApiVersion");
	oldest = member_version(root, "MinAPIVersion");
	if (newest < 0 || oldest < 0 || oldest > newest)
		return refuse(engine, err, NOT_AN_ENGINE);
	return choose(engine, oldest, newest, err);
}

int engine_use_version(struct engine *engine, const char *version, struct error **err)
{
	int minor = engine_parse_version(version);

	if (minor < ENGINE_MINOR_MIN || minor > ENGINE_MINOR_MAX)
		return error_set(err, ERROR_USAGE, "the version of the engine's API is 1.%d to 1.%d", ENGINE_MINOR_MIN,
				 ENGINE_MINOR_MAX);
	agree(engine, minor);
	return 0;
}
