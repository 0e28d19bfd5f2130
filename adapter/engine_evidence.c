/* The typed calls that collect evidence: archive, changes, log and events. */
#include "adapter/engine_internal.h"
#include "core/clock.h"
#include "core/fd.h"

#define FILE_PATH_MAX 1024

int engine_archive_begin(struct engine *engine, const char *id, const char *path, http_sink sink, void *context,
			 struct engine_request **out, struct error **err)
{
	cleanup_buf struct buf url = BUF(ENGINE_PATH_BYTES);
	struct engine_call call;
	int code = engine_check_id(id, err);

	if (code < 0)
		return code;
	if (path[0] != '/' || !engine_printable(path, FILE_PATH_MAX))
		return error_set(err, ERROR_USAGE,
				 "a path in a container begins with / and has 1 to %d printable bytes", FILE_PATH_MAX);
	buf_printf(&url, "/containers/%s/archive?path=", id);
	engine_put_escaped(&url, path);
	if (buf_check(&url, "the path of a call", err) < 0)
		return -(int)ERROR_LIMIT;
	call = engine_plain(ENGINE_ARCHIVE, buf_string(&url));
	call.sink = sink;
	call.context = context;
	return engine_call_begin(engine, &call, out, err);
}

int engine_changes(struct engine *engine, const char *id, struct buf *json, struct error **err)
{
	return engine_container_fetch(engine, ENGINE_CHANGES, id, "/changes", json, NULL, err);
}

int engine_changes_begin(struct engine *engine, const char *id, struct engine_request **out, struct error **err)
{
	return engine_container_begin(engine, ENGINE_CHANGES, id, "/changes", 0, out, err);
}

int engine_logs_begin(struct engine *engine, const char *id, http_sink sink, void *context, struct engine_request **out,
		      struct error **err)
{
	char path[ENGINE_CONTAINER_PATH] = "";
	struct engine_call call = engine_plain(ENGINE_LOGS, path);
	int code = engine_container_path(path, id, "/logs?stdout=1&stderr=1", err);

	call.sink = sink;
	call.context = context;
	return code < 0 ? code : engine_call_begin(engine, &call, out, err);
}

int engine_logs(struct engine *engine, const char *id, http_sink sink, void *context, long *status, struct error **err)
{
	cleanup_result struct engine_result result = { .status = 0 };
	struct engine_request *request = NULL;
	int code = engine_logs_begin(engine, id, sink, context, &request, err);

	if (code == 0)
		code = engine_finish(engine, request, &result, err);
	if (code == 0)
		*status = result.status;
	return code;
}

static void put_time(struct buf *out, const char *key, int64_t nanoseconds)
{
	buf_printf(out, "%s%lld.%09lld", key, (long long)(nanoseconds / NS_PER_S), (long long)(nanoseconds % NS_PER_S));
}

/* `until` negative: no end. */
static int events_path(struct buf *path, int64_t since, int64_t until, const char *filters, struct error **err)
{
	if (since < 0)
		return error_set(err, ERROR_USAGE, "events are asked for from a time after 1970");
	put_time(path, "/events?since=", since);
	if (until >= 0)
		put_time(path, "&until=", until);
	if (filters) {
		buf_text(path, "&filters=");
		engine_put_escaped(path, filters);
	}
	return buf_check(path, "the path of a call", err);
}

int engine_events(struct engine *engine, int64_t since, int64_t until, const char *filters, struct buf *lines,
		  struct error **err)
{
	cleanup_buf struct buf path = BUF(ENGINE_PATH_BYTES);
	struct engine_call call;
	int code;

	if (until < since)
		return error_set(err, ERROR_USAGE, "events are asked for up to a time before their start");
	code = events_path(&path, since, until, filters, err);
	if (code < 0)
		return code;
	call = engine_plain(ENGINE_EVENTS, buf_string(&path));
	return engine_fetch(engine, &call, lines, NULL, err);
}

int engine_events_begin(struct engine *engine, int64_t since, const char *filters, int64_t deadline, http_sink sink,
			void *context, struct engine_request **out, struct error **err)
{
	cleanup_buf struct buf path = BUF(ENGINE_PATH_BYTES);
	struct engine_call call;
	int code = events_path(&path, since, -1, filters, err);

	if (code < 0)
		return code;
	call = engine_plain(ENGINE_EVENTS, buf_string(&path));
	call.deadline = deadline;
	call.sink = sink;
	call.context = context;
	return engine_call_begin(engine, &call, out, err);
}
