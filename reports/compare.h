/*
 * Two bundles side by side: their cells, mutations and arms, what they claim, what they ran on, and how long it took.
 * Pure.
 */
#ifndef HARNESS_REPORTS_COMPARE_H
#define HARNESS_REPORTS_COMPARE_H

#include "oracle/judge.h"
#include "reports/manifest.h"

/* What is said of a cell, a mutation or an arm, one difference each. */
enum compare_aspect {
	COMPARE_MISSING, /* the second bundle does not have it */
	COMPARE_NEW, /* the first does not have it */
	COMPARE_VERDICT,
	COMPARE_CLASS, /* of a cell's value: zero, nonzero, none */
	COMPARE_STATUS, /* of the observation */
	COMPARE_VALUE,
	COMPARE_INSTALLED, /* of a mutation */
	COMPARE_DETECTED,
	COMPARE_MUTATION, /* its verdict */
	COMPARE_ARM, /* how it ended */
};
extern const char *const compare_aspect_names[]; /* NULL-terminated, index = value */

struct compare_difference {
	int aspect; /* enum compare_aspect */
	char arm[ID_MAX];
	int64_t repetition;
	char subject[NAME_MAX_SHORT], observer[NAME_MAX_SHORT]; /* "": of the arm as a whole */
	char was[NAME_MAX_SHORT], is[NAME_MAX_SHORT]; /* "": nothing */
	/* Else it may differ between two runs of the same: the value of a cell that expects no exact one. */
	bool weighs;
};

#define COMPARE_TEXT 128
struct compare_fact {
	char name[64]; /* a fact of the environment ("engine.version"), or of the manifest ("producer.version") */
	char was[COMPARE_TEXT], is[COMPARE_TEXT]; /* as text, cut; "": nothing */
};
#define COMPARE_FACTS_MAX 128

#define COMPARE_DECLARATION "declaration"
/* Of a declared effect: the status of a claim, or by COMPARE_DECLARATION the digest of the declaration itself. Each
 * weighs: claims of another declaration are about something else, under whatever status. */
struct compare_claim {
	char effect[ID_MAX]; /* of the declaration */
	char about[NAME_MAX_SHORT];
	char was[HEX_SHA256], is[HEX_SHA256]; /* "": not declared */
};

/* How long an arm took in both. */
struct compare_duration {
	const char *arm;
	int64_t repetition;
	int64_t was_ns, is_ns;
};

struct comparison {
	struct compare_difference *differences; /* by arm, repetition and cell, as the first bundle has them */
	size_t count, room;
	size_t weighing; /* those that weigh */
	size_t cells; /* that both have */
	struct compare_claim *claims; /* by effect, as a declaration has them; NULL where they were not compared */
	size_t claims_count;
	size_t effects; /* that both declare */
	struct compare_fact environment[COMPARE_FACTS_MAX]; /* by environment.json, the snapshot before */
	size_t environment_count;
	struct compare_fact
		origin[COMPARE_FACTS_MAX]; /* by the manifest: who made it, of what, and what was asked for */
	size_t origin_count;
	struct compare_duration *durations; /* of the arms that both have */
	size_t durations_count;
};

struct findings;
/* A bundle that was judged. Borrowed. */
struct compare_side {
	const struct manifest *manifest;
	const struct verdicts *verdicts;
	const struct arm_record *arms; /* in the plan's order */
	size_t arms_count;
	const char *environment;
	size_t environment_length;
	const struct findings *findings; /* for the claims; NULL on either side: they are not compared */
};
/* `part`: the second is of a part of the first's arms alone, and what else the first has is passed over. The result
 * points into both. comparison_free() it. */
int compare_bundles(const struct compare_side *one, const struct compare_side *other, bool part,
		    struct comparison **out, struct error **err) MUST_CHECK;
void comparison_free(struct comparison *comparison);
static inline void comparison_cleanup(struct comparison **comparison)
{
	comparison_free(*comparison);
}
#define cleanup_comparison __attribute__((cleanup(comparison_cleanup)))

/* Of what a cell cites: "zero", "nonzero" or "none"; its status, or "none". */
const char *compare_cell_class(const struct verdict_cell *cell);
const char *compare_cell_status(const struct verdict_cell *cell);

/* compare_claims.c: the list of claims. */
int compare_claims(const struct findings *one, const struct findings *other, struct comparison *out,
		   struct error **err) MUST_CHECK;
/* compare_facts.c: the two lists of facts. */
int compare_environments(const struct compare_side *one, const struct compare_side *other, struct comparison *out,
			 struct error **err) MUST_CHECK;
void compare_origins(const struct manifest *one, const struct manifest *other, struct comparison *out);

#endif
