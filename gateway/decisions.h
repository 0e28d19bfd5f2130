/*
 * The decisions file: one row of fixed size for each decided call, appended with a single write before the answer
 * leaves. Another program reads it by the format alone:
 *
 *    0  "HDR1"
 *    4  u64 big endian: sequence, from 1, no gap
 *   12  tool, NUL padded, cut at 31 bytes; "?" for a name that is not in the catalog
 *   44  u32 big endian: decision (1 allow, 2 deny, 3 fault)
 *   48  u32 big endian: rule (enum gateway_rule)
 *   52  u64 big endian: CLOCK_MONOTONIC, ns
 *   60  CR LF CR LF
 */
#ifndef HARNESS_GATEWAY_DECISIONS_H
#define HARNESS_GATEWAY_DECISIONS_H

#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "gateway/decision.h"

#define DECISIONS_ROW_BYTES 64

struct decisions {
	int fd; /* not owned */
	uint64_t sequence;
	bool failed; /* a row was not written whole: no later one is */
};

/* Takes a regular file that is open for reading and appending; rows that are there (of a gateway before this one) are
 * continued. ERROR_INPUT when its last row is none of ours. */
int decisions_open(int fd, struct decisions *out, struct error **err) MUST_CHECK;
/* Appends one row at `now`. `tool` is a catalogued name, or NULL. Once failed, it fails for ever. */
int decisions_append(struct decisions *decisions, const char *tool, enum gateway_rule rule, int64_t now,
		     struct error **err) MUST_CHECK;

#endif
