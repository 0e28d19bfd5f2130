/*
 * What a bundle says, and its members made from that: the same functions write a new bundle and make each member of a
 * sealed one again. Pure.
 */
#ifndef HARNESS_REPORTS_GENERATE_H
#define HARNESS_REPORTS_GENERATE_H

#include "oracle/effect.h"
#include "oracle/judge.h"
#include "reports/assessments.h"
#include "reports/manifest.h"
#include "reports/members.h"
#include "reports/merge.h"
#include "reports/replay.h"

/* Borrowed, all of it. */
struct findings {
	const struct manifest_facts *manifest; /* who ran what and when */
	const struct plan *plan;
	const struct arm_record *arms; /* in the plan's order */
	size_t arms_count;
	const struct verdicts *verdicts; /* with the observations that they cite */
	const struct effect *effects; /* that were declared, by id */
	size_t effects_count;
	const struct assessing *assessing; /* or NULL: nobody assessed anything */
	const char *environment; /* environment.json */
	size_t environment_length;
	const struct merge *merge; /* or NULL: of one run */
	const struct replay *replay; /* or NULL: it repeats none */
};

/* Whether the member is made by generate(); and whether verify makes it again and compares the bytes, which it does
 * where no other check does. */
bool generated(int member);
bool generated_again(int member);
/* Appends the member, which is generated(); nothing of an optional one that these findings do not have, and of one that
 * their version of the format does not. */
int generate(int member, const struct findings *findings, struct buf *out, struct error **err) MUST_CHECK;

#endif
