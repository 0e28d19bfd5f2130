/*
 * What an assessor says of the deployment's side, where no scenario reaches: an inventory of the paths, evidence of a
 * control, an independent observation. A statement counts when a named key outside this run signed it for this effect,
 * this revision, this boundary and this declaration, and it has not expired; else it is ignored, and that is said.
 * Pure: who checks a signature says only whose it is.
 */
#ifndef HARNESS_ORACLE_ASSESSMENT_H
#define HARNESS_ORACLE_ASSESSMENT_H

#include "oracle/effect.h"

enum assessment_kind { ASSESSMENT_INVENTORY, ASSESSMENT_CONTROL, ASSESSMENT_OBSERVATION };
enum assessment_reason {
	ASSESSMENT_COUNTS,
	ASSESSMENT_UNSIGNED, /* no signature, or one that does not hold */
	ASSESSMENT_SELF_SIGNED, /* by the key of the run that it is to speak for */
	ASSESSMENT_UNKNOWN_KEY,
	ASSESSMENT_OTHER_EFFECT,
	ASSESSMENT_OTHER_REVISION,
	ASSESSMENT_OTHER_BOUNDARY,
	ASSESSMENT_OTHER_DECLARATION, /* of the same revision and boundary: paths mean something else there */
	ASSESSMENT_NOT_YET,
	ASSESSMENT_EXPIRED,
	ASSESSMENT_OTHER_PATH, /* of none of the deployment's side; or an inventory that is of one path */
};
extern const char *const assessment_kind_names[]; /* NULL-terminated, index = value */
extern const char *const assessment_reason_names[];

struct assessment {
	char id[ID_MAX];
	int kind;
	char effect[NAME_MAX_SHORT];
	char revision[ID_MAX];
	char boundary[NAME_MAX_SHORT];
	char declaration[HEX_SHA256]; /* effect_digest() of the one that it is about: what the ids of paths mean */
	char what[EFFECT_TEXT_MAX]; /* in words: what stands there, what was looked at, how the inventory was made */
	char path[NAME_MAX_SHORT]; /* of a control or an observation; "" of an inventory */
	char paths[EFFECT_PATHS_MAX][NAME_MAX_SHORT]; /* that an inventory found */
	size_t paths_count;
	/* UTC, as PATTERN_TIME has it, so that they compare as texts: it holds from the one on, and no more at the
	 * other. */
	char from[NAME_MAX_SHORT], until[NAME_MAX_SHORT];
	/* Of its envelope, by who checked it. */
	char key[HEX_SHA256]; /* whose signature holds; "": nobody's */
};
extern const struct schema_field assessment_fields[]; /* of the signed payload: without the key */

/* Against what statements are held. */
struct assessment_ground {
	const struct effect *effect;
	char declaration[HEX_SHA256]; /* effect_digest() of it; "": no statement is of it */
	const char (*keys)[HEX_SHA256]; /* of the assessors, named by who reads the claims */
	size_t keys_count;
	const char (*run_keys)[HEX_SHA256]; /* that sign the run */
	size_t run_keys_count;
	const char *now; /* the end of the run, as PATTERN_TIME has it */
};
/* The first reason in the enum's order for which it does not count. */
enum assessment_reason assessment_judge(const struct assessment *statement, const struct assessment_ground *ground);

/* Of any form of JSON. ERROR_INPUT; `file` as in schema_decode(). */
int assessment_decode(const char *bytes, size_t length, const char *file, struct assessment *out,
		      struct error **err) MUST_CHECK;
/* The same of what is not signed yet: declarationSha256 may be absent, and is "" then. */
int assessment_decode_draft(const char *bytes, size_t length, const char *file, struct assessment *out,
			    struct error **err) MUST_CHECK;
/* Appends the one form that is signed: canonical, without the key, at most ASSESSMENT_BYTES. */
int assessment_encode(const struct assessment *statement, struct buf *out, struct error **err) MUST_CHECK;
/* Whether it makes sense beside what is declared, and binds a draft to that declaration: ERROR_INPUT names the field
 * for which no run of these declarations could count it, or which says nothing. Whether it is true is its signer's. */
int assessment_check(struct assessment *statement, const struct effect *effects, size_t count,
		     struct error **err) MUST_CHECK;

#endif
