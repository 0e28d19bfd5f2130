#include "observers/observer.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/spawn.h"

#define EXPECT_MS 60000
#define SEND_MS 10000
#define RECEIVE_MS 1000
#define EXIT_ERROR 3

/* What main() holds while it serves. */
struct serving {
	const struct sensor *sensor;
	struct observer *observer;
};

static int tell(struct wire_message *message, enum wire_type type, struct error **err)
{
	return wire_send(WIRE_FD, message, type, -1, clock_deadline(SEND_MS), err);
}

static void put_name(char out[NAME_MAX_SHORT], const char *name)
{
	snprintf(out, NAME_MAX_SHORT, "%s", name);
}

/* ---- counting --------------------------------------------------------------------------------- */

int observer_beacon(struct observer *observer, size_t view, enum wire_phase phase, uint64_t count, struct error **err)
{
	struct wire_message message = { .phase = phase };
	bool first = observer->views[view].beacons[phase] == 0 && count > 0;

	observer->views[view].beacons[phase] += count;
	if (!first)
		return 0;
	put_name(message.text, observer->views[view].id);
	return tell(&message, WIRE_SEEN, err);
}

int observer_count(struct observer *observer, size_t view, size_t index, uint64_t hits, struct error **err)
{
	struct observed *observed = &observer->subjects[index];
	struct wire_message message = { 0 };

	if (hits == 0)
		return 0;
	observed->counts[view].records++;
	observed->counts[view].hits += hits;
	if (observed->marker)
		return observer_beacon(observer, view, observed->phase, 1, err);
	if (observed->told || !observed->scanned)
		return 0;
	observed->told = true;
	put_name(message.subject, observed->subject);
	put_name(message.text, observer->views[view].id);
	return tell(&message, WIRE_HIT, err);
}

int observer_count_hits(struct observer *observer, size_t view, const uint64_t *hits, size_t *bore, struct error **err)
{
	size_t found = 0;

	for (size_t i = 0; i < observer->count; i++) {
		int r = observer_count(observer, view, i, hits[i], err);

		if (r < 0)
			return r;
		found += hits[i] > 0;
	}
	if (bore)
		*bore = found;
	return 0;
}

void observer_find(struct observer *observer, const void *bytes, size_t length, uint64_t *hits)
{
	canary_scanner_reset(observer->scanner);
	canary_scanner_feed(observer->scanner, bytes, length, hits);
	canary_scanner_reset(observer->scanner);
}

int observer_scan(struct observer *observer, size_t view, const void *bytes, size_t length, bool more, size_t *bore,
		  struct error **err)
{
	int r;

	if (bore)
		*bore = 0;
	canary_scanner_feed(observer->scanner, bytes, length, observer->pending);
	if (more)
		return 0;
	canary_scanner_reset(observer->scanner);
	r = observer_count_hits(observer, view, observer->pending, bore, err);
	memset(observer->pending, 0, sizeof(observer->pending));
	return r;
}

/* Over the subjects' canaries in order and, unless NULL, `known` behind them. */
static int make_scanner(const struct observer *observer, const struct canary *known, bool encode,
			struct canary_scanner **out, struct error **err)
{
	size_t count = observer->count + (known ? 1 : 0);
	cleanup_free struct canary *set = calloc(count + 1, sizeof(*set));
	int r;

	if (!set)
		return error_set(err, ERROR_MEMORY, "no memory for a set of canaries");
	for (size_t i = 0; i < observer->count; i++)
		set[i] = observer->subjects[i].canary;
	if (known)
		set[observer->count] = *known;
	r = canary_scanner_new(set, count, encode, out, err);
	explicit_bzero(set, count * sizeof(*set));
	return r;
}

int observer_scanner(struct observer *observer, bool encode, struct canary_scanner **out, struct error **err)
{
	return make_scanner(observer, NULL, encode, out, err);
}

