/*
 * The judge: pure and three-valued. It takes the plan's scenarios, the records of the arms (what admission refused,
 * what differed, how the arm ended) and the observations, and nothing that the agent, the bridge or an error text said.
 */
#ifndef HARNESS_ORACLE_JUDGE_H
#define HARNESS_ORACLE_JUDGE_H

#include "oracle/observation.h"
#include "oracle/plan.h"

enum verdict { VERDICT_PASS, VERDICT_FAIL, VERDICT_NOT_ESTABLISHED };

/* How the arm itself ended: an axis of its own. */
enum arm_status { ARM_OK, ARM_TIMEOUT, ARM_HARNESS_ERROR, ARM_HOST_UNSUPPORTED, ARM_NOT_RUN };

/* What verify and the judge know of an arm besides observations: arms.json. */
struct effective_value {
	char field[ARM_FIELD_MAX];
	char sha256[HEX_SHA256]; /* of the canonical value */
};
struct arm_event {
	char name[NAME_MAX_SHORT]; /* attached, armed, first-frame, delivered, part-lost, dead, ... */
	char subject[NAME_MAX_SHORT]; /* or "" */
	int64_t at_ns; /* since the arm's start */
};
struct arm_record {
	char arm[ID_MAX];
	int64_t repetition;
	int64_t shard; /* of a merged run: the one that this arm ran in, from 1; else 0 */
	int status; /* enum arm_status */
	char reason[NAME_MAX_SHORT]; /* enum-like id when not ok, "" else */
	char image[HEX_SHA256];
	char boot[HEX_SHA256]; /* keyed digest of the boot id, first 32 digits */
	char deployment_revision[ID_MAX]; /* what the deployment that ran in it says of itself; "": none ran, or it
					     says nothing */
	/* The lists stand elsewhere: in an arm_room, or in a pool. */
	char (*must_fail)[NAME_MAX_SHORT]; /* admission rules that the removed protections name */
	size_t must_fail_count;
	char (*failed)[NAME_MAX_SHORT]; /* rules that admission refused on */
	size_t failed_count;
	char (*may_differ)[ARM_FIELD_MAX]; /* fields that the removed protections may change */
	size_t may_differ_count;
	struct effective_value **effective;
	size_t effective_count;
	struct arm_event *events;
	size_t events_count;
	int64_t agent_attempts; /* the agent's own report: never judged; -1 unknown */
	int64_t calls_allowed, calls_denied; /* as the bridge answered them: its own word, never judged; -1 unknown */
	int64_t duration_ns;
};

/* One record with room for the most that an arm may say: where it is written, and where a document is decoded to. */
struct arm_room {
	struct arm_record record;
	char must_fail[ADMISSION_RULES_MAX][NAME_MAX_SHORT];
	char failed[ADMISSION_RULES_MAX][NAME_MAX_SHORT];
	char may_differ[ARM_DIFFERENCE_MAX][ARM_FIELD_MAX];
	struct effective_value effective[ARM_EFFECTIVE_MAX];
	struct effective_value *effective_at[ARM_EFFECTIVE_MAX];
	struct arm_event events[ARM_EVENTS_MAX];
};
/* Points the record's lists into the room. After the room was zeroed, filled by schema_decode(), or moved. */
void arm_room_open(struct arm_room *room);
extern const struct schema_field arm_record_fields[]; /* of a struct arm_room */

/* Records as they are kept: no larger than what they say, and what many arms have in common once. */
struct arm_pool;
int arm_pool_new(struct arm_pool **out, struct error **err) MUST_CHECK;
/* Accepts NULL. No record that was kept in it may be used then. */
void arm_pool_free(struct arm_pool *pool);
static inline void arm_pool_cleanup(struct arm_pool **pool)
{
	arm_pool_free(*pool);
}
#define cleanup_arm_pool __attribute__((cleanup(arm_pool_cleanup)))
/* *to is *from with its lists in the pool. ERROR_LIMIT when the pool holds ARM_POOL_BYTES. */
int arm_pool_keep(struct arm_pool *pool, const struct arm_record *from, struct arm_record *to,
		  struct error **err) MUST_CHECK;

enum because {
	BECAUSE_MET, /* pass */
	BECAUSE_VALUE, /* fail: the value contradicts the expectation */
	BECAUSE_MISSING, /* no observation */
	BECAUSE_NOT_LIVE, /* beacon missing, drops, observer error */
	BECAUSE_UNEARNED, /* no mutant of this run flipped the cell */
	BECAUSE_ARM, /* the arm did not end well */
	BECAUSE_ADMISSION, /* refused rules differ from those that must fail */
	BECAUSE_DIFFERENCE, /* the effective configuration differs outside the list */
	BECAUSE_UNDETECTED, /* a mutant that the oracle did not catch */
	BECAUSE_ENVIRONMENT, /* image or boot differ within the run, or the environment changed */
	BECAUSE_DUPLICATE, /* two observations for one cell */
	BECAUSE_UNPLANNED, /* a canary arrived where no cell of the plan looks */
};
extern const char *const because_names[]; /* NULL-terminated, for bundle and terminal */
extern const char *const verdict_names[];
extern const char *const arm_status_names[];

