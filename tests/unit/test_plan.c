/* Plans: what a selection adds, what is absent, and the order. */
#include "oracle/plan.h"

#include <stdlib.h>

#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

static const char *const no_ipv6[] = { "ipv6-loopback", NULL };
static const struct ground without_ipv6 = { .missing = no_ipv6 };

static void plan_cleanup(struct plan **plan)
{
	plan_free(*plan);
}
#define cleanup_plan __attribute__((cleanup(plan_cleanup)))

/* The ids of the plan in order, "+" before what was added, "#N" after those of a later repetition. */
static void describe(const struct plan *plan, struct buf *out)
{
	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct plan_arm *arm = &plan->arms[i];

		buf_printf(out, "%s%s%s", i ? " " : "", arm->added ? "+" : "", arm->scenario->id);
		if (arm->repetition > 1)
			buf_printf(out, "#%d", (int)arm->repetition);
	}
}

static void test_selections(void)
{
#define MUTANTS(mark)                                                                                                  \
	" " mark "mutation/log-driver " mark "mutation/network " mark "mutation/network-bridge " mark                  \
	"mutation/read-only " mark "mutation/sink-ceiling"
	static const struct {
		const char *selectors[4];
		int repetitions;
		const char *arms;
	} rows[] = {
		{ { "all" },
		  1,
		  "baseline baseline-again lifecycle/bridge-killed lifecycle/watchdog-paused mutation/ack "
		  "mutation/log-driver mutation/network mutation/network-bridge mutation/read-only "
		  "mutation/sink-ceiling "
		  "mutation/watchdog" },
		{ { "baseline" }, 1, "baseline" MUTANTS("+") },
		{ { "baseline-again" }, 1, "+baseline baseline-again" MUTANTS("+") },
		{ { "baseline", "mutation/network" },
		  1,
		  "baseline +mutation/log-driver mutation/network +mutation/network-bridge +mutation/read-only "
		  "+mutation/sink-ceiling" },
		/* the control's own zeros are planned, so their mutants are too */
		{ { "mutation/read-only" },
		  1,
		  "+baseline +mutation/log-driver +mutation/network +mutation/network-bridge mutation/read-only "
		  "+mutation/sink-ceiling" },
		{ { "lifecycle/bridge-killed" }, 1, "lifecycle/bridge-killed +mutation/watchdog" },
		{ { "lifecycle" },
		  1,
		  "lifecycle/bridge-killed lifecycle/watchdog-paused +mutation/ack +mutation/watchdog" },
		{ { "mutation/ack" }, 1, "+lifecycle/watchdog-paused mutation/ack" },
		{ { "mutation/ack", "mutation/ack" }, 1, "+lifecycle/watchdog-paused mutation/ack" },
		{ { "mutation" },
		  1,
		  "+baseline +lifecycle/bridge-killed +lifecycle/watchdog-paused mutation/ack mutation/log-driver "
		  "mutation/network mutation/network-bridge mutation/read-only mutation/sink-ceiling "
		  "mutation/watchdog" },
		{ { "mutation/watchdog" },
		  2,
		  "+lifecycle/bridge-killed mutation/watchdog +lifecycle/bridge-killed#2 mutation/watchdog#2" },
	};
#undef MUTANTS
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load(&scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_plan struct plan *plan = NULL;
		cleanup_buf struct buf arms = BUF(4096);
		size_t selectors = 0;

		while (rows[i].selectors[selectors])
			selectors++;
		CU_ASSERT_EQUAL(plan_make(scenarios, count, rows[i].selectors, selectors, rows[i].repetitions, NULL,
					  &plan, &err),
				0);
		CU_ASSERT(test_no_error(&err));
		if (!plan)
			continue;
		describe(plan, &arms);
		CU_ASSERT_STRING_EQUAL(buf_string(&arms), rows[i].arms);
		if (strcmp(buf_string(&arms), rows[i].arms) != 0)
			fprintf(stderr, "planned: %s\n", buf_string(&arms));
		CU_ASSERT_EQUAL(plan->absent_count, 0);
	}
}

