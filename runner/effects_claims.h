/* `harness effects claims`: what the run of a bundle says of the declared effects. */
#ifndef HARNESS_RUNNER_EFFECTS_CLAIMS_H
#define HARNESS_RUNNER_EFFECTS_CLAIMS_H

#include "oracle/effect.h"
#include "runner/verb.h"

/* Verifies the bundle that the second word names, derives the claims of the reader's effects, or, where they are NULL,
 * of the bundle's own, and prints them. Returns an exit code, or negative with *err set. */
int effects_claims(const struct options *options, const struct effect *effects, size_t count,
		   struct error **err) MUST_CHECK;

#endif
