/* Holds the table of routes against the tables that it names: nothing may stand on one side alone. Pure. */
#ifndef HARNESS_RUNNER_ROUTES_CHECK_H
#define HARNESS_RUNNER_ROUTES_CHECK_H

#include "oracle/scenario.h"
#include "reports/routes.h"

/* What there is to name, each list NULL-terminated; admission's rules are always those of its own table. */
struct route_names {
	const char *const *probes, *const *measures, *const *observers, *const *mutations;
	const struct scenario *scenarios; /* loaded, each with what its base and its control give */
	size_t scenarios_count;
};
/* The probes, measures, observers and mutations of this program, with these scenarios. */
struct route_names route_names_of(const struct scenario *scenarios, size_t count);

/*
 * ERROR_INTERNAL names the route and the word, or the word that no route has. Of each route of `table` (ended by .id =
 * NULL): every word is in its table; each scenario looks at one of its observers, each observer is looked at and
 * each probe tried by one of its scenarios; for each mutation one of the scenarios takes it away and flips a cell at
 * one of its observers, and the rules that it must fail are the route's. And every probe, measure, observer, mutation
 * and rule is in a route; probes that no scenario tries in one without scenarios.
 */
int routes_check(const struct route *table, const struct route_names *names, struct error **err) MUST_CHECK;

#endif
