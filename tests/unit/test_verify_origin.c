/* What verify holds against what a manifest says of how the run came about. */
#include "reports/replay.h"
#include "tests/unit/bundle_fixture.h"

#define OTHER_RUN "ffffffffffffffffffffffffffffffff"
#define OTHER_SUMS "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
#define SOURCE "{\"runId\":\"" OTHER_RUN "\",\"sumsSha256\":\"" OTHER_SUMS "\"}"

static bool finds(struct fixture *fixture, const char *text)
{
	struct verify_report report;
	const struct verify_check *check;

	if (!fixture_verify(fixture, &report))
		return false;
	check = fixture_check(&report, "references");
	if (check->result == CHECK_FAIL ? text && strstr(check->reason, text) : !text && check->result == CHECK_PASS)
		return true;
	fprintf(stderr, "expected '%s', found: %d '%s'\n", text ? text : "", check->result, check->reason);
	return false;
}

static void test_good(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_fixture struct fixture twice = { .count = 0 };

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	CU_ASSERT(finds(&fixture, NULL));
	CU_ASSERT(world_make(&twice.world, "baseline", 2, NULL) && fixture_write(&twice));
	CU_ASSERT(finds(&twice, NULL));
}

static const struct {
	const char *from, *to, *text;
} rows[] = {
	{ "\"repeat\":1", "\"repeat\":2", "not each arm in each of the repetitions" },
	{ "{\"index\":1,\"of\":1}", "{\"index\":2,\"of\":1}", "there is none of that index" },
	{ "\"mergedFrom\":[]", "\"mergedFrom\":[" SOURCE "," SOURCE "]", "mergedFrom: merge.json says otherwise" },
	{ "\"selection\":[\"baseline\"]", "\"selection\":[\"all\"]",
	  "is only added, and the manifest's selection has it" },
	{ "\"selection\":[\"baseline\"]", "\"selection\":[\"baseline\",\"mutation/network\"]",
	  "is only added, and the manifest's selection has it" },
	{ "\"selection\":[\"baseline\"]", "\"selection\":[\"mutation\"]", "no word of it selects 'baseline'" },
	{ "\"selection\":[\"baseline\"]", "\"selection\":[]", "no word of it selects 'baseline'" },
	{ "\"selection\":[\"baseline\"]", "\"selection\":[\"base\"]", "no word of it selects 'baseline'" },
	{ "\"selection\":[\"baseline\"]", "\"selection\":[\"baseline\",\"telemetry\"]",
	  "word 2 selects no scenario of the bundle" },
	{ "\"repeat\":1,", "\"repeat\":1,\"replayOf\":" SOURCE ",", "replayOf: replay.json says otherwise" },
};

/* The manifest alone is another, and the sums follow it. */
static void test_manifest(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };

		CU_ASSERT(fixture_make(&fixture, "baseline"));
		fixture_edit(&fixture, "manifest.json", rows[i].from, rows[i].to);
		fixture_sums(&fixture);
		CU_ASSERT(finds(&fixture, rows[i].text));
	}
}

/* As it would be of another plan. */
static void test_plan(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	char other[HEX_SHA256];

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	memcpy(other, fixture.origin.plan, sizeof(other));
	other[0] = other[0] == '0' ? '1' : '0';
	fixture_edit(&fixture, "manifest.json", fixture.origin.plan, other);
	fixture_sums(&fixture);
	CU_ASSERT(finds(&fixture, "planSha256 is not of the plan"));
}

static void test_arms(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	fixture_edit(&fixture, "arms.json", "\"shard\":0", "\"shard\":1");
	CU_ASSERT(fixture_rehash(&fixture));
	CU_ASSERT(finds(&fixture, "arms[0] is not of the shard"));
}

/* One repetition of an arm is left out: of a run that says two, that is no plan. */
static void test_left_out(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct plan *plan;

	CU_ASSERT(world_make(&fixture.world, "baseline", 2, NULL));
	plan = fixture.world.plan;
	plan->arms_count--;
	fixture.world.arms_count--;
	while (fixture.world.observations_count > 0 &&
	       fixture.world.observations[fixture.world.observations_count - 1].repetition == 2 &&
	       strcmp(fixture.world.observations[fixture.world.observations_count - 1].arm,
		      plan->arms[plan->arms_count].scenario->id) == 0)
		fixture.world.observations_count--;
	CU_ASSERT(fixture_write(&fixture));
	CU_ASSERT(finds(&fixture, "not each arm in each of the repetitions"));
}

