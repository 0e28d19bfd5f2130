/* What two bundles say of declared effects, side by side. */
#include "oracle/claims.h"
#include "reports/compare.h"
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/declaration_world.h"

#define EFFECT "order_create"

/* One run that went well, judged as it is given. */
struct side {
	struct world world;
	struct effect *effects;
	size_t count;
	struct manifest_facts facts;
	struct findings findings;
};
struct pair {
	struct side sides[2];
	struct manifest *manifest; /* of both */
	char environment[sizeof(fixture_snapshot) + 64];
	struct comparison *comparison;
};

static void pair_free(struct pair *pair)
{
	for (size_t i = 0; i < 2; i++) {
		world_free(&pair->sides[i].world);
		free(pair->sides[i].effects);
	}
	free(pair->manifest);
	comparison_free(pair->comparison);
}
#define cleanup_pair __attribute__((cleanup(pair_free)))

static bool pair_make(struct pair *pair)
{
	snprintf(pair->environment, sizeof(pair->environment), "{\"before\":%s}", fixture_snapshot);
	pair->manifest = calloc(1, sizeof(*pair->manifest));
	for (size_t i = 0; i < 2; i++)
		if (!declared_make(&pair->sides[i].world, "effects", &pair->sides[i].effects, &pair->sides[i].count))
			return false;
	return pair->manifest != NULL;
}

/* `claims`: whether the versions of both have them. */
static bool pair_compare(struct pair *pair, bool claims)
{
	struct compare_side sides[2];
	struct error *err = NULL;

	for (size_t i = 0; i < 2; i++) {
		struct side *side = &pair->sides[i];

		if (!world_judge(&side->world))
			return false;
		side->facts = (struct manifest_facts){ .minor = MANIFEST_MINOR, .finished = "2028-02-29T23:59:59Z" };
		side->findings = (struct findings){ .manifest = &side->facts,
						    .verdicts = side->world.verdicts,
						    .effects = side->effects,
						    .effects_count = side->count };
		sides[i] = (struct compare_side){ .manifest = pair->manifest,
						  .verdicts = side->world.verdicts,
						  .arms = side->world.arms,
						  .arms_count = side->world.arms_count,
						  .environment = pair->environment,
						  .environment_length = strlen(pair->environment),
						  .findings = claims || i == 0 ? &side->findings : NULL };
	}
	comparison_free(pair->comparison);
	pair->comparison = NULL;
	CU_ASSERT_EQUAL(compare_bundles(&sides[0], &sides[1], false, &pair->comparison, &err), 0);
	return test_no_error(&err) && pair->comparison;
}

/* What differs about it, or NULL. */
static const struct compare_claim *about(const struct pair *pair, const char *what)
{
	for (size_t i = 0; i < pair->comparison->claims_count; i++)
		if (strcmp(pair->comparison->claims[i].effect, EFFECT) == 0 &&
		    strcmp(pair->comparison->claims[i].about, what) == 0)
			return &pair->comparison->claims[i];
	return NULL;
}

static bool became(const struct pair *pair, enum claim_id claim, const char *was, const char *is)
{
	const struct compare_claim *one = about(pair, claim_names[claim]);

	return one && strcmp(one->was, was) == 0 && strcmp(one->is, is) == 0;
}

static void test_same(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair) && pair_compare(&pair, true));
	CU_ASSERT_EQUAL(pair.comparison->claims_count, 0);
	CU_ASSERT_EQUAL(pair.comparison->effects, pair.sides[0].count);
	CU_ASSERT_PTR_NOT_NULL(pair.comparison->claims);
}

/* A bypass in the second refutes there what the first did not establish. */
static void test_refuted(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair));
	see(&pair.sides[1].world, "effects/order-create", "order-http", "orders")->value = 1;
	CU_ASSERT(pair_compare(&pair, true));
	CU_ASSERT(became(&pair, CLAIM_MEDIATION, "not_established", "refuted"));
	CU_ASSERT_EQUAL(pair.comparison->claims_count, 1);
	CU_ASSERT_PTR_NULL(about(&pair, COMPARE_DECLARATION));
}

/* No cell is another, and a claim is. */
static void test_revision(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair));
	for (size_t i = 0; i < pair.sides[1].world.plan->arms_count; i++)
		pair.sides[1].world.arms[i].deployment_revision[0] = '\0';
	CU_ASSERT(pair_compare(&pair, true));
	CU_ASSERT_EQUAL(pair.comparison->weighing, 0);
	CU_ASSERT(became(&pair, CLAIM_AUTHORIZATION, "established", "not_established"));
}

/* Another text of it, though each claim has the same status: they are about something else. */
static void test_declaration(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };
	const struct compare_claim *declaration;

	CU_ASSERT(pair_make(&pair));
	pair.sides[1].effects[0].title[0] ^= 1;
	CU_ASSERT(pair_compare(&pair, true));
	declaration = about(&pair, COMPARE_DECLARATION);
	CU_ASSERT(declaration && strlen(declaration->was) == HEX_SHA256 - 1 &&
		  strlen(declaration->is) == HEX_SHA256 - 1);
	CU_ASSERT_EQUAL(pair.comparison->claims_count, 1);
}

/* What one of the two no longer declares, each of its claims is gone; the effect beside it is compared with itself. */
static void test_gone(void)
{
	for (size_t without = 0; without < 2; without++) {
		cleanup_pair struct pair pair = { .comparison = NULL };
		struct side *side = &pair.sides[without];

		CU_ASSERT(pair_make(&pair));
		memmove(side->effects, side->effects + 1, (side->count - 1) * sizeof(side->effects[0]));
		side->count--;
		CU_ASSERT(pair_compare(&pair, true));
		CU_ASSERT(became(&pair, CLAIM_OBSERVATION, without ? "established" : "", without ? "" : "established"));
		CU_ASSERT_EQUAL(pair.comparison->claims_count, 1 + CLAIMS);
		CU_ASSERT_EQUAL(pair.comparison->effects, side->count);
	}
}

/* Of a version that has none, nothing is said, and nothing is gone. */
static void test_version(void)
{
	cleanup_pair struct pair pair = { .comparison = NULL };

	CU_ASSERT(pair_make(&pair) && pair_compare(&pair, false));
	CU_ASSERT_PTR_NULL(pair.comparison->claims);
	CU_ASSERT_EQUAL(pair.comparison->claims_count, 0);
}

static CU_TestInfo tests[] = {
	{ "the same", test_same },
	{ "a bypass in one", test_refuted },
	{ "no revision in one", test_revision },
	{ "another declaration", test_declaration },
	{ "declared by one alone", test_gone },
	{ "a version without claims", test_version },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "compare_claims", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("compare_claims", suites);
}
