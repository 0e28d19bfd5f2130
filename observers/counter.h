/*
 * How many records of one place bear each canary, for what is read in large pieces: files and lines of logs. A record
 * may come in pieces; it counts once for each canary that it bears, however often.
 */
#ifndef HARNESS_OBSERVERS_COUNTER_H
#define HARNESS_OBSERVERS_COUNTER_H

#include "observers/observer.h"

struct counter {
	struct canary_scanner *scanner; /* its own: other places may be read in between */
	size_t subjects;
	bool begun; /* the current record has bytes */
	uint64_t current[OBSERVER_HITS];
	uint64_t records[ARM_SUBJECTS_MAX];
	uint64_t hits[ARM_SUBJECTS_MAX];
};

/* For the observer's subjects, markers included. */
int counter_open(struct counter *counter, struct observer *observer, struct error **err) MUST_CHECK;
/* The same, which finds them in every encoding of core/canary.h. */
int counter_open_encoded(struct counter *counter, struct observer *observer, struct error **err) MUST_CHECK;
/* The next bytes of the current record. */
void counter_bytes(struct counter *counter, const void *bytes, size_t length);
/* Bytes that belong to the current record but stand apart, such as a file's name. */
void counter_apart(struct counter *counter, const void *bytes, size_t length);
/* The current record is over. */
void counter_end(struct counter *counter);
/* Bytes whose records are lines; the last one is ended by counter_end(). */
void counter_lines(struct counter *counter, const void *bytes, size_t length);
/* Forgets the counts, keeps the scanner. */
void counter_clear(struct counter *counter);
void counter_close(struct counter *counter);

#endif
