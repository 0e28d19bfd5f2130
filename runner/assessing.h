/* Assessments and the keys of who may make them, as the command line names them. */
#ifndef HARNESS_RUNNER_ASSESSING_H
#define HARNESS_RUNNER_ASSESSING_H

#include "reports/assessments.h"
#include "reports/opened.h"
#include "runner/verb.h"

/* Reads the keys that --assessor names. */
int assessing_keys(const struct option_words *paths, struct assessors *out, struct error **err) MUST_CHECK;
/* Reads what --assessment and --assessor name. ERROR_USAGE: statements and no key; else the error names the file. */
int assessing_open(const struct options *options, struct assessing *out, struct error **err) MUST_CHECK;
/* Finds which of the assessors' keys signed the bundle at `path`, in it or beside it. */
int assessing_signers(struct assessing *assessing, const struct opened *opened, const char *path,
		      struct error **err) MUST_CHECK;

/* `harness effects assess KEY STATEMENT...`: prints what is signed. Returns an exit code, or negative with *err set. */
int effects_assess(const struct options *options, const struct effect *effects, size_t count,
		   struct error **err) MUST_CHECK;

#endif
