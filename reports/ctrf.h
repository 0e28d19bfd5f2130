/* ctrf.json, the Common Test Report Format, for readers of CI that do not take JUnit. Pure; fixed strings, ids and
 * integers only. */
#ifndef HARNESS_REPORTS_CTRF_H
#define HARNESS_REPORTS_CTRF_H

#include "reports/generate.h"

/* A test for each arm, cell and mutation, in the verdicts' order. What is not established is "other": neither passed
 * nor skipped. */
int ctrf_encode(const struct findings *findings, struct buf *out, struct error **err) MUST_CHECK;

#endif
