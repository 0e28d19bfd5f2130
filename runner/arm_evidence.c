/*
 * What the engine has to tell about a container: handed to the observers by pipes, as it came. The arm reads none of
 * it. A call that fails leaves its input without an end, which the observer reports as missing.
 */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm.h"

#define SINK_MS 10000
#define EVENTS_SLACK_NS NS_PER_S

/* A pipe to an observer that a sink writes to. */
struct feed {
	int write_end;
};

static int feed_sink(void *context, const void *bytes, size_t length, struct error **err)
{
	const struct feed *feed = context;

	return fd_write_all(feed->write_end, bytes, length, clock_deadline(SINK_MS), err);
}

static int archive_sink(void *context, const void *bytes, size_t length, struct error **err)
{
	const struct arm *arm = context;

	return fd_write_all(arm->archive, bytes, length, clock_deadline(SINK_MS), err);
}

static void feed_close(struct feed *feed)
{
	fd_close(&feed->write_end);
}
#define cleanup_feed __attribute__((cleanup(feed_close)))

static int feed_open(struct arm *arm, const char *kind, const char *input, struct feed *feed, struct error **err)
{
	struct observer_process *observer = arm_observer(arm, kind);
	cleanup_fd int read_end = -1;

	if (fd_pipe(&read_end, &feed->write_end, err) < 0)
		return -1;
	return observer ? observer_give(observer, input, read_end, err) : 0;
}

/* Gives bytes that are at hand already. Pipes are bounded, so the observer reads while this writes. */
static int give_bytes(struct arm *arm, const char *kind, const char *input, const char *bytes, size_t length,
		      struct error **err)
{
	cleanup_feed struct feed feed = { .write_end = -1 };

	if (!arm_observer(arm, kind))
		return 0;
	if (feed_open(arm, kind, input, &feed, err) < 0)
		return -1;
	return feed_sink(&feed, bytes, length, err);
}

static int give_status(struct arm *arm, long status, struct error **err)
{
	char text[24];
	int length = snprintf(text, sizeof(text), "%ld", status);

	return give_bytes(arm, "logs", "api-status", text, (size_t)length, err);
}

static int changes(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf answer = BUF(ENGINE_ANSWER_BYTES);

	if (!arm_observer(arm, "files"))
		return 0;
	if (engine_changes(arm->engine, arm->session.container, &answer, err) < 0)
		return -1;
	return give_bytes(arm, "files", "changes", buf_string(&answer), answer.length, err);
}

static int logs(struct arm *arm, struct error **err)
{
	cleanup_feed struct feed feed = { .write_end = -1 };
	long status = 0;

	if (!arm_observer(arm, "logs"))
		return 0;
	if (feed_open(arm, "logs", "api", &feed, err) < 0 ||
	    engine_logs(arm->engine, arm->session.container, feed_sink, &feed, &status, err) < 0)
		return -1;
	return give_status(arm, status, err);
}

static int state(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf inspect = BUF(ENGINE_ANSWER_BYTES);
	cleanup_buf struct buf events = BUF(ENGINE_ANSWER_BYTES);
	char filters[160];
	bool found = false;

	if (!arm_observer(arm, "state"))
		return 0;
	snprintf(filters, sizeof(filters), "{\"type\":[\"container\"],\"container\":[\"%s\"]}", arm->session.container);
	if (engine_inspect(arm->engine, arm->session.container, &inspect, &found, err) < 0 ||
	    give_bytes(arm, "state", "inspect", buf_string(&inspect), inspect.length, err) < 0)
		return -1;
	if (engine_events(arm->engine, arm->created_wall - EVENTS_SLACK_NS, clock_realtime(), filters, &events, err) <
	    0)
		return -1;
	return give_bytes(arm, "state", "events", buf_string(&events), events.length, err);
}

void arm_limit_calls(struct arm *arm, int64_t deadline)
{
	struct engine_limits limits = ENGINE_LIMITS;
	int64_t left = (deadline - clock_now()) / NS_PER_MS;

	if (deadline == NEVER || !arm->engine)
		return;
	limits.call_ms = left > 1 ? left : 1;
	engine_set_limits(arm->engine, &limits);
}

