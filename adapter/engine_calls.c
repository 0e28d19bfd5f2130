/* The typed calls of engine, images and containers. */
#include <stdio.h>
#include <string.h>

#include "adapter/engine_internal.h"
#include "core/clock.h"
#include "core/fd.h"
#include "core/json.h"

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define LABEL_MAX 255
#define SIGNAL_MAX 16
#define REMOVAL "?force=1&v=1"

/* ---- the engine ---- */

int engine_version(struct engine *engine, struct buf *json, struct error **err)
{
	struct engine_call call = engine_plain(ENGINE_VERSION, "/version");

	return engine_fetch(engine, &call, json, NULL, err);
}

int engine_info(struct engine *engine, struct buf *json, struct error **err)
{
	struct engine_call call = engine_plain(ENGINE_INFO, "/info");

	return engine_fetch(engine, &call, json, NULL, err);
}

int engine_network_inspect(struct engine *engine, const char *name, struct buf *json, bool *found, struct error **err)
{
	char path[ID_MAX + 16] = "";
	struct engine_call call = engine_plain(ENGINE_NETWORK, path);
	int code = engine_check_name(name, err);

	if (code < 0)
		return code;
	snprintf(path, sizeof(path), "/networks/%s", name);
	return engine_fetch(engine, &call, json, found, err);
}

/* `path` and a filter {KEY:[VALUE]}. */
static int fetch_by(struct engine *engine, enum engine_operation operation, const char *start, const char *key,
		    const char *label, struct buf *json, struct error **err)
{
	cleanup_buf struct buf filter = BUF(ENGINE_PATH_BYTES), path = BUF(ENGINE_PATH_BYTES);
	struct json_writer writer;
	struct engine_call call;

	if (!engine_printable(label, LABEL_MAX))
		return error_set(err, ERROR_USAGE, "a filter has 1 to %d printable bytes", LABEL_MAX);
	json_begin(&writer, &filter);
	json_object(&writer);
	json_put_key(&writer, key);
	json_array(&writer);
	json_put_string(&writer, label);
	json_array_end(&writer);
	json_object_end(&writer);
	buf_text(&path, start);
	engine_put_escaped(&path, buf_string(&filter));
	if (buf_check(&filter, "a filter", err) < 0 || buf_check(&path, "the path of a call", err) < 0)
		return -(int)ERROR_LIMIT;
	call = engine_plain(operation, buf_string(&path));
	return engine_fetch(engine, &call, json, NULL, err);
}

int engine_list(struct engine *engine, const char *label, struct buf *json, struct error **err)
{
	return fetch_by(engine, ENGINE_LIST, "/containers/json?all=1&filters=", "label", label, json, err);
}

int engine_images_by_label(struct engine *engine, const char *label, struct buf *json, struct error **err)
{
	return fetch_by(engine, ENGINE_IMAGES, "/images/json?filters=", "label", label, json, err);
}

int engine_images_by_reference(struct engine *engine, const char *reference, struct buf *json, struct error **err)
{
	return fetch_by(engine, ENGINE_IMAGES, "/images/json?filters=", "reference", reference, json, err);
}

/* ---- images ---- */

static int image_path(const char *reference, const char *end, struct buf *path, struct error **err)
{
	int code = engine_check_reference(reference, err);

	if (code < 0)
		return code;
	buf_printf(path, "/images/%s%s", reference, end);
	return buf_check(path, "the path of a call", err);
}

int engine_image_inspect(struct engine *engine, const char *reference, struct buf *json, bool *found,
			 struct error **err)
{
	cleanup_buf struct buf path = BUF(ENGINE_PATH_BYTES);
	struct engine_call call;
	int code = image_path(reference, "/json", &path, err);

	if (code < 0)
		return code;
	call = engine_plain(ENGINE_IMAGE_INSPECT, buf_string(&path));
	return engine_fetch(engine, &call, json, found, err);
}

int engine_image_remove(struct engine *engine, const char *reference, struct error **err)
{
	cleanup_buf struct buf path = BUF(ENGINE_PATH_BYTES);
	struct engine_call call;
	int code = image_path(reference, "", &path, err);

	if (code < 0)
		return code;
	call = engine_plain(ENGINE_IMAGE_REMOVE, buf_string(&path));
	return engine_command(engine, &call, err);
}

