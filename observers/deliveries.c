/*
 * Counts what reached the upstream tool, in the file that the tool itself writes, and what the gateway decided, in its
 * file of fixed rows. Inputs: "recorder" and "decisions", descriptors for reading. Neither file is ever written here.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "core/buf.h"
#include "core/fd.h"
#include "core/json.h"
#include "observers/decision_row.h"
#include "observers/observer.h"
#include "observers/sink.h"
#include "observers/tail.h"

#define LINES 0 /* view "deliveries" */
#define DECISIONS 1 /* view "decisions" */
#define BEACON_TOOL "beacon.tool"
/* Its own measure: what a fixture of ours between bridge and tool did, no matter what the bridge makes of it. */
#define PEER_ACTED "peer-acted"
#define LATE "late"
#define REVOKED_MAX 32

struct deliveries {
	bool opened;
	int inotify;
	struct tail lines, rows;
	uint64_t sequence; /* of the last row */
	uint64_t beacon_rows; /* of the beacon's tool, allowed */
	uint64_t acted; /* lines in which a hostile peer says so */
	char revoked[REVOKED_MAX][NAME_MAX_SHORT]; /* tools that no call may reach now; "" is a free place */
	bool restricted; /* there was one */
	uint64_t late, late_bytes; /* lines of one */
};

/* Subjects that count denials; all others count what was allowed. */
static const char *const denials[];
static const struct sensor sensor;

/* ---- the recorder's lines --------------------------------------------------------------------- */

/* A canary may hide behind escapes (RFC 8259, 7) in the line as written. */
static void find_decoded(struct observer *observer, const struct json_node *node, uint64_t *hits)
{
	const char *key = json_key(node), *text = json_string(node);

	if (key)
		observer_find(observer, key, strlen(key), hits);
	if (text)
		observer_find(observer, text, json_string_length(node), hits);
	/* Recursion is bounded by the depth that json_parse() allowed. */
	for (const struct json_node *child = json_first(node); child; child = json_next(child))
		find_decoded(observer, child, hits);
}

/* Connections of a subject are the calls of its tool, whatever they bore; the beacon has its own. */
static void count_call(struct observer *observer, const char *tool, size_t length)
{
	for (size_t i = 0; i < observer->count; i++) {
		struct observed *observed = &observer->subjects[i];

		if (observed->marker || strcmp(observed->text, tool) != 0)
			continue;
		observed->counts[LINES].connections++;
		observed->counts[LINES].bytes += length;
	}
}

static char *find_revoked(struct deliveries *deliveries, const char *tool)
{
	for (size_t i = 0; i < REVOKED_MAX; i++)
		if (strcmp(deliveries->revoked[i], tool) == 0)
			return deliveries->revoked[i];
	return NULL;
}

/* An effect of a tool that no call may reach, whatever it bore. */
static void count_late(struct deliveries *deliveries, const char *tool, size_t length)
{
	if (tool[0] == '\0' || !find_revoked(deliveries, tool))
		return;
	deliveries->late++;
	deliveries->late_bytes += length;
}

static int take_line(struct observer *observer, const char *line, size_t length, struct error **err)
{
	uint64_t raw[OBSERVER_HITS] = { 0 }, decoded[OBSERVER_HITS] = { 0 };
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *broken = NULL;
	const struct json_node *root = NULL;
	const char *tool = NULL;

	observer_find(observer, line, length, raw);
	if (json_parse(line, length, JSON_ENGINE_DEPTH, &document, &broken) == 0) {
		root = json_root(document);
		tool = json_string(json_member(root, "tool"));
		find_decoded(observer, root, decoded);
	}
	if (!tool || !json_member(root, "arguments")) {
		int r = observer_blind(observer, LINES, WIRE_REASON_INPUT_INVALID, err);

		if (r < 0)
			return r;
	} else if (strcmp(tool, SINK_PEER_ACTED) == 0) {
		((struct deliveries *)observer->state)->acted++;
	} else {
		count_call(observer, tool, length + 1);
		count_late(observer->state, tool, length + 1);
	}
	for (size_t i = 0; i < observer->count; i++)
		if (decoded[i] > raw[i])
			raw[i] = decoded[i];
	return observer_count_hits(observer, LINES, raw, NULL, err);
}

