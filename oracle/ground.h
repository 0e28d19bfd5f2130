/*
 * What a run stands on, as far as it decides which cells can be made: the host's means, and the kind of its gateway. A
 * cell that cannot be made is not planned; planner and verifier ask the same functions why. Pure.
 */
#ifndef HARNESS_ORACLE_GROUND_H
#define HARNESS_ORACLE_GROUND_H

#include "oracle/scenario.h"

enum gateway_kind {
	GATEWAY_EMBEDDED, /* libexec/gateway */
	GATEWAY_CMCP, /* the real one, composed by each arm */
	GATEWAY_URL, /* an endpoint that somebody else composed and started */
};
extern const char *const gateway_kind_names[]; /* NULL-terminated, index = value */

struct ground {
	const char *const *missing; /* NULL-terminated needs that the host lacks, or NULL */
	const char *const *mends; /* of each of them, what a person reads of it and does about it; or NULL */
	enum gateway_kind gateway;
	bool raised; /* GATEWAY_URL: there is one with the raised ceiling too */
};

/* Reasons of a gateway begin so; those of a host are the needs of scenarios. */
#define GROUND_UNSUPPORTED "unsupported-"
bool ground_is_gateway_reason(const char *reason);
/* What a cell is that is absent for that reason: "unsupported" by this kind of gateway, or "declared_untested", since
 * this host lacks what it needs. */
const char *ground_status(const char *reason);
/* What is said of a need that is missing; else the reason itself. */
const char *ground_mend(const struct ground *ground, const char *reason);

/* Why no arm of the scenario can prove anything, or NULL: its peers, faults or calls are not the gateway's, or no cell
 * of it can be made, of a mutant no flipped one. `ground` NULL: nothing is missing, and the gateway is the embedded
 * one.
 */
const char *ground_unusable(const struct ground *ground, const struct scenario *scenario);
/* Why the cell cannot be made, or NULL. `scenarios`: all that may earn it; a zero whose every mutant this gateway
 * cannot make is not made either. */
const char *ground_lacks(const struct ground *ground, const struct scenario *scenarios, size_t count,
			 const struct scenario *scenario, const struct expectation *cell);
/* Whether the mutant would earn the cell, and cannot be made with this gateway. */
bool ground_would_earn(const struct ground *ground, const struct scenario *mutant, const struct scenario *scenario,
		       const struct expectation *cell);

#endif
