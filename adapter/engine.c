#include "adapter/engine.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "adapter/engine_internal.h"
#include "core/clock.h"
#include "core/fd.h"

#define ENGINE_BASE "http://localhost"

struct engine_request {
	struct engine_request *next;
	enum engine_operation operation;
	struct http_request *http;
	char *body; /* its own copy: the caller's may go while it is under way */
};

static void request_free(struct engine_request *request)
{
	free(request->body);
	free(request);
}

static int find_peer(struct engine *engine, struct error **err)
{
	struct ucred peer = { .pid = 0 };
	socklen_t size = sizeof(peer);
	cleanup_fd int fd = -1;

	if (http_connect(engine->socket_path, clock_deadline(engine->limits.call_ms), &fd, err) < 0)
		return engine_explain_connection(engine->socket_path, ERROR_REFUSED, err);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return error_errno(err, errno, "cannot tell who listens on the engine's socket");
	engine->peer_pid = peer.pid;
	engine->peer_uid = peer.uid;
	return 0;
}

int engine_open(const char *socket_path, struct engine **out, struct error **err)
{
	cleanup_engine struct engine *engine = calloc(1, sizeof(*engine));
	int result;

	if (!engine)
		return error_set(err, ERROR_MEMORY, "no memory for an engine");
	engine->limits = (struct engine_limits)ENGINE_LIMITS;
	engine->socket_path = strdup(socket_path);
	if (!engine->socket_path)
		return error_set(err, ERROR_MEMORY, "no memory for an engine");
	result = http_client_new(socket_path, ENGINE_BASE, &engine->client, err);
	if (result == 0)
		result = find_peer(engine, err);
	if (result == 0)
		*out = steal_pointer(&engine);
	return result;
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	while (engine->requests)
		engine_cancel(engine, engine->requests);
	http_client_free(engine->client);
	free(engine->socket_path);
	free(engine);
}

void engine_set_limits(struct engine *engine, const struct engine_limits *limits)
{
	engine->limits = *limits;
}

void engine_peer(const struct engine *engine, pid_t *pid, uid_t *uid)
{
	*pid = engine->peer_pid;
	*uid = engine->peer_uid;
}

const char *engine_api(const struct engine *engine)
{
	return engine->api;
}

int engine_api_minor(const struct engine *engine)
{
	return engine->minor;
}

/* ---- requests ---- */

static int64_t call_deadline(const struct engine *engine, const struct engine_call *call)
{
	return call->deadline ? call->deadline : clock_deadline(engine_operation_ms(call->operation, &engine->limits));
}

static int send_call(struct engine *engine, const struct engine_call *call, struct http_request **out,
		     struct error **err)
{
	cleanup_buf struct buf path = BUF(ENGINE_PATH_BYTES);
	struct http_call http = {
		.method = engine_operation_method(call->operation),
		.body = call->body,
		.body_length = call->body_length,
		.body_fd = call->body_fd,
		.deadline = call_deadline(engine, call),
		.sink = call->sink,
		.sink_context = call->context,
		.body_max = call->sink ? engine->limits.stream_bytes : engine->limits.answer_bytes,
	};

	if (engine->minor)
		buf_printf(&path, "/v%s", engine->api);
	buf_text(&path, call->path);
	if (buf_check(&path, "the path of a call", err) < 0)
		return -(int)ERROR_LIMIT;
	http.path = buf_string(&path);
	if (call->operation == ENGINE_IMAGE_LOAD)
		http.content_type = "application/x-tar";
	else if (call->body)
		http.content_type = "application/json";
	return http_begin(engine->client, &http, out, err);
}

int engine_explain_failure(const struct engine *engine, enum engine_operation operation, struct error **err)
{
	engine_explain_connection(engine->socket_path, ERROR_CLOSED, err);
	return error_wrap(err, "asked to %s", engine_operation_text(operation));
}

static int keep_body(struct engine_request *request, struct engine_call *call, struct error **err)
{
	if (!call->body)
		return 0;
	request->body = malloc(call->body_length + 1);
	if (!request->body)
		return error_set(err, ERROR_MEMORY, "no memory for a request");
	memcpy(request->body, call->body, call->body_length);
	call->body = request->body;
	return 0;
}

