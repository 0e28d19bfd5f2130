/*
 * in-toto statements (v1) about a bundle: what the run found (test-result v0.1), and what verify found (SVR v0.2). Both
 * are made from the bundle alone, so that a verifier makes the first one again and compares.
 */
#ifndef HARNESS_REPORTS_STATEMENT_H
#define HARNESS_REPORTS_STATEMENT_H

#include "reports/manifest.h"
#include "reports/verify.h"

#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define STATEMENT_RESULT "https://in-toto.io/attestation/test-result/v0.1"
#define STATEMENT_SUMMARY "https://in-toto.io/attestation/svr/v0.2"
#define STATEMENT_VERIFIER "urn:confinement-evidence:verify:1"

/* Borrowed, all of it. */
struct statement_facts {
	const struct manifest *manifest;
	const struct verdicts *verdicts;
	const char *sums_sha256; /* of SHA256SUMS: the bundle's identity */
	const char *archive_sha256; /* NULL: the statement inside the archive, which cannot name it */
};

/* Appends what the run found: PASSED, WARNED (something is not established) or FAILED, with each arm in one of three
 * lists. Canonical. */
int statement_encode(const struct statement_facts *facts, struct buf *out, struct error **err) MUST_CHECK;
/* Whether the payload says of this bundle what it is. ERROR_INPUT names what it does not: the bundle (another subject),
 * the result, a list. A statement of another version of harness may say more, within the grammar of a bundle. */
int statement_check(const struct statement_facts *facts, const char *payload, size_t length,
		    struct error **err) MUST_CHECK;

/* Appends what verify found, at `time`: only properties that passed. Canonical. */
int statement_summary(const struct verify_report *report, const struct manifest *manifest, const char *time,
		      struct buf *out, struct error **err) MUST_CHECK;

#endif