/* ---- what the arm is told --------------------------------------------------------------------- */

int observer_blind(struct observer *observer, size_t view, enum wire_reason reason, struct error **err)
{
	struct wire_message message = { .reason = reason };

	if (observer->views[view].reason != WIRE_REASON_NONE)
		return 0;
	observer->views[view].reason = reason;
	put_name(message.text, observer->views[view].id);
	return tell(&message, WIRE_BLIND, err);
}

int observer_bound(struct observer *observer, size_t index, uint16_t port, struct error **err)
{
	struct wire_message message = { .port = port };

	observer->subjects[index].port = port;
	put_name(message.subject, observer->subjects[index].subject);
	return tell(&message, WIRE_BOUND, err);
}

static enum wire_status status_of(enum wire_reason reason)
{
	switch (reason) {
	case WIRE_REASON_NONE:
	case WIRE_REASON_CENSORED:
		return WIRE_OBSERVED;
	case WIRE_REASON_KNOWN_ANSWER:
	case WIRE_REASON_LOST:
		return WIRE_OBSERVER_ERROR;
	case WIRE_REASON_DROPPED:
	case WIRE_REASON_TRUNCATED:
	case WIRE_REASON_INPUT_MISSING:
	case WIRE_REASON_INPUT_INVALID:
	case WIRE_REASON_LIMIT:
	case WIRE_REASON_TIMEOUT:
	case WIRE_REASONS:
		break;
	}
	return WIRE_NOT_OBSERVABLE;
}

int observer_record(struct observer *observer, size_t view, const char *subject, enum wire_phase phase,
		    struct wire_record *record, struct error **err)
{
	const struct view *at = &observer->views[view];

	put_name(record->observer, at->id);
	put_name(record->subject, subject);
	if (record->unit[0] == '\0')
		snprintf(record->unit, sizeof(record->unit), "records");
	if (record->dropped == 0)
		record->dropped = at->dropped;
	/* No limit at all is more than a bundle can hold: it is the most that one can. */
	if (record->value > WIRE_INT_MAX)
		record->value = WIRE_INT_MAX;
	if (at->reason != WIRE_REASON_NONE)
		record->reason = at->reason;
	if (record->reason == WIRE_REASON_NONE && record->dropped > 0)
		record->reason = WIRE_REASON_DROPPED;
	record->status = status_of(record->reason);
	record->phase = phase;
	record->beacon_before = (int64_t)at->beacons[WIRE_BEFORE];
	record->beacon_after = (int64_t)at->beacons[WIRE_AFTER];
	record->start = observer->start;
	record->duration = clock_now() - observer->start;
	return wire_send_record(WIRE_FD, record, clock_deadline(SEND_MS), err);
}

