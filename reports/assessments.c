#include "reports/assessments.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "reports/base64.h"
#include "reports/dsse.h"

#define DEPTH 4 /* whoever wrote the envelope may have added to it */
#define FOREIGN_BYTES ((size_t)1 * KIB) /* a signature by a key of a kind that nobody here has */
#define ENCODING_BYTES (ASSESSMENT_BYTES + KIB)

void assessors_free(struct assessors *assessors)
{
	for (size_t i = 0; i < assessors->count; i++)
		public_key_free(assessors->keys[i]);
	assessors->count = 0;
}

int assessors_find(const struct assessors *assessors, const char *name)
{
	for (size_t i = 0; i < assessors->count; i++)
		if (strcmp(assessors->names[i], name) == 0)
			return (int)i;
	return -1;
}

int assessors_add(struct assessors *assessors, struct public_key *key, struct error **err)
{
	cleanup_public_key struct public_key *taken = key;
	char name[HEX_SHA256];
	int result = public_key_fingerprint(key, name, err);

	if (result < 0)
		return result;
	if (assessors_find(assessors, name) >= 0)
		return error_set(err, ERROR_USAGE, "an assessor's key stands there twice");
	if (assessors->count == ASSESSORS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d assessors", ASSESSORS_MAX);
	memcpy(assessors->names[assessors->count], name, sizeof(name));
	assessors->keys[assessors->count++] = steal_pointer(&taken);
	return 0;
}

void assessments_free(struct assessments *assessments)
{
	free(assessments->list);
	*assessments = (struct assessments){ .list = NULL };
}

void assessing_free(struct assessing *assessing)
{
	assessors_free(&assessing->assessors);
	assessments_free(&assessing->statements);
	assessing->run_keys_count = 0;
}

/* A reader of envelopes has to take both alphabets, with padding and without. */
static int decode(const struct json_node *text, const char *what, size_t max, struct buf *out, struct error **err)
{
	cleanup_buf struct buf standard = BUF(ASSESSMENT_LINE_BYTES);
	const char *at = json_string(text);
	size_t length = json_string_length(text);

	if (!at)
		return error_set(err, ERROR_INPUT, "%s is no string", what);
	for (size_t i = 0; i < length; i++) {
		const char *place = at[i] ? strchr("-_", at[i]) : NULL;

		(void)buf_add(&standard, !place ? &at[i] : *place == '-' ? "+" : "/", 1);
	}
	while (standard.length % 4 && !standard.failed)
		buf_text(&standard, "=");
	if (buf_check(&standard, what, err) < 0 || base64_decode(buf_string(&standard), standard.length, out, err) < 0)
		return error_wrap(err, "%s", what);
	if (out->length <= max)
		return 0;
	return error_set(err, ERROR_INPUT, "%s is larger than %zu bytes", what, max);
}

/* By whom the one signature holds. */
static int check_signature(const struct json_node *one, const struct buf *encoding, const struct assessors *assessors,
			   struct assessed *out, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(FOREIGN_BYTES * 2);
	struct signature signature;
	int result = decode(json_member(one, "sig"), "sig", FOREIGN_BYTES, &bytes, err);

	if (result < 0 || bytes.length > sizeof(signature.bytes))
		return result;
	signature.length = bytes.length;
	memcpy(signature.bytes, buf_string(&bytes), bytes.length);
	for (size_t i = 0; i < assessors->count; i++) {
		bool good = false;

		if (out->holds[i])
			continue;
		result = sign_check(assessors->keys[i], buf_string(encoding), encoding->length, &signature, &good, err);
		if (result < 0)
			return result;
		out->holds[i] = good;
		if (good)
			out->signatures[i] = signature;
	}
	return 0;
}

static int check_signatures(const struct json_node *list, const struct buf *payload, const struct assessors *assessors,
			    struct assessed *out, struct error **err)
{
	cleanup_buf struct buf encoding = BUF(ENCODING_BYTES);
	int result = dsse_encoding(ASSESSMENT_PAYLOAD_TYPE, buf_string(payload), payload->length, &encoding, err);

	if (json_type(list) != JSON_ARRAY)
		return error_set(err, ERROR_INPUT, "signatures is no list");
	if (json_count(list) > ASSESSMENT_SIGNATURES_MAX)
		return error_set(err, ERROR_INPUT, "more than %d signatures", ASSESSMENT_SIGNATURES_MAX);
	for (const struct json_node *one = json_first(list); one && result == 0; one = json_next(one))
		result = check_signature(one, &encoding, assessors, out, err);
	return result;
}

static int read_payload(const struct buf *payload, struct assessment *out, struct error **err)
{
	cleanup_buf struct buf again = BUF(ASSESSMENT_BYTES);
	int result = assessment_decode(buf_string(payload), payload->length, "the payload", out, err);

	if (result == 0)
		result = assessment_encode(out, &again, err);
	if (result < 0)
		return result;
	if (again.length == payload->length && memcmp(again.data, buf_string(payload), again.length) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "the payload is not in its canonical form: no spaces, and its keys sorted");
}

static int read_envelope(const char *bytes, size_t length, const struct assessors *assessors, struct assessed *out,
			 struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_buf struct buf payload = BUF(ASSESSMENT_LINE_BYTES);
	const struct json_node *root, *list;
	int result = json_parse(bytes, length, DEPTH, &document, err);

	if (result < 0)
		return error_wrap(err, "no envelope (`harness effects assess` makes one)");
	root = json_root(document);
	list = json_member(root, "signatures");
	if (!json_member(root, "payload") || !json_member(root, "payloadType") || !list)
		return error_set(err, ERROR_INPUT, "an envelope has payload, payloadType and signatures");
	if (!json_text_is(json_member(root, "payloadType"), ASSESSMENT_PAYLOAD_TYPE))
		return error_set(err, ERROR_INPUT, "the payload type is not " ASSESSMENT_PAYLOAD_TYPE);
	result = decode(json_member(root, "payload"), "payload", ASSESSMENT_BYTES, &payload, err);
	if (result == 0)
		result = check_signatures(list, &payload, assessors, out, err);
	return result < 0 ? result : read_payload(&payload, &out->statement, err);
}

int assessments_add(struct assessments *assessments, const struct assessed *one, struct error **err)
{
	struct assessed *list;

	for (size_t i = 0; i < assessments->count; i++)
		if (strcmp(assessments->list[i].statement.id, one->statement.id) == 0)
			return error_set(err, ERROR_INPUT, "a statement '%s' is there already", one->statement.id);
	if (assessments->count == CLAIM_STATEMENTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d statements", CLAIM_STATEMENTS_MAX);
	list = reallocarray(assessments->list, assessments->count + 1, sizeof(*list));
	if (!list)
		return error_set(err, ERROR_MEMORY, "no memory for statements");
	assessments->list = list;
	list[assessments->count++] = *one;
	return 0;
}

int assessments_read(const char *bytes, size_t length, const struct assessors *assessors, struct assessments *out,
		     struct error **err)
{
	cleanup_free struct assessed *one = calloc(1, sizeof(*one));
	size_t number = 0, at = 0;

	if (!one)
		return error_set(err, ERROR_MEMORY, "no memory for statements");
	if (length == 0)
		return error_set(err, ERROR_INPUT, "there is no envelope");
	while (at < length) {
		const char *end = memchr(bytes + at, '\n', length - at);
		size_t line = end ? (size_t)(end - bytes) - at : length - at;

		number++;
		memset(one, 0, sizeof(*one));
		if (!end)
			return error_set(err, ERROR_INPUT, "line %zu: it does not end", number);
		if (line > ASSESSMENT_LINE_BYTES)
			return error_set(err, ERROR_INPUT, "line %zu: it is longer than %zu bytes", number,
					 ASSESSMENT_LINE_BYTES);
		if (read_envelope(bytes + at, line, assessors, one, err) < 0 || assessments_add(out, one, err) < 0)
			return error_wrap(err, "line %zu", number);
		at += line + 1;
	}
	return 0;
}

/* What a key says for its statement: the most, where there is nothing against the key itself. */
static int worth(enum assessment_reason reason)
{
	return reason == ASSESSMENT_UNKNOWN_KEY ? 1 : reason == ASSESSMENT_SELF_SIGNED ? 2 : 3;
}

static void choose_key(const struct assessed *assessed, const struct assessors *assessors,
		       const struct assessment_ground *ground, struct assessment *out)
{
	int best = 0;

	*out = assessed->statement;
	for (size_t i = 0; i < assessors->count; i++) {
		struct assessment by = assessed->statement;
		int is;

		memcpy(by.key, assessors->names[i], sizeof(by.key));
		is = assessed->holds[i] ? worth(assessment_judge(&by, ground)) : 0;
		if (is > best)
			*out = by;
		best = is > best ? is : best;
	}
}

int assessments_judged(const struct assessments *assessments, const struct assessors *assessors,
		       const struct assessment_ground *ground, struct assessment **out, struct error **err)
{
	*out = calloc(assessments->count + 1, sizeof(**out));
	if (!*out)
		return error_set(err, ERROR_MEMORY, "no memory for statements");
	for (size_t i = 0; i < assessments->count; i++)
		choose_key(&assessments->list[i], assessors, ground, &(*out)[i]);
	return 0;
}

int assessed_check(const char *sig, const struct public_key *key, struct assessed *out, size_t by, struct error **err)
{
	cleanup_buf struct buf payload = BUF(ASSESSMENT_BYTES), encoding = BUF(ENCODING_BYTES);
	cleanup_buf struct buf bytes = BUF(SIGNATURE_BYTES_MAX);
	struct signature *signature = &out->signatures[by];
	int result = assessment_encode(&out->statement, &payload, err);

	if (result == 0)
		result = dsse_encoding(ASSESSMENT_PAYLOAD_TYPE, payload.data, payload.length, &encoding, err);
	if (result == 0)
		result = base64_decode(sig, strlen(sig), &bytes, err);
	if (result < 0)
		return result;
	memcpy(signature->bytes, buf_string(&bytes), bytes.length);
	signature->length = bytes.length;
	return sign_check(key, encoding.data, encoding.length, signature, &out->holds[by], err);
}

int assessment_sign(const struct private_key *key, const struct assessment *statement, struct buf *out,
		    struct error **err)
{
	cleanup_buf struct buf payload = BUF(ASSESSMENT_BYTES);
	cleanup_buf struct buf encoding = BUF(ENCODING_BYTES);
	struct signature signature = { .length = 0 };
	int result = assessment_encode(statement, &payload, err);

	if (result == 0)
		result = dsse_encoding(ASSESSMENT_PAYLOAD_TYPE, payload.data, payload.length, &encoding, err);
	if (result == 0)
		result = sign_bytes(key, encoding.data, encoding.length, &signature, err);
	if (result < 0)
		return result;
	buf_text(out, "{\"payload\":\"");
	base64_encode(payload.data, payload.length, out);
	buf_text(out, "\",\"payloadType\":\"" ASSESSMENT_PAYLOAD_TYPE "\",\"signatures\":[{\"sig\":\"");
	base64_encode(signature.bytes, signature.length, out);
	buf_text(out, "\"}]}\n");
	return buf_check(out, "an envelope", err);
}
