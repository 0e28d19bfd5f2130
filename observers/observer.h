/*
 * What every observer program shares: main(), the wire, the set of canaries, known answers. A program is one const
 * struct sensor and `return observer_main(&sensor, argc, argv);`. Its command line is [program, kind id, extra]; the
 * kind's row in table.h gives the rest. The observer ids of that row, in order, are the program's views: one subject is
 * counted at each view apart.
 */
#ifndef HARNESS_OBSERVERS_OBSERVER_H
#define HARNESS_OBSERVERS_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/canary.h"
#include "core/loop.h"
#include "observers/table.h"
#include "observers/wire.h"

#define OBSERVER_VIEWS 4
/* Entries of a hits array: the subjects, and the known answer's canary. */
#define OBSERVER_HITS (ARM_SUBJECTS_MAX + 1)

/* What one view saw of one subject. */
struct counts {
	uint64_t records; /* connections, packets, lines, files that bear the canary */
	uint64_t hits; /* occurrences of the canary */
	uint64_t connections; /* whatever came to the subject's socket or tool, canary or not */
	uint64_t bytes;
};

/* One subject that the arm wants counted. */
struct observed {
	char subject[NAME_MAX_SHORT];
	char text[NAME_MAX_SHORT]; /* the subject's tool, or "" */
	struct canary canary; /* a throw-away one when the arm gave none */
	bool scanned; /* the arm gave a canary */
	bool marker; /* the beacon's canary, not an agent's */
	enum wire_phase phase; /* of a marker */
	uint16_t port; /* given by EXPECT, or bound by this observer */
	struct counts counts[OBSERVER_VIEWS];
	bool told; /* HIT was sent */
};

struct view {
	const char *id; /* observer id of its records */
	uint64_t beacons[2]; /* marker records per phase */
	int64_t dropped;
	enum wire_reason reason; /* why blind, or NONE */
};

struct observer {
	struct observed subjects[ARM_SUBJECTS_MAX];
	size_t count;
	struct view views[OBSERVER_VIEWS];
	size_t views_count;
	struct canary_scanner *scanner; /* over all subjects, in order; raw */
	uint64_t pending[OBSERVER_HITS]; /* of the record that observer_scan() is in the middle of */
	struct loop *loop;
	int64_t start;
	const struct observer_kind *kind;
	const char *extra; /* the last argument, or NULL */
	void *state; /* the sensor's own */
};

/* Each operation returns 0, or negative with *err set, which ends the program with exit code 3: the arm sees it as
 * lost. What only makes a view blind goes through observer_blind(). */
struct sensor {
	const char *name;
	size_t state_size; /* zeroed state, allocated by observer_main */
	/* After BEGIN: bind, open, register descriptors with the loop. May send BOUND. May be NULL. */
	int (*open)(struct observer *observer, struct error **err);
	/* An INPUT came; owns `fd` (>= 0). NULL: every input breaks the protocol. */
	int (*input)(struct observer *observer, const char *name, int fd, struct error **err);
	/* LOSS came. May be NULL. */
	int (*loss)(struct observer *observer, int64_t time, struct error **err);
	/* POLICY came: from now on no call may reach `tool`, or one may again. NULL: nothing changes. */
	int (*policy)(struct observer *observer, const char *tool, bool revoked, struct error **err);
	/* Drains what is ready, then sends its records. NULL: observer_report_counts() of each view. */
	int (*report)(struct observer *observer, enum wire_phase phase, struct error **err);
	/* Frees what the state owns; may be called when open failed or was not called. May be NULL. */
	void (*close)(struct observer *observer);
};

/* Reads EXPECTs, passes the known answers, opens, says READY and serves until STOP or a closed wire. Exit code 0, or 3.
 */
int observer_main(const struct sensor *sensor, int argc, char **argv);

/* Counts `length` bytes at `view` as one record (or as part of one: `more` keeps the scanner's state for the next
 * piece, and the record is counted when its last piece comes). *bore, when not NULL, is how many subjects and markers
 * it bore. */
int observer_scan(struct observer *observer, size_t view, const void *bytes, size_t length, bool more, size_t *bore,
		  struct error **err) MUST_CHECK;
/* As above when records interleave or are judged otherwise: adds to hits[OBSERVER_HITS] (zeroed by the caller) what
 * `length` bytes alone bear, and counts nothing. Must not be mixed with an observer_scan() that is in the middle of a
 * record. */
void observer_find(struct observer *observer, const void *bytes, size_t length, uint64_t *hits);
/* A scanner of the caller's over the subjects, for streams that interleave and are too long to keep; its hits[] has
 * `count` entries. `encode`: in every encoding of core/canary.h, not only raw. Freed with canary_scanner_free(). */
int observer_scanner(struct observer *observer, bool encode, struct canary_scanner **out,
		     struct error **err) MUST_CHECK;
/* One record that bore hits[i] times subject i: counts it at `view`, and sends HIT or SEEN when due. *bore as above. */
int observer_count_hits(struct observer *observer, size_t view, const uint64_t *hits, size_t *bore,
			struct error **err) MUST_CHECK;
/* One record of subject `index` with `hits` occurrences (0 counts nothing); sends HIT or SEEN when due. */
int observer_count(struct observer *observer, size_t view, size_t index, uint64_t hits, struct error **err) MUST_CHECK;
/* Adds `count` marker records that were recognised otherwise than by a canary; sends SEEN when they are the first. */
int observer_beacon(struct observer *observer, size_t view, enum wire_phase phase, uint64_t count,
		    struct error **err) MUST_CHECK;
/* From now on the view's records are not observable, for the first reason given; tells the arm. */
int observer_blind(struct observer *observer, size_t view, enum wire_reason reason, struct error **err) MUST_CHECK;
/* Tells the arm that subject `index` has a socket at `port`, and keeps the port. */
int observer_bound(struct observer *observer, size_t index, uint16_t port, struct error **err) MUST_CHECK;
/* Sends one record of `view` about `subject` (a subject or a measure). The caller sets value, kind, unit ("records"
 * when empty), and counts; a `reason` of its own, else the view's holds. Filled here: names, phase, status (what the
 * reason says: CENSORED is observed), dropped (when 0, the view's), beacons, start, duration. */
int observer_record(struct observer *observer, size_t view, const char *subject, enum wire_phase phase,
		    struct wire_record *record, struct error **err) MUST_CHECK;
/* Sends a count record for each subject with a canary that is no marker. */
int observer_report_counts(struct observer *observer, size_t view, enum wire_phase phase,
			   struct error **err) MUST_CHECK;

#endif
