/* What a kind of gateway cannot make, as planner and verifier see it. */
#include "tests/unit/bundle_fixture.h"

static void plan_cleanup(struct plan **plan)
{
	plan_free(*plan);
}
#define cleanup_plan __attribute__((cleanup(plan_cleanup)))

static const struct ground cmcp = { .gateway = GATEWAY_CMCP };
static const struct ground url = { .gateway = GATEWAY_URL };
static const struct ground raised = { .gateway = GATEWAY_URL, .raised = true };

static const struct {
	const char *scenario, *subject, *observer; /* observer NULL: every cell */
	const char *on_cmcp, *on_url, *on_raised; /* the reason, or NULL: it is planned */
} rows[] = {
	{ "baseline", "permitted", "deliveries", NULL, NULL, NULL },
	{ "baseline", "permitted", "decisions", "unsupported-decisions", "unsupported-decisions",
	  "unsupported-decisions" },
	/* Its mutant raises the ceiling. */
	{ "baseline", "denied", "deliveries", NULL, "unsupported-raised", NULL },
	{ "baseline", "tcp4", "tcp4", NULL, NULL, NULL },
	{ "mutation/sink-ceiling", "denied", "deliveries", NULL, "unsupported-raised", NULL },
	{ "mutation/sink-ceiling", "permitted", "deliveries", NULL, "unsupported-raised", NULL },
	{ "mutation/network", "tcp4", "tcp4", NULL, NULL, NULL },
	{ "failure/gateway-dies", NULL, NULL, "unsupported-peer", "unsupported-peer", "unsupported-peer" },
	{ "failure/gateway-dies-open", NULL, NULL, "unsupported-peer", "unsupported-peer", "unsupported-peer" },
	{ "failure/upstream-dies", "peer-acted", "deliveries", NULL, "unsupported-upstream", "unsupported-upstream" },
	{ "effects/order-gateway", NULL, NULL, "unsupported-upstream", "unsupported-upstream", "unsupported-upstream" },
	{ "failure/upstream-hangs", NULL, NULL, "unsupported-deadline", "unsupported-upstream",
	  "unsupported-upstream" },
	{ "failure/seventeen-calls", NULL, NULL, "unsupported-calls", NULL, NULL },
	{ "failure/seventeen-calls-delivered", NULL, NULL, "unsupported-calls", NULL, NULL },
	{ "lifecycle/gateway-paused", "loss_to_dead", "state", NULL, "unsupported-fault", "unsupported-fault" },
	{ "policy/revoked", "permitted-again", "deliveries", NULL, NULL, NULL },
	{ "telemetry/arguments", "in-key", "deliveries", NULL, NULL, NULL },
	{ "telemetry/arguments", "audit-allow", "audit", NULL, "unsupported-records", "unsupported-records" },
	{ "telemetry/arguments", "spans", "spans", NULL, "unsupported-records", "unsupported-records" },
	{ "telemetry/arguments", "upstream-children", "children", NULL, "unsupported-records", "unsupported-records" },
	{ "telemetry/arguments", "audit-intent", "audit", "unsupported-intent", "unsupported-records",
	  "unsupported-records" },
	/* Nobody can make the mutants that earn these. */
	{ "telemetry/arguments", "in-blocked", "deliveries", "unsupported-mutant", "unsupported-mutant",
	  "unsupported-mutant" },
	{ "telemetry/arguments", "in-key", "output", "unsupported-mutant", "unsupported-records",
	  "unsupported-records" },
	{ "telemetry/arguments-logged", NULL, NULL, "unsupported-mutant", "unsupported-mutant", "unsupported-mutant" },
	{ "telemetry/audit-fails", "audit-allow", "audit", NULL, "unsupported-records", "unsupported-records" },
	{ "telemetry/collector-fails", "peer-acted", "deliveries", NULL, "unsupported-records", "unsupported-records" },
	{ "telemetry/stays-raised", "slow", "deliveries", NULL, "unsupported-records", "unsupported-records" },
};

static const char *reason_in(const struct plan *plan, const struct scenario *scenario, const struct expectation *cell)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (plan->absent[i].scenario == scenario && plan->absent[i].expectation == cell)
			return plan->absent[i].reason;
	return NULL;
}

static bool same(const char *expected, const char *reason, const struct scenario *scenario,
		 const struct expectation *cell)
{
	bool ok = expected && reason ? strcmp(expected, reason) == 0 : !expected == !reason;

	if (!ok)
		fprintf(stderr, "%s %s@%s: %s instead of %s\n", scenario->id, cell->subject, cell->observer,
			reason ? reason : "planned", expected ? expected : "planned");
	return ok;
}