static int take_lines(struct observer *observer, struct tail *tail, struct error **err)
{
	const char *end;
	int r = 0;

	while (r == 0 && (end = memchr(buf_string(&tail->pending), '\n', tail->pending.length)) != NULL) {
		size_t length = (size_t)(end - buf_string(&tail->pending));

		r = take_line(observer, buf_string(&tail->pending), length, err);
		buf_consume(&tail->pending, length + 1);
	}
	return r;
}

/* ---- the gateway's decisions ------------------------------------------------------------------ */

static uint32_t decision_of(const struct observed *observed)
{
	for (const char *const *name = denials; *name; name++)
		if (strcmp(observed->subject, *name) == 0)
			return DECISION_DENY;
	return DECISION_ALLOW;
}

static void count_row(struct observer *observer, const struct decision_row *row)
{
	struct deliveries *deliveries = observer->state;

	for (size_t i = 0; i < observer->count; i++) {
		struct observed *observed = &observer->subjects[i];
		struct counts *counts = &observed->counts[DECISIONS];

		if (observed->marker || strcmp(observed->text, row->tool) != 0)
			continue;
		counts->connections++;
		counts->bytes += DECISION_ROW_BYTES;
		counts->records += decision_of(observed) == row->decision;
	}
	if (strcmp(row->tool, BEACON_TOOL) == 0 && row->decision == DECISION_ALLOW)
		deliveries->beacon_rows++;
}

static int take_rows(struct observer *observer, struct tail *tail, struct error **err)
{
	struct deliveries *deliveries = observer->state;

	while (tail->pending.length >= DECISION_ROW_BYTES) {
		struct decision_row row;

		if (!decision_row_parse(buf_string(&tail->pending), &row) || row.sequence != deliveries->sequence + 1) {
			tail->stopped = true;
			return observer_blind(observer, DECISIONS, WIRE_REASON_INPUT_INVALID, err);
		}
		deliveries->sequence = row.sequence;
		count_row(observer, &row);
		buf_consume(&tail->pending, DECISION_ROW_BYTES);
	}
	return 0;
}

/* Each beacon is one row and one line, and the two files are read apart: a row belongs to the phase of its line,
 * whichever was read first. */
static int match_beacons(struct observer *observer, struct error **err)
{
	const struct deliveries *deliveries = observer->state;
	const uint64_t *lines = observer->views[LINES].beacons, *told = observer->views[DECISIONS].beacons;
	uint64_t rows = deliveries->beacon_rows;
	uint64_t before = rows < lines[WIRE_BEFORE] ? rows : lines[WIRE_BEFORE];
	uint64_t after = rows - before < lines[WIRE_AFTER] ? rows - before : lines[WIRE_AFTER];
	int r = 0;

	if (before > told[WIRE_BEFORE])
		r = observer_beacon(observer, DECISIONS, WIRE_BEFORE, before - told[WIRE_BEFORE], err);
	if (r == 0 && after > told[WIRE_AFTER])
		r = observer_beacon(observer, DECISIONS, WIRE_AFTER, after - told[WIRE_AFTER], err);
	return r;
}

/* ---- the program ------------------------------------------------------------------------------ */

static int pull_both(struct observer *observer, struct error **err)
{
	struct deliveries *deliveries = observer->state;
	int r = tail_pull(&deliveries->lines, observer, err);

	if (r == 0)
		r = tail_pull(&deliveries->rows, observer, err);
	return r < 0 ? r : match_beacons(observer, err);
}

static int on_change(void *context, int fd, short revents, struct error **err)
{
	char events[4 * KIB] __attribute__((aligned(__alignof__(struct inotify_event))));

	(void)revents;
	/* Which file it was does not matter, nor how often. */
	while (read(fd, events, sizeof(events)) > 0)
		;
	return pull_both(context, err);
}

static int deliveries_open(struct observer *observer, struct error **err)
{
	struct deliveries *deliveries = observer->state;

	tail_init(&deliveries->lines, LINES, MCP_LINE_BYTES, take_lines);
	tail_init(&deliveries->rows, DECISIONS, TAIL_READ_BYTES + DECISION_ROW_BYTES, take_rows);
	deliveries->opened = true;
	deliveries->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (deliveries->inotify < 0)
		return error_errno(err, errno, "inotify_init");
	return loop_fd(observer->loop, deliveries->inotify, POLLIN, on_change, observer, err);
}

