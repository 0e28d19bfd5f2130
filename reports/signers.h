/* Which assessors' keys sign a bundle itself, in any of the forms that are shipped: what those state counts for
 * nothing. */
#ifndef HARNESS_REPORTS_SIGNERS_H
#define HARNESS_REPORTS_SIGNERS_H

#include "reports/assessments.h"

/* Borrowed texts; each NULL where there is none. */
struct shipped {
	const char *envelope; /* a DSSE envelope, in the bundle or beside it */
	size_t envelope_length;
	const char *sigstore; /* a sigstore bundle of one */
	size_t sigstore_length;
	const char *sums_signature; /* an SSHSIG of `sums`, the bundle's own SHA256SUMS */
	size_t sums_signature_length;
	const char *sums;
	size_t sums_length;
};

/* Sets signs[i] for each assessor by whose key one of them holds, and leaves it else. What is none of its form is
 * somebody else's: no error. */
int signers_find(const struct assessors *assessors, const struct shipped *shipped, bool signs[ASSESSORS_MAX],
		 struct error **err) MUST_CHECK;

#endif
