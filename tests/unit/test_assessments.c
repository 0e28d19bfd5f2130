/* Signed statements: for each reason a real envelope, by keys of both kinds; several signatures; what is none. */
#include "reports/assessments.h"

#include <stdlib.h>

#include "core/fd.h"
#include "reports/base64.h"
#include "reports/dsse.h"
#include "tests/unit/assessments_world.h"
#include "tests/unit/test.h"

/* ---- each reason ---------------------------------------------------------------------------------------------------
 */

#define DIGEST "0123456789012345678901234567890123456789012345678901234567890123" /* of no declaration */

struct reason_row {
	enum assessment_reason reason;
	const char *private; /* who signs */
	size_t member; /* of struct assessment, a text that is another, or 0 */
	const char *text;
};
static const struct reason_row reason_rows[] = {
	{ ASSESSMENT_COUNTS, KEY_ED25519_PRIVATE, 0, NULL },
	{ ASSESSMENT_COUNTS, KEY_P256_PRIVATE, 0, NULL },
	{ ASSESSMENT_UNSIGNED, KEY_THIRD_PRIVATE, 0, NULL },
	{ ASSESSMENT_SELF_SIGNED, KEY_OTHER_PRIVATE, 0, NULL },
	{ ASSESSMENT_OTHER_EFFECT, KEY_ED25519_PRIVATE, offsetof(struct assessment, effect), "order_delete" },
	{ ASSESSMENT_OTHER_REVISION, KEY_P256_PRIVATE, offsetof(struct assessment, revision), "r2" },
	{ ASSESSMENT_OTHER_BOUNDARY, KEY_ED25519_PRIVATE, offsetof(struct assessment, boundary), "c" },
	{ ASSESSMENT_OTHER_DECLARATION, KEY_P256_PRIVATE, offsetof(struct assessment, declaration), DIGEST },
	{ ASSESSMENT_NOT_YET, KEY_ED25519_PRIVATE, offsetof(struct assessment, from), WORLD_AFTER },
	{ ASSESSMENT_EXPIRED, KEY_P256_PRIVATE, offsetof(struct assessment, until), WORLD_NOW },
	{ ASSESSMENT_OTHER_PATH, KEY_ED25519_PRIVATE, offsetof(struct assessment, path), "P2" },
	{ ASSESSMENT_OTHER_PATH, KEY_ED25519_PRIVATE, offsetof(struct assessment, path), "P9" },
};

static void test_reasons(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(reason_rows); i++) {
		const struct reason_row *row = &reason_rows[i];
		cleanup_free struct assessed_world *world = assessed_world_new();
		struct assessment statement = world->claims->statements[WORLD_P4_CONTROL];

		if (row->text)
			strcpy((char *)&statement + row->member, row->text);
		CU_ASSERT(assessed_world_add(world, &statement, row->private));
		CU_ASSERT_EQUAL(assessed_world_reason(world), (int)row->reason);
		assessed_world_free(world);
	}
}

/* A key that the statement's envelope holds by, and that nobody named: as where a bundle brings its own. */
static void test_unknown_key(void)
{
	cleanup_free struct assessed_world *world = assessed_world_new();

	CU_ASSERT(assessed_world_add(world, &world->claims->statements[WORLD_P4_CONTROL], KEY_ED25519_PRIVATE));
	world->ground.keys_count = 0;
	CU_ASSERT_EQUAL(assessed_world_reason(world), ASSESSMENT_UNKNOWN_KEY);
	assessed_world_free(world);
}

/* ---- several signatures --------------------------------------------------------------------------------------------
 */

