/*
 * What a run says of a protected effect, derived: five claims that must not be confused, each established, not
 * established or refuted. A rule only takes away: it names an obligation that is not met, or an observation that
 * refutes. So a status cannot be written by hand, nothing that is listed raises one, and a claim that rests on nothing
 * is not established. Pure.
 */
#ifndef HARNESS_ORACLE_CLAIMS_H
#define HARNESS_ORACLE_CLAIMS_H

#include "core/correlate.h"
#include "oracle/assessment.h"
#include "oracle/judge.h"

enum claim_id {
	CLAIM_AUTHORIZATION, /* the calls on the authorised paths were authorised */
	CLAIM_CORRELATION, /* what was executed belongs to those calls */
	CLAIM_OBSERVATION, /* the effect itself was looked at, by an observer that proved its sight */
	CLAIM_COMPLETENESS, /* of the set of paths */
	CLAIM_MEDIATION, /* complete: all paths that can produce the effect are within the boundary */
	CLAIMS,
};
enum claim_status { CLAIM_ESTABLISHED, CLAIM_NOT_ESTABLISHED, CLAIM_REFUTED };
enum claim_obligation {
	OBLIGATION_EVIDENCE, /* it rests on nothing */
	OBLIGATION_REVISION, /* what ran on the path is another revision than the declared, or nobody says which */
	OBLIGATION_EXERCISE, /* a scenario of the path was not run, or nobody saw what it did, or the agent did nothing
			      */
	OBLIGATION_DECISION, /* the audit chain does not hold the decision */
	OBLIGATION_CORRELATION, /* call, entry and row were not joined */
	OBLIGATION_READ_BACK, /* a call was allowed, and its effect was not found */
	OBLIGATION_UNIQUE_CALL, /* two calls under one id */
	OBLIGATION_OBSERVER, /* nobody proved that he could see */
	OBLIGATION_EFFECT, /* other effects were seen than the path makes */
	OBLIGATION_COVERAGE, /* an absence that nothing earned */
	OBLIGATION_MEDIATOR, /* nobody stands in the path */
	OBLIGATION_AUTHORIZATION, /* the claim of that name is not established */
	OBLIGATION_COMPLETENESS, /* likewise */
	OBLIGATION_INVENTORY, /* no assessed inventory, or one without this path */
	OBLIGATION_CONTROL, /* no assessed evidence of a control */
	OBLIGATION_INDEPENDENT, /* no assessed independent observation */
};
enum claim_refutation {
	REFUTED_BY_BYPASS, /* an effect on a path where none may be */
	REFUTED_BY_DENIED, /* an effect of a call that was denied */
	REFUTED_BY_ROW_WITHOUT_CALL, /* on an authorised path */
	REFUTED_BY_ROW_AGAIN,
	REFUTED_BY_COPIED_ID,
	REFUTED_BY_UNDECLARED_PATH, /* the assessed inventory has one more */
	REFUTED_BY_UNEXPLAINED_ROW, /* an effect that came on no declared path */
	REFUTED_BY_CLAIM, /* another claim that this one needs is refuted */
};
extern const char *const claim_names[]; /* each NULL-terminated, index = value */
extern const char *const claim_status_names[];
extern const char *const claim_obligation_names[];
extern const char *const claim_refutation_names[];

/* The lists of what a claim lacks, and of what refutes it. */
enum claim_list { CLAIM_LIST_REFUTED, CLAIM_LIST_UNMET, CLAIM_LISTS };
extern const char *const claim_list_names[]; /* NULL-terminated, index = value */

struct claim_input {
	const struct effect *effect;
	const struct verdicts *verdicts; /* whose arms say which revision ran */
	const struct correlation
		*correlation; /* NULL: nobody joined calls and rows; else as claims_findings() makes it */
	const struct assessment *statements;
	size_t statements_count;
	struct assessment_ground ground; /* its effect is the one above; its declaration is found by claims_derive() */
};

