/*
 * libexec/observer-logs: what the engine kept of the container's output, by its API and in its folder. Inputs:
 *
 *   api-status     pipe: the decimal status of the answer to logs; 501: the driver keeps nothing
 *   api            pipe: the body of that answer, multiplexed when the status is 200
 *   disk           folder: the engine's folder of the container
 *   control-api, control-disk   the same of a container with a log, which emitted the marker: the positive control
 */
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/logs_disk.h"
#include "observers/logs_frames.h"
#include "observers/logs_lines.h"
#include "observers/observer.h"
#include "observers/stream.h"

/* The rows of the kind "logs", in its order. */
enum { VIEW_API, VIEW_DISK };

#define STATUS_BYTES 16
/* What a driver without a log is answered with; the status alone, 500, would be any failure. */
#define UNREADABLE "does not support reading"
#define ANSWER_BYTES 512

struct api {
	struct stream stream;
	struct logs_frames frames;
	struct logs_lines *lines;
	struct buf answer; /* the first bytes, for an answer that is no log */
};

struct logs {
	struct observer *observer;
	struct stream status_stream;
	struct buf status;
	struct api api, control_api;
	int disk, control_disk;
	struct logs_lines api_lines, control_lines, disk_lines;
};

/* ---- by the API ----------------------------------------------------------------------------------------------------
 */

static void on_content(void *context, unsigned stream, const void *bytes, size_t length)
{
	struct logs_lines *lines = context;

	counter_lines(&lines->streams[stream], bytes, length);
}

static int on_api(void *context, const void *bytes, size_t length, struct error **err)
{
	struct api *api = context;
	size_t room = api->answer.max - api->answer.length;

	if (buf_add(&api->answer, bytes, length < room ? length : room) < 0)
		return buf_check(&api->answer, "an answer to logs", err);
	logs_frames_feed(&api->frames, bytes, length, on_content, api->lines);
	return 0;
}

static int on_status(void *context, const void *bytes, size_t length, struct error **err)
{
	struct logs *logs = context;

	if (buf_add(&logs->status, bytes, length) < 0)
		return buf_check(&logs->status, "a status", err);
	return 0;
}

static bool status_is(const struct logs *logs, const char *status)
{
	return strncmp(buf_string(&logs->status), status, 3) == 0 &&
	       strspn(buf_string(&logs->status), "0123456789") == 3;
}

/* The reason why the body is no whole log, or NONE. */
static enum wire_reason finish_body(struct api *api)
{
	enum wire_reason reason = stream_reason(&api->stream);

	logs_lines_end(api->lines);
	if (reason != WIRE_REASON_NONE || logs_frames_whole(&api->frames))
		return reason;
	return api->frames.invalid ? WIRE_REASON_INPUT_INVALID : WIRE_REASON_TRUNCATED;
}

static enum wire_reason judge_answer(struct logs *logs)
{
	enum wire_reason reason = stream_reason(&logs->status_stream);

	if (reason != WIRE_REASON_NONE)
		return reason;
	if (status_is(logs, "200"))
		return finish_body(&logs->api);
	/* No log is what the reference profile promises, and the one answer besides a log that says something. */
	logs_lines_clear(&logs->api_lines);
	if (status_is(logs, "501") ||
	    (status_is(logs, "500") && strstr(buf_string(&logs->api.answer), UNREADABLE) != NULL))
		return WIRE_REASON_NONE;
	return WIRE_REASON_INPUT_INVALID;
}

static int finish_streams(struct logs *logs, struct error **err)
{
	int64_t deadline = clock_deadline(OBSERVER_STREAM_MS);
	int status = stream_finish(&logs->status_stream, deadline, err);

	if (!status)
		status = stream_finish(&logs->api.stream, deadline, err);
	return status ? status : stream_finish(&logs->control_api.stream, deadline, err);
}

/* ---- the sensor ----------------------------------------------------------------------------------------------------
 */

static void api_init(struct api *api, struct logs_lines *lines)
{
	*api = (struct api){ .stream = STREAM(ENGINE_STREAM_BYTES, on_api),
			     .lines = lines,
			     .answer = BUF(ANSWER_BYTES) };
	api->stream.context = api;
}

