/* A sigstore bundle (v0.3) around one envelope, with a public key's hint: no certificate, no log, no time stamp. */
#ifndef HARNESS_REPORTS_SIGSTORE_H
#define HARNESS_REPORTS_SIGSTORE_H

#include "reports/dsse.h"

/* Appends it, with a line feed. The hint is where a verifier may look for the key, and proves nothing. */
int sigstore_write(const struct dsse *envelope, const struct public_key *key, struct buf *out,
		   struct error **err) MUST_CHECK;
/* Reads the envelope of one that anybody wrote; what else stands in it is not looked at. ERROR_INPUT: there is none. */
int sigstore_read(const char *bytes, size_t length, struct dsse *out, struct error **err) MUST_CHECK;

#endif
