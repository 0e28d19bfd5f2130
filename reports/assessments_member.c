#include "reports/assessments_member.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "reports/base64.h"

#define FILE_NAME "assessments.json"
#define SCHEMA "confinement-evidence/assessments/1"
#define MEMBER_BYTES ((size_t)1 * MIB)
#define KEY_TEXT 176 /* P-256, in base64, with its NUL */
#define SIGNATURE_TEXT 112
#define PEM_BEGIN "-----BEGIN PUBLIC KEY-----\n"
#define PEM_END "-----END PUBLIC KEY-----\n"

/* As the member has them. */
struct sealed_assessor {
	char fingerprint[HEX_SHA256];
	char key[KEY_TEXT]; /* SubjectPublicKeyInfo */
};
struct sealed_signature {
	char by[HEX_SHA256];
	char sig[SIGNATURE_TEXT];
};
struct sealed_statement {
	struct sealed_signature signatures[ASSESSORS_MAX];
	size_t signatures_count;
	struct assessment statement;
};
struct sealed_run_key {
	char fingerprint[HEX_SHA256];
};
static const struct schema_field assessor_fields[], statement_fields[], run_key_fields[], document_fields[];

/* The PEM text without its lines. */
static int key_text(const struct public_key *key, char out[KEY_TEXT], struct error **err)
{
	cleanup_buf struct buf pem = BUF(KIB);
	size_t length = 0;
	int result = public_key_write(key, &pem, err);

	for (size_t i = strlen(PEM_BEGIN); result == 0 && i + strlen(PEM_END) < pem.length; i++)
		if (pem.data[i] != '\n' && length < KEY_TEXT - 1)
			out[length++] = pem.data[i];
	out[length] = '\0';
	return result;
}

static void put_signatures(const struct assessed *one, const struct assessors *assessors, struct json_writer *json)
{
	json_put_key(json, "signatures");
	json_array(json);
	for (size_t i = 0; i < assessors->count; i++) {
		cleanup_buf struct buf text = BUF(SIGNATURE_TEXT);

		if (!one->holds[i])
			continue;
		base64_encode(one->signatures[i].bytes, one->signatures[i].length, &text);
		json_object(json);
		json_member_string(json, "by", assessors->names[i]);
		json_member_string(json, "sig", buf_string(&text));
		json_object_end(json);
	}
	json_array_end(json);
}

static int put_assessors(const struct assessors *assessors, struct json_writer *json, struct error **err)
{
	json_put_key(json, "assessors");
	json_array(json);
	for (size_t i = 0; i < assessors->count; i++) {
		struct sealed_assessor one = { .key = "" };
		int result = key_text(assessors->keys[i], one.key, err);

		if (result < 0)
			return result;
		memcpy(one.fingerprint, assessors->names[i], sizeof(one.fingerprint));
		schema_encode(assessor_fields, &one, json);
	}
	json_array_end(json);
	return 0;
}

