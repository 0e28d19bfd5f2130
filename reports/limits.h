/*
 * What no run of this harness shows: each limit with its reason, and what is shown beside it all the same. The three
 * fixed lists of coverage.json are among them, by the same ids. Pure.
 */
#ifndef HARNESS_REPORTS_LIMITS_H
#define HARNESS_REPORTS_LIMITS_H

#include "core/buf.h"

enum limit_kind {
	LIMIT_CHANNEL, /* no probe tries it */
	LIMIT_HOST, /* what whoever has the host can do */
	LIMIT_PEER, /* gateway, tools, and what lies behind them */
	LIMIT_LIFE, /* who ends, mends and counts */
	LIMIT_CLAIM, /* what a verdict does not say */
	LIMIT_PLATFORM, /* where it was not tried */
	LIMIT_KINDS,
};

struct limit {
	const char *id;
	enum limit_kind kind;
	const char *title; /* what is not shown */
	const char *reason; /* why */
	const char *beside; /* what is shown all the same, or NULL */
};

extern const struct limit limits[]; /* ended by .id = NULL; kind by kind */
extern const char *const limit_kind_titles[]; /* by kind */

/* How many there are. */
size_t limits_count(void);

/* Appends docs/limits.md. */
void limits_page(struct buf *out);
/* Appends one line that names how many there are, the first two, and where all are. */
void limits_line(struct buf *out);

#endif
