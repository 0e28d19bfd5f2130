/* junit.xml in the dialect that the strictest published reader takes. Pure; fixed strings, ids and integers only. */
#ifndef HARNESS_REPORTS_JUNIT_H
#define HARNESS_REPORTS_JUNIT_H

#include "core/buf.h"
#include "oracle/judge.h"

/* A failed cell is a failure; one that is not established is an error, so that no reader counts it as passed. */
int junit_encode(const struct verdicts *verdicts, struct buf *out, struct error **err) MUST_CHECK;

#endif
