/* What a bundle declares and claims: each way in which one of them was altered, every digest made again, is refused. */
#include "reports/claims.h"
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/declaration_world.h"

/* A run of `selector` that declares what came with harness. */
static int make(struct fixture *fixture, const char *selector)
{
	return declared_make(&fixture->world, selector, &fixture->effects, &fixture->effects_count) &&
	       fixture_write(fixture);
}

/* Of the first effect. */
static const struct claims *claims_in(struct fixture *fixture, struct claims *claims)
{
	const struct buf *text = fixture_text(fixture, "claims.json");
	cleanup_json struct json_document *document = NULL;
	const struct json_node *effects;
	struct error *err = NULL;

	CU_ASSERT(json_parse(buf_string(text), text->length, JSON_DEPTH, &document, &err) == 0 && test_no_error(&err));
	effects = json_member(json_root(document), "effects");
	CU_ASSERT(json_count(effects) > 0);
	CU_ASSERT(schema_decode(claims_fields, json_first(effects), "claims.json", claims, sizeof(*claims), &err) == 0);
	CU_ASSERT(test_no_error(&err));
	return claims;
}

/* Of the run that took the paths: three claims are established, and the two that need an assessor are not. */
static void test_taken(void)
{
	static const enum claim_status expected[CLAIMS] = {
		[CLAIM_COMPLETENESS] = CLAIM_NOT_ESTABLISHED,
		[CLAIM_MEDIATION] = CLAIM_NOT_ESTABLISHED,
	};
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_free struct claims *claims = calloc(1, sizeof(*claims));
	struct verify_report report;

	CU_ASSERT(claims && make(&fixture, "effects"));
	CU_ASSERT(fixture_verify(&fixture, &report) && fixture_failed(&report, "", ""));
	CU_ASSERT_EQUAL(fixture_check(&report, "effects")->result, CHECK_PASS);
	CU_ASSERT_EQUAL(fixture_check(&report, "claims")->result, CHECK_PASS);
	if (!claims)
		return;
	claims_in(&fixture, claims);
	for (size_t id = 0; id < CLAIMS; id++)
		CU_ASSERT_EQUAL(claims->claims[id].status, (int)expected[id]);
	CU_ASSERT_EQUAL(strlen(claims->declaration), HEX_SHA256 - 1);
}

/* Of a run that took none of the paths: nothing is established, for want of exercise. */
static void test_not_taken(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_free struct claims *claims = calloc(1, sizeof(*claims));
	struct verify_report report;

	CU_ASSERT(claims && make(&fixture, "baseline"));
	CU_ASSERT(fixture_verify(&fixture, &report) && fixture_failed(&report, "", ""));
	if (!claims)
		return;
	claims_in(&fixture, claims);
	for (size_t id = 0; id < CLAIMS; id++) {
		const struct claim *claim = &claims->claims[id];
		bool exercise = false;

		CU_ASSERT_EQUAL(claim->status, CLAIM_NOT_ESTABLISHED);
		CU_ASSERT_EQUAL(claim->rests_on_count, 0);
		for (size_t i = 0; i < claim->unmet_count; i++)
			exercise |= claim->unmet[i].obligation == OBLIGATION_EXERCISE;
		CU_ASSERT_EQUAL(exercise, id != CLAIM_COMPLETENESS);
	}
}

/* An edit of one member, with all digests made again, and what is said of it. */
static const struct row {
	const char *what, *member, *from, *to; /* `from` NULL: the member as a whole */
	const char *check, *reason;
} rows[];
static const size_t rows_count;