static int deliveries_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct deliveries *deliveries = observer->state;
	struct tail *tail = NULL;
	char path[32];
	int r;

	if (strcmp(name, "recorder") == 0)
		tail = &deliveries->lines;
	else if (strcmp(name, "decisions") == 0)
		tail = &deliveries->rows;
	if (!tail || tail->fd >= 0) {
		fd_close(&fd);
		return error_set(err, ERROR_PROTOCOL, "an input that is unknown or came twice");
	}
	r = tail_open(tail, fd, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (inotify_add_watch(deliveries->inotify, path, IN_MODIFY) < 0)
		return error_errno(err, errno, "watching an input");
	return pull_both(observer, err);
}

/* What is in the file already came before. */
static int deliveries_policy(struct observer *observer, const char *tool, bool revoked, struct error **err)
{
	struct deliveries *deliveries = observer->state;
	int r = pull_both(observer, err);
	char *place = find_revoked(deliveries, tool);

	if (r < 0)
		return r;
	if (place && !revoked)
		place[0] = '\0';
	if (place || !revoked)
		return 0;
	deliveries->restricted = true;
	place = find_revoked(deliveries, "");
	if (!place)
		return error_set(err, ERROR_LIMIT, "more than %d revoked tools", REVOKED_MAX);
	snprintf(place, NAME_MAX_SHORT, "%s", tool);
	return 0;
}

/* In a session whose policy never changed nothing can be late. */
static int report_late(struct observer *observer, enum wire_phase phase, struct error **err)
{
	const struct deliveries *deliveries = observer->state;
	struct wire_record record = {
		.kind = WIRE_COUNT,
		.value = (int64_t)deliveries->late,
		.connections = (int64_t)deliveries->late,
		.bytes = (int64_t)deliveries->late_bytes,
	};

	return deliveries->restricted ? observer_record(observer, LINES, LATE, phase, &record, err) : 0;
}

/* Subjects with a tool, at the view of decisions; those with a canary at the other. */
static int report_decisions(struct observer *observer, enum wire_phase phase, struct error **err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < observer->count; i++) {
		const struct observed *observed = &observer->subjects[i];
		const struct counts *counts = &observed->counts[DECISIONS];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.value = (int64_t)counts->records,
			.connections = (int64_t)counts->connections,
			.bytes = (int64_t)counts->bytes,
		};

		if (!observed->marker && observed->text[0] != '\0')
			r = observer_record(observer, DECISIONS, observed->subject, phase, &record, err);
	}
	return r;
}

static int report_peer(struct observer *observer, enum wire_phase phase, struct error **err)
{
	const struct deliveries *deliveries = observer->state;
	struct wire_record record = { .kind = WIRE_COUNT, .value = (int64_t)deliveries->acted };

	return observer_record(observer, LINES, PEER_ACTED, phase, &record, err);
}

static int deliveries_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct deliveries *deliveries = observer->state;
	int r = pull_both(observer, err);

	if (r == 0)
		r = tail_check(&deliveries->lines, observer, phase, err);
	if (r == 0)
		r = tail_check(&deliveries->rows, observer, phase, err);
	if (r == 0)
		r = observer_report_counts(observer, LINES, phase, err);
	if (r == 0)
		r = report_peer(observer, phase, err);
	if (r == 0)
		r = report_late(observer, phase, err);
	return r < 0 ? r : report_decisions(observer, phase, err);
}

static void deliveries_close(struct observer *observer)
{
	struct deliveries *deliveries = observer->state;

	if (!deliveries->opened)
		return;
	fd_close(&deliveries->inotify);
	tail_close(&deliveries->lines);
	tail_close(&deliveries->rows);
}

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}

static const char *const denials[] = { "denied", NULL };

static const struct sensor sensor = {
	.name = "observer-deliveries",
	.state_size = sizeof(struct deliveries),
	.open = deliveries_open,
	.input = deliveries_input,
	.policy = deliveries_policy,
	.report = deliveries_report,
	.close = deliveries_close,
};