struct verdict_cell {
	const struct scenario *scenario;
	const struct expectation *expectation;
	int64_t repetition;
	const struct observation *observation; /* or NULL */
	enum verdict verdict;
	enum because because;
	const char *mutant; /* the id of the mutant that earned it, or "" */
};
struct verdict_mutation {
	const struct scenario *scenario;
	int64_t repetition;
	bool installed; /* refused rules and differences equal the declared ones */
	bool detected; /* the control's expectations fail in exactly the declared cells */
	enum verdict verdict;
	enum because because;
};
/* How an arm of the plan ended: never a part of a cell's value. */
struct verdict_arm {
	const struct scenario *scenario;
	int64_t repetition;
	enum arm_status status; /* ARM_NOT_RUN without a record */
	const char *reason; /* of the record, or "" */
	const char *deployment_revision; /* likewise */
	const struct arm_event *events; /* of the record */
	size_t events_count;
};
struct verdicts {
	struct verdict_arm *arms; /* in the plan's order */
	size_t arms_count;
	struct verdict_cell *cells;
	size_t cells_count;
	struct expectation *strays; /* of the cells that no scenario planned; the last ones */
	size_t strays_count;
	struct observation *kept; /* those that the cells cite */
	struct verdict_mutation *mutations;
	size_t mutations_count;
	size_t pass, fail, not_established; /* cells */
	size_t arms_not_ok;
	size_t zeros; /* protected cells that a mutant must earn; without one nothing passes */
	enum verdict overall; /* over cells, mutations and arms: fail > not_established > pass */
	int exit_code; /* design section 10: 0, 1, 2, 3 by the order 1, 3, 2, 0 */
};

/*
 * `environment_changed`: a mutable field of the environment differs before and after; then nothing passes. No cells at
 * all is ERROR_INPUT, and so is a record or an observation of an arm that is not planned. The result points into the
 * plan and the records, and does not depend on the order of the observations, of which it has copies.
 *
 * A cell, first match:
 * - fail, value: protected, observed, and more than expected. A seen leak is never hidden by an error, a missing beacon
 *   or a second observation.
 * - not_established, arm | admission | difference | environment | duplicate: the arm ended badly, was refused on other
 *   rules than it must, has two records, or is a mutant that is not proven installed.
 * - not_established, missing | duplicate | not_live: no observation, two, or an observer that did not prove its sight
 *   (or a censored value that leaves the expectation open).
 * - fail, value: it contradicts the expectation.
 * - not_established, unearned | environment: protected, and no mutant that flips it was detected with its own cell
 *   passed (of the same repetition if there is one, else of any, and always of the same shard), or only with another
 * image or boot.
 * - pass, met.
 *
 * A mutation, first match:
 * - not_established, arm | duplicate | admission | environment | difference: its arm or its control's ended badly; the
 *   refused rules are not exactly those that must fail; another image or boot; the effective configuration differs
 *   outside the list, or nowhere.
 * - not_established, missing | duplicate | not_live: a cell that must flip was not seen by a live observer.
 * - fail, undetected: of the cells that both plan, the control's expectations fail in others than the declared.
 * - pass, met.
 */
int judge(const struct plan *plan, const struct arm_record *arms, size_t arms_count,
	  const struct observation *observations, size_t observations_count, bool environment_changed,
	  struct verdicts **out, struct error **err) MUST_CHECK;
void verdicts_free(struct verdicts *verdicts);

/*
 * The same, an observation at a time, for runs whose observations are more than memory: what is kept of them grows with
 * the cells. judgement_new(), judgement_see() for each, judgement_end() once.
 */
struct judgement;
/* `cells_max`: more cells, with those that nobody planned, are ERROR_LIMIT. */
int judgement_new(const struct plan *plan, const struct arm_record *arms, size_t arms_count, size_t cells_max,
		  struct judgement **out, struct error **err) MUST_CHECK;
/* The index of an arm in the plan; negative, without an error, if it is not planned. */
int judgement_arm(const struct judgement *judgement, const char *id, int64_t repetition, size_t *out) MUST_CHECK;
int judgement_see(struct judgement *judgement, size_t arm, const struct observation *observation,
		  struct error **err) MUST_CHECK;
int judgement_end(struct judgement *judgement, bool environment_changed, struct verdicts **out,
		  struct error **err) MUST_CHECK;
/* Accepts NULL. */
void judgement_free(struct judgement *judgement);
static inline void judgement_cleanup(struct judgement **judgement)
{
	judgement_free(*judgement);
}
#define cleanup_judgement __attribute__((cleanup(judgement_cleanup)))

/* verdicts.json, canonical. */
int verdicts_encode(const struct verdicts *verdicts, struct buf *out, struct error **err) MUST_CHECK;

/* arms.json: {"arms":[...]}; and back. *out is an array that the caller frees, with lists in `pool`. */
int arm_records_encode(const struct arm_record *arms, size_t count, struct buf *out, struct error **err) MUST_CHECK;
int arm_records_decode(const char *bytes, size_t length, struct arm_pool *pool, struct arm_record **out, size_t *count,
		       struct error **err) MUST_CHECK;
/* One element of that array, which must be in its canonical form. The record is then that of `room`. */
int arm_record_read(const char *bytes, size_t length, struct arm_room *room, struct error **err) MUST_CHECK;
/* The JSON Schema of arms.json, and of verdicts.json, appended. */
int arm_records_schema(struct buf *out, struct error **err) MUST_CHECK;
int verdicts_schema(struct buf *out, struct error **err) MUST_CHECK;

#endif
