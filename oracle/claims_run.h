/*
 * The claims of a run: what its verdicts, and the statements of its assessors, say of an effect that was declared. Who
 * writes a bundle, who verifies one and who only reads one derive them by this function. Pure.
 */
#ifndef HARNESS_ORACLE_CLAIMS_RUN_H
#define HARNESS_ORACLE_CLAIMS_RUN_H

#include "oracle/claims.h"

/* Of one run. Borrowed, all of it. */
struct claims_run {
	const struct verdicts *verdicts;
	const struct assessment *statements; /* of any effect */
	size_t statements_count;
	const char (*keys)[HEX_SHA256]; /* of the assessors */
	size_t keys_count;
	const char (*run_keys)[HEX_SHA256]; /* that sign the run */
	size_t run_keys_count;
	const char *ended; /* UTC, as PATTERN_TIME has it */
};

/* *out is zeroed first. ERROR_LIMIT as claims_derive(). */
int claims_of_run(const struct effect *effect, const struct claims_run *run, struct claims *out,
		  struct error **err) MUST_CHECK;
/* How many of its claims are established. */
size_t claims_established(const struct claims *claims);

#endif
