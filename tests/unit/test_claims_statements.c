/* Statements of assessors: which of them count for a claim, what each form of them says, and what meets an obligation.
 */
#include "oracle/claims.h"

#include "oracle/claims_hints.h"
#include "tests/unit/claims_world.h"
#include "tests/unit/test.h"

static const struct {
	enum assessment_reason reason;
	size_t at; /* which statement */
	size_t member; /* of struct assessment, a text */
	const char *text;
	const char *from, *until;
} statement_rows[] = {
	{ ASSESSMENT_COUNTS, WORLD_INVENTORY, offsetof(struct assessment, path), "", WORLD_NOW, WORLD_AFTER },
	{ ASSESSMENT_UNSIGNED, WORLD_INVENTORY, offsetof(struct assessment, key), "", WORLD_BEFORE, WORLD_AFTER },
	{ ASSESSMENT_SELF_SIGNED, WORLD_P4_CONTROL, offsetof(struct assessment, key), WORLD_RUN_KEY, WORLD_BEFORE,
	  WORLD_AFTER },
	{ ASSESSMENT_UNKNOWN_KEY, WORLD_P4_CONTROL, offsetof(struct assessment, key), "cc33", WORLD_BEFORE,
	  WORLD_AFTER },
	{ ASSESSMENT_OTHER_EFFECT, WORLD_INVENTORY, offsetof(struct assessment, effect), "order_delete", WORLD_BEFORE,
	  WORLD_AFTER },
	{ ASSESSMENT_OTHER_REVISION, WORLD_INVENTORY, offsetof(struct assessment, revision), "r2", WORLD_BEFORE,
	  WORLD_AFTER },
	{ ASSESSMENT_OTHER_BOUNDARY, WORLD_INVENTORY, offsetof(struct assessment, boundary), "c", WORLD_BEFORE,
	  WORLD_AFTER },
	{ ASSESSMENT_OTHER_DECLARATION, WORLD_INVENTORY, offsetof(struct assessment, declaration), "cc33", WORLD_BEFORE,
	  WORLD_AFTER },
	{ ASSESSMENT_NOT_YET, WORLD_INVENTORY, offsetof(struct assessment, path), "", WORLD_AFTER, WORLD_LATER },
	{ ASSESSMENT_EXPIRED, WORLD_INVENTORY, offsetof(struct assessment, path), "", WORLD_BEFORE, WORLD_NOW },
	{ ASSESSMENT_OTHER_PATH, WORLD_P4_CONTROL, offsetof(struct assessment, path), "P1", WORLD_BEFORE, WORLD_AFTER },
	{ ASSESSMENT_OTHER_PATH, WORLD_INVENTORY, offsetof(struct assessment, path), "P4", WORLD_BEFORE, WORLD_AFTER },
};

static void test_statements(void)
{
	bool seen[ASSESSMENT_OTHER_PATH + 1] = { false };

	for (size_t i = 0; i < ARRAY_SIZE(statement_rows); i++) {
		cleanup_free struct claims_world *world = claims_world_new();
		struct assessment *statement = &world->statements[statement_rows[i].at];
		struct error *err = NULL;
		bool counts = statement_rows[i].reason == ASSESSMENT_COUNTS;

		strcpy((char *)statement + statement_rows[i].member, statement_rows[i].text);
		strcpy(statement->from, statement_rows[i].from);
		strcpy(statement->until, statement_rows[i].until);
		CU_ASSERT_EQUAL(assessment_judge(statement, &world->input.ground), statement_rows[i].reason);
		CU_ASSERT_EQUAL(claims_derive(&world->input, &world->claims, &err), 0);
		CU_ASSERT(test_no_error(&err));
		/* it is ignored, and said so */
		CU_ASSERT_EQUAL(world->claims.statements_count, WORLD_STATEMENTS);
		CU_ASSERT_EQUAL(world->claims.statements[statement_rows[i].at].reason, (int)statement_rows[i].reason);
		CU_ASSERT_EQUAL(world->claims.claims[CLAIM_MEDIATION].status,
				counts ? CLAIM_ESTABLISHED : CLAIM_NOT_ESTABLISHED);
		seen[statement_rows[i].reason] = true;
	}
	for (size_t reason = 0; reason < ARRAY_SIZE(seen); reason++)
		CU_ASSERT_TRUE(seen[reason]);
}

/* Whoever finds an obligation unmet is told what meets it. */
static void test_hints(void)
{
	int count = 0;

	for (; claim_obligation_names[count]; count++) {
		const struct claim_hint *hint = claim_hint(count);

		CU_ASSERT(hint && hint->means[0] && hint->meets && hint->meets[0]);
	}
	CU_ASSERT_PTR_NULL(claim_hint(count));
	CU_ASSERT_PTR_NULL(claim_hint(-1));
}

/* An assessor whose key also signs the run is no assessor. */
static void test_own_key_is_trusted(void)
{
	cleanup_free struct claims_world *world = claims_world_new();

	strcpy(world->run_keys[0], WORLD_ASSESSOR);
	CU_ASSERT_EQUAL(assessment_judge(&world->statements[0], &world->input.ground), ASSESSMENT_SELF_SIGNED);
}

#define DIGEST "0123456789012345678901234567890123456789012345678901234567890123"
static void test_statement_form(void)
{
	static const char text[] =
		"{\"id\":\"s\",\"kind\":\"inventory\",\"effect\":\"e\",\"revision\":\"r\",\"boundary\":"
		"\"b\",\"declarationSha256\":\"" DIGEST "\",\"what\":\"w\",\"path\":null,\"paths\":[\"P1\"],\"from\":"
		"\"2026-11-30T00:00:00Z\",\"until\":\"2027-11-30T00:00:"
		"00Z\"}";
	cleanup_json struct json_document *document = NULL;
	cleanup_free struct assessment *statement = calloc(1, sizeof(*statement));
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(text, strlen(text), JSON_DEPTH, &document, &err), 0);
	CU_ASSERT_EQUAL(schema_decode(assessment_fields, json_root(document), "s", statement, sizeof(*statement), &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(statement->paths[0], "P1");
	CU_ASSERT_STRING_EQUAL(statement->until, "2027-11-30T00:00:00Z");
	/* whose signature holds is nothing that a statement can say itself */
	CU_ASSERT_STRING_EQUAL(statement->key, "");
}

static CU_TestInfo tests[] = {
	{ "statements", test_statements },
	{ "what meets an obligation", test_hints },
	{ "the run's own key", test_own_key_is_trusted },
	{ "the form of a statement", test_statement_form },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "claims_statements", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_claims_statements", suites);
}