/* One line of the stream that loading answers with: {"stream":...}, {"status":...} or {"error":...}. */
static int check_load_line(const char *line, size_t length, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *ignored = NULL;

	while (length && (line[length - 1] == '\r' || line[length - 1] == ' '))
		length--;
	if (length == 0)
		return 0;
	if (json_parse(line, length, JSON_ENGINE_DEPTH, &document, &ignored) < 0)
		return error_set(err, ERROR_PROTOCOL, "asked to %s: the engine's report is no JSON",
				 engine_operation_text(ENGINE_IMAGE_LOAD));
	if (!json_is_null(json_member(json_root(document), "error")) ||
	    !json_is_null(json_member(json_root(document), "errorDetail")))
		return error_set(err, ERROR_ENGINE,
				 "asked to %s: the engine refused the archive: see its free disk space and its log",
				 engine_operation_text(ENGINE_IMAGE_LOAD));
	return 0;
}

int engine_image_load(struct engine *engine, int fd, size_t length, struct error **err)
{
	cleanup_buf struct buf lines = BUF(engine->limits.answer_bytes);
	struct engine_call call = engine_plain(ENGINE_IMAGE_LOAD, "/images/load?quiet=1");
	const char *line, *end;
	int code;

	call.body_fd = fd;
	call.body_length = length;
	code = engine_fetch(engine, &call, &lines, NULL, err);
	line = buf_string(&lines);
	end = line + lines.length;
	while (code == 0 && line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		code = check_load_line(line, (size_t)(stop - line), err);
		line = stop + 1;
	}
	return code;
}

/* ---- containers ---- */

static int read_created(const struct buf *json, char id[CONTAINER_ID_MAX], struct buf *warnings, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *ignored = NULL;
	const struct json_node *warned;
	const char *given = NULL;

	if (json_parse(buf_string(json), json->length, JSON_ENGINE_DEPTH, &document, &ignored) == 0)
		given = json_string(json_member(json_root(document), "Id"));
	if (!given || engine_check_id(given, &ignored) < 0 || strlen(given) != CONTAINER_ID_MAX - 1)
		return error_set(err, ERROR_PROTOCOL, "asked to %s: the engine's answer names no container",
				 engine_operation_text(ENGINE_CREATE));
	memcpy(id, given, CONTAINER_ID_MAX);
	warned = json_member(json_root(document), "Warnings");
	if (!json_is_null(warned) && (json_type(warned) != JSON_ARRAY || json_count(warned)))
		buf_add(warnings, json_raw(warned).bytes, json_raw(warned).length);
	return buf_check(warnings, "the engine's warnings", err);
}

int engine_create(struct engine *engine, const char *name, const void *body, size_t length, char id[CONTAINER_ID_MAX],
		  struct buf *warnings, struct error **err)
{
	cleanup_buf struct buf json = BUF(engine->limits.answer_bytes);
	char path[ID_MAX + 32] = "";
	struct engine_call call = engine_plain(ENGINE_CREATE, path);
	int code = engine_check_name(name, err);

	if (code < 0)
		return code;
	snprintf(path, sizeof(path), "/containers/create?name=%s", name);
	call.body = body;
	call.body_length = length;
	code = engine_fetch(engine, &call, &json, NULL, err);
	return code < 0 ? code : read_created(&json, id, warnings, err);
}

static int container_command(struct engine *engine, enum engine_operation operation, const char *id, const char *end,
			     int64_t deadline, struct error **err)
{
	char path[ENGINE_CONTAINER_PATH] = "";
	struct engine_call call = engine_plain(operation, path);
	int code = engine_container_path(path, id, end, err);

	call.deadline = deadline;
	return code < 0 ? code : engine_command(engine, &call, err);
}

int engine_inspect(struct engine *engine, const char *id, struct buf *json, bool *found, struct error **err)
{
	return engine_container_fetch(engine, ENGINE_INSPECT, id, "/json", json, found, err);
}

