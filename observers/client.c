/*
 * libexec/observer-client: what the container says to a client of the engine that is not the bridge. Inputs:
 *
 *   stream    socket: the standard streams of the container, or of another command in it, as the engine frames them
 *   control   socket: the same of a container with a log, which emitted the marker, by the engine's same call: the
 *             positive control
 */
#include "core/clock.h"
#include "core/fd.h"
#include "observers/logs_frames.h"
#include "observers/logs_lines.h"
#include "observers/observer.h"
#include "observers/stream.h"

#define VIEW 0

struct heard {
	struct stream stream;
	struct logs_frames frames;
	struct logs_lines lines;
};

struct client {
	bool opened;
	struct heard heard, control;
};

static void on_content(void *context, unsigned stream, const void *bytes, size_t length)
{
	struct logs_lines *lines = context;

	counter_lines(&lines->streams[stream], bytes, length);
}

static int on_bytes(void *context, const void *bytes, size_t length, struct error **err)
{
	struct heard *heard = context;

	(void)err;
	logs_frames_feed(&heard->frames, bytes, length, on_content, &heard->lines);
	return 0;
}

static int heard_open(struct heard *heard, struct observer *observer, struct error **err)
{
	heard->stream = (struct stream)STREAM(ENGINE_STREAM_BYTES, on_bytes);
	heard->stream.context = heard;
	return logs_lines_open(&heard->lines, observer, err);
}

static int client_open(struct observer *observer, struct error **err)
{
	struct client *client = observer->state;
	int status;

	client->opened = true;
	status = heard_open(&client->heard, observer, err);
	return status ? status : heard_open(&client->control, observer, err);
}

static int client_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct client *client = observer->state;
	const struct input inputs[] = {
		{ .name = "stream", .stream = &client->heard.stream },
		{ .name = "control", .stream = &client->control.stream },
	};

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

/* To the end of the stream; the reason why what was heard is not all, or NONE. */
static int finish(struct heard *heard, enum wire_reason *reason, struct error **err)
{
	int status = stream_finish(&heard->stream, clock_deadline(OBSERVER_STREAM_MS), err);

	logs_lines_end(&heard->lines);
	*reason = stream_reason(&heard->stream);
	if (*reason == WIRE_REASON_NONE && !logs_frames_whole(&heard->frames))
		*reason = heard->frames.invalid ? WIRE_REASON_INPUT_INVALID : WIRE_REASON_TRUNCATED;
	return status;
}

static int prove(struct observer *observer, struct error **err)
{
	struct client *client = observer->state;
	enum wire_reason reason;
	uint64_t markers;
	int status = finish(&client->control, &reason, err);

	if (status || reason != WIRE_REASON_NONE)
		return status;
	markers = logs_lines_markers(observer, &client->control.lines);
	status = observer_beacon(observer, VIEW, WIRE_BEFORE, markers, err);
	return status ? status : observer_beacon(observer, VIEW, WIRE_AFTER, markers, err);
}

/* A stream ends with the container: before, there is nothing to say. */
static int client_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct client *client = observer->state;
	struct heard *heard = &client->heard;
	enum wire_reason reason;
	int status;

	if (phase == WIRE_BEFORE)
		return 0;
	status = prove(observer, err);
	if (!status)
		status = finish(heard, &reason, err);
	for (size_t i = 0; i < observer->count && !status; i++) {
		const struct observed *observed = &observer->subjects[i];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.reason = reason,
			.value = (int64_t)logs_lines_records(&heard->lines, i),
			.hits = (int64_t)logs_lines_hits(&heard->lines, i),
			.bytes = (int64_t)heard->stream.bytes,
		};

		if (!observed->marker && observed->scanned)
			status = observer_record(observer, VIEW, observed->subject, WIRE_AFTER, &record, err);
	}
	return status;
}

static void client_close(struct observer *observer)
{
	struct client *client = observer->state;

	if (!client->opened)
		return;
	stream_close(&client->heard.stream);
	stream_close(&client->control.stream);
	logs_lines_close(&client->heard.lines);
	logs_lines_close(&client->control.lines);
}

static const struct sensor sensor = {
	.name = "observer-client",
	.state_size = sizeof(struct client),
	.open = client_open,
	.input = client_input,
	.report = client_report,
	.close = client_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
