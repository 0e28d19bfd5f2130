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
	const char *status; /* ground_status() of it; NULL in a plan of a bundle of format 1.0 */
};

struct plan {
	struct plan_arm arms[PLAN_ARMS_MAX];
	size_t arms_count;
	size_t cells_count; /* of these arms' scenarios, the absent ones too; at most what a bundle holds */
	struct plan_absent absent[PLAN_ABSENT_MAX];
	size_t absent_count;
};

/* A part of one plan, for runs on several machines. */
struct plan_shard {
	int64_t index, of; /* 1 to `of` */
};
#define PLAN_WHOLE ((struct plan_shard){ .index = 1, .of = 1 })

/* `selectors`: ids, groups ("mutation"), or "all". `ground`: as of ground.h. An unknown selector, or a selection that
 * leaves no cell, is ERROR_USAGE; more arms or cells than a bundle holds ERROR_LIMIT, before anything runs. A scenario
 * that is unusable there is not planned, and all its cells are absent; so is a zero that none but such mutants would
 * earn. Order: by repetition (from 1); scenarios without faults, then with faults, then mutants; then by id. The plan
 * points into `scenarios`; *out is freed by plan_free(). */
int plan_make(const struct scenario *scenarios, size_t count, const char *const *selectors, size_t selectors_count,
	      int64_t repetitions, const struct ground *ground, struct plan **out, struct error **err) MUST_CHECK;
/* The shard's part: the selected arms are dealt out in the plan's order, so that each is in one shard, and each shard
 * adds the mutants and controls that its own cells need. A shard that would be empty is ERROR_USAGE. */
int plan_make_shard(const struct scenario *scenarios, size_t count, const char *const *selectors,
		    size_t selectors_count, int64_t repetitions, struct plan_shard part, const struct ground *ground,
		    struct plan **out, struct error **err) MUST_CHECK;
void plan_free(struct plan *plan);
/* The order of scenarios in a plan, as qsort() wants it. */
int plan_order(const struct scenario *one, const struct scenario *other);
/* Whether the cell is planned (not absent). */
bool plan_has(const struct plan *plan, const struct scenario *scenario, const struct expectation *expectation);

/* The seed that draws nothing: the plan's order, and each fault as early as it may strike. */
#define PLAN_SEED_NONE 0
/* The order in which the arms start, into order[arms_count]: those whose windows are longest first, so that their waits
 * overlap with work, and else as the seed draws. The plan's own order stays. */
void plan_schedule(const struct plan *plan, int64_t seed, size_t *order);
/* When the arm's faults strike behind their triggers, in milliseconds: within each fault's range as the seed draws, and
 * whatever else is planned. */
void plan_delays(const struct plan_arm *arm, int64_t seed, int64_t delays[ARM_FAULTS_MAX]);

/* Whether its arms and its absent cells are in the plan's order, each once. */
bool plan_ordered(const struct plan *plan);
/* In the plan of a merged run the repetitions of shard I are (I-1)*repeat+1 to I*repeat. These two count from one to
 * the other; `repeat` is at least 1. */
int64_t plan_merged_repetition(int64_t shard, int64_t repetition, int64_t repeat);
int64_t plan_merged_shard(int64_t repetition, int64_t repeat);
/* The plan of a merged run, from those of its shards from the first; over scenarios that are all of theirs. plan_free()
 * it.
 */
int plan_merge(const struct plan *const *shards, size_t shards_count, int64_t repeat, const struct scenario *scenarios,
	       size_t count, struct plan **out, struct error **err) MUST_CHECK;
/* How many arms were selected, and not only added. */
size_t plan_selected(const struct plan *plan);
/* The plan that the shards of a merged one are parts of: each arm once, and added where no shard selected it. Of the
 * plan of one run it is the same again. plan_free() it. */
int plan_unmerge(const struct plan *merged, int64_t repeat, struct plan **out, struct error **err) MUST_CHECK;

/* Whether an arm of it hurts the engine: then it needs one that was started for that, which arms cannot share. */
bool plan_hurts_engine(const struct plan *plan);
/* Whether an arm of it has a cell at that observer. */
bool plan_observes(const struct plan *plan, const char *observer);
/* How many arms may run at the same time, of the `jobs` that are asked for. */
int plan_jobs(const struct plan *plan, int jobs);

#endif
