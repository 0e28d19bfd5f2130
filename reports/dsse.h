/*
 * DSSE 1.0.2: a payload of the in-toto media type, signed once, as one line of JSON. The reader takes the one form that
 * the writer has, so that a change of any byte shows; what is checked is the decoded payload, and what is read after is
 * the same bytes.
 */
#ifndef HARNESS_REPORTS_DSSE_H
#define HARNESS_REPORTS_DSSE_H

#include "core/buf.h"
#include "core/json.h"
#include "core/limits.h"
#include "reports/sign.h"

#define DSSE_PAYLOAD_TYPE "application/vnd.in-toto+json"
#define DSSE_PAYLOAD_BYTES ((size_t)1 * MIB)
#define DSSE_LINE_BYTES ((size_t)2 * MIB)

struct dsse {
	struct buf payload;
	struct signature signature;
};
/* Starts as DSSE_EMPTY. */
#define DSSE_EMPTY                                                                                                     \
	{                                                                                                              \
		.payload = BUF(DSSE_PAYLOAD_BYTES)                                                                     \
	}
static inline void dsse_free(struct dsse *envelope)
{
	buf_free(&envelope->payload);
}
#define cleanup_dsse __attribute__((cleanup(dsse_free)))

/* Appends the bytes that are signed: "DSSEv1 28 application/vnd.in-toto+json LENGTH PAYLOAD". */
int dsse_encoding(const char *type, const void *payload, size_t length, struct buf *out, struct error **err) MUST_CHECK;
/* Signs the payload. */
int dsse_sign(const struct private_key *key, const void *payload, size_t length, struct dsse *out,
	      struct error **err) MUST_CHECK;
/* Appends the envelope, canonical, without a line feed. */
int dsse_write(const struct dsse *envelope, struct buf *out, struct error **err) MUST_CHECK;
/* Reads one line with its line feed, and nothing behind it. ERROR_INPUT: not of the form: another payload type, other
 * than one signature, a key id, base64 in another alphabet, an unknown key. */
int dsse_read(const char *bytes, size_t length, struct dsse *out, struct error **err) MUST_CHECK;
/* Of an object of any form of JSON, in a document of somebody else's. */
int dsse_read_object(const struct json_node *root, struct dsse *out, struct error **err) MUST_CHECK;
int dsse_check(const struct dsse *envelope, const struct public_key *key, bool *good, struct error **err) MUST_CHECK;

#endif
