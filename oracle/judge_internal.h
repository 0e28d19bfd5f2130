/* What the judge's files share: arms, records and observations joined, and what an observation says of an expectation.
 */
#ifndef HARNESS_ORACLE_JUDGE_INTERNAL_H
#define HARNESS_ORACLE_JUDGE_INTERNAL_H

#include "oracle/judge.h"

/* One arm of the plan with what is known of it. */
struct judged_arm {
	const struct scenario *scenario;
	int64_t repetition;
	const struct arm_record *record; /* or NULL */
	size_t records;
	struct verdict_cell *cells; /* its planned cells in the verdicts */
	size_t cells_count;
	struct verdict_mutation *mutation; /* mutants; NULL otherwise */
};

/* Of one planned cell: how many observations stand for it, and which of them is cited. */
struct slot {
	uint32_t seen; /* 2: two or more */
	uint32_t cited; /* index into evidence.kept */
};

/* What arrived where no cell looks. */
struct stray {
	uint32_t arm;
	uint32_t kept;
};

struct evidence {
	const struct plan *plan;
	struct judged_arm *arms; /* in the plan's order */
	size_t arms_count;
	struct judged_arm **by_name; /* sorted by id and repetition */
	const struct verdict_cell *cells; /* the planned ones, each arm's in one piece */
	size_t cells_count, cells_max;
	struct slot *slots; /* one a planned cell */
	uint32_t *index; /* hashed by arm, subject and observer: 1 + the cell's number; 0: free */
	size_t index_mask;
	struct observation *kept; /* those that the verdicts may cite, and no other */
	size_t kept_count, kept_room;
	struct stray *strays;
	size_t strays_count, strays_room;
};

/* What was seen at one cell. */
enum sight { SIGHT_LIVE, SIGHT_MISSING, SIGHT_DUPLICATE, SIGHT_BLIND };
struct view {
	enum sight sight;
	const struct observation *observation; /* the one to cite, or NULL */
};

enum outcome { OUTCOME_MET, OUTCOME_CONTRADICTED, OUTCOME_OPEN };

/* After arms and cells are laid out. */
void evidence_sort_arms(struct evidence *evidence);
int evidence_index_cells(struct evidence *evidence, struct error **err) MUST_CHECK;
/* Joins the records to their arms; one of an arm that is not planned is ERROR_INPUT. */
int evidence_records(struct evidence *evidence, const struct arm_record *records, size_t count,
		     struct error **err) MUST_CHECK;
/* One observation of an arm, by its index in the plan. What is kept of it is a copy. */
int evidence_see(struct evidence *evidence, size_t arm, const struct observation *observation,
		 struct error **err) MUST_CHECK;
void evidence_free(struct evidence *evidence);
struct judged_arm *evidence_arm(const struct evidence *evidence, const char *id, int64_t repetition);
/* `own` is the arm's own expectation; where several observations stand, a seen leak is the one to cite. */
struct view evidence_view(const struct evidence *evidence, const struct judged_arm *arm, const struct expectation *own);
/* A value that was observed where none may be, or above its bound: true however blind the observer was otherwise. */
bool seen_leak(const struct expectation *expectation, const struct observation *observation);
/* Of a live observation. A censored value is a lower bound. */
enum outcome expectation_outcome(const struct expectation *expectation, const struct observation *observation);
/* A pass's reason turned into that of not_established by a view that is not live. */
enum because sight_because(enum sight sight);

/* Whether the arm ended well and admission refused nothing that it must not; *because tells. */
bool arm_sound(const struct judged_arm *arm, enum because *because);
/* Same image and boot, both known. */
bool arms_alike(const struct arm_record *a, const struct arm_record *b);
/* Judges the mutant against its control's expectations, into arm->mutation. ERROR_MEMORY. */
int judge_mutation(const struct evidence *evidence, struct judged_arm *arm, struct error **err) MUST_CHECK;

/* Whether this, for which no cell is planned, is a leak all the same. */
bool is_stray(const struct evidence *evidence, size_t arm, const struct observation *observation);
/* Appends a failed cell for everything that arrived where no cell looks. The cells may move. */
int judge_strays(struct evidence *evidence, struct verdicts *verdicts, struct error **err) MUST_CHECK;

#endif
