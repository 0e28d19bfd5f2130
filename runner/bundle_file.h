/* Bundles that the words of the command line name. */
#ifndef HARNESS_RUNNER_BUNDLE_FILE_H
#define HARNESS_RUNNER_BUNDLE_FILE_H

#include "reports/opened.h"

/* Opens a bundle to be read: a regular file, and no folder, which is ERROR_USAGE. The caller closes *fd. */
int bundle_file(const char *path, const char *verb, int *fd, struct error **err) MUST_CHECK;
/* The same, verified and open, as opened_new() does it. */
int bundle_file_open(const char *path, const char *verb, int *fd, struct verify_report *report, struct opened **opened,
		     struct error **err) MUST_CHECK;
/* The first check that failed, or NULL. */
const struct verify_check *bundle_file_failed(const struct verify_report *report);
/* The first check but that of the signature that was not made, or NULL. */
const struct verify_check *bundle_file_unchecked(const struct verify_report *report);

/* Whether a file can be written at `path`: ERROR_USAGE where a bundle is there, which no output replaces. Anything else
 * may be written over. */
int bundle_file_spared(const char *path, struct error **err) MUST_CHECK;

#define BUNDLE_FILE_WHY 300
/* Why a bundle is not open, or not wholly known: the check that failed, or that its format is newer; one line. */
void bundle_file_why(const struct verify_report *report, char out[BUNDLE_FILE_WHY]);

#endif
