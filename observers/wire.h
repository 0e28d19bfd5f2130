/*
 * The wire between the arm and an observer: SOCK_SEQPACKET on descriptor 3, fixed structs with version and length, host
 * byte order (both ends run on one kernel). docs/observer-protocol.md describes it for programs that are not in C.
 *
 *   from the arm       EXPECT (one per subject or marker), BEGIN, INPUT (with a descriptor), LOSS, POLICY, REPORT, STOP
 *   from the observer  BOUND (a socket listens for a subject), READY, SEEN (a marker arrived), HIT (the first of a
 *                      subject), RECORD (one per observation), END (of a report), BLIND (cannot see any more),
 *                      REVISION (of the deployment that is looked at)
 *
 * Each phase has a marker canary of its own, so that a `before` and an `after` are told apart without any race. An
 * observer never learns an expectation, and never sends a byte that it observed.
 */
#ifndef HARNESS_OBSERVERS_WIRE_H
#define HARNESS_OBSERVERS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/canary.h"
#include "core/error.h"
#include "core/limits.h"

#define WIRE_VERSION 1
#define WIRE_FD 3
/* What READY must say: the known canary whole, and across the border of two pieces; and not once a letter changed. */
#define WIRE_KNOWN_HITS 2
#define WIRE_KNOWN_MISSES 1
/* The largest number of a record: what a document of the bundle can hold. */
#define WIRE_INT_MAX INT64_C(9007199254740991)

enum wire_type {
	WIRE_EXPECT = 1,
	WIRE_BEGIN, /* no more EXPECT: bind, pass the known answers, say READY */
	WIRE_INPUT, /* text: input's name; one descriptor with it */
	WIRE_LOSS, /* time: when a part was taken away (CLOCK_MONOTONIC) */
	WIRE_REPORT, /* phase: report now */
	WIRE_STOP,
	WIRE_POLICY, /* text: a tool; marker: 1 when no call may reach it any more, 0 when one may again */
	WIRE_BOUND = 32, /* subject, port */
	WIRE_READY, /* known_hits, known_misses */
	WIRE_SEEN, /* marker of phase seen for the first time by the observer named in text */
	WIRE_HIT, /* subject: its first record was seen, by the observer named in text */
	WIRE_RECORD,
	WIRE_END, /* phase */
	WIRE_BLIND, /* reason: the observer named in text cannot see any more */
	WIRE_REVISION, /* text: of the deployment that is looked at, as it says itself */
};

enum wire_phase { WIRE_BEFORE, WIRE_AFTER };

/* What stands behind a value. The names are the bundle's (observation.h holds the same list for the judge). */
enum wire_status { WIRE_OBSERVED, WIRE_NOT_OBSERVABLE, WIRE_OBSERVER_ERROR };
enum wire_kind { WIRE_COUNT, WIRE_DURATION, WIRE_STATE };
enum wire_reason {
	WIRE_REASON_NONE,
	WIRE_REASON_DROPPED, /* packets or bytes were lost */
	WIRE_REASON_TRUNCATED, /* a file shrank, a stream was cut */
	WIRE_REASON_INPUT_MISSING, /* an input never came */
	WIRE_REASON_INPUT_INVALID, /* an input could not be read or parsed */
	WIRE_REASON_LIMIT, /* a maximum of the observer was reached */
	WIRE_REASON_CENSORED, /* the window closed first: the value is a lower bound */
	WIRE_REASON_KNOWN_ANSWER, /* the known answers failed */
	WIRE_REASON_TIMEOUT,
	WIRE_REASON_LOST, /* the observer went away */
	WIRE_REASONS,
};

struct wire_header {
	uint16_t version;
	uint16_t type;
	uint32_t length; /* of the whole message */
};

/* One struct for every small message: unused members are zero. */
struct wire_message {
	struct wire_header header;
	char subject[NAME_MAX_SHORT];
	char text[NAME_MAX_SHORT]; /* INPUT: its name; SEEN, HIT, BLIND: an observer's id; EXPECT: a tool or "" */
	char canary[CANARY_LENGTH + 1]; /* EXPECT only; "" for a subject that bears none (a measure) */
	uint32_t marker; /* EXPECT: 1 when the canary is the beacon's marker of `phase` */
	uint32_t phase; /* enum wire_phase: EXPECT of a marker, SEEN, REPORT, END */
	uint32_t reason; /* enum wire_reason */
	uint16_t port; /* BOUND; EXPECT: a port that another observer bound */
	uint16_t known_hits, known_misses;
	int64_t time;
};

struct wire_record {
	struct wire_header header;
	char observer[NAME_MAX_SHORT];
	char subject[NAME_MAX_SHORT];
	uint32_t kind; /* enum wire_kind */
	uint32_t status; /* enum wire_status */
	uint32_t reason; /* enum wire_reason */
	uint32_t phase;
	char unit[16]; /* "records", "ns", "bytes", "bool" */
	int64_t value;
	int64_t attempts;
	int64_t connections;
	int64_t bytes;
	int64_t hits; /* canary hits */
	int64_t dropped;
	int64_t beacon_before, beacon_after;
	int64_t start, duration; /* ns, CLOCK_MONOTONIC */
};

union wire_any {
	struct wire_header header;
	struct wire_message message;
	struct wire_record record;
};

/* Fills version and length. `fd` -1 or a descriptor to pass. */
int wire_send(int socket, struct wire_message *message, enum wire_type type, int fd, int64_t deadline,
	      struct error **err) MUST_CHECK;
int wire_send_record(int socket, struct wire_record *record, int64_t deadline, struct error **err) MUST_CHECK;
/* Receives one message; version, type, length, enums and the termination of each name are checked; anything else is
 * ERROR_PROTOCOL. *fd is the passed descriptor
 * or -1. Returns 0, ERROR_CLOSED when the peer is gone, ERROR_TIMEOUT. */
int wire_receive(int socket, union wire_any *out, int *fd, int64_t deadline, struct error **err) MUST_CHECK;

#endif
