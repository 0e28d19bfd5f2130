/* Bundles that the words of the command line name. */
#ifndef HARNESS_RUNNER_BUNDLE_FILE_H
#define HARNESS_RUNNER_BUNDLE_FILE_H

#include "reports/opened.h"

/* Opens a bundle to be read: a regular file, and no folder, which is ERROR_USAGE. The caller closes *fd. */
int bundle_file(const char *path, const char *verb, int *fd, struct error **err) MUST_CHECK;
/* The same, verified. Where a check fails *opened is NULL, and why stands in the report. */
int bundle_file_open(const char *path, const char *verb, int *fd, struct verify_report *report, struct opened **opened,
		     struct error **err) MUST_CHECK;
/* The first check that failed, or NULL. */
const struct verify_check *bundle_file_failed(const struct verify_report *report);

#endif
