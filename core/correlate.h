/*
 * Calls and effects, joined: the authorised call, the row of the audit chain that says so, the transaction and the row
 * in the database. Pure: both sides are what observers read, never what a tool answered.
 */
#ifndef HARNESS_CORE_CORRELATE_H
#define HARNESS_CORE_CORRELATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "core/schema.h"

/* A call, as whoever received it and the audit chain hold it. */
struct correlate_call {
	char call[ID_MAX]; /* its id, which is no secret and can be copied */
	char request[HEX_SHA256]; /* of its arguments */
	char entry[HEX_SHA256]; /* of the chain's row of its outcome; "": the chain has none */
	char subject[NAME_MAX_SHORT]; /* whose canary it bore; "": none of the arm's */
	bool allowed;
	bool open; /* it was, and nobody was told what came of it: a row is its own, and none is no finding */
};
/* A committed row that is the effect. */
struct correlate_row {
	int64_t row; /* the database's own number */
	char call[ID_MAX]; /* the id that it bears, or "" */
	char request[HEX_SHA256]; /* of the arguments that would make it, computed by who read it */
	char transaction[ID_MAX]; /* "": not established */
	char subject[NAME_MAX_SHORT]; /* whose canary it bears; "": none of the arm's */
};

enum correlate_kind {
	CORRELATE_JOINED, /* one allowed call, one entry, one row */
	CORRELATE_ROW_WITHOUT_CALL,
	CORRELATE_CALL_WITHOUT_ROW, /* allowed, and no effect: late, rolled back, or never made */
	CORRELATE_ROW_AGAIN, /* a second row of one call */
	CORRELATE_COPIED_ID, /* it bears the id of a call that asked for something else */
	CORRELATE_ROW_OF_DENIED,
	CORRELATE_CALL_WITHOUT_ENTRY, /* the chain does not know it */
	CORRELATE_CALL_AGAIN, /* a second call under one id */
};
/* NULL-terminated, index = value; an observer counts each kind under this name. */
extern const char *const correlate_kind_names[];

struct correlate_finding {
	int kind;
	char subject[NAME_MAX_SHORT]; /* the row's, or the call's where there is no row */
	char call[ID_MAX];
	char entry[HEX_SHA256];
	char transaction[ID_MAX];
	int64_t row; /* 0: none */
};

struct correlation {
	struct correlate_finding *findings; /* calls in their order, then the rows that no call explains */
	size_t count;
};

/*
 * A row that bears an id belongs to that call alone, and must be what the call asked for; one that bears none belongs
 * to the first call that asked for it and has no row yet. A denied call without a row is as it should be, and no
 * finding. ERROR_LIMIT: more than CORRELATE_MAX calls or rows. ERROR_INPUT: a row's number is not above 0, or stands
 * there twice.
 */
int correlate(const struct correlate_call *calls, size_t calls_count, const struct correlate_row *rows,
	      size_t rows_count, struct correlation *out, struct error **err) MUST_CHECK;
void correlation_free(struct correlation *correlation); /* what it holds */
#define cleanup_correlation __attribute__((cleanup(correlation_free)))
/* How many findings of this kind there are. */
size_t correlation_count(const struct correlation *correlation, enum correlate_kind kind);

#endif