static void test_altered(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };

	CU_ASSERT(make(&fixture, "effects"));
	for (size_t i = 0; i < rows_count; i++) {
		const struct row *row = &rows[i];
		cleanup_buf struct buf kept = BUF(FIXTURE_BYTES);
		struct verify_report report;

		buf_text(&kept, buf_string(fixture_text(&fixture, row->member)));
		if (row->from)
			fixture_edit(&fixture, row->member, row->from, row->to);
		else
			fixture_set(&fixture, row->member, row->to);
		CU_ASSERT(fixture_rehash(&fixture) && fixture_verify(&fixture, &report));
		if (!fixture_failed(&report, row->check, row->reason))
			CU_FAIL(row->what);
		CU_ASSERT_EQUAL(report.exit_code, 1);
		fixture_set(&fixture, row->member, buf_string(&kept));
	}
}

/* What another run earned is claimed of one that took no path: every text is that of an honest run. */
static void test_not_run(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 }, other = { .count = 0 };
	struct verify_report report;

	CU_ASSERT(make(&fixture, "baseline") && make(&other, "effects"));
	fixture_set(&fixture, "claims.json", buf_string(fixture_text(&other, "claims.json")));
	CU_ASSERT(fixture_rehash(&fixture) && fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "claims",
				 "effects[0]: authorization is sealed as established, derived again it is "
				 "not_established"));
}

/* A bundle that declares nothing claims nothing. */
static void test_none(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	CU_ASSERT(fixture_verify(&fixture, &report) && fixture_failed(&report, "", ""));
	CU_ASSERT_STRING_EQUAL(buf_string(fixture_text(&fixture, "claims.json")), CLAIMS_BEGIN CLAIMS_END);
}

/* Of the version from before there were any that is said, and nothing is checked. */
static void test_older(void)
{
	static const char *const members[] = { "claims.json", "effects.json" };
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;

	CU_ASSERT(fixture_make(&fixture, "baseline") && fixture_verify(&fixture, &report));
	CU_ASSERT(report.recomputed && !report.unclaimed);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		fixture_drop(&fixture, members[i]);
	CU_ASSERT(fixture_rehash(&fixture));
	fixture_edit(&fixture, "manifest.json", "\"" MANIFEST_SCHEMA "\"", "\"confinement-evidence/1.0\"");
	fixture_sums(&fixture);
	CU_ASSERT(fixture_verify(&fixture, &report));
	for (size_t i = 0; i < report.count; i++) {
		CU_ASSERT(strcmp(report.checks[i].id, "claims") != 0 && strcmp(report.checks[i].id, "effects") != 0);
		/* the page has a section of claims */
		CU_ASSERT(report.checks[i].result != CHECK_FAIL || strcmp(report.checks[i].id, "generated") == 0);
	}
	CU_ASSERT(report.unclaimed && report.recomputed);
}

static void test_members(void)
{
	static const char *const members[] = { "claims.json", "effects.json" };

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;
		char reason[64];

		CU_ASSERT(make(&fixture, "baseline"));
		fixture_drop(&fixture, members[i]);
		CU_ASSERT(fixture_rehash(&fixture) && fixture_verify(&fixture, &report));
		snprintf(reason, sizeof(reason), "%s is missing", members[i]);
		CU_ASSERT(fixture_failed(&report, "members", reason));
		/* of version 1.0 each would be one too many */
		(void)fixture_add(&fixture, members[i]);
		fixture_edit(&fixture, "manifest.json", "\"" MANIFEST_SCHEMA "\"", "\"confinement-evidence/1.0\"");
		fixture_sums(&fixture);
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "members", "claims.json is no member of version 1.0 of the format"));
	}
}

static CU_TestInfo tests[] = {
	{ "paths that were taken", test_taken },
	{ "paths that were not taken", test_not_taken },
	{ "what was altered", test_altered },
	{ "claims over arms that were not run", test_not_run },
	{ "nothing declared", test_none },
	{ "an older version", test_older },
	{ "members", test_members },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "verify_claims", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify_claims", suites);
}

#define ELSE "is not what its declaration and the verdicts say"

