/* The documents of `harness run --json`: pure. Appended to a buffer, whose sticky failure is the only error. */
#ifndef HARNESS_RUNNER_RUN_DOCUMENT_H
#define HARNESS_RUNNER_RUN_DOCUMENT_H

#include "core/buf.h"
#include "reports/generate.h"
#include "reports/summary.h"
#include "runner/declared.h"
#include "runner/verb.h"

/* Of a dry run: what would run, what is not planned, what it would touch. */
void run_document_plan(const struct plan *plan, const struct options *options, const struct declared *declared,
		       int64_t seed, struct buf *out);
/* Of a run that was judged and sealed. */
int run_document_verdict(const struct findings *findings, const struct summary_facts *facts, struct buf *out,
			 struct error **err) MUST_CHECK;

#endif
