#include "reports/sigstore.h"

#include "core/json.h"

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

int sigstore_read(const char *bytes, size_t length, struct dsse *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	const struct json_node *envelope;
	int result = json_parse(bytes, length, JSON_DEPTH, &document, err);

	if (result < 0)
		return result;
	envelope = json_member(json_root(document), "dsseEnvelope");
	if (!envelope)
		return error_set(err, ERROR_INPUT, "it has no envelope");
	return dsse_read_object(envelope, out, err);
}
