/*
 * The ways on which plaintext could leave the agent, or the parts that handle it: what each is, what stops or checks
 * it, who sees it, what takes that away. Names are those of the tables of probes, measures, observers, mutations,
 * admission rules and scenarios; runner/routes_check.h holds them against those tables. Pure.
 */
#ifndef HARNESS_REPORTS_ROUTES_H
#define HARNESS_REPORTS_ROUTES_H

#include <stdbool.h>

#include "core/buf.h"

/* Lists end with NULL; one that is NULL is empty. */
struct route {
	const char *id;
	const char *title; /* what it is */
	const char *mediator; /* what stops or checks it */
	const char *missing; /* what happens without that */
	const char *rest; /* what no mutant shows, or NULL */
	const char *const *subjects; /* probes and measures */
	const char *const *observers;
	const char *const *mutations; /* each is shown by one of the scenarios */
	const char *const *scenarios; /* ids; one that ends with '*' stands for all that begin so */
	const char *const *rules; /* of admission */
};

extern const struct route routes[]; /* ended by .id = NULL */

bool route_has(const char *const *list, const char *id);
/* Whether one of the route's scenarios is this one. */
bool route_has_scenario(const struct route *route, const char *id);

/* Appends docs/routes.md. */
void routes_page(struct buf *out);

#endif