int engine_inspect_begin(struct engine *engine, const char *id, int64_t deadline, struct engine_request **out,
			 struct error **err)
{
	return engine_container_begin(engine, ENGINE_INSPECT, id, "/json", deadline, out, err);
}

int engine_start_begin(struct engine *engine, const char *id, struct engine_request **out, struct error **err)
{
	return engine_container_begin(engine, ENGINE_START, id, "/start", 0, out, err);
}

int engine_start_finish(struct engine *engine, struct engine_request *request, struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };

	return engine_finish(engine, request, &result, err);
}

int engine_start(struct engine *engine, const char *id, struct error **err)
{
	return container_command(engine, ENGINE_START, id, "/start", 0, err);
}

int engine_wait_begin(struct engine *engine, const char *id, int64_t deadline, struct engine_request **out,
		      struct error **err)
{
	return engine_container_begin(engine, ENGINE_WAIT, id, "/wait?condition=next-exit", deadline, out, err);
}

int engine_wait_finish(struct engine *engine, struct engine_request *request, int64_t *exit_code, struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *ignored = NULL;
	const struct json_node *root;
	int code = engine_finish(engine, request, &result, err);

	if (code < 0)
		return code;
	if (json_parse(buf_string(&result.body), result.body.length, JSON_ENGINE_DEPTH, &document, &ignored) < 0)
		return error_set(err, ERROR_PROTOCOL, "asked to %s: the engine's answer is no JSON",
				 engine_operation_text(ENGINE_WAIT));
	root = json_root(document);
	if (!json_is_null(json_member(root, "Error")))
		return error_set(err, ERROR_ENGINE, "asked to %s: the engine could not wait: see its log",
				 engine_operation_text(ENGINE_WAIT));
	if (!json_int64(json_member(root, "StatusCode"), exit_code))
		return error_set(err, ERROR_PROTOCOL, "asked to %s: the engine's answer has no exit code",
				 engine_operation_text(ENGINE_WAIT));
	return 0;
}

int engine_kill(struct engine *engine, const char *id, const char *signal, struct error **err)
{
	char end[SIGNAL_MAX + 16];

	if (!engine_consists_of(signal, 1, SIGNAL_MAX, CAPITALS))
		return error_set(err, ERROR_USAGE, "a signal is named in capitals, as in KILL");
	snprintf(end, sizeof(end), "/kill?signal=%s", signal);
	return container_command(engine, ENGINE_KILL, id, end, 0, err);
}

int engine_stop(struct engine *engine, const char *id, unsigned seconds, struct error **err)
{
	int64_t deadline = clock_deadline(engine->limits.call_ms + INT64_C(1000) * seconds);
	char end[32];

	snprintf(end, sizeof(end), "/stop?t=%u", seconds);
	return container_command(engine, ENGINE_STOP, id, end, deadline, err);
}

int engine_remove(struct engine *engine, const char *id, struct error **err)
{
	return container_command(engine, ENGINE_REMOVE, id, REMOVAL, 0, err);
}

int engine_await_removal(struct engine *engine, const char *id, int64_t deadline, struct error **err)
{
	cleanup_buf struct buf inspect = BUF(ENGINE_ANSWER_BYTES);
	cleanup_result struct engine_result result = { .status = 0 };
	cleanup_error struct error *ignored = NULL;
	struct engine_request *request = NULL;
	bool found = true;

	/* Whatever the answer is, only that the container is gone counts. */
	if (engine_container_begin(engine, ENGINE_WAIT, id, "/wait?condition=removed", deadline, &request, &ignored) >=
		    0 &&
	    engine_finish(engine, request, &result, &ignored) < 0)
		error_free(steal_pointer(&ignored));
	if (engine_inspect(engine, id, &inspect, &found, err) < 0)
		return -1;
	return found ? error_set(err, ERROR_TIMEOUT, "container %.12s is still there: is the engine stuck?", id) : 0;
}

int engine_remove_begin(struct engine *engine, const char *id, struct engine_request **out, struct error **err)
{
	return engine_container_begin(engine, ENGINE_REMOVE, id, REMOVAL, 0, out, err);
}
