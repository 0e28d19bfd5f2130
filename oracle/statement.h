/*
 * What an assessor says of the deployment's side, where no scenario reaches: an inventory of the paths, evidence of a
 * control, an independent observation. A statement counts when a named key outside this run signed it for this effect,
 * this revision and this boundary, and it has not expired; else it is ignored, and that is said. Pure: who checks a
 * signature says only whose it is.
 */
#ifndef HARNESS_ORACLE_STATEMENT_H
#define HARNESS_ORACLE_STATEMENT_H

#include "oracle/effect.h"

enum statement_kind { STATEMENT_INVENTORY, STATEMENT_CONTROL, STATEMENT_OBSERVATION };
enum statement_reason {
	STATEMENT_COUNTS,
	STATEMENT_UNSIGNED, /* no signature, or one that does not hold */
	STATEMENT_SELF_SIGNED, /* by the key of the run that it is to speak for */
	STATEMENT_UNKNOWN_KEY,
	STATEMENT_OTHER_EFFECT,
	STATEMENT_OTHER_REVISION,
	STATEMENT_OTHER_BOUNDARY,
	STATEMENT_NOT_YET,
	STATEMENT_EXPIRED,
	STATEMENT_OTHER_PATH, /* of none of the deployment's side; or an inventory that is of one path */
};
extern const char *const statement_kind_names[]; /* NULL-terminated, index = value */
extern const char *const statement_reason_names[];

struct statement {
	char id[ID_MAX];
	int kind;
	char effect[NAME_MAX_SHORT];
	char revision[ID_MAX];
	char boundary[NAME_MAX_SHORT];
	char path[NAME_MAX_SHORT]; /* of a control or an observation; "" of an inventory */
	char paths[EFFECT_PATHS_MAX][NAME_MAX_SHORT]; /* that an inventory found */
	size_t paths_count;
	int64_t from_s, until_s; /* since 1970: it holds from the one on, and no more at the other */
	/* Of its envelope, by who checked it. */
	char key[HEX_SHA256]; /* whose signature holds; "": nobody's */
};
extern const struct schema_field statement_fields[]; /* of the signed payload: without the key */

/* Against what statements are held. */
struct statement_ground {
	const struct effect *effect;
	const char (*keys)[HEX_SHA256]; /* of the assessors, named by who reads the claims */
	size_t keys_count;
	const char *run_key; /* that signs the run, or "" */
	int64_t now_s; /* the end of the run */
};
/* The first reason in the enum's order for which it does not count. */
enum statement_reason statement_judge(const struct statement *statement, const struct statement_ground *ground);

#endif