static void check_rows(const struct ground *ground)
{
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	const char *all = "all";
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT_EQUAL(plan_make(scenarios, count, &all, 1, 1, ground, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; plan && i < ARRAY_SIZE(rows); i++) {
		const struct scenario *scenario = scenario_find(scenarios, count, rows[i].scenario);
		const char *reason = ground == &cmcp ? rows[i].on_cmcp : rows[i].on_url;

		CU_ASSERT_PTR_NOT_NULL(scenario);
		if (ground == &raised)
			reason = rows[i].on_raised;
		for (size_t c = 0; scenario && c < scenario->expect_count; c++) {
			const struct expectation *cell = &scenario->expect[c];

			/* Of a whole scenario that is planned some cells may lack more. */
			if (rows[i].subject ? strcmp(cell->subject, rows[i].subject) == 0 &&
						      strcmp(cell->observer, rows[i].observer) == 0
					    : reason != NULL)
				CU_ASSERT(same(reason, reason_in(plan, scenario, cell), scenario, cell));
		}
	}
	/* An arm of which nothing can be proved is none. */
	for (size_t i = 0; plan && i < plan->arms_count; i++)
		CU_ASSERT_PTR_NULL(ground_unusable(ground, plan->arms[i].scenario));
}

static void test_rows(void)
{
	check_rows(&cmcp);
	check_rows(&url);
	check_rows(&raised);
	CU_ASSERT(ground_is_gateway_reason("unsupported-calls"));
	CU_ASSERT(!ground_is_gateway_reason("unsupported-"));
	CU_ASSERT(!ground_is_gateway_reason("ipv6-loopback"));
}

/* The embedded one makes everything. */
static void test_embedded(void)
{
	const struct ground embedded = { .gateway = GATEWAY_EMBEDDED };
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	const char *all = "all";
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT_EQUAL(plan_make(scenarios, count, &all, 1, 1, &embedded, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(plan && plan->absent_count == 0);
}

/* A host without a cluster makes no arm of effects/pg, and lists each of their cells; all else is as it was. */
static void test_no_postgres(void)
{
	static const char *const missing[] = { "postgres", NULL };
	const struct ground bare = { .missing = missing };
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	const char *all = "all";
	size_t count = 0, of_cluster = 0, scenarios_of_cluster = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT_EQUAL(plan_make(scenarios, count, &all, 1, 1, &bare, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; plan && i < count; i++) {
		const struct scenario *scenario = &scenarios[i];

		if (strncmp(scenario->id, "effects/pg/", strlen("effects/pg/")) != 0)
			continue;
		scenarios_of_cluster++;
		for (size_t c = 0; c < scenario->expect_count; c++, of_cluster++)
			CU_ASSERT(same("postgres", reason_in(plan, scenario, &scenario->expect[c]), scenario,
				       &scenario->expect[c]));
		for (size_t arm = 0; arm < plan->arms_count; arm++)
			CU_ASSERT_PTR_NOT_EQUAL(plan->arms[arm].scenario, scenario);
	}
	CU_ASSERT_EQUAL(scenarios_of_cluster, 4);
	CU_ASSERT(plan && plan->absent_count == of_cluster);
}

static void fixture_gateway(struct fixture *fixture, const struct ground *ground)
{
	fixture->gateway = (struct manifest_gateway){ .kind = (int)ground->gateway,
						      .version = "0.7.1",
						      .composed = ground->gateway != GATEWAY_URL,
						      .raised = ground->raised };
	if (ground->gateway == GATEWAY_CMCP)
		memset(fixture->gateway.sha256, 'd', HEX_SHA256 - 1);
}

/* What such a run seals, verify takes. */
static void test_bundles(void)
{
	static const struct ground *const grounds[] = { &cmcp, &url, &raised };
	static const char *const selectors[] = { "all", "baseline", "mutation/sink-ceiling", "lifecycle" };

	for (size_t i = 0; i < ARRAY_SIZE(grounds) * ARRAY_SIZE(selectors); i++) {
		const struct ground *ground = grounds[i % ARRAY_SIZE(grounds)];
		const char *selector = selectors[i / ARRAY_SIZE(grounds)];
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		if (ground == &url && strcmp(selector, "mutation/sink-ceiling") == 0)
			continue;
		CU_ASSERT(world_make_on(&fixture.world, selector, 1, ground));
		fixture_gateway(&fixture, ground);
		CU_ASSERT(fixture_write(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "", ""));
		CU_ASSERT_EQUAL(report.exit_code, 0);
	}
}

/* A cell is left out for what the manifest's gateway cannot make, and for nothing else. */
static void test_claimed(void)
{
	static const struct {
		const struct ground *planned, *said;
		const char *reason;
	} lies[] = {
		{ &cmcp, NULL, "'decisions' of 'baseline' is absent, and host and gateway have what it needs" },
		{ NULL, &cmcp, "'decisions' of 'baseline' is planned, and host and gateway lack what it needs" },
		{ &url, &raised, "'deliveries' of 'baseline' is absent, and host and gateway have what it needs" },
		{ &raised, &url, "'deliveries' of 'baseline' is planned, and host and gateway lack what it needs" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		CU_ASSERT(world_make_on(&fixture.world, "baseline", 1, lies[i].planned));
		if (lies[i].said)
			fixture_gateway(&fixture, lies[i].said);
		CU_ASSERT(fixture_write(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "references", lies[i].reason));
		CU_ASSERT_EQUAL(report.exit_code, 1);
	}
}

/* For another reason than its own. */
static void test_reason(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct verify_report report;

	CU_ASSERT(world_make_on(&fixture.world, "baseline", 1, &cmcp));
	fixture_gateway(&fixture, &cmcp);
	CU_ASSERT(fixture_write(&fixture));
	fixture_edit(&fixture, "coverage.json", "unsupported-decisions", "unsupported-calls");
	CU_ASSERT(fixture_rehash(&fixture));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "references", "is absent for another reason"));
	fixture_edit(&fixture, "coverage.json", "unsupported-calls", "unsupported-anything");
	CU_ASSERT(fixture_rehash(&fixture));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "canonical", "the cell has no such need"));
}

/* Nobody vouches for what somebody else composed, whatever the manifest says. */
static void test_vouched(void)
{
	static const struct {
		struct manifest_gateway gateway;
		bool hashed;
	} lies[] = {
		{ { .kind = GATEWAY_URL, .version = "unknown", .composed = true }, false },
		{ { .kind = GATEWAY_URL, .version = "unknown" }, true },
		{ { .kind = GATEWAY_EMBEDDED, .version = "1", .composed = false }, true },
		{ { .kind = GATEWAY_EMBEDDED, .version = "1", .composed = true }, false },
		{ { .kind = GATEWAY_EMBEDDED, .version = "1", .composed = true, .raised = true }, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		CU_ASSERT(world_make_on(&fixture.world, "baseline", 1,
					lies[i].gateway.kind == GATEWAY_URL ? &url : NULL));
		fixture.gateway = lies[i].gateway;
		if (lies[i].hashed)
			memset(fixture.gateway.sha256, 'd', HEX_SHA256 - 1);
		CU_ASSERT(fixture_write(&fixture));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "manifest", "gateway: not as its kind has it"));
		CU_ASSERT_EQUAL(report.exit_code, 1);
	}
}

