/*
 * assessments.json: the statements that a run was given, the public keys of those who might make them, and which of
 * these sign the run itself. Whose the keys are is the run's own word. Of a statement it has the fields and not the
 * envelope, so that nothing stands in it that no field has; and of its signatures those that hold.
 */
#ifndef HARNESS_REPORTS_ASSESSMENTS_MEMBER_H
#define HARNESS_REPORTS_ASSESSMENTS_MEMBER_H

#include "reports/assessments.h"

/* Canonical. */
int assessing_encode(const struct assessing *assessing, struct buf *out, struct error **err) MUST_CHECK;
/* *out is zeroed. Every signature is checked; and it is what assessing_encode() writes, byte for byte. Else
 * ERROR_INPUT, or what is said of a key. assessing_free() it in any case. */
int assessing_decode(const char *bytes, size_t length, struct assessing *out, struct error **err) MUST_CHECK;
int assessing_schema(struct buf *out, struct error **err) MUST_CHECK;

#endif