/* An arm that stands before its place. */
static void test_order(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	struct plan_arm arm;
	struct arm_record record;

	CU_ASSERT(world_make(&fixture.world, "baseline", 1, NULL));
	arm = fixture.world.plan->arms[0];
	fixture.world.plan->arms[0] = fixture.world.plan->arms[1];
	fixture.world.plan->arms[1] = arm;
	record = fixture.world.arms[0];
	fixture.world.arms[0] = fixture.world.arms[1];
	fixture.world.arms[1] = record;
	CU_ASSERT(fixture_write(&fixture));
	CU_ASSERT(finds(&fixture, "not in the order of a plan"));
}

static void write_replay(struct fixture *fixture, const char *run, const char *sums)
{
	cleanup_free struct replay *replay = calloc(1, sizeof(*replay));
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES);
	struct error *err = NULL;

	if (!replay)
		return;
	set(replay->of.run, sizeof(replay->of.run), run);
	set(replay->of.sums, sizeof(replay->of.sums), sums);
	CU_ASSERT_EQUAL(replay_encode(replay, &text, &err), 0);
	CU_ASSERT(test_no_error(&err));
	if (!fixture_has(fixture, "replay.json"))
		(void)fixture_add(fixture, "replay.json");
	fixture_set(fixture, "replay.json", buf_string(&text));
	CU_ASSERT(fixture_rehash(fixture));
}

static void test_replay(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	write_replay(&fixture, OTHER_RUN, OTHER_SUMS);
	CU_ASSERT(finds(&fixture, "replayOf: replay.json says otherwise"));
	set(fixture.origin.replay_of.run, NAME_MAX_SHORT + 1, OTHER_RUN);
	set(fixture.origin.replay_of.sums, HEX_SHA256, OTHER_SUMS);
	write_replay(&fixture, OTHER_RUN, OTHER_SUMS);
	CU_ASSERT(finds(&fixture, NULL));
	fixture.origin.replay_of.sums[0] = '0';
	write_replay(&fixture, OTHER_RUN, OTHER_SUMS);
	CU_ASSERT(finds(&fixture, "replay.json is of another bundle"));
	set(fixture.origin.replay_of.run, NAME_MAX_SHORT + 1, "0123456789abcdef0123456789abcdef");
	set(fixture.origin.replay_of.sums, HEX_SHA256, OTHER_SUMS);
	write_replay(&fixture, "0123456789abcdef0123456789abcdef", OTHER_SUMS);
	CU_ASSERT(finds(&fixture, "no run repeats itself"));
}

/* A run lists each program that can take part, and its gateway is one of them. */
static void test_programs(void)
{
	static const struct {
		const char *from, *to, *reason;
	} lies[] = {
		{ "\"name\":\"observer-tcp\"", "\"name\":\"observer-tcq\"", "no 'observer-tcp' in its place" },
		{ "\"name\":\"agent\"", "\"name\":\"agens\"", "no 'agent' in its place" },
		{ "\"sha256\":\"ccc", "\"sha256\":\"ddd", "gateway: not the program that is listed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report;

		CU_ASSERT(fixture_make(&fixture, "baseline"));
		fixture_edit(&fixture, "manifest.json", lies[i].from, lies[i].to);
		fixture_sums(&fixture);
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "manifest", lies[i].reason));
	}
}

static CU_TestInfo tests[] = {
	{ "as it was", test_good },
	{ "a manifest that says otherwise", test_manifest },
	{ "another plan", test_plan },
	{ "arms of another shard", test_arms },
	{ "a repetition that is left out", test_left_out },
	{ "arms out of their order", test_order },
	{ "replays", test_replay },
	{ "the programs of a run", test_programs },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "verify_origin", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify_origin", suites);
}
