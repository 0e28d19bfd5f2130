/* Attach: the connection itself is taken over, so that this call goes beside the engine's client. */
#include <string.h>

#include "adapter/engine_internal.h"
#include "core/clock.h"
#include "core/fd.h"

/* From this minor on a framed stream has a type of its own; before, only the container's terminal setting tells. */
#define MINOR_WITH_FRAMED_TYPE 42
#define FRAMED_TYPE "application/vnd.docker.multiplexed-stream"

static int check_answer(const struct engine *engine, enum engine_operation operation, const struct http_answer *answer,
			struct error **err)
{
	bool found;
	int code = engine_judge(operation, answer->status, answer->body.data, answer->body.length, &found, err);

	if (code == 0 && engine->minor >= MINOR_WITH_FRAMED_TYPE && strcmp(answer->content_type, FRAMED_TYPE) != 0)
		return error_set(err, ERROR_PROTOCOL,
				 "asked to %s: the stream has no frames: use a container without a terminal",
				 engine_operation_text(operation));
	return code;
}

static int hijack(const struct engine *engine, const struct engine_call *call, const char *path, int *socket,
		  struct buf *rest, struct error **err)
{
	cleanup_answer struct http_answer answer = { .status = 0 };
	cleanup_fd int fd = -1;
	struct http_call http = {
		.method = engine_operation_method(call->operation),
		.path = path,
		.content_type = call->body ? "application/json" : NULL,
		.body = call->body,
		.body_length = call->body_length,
		.body_fd = -1,
		.deadline = clock_deadline(engine_operation_ms(call->operation, &engine->limits)),
		.body_max = ENGINE_HEADER_BYTES,
	};
	int code;

	if (http_hijack(engine->socket_path, &http, &fd, &answer, err) < 0)
		return engine_explain_failure(engine, call->operation, err);
	code = check_answer(engine, call->operation, &answer, err);
	if (code < 0)
		return code;
	if (answer.body.length)
		buf_add(rest, answer.body.data, answer.body.length);
	if (buf_check(rest, "what came behind the answer", err) < 0)
		return -(int)ERROR_LIMIT;
	*socket = steal_fd(&fd);
	return 0;
}

int engine_take_over(const struct engine *engine, const struct engine_call *call, int *socket, struct buf *rest,
		     struct error **err)
{
	cleanup_buf struct buf path = BUF(ENGINE_PATH_BYTES);

	*socket = -1;
	if (!engine->minor)
		return error_set(err, ERROR_INTERNAL, "no version of the engine's API was agreed on");
	buf_printf(&path, "/v%s%s", engine->api, call->path);
	if (buf_check(&path, "the path of a call", err) < 0)
		return -(int)ERROR_LIMIT;
	return hijack(engine, call, buf_string(&path), socket, rest, err);
}

static int attach(struct engine *engine, const char *id, const char *query, int *socket, struct buf *rest,
		  struct error **err)
{
	char path[ENGINE_CONTAINER_PATH] = "";
	struct engine_call call = engine_plain(ENGINE_ATTACH, path);
	int code = engine_container_path(path, id, query, err);

	*socket = -1;
	return code < 0 ? code : engine_take_over(engine, &call, socket, rest, err);
}

int engine_attach(struct engine *engine, const char *id, int *socket, struct buf *rest, struct error **err)
{
	return attach(engine, id, "/attach?stream=1&stdin=1&stdout=1&stderr=1", socket, rest, err);
}

int engine_attach_log(struct engine *engine, const char *id, int *socket, struct buf *rest, struct error **err)
{
	return attach(engine, id, "/attach?logs=1&stdout=1&stderr=1", socket, rest, err);
}