/* Envelopes of one statement whose signatures are those of these keys, '-': garbage, 'L': longer than any of ours. */
static void test_many_signatures(void)
{
	static const struct {
		const char *by; /* a(ssessor), p: another one, P-256; r(un's own key), x: nobody's */
		int reason; /* or -1: it is refused */
	} rows[] = {
		{ "", ASSESSMENT_UNSIGNED },   { "a", ASSESSMENT_COUNTS },        { "-a", ASSESSMENT_COUNTS },
		{ "a-", ASSESSMENT_COUNTS },   { "xa", ASSESSMENT_COUNTS },       { "La", ASSESSMENT_COUNTS },
		{ "ra", ASSESSMENT_COUNTS },   { "ar", ASSESSMENT_COUNTS },       { "ap", ASSESSMENT_COUNTS },
		{ "aa", ASSESSMENT_COUNTS },   { "r", ASSESSMENT_SELF_SIGNED },   { "xr", ASSESSMENT_SELF_SIGNED },
		{ "x-", ASSESSMENT_UNSIGNED }, { "xxxxxxxa", ASSESSMENT_COUNTS }, { "xxxxxxxxa", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free struct assessed_world *world = assessed_world_new();
		struct error *err = NULL;
		int result = assessed_world_add_many(world, rows[i].by, &err);

		if (rows[i].reason < 0) {
			CU_ASSERT(result < 0 && test_error(&err, ERROR_INPUT, "line 1: more than 8 signatures"));
		} else {
			CU_ASSERT(result == 0 && test_no_error(&err));
			CU_ASSERT_EQUAL(assessed_world_reason(world), rows[i].reason);
		}
		assessed_world_free(world);
	}
}

/* ---- what others write ---------------------------------------------------------------------------------------------
 */

struct form_row {
	const char *from, *to; /* of the envelope's text */
	const char *refused; /* or NULL: it still counts */
};
static const struct form_row form_rows[] = {
	{ "\"payload\"", " \"payload\" ", NULL },
	{ "{\"sig\"", "{\"keyid\":\"whoever\",\"sig\"", NULL },
	{ "{\"payload\"", "{\"more\":{\"a\":[1]},\"payload\"", NULL },
	{ "{\"payload\"", "{\"payload\":\"\",\"payload\"",
	  "line 1: no envelope (`harness effects assess` makes one): JSON: duplicate key" },
	{ "{\"sig\"", "{\"sig\":\"\",\"sig\"",
	  "line 1: no envelope (`harness effects assess` makes one): JSON: duplicate key" },
	{ "{\"payload\"", "{\"more\":[[[[[[1]]]]]],\"payload\"", "line 1: " },
	{ "{\"payload\"", "{\"payloads\"", "line 1: an envelope has payload, payloadType and signatures" },
	{ "\"payloadType\"", "\"payloadtype\"", "line 1: an envelope has payload, payloadType and signatures" },
	{ "\"signatures\"", "\"signature\"", "line 1: an envelope has payload, payloadType and signatures" },
	{ "\"signatures\":[", "\"signatures\":{}}", "line 1: " },
	{ ASSESSMENT_PAYLOAD_TYPE, DSSE_PAYLOAD_TYPE, "line 1: the payload type is not " ASSESSMENT_PAYLOAD_TYPE },
	{ "{\"sig\":\"", "{\"sig\":7,\"x\":\"", "line 1: sig is no string" },
	{ "{\"sig\":\"", "{\"sig\":\"*", "line 1: sig: " },
	{ "{\"payload\":\"", "{\"payload\":null,\"x\":\"", "line 1: payload is no string" },
	{ "{\"payload\":\"", "{\"payload\":\"\\u0000", "line 1: " },
	{ "}\n", "}", "line 1: it does not end" },
	{ "}\n", "}\n\n", "line 2: " },
	{ "}\n", "} {}\n", "line 1: " },
};

static void test_forms(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(form_rows); i++) {
		const struct form_row *row = &form_rows[i];
		cleanup_free struct assessed_world *world = assessed_world_new();
		cleanup_buf struct buf line = BUF(MIB), changed = BUF(MIB);
		struct error *err = NULL;
		int result;

		CU_ASSERT(
			assessed_world_sign(&world->claims->statements[WORLD_P4_CONTROL], KEY_ED25519_PRIVATE, &line));
		CU_ASSERT(assessed_world_change(&line, row->from, row->to, &changed));
		result = assessed_world_read(world, &changed, &err);
		CU_ASSERT_EQUAL(result < 0, row->refused != NULL);
		CU_ASSERT(row->refused ? test_error(&err, ERROR_INPUT, row->refused) : test_no_error(&err));
		CU_ASSERT(row->refused || assessed_world_reason(world) == ASSESSMENT_COUNTS);
		assessed_world_free(world);
	}
}

/* The URL-safe alphabet, and no padding. */
static void test_url_safe(void)
{
	cleanup_free struct assessed_world *world = assessed_world_new();
	cleanup_buf struct buf line = BUF(MIB), changed = BUF(MIB);
	struct error *err = NULL;

	CU_ASSERT(assessed_world_sign(&world->claims->statements[WORLD_P4_CONTROL], KEY_ED25519_PRIVATE, &line));
	for (size_t i = 0; i < line.length; i++) {
		const char *at = &line.data[i];

		/* the type has them too */
		if (*at == '=' || (i > 0 && strncmp(at - 1, "n/vnd.", 6) == 0) || strncmp(at, "+json", 5) == 0)
			(void)(*at != '=' && buf_add(&changed, at, 1));
		else
			(void)buf_add(&changed, *at == '+' ? "-" : *at == '/' ? "_" : at, 1);
	}
	CU_ASSERT(changed.length < line.length);
	CU_ASSERT(assessed_world_read(world, &changed, &err) == 0 && test_no_error(&err));
	CU_ASSERT_EQUAL(assessed_world_reason(world), ASSESSMENT_COUNTS);
	assessed_world_free(world);
}