static int logs_open(struct observer *observer, struct error **err)
{
	struct logs *logs = observer->state;
	int status;

	*logs = (struct logs){
		.observer = observer,
		.status_stream = STREAM(STATUS_BYTES, on_status),
		.status = BUF(STATUS_BYTES),
		.disk = -1,
		.control_disk = -1,
	};
	logs->status_stream.context = logs;
	api_init(&logs->api, &logs->api_lines);
	api_init(&logs->control_api, &logs->control_lines);
	status = logs_lines_open(&logs->disk_lines, observer, err);
	if (!status)
		status = logs_lines_open(&logs->api_lines, observer, err);
	return status ? status : logs_lines_open(&logs->control_lines, observer, err);
}

static int logs_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct logs *logs = observer->state;
	const struct input inputs[] = {
		{ .name = "api-status", .stream = &logs->status_stream },
		{ .name = "api", .stream = &logs->api.stream },
		{ .name = "control-api", .stream = &logs->control_api.stream },
		{ .name = "disk", .folder = &logs->disk },
		{ .name = "control-disk", .folder = &logs->control_disk },
	};

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

static int prove(struct observer *observer, size_t view, uint64_t markers, struct error **err)
{
	int status = observer_beacon(observer, view, WIRE_BEFORE, markers, err);

	return status ? status : observer_beacon(observer, view, WIRE_AFTER, markers, err);
}

static int send_view(struct observer *observer, size_t view, const struct logs_lines *lines, uint64_t bytes,
		     enum wire_reason reason, struct error **err)
{
	int status = 0;

	for (size_t i = 0; i < observer->count && !status; i++) {
		const struct observed *observed = &observer->subjects[i];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.reason = reason,
			.value = (int64_t)logs_lines_records(lines, i),
			.hits = (int64_t)logs_lines_hits(lines, i),
			.bytes = (int64_t)bytes,
		};

		if (!observed->marker && observed->scanned)
			status = observer_record(observer, view, observed->subject, WIRE_AFTER, &record, err);
	}
	return status;
}

static int report_api(struct logs *logs, struct error **err)
{
	enum wire_reason reason;
	int status = finish_streams(logs, err);

	if (status)
		return status;
	reason = judge_answer(logs);
	if (finish_body(&logs->control_api) == WIRE_REASON_NONE)
		status = prove(logs->observer, VIEW_API, logs_lines_markers(logs->observer, &logs->control_lines), err);
	if (status)
		return status;
	return send_view(logs->observer, VIEW_API, &logs->api_lines, logs->api.stream.bytes, reason, err);
}

static int report_disk(struct logs *logs, struct error **err)
{
	struct tree_result result;
	int status = logs_disk_count(logs->control_disk, &logs->disk_lines, &result, err);

	if (!status && result.reason == WIRE_REASON_NONE && logs_disk_is_engines(logs->disk))
		status = prove(logs->observer, VIEW_DISK, logs_lines_markers(logs->observer, &logs->disk_lines), err);
	if (!status)
		status = logs_disk_count(logs->disk, &logs->disk_lines, &result, err);
	if (status)
		return status;
	return send_view(logs->observer, VIEW_DISK, &logs->disk_lines, result.bytes, result.reason, err);
}

/* A log is read when the process is gone: before, there is nothing to say. */
static int logs_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct logs *logs = observer->state;
	int status;

	if (phase == WIRE_BEFORE)
		return 0;
	status = report_api(logs, err);
	return status ? status : report_disk(logs, err);
}

static void logs_close(struct observer *observer)
{
	struct logs *logs = observer->state;

	/* Without an observer it was never opened, and the descriptors of zero are not its own. */
	if (!logs->observer)
		return;
	stream_close(&logs->status_stream);
	stream_close(&logs->api.stream);
	stream_close(&logs->control_api.stream);
	buf_free(&logs->status);
	buf_wipe(&logs->api.answer);
	buf_wipe(&logs->control_api.answer);
	logs_lines_close(&logs->disk_lines);
	logs_lines_close(&logs->api_lines);
	logs_lines_close(&logs->control_lines);
	fd_close(&logs->disk);
	fd_close(&logs->control_disk);
}

static const struct sensor sensor = {
	.name = "observer-logs",
	.state_size = sizeof(struct logs),
	.open = logs_open,
	.input = logs_input,
	.report = logs_report,
	.close = logs_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
