/*
 * What is shipped beside a bundle NAME: NAME.intoto.jsonl, the signed statement about the archive; the same as a
 * sigstore bundle in NAME.sigstore.json; of an Ed25519 key also SHA256SUMS and SHA256SUMS.sig; and
 * NAME.svr.intoto.jsonl, what a verifier found.
 */
#ifndef HARNESS_RUNNER_BESIDE_H
#define HARNESS_RUNNER_BESIDE_H

#include "core/buf.h"
#include "reports/sign.h"
#include "reports/verify.h"

/* Appends the envelope: of the file `attestation`, which must be there, or with NULL of NAME.intoto.jsonl beside the
 * bundle at `path`, which need not: *found. */
int beside_read(const char *path, const char *attestation, struct buf *out, bool *found, struct error **err) MUST_CHECK;

/* Appends what else is shipped beside the bundle at `path`, and is there: NAME.sigstore.json and SHA256SUMS.sig. */
int beside_others(const char *path, struct buf *sigstore, struct buf *sums_signature, struct error **err) MUST_CHECK;

/* Verifies the bundle `name` in the folder and signs what it says, whatever its verdict. ERROR_REFUSED when a check
 * failed or, but for the signature, was not made, or when there is a statement already; nothing is overwritten. */
int beside_sign(int directory, const char *name, const struct private_key *key, struct error **err) MUST_CHECK;
/* The same of a path. */
int beside_sign_path(const char *path, const struct private_key *key, struct error **err) MUST_CHECK;

/* Verifies the bundle again, and writes what was found as a statement signed by the key: only where nothing failed and
 * the verdict is a pass, else ERROR_REFUSED; so where there is one already. Appends the path of what was written. */
int beside_attest(const char *path, const struct verify_options *options, const struct private_key *key,
		  struct buf *written, struct error **err) MUST_CHECK;

#endif
