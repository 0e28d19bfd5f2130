/* Claims as a document: what it holds, what is cut and said to be, and what is too much. */
#include "oracle/claims.h"
#include "tests/unit/claims_world.h"
#include "tests/unit/test.h"

static void test_document(void)
{
	cleanup_free struct claims_world *world = claims_world_new();
	cleanup_free struct claims *back = calloc(1, sizeof(*back));
	cleanup_buf struct buf text = BUF(SCENARIO_BYTES);
	cleanup_json struct json_document *document = NULL;
	const struct json_node *effects;
	struct error *err = NULL;

	world->input.statements_count = WORLD_P5_CONTROL; /* P4 is assessed, and P5 is not */
	CU_ASSERT_EQUAL(claims_derive(&world->input, &world->claims, &err), 0);
	CU_ASSERT_EQUAL(claims_encode(&world->claims, 1, &text, &err), 0);
	CU_ASSERT_EQUAL(json_parse(buf_string(&text), text.length, JSON_DEPTH, &document, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_TRUE(json_text_is(json_member(json_root(document), "schema"), "confinement-evidence/claims/1"));
	effects = json_member(json_root(document), "effects");
	CU_ASSERT_EQUAL(json_count(effects), 1);
	CU_ASSERT_EQUAL(schema_decode(claims_fields, json_first(effects), "claims.json", back, sizeof(*back), &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(memcmp(back, &world->claims, sizeof(*back)), 0);
	/* what it rests on, what its observers cannot tell, what it does not say */
	CU_ASSERT_STRING_EQUAL(back->claims[CLAIM_AUTHORIZATION].rests_on[0], "o-0");
	CU_ASSERT_STRING_EQUAL(back->claims[CLAIM_CORRELATION].rests_on[1], "e1");
	CU_ASSERT_STRING_EQUAL(back->claims[CLAIM_COMPLETENESS].rests_on[0], "s-0");
	CU_ASSERT_EQUAL(back->claims[CLAIM_OBSERVATION].unseen_count, 2);
	CU_ASSERT_EQUAL(back->claims[CLAIM_COMPLETENESS].unseen_count, 0);
	for (size_t id = 0; id < CLAIMS; id++)
		CU_ASSERT(back->claims[id].says[0] && back->claims[id].says_not[0]);
}

/* More to rest on than a claim holds is said, and takes nothing from its status. */
static void test_rests_on_more(void)
{
	cleanup_free struct claims_world *world = claims_world_new();
	cleanup_free struct correlate_finding *many = calloc(CLAIM_RESTS_MAX + 1, sizeof(*many));
	const struct claim *correlation = &world->claims.claims[CLAIM_CORRELATION];
	struct error *err = NULL;

	CU_ASSERT_PTR_NOT_NULL(many);
	for (size_t i = 0; many && i <= CLAIM_RESTS_MAX; i++) {
		many[i] = world->findings[0];
		snprintf(many[i].entry, sizeof(many[i].entry), "%zx", i);
	}
	world->correlation = (struct correlation){ .findings = many, .count = CLAIM_RESTS_MAX + 1 };
	CU_ASSERT(claims_derive(&world->input, &world->claims, &err) == 0 && test_no_error(&err));
	CU_ASSERT(correlation->rests_on_cut && correlation->rests_on_count == CLAIM_RESTS_MAX);
	CU_ASSERT_EQUAL(correlation->status, CLAIM_ESTABLISHED);
	world->correlation.count = 1;
	CU_ASSERT(claims_derive(&world->input, &world->claims, &err) == 0 && test_no_error(&err));
	CU_ASSERT_FALSE(correlation->rests_on_cut);
}

/* One path more than the list of reasons holds refutes no less, and it is said that there are more. */
static void test_limit(void)
{
	cleanup_free struct claims_world *world = claims_world_new();
	cleanup_free struct claims *back = calloc(1, sizeof(*back));
	cleanup_free struct assessment *many = calloc(CLAIM_STATEMENTS_MAX + 1, sizeof(*many));
	cleanup_buf struct buf text = BUF(MIB);
	cleanup_json struct json_document *document = NULL;
	const struct claim *completeness = &world->claims.claims[CLAIM_COMPLETENESS];
	size_t count = CLAIM_UNMET_MAX / EFFECT_PATHS_MAX + 1;
	struct error *err = NULL;

	CU_ASSERT_PTR_NOT_NULL(many);
	for (size_t i = 0; many && i < count; i++) {
		many[i] = world->statements[WORLD_INVENTORY];
		many[i].paths_count = EFFECT_PATHS_MAX;
		for (size_t path = 0; path < EFFECT_PATHS_MAX; path++)
			snprintf(many[i].paths[path], NAME_MAX_SHORT, "X%zu-%zu", i, path);
	}
	world->input.statements = many;
	world->input.statements_count = count;
	CU_ASSERT(claims_derive(&world->input, &world->claims, &err) == 0 && test_no_error(&err));
	CU_ASSERT(completeness->status == CLAIM_REFUTED && completeness->refuted_count == CLAIM_UNMET_MAX);
	CU_ASSERT(completeness->cut_count == 1 && completeness->cut[0] == CLAIM_LIST_REFUTED);
	CU_ASSERT_EQUAL(world->claims.claims[CLAIM_MEDIATION].status, CLAIM_REFUTED);
	CU_ASSERT_EQUAL(world->claims.non_bypassability.status, CLAIM_REFUTED);
	CU_ASSERT_EQUAL(world->claims.claims[CLAIM_MEDIATION].cut_count, 0);
	CU_ASSERT_EQUAL(claims_encode(&world->claims, 1, &text, &err), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(&text), "\"cut\":[\"refutedBy\"]"));
	CU_ASSERT_EQUAL(json_parse(buf_string(&text), text.length, JSON_DEPTH, &document, &err), 0);
	CU_ASSERT_EQUAL(schema_decode(claims_fields, json_first(json_member(json_root(document), "effects")),
				      "claims.json", back, sizeof(*back), &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(memcmp(back, &world->claims, sizeof(*back)), 0);
	/* As many as it holds are all of them. */
	world->input.statements_count = count - 1;
	CU_ASSERT(claims_derive(&world->input, &world->claims, &err) == 0 && test_no_error(&err));
	CU_ASSERT(completeness->refuted_count == CLAIM_UNMET_MAX && completeness->cut_count == 0);
	world->input.statements_count = CLAIM_STATEMENTS_MAX + 1;
	CU_ASSERT(claims_derive(&world->input, &world->claims, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "statements"));
}

/* Whatever is on a list that was cut, it is no better than not established, and refuted where that is on the other. */
static void test_cut(void)
{
	cleanup_free struct claim *claim = calloc(1, sizeof(*claim));
	char path[NAME_MAX_SHORT];

	CU_ASSERT_PTR_NOT_NULL(claim);
	if (!claim)
		return;
	claim_rest_on(claim, "o-1");
	CU_ASSERT_EQUAL(claim_status(claim), CLAIM_ESTABLISHED);
	for (size_t i = 0; i <= CLAIM_UNMET_MAX + 1; i++) {
		snprintf(path, sizeof(path), "X%zu", i);
		claim_unmet(claim, OBLIGATION_INVENTORY, path);
		CU_ASSERT_EQUAL(claim_status(claim), CLAIM_NOT_ESTABLISHED);
	}
	CU_ASSERT(claim->unmet_count == CLAIM_UNMET_MAX && claim->cut_count == 1 && claim->cut[0] == CLAIM_LIST_UNMET);
	/* What is on the list is not one more. */
	claim->cut_count = 0;
	claim_unmet(claim, OBLIGATION_INVENTORY, "X0");
	CU_ASSERT_EQUAL(claim->cut_count, 0);
	claim_refute(claim, REFUTED_BY_BYPASS, "P1");
	CU_ASSERT_EQUAL(claim_status(claim), CLAIM_REFUTED);
}

static CU_TestInfo tests[] = {
	{ "the document", test_document },
	{ "more to rest on than is listed", test_rests_on_more },
	{ "limits", test_limit },
	{ "a list that was cut", test_cut },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "claims_document", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_claims_document", suites);
}
