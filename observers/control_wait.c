#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/schema.h"
#include "observers/control_internal.h"

#define MESSAGES_AT_ONCE 1024
/* All that one program may ever say: more than any has to. */
#define MESSAGES_MAX 65536
#define MEASURES_MAX 32
/* Records of both phases that may wait for observer_collect(). */
#define RECORDS_MAX ((size_t)2 * OBSERVER_VIEWS * (ARM_SUBJECTS_MAX + MEASURES_MAX))

/* What a wait waits for. */
struct awaited {
	bool (*holds)(const struct observer_process *process, const struct awaited *awaited);
	const char *what;
	const char *observer;
	enum wire_phase phase;
};

int observer_lost_error(const struct observer_process *process, struct error **err)
{
	return error_set(err, ERROR_CLOSED, "observer %s went away", process->kind->id);
}

/* ---- what the program says -------------------------------------------------------------------- */

static struct known_subject *subject_of(const struct observer_process *process, const char *name)
{
	for (size_t i = 0; i < process->count; i++)
		if (strcmp(process->subjects[i].name, name) == 0)
			return (struct known_subject *)(uintptr_t)&process->subjects[i];
	return NULL;
}

static int view_of(const struct observer_process *process, const char *id)
{
	for (int i = 0; i < OBSERVER_VIEWS && process->kind->observers[i]; i++)
		if (strcmp(process->kind->observers[i], id) == 0)
			return i;
	return -1;
}

static bool measures(const struct observer_kind *kind, const char *subject)
{
	for (const char *const *measure = kind->measures; *measure; measure++)
		if (strcmp(*measure, subject) == 0)
			return true;
	return false;
}

/* What a bundle can hold: who says more than that is believed in nothing. */
static bool in_range(const struct wire_record *record)
{
	const int64_t counts[] = { record->attempts, record->connections,   record->bytes,        record->hits,
				   record->dropped,  record->beacon_before, record->beacon_after, record->duration };

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i] < 0 || counts[i] > WIRE_INT_MAX)
			return false;
	return record->value >= -WIRE_INT_MAX && record->value <= WIRE_INT_MAX &&
	       schema_matches(PATTERN_ID, record->unit, strlen(record->unit));
}

static int check_record(const struct observer_process *process, const struct wire_record *record, struct error **err)
{
	if (!process->asked[record->phase])
		return error_set(err, ERROR_PROTOCOL, "a record that nobody asked for");
	if (view_of(process, record->observer) < 0)
		return error_set(err, ERROR_PROTOCOL, "a record of another observer");
	if (!subject_of(process, record->subject) && !measures(process->kind, record->subject))
		return error_set(err, ERROR_PROTOCOL, "a record of an unknown subject");
	if (!in_range(record))
		return error_set(err, ERROR_PROTOCOL, "a record outside its range");
	return 0;
}