int assessing_encode(const struct assessing *assessing, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(MEMBER_BYTES);
	struct json_writer json;

	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "schema", SCHEMA);
	if (put_assessors(&assessing->assessors, &json, err) < 0)
		return -1;
	json_put_key(&json, "runKeys");
	json_array(&json);
	for (size_t i = 0; i < assessing->run_keys_count; i++) {
		json_object(&json);
		json_member_string(&json, "fingerprint", assessing->run_keys[i]);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_put_key(&json, "statements");
	json_array(&json);
	for (size_t i = 0; i < assessing->statements.count; i++) {
		json_object(&json);
		put_signatures(&assessing->statements.list[i], &assessing->assessors, &json);
		json_put_key(&json, "statement");
		schema_encode(assessment_fields, &assessing->statements.list[i].statement, &json);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	if (buf_check(&text, FILE_NAME, err) < 0)
		return -1;
	return json_canonical(text.data, text.length, out, err);
}

static int read_assessor(const struct json_node *node, struct assessors *out, struct error **err)
{
	cleanup_buf struct buf pem = BUF(KIB);
	struct sealed_assessor one;
	struct public_key *key = NULL;
	int result = schema_decode(assessor_fields, node, FILE_NAME, &one, sizeof(one), err);

	if (result < 0)
		return result;
	(void)buf_printf(&pem, PEM_BEGIN "%s\n" PEM_END, one.key);
	result = public_key_parse(buf_string(&pem), pem.length, &key, err);
	if (result == 0)
		result = assessors_add(out, key, err);
	return result;
}

/* Against the bytes that were signed, which are those of the fields. */
static int read_signatures(const struct sealed_statement *sealed, const struct assessors *assessors,
			   struct assessed *out, struct error **err)
{
	for (size_t i = 0; i < sealed->signatures_count; i++) {
		int by = assessors_find(assessors, sealed->signatures[i].by);
		int result;

		if (by < 0)
			return error_set(err, ERROR_INPUT, "signatures[%zu]: by none of the assessors", i);
		result = assessed_check(sealed->signatures[i].sig, assessors->keys[by], out, (size_t)by, err);
		if (result < 0)
			return error_wrap(err, "signatures[%zu]", i);
		if (!out->holds[by])
			return error_set(err, ERROR_INPUT, "signatures[%zu]: it does not hold", i);
	}
	return 0;
}

static int read_statement(const struct json_node *node, const struct assessors *assessors, struct assessments *out,
			  struct error **err)
{
	cleanup_free struct sealed_statement *sealed = calloc(1, sizeof(*sealed));
	cleanup_free struct assessed *one = calloc(1, sizeof(*one));
	int result;

	if (!sealed || !one)
		return error_set(err, ERROR_MEMORY, "no memory for statements");
	result = schema_decode(statement_fields, node, FILE_NAME, sealed, sizeof(*sealed), err);
	if (result < 0)
		return result;
	one->statement = sealed->statement;
	result = read_signatures(sealed, assessors, one, err);
	return result < 0 ? result : assessments_add(out, one, err);
}

static int read_run_key(const struct json_node *node, struct assessing *out, struct error **err)
{
	struct sealed_run_key one;
	int result = schema_decode(run_key_fields, node, FILE_NAME, &one, sizeof(one), err);

	if (result < 0)
		return result;
	if (out->run_keys_count == ASSESSORS_MAX || assessors_find(&out->assessors, one.fingerprint) < 0)
		return error_set(err, ERROR_INPUT, "runKeys: not one of the assessors");
	memcpy(out->run_keys[out->run_keys_count++], one.fingerprint, sizeof(one.fingerprint));
	return 0;
}

static int read_document(const struct json_node *root, struct assessing *out, struct error **err)
{
	const struct json_node *assessors = json_member(root, "assessors"), *keys = json_member(root, "runKeys"),
			       *statements = json_member(root, "statements");
	size_t at = 0;

	if (!json_text_is(json_member(root, "schema"), SCHEMA) || json_type(assessors) != JSON_ARRAY ||
	    json_type(keys) != JSON_ARRAY || json_type(statements) != JSON_ARRAY || json_count(root) != 4)
		return error_unlisted(err,
				      "must be an object of 'schema', 'assessors', 'runKeys' and 'statements' alone");
	for (const struct json_node *node = json_first(assessors); node; node = json_next(node), at++)
		if (read_assessor(node, &out->assessors, err) < 0)
			return error_wrap(err, "assessors[%zu]", at);
	for (const struct json_node *node = json_first(keys); node; node = json_next(node))
		if (read_run_key(node, out, err) < 0)
			return -1;
	at = 0;
	for (const struct json_node *node = json_first(statements); node; node = json_next(node), at++)
		if (read_statement(node, &out->assessors, &out->statements, err) < 0)
			return error_wrap(err, "statements[%zu]", at);
	return 0;
}

int assessing_decode(const char *bytes, size_t length, struct assessing *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_buf struct buf again = BUF(MEMBER_BYTES);

	*out = (struct assessing){ .run_keys_count = 0 };
	if (json_parse(bytes, length, JSON_DEPTH, &document, err) < 0 ||
	    read_document(json_root(document), out, err) < 0 || assessing_encode(out, &again, err) < 0)
		return error_wrap(err, FILE_NAME);
	if (again.length == length && memcmp(again.data, bytes, length) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, FILE_NAME " is not in its one form");
}

int assessing_schema(struct buf *out, struct error **err)
{
	return schema_print(document_fields, FILE_NAME " of a bundle, version 1", out, err);
}

#define SIZE(owner, member) sizeof(((struct owner *)0)->member)
#define HEX(owner, member)                                                                                             \
	.required = true, .type = SCHEMA_STRING, .pattern = PATTERN_HEX, .min = HEX_SHA256 - 1,                        \
	.size = SIZE(owner, member), .offset = offsetof(struct owner, member)
#define TEXT(owner, member)                                                                                            \
	.required = true, .type = SCHEMA_STRING, .pattern = PATTERN_ASCII, .min = 1, .size = SIZE(owner, member),      \
	.offset = offsetof(struct owner, member)

static const struct schema_field assessor_fields[] = {
	{ .key = "fingerprint", HEX(sealed_assessor, fingerprint) },
	{ .key = "key", TEXT(sealed_assessor, key) },
	{ .key = NULL },
};

static const struct schema_field signature_fields[] = {
	{ .key = "by", HEX(sealed_signature, by) },
	{ .key = "sig", TEXT(sealed_signature, sig) },
	{ .key = NULL },
};

static const struct schema_field run_key_fields[] = {
	{ .key = "fingerprint", HEX(sealed_run_key, fingerprint) },
	{ .key = NULL },
};

static const struct schema_field statement_fields[] = {
	{ .key = "signatures",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = signature_fields,
	  .size = sizeof(struct sealed_signature),
	  .array_max = ASSESSORS_MAX,
	  .offset = offsetof(struct sealed_statement, signatures),
	  .count_offset = offsetof(struct sealed_statement, signatures_count) },
	{ .key = "statement",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = assessment_fields,
	  .size = sizeof(struct assessment),
	  .offset = offsetof(struct sealed_statement, statement) },
	{ .key = NULL },
};

/* For the schema alone: the lists are read and written an element at a time. */
static const char *const schema_names[] = { SCHEMA, NULL };
static const struct schema_field document_fields[] = {
	{ .key = "schema", .required = true, .type = SCHEMA_ENUM, .names = schema_names },
	{ .key = "assessors",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = assessor_fields,
	  .array_max = ASSESSORS_MAX },
	{ .key = "runKeys",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = run_key_fields,
	  .array_max = ASSESSORS_MAX },
	{ .key = "statements",
	  .required = true,
	  .type = SCHEMA_OBJECT,
	  .fields = statement_fields,
	  .array_max = CLAIM_STATEMENTS_MAX },
	{ .key = NULL },
};