static void test_refused(void)
{
	static const struct {
		const char *selector;
		int repetitions;
		const char *part;
	} rows[] = {
		{ "moon", 1, "'moon'" },
		{ "mutation/", 1, "'mutation/'" },
		{ "", 1, "''" },
		{ "base", 1, "'base'" },
		{ "bad\nname", 1, "'bad?name'" },
		{ "all", 0, "repetitions" },
		{ "all", PLAN_ARMS_MAX + 1, "repetitions" },
		{ NULL, 1, "no scenario is selected" },
	};
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	const char *all = "all", *whole = "baseline";
	int repetitions;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load(&scenarios, &count, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT(plan_make(scenarios, count, &rows[i].selector, rows[i].selector != NULL, rows[i].repetitions,
				    NULL, &plan, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_USAGE, rows[i].part));
	}
	CU_ASSERT(plan_make(scenarios, count, &all, 1, PLAN_ARMS_MAX, NULL, &plan, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "arms"));
	CU_ASSERT_PTR_NULL(plan);
	/* As many arms as a run may have, and more cells than its bundle would. */
	CU_ASSERT_EQUAL(plan_make(scenarios, count, &whole, 1, 1, NULL, &plan, &err), 0);
	CU_ASSERT(plan && plan->cells_count * (PLAN_ARMS_MAX / plan->arms_count) > BUNDLE_CELLS_MAX);
	repetitions = plan ? PLAN_ARMS_MAX / (int)plan->arms_count : 1;
	plan_free(steal_pointer(&plan));
	CU_ASSERT(plan_make(scenarios, count, &whole, 1, repetitions, NULL, &plan, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "cells"));
	CU_ASSERT_PTR_NULL(plan);
}