static const struct row rows[] = {
	{ "a status", "claims.json", "\"status\":\"not_established\"", "\"status\":\"established\"", "claims",
	  "claims.json: effects[0]: path_set_completeness is sealed as established, derived again it is "
	  "not_established" },
	{ "a status that takes away", "claims.json", "\"status\":\"established\"", "\"status\":\"refuted\"", "claims",
	  "effects[0]: authorization is sealed as refuted, derived again it is established" },
	{ "no status", "claims.json", "\"status\":\"established\"", "\"status\":\"beyond_doubt\"", "claims",
	  "authorization is sealed as no status" },
	{ "an obligation", "claims.json", "{\"obligation\":\"control_evidence\",\"path\":\"P4\"},", "", "claims",
	  ELSE },
	{ "what it rests on", "claims.json", "\"restsOn\":[\"o-", "\"restsOn\":[\"p-", "claims", ELSE },
	{ "what it does not say", "claims.json", "or who is behind the caller", "so to speak", "claims", ELSE },
	{ "the other half", "claims.json", "\"mediation\":\"not_established\"", "\"mediation\":\"established\"",
	  "claims", ELSE },
	{ "the declaration's digest", "claims.json", "\"declarationSha256\":\"", "\"declarationSha256\":\"0", "claims",
	  ELSE },
	{ "claims of nothing", "claims.json", NULL, CLAIMS_BEGIN CLAIMS_END, "claims",
	  "claims.json: 0 effects, 2 are declared" },
	{ "another form", "claims.json", CLAIMS_END, "],\"schema\":\"confinement-evidence/claims/2\"}", "claims",
	  "claims.json is not what declarations and verdicts say" },
	{ "no JSON", "claims.json", NULL, "{", "canonical", "claims.json is not in its canonical form" },
	{ "a title", "effects.json", "a row in the table of orders", "a row in a table of orders", "claims", ELSE },
	{ "a reason for what is left out", "effects.json", "outside the boundary", "inside the boundary", "claims",
	  ELSE },
	{ "a path that is exercised no more", "effects.json",
	  "\"scenarios\":[\"effects/order-gateway\",\"effects/order-twice\"]",
	  "\"scenarios\":[\"effects/order-create\"]", "effects",
	  "effects[0]: effects.json: paths[0].scenarios[0]: 'effects/order-create' does not look for 'order-gateway' "
	  "at "
	  "an observer of this path" },
	{ "a path whose effects may be", "effects.json", "\"admits\":\"nothing\"", "\"admits\":\"authorised\"",
	  "effects", "effects.json: paths[1].admits: 'order-http' is no call through the gateway" },
	{ "a path that is excused", "effects.json", "\"id\":\"P5\",\"mediator\":\"none\"",
	  "\"id\":\"P5\",\"mediator\":\"reviewer\"", "claims", ELSE },
	{ "another revision", "effects.json", "\"revision\":\"example-1\"", "\"revision\":\"example-2\"", "claims",
	  "effects[0]: authorization is sealed as established, derived again it is not_established" },
	{ "coverage that its basis cannot carry", "effects.json", "\"basis\":\"none\",\"claims\":\"none\"",
	  "\"basis\":\"none\",\"claims\":\"mediated\"", "effects",
	  "effects.json: paths[5].coverage.basis: goes with a claim" },
	{ "an unknown key", "effects.json", "\"title\":", "\"tilt\":1,\"title\":", "effects", "unknown key 'tilt'" },
	{ "another order of keys", "effects.json", NULL,
	  "{\"schema\":\"confinement-evidence/effects/1\",\"effects\":[]}", "canonical",
	  "effects.json is not in its canonical form" },
	{ "nothing declared", "effects.json", NULL, "{\"effects\":[],\"schema\":\"confinement-evidence/effects/1\"}",
	  "claims", "claims.json: 2 effects, 0 are declared" },
	{ "no list", "effects.json", NULL, "{\"schema\":\"confinement-evidence/effects/1\"}", "effects",
	  "must be an object of 'schema' and 'effects' alone" },
	{ "a path more", "effects.json", "\"paths\":[", "\"paths\":[{},", "effects", "effects.json: paths[0]" },
};
static const size_t rows_count = ARRAY_SIZE(rows);
