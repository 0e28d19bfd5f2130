/* The declared effects that a command reads from its folder. */
#ifndef HARNESS_RUNNER_DECLARATIONS_H
#define HARNESS_RUNNER_DECLARATIONS_H

#include "oracle/effect.h"
#include "runner/verb.h"

/* Those of --effects, or else those that came with the program, checked against the scenarios. *out is an array that
 * the caller frees. */
int declarations_open(const struct options *options, const struct scenario *scenarios, size_t scenarios_count,
		      struct effect **out, size_t *count, struct error **err) MUST_CHECK;

#endif