/* Each part on its own: what fails here leaves its observer without an input, and its cells not established. */
static void attempt(struct arm *arm, int (*part)(struct arm *arm, struct error **err), const char *name)
{
	cleanup_error struct error *ignored = NULL;

	arm_limit_calls(arm, arm->end_by);
	if (clock_now() >= arm->end_by || part(arm, &ignored) < 0)
		arm_note(arm, "input-missing", name, clock_now());
}

static int archive_begin(struct arm *arm, struct error **err)
{
	struct feed feed = { .write_end = -1 };

	if (!arm_observer(arm, "files"))
		return 0;
	if (feed_open(arm, "files", "archive", &feed, err) < 0)
		return -1;
	arm->archive = feed.write_end;
	return engine_archive_begin(arm->engine, arm->session.container, "/", archive_sink, arm, &arm->archiving, err);
}

static int archive_finish(struct arm *arm, struct error **err)
{
	cleanup_result struct engine_result archive = { 0 };
	int status = 0;

	if (arm->archiving)
		status = engine_finish(arm->engine, steal_pointer(&arm->archiving), &archive, err);
	fd_close(&arm->archive);
	return status;
}

void arm_evidence_begin(struct arm *arm)
{
	attempt(arm, archive_begin, "files-archive");
}

void arm_evidence_archive(struct arm *arm)
{
	attempt(arm, archive_finish, "files-archive");
}

void arm_evidence(struct arm *arm)
{
	attempt(arm, changes, "files");
	attempt(arm, logs, "logs");
	attempt(arm, state, "state");
}

static int control_logs(struct arm *arm, struct error **err)
{
	cleanup_feed struct feed feed = { .write_end = -1 };
	long status = 0;

	if (!arm_observer(arm, "logs"))
		return 0;
	if (feed_open(arm, "logs", "control-api", &feed, err) < 0)
		return -1;
	return engine_logs(arm->engine, arm->context.control, feed_sink, &feed, &status, err);
}

static int control_changes(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf changes = BUF(ENGINE_ANSWER_BYTES);

	if (!arm_observer(arm, "files"))
		return 0;
	if (engine_changes(arm->engine, arm->context.control, &changes, err) < 0)
		return -1;
	return give_bytes(arm, "files", "control-changes", buf_string(&changes), changes.length, err);
}

/* What came behind the engine's headers is a part of the stream: it goes first, by a pipe of its own. */
static int control_client(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf rest = BUF(ENGINE_HEADER_BYTES);
	cleanup_feed struct feed feed = { .write_end = -1 };
	cleanup_fd int stream = -1;

	if (!arm_observer(arm, "client"))
		return 0;
	if (engine_attach_log(arm->engine, arm->context.control, &stream, &rest, err) < 0 ||
	    fd_read_all(stream, &rest, clock_deadline(SINK_MS), err) < 0 ||
	    feed_open(arm, "client", "control", &feed, err) < 0)
		return -1;
	return feed_sink(&feed, rest.data, rest.length, err);
}

/* What the engine says of the container before somebody changes it, and while the window closes. */
static int inspected(struct arm *arm, const char *input, struct error **err)
{
	cleanup_buf struct buf inspect = BUF(ENGINE_ANSWER_BYTES);
	bool found = false;

	if (engine_inspect(arm->engine, arm->session.container, &inspect, &found, err) < 0)
		return -1;
	return found ? give_bytes(arm, "state", input, buf_string(&inspect), inspect.length, err)
		     : error_set(err, ERROR_REFUSED, "the container is gone");
}

static int inspect_before(struct arm *arm, struct error **err)
{
	return inspected(arm, "inspect-before", err);
}

static int inspect_window(struct arm *arm, struct error **err)
{
	return inspected(arm, "inspect-window", err);
}

void arm_evidence_before(struct arm *arm)
{
	if (arm_faults_change(arm) && arm_observer(arm, "state"))
		attempt(arm, inspect_before, "inspect-before");
}

void arm_evidence_window(struct arm *arm)
{
	if (arm_faults_change(arm) && arm_observer(arm, "state") && !arm->told.dead)
		attempt(arm, inspect_window, "inspect-window");
}

void arm_evidence_control(struct arm *arm)
{
	attempt(arm, control_client, "control-client");
	attempt(arm, control_logs, "control-logs");
	attempt(arm, control_changes, "control-changes");
}
