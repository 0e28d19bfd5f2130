/*
 * effects.json, the declarations that a run was made with, and claims.json, what its verdicts say of them. The second
 * follows from the first and the verdicts: writer and verifier make it by the same function.
 */
#ifndef HARNESS_REPORTS_CLAIMS_H
#define HARNESS_REPORTS_CLAIMS_H

#include "oracle/claims_run.h"
#include "reports/generate.h"

/* Sorted by id, as effect_load_all() leaves them. ERROR_LIMIT: more than a reader of bundles takes. */
int effects_encode(const struct effect *effects, size_t count, struct buf *out, struct error **err) MUST_CHECK;
/* The form, the sense of each and of all together. *out is an array that the caller frees, never NULL. */
int effects_decode(const char *bytes, size_t length, struct effect **out, size_t *count, struct error **err) MUST_CHECK;
int effects_schema(struct buf *out, struct error **err) MUST_CHECK;

/* What the findings say of an effect, which need not be one of theirs: a reader may have a declaration of his own. The
 * one place that says what claims are made from. */
int claims_of(const struct findings *findings, const struct effect *effect, struct claims *out,
	      struct error **err) MUST_CHECK;
/* For the end of a run: a line for each effect that is declared, with what is not established or refuted, and the
 * command that says why of this `bundle`; one line for all those of which no arm took a path. */
int claims_lines(const struct findings *findings, const char *bundle, struct buf *out, struct error **err) MUST_CHECK;
/* An array of what is said of each, as claims.json has it. */
int claims_put(const struct findings *findings, struct json_writer *json, struct error **err) MUST_CHECK;
/* claims.json. */
int claims_member(const struct findings *findings, struct buf *out, struct error **err) MUST_CHECK;
int claims_schema(struct buf *out, struct error **err) MUST_CHECK;

/* The most that claims_keys() appends. */
#define CLAIMS_KEYS_BYTES ((size_t)ASSESSORS_MAX * (HEX_SHA256 + 2))
/* Appends the keys by whose statements the claims are what they are, with commas; nothing where none counts. */
void claims_keys(const struct claims *claims, struct buf *out);
/* Whether statement `at` is to be shown beside the claims of that effect: beside the one that it is about, and beside
 * the first where it is about none of them. */
bool claims_shows(const struct findings *findings, const struct effect *effects, size_t count, size_t effect,
		  size_t at);
/* Whether it states a control of a path that is declared without a mediator. */
bool claims_unmediated(const struct effect *effect, const struct claim_statement *statement);

/* Appends docs/claims.md. */
void claims_page(struct buf *out);

#endif
