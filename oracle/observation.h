/* What an independent observer counted: the only thing that the judge takes a value from. Integers and enums only. */
#ifndef HARNESS_ORACLE_OBSERVATION_H
#define HARNESS_ORACLE_OBSERVATION_H

#include <stdint.h>

#include "core/json.h"
#include "core/limits.h"
#include "core/schema.h"

enum observation_kind { OBSERVATION_COUNT, OBSERVATION_DURATION, OBSERVATION_STATE };
enum observation_status { OBSERVATION_OBSERVED, OBSERVATION_NOT_OBSERVABLE, OBSERVATION_OBSERVER_ERROR };
/* The order is that of the observers' wire, so that a value carries over. */
enum observation_reason {
	OBSERVATION_REASON_NONE,
	OBSERVATION_REASON_DROPPED,
	OBSERVATION_REASON_TRUNCATED,
	OBSERVATION_REASON_INPUT_MISSING,
	OBSERVATION_REASON_INPUT_INVALID,
	OBSERVATION_REASON_LIMIT,
	OBSERVATION_REASON_CENSORED,
	OBSERVATION_REASON_KNOWN_ANSWER,
	OBSERVATION_REASON_TIMEOUT,
	OBSERVATION_REASON_LOST,
};

/* The largest integer that every reader of JSON keeps (RFC 8785): no number of the evidence passes it. */
#define EVIDENCE_INT_MAX INT64_C(9007199254740991)

struct observation {
	char id[24]; /* "o-000001", unique in a run */
	char arm[ID_MAX];
	int64_t repetition;
	char subject[NAME_MAX_SHORT];
	char observer[NAME_MAX_SHORT];
	int kind, status, reason;
	char unit[16];
	int64_t value;
	int64_t attempts, connections, bytes, canary_hits, dropped;
	int64_t beacon_before, beacon_after;
	int64_t start_ns; /* since the arm's start */
	int64_t duration_ns;
};

extern const struct schema_field observation_fields[]; /* camelCase keys of docs/evidence-format.md */
extern const char *const observation_kind_names[]; /* these three NULL-terminated, index = value */
extern const char *const observation_status_names[];
extern const char *const observation_reason_names[];

/* Appends one canonical line with its line feed. */
int observation_write(const struct observation *observation, struct buf *out, struct error **err) MUST_CHECK;
/* Reads one line (without its line feed) strictly. */
int observation_read(const char *line, size_t length, struct observation *out, struct error **err) MUST_CHECK;

/* Whether the observer proved that it could see: observed, nothing dropped, a beacon before and one after, no negative
 * value and no reason to doubt it (a censored one is a true lower bound). */
bool observation_live(const struct observation *observation);

#endif