struct claim {
	int id;
	int status;
	char says[EFFECT_TEXT_MAX];
	char says_not[EFFECT_TEXT_MAX];
	struct claim_unmet {
		int obligation;
		char path[NAME_MAX_SHORT]; /* or "": of the whole set */
	} unmet[CLAIM_UNMET_MAX];
	size_t unmet_count;
	struct claim_refuted {
		int by;
		char path[NAME_MAX_SHORT];
	} refuted[CLAIM_UNMET_MAX];
	size_t refuted_count;
	char rests_on[CLAIM_RESTS_MAX][HEX_SHA256]; /* ids of observations, entries of the chain, statements */
	size_t rests_on_count;
	bool rests_on_cut; /* it rests on more than the list holds; its status does not depend on that */
	int unseen[EFFECT_SIGHTS_MAX]; /* what the effect's own observers cannot tell, though the claim is about it */
	size_t unseen_count;
	/* Lists of which there is more than they hold; it is at least 1 then, and the status is what the whole list
	 * makes it: one that has 256 reasons has no better for want of another. */
	int cut[CLAIM_LISTS];
	size_t cut_count;
};

struct claims {
	char id[ID_MAX]; /* of the declaration */
	char effect[NAME_MAX_SHORT];
	char boundary[NAME_MAX_SHORT];
	char revision[ID_MAX];
	char declaration[HEX_SHA256]; /* effect_digest() of it */
	struct claim claims[CLAIMS];
	size_t claims_count;
	/* NON_BYPASSABILITY(B,E) and its halves: that the set is complete, and that what is in it is mediated. */
	struct claim_non_bypassability {
		int status, completeness, mediation;
	} non_bypassability;
	struct claim_statement {
		char id[ID_MAX];
		int kind;
		char path[NAME_MAX_SHORT];
		char what[EFFECT_TEXT_MAX]; /* in its signer's words */
		char by[HEX_SHA256]; /* the key whose signature holds, or "" */
		int reason; /* ASSESSMENT_COUNTS, or why it was ignored */
	} statements[CLAIM_STATEMENTS_MAX];
	size_t statements_count;
};
extern const struct schema_field claims_fields[];

/* A rule takes away from one claim. They are applied in order: a claim that needs another comes behind it. */
struct claim_rule {
	const char *id;
	enum claim_id claim;
	void (*apply)(const struct claim_input *input, const struct claims *before, struct claim *claim);
};
extern const struct claim_rule claim_rules[];
extern const size_t claim_rules_count;

/* Whether the cell is one of the observer that joins calls with what the effect's own observers see; of one that looks
 * at the effect itself. */
bool claims_of_correlation(const struct effect *effect, const struct verdict_cell *cell);
bool claims_of_effect(const struct effect *effect, const struct verdict_cell *cell);
/* Whether the scenario is one of a path. */
bool claims_takes(const struct effect *effect, const struct scenario *scenario);
/* What only claims find, beside what calls and rows show. */
enum claim_finding {
	CLAIM_FINDING_UNREAD = CORRELATE_CALL_AGAIN + 1, /* an arm in which nobody joined, or not what was expected */
	CLAIM_FINDING_APART, /* what was joined in the arm is not what was counted for the path, or may be another's */
};
/*
 * What the observer "correlation" found in the arms that took the authorised paths, held against what the effect's own
 * observers counted there, as findings of those paths; and the effects that no declared path explains, with a subject
 * that is none's. `entry` of each is the observation that says so, or "". *found is false where no arm of an authorised
 * path has such a cell: then nobody joined anything.
 */
int claims_findings(const struct effect *effect, const struct verdicts *verdicts, struct correlation *out, bool *found,
		    struct error **err) MUST_CHECK;

/* Applies all rules. *out is zeroed first. ERROR_LIMIT: more statements than claims can hold. Of reasons those stand
 * there that its lists hold; nothing is cut silently. */
int claims_derive(const struct claim_input *input, struct claims *out, struct error **err) MUST_CHECK;
/* The same by the rules that are given. */
int claims_derive_by(const struct claim_rule *rules, size_t count, const struct claim_input *input, struct claims *out,
		     struct error **err) MUST_CHECK;
/* claims.json, canonical: one element for each effect. Or in pieces: the beginning, the elements with commas between
 * them, the end. */
int claims_encode(const struct claims *claims, size_t count, struct buf *out, struct error **err) MUST_CHECK;
int claims_encode_one(const struct claims *claims, struct buf *out, struct error **err) MUST_CHECK;
#define CLAIMS_SCHEMA "confinement-evidence/claims/1"
#define CLAIMS_BEGIN "{\"effects\":["
#define CLAIMS_END "],\"schema\":\"" CLAIMS_SCHEMA "\"}"

/* For the rules. */
void claim_unmet(struct claim *claim, enum claim_obligation obligation, const char *path);
void claim_refute(struct claim *claim, enum claim_refutation by, const char *path);
void claim_rest_on(struct claim *claim, const char *id);
enum claim_status claim_status(const struct claim *claim);

#endif
