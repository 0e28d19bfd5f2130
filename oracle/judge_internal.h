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

/* An observation and the index of its arm in the order of the index below. */
struct sighting {
	size_t arm;
	const struct observation *observation;
};

struct evidence {
	const struct plan *plan;
	struct judged_arm *arms; /* in the plan's order */
	size_t arms_count;
	struct judged_arm **by_name; /* sorted by id and repetition */
	struct sighting *sightings; /* sorted by arm, subject, observer */
	size_t sightings_count;
};

/* What was seen at one cell. */
enum sight { SIGHT_LIVE, SIGHT_MISSING, SIGHT_DUPLICATE, SIGHT_BLIND };
struct view {
	enum sight sight;
	const struct observation *observation; /* the one to cite, or NULL */
};

enum outcome { OUTCOME_MET, OUTCOME_CONTRADICTED, OUTCOME_OPEN };

/* After the arms are laid out. */
void evidence_sort_arms(struct evidence *evidence);
/* Joins records and observations to their arms; one of an arm that is not planned is ERROR_INPUT. */
int evidence_records(struct evidence *evidence, const struct arm_record *records, size_t count,
		     struct error **err) MUST_CHECK;
int evidence_observations(struct evidence *evidence, const struct observation *observations, size_t count,
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

/* Appends a failed cell for everything that arrived where no cell looks. The cells may move. */
int judge_strays(const struct evidence *evidence, struct verdicts *verdicts, struct error **err) MUST_CHECK;

#endif