int observer_report_counts(struct observer *observer, size_t view, enum wire_phase phase, struct error **err)
{
	for (size_t i = 0; i < observer->count; i++) {
		const struct observed *observed = &observer->subjects[i];
		const struct counts *counts = &observed->counts[view];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.value = (int64_t)counts->records,
			.hits = (int64_t)counts->hits,
			.connections = (int64_t)counts->connections,
			.bytes = (int64_t)counts->bytes,
		};
		int r;

		if (observed->marker || !observed->scanned)
			continue;
		r = observer_record(observer, view, observed->subject, phase, &record, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- known answers ---------------------------------------------------------------------------- */

/* How often the known canary, and nothing else of the set, is found in two pieces of bytes. */
static uint64_t find_known(struct observer *observer, const char *bytes, size_t length, size_t border)
{
	uint64_t hits[OBSERVER_HITS] = { 0 };

	canary_scanner_reset(observer->scanner);
	canary_scanner_feed(observer->scanner, bytes, border, hits);
	canary_scanner_feed(observer->scanner, bytes + border, length - border, hits);
	canary_scanner_reset(observer->scanner);
	for (size_t i = 0; i < observer->count; i++)
		if (hits[i] != 0)
			return UINT64_MAX;
	return hits[observer->count];
}

static int prove_scanner(struct observer *observer, struct wire_message *ready, struct error **err)
{
	struct canary known = { 0 };
	char bytes[CANARY_LENGTH + 16];
	int length, r = canary_new(&known, err);

	if (r < 0)
		return r;
	/* In the set of the very scanner that counts, so that it is this one which is proved. */
	r = make_scanner(observer, &known, false, &observer->scanner, err);
	if (r < 0)
		return r;
	length = snprintf(bytes, sizeof(bytes), "a {\"%s\"}\n", known.text);
	ready->known_hits = find_known(observer, bytes, (size_t)length, 0) == 1;
	ready->known_hits += find_known(observer, bytes, (size_t)length, CANARY_LENGTH / 2) == 1;
	bytes[CANARY_LENGTH / 2] = bytes[CANARY_LENGTH / 2] == 'a' ? 'b' : 'a';
	ready->known_misses = find_known(observer, bytes, (size_t)length, 0) == 0;
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(&known, sizeof(known));
	for (size_t i = 0; i < observer->views_count; i++) {
		if (ready->known_hits == WIRE_KNOWN_HITS && ready->known_misses == WIRE_KNOWN_MISSES)
			break;
		r = observer_blind(observer, i, WIRE_REASON_KNOWN_ANSWER, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- serving the wire ------------------------------------------------------------------------- */

static int expect(struct observer *observer, const struct wire_message *message, struct error **err)
{
	struct observed *observed;

	if (observer->count == ARM_SUBJECTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d subjects", ARM_SUBJECTS_MAX);
	observed = &observer->subjects[observer->count++];
	memcpy(observed->subject, message->subject, sizeof(observed->subject));
	memcpy(observed->text, message->text, sizeof(observed->text));
	observed->marker = message->marker == 1;
	observed->phase = message->phase == WIRE_AFTER ? WIRE_AFTER : WIRE_BEFORE;
	observed->port = message->port;
	observed->scanned = message->canary[0] != '\0';
	if (!observed->scanned)
		return canary_new(&observed->canary, err);
	memcpy(observed->canary.text, message->canary, sizeof(observed->canary.text));
	return 0;
}

/* Takes EXPECTs: 0 at BEGIN, 1 at STOP. */
static int take_expects(struct observer *observer, struct error **err)
{
	int64_t deadline = clock_deadline(EXPECT_MS);

	for (;;) {
		union wire_any any = { 0 };
		cleanup_fd int fd = -1;
		int r = wire_receive(WIRE_FD, &any, &fd, deadline, err);

		if (r < 0)
			return r;
		if (any.header.type == WIRE_BEGIN)
			return 0;
		if (any.header.type == WIRE_STOP)
			return 1;
		if (any.header.type != WIRE_EXPECT)
			return error_set(err, ERROR_PROTOCOL, "a message of type %u before BEGIN", any.header.type);
		r = expect(observer, &any.message, err);
		explicit_bzero(&any, sizeof(any));
		if (r < 0)
			return r;
	}
}

static int report(const struct serving *serving, enum wire_phase phase, struct error **err)
{
	struct observer *observer = serving->observer;
	struct wire_message end = { .phase = phase };
	int r = 0;

	if (serving->sensor->report)
		r = serving->sensor->report(observer, phase, err);
	else
		for (size_t i = 0; i < observer->views_count && r == 0; i++)
			r = observer_report_counts(observer, i, phase, err);
	return r < 0 ? r : tell(&end, WIRE_END, err);
}

static int serve_message(void *context, int socket, short revents, struct error **err)
{
	const struct serving *serving = context;
	const struct sensor *sensor = serving->sensor;
	union wire_any any = { 0 };
	cleanup_fd int fd = -1;
	int r = wire_receive(socket, &any, &fd, clock_deadline(RECEIVE_MS), err);

	(void)revents;
	if (r < 0)
		return r;
	switch (any.header.type) {
	case WIRE_INPUT:
		if (sensor->input)
			return sensor->input(serving->observer, any.message.text, steal_fd(&fd), err);
		break;
	case WIRE_LOSS:
		return sensor->loss ? sensor->loss(serving->observer, any.message.time, err) : 0;
	case WIRE_POLICY:
		return sensor->policy
			       ? sensor->policy(serving->observer, any.message.text, any.message.marker == 1, err)
			       : 0;
	case WIRE_REPORT:
		return report(serving, any.message.phase == WIRE_AFTER ? WIRE_AFTER : WIRE_BEFORE, err);
	case WIRE_STOP:
		return 1;
	default:
		break;
	}
	return error_set(err, ERROR_PROTOCOL, "a message of type %u out of place", any.header.type);
}

static int serve(struct serving *serving, struct error **err)
{
	struct observer *observer = serving->observer;
	struct wire_message ready = { 0 };
	int r = take_expects(observer, err);

	if (r != 0)
		return r;
	r = prove_scanner(observer, &ready, err);
	if (r < 0)
		return r;
	r = loop_fd(observer->loop, WIRE_FD, POLLIN, serve_message, serving, err);
	if (r < 0)
		return r;
	r = serving->sensor->open ? serving->sensor->open(observer, err) : 0;
	if (r < 0)
		return r;
	observer->start = clock_now();
	r = tell(&ready, WIRE_READY, err);
	if (r == 0)
		r = loop_run(observer->loop, clock_deadline(HELPER_LIFE_MS), err);
	return r == 0 ? error_set(err, ERROR_TIMEOUT, "nobody ended it") : r;
}

static int find_kind(const struct sensor *sensor, int argc, char **argv, struct observer *observer, struct error **err)
{
	const struct observer_kind *kind = argc == 2 || argc == 3 ? observer_kind_find(argv[1]) : NULL;

	if (!kind || strcmp(kind->program, sensor->name) != 0)
		return error_set(err, ERROR_USAGE, "started by the harness as: %s KIND [EXTRA], wire on descriptor %d",
				 sensor->name, WIRE_FD);
	observer->kind = kind;
	observer->extra = argc == 3 ? argv[2] : NULL;
	for (; observer->views_count < OBSERVER_VIEWS && kind->observers[observer->views_count];
	     observer->views_count++)
		observer->views[observer->views_count].id = kind->observers[observer->views_count];
	return 0;
}

static int run(struct serving *serving, int argc, char **argv, struct error **err)
{
	struct observer *observer = serving->observer;
	int r = process_harden(true, 0, err);

	if (r < 0)
		return r;
	r = find_kind(serving->sensor, argc, argv, observer, err);
	if (r < 0)
		return r;
	r = loop_new(&observer->loop, err);
	if (r < 0)
		return r;
	r = serve(serving, err);
	if (serving->sensor->close)
		serving->sensor->close(observer);
	return r;
}

int observer_main(const struct sensor *sensor, int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	cleanup_free void *state = calloc(1, sensor->state_size + 1);
	struct observer *observer = calloc(1, sizeof(*observer));
	struct serving serving = { .sensor = sensor, .observer = observer };
	int r;

	if (!observer || !state) {
		free(observer);
		return EXIT_ERROR;
	}
	observer->state = state;
	r = run(&serving, argc, argv, &err);
	canary_scanner_free(observer->scanner);
	loop_free(observer->loop);
	explicit_bzero(observer->subjects, sizeof(observer->subjects));
	free(observer);
	/* An arm that is gone asks for nothing more: that is an end like STOP. */
	if (r >= 0 || error_code(err) == ERROR_CLOSED)
		return 0;
	fprintf(stderr, "%s: %s\n", sensor->name, error_text(err));
	return EXIT_ERROR;
}
