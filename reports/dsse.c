#include "reports/dsse.h"

#include <string.h>

#include "core/json.h"
#include "reports/base64.h"

#define DEPTH 3
#define ENCODING_BYTES (DSSE_PAYLOAD_BYTES + KIB)

int dsse_encoding(const char *type, const void *payload, size_t length, struct buf *out, struct error **err)
{
	buf_printf(out, "DSSEv1 %zu %s %zu ", strlen(type), type, length);
	(void)buf_add(out, payload, length);
	return buf_check(out, "what is signed", err);
}

int dsse_sign(const struct private_key *key, const void *payload, size_t length, struct dsse *out, struct error **err)
{
	cleanup_buf struct buf encoding = BUF(ENCODING_BYTES);
	int result = dsse_encoding(DSSE_PAYLOAD_TYPE, payload, length, &encoding, err);

	if (result == 0)
		result = sign_bytes(key, buf_string(&encoding), encoding.length, &out->signature, err);
	if (result < 0)
		return result;
	(void)buf_add(&out->payload, payload, length);
	return buf_check(&out->payload, "a payload", err);
}

int dsse_write(const struct dsse *envelope, struct buf *out, struct error **err)
{
	buf_text(out, "{\"payload\":\"");
	base64_encode(buf_string(&envelope->payload), envelope->payload.length, out);
	buf_text(out, "\",\"payloadType\":\"" DSSE_PAYLOAD_TYPE "\",\"signatures\":[{\"sig\":\"");
	base64_encode(envelope->signature.bytes, envelope->signature.length, out);
	buf_text(out, "\"}]}");
	return buf_check(out, "an envelope", err);
}

/* The member as bytes; `what` is for the error. */
static int decode(const struct json_node *text, const char *what, struct buf *out, struct error **err)
{
	if (!json_string(text))
		return error_set(err, ERROR_INPUT, "%s is no string", what);
	if (base64_decode(json_string(text), json_string_length(text), out, err) < 0)
		return error_wrap(err, "%s", what);
	return 0;
}

static int read_signature(const struct json_node *list, struct signature *out, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(SIGNATURE_BYTES_MAX);
	const struct json_node *one = json_first(list);
	int result;

	if (json_type(list) != JSON_ARRAY || json_count(list) != 1)
		return error_set(err, ERROR_INPUT, "the envelope has not exactly one signature");
	if (json_member(one, "keyid"))
		return error_set(err, ERROR_INPUT, "the signature has a key id, which nothing vouches for");
	if (json_count(one) != 1)
		return error_set(err, ERROR_INPUT, "the signature has not exactly the member sig");
	result = decode(json_member(one, "sig"), "sig", &bytes, err);
	if (result < 0)
		return result;
	if (bytes.length == 0)
		return error_set(err, ERROR_INPUT, "sig is empty");
	memcpy(out->bytes, bytes.data, bytes.length);
	out->length = bytes.length;
	return 0;
}

int dsse_read_object(const struct json_node *root, struct dsse *out, struct error **err)
{
	const struct json_node *list = json_member(root, "signatures");
	int result;

	if (!json_member(root, "payload") || !json_member(root, "payloadType") || !list || json_count(root) != 3)
		return error_set(err, ERROR_INPUT,
				 "the envelope has not exactly the members payload, payloadType and signatures");
	if (!json_text_is(json_member(root, "payloadType"), DSSE_PAYLOAD_TYPE))
		return error_set(err, ERROR_INPUT, "the payload type is not " DSSE_PAYLOAD_TYPE);
	result = decode(json_member(root, "payload"), "payload", &out->payload, err);
	return result < 0 ? result : read_signature(list, &out->signature, err);
}

int dsse_read(const char *bytes, size_t length, struct dsse *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_buf struct buf again = BUF(DSSE_LINE_BYTES);
	const char *end = length > 0 ? memchr(bytes, '\n', length) : NULL;
	int result;

	if (length > DSSE_LINE_BYTES)
		return error_set(err, ERROR_INPUT, "the envelope is larger than %zu bytes", DSSE_LINE_BYTES);
	if (!end || end + 1 != bytes + length)
		return error_set(err, ERROR_INPUT, "the envelope is not exactly one line");
	result = json_parse(bytes, length - 1, DEPTH, &document, err);
	if (result == 0)
		result = dsse_read_object(json_root(document), out, err);
	if (result == 0)
		result = dsse_write(out, &again, err);
	if (result < 0)
		return result;
	if (again.length == length - 1 && memcmp(again.data, bytes, again.length) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "the envelope is not in its canonical form");
}

int dsse_check(const struct dsse *envelope, const struct public_key *key, bool *good, struct error **err)
{
	cleanup_buf struct buf encoding = BUF(ENCODING_BYTES);
	int result = dsse_encoding(DSSE_PAYLOAD_TYPE, buf_string(&envelope->payload), envelope->payload.length,
				   &encoding, err);

	return result < 0 ? result
			  : sign_check(key, buf_string(&encoding), encoding.length, &envelope->signature, good, err);
}
