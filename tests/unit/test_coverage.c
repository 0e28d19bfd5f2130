/* coverage.json and scenarios.json: what is written is read again, and a plan that was tampered with is refused. */
#include "core/fd.h"
#include "reports/coverage.h"
#include "tests/unit/judge_world.h"

#define TEXT_BYTES ((size_t)4 * MIB)

static const char *const no_ipv6[] = { "ipv6-loopback", NULL };

static int same(const struct buf *a, const struct buf *b)
{
	return a->length == b->length && strcmp(buf_string(a), buf_string(b)) == 0;
}

static void plan_cleanup(struct plan **plan)
{
	plan_free(*plan);
}
#define cleanup_plan __attribute__((cleanup(plan_cleanup)))

static void test_round_trip(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf scenarios = BUF(TEXT_BYTES), coverage = BUF(TEXT_BYTES);
	cleanup_buf struct buf scenarios_again = BUF(TEXT_BYTES), coverage_again = BUF(TEXT_BYTES);
	cleanup_free struct scenario *read = NULL;
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT(world_make(&world, "baseline", 2, no_ipv6));
	CU_ASSERT_EQUAL(scenarios_encode(world.plan, &scenarios, &err), 0);
	CU_ASSERT_EQUAL(coverage_encode(world.plan, &coverage, &err), 0);
	CU_ASSERT_EQUAL(scenarios_decode(buf_string(&scenarios), scenarios.length, &read, &count, &err), 0);
	CU_ASSERT(count > 1 && count < world.scenarios_count);
	CU_ASSERT_EQUAL(coverage_decode(buf_string(&coverage), coverage.length, read, count, &plan, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(plan->arms_count, world.plan->arms_count);
	CU_ASSERT_EQUAL(plan->absent_count, world.plan->absent_count);
	CU_ASSERT(plan->absent_count > 0);
	CU_ASSERT_EQUAL(scenarios_encode(plan, &scenarios_again, &err), 0);
	CU_ASSERT_EQUAL(coverage_encode(plan, &coverage_again, &err), 0);
	CU_ASSERT(same(&scenarios, &scenarios_again));
	CU_ASSERT(same(&coverage, &coverage_again));
#define HOLDS(text, part) CU_ASSERT_PTR_NOT_NULL(strstr(buf_string(text), part))
	HOLDS(&coverage, "{\"added\":false,\"repetition\":1,\"scenario\":\"baseline\"}");
	HOLDS(&coverage, "{\"added\":true,\"repetition\":2,\"scenario\":\"mutation/network\"}");
	HOLDS(&coverage, "{\"observer\":\"tcp6\",\"reason\":\"ipv6-loopback\",\"scenario\":\"baseline\",\"status\":"
			 "\"declared_untested\","
			 "\"subject\":\"tcp6\"}");
	HOLDS(&coverage, "\"untestedChannels\":[\"timing\",");
	HOLDS(&coverage, "\"doesNotEstablish\":[\"non-bypassability\",");
	HOLDS(&coverage, "\"assumptions\":[\"trusted-host-kernel\",");
	HOLDS(&coverage, "\"bridge-or-watchdog-survives\"");
#undef HOLDS
}

/* A bundle of format 1.0 says no status, and is made again without one. */
static void test_without_status(void)
{
	static const char status[] = "\"status\":\"declared_untested\",";
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf coverage = BUF(TEXT_BYTES), older = BUF(TEXT_BYTES), again = BUF(TEXT_BYTES);
	cleanup_plan struct plan *plan = NULL;
	struct error *err = NULL;
	const char *from, *at;
	size_t removed = 0;

	CU_ASSERT(world_make(&world, "baseline", 1, no_ipv6));
	CU_ASSERT_EQUAL(coverage_encode(world.plan, &coverage, &err), 0);
	for (from = buf_string(&coverage); (at = strstr(from, status)); from = at + strlen(status)) {
		(void)buf_add(&older, from, (size_t)(at - from));
		removed++;
	}
	(void)buf_text(&older, from);
	CU_ASSERT(removed > 0);
	CU_ASSERT_EQUAL(
		coverage_decode(buf_string(&older), older.length, world.scenarios, world.scenarios_count, &plan, &err),
		0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(plan && coverage_encode(plan, &again, &err) == 0);
	CU_ASSERT(same(&older, &again));
}

struct tampering {
	const char *from, *to;
	enum error_code code;
	const char *reason;
};

static void edit(const struct buf *text, const struct tampering *row, struct buf *out)
{
	const char *at = strstr(buf_string(text), row->from);

	if (!at)
		abort();
	buf_add(out, text->data, (size_t)(at - text->data));
	buf_text(out, row->to);
	buf_text(out, at + strlen(row->from));
}

static void test_coverage_refused(void)
{
	static const struct tampering rows[] = {
		{ "\"repetition\":2,\"scenario\":\"baseline\"", "\"repetition\":1,\"scenario\":\"baseline\"",
		  ERROR_INPUT, "planned twice" },
		{ "\"repetition\":1,\"scenario\":\"baseline\"", "\"repetition\":1,\"scenario\":\"unknown\"",
		  ERROR_INPUT, "arms[0]: no such scenario is in the bundle" },
		{ "\"repetition\":1", "\"repetition\":0", ERROR_INPUT, "arms[0].repetition" },
		{ "\"observer\":\"tcp6\"", "\"observer\":\"tcp9\"", ERROR_INPUT,
		  "absent[0]: no such cell is in the bundle" },
		/* A cell without a need cannot be absent: so would a failure be hidden. */
		{ "\"observer\":\"tcp6\",\"reason\":\"ipv6-loopback\",\"scenario\":\"baseline\",\"status\":"
		  "\"declared_untested\",\"subject\":\"tcp6\"",
		  "\"observer\":\"dns\",\"reason\":\"ipv6-loopback\",\"scenario\":\"baseline\",\"status\":"
		  "\"declared_untested\",\"subject\":\"dns\"",
		  ERROR_INPUT, "absent[0]: the cell has no such need" },
		{ "\"reason\":\"ipv6-loopback\"", "\"reason\":\"ipv7-loopback\"", ERROR_INPUT,
		  "absent[0]: the cell has no such need" },
		{ "\"observer\":\"capture-host\"", "\"observer\":\"tcp6\"", ERROR_INPUT, "absent[1]: named twice" },
		/* What this host lacks is not what a gateway cannot make. */
		{ "\"declared_untested\"", "\"unsupported\"", ERROR_INPUT, "absent[0].status: not that of its reason" },
		{ "\"declared_untested\"", "\"excluded\"", ERROR_INPUT, "absent[0].status: not that of its reason" },
		{ "{\"absent\"", "{\"extra\":1,\"absent\"", ERROR_INPUT, "unknown key 'extra'" },
		{ "coverage/1", "coverage/2", ERROR_INPUT, "schema: unknown value" },
		{ "{\"absent\"", "{{\"absent\"", ERROR_INPUT, "coverage.json" },
	};
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct error *err = NULL;

	CU_ASSERT(world_make(&world, "baseline", 2, no_ipv6));
	CU_ASSERT_EQUAL(coverage_encode(world.plan, &text, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf edited = BUF(TEXT_BYTES);
		cleanup_plan struct plan *plan = NULL;

		edit(&text, &rows[i], &edited);
		CU_ASSERT(coverage_decode(buf_string(&edited), edited.length, world.scenarios, world.scenarios_count,
					  &plan, &err) < 0);
		CU_ASSERT(test_error(&err, rows[i].code, rows[i].reason));
		CU_ASSERT_PTR_NULL(plan);
	}
}

static void test_scenarios_refused(void)
{
	static const struct tampering rows[] = {
		{ "\"id\":\"baseline\"", "\"id\":\"zzz\"", ERROR_INPUT, "scenarios[1]: not sorted by id" },
		{ "scenarios/1", "scenarios/2", ERROR_INPUT, "must be an object of 'schema' and 'scenarios' alone" },
		{ "{\"scenarios\"", "{\"more\":0,\"scenarios\"", ERROR_INPUT, "must be an object of" },
		{ "\"op\":\"eq\"", "\"op\":\"ne\"", ERROR_INPUT, "unknown value" },
		{ "\"value\":0", "\"value\":-1", ERROR_INPUT, "value" },
	};
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf text = BUF(TEXT_BYTES);
	struct scenario *read = NULL;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT(world_make(&world, "baseline", 1, NULL));
	CU_ASSERT_EQUAL(scenarios_encode(world.plan, &text, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf edited = BUF(TEXT_BYTES);

		edit(&text, &rows[i], &edited);
		CU_ASSERT(scenarios_decode(buf_string(&edited), edited.length, &read, &count, &err) < 0);
		CU_ASSERT(test_error(&err, rows[i].code, rows[i].reason));
		CU_ASSERT_PTR_NULL(read);
	}
	CU_ASSERT(scenarios_decode("{\"schema\":\"confinement-evidence/scenarios/1\",\"scenarios\":[]}", 60, &read,
				   &count, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "must have 1 to"));
}

static CU_TestInfo tests[] = {
	{ "round trip", test_round_trip },
	{ "without a status", test_without_status },
	{ "coverage refused", test_coverage_refused },
	{ "scenarios refused", test_scenarios_refused },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "coverage", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("coverage", suites);
}
