#include "reports/sigstore.h"

int sigstore_write(const struct dsse *envelope, const struct public_key *key, struct buf *out, struct error **err)
{
	int result;

	buf_text(out, "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\":"
		      "{\"publicKey\":{\"hint\":\"");
	result = public_key_hint(key, out, err);
	if (result < 0)
		return result;
	buf_text(out, "\"},\"tlogEntries\":[],\"timestampVerificationData\":{\"rfc3161Timestamps\":[]}},"
		      "\"dsseEnvelope\":");
	result = dsse_write(envelope, out, err);
	if (result < 0)
		return result;
	buf_text(out, "}\n");
	return buf_check(out, "a sigstore bundle", err);
}
