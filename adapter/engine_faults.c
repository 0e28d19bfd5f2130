/* The typed calls that change a container while it runs. A session makes none of them: faults do. */
#include <stdio.h>
#include <string.h>

#include "adapter/engine_internal.h"
#include "core/fd.h"
#include "core/json.h"

#define BODY_BYTES (4 * KIB)
#define COMMAND_MAX 16
#define ARGUMENT_MAX 255

static int begin(struct engine *engine, enum engine_operation operation, const char *path, const struct buf *body,
		 struct engine_request **out, struct error **err)
{
	struct engine_call call = engine_plain(operation, path);

	if (buf_check(body, "the body of a call", err) < 0)
		return -(int)ERROR_LIMIT;
	call.body = body->data;
	call.body_length = body->length;
	return engine_call_begin(engine, &call, out, err);
}

int engine_rename_begin(struct engine *engine, const char *id, const char *name, struct engine_request **out,
			struct error **err)
{
	char end[ID_MAX + 16];
	int code = engine_check_name(name, err);

	snprintf(end, sizeof(end), "/rename?name=%s", name);
	return code < 0 ? code : engine_container_begin(engine, ENGINE_RENAME, id, end, 0, out, err);
}

int engine_update_begin(struct engine *engine, const char *id, int64_t pids, struct engine_request **out,
			struct error **err)
{
	cleanup_buf struct buf body = BUF(BODY_BYTES);
	char path[ENGINE_CONTAINER_PATH] = "";
	struct json_writer json;
	int code = engine_container_path(path, id, "/update", err);

	if (code < 0)
		return code;
	json_begin(&json, &body);
	json_object(&json);
	json_member_int(&json, "PidsLimit", pids);
	json_object_end(&json);
	return begin(engine, ENGINE_UPDATE, path, &body, out, err);
}

int engine_pause_begin(struct engine *engine, const char *id, struct engine_request **out, struct error **err)
{
	return engine_container_begin(engine, ENGINE_PAUSE, id, "/pause", 0, out, err);
}

int engine_unpause_begin(struct engine *engine, const char *id, struct engine_request **out, struct error **err)
{
	return engine_container_begin(engine, ENGINE_UNPAUSE, id, "/unpause", 0, out, err);
}

/* ---- networks ---- */

static int network_begin(struct engine *engine, enum engine_operation operation, const char *network, const char *verb,
			 const char *id, struct engine_request **out, struct error **err)
{
	cleanup_buf struct buf body = BUF(BODY_BYTES);
	char path[ID_MAX + 32] = "";
	struct json_writer json;
	int code = engine_check_name(network, err);

	if (code == 0)
		code = engine_check_id(id, err);
	if (code < 0)
		return code;
	snprintf(path, sizeof(path), "/networks/%s/%s", network, verb);
	json_begin(&json, &body);
	json_object(&json);
	json_member_string(&json, "Container", id);
	json_object_end(&json);
	return begin(engine, operation, path, &body, out, err);
}

int engine_connect_begin(struct engine *engine, const char *network, const char *id, struct engine_request **out,
			 struct error **err)
{
	return network_begin(engine, ENGINE_CONNECT, network, "connect", id, out, err);
}

int engine_disconnect_begin(struct engine *engine, const char *network, const char *id, struct engine_request **out,
			    struct error **err)
{
	return network_begin(engine, ENGINE_DISCONNECT, network, "disconnect", id, out, err);
}

/* ---- a second command ---- */

static int put_command(const char *const *command, struct buf *body, struct error **err)
{
	static const char *const streams[] = { "AttachStdin", "AttachStdout", "AttachStderr" };
	struct json_writer json;
	size_t count = 0;

	json_begin(&json, body);
	json_object(&json);
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		json_member_bool(&json, streams[i], true);
	json_put_key(&json, "Cmd");
	json_array(&json);
	for (; command[count]; count++) {
		if (count == COMMAND_MAX || !engine_printable(command[count], ARGUMENT_MAX))
			return error_set(err, ERROR_USAGE, "a command has at most %d words of 1 to %d printable bytes",
					 COMMAND_MAX, ARGUMENT_MAX);
		json_put_string(&json, command[count]);
	}
	json_array_end(&json);
	json_object_end(&json);
	return count ? 0 : error_set(err, ERROR_USAGE, "a command has a first word");
}

int engine_exec_begin(struct engine *engine, const char *id, const char *const *command, struct engine_request **out,
		      struct error **err)
{
	cleanup_buf struct buf body = BUF(BODY_BYTES);
	char path[ENGINE_CONTAINER_PATH] = "";
	int code = engine_container_path(path, id, "/exec", err);

	if (code == 0)
		code = put_command(command, &body, err);
	return code < 0 ? code : begin(engine, ENGINE_EXEC, path, &body, out, err);
}

int engine_exec_finish(struct engine *engine, struct engine_request *request, char exec[CONTAINER_ID_MAX],
		       struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *ignored = NULL;
	const char *given = NULL;
	int code = engine_finish(engine, request, &result, err);

	if (code < 0)
		return code;
	if (json_parse(buf_string(&result.body), result.body.length, JSON_ENGINE_DEPTH, &document, &ignored) == 0)
		given = json_string(json_member(json_root(document), "Id"));
	if (!given || strlen(given) != CONTAINER_ID_MAX - 1 || engine_check_id(given, &ignored) < 0)
		return error_set(err, ERROR_PROTOCOL, "asked to %s: the engine's answer names none",
				 engine_operation_text(ENGINE_EXEC));
	memcpy(exec, given, CONTAINER_ID_MAX);
	return 0;
}

int engine_exec_start(struct engine *engine, const char *exec, int *socket, struct buf *rest, struct error **err)
{
	static const char body[] = "{\"Detach\":false,\"Tty\":false}";
	char path[CONTAINER_ID_MAX + 16] = "";
	struct engine_call call = engine_plain(ENGINE_EXEC_START, path);
	int code = engine_check_id(exec, err);

	*socket = -1;
	if (code < 0)
		return code;
	snprintf(path, sizeof(path), "/exec/%s/start", exec);
	call.body = body;
	call.body_length = sizeof(body) - 1;
	return engine_take_over(engine, &call, socket, rest, err);
}