static void test_absent(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	const char *all = "all";
	size_t count = 0, lacking = 0;

	CU_ASSERT_EQUAL(world_load(&scenarios, &count, &err), 0);
	CU_ASSERT_EQUAL(plan_make(scenarios, count, &all, 1, 3, &without_ipv6, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!plan)
		return;
	CU_ASSERT_EQUAL(plan->arms_count, 3 * count);
	for (size_t i = 0; i < count; i++) {
		for (size_t c = 0; c < scenarios[i].expect_count; c++) {
			const struct expectation *cell = &scenarios[i].expect[c];

			bool lacks = strcmp(cell->needs, no_ipv6[0]) == 0;

			CU_ASSERT_EQUAL(plan_has(plan, &scenarios[i], cell), !lacks);
			lacking += lacks;
		}
	}
	CU_ASSERT_EQUAL(plan->absent_count, lacking);
	CU_ASSERT_EQUAL(lacking, 7);
	CU_ASSERT_STRING_EQUAL(plan->absent[0].reason, "ipv6-loopback");
	CU_ASSERT_STRING_EQUAL(plan->absent[0].status, "declared_untested");
}

static const char *const words[] = { "::1 is not there", NULL };
static const struct ground with_words = { .missing = no_ipv6, .mends = words };

/* A mutant that can flip nothing here is not planned, and nothing of a control that has no other cell. */
static void test_unusable_mutant(void)
{
	cleanup_free struct scenario *scenarios = calloc(3, sizeof(*scenarios));
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	const char *all = "all", *mutant = "mutant";
	struct expectation zero = { .subject = "tcp6", .observer = "tcp6", .needs = "ipv6-loopback" };
	struct expectation one = {
		.subject = "tcp6", .observer = "tcp6", .needs = "ipv6-loopback", .value = 1, .flips = true
	};
	struct expectation works = {
		.subject = "permitted", .observer = "deliveries", .class = CELL_CONTROL, .value = 1
	};

	CU_ASSERT_PTR_NOT_NULL(scenarios);
	if (!scenarios)
		return;
	snprintf(scenarios[0].id, sizeof(scenarios[0].id), "base");
	snprintf(scenarios[1].id, sizeof(scenarios[1].id), "mutant");
	snprintf(scenarios[1].control, sizeof(scenarios[1].control), "base");
	scenarios[0].expect[0] = zero;
	scenarios[0].expect_count = 1;
	scenarios[1].expect[0] = one;
	scenarios[1].expect[1] = works;
	scenarios[1].expect_count = 2;
	CU_ASSERT(plan_make(scenarios, 2, &all, 1, 1, &without_ipv6, &plan, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_USAGE, "no cell of the selected scenarios: ipv6-loopback"));
	CU_ASSERT(plan_make(scenarios, 2, &all, 1, 1, &with_words, &plan, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_USAGE, "no cell of the selected scenarios: ::1 is not there"));
	CU_ASSERT(plan_make(scenarios, 2, &mutant, 1, 1, &without_ipv6, &plan, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_USAGE, "no cell"));

	scenarios[0].expect[1] = works;
	scenarios[0].expect_count = 2;
	CU_ASSERT_EQUAL(plan_make(scenarios, 2, &all, 1, 1, &without_ipv6, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(plan && plan->arms_count == 1 && plan->arms[0].scenario == &scenarios[0]);
	CU_ASSERT(plan && plan->absent_count == 3 && !plan_has(plan, &scenarios[1], &scenarios[1].expect[1]));
	plan_free(plan);
	plan = NULL;
	CU_ASSERT_EQUAL(plan_make(scenarios, 2, &all, 1, 1, NULL, &plan, &err), 0);
	CU_ASSERT(plan && plan->arms_count == 2 && plan->absent_count == 0);
	plan_free(plan);
	plan = NULL;
	CU_ASSERT(plan_make(&scenarios[1], 1, &mutant, 1, 1, NULL, &plan, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "'base' is not there"));
}

/* Mutants come last and faults before them, whatever the ids; what earns only absent cells is not added. */
static void test_order_and_needs(void)
{
	cleanup_free struct scenario *scenarios = calloc(3, sizeof(*scenarios));
	cleanup_plan struct plan *plan = NULL;
	struct scenario *mutant = &scenarios[0], *fault = &scenarios[1], *base = &scenarios[2];
	struct expectation works = {
		.subject = "permitted", .observer = "deliveries", .class = CELL_CONTROL, .value = 1
	};
	struct error *err = NULL;
	const char *selector = "all";

	CU_ASSERT_PTR_NOT_NULL(scenarios);
	if (!scenarios)
		return;
	snprintf(mutant->id, sizeof(mutant->id), "a");
	snprintf(mutant->control, sizeof(mutant->control), "c");
	snprintf(fault->id, sizeof(fault->id), "b");
	snprintf(base->id, sizeof(base->id), "c");
	fault->faults_count = 1;
	fault->expect[fault->expect_count++] = works;
	base->expect[base->expect_count++] = works;
	base->expect[base->expect_count++] =
		(struct expectation){ .subject = "dns", .observer = "dns", .needs = "ipv6-loopback" };
	mutant->expect[mutant->expect_count++] =
		(struct expectation){ .subject = "dns", .observer = "dns", .value = 1, .flips = true };
	CU_ASSERT_EQUAL(plan_make(scenarios, 3, &selector, 1, 1, NULL, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(plan && plan->arms_count == 3 && plan->arms[0].scenario == base && plan->arms[1].scenario == fault &&
		  plan->arms[2].scenario == mutant);
	plan_free(plan);
	plan = NULL;
	selector = "c";
	CU_ASSERT_EQUAL(plan_make(scenarios, 3, &selector, 1, 1, &without_ipv6, &plan, &err), 0);
	CU_ASSERT(plan && plan->arms_count == 1 && plan->arms[0].scenario == base);
	plan_free(plan);
	plan = NULL;
	snprintf(mutant->expect[0].needs, sizeof(mutant->expect[0].needs), "ipv6-loopback");
	base->expect[1].needs[0] = '\0';
	CU_ASSERT_EQUAL(plan_make(scenarios, 3, &selector, 1, 1, &without_ipv6, &plan, &err), 0);
	CU_ASSERT(plan && plan->arms_count == 1 && plan->absent_count == 0);
	CU_ASSERT(test_no_error(&err));
}

/* What a plan's cells are seen by, of arms that were added too. */
static void test_observes(void)
{
	static const char *const without_postgres[] = { "postgres", NULL };
	static const struct {
		const char *selector;
		const char *const *absent;
		bool observes;
	} rows[] = {
		{ "baseline", NULL, false },
		{ "effects/pg/order-network", NULL, true },
		{ "effects", NULL, true },
		{ "effects", without_postgres, false },
	};
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_plan struct plan *plan = NULL;
		const struct ground ground = { .missing = rows[i].absent };

		CU_ASSERT_EQUAL(plan_make(scenarios, count, &rows[i].selector, 1, 1, &ground, &plan, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(plan && plan_observes(plan, "orders-pg"), rows[i].observes);
	}
}

/* Of the whole tree: no selection brings in an arm that hurts the engine, but that of its group or its id. */
static void test_hurting(void)
{
	static const struct {
		const char *selector;
		bool hurts;
	} rows[] = {
		{ "all", false },      { "lifecycle", false }, { "mutation", false },
		{ "baseline", false }, { "engine", true },     { "engine/killed", true },
	};
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_plan struct plan *plan = NULL;
		size_t hurting = 0;

		CU_ASSERT_EQUAL(plan_make(scenarios, count, &rows[i].selector, 1, 1, NULL, &plan, &err), 0);
		CU_ASSERT(test_no_error(&err));
		for (size_t arm = 0; plan && arm < plan->arms_count; arm++)
			hurting += scenario_hurts_engine(plan->arms[arm].scenario);
		CU_ASSERT_EQUAL(hurting > 0, rows[i].hurts);
		CU_ASSERT_EQUAL(plan && plan_hurts_engine(plan), rows[i].hurts);
		CU_ASSERT_EQUAL(plan ? plan_jobs(plan, 5) : 0, rows[i].hurts ? 1 : 5);
	}
}

static CU_TestInfo tests[] = {
	{ "what a selection adds", test_selections },
	{ "refused selections", test_refused },
	{ "absent cells", test_absent },
	{ "a mutant that can flip nothing", test_unusable_mutant },
	{ "order and needs", test_order_and_needs },
	{ "what it is seen by", test_observes },
	{ "what hurts the engine", test_hurting },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "plan", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("plan", suites);
}
