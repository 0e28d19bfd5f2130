/* For tests of observers: a real program on its wire, and its records by name. */
#ifndef HARNESS_TESTS_UNIT_OBSERVING_H
#define HARNESS_TESTS_UNIT_OBSERVING_H

#include <poll.h>

#include "core/clock.h"
#include "core/fd.h"
#include "observers/control.h"
#include "tests/unit/test.h"

#define OBSERVING_MS 3000
#define OBSERVING_RECORDS 64

struct observing {
	struct observer_process *process;
	struct canary before, after; /* markers */
	struct wire_record records[OBSERVING_RECORDS];
	size_t count;
};

static inline void observing_end(struct observing *observing)
{
	observer_stop(observing->process);
	observing->process = NULL;
}
#define cleanup_observing __attribute__((cleanup(observing_end)))

static inline bool observing_expect(struct observing *observing, const char *subject, const char *text,
				    struct canary *canary)
{
	struct error *err = NULL;
	struct observer_subject row = { .subject = subject, .canary = canary, .text = text };

	if (canary && canary_new(canary, &err) < 0)
		return test_no_error(&err);
	return observer_expect(observing->process, &row, &err) == 0 && test_no_error(&err);
}

/* Starts the kind and tells it both markers. */
static inline bool observing_start(struct observing *observing, const char *kind, const char *extra)
{
	struct error *err = NULL;
	const struct observer_subject rows[] = {
		{ .subject = "marker-before", .canary = &observing->before, .marker = true, .phase = WIRE_BEFORE },
		{ .subject = "marker-after", .canary = &observing->after, .marker = true, .phase = WIRE_AFTER },
	};
	int r = canary_new(&observing->before, &err);

	if (r == 0)
		r = canary_new(&observing->after, &err);
	if (r == 0)
		r = observer_start(observer_kind_find(kind), extra, -1, &observing->process, &err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(rows); i++)
		r = observer_expect(observing->process, &rows[i], &err);
	return test_no_error(&err) && r == 0;
}

static inline bool observing_ready(struct observing *observing)
{
	struct error *err = NULL;
	int r = observer_begin(observing->process, &err);

	if (r == 0)
		r = observer_wait_ready(observing->process, clock_deadline(OBSERVING_MS), &err);
	return test_no_error(&err) && r == 0;
}

static inline bool observing_give(struct observing *observing, const char *input, int fd)
{
	struct error *err = NULL;
	int r = observer_give(observing->process, input, fd, &err);

	return test_no_error(&err) && r == 0;
}

static inline bool observing_seen(struct observing *observing, const char *observer, enum wire_phase phase)
{
	struct error *err = NULL;
	int r = observer_wait_seen(observing->process, observer, phase, clock_deadline(OBSERVING_MS), &err);

	return test_no_error(&err) && r == 0;
}

/* Takes in what the program says until `subject` was hit. */
static inline bool observing_hit(struct observing *observing, const char *subject)
{
	struct error *err = NULL;
	int64_t deadline = clock_deadline(OBSERVING_MS);

	while (!observer_hit(observing->process, subject))
		if (fd_wait(observer_fd(observing->process), POLLIN, deadline, &err) != 1 ||
		    observer_dispatch(observing->process, &err) < 0) {
			(void)test_no_error(&err);
			return false;
		}
	return true;
}

static inline int observing_take(void *context, const struct wire_record *record, struct error **err)
{
	struct observing *observing = context;

	if (observing->count == OBSERVING_RECORDS)
		return error_set(err, ERROR_LIMIT, "too many records");
	observing->records[observing->count++] = *record;
	return 0;
}

static inline bool observing_report(struct observing *observing, enum wire_phase phase)
{
	struct error *err = NULL;
	int r = observer_ask(observing->process, phase, &err);

	observing->count = 0;
	if (r == 0)
		r = observer_collect(observing->process, phase, observing_take, observing, clock_deadline(OBSERVING_MS),
				     &err);
	return test_no_error(&err) && r == 0;
}

/* The record, or one that nothing equals. */
static inline const struct wire_record *observing_record(const struct observing *observing, const char *observer,
							 const char *subject)
{
	static const struct wire_record none = { .value = -1,
						 .hits = -1,
						 .connections = -1,
						 .bytes = -1,
						 .reason = WIRE_REASONS,
						 .beacon_before = -1,
						 .beacon_after = -1 };

	for (size_t i = 0; i < observing->count; i++)
		if (strcmp(observing->records[i].observer, observer) == 0 &&
		    strcmp(observing->records[i].subject, subject) == 0)
			return &observing->records[i];
	return &none;
}

#endif