int engine_call_begin(struct engine *engine, const struct engine_call *call, struct engine_request **out,
		      struct error **err)
{
	struct engine_call kept = *call;
	struct engine_request *request;

	if (!engine->minor && call->operation != ENGINE_VERSION)
		return error_set(err, ERROR_INTERNAL, "no version of the engine's API was agreed on");
	request = calloc(1, sizeof(*request));
	if (!request)
		return error_set(err, ERROR_MEMORY, "no memory for a request");
	request->operation = call->operation;
	if (keep_body(request, &kept, err) < 0 || send_call(engine, &kept, &request->http, err) < 0) {
		request_free(request);
		return engine_explain_failure(engine, call->operation, err);
	}
	request->next = engine->requests;
	engine->requests = request;
	*out = request;
	return 0;
}

static void forget(struct engine *engine, const struct engine_request *request)
{
	for (struct engine_request **link = &engine->requests; *link; link = &(*link)->next) {
		if (*link == request) {
			*link = request->next;
			return;
		}
	}
}

int engine_finish(struct engine *engine, struct engine_request *request, struct engine_result *result,
		  struct error **err)
{
	cleanup_answer struct http_answer answer = { .status = 0 };
	enum engine_operation operation = request->operation;
	int code;

	forget(engine, request);
	code = http_finish(engine->client, request->http, &answer, err);
	request_free(request);
	if (code < 0)
		return engine_explain_failure(engine, operation, err);
	code = engine_judge(operation, answer.status, answer.body.data, answer.body.length, &result->found, err);
	if (code < 0)
		return code;
	result->status = answer.status;
	if (result->found) {
		result->body = answer.body;
		answer.body = (struct buf)BUF(0);
	}
	return 0;
}

int engine_call(struct engine *engine, const struct engine_call *call, struct engine_result *result, struct error **err)
{
	struct engine_request *request = NULL;
	int code = engine_call_begin(engine, call, &request, err);

	return code < 0 ? code : engine_finish(engine, request, result, err);
}

void engine_cancel(struct engine *engine, struct engine_request *request)
{
	if (!request)
		return;
	forget(engine, request);
	http_cancel(engine->client, request->http);
	request_free(request);
}

size_t engine_descriptors(const struct engine *engine, struct pollfd *out, size_t max)
{
	return http_descriptors(engine->client, out, max);
}

int engine_pump(struct engine *engine, struct error **err)
{
	return http_pump(engine->client, err);
}

int engine_drive(struct engine *engine, int64_t deadline, struct error **err)
{
	return http_drive(engine->client, deadline, err);
}

bool engine_done(const struct engine_request *request)
{
	return http_done(request->http);
}

int engine_take_body(const struct engine_result *result, struct buf *out, struct error **err)
{
	if (result->body.length)
		buf_add(out, result->body.data, result->body.length);
	return buf_check(out, "the engine's answer", err);
}

struct engine_call engine_plain(enum engine_operation operation, const char *path)
{
	return (struct engine_call){ .operation = operation, .path = path, .body_fd = -1 };
}

int engine_fetch(struct engine *engine, const struct engine_call *call, struct buf *json, bool *found,
		 struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };
	int code = engine_call(engine, call, &result, err);

	if (code < 0)
		return code;
	if (found)
		*found = result.found;
	return engine_take_body(&result, json, err);
}

int engine_command(struct engine *engine, const struct engine_call *call, struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };

	return engine_call(engine, call, &result, err);
}

int engine_container_fetch(struct engine *engine, enum engine_operation operation, const char *id, const char *end,
			   struct buf *json, bool *found, struct error **err)
{
	char path[ENGINE_CONTAINER_PATH] = "";
	struct engine_call call = engine_plain(operation, path);
	int code = engine_container_path(path, id, end, err);

	return code < 0 ? code : engine_fetch(engine, &call, json, found, err);
}

int engine_container_begin(struct engine *engine, enum engine_operation operation, const char *id, const char *end,
			   int64_t deadline, struct engine_request **out, struct error **err)
{
	char path[ENGINE_CONTAINER_PATH] = "";
	struct engine_call call = engine_plain(operation, path);
	int code = engine_container_path(path, id, end, err);

	call.deadline = deadline;
	return code < 0 ? code : engine_call_begin(engine, &call, out, err);
}