/* A leak is one whoever could have earned its zero; the bundle that says so is a sound one. */
static void test_leak(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	const char *arm = "telemetry/arguments";
	struct world *world = &fixture.world;
	const struct verdict_cell *cell;
	struct error *err = NULL;
	struct observation *one;
	struct verify_report report;

	CU_ASSERT_EQUAL(world_load_whole(&world->scenarios, &world->scenarios_count, &err), 0);
	CU_ASSERT_EQUAL(plan_make(world->scenarios, world->scenarios_count, &arm, 1, 1, &cmcp, &world->plan, &err), 0);
	CU_ASSERT(test_no_error(&err) && fill(world));
	fixture_gateway(&fixture, &cmcp);
	one = see(world, arm, "in-key", "deliveries");
	CU_ASSERT_PTR_NOT_NULL(one);
	if (one)
		stray(world, one, "in-blocked", 1);
	CU_ASSERT(fixture_write(&fixture));
	CU_ASSERT(fixture_verify(&fixture, &report));
	CU_ASSERT(fixture_failed(&report, "", ""));
	CU_ASSERT_EQUAL(report.exit_code, 1);
	cell = cell_in(world, arm, 1, "in-blocked", "deliveries");
	CU_ASSERT(cell && cell->verdict == VERDICT_FAIL && world->verdicts->mutations_count == 0);
}

static CU_TestInfo tests[] = {
	{ "what is not planned, and why", test_rows },
	{ "the embedded gateway", test_embedded },
	{ "no cluster", test_no_postgres },
	{ "bundles of each kind", test_bundles },
	{ "cells left out for a gateway that is another", test_claimed },
	{ "cells left out for another reason", test_reason },
	{ "who composed it", test_vouched },
	{ "a leak where no mutant is", test_leak },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "ground", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("ground", suites);
}
