/*
 * The plan: scenarios x repetitions -> arms. When a user selects scenarios, the mutants that their protected cells need
 * are added, and each mutant's control. Pure.
 */
#ifndef HARNESS_ORACLE_PLAN_H
#define HARNESS_ORACLE_PLAN_H

#include "oracle/ground.h"
#include "oracle/scenario.h"

struct plan_arm {
	const struct scenario *scenario;
	int64_t repetition;
	bool added; /* not selected: needed by a cell of a selected one */
};

/* A cell that this host or gateway cannot make. */
struct plan_absent {
	const struct scenario *scenario;
	const struct expectation *expectation;
	char reason[NAME_MAX_SHORT]; /* the need that is missing: "ipv6-loopback"; or "unsupported-..." by the gateway
				      */
};

struct plan {
	struct plan_arm arms[PLAN_ARMS_MAX];
	size_t arms_count;
	struct plan_absent absent[PLAN_ABSENT_MAX];
	size_t absent_count;
};

/* `selectors`: ids, groups ("mutation"), or "all". `ground`: as of ground.h. An unknown selector, or a selection that
 * leaves no cell, is ERROR_USAGE. A scenario that is unusable there is not planned, and all its cells are absent; so is
 * a zero that none but such mutants would earn. Order: by repetition (from 1);
 * scenarios without faults, then with faults, then mutants; then by id. The plan points into `scenarios`; *out is freed
 * by plan_free(). */
int plan_make(const struct scenario *scenarios, size_t count, const char *const *selectors, size_t selectors_count,
	      int64_t repetitions, const struct ground *ground, struct plan **out, struct error **err) MUST_CHECK;
void plan_free(struct plan *plan);
/* Whether the cell is planned (not absent). */
bool plan_has(const struct plan *plan, const struct scenario *scenario, const struct expectation *expectation);

/* Whether an arm of it hurts the engine: then it needs one that was started for that, which arms cannot share. */
bool plan_hurts_engine(const struct plan *plan);
/* How many arms may run at the same time, of the `jobs` that are asked for. */
int plan_jobs(const struct plan *plan, int jobs);

#endif