/* Payloads that were signed as they are, and are none. */
static void test_payloads(void)
{
	static const char good[] =
		"{\"boundary\":\"b\",\"declarationSha256\":\"" DIGEST
		"\",\"effect\":\"order_create\",\"from\":\"" WORLD_BEFORE
		"\",\"id\":\"s\",\"kind\":\"control\",\"path\":\"P4\",\"paths\":[],\"revision\":\"r1\","
		"\"until\":\"" WORLD_AFTER "\",\"what\":\"w\"}";
	static const struct {
		const char *from, *to, *refused;
	} rows[] = {
		{ "{", "{", NULL },
		{ "{", "{ ", "canonical form" },
		{ "}", "}\n", "canonical form" },
		{ "\"b\",", "\"b\", ", "canonical form" },
		{ "\"b\"", "\"\\u0062\"", "canonical form" },
		{ "\"kind\":\"control\",\"path\":\"P4\",", "\"path\":\"P4\",\"kind\":\"control\",", "canonical form" },
		{ "\"what\":\"w\"", "\"what\":\"\"", "what" },
		{ ",\"what\":\"w\"", "", "missing" },
		{ "\"w\"", "\"\\u00e4\"", "what" },
		{ "\"declarationSha256\":\"" DIGEST "\",", "", "missing" },
		{ DIGEST, "0123", "declarationSha256" },
		{ "\"path\":\"P4\",", "", "missing" },
		{ "\"path\":\"P4\",", "\"key\":\"aa11\",\"path\":\"P4\",", "unknown key 'key'" },
		{ "\"path\":\"P4\",", "\"path\":\"P4\",\"path\":\"P4\",", "duplicate key" },
		{ "\"paths\":[]", "\"paths\":[[[[]]]]", "the payload" },
		{ "control", "controls", "kind" },
		{ WORLD_AFTER, "2026-11-31T00:00:00Z", "until" },
		{ WORLD_AFTER, "for ever", "until" },
		{ good, "", "the payload" },
		{ good, "7", "the payload" },
		{ good, "\xff\xfe", "the payload" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free struct assessed_world *world = assessed_world_new();
		cleanup_buf struct buf text = BUF(KIB), payload = BUF(KIB), line = BUF(MIB);
		struct error *err = NULL;
		int result;

		(void)buf_text(&text, good);
		CU_ASSERT(assessed_world_change(&text, rows[i].from, rows[i].to, &payload));
		CU_ASSERT(assessed_world_wrap(&payload, KEY_ED25519_PRIVATE, &line));
		result = assessed_world_read(world, &line, &err);
		CU_ASSERT_EQUAL(result < 0, rows[i].refused != NULL);
		CU_ASSERT(rows[i].refused ? test_error(&err, ERROR_INPUT, rows[i].refused) : test_no_error(&err));
		CU_ASSERT(rows[i].refused || assessed_world_reason(world) == ASSESSMENT_OTHER_DECLARATION);
		assessed_world_free(world);
	}
}

/* Whatever bit of an envelope is another, it does not count; and no change of it is taken for another statement. */
static void test_each_bit(void)
{
	static const char *const keys[] = { KEY_ED25519_PRIVATE, KEY_P256_PRIVATE };

	for (size_t key = 0; key < ARRAY_SIZE(keys); key++) {
		cleanup_free struct assessed_world *world = assessed_world_new();
		cleanup_buf struct buf line = BUF(MIB);
		size_t counted = 0, ignored = 0;

		CU_ASSERT(assessed_world_sign(&world->claims->statements[WORLD_P4_CONTROL], keys[key], &line));
		for (size_t bit = 0; bit < line.length * 8; bit++) {
			cleanup_error struct error *err = NULL;

			line.data[bit / 8] ^= (char)(1 << bit % 8);
			if (assessed_world_read(world, &line, &err) == 0) {
				counted += assessed_world_reason(world) != ASSESSMENT_UNSIGNED;
				ignored++;
			}
			assessments_free(&world->list);
			line.data[bit / 8] ^= (char)(1 << bit % 8);
		}
		CU_ASSERT_EQUAL(counted, 0);
		CU_ASSERT(ignored > 0); /* some stay statements, which nobody signed */
		assessed_world_free(world);
	}
}

/* What was signed as another type of payload is not signed as a statement. */
static void test_other_type(void)
{
	cleanup_free struct assessed_world *world = assessed_world_new();
	cleanup_private_key struct private_key *key = NULL;
	cleanup_buf struct buf payload = BUF(KIB), line = BUF(MIB), changed = BUF(MIB);
	cleanup_dsse struct dsse envelope = DSSE_EMPTY;
	struct error *err = NULL;

	CU_ASSERT(private_key_parse(KEY_ED25519_PRIVATE, strlen(KEY_ED25519_PRIVATE), &key, &err) == 0);
	CU_ASSERT(assessment_encode(&world->claims->statements[WORLD_P4_CONTROL], &payload, &err) == 0);
	CU_ASSERT(dsse_sign(key, payload.data, payload.length, &envelope, &err) == 0);
	CU_ASSERT(dsse_write(&envelope, &line, &err) == 0 && buf_text(&line, "\n") == 0);
	CU_ASSERT(assessed_world_change(&line, DSSE_PAYLOAD_TYPE, ASSESSMENT_PAYLOAD_TYPE, &changed));
	CU_ASSERT(assessed_world_read(world, &changed, &err) == 0 && test_no_error(&err));
	CU_ASSERT_EQUAL(assessed_world_reason(world), ASSESSMENT_UNSIGNED);
	assessed_world_free(world);
}

/* ---- bounds --------------------------------------------------------------------------------------------------------
 */

static void test_bounds(void)
{
	cleanup_free struct assessed_world *world = assessed_world_new();
	struct assessment statement = world->claims->statements[WORLD_P4_CONTROL];
	cleanup_buf struct buf long_line = BUF(MIB), none = BUF(1);
	struct error *err = NULL;

	CU_ASSERT(assessed_world_read(world, &none, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "there is no envelope"));
	for (int i = 0; i < CLAIM_STATEMENTS_MAX; i++) {
		snprintf(statement.id, sizeof(statement.id), "s-%d", i);
		CU_ASSERT(assessed_world_add(world, &statement, KEY_ED25519_PRIVATE));
	}
	CU_ASSERT(!assessed_world_add(world, &statement, KEY_ED25519_PRIVATE));
	CU_ASSERT(test_error(&world->err, ERROR_INPUT, "line 1: a statement 's-127' is there already"));
	strcpy(statement.id, "s-128");
	CU_ASSERT(!assessed_world_add(world, &statement, KEY_ED25519_PRIVATE));
	CU_ASSERT(test_error(&world->err, ERROR_LIMIT, "line 1: more than 128 statements"));
	CU_ASSERT_EQUAL(world->list.count, CLAIM_STATEMENTS_MAX);
	while (long_line.length <= ASSESSMENT_LINE_BYTES)
		(void)buf_text(&long_line, "[[[[[[[[");
	(void)buf_text(&long_line, "\n");
	CU_ASSERT(assessed_world_read(world, &long_line, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "line 1: it is longer than 16384 bytes"));
	assessed_world_free(world);
}

static void test_assessors(void)
{
	static const unsigned char head[] = { 0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00 };
	cleanup_assessors struct assessors assessors = { .count = 0 };
	struct error *err = NULL;

	for (unsigned char i = 0; i <= ASSESSORS_MAX + 1; i++) {
		cleanup_buf struct buf pem = BUF(KIB);
		unsigned char der[sizeof(head) + ED25519_PUBLIC_BYTES] = { 0 };
		struct public_key *key = NULL;
		int result;

		memcpy(der, head, sizeof(head));
		der[sizeof(head)] = i > 1 ? i + 1 : 2; /* the first one twice; 0 and 1 are of small order */
		(void)buf_text(&pem, "-----BEGIN PUBLIC KEY-----\n");
		base64_encode(der, sizeof(der), &pem);
		(void)buf_text(&pem, "\n-----END PUBLIC KEY-----\n");
		CU_ASSERT(public_key_parse(buf_string(&pem), pem.length, &key, &err) == 0 && test_no_error(&err));
		result = assessors_add(&assessors, key, &err);
		CU_ASSERT_EQUAL(result < 0, i == 1 || i > ASSESSORS_MAX);
		CU_ASSERT(i == 1              ? test_error(&err, ERROR_USAGE, "an assessor's key stands there twice")
			  : i > ASSESSORS_MAX ? test_error(&err, ERROR_LIMIT, "more than 16 assessors")
					      : test_no_error(&err));
	}
	CU_ASSERT_EQUAL(assessors.count, ASSESSORS_MAX);
}

/* What openssl and sha256sum say of the same key. */
static void test_fingerprint(void)
{
	cleanup_assessors struct assessors assessors = { .count = 0 };

	CU_ASSERT(assessed_world_assessor(&assessors, KEY_ED25519_PUBLIC));
	CU_ASSERT(assessed_world_assessor(&assessors, KEY_P256_PUBLIC));
	CU_ASSERT_STRING_EQUAL(assessors.names[0], FINGERPRINT_ED25519);
	CU_ASSERT_STRING_EQUAL(assessors.names[1], FINGERPRINT_P256);
}

/* ---- the sense of a statement --------------------------------------------------------------------------------------
 */

static void make_inventory(struct assessment *statement)
{
	statement->kind = ASSESSMENT_INVENTORY;
	statement->path[0] = '\0';
	statement->paths_count = 1;
	strcpy(statement->paths[0], "P1");
}

static void inventory(struct assessment *statement)
{
	make_inventory(statement);
}

static void inventory_of_one(struct assessment *statement)
{
	make_inventory(statement);
	strcpy(statement->path, "P4");
}

static void empty_inventory(struct assessment *statement)
{
	make_inventory(statement);
	statement->paths_count = 0;
}

static void listed_twice(struct assessment *statement)
{
	make_inventory(statement);
	statement->paths_count = 2;
	strcpy(statement->paths[1], "P1");
}

static void control(struct assessment *statement)
{
	(void)statement;
}

static void of_no_path(struct assessment *statement)
{
	statement->path[0] = '\0';
}

static void of_agent_path(struct assessment *statement)
{
	strcpy(statement->path, "P2");
}

static void lists(struct assessment *statement)
{
	statement->paths_count = 1;
	strcpy(statement->paths[0], "P1");
}

static void other_effect(struct assessment *statement)
{
	strcpy(statement->effect, "order_delete");
}

static void other_boundary(struct assessment *statement)
{
	strcpy(statement->boundary, "c");
}

static void other_revision(struct assessment *statement)
{
	strcpy(statement->revision, "r2");
}

static void other_declaration(struct assessment *statement)
{
	strcpy(statement->declaration, DIGEST);
}

static void draft(struct assessment *statement)
{
	statement->declaration[0] = '\0';
}

static void no_time(struct assessment *statement)
{
	strcpy(statement->until, statement->from);
}

static void test_sense(void)
{
	static const struct {
		void (*change)(struct assessment *statement);
		const char *refused;
	} rows[] = {
		{ control, NULL },
		{ inventory, NULL },
		{ inventory_of_one, "path: an inventory is of all paths: null" },
		{ empty_inventory, "paths: none, and an inventory lists those that were found" },
		{ listed_twice, "paths[1]: 'P1' twice" },
		{ of_no_path, "path: null, and it is of one path" },
		{ of_agent_path, "declares no path 'P2' of the deployment's side" },
		{ lists, "paths: only an inventory lists paths: []" },
		{ other_effect, "effect: nobody declares 'order_delete'" },
		{ other_boundary, "boundary: 'order_create' is declared, and not for 'c'" },
		{ other_revision, "revision: 'r2', and order is declared for 'r1'" },
		{ draft, NULL },
		{ other_declaration, "declarationSha256: it must be " },
		{ no_time, "until: it is not later than from" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free struct claims_world *world = claims_world_new();
		struct assessment *statement = &world->statements[WORLD_P4_CONTROL];
		struct error *err = NULL;
		int result;

		rows[i].change(statement);
		result = assessment_check(statement, &world->effect, 1, &err);
		CU_ASSERT_EQUAL(result < 0, rows[i].refused != NULL);
		CU_ASSERT(rows[i].refused ? test_error(&err, ERROR_INPUT, rows[i].refused) : test_no_error(&err));
		CU_ASSERT(rows[i].refused || strcmp(statement->declaration, world->input.ground.declaration) == 0);
	}
}

static CU_TestInfo tests[] = {
	{ "each reason", test_reasons },
	{ "a key that nobody named", test_unknown_key },
	{ "several signatures", test_many_signatures },
	{ "what others write", test_forms },
	{ "base64 for addresses", test_url_safe },
	{ "payloads", test_payloads },
	{ "each bit", test_each_bit },
	{ "another type of payload", test_other_type },
	{ "bounds", test_bounds },
	{ "assessors", test_assessors },
	{ "fingerprints", test_fingerprint },
	{ "the sense of a statement", test_sense },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "assessments", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("assessments", suites);
}
