/*
 * Signed statements of assessors: DSSE envelopes of a payload type of their own, since an in-toto statement is about a
 * subject with a digest and a revision of a deployment has none; and so no other envelope that an assessor's key signed
 * can be taken for one, nor one for another. A line is an envelope. What is read behind the signature is the bytes that
 * were signed, and they have one form (assessment_encode()), so that nothing else is carried along.
 *
 * An envelope may have several signatures, of which those count that hold by a key that the caller knows. Whatever else
 * is on it neither helps nor harms: who adds a signature to a statement, or takes one away, makes no other statement of
 * it. A key id is a hint that nobody vouches for, and is not read.
 */
#ifndef HARNESS_REPORTS_ASSESSMENTS_H
#define HARNESS_REPORTS_ASSESSMENTS_H

#include "core/buf.h"
#include "core/limits.h"
#include "oracle/assessment.h"
#include "reports/sign.h"

#define ASSESSMENT_PAYLOAD_TYPE "application/vnd.harness.assessment+json"

/* Public keys, and what each is called by. Starts zeroed. */
struct assessors {
	struct public_key *keys[ASSESSORS_MAX];
	char names[ASSESSORS_MAX][HEX_SHA256];
	size_t count;
};
void assessors_free(struct assessors *assessors);
#define cleanup_assessors __attribute__((cleanup(assessors_free)))
/* Takes the key, also on error. ERROR_USAGE: it is there already; ERROR_LIMIT: more than ASSESSORS_MAX. */
int assessors_add(struct assessors *assessors, struct public_key *key, struct error **err) MUST_CHECK;

/* The index of the one that is called so, or -1. */
int assessors_find(const struct assessors *assessors, const char *name);

/* A statement, and which of the assessors signed it. */
struct assessed {
	struct assessment statement; /* its key is "" */
	bool holds[ASSESSORS_MAX];
	struct signature signatures[ASSESSORS_MAX]; /* where one holds */
};
/* Starts zeroed. */
struct assessments {
	struct assessed *list;
	size_t count;
};
void assessments_free(struct assessments *assessments);
#define cleanup_assessments __attribute__((cleanup(assessments_free)))

/* Appends one. ERROR_INPUT: a statement of that id is there already; ERROR_LIMIT: more than claims can hold. */
int assessments_add(struct assessments *assessments, const struct assessed *one, struct error **err) MUST_CHECK;
/* Whether `sig`, base64, is a signature of the statement by the key of the assessor at that index: out->holds[by]. */
int assessed_check(const char *sig, const struct public_key *key, struct assessed *out, size_t by,
		   struct error **err) MUST_CHECK;
/*
 * Appends what the lines say, each with its line feed; there is at least one. A signature that does not hold is no
 * error: the statement is there, and nobody signed it. ERROR_INPUT "line N: ...": no envelope, another payload type, a
 * payload that is no statement or not in its one form, more signatures than are looked at, a statement whose id is
 * there already. ERROR_LIMIT: more statements than claims can hold.
 */
int assessments_read(const char *bytes, size_t length, const struct assessors *assessors, struct assessments *out,
		     struct error **err) MUST_CHECK;
/* *out is an array that the caller frees, of as many as there are: each statement with the key that says most for it:
 * one of ground's that is none of the run's; else one that is the run's; else any that holds; else "". */
int assessments_judged(const struct assessments *assessments, const struct assessors *assessors,
		       const struct assessment_ground *ground, struct assessment **out, struct error **err) MUST_CHECK;

/* What a run, or a reader, counts of the deployment's side. Starts zeroed. */
struct assessing {
	struct assessors assessors;
	const struct assessors *named; /* whose statements count, or NULL: those of all of them */
	struct assessments statements;
	char run_keys[ASSESSORS_MAX][HEX_SHA256]; /* those that sign the run */
	size_t run_keys_count;
};
void assessing_free(struct assessing *assessing);
#define cleanup_assessing __attribute__((cleanup(assessing_free)))
/* Appends the envelope of a statement, signed, with its line feed. */
int assessment_sign(const struct private_key *key, const struct assessment *statement, struct buf *out,
		    struct error **err) MUST_CHECK;

#endif