static int keep_record(struct observer_process *process, const struct wire_record *record, struct error **err)
{
	int r = check_record(process, record, err);

	if (r < 0)
		return r;
	if (process->records_count == process->records_room) {
		size_t room = process->records_room ? 2 * process->records_room : 32;
		struct wire_record *larger;

		if (process->records_count >= RECORDS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %zu records", RECORDS_MAX);
		larger = reallocarray(process->records, room, sizeof(*larger));
		if (!larger)
			return error_set(err, ERROR_MEMORY, "no memory for records");
		process->records = larger;
		process->records_room = room;
	}
	process->records[process->records_count++] = *record;
	return 0;
}

/* A name, and one alone. */
static int keep_revision(struct observer_process *process, const char *text, struct error **err)
{
	if (process->revision[0] || !schema_matches(PATTERN_ID, text, strlen(text)))
		return error_set(err, ERROR_PROTOCOL, "a second revision, or no name of one");
	memcpy(process->revision, text, strlen(text) + 1);
	return 0;
}

static int take_message(struct observer_process *process, const struct wire_message *message, struct error **err)
{
	struct known_subject *subject = subject_of(process, message->subject);
	int view = view_of(process, message->text);

	switch (message->header.type) {
	case WIRE_BOUND:
		if (!subject)
			return error_set(err, ERROR_PROTOCOL, "a socket for an unknown subject");
		subject->port = message->port;
		return 0;
	case WIRE_READY:
		if (message->known_hits != WIRE_KNOWN_HITS || message->known_misses != WIRE_KNOWN_MISSES)
			return error_set(err, ERROR_REFUSED, "wrong known answers");
		process->ready = true;
		return 0;
	case WIRE_SEEN:
		if (view < 0)
			return error_set(err, ERROR_PROTOCOL, "a marker seen by another observer");
		process->views[view].seen[message->phase] = true;
		return 0;
	case WIRE_HIT:
		if (!subject)
			return error_set(err, ERROR_PROTOCOL, "a hit of an unknown subject");
		subject->hit = true;
		return 0;
	case WIRE_END:
		if (!process->asked[message->phase])
			return error_set(err, ERROR_PROTOCOL, "a report that nobody asked for");
		process->ended[message->phase] = true;
		return 0;
	case WIRE_REVISION:
		return keep_revision(process, message->text, err);
	case WIRE_BLIND:
		if (view < 0)
			return error_set(err, ERROR_PROTOCOL, "another observer is blind");
		process->views[view].reason = message->reason;
		return 0;
	default:
		return error_set(err, ERROR_PROTOCOL, "a message of type %u out of place", message->header.type);
	}
}

static int take_one(struct observer_process *process, struct error **err)
{
	union wire_any any = { 0 };
	cleanup_fd int fd = -1;
	int r = wire_receive(process->socket, &any, &fd, clock_now(), err);

	if (r < 0)
		return r;
	if (++process->messages > MESSAGES_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d messages", MESSAGES_MAX);
	return any.header.type == WIRE_RECORD ? keep_record(process, &any.record, err)
					      : take_message(process, &any.message, err);
}

int observer_dispatch(struct observer_process *process, struct error **err)
{
	for (unsigned i = 0; i < MESSAGES_AT_ONCE; i++) {
		struct error *problem = NULL;
		int r;

		if (process->socket < 0)
			return observer_lost_error(process, err);
		r = fd_wait(process->socket, POLLIN, 0, &problem);
		if (r == 0)
			return 0;
		if (r > 0)
			r = take_one(process, &problem);
		if (r < 0) {
			/* Whoever breaks the protocol is believed no longer. */
			observer_lose(process, error_code(problem));
			error_wrap(&problem, "observer %s", process->kind->id);
			error_keep_first(err, &problem);
			return r;
		}
	}
	return 0;
}

bool observer_reported(const struct observer_process *process, enum wire_phase phase)
{
	return process->ended[phase];
}

static int wait_for(struct observer_process *process, const struct awaited *awaited, int64_t deadline,
		    struct error **err)
{
	while (!awaited->holds(process, awaited)) {
		cleanup_error struct error *problem = NULL;
		int r;

		if (process->socket < 0)
			return observer_lost_error(process, err);
		r = fd_wait(process->socket, POLLIN, deadline, err);
		if (r < 0)
			return r;
		if (r == 0)
			return error_set(err, ERROR_TIMEOUT, "observer %s: no %s in time", process->kind->id,
					 awaited->what);
		r = observer_dispatch(process, &problem);
		if (r < 0 && error_code(problem) != ERROR_CLOSED) {
			error_keep_first(err, &problem);
			return r;
		}
	}
	return 0;
}

static bool is_ready(const struct observer_process *process, const struct awaited *awaited)
{
	(void)awaited;
	return process->ready;
}

static bool is_seen(const struct observer_process *process, const struct awaited *awaited)
{
	return observer_seen(process, awaited->observer, awaited->phase);
}

static bool is_ended(const struct observer_process *process, const struct awaited *awaited)
{
	return process->ended[awaited->phase];
}

int observer_wait_ready(struct observer_process *process, int64_t deadline, struct error **err)
{
	const struct awaited awaited = { .holds = is_ready, .what = "READY" };

	return wait_for(process, &awaited, deadline, err);
}

int observer_wait_seen(struct observer_process *process, const char *observer, enum wire_phase phase, int64_t deadline,
		       struct error **err)
{
	const struct awaited awaited = { .holds = is_seen, .what = "marker", .observer = observer, .phase = phase };

	return wait_for(process, &awaited, deadline, err);
}

int observer_collect(struct observer_process *process, enum wire_phase phase, observer_take take, void *context,
		     int64_t deadline, struct error **err)
{
	const struct awaited awaited = { .holds = is_ended, .what = "report", .phase = phase };
	size_t kept = 0;
	int r = wait_for(process, &awaited, deadline, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < process->records_count; i++) {
		const struct wire_record *record = &process->records[i];

		if (record->phase != phase)
			process->records[kept++] = *record;
		else if (r == 0)
			r = take(context, record, err);
	}
	process->records_count = kept;
	process->ended[phase] = false;
	return r < 0 ? r : 0;
}

/* ---- what is known ---------------------------------------------------------------------------- */

uint16_t observer_port(const struct observer_process *process, const char *subject)
{
	const struct known_subject *known = subject_of(process, subject);

	return known ? known->port : 0;
}

int observer_fd(const struct observer_process *process)
{
	return process->socket;
}

int observer_watched(const struct observer_process *process)
{
	return process->socket >= 0 ? process->socket : process->lost;
}

bool observer_seen(const struct observer_process *process, const char *observer, enum wire_phase phase)
{
	for (int i = 0; i < OBSERVER_VIEWS && process->kind->observers[i]; i++)
		if (process->views[i].seen[phase] && (!observer || strcmp(process->kind->observers[i], observer) == 0))
			return true;
	return false;
}

bool observer_hit(const struct observer_process *process, const char *subject)
{
	const struct known_subject *known = subject_of(process, subject);

	return known && known->hit;
}

bool observer_blinded(const struct observer_process *process, const char *observer, enum wire_reason *reason)
{
	int view = view_of(process, observer);

	if (view < 0 || process->views[view].reason == WIRE_REASON_NONE)
		return false;
	if (reason)
		*reason = process->views[view].reason;
	return true;
}

const char *observer_revision(const struct observer_process *process)
{
	return process->revision;
}

bool observer_lost(const struct observer_process *process)
{
	return process->socket < 0;
}

enum error_code observer_why(const struct observer_process *process)
{
	return process->why;
}

const struct observer_kind *observer_kind(const struct observer_process *process)
{
	return process->kind;
}

const struct child *observer_child(const struct observer_process *process)
{
	return &process->child;
}
