/* Beside observing.h: subjects of the test's own making, a namespace, and inputs that are pipes. */
#ifndef HARNESS_TESTS_UNIT_WATCHING_H
#define HARNESS_TESTS_UNIT_WATCHING_H

#include "tests/unit/observing.h"

static inline int64_t watching_deadline(void)
{
	return clock_deadline(OBSERVING_MS);
}

static inline void watching_canary(struct canary *out)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(canary_new(out, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Starts `kind` in a namespace (-1: ours) with these subjects, and waits until it is ready. */
static inline bool watching_start(struct observing *observing, const char *kind, int netns,
				  const struct observer_subject *subjects, size_t count)
{
	struct error *err = NULL;
	int status = observer_start(observer_kind_find(kind), NULL, netns, &observing->process, &err);
	bool ready = false;

	for (size_t i = 0; i < count && !status; i++)
		status = observer_expect(observing->process, &subjects[i], &err);
	if (!status)
		ready = observing_ready(observing);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(ready);
	return ready;
}

static inline void watching_report(struct observing *observing, enum wire_phase phase)
{
	CU_ASSERT(observing_report(observing, phase));
}

static inline void watching_give(struct observing *observing, const char *input, int fd)
{
	CU_ASSERT(observing_give(observing, input, fd));
}

/* Gives a pipe and fills it. With `hold` its other end is left open and returned, else -1. */
static inline int watching_pour(struct observing *observing, const char *input, const void *bytes, size_t length,
				bool hold)
{
	cleanup_fd int reader = -1;
	cleanup_fd int writer = -1;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_pipe(&reader, &writer, &err), 0);
	CU_ASSERT(test_no_error(&err));
	watching_give(observing, input, reader);
	fd_close(&reader);
	CU_ASSERT_EQUAL(fd_write_all(writer, bytes, length, watching_deadline(), &err), 0);
	CU_ASSERT(test_no_error(&err));
	return hold ? steal_fd(&writer) : -1;
}

static inline void watching_text(struct observing *observing, const char *input, const char *text)
{
	watching_pour(observing, input, text, strlen(text), false);
}

#endif
