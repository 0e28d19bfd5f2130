/* What verify says beside the verdict: shards, merged runs, replays, and whose scenarios and declarations are. */
#include "reports/replay.h"
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/declaration_world.h"

#define SHIPPED_MAX 512

struct shipped {
	struct verify_scenario rows[SHIPPED_MAX];
	size_t count;
	struct verify_declaration declared[EFFECTS_MAX];
	size_t declared_count;
};

/* Those of the tree. */
static void ship(const struct world *world, struct shipped *shipped)
{
	struct error *err = NULL;

	shipped->count = 0;
	for (size_t i = 0; i < world->scenarios_count && i < SHIPPED_MAX; i++)
		CU_ASSERT_EQUAL(verify_scenario_of(&world->scenarios[i], &shipped->rows[shipped->count++], &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* The report, and its text. */
static void verify(struct fixture *fixture, const struct shipped *shipped, bool quiet, struct verify_report *report,
		   struct buf *text)
{
	const struct verify_options options = { .shipped = shipped ? shipped->rows : NULL,
						.shipped_count = shipped ? shipped->count : 0,
						.declared = shipped ? shipped->declared : NULL,
						.declared_count = shipped ? shipped->declared_count : 0 };
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES);
	cleanup_fd int fd = memfd_create("bundle", MFD_CLOEXEC);
	struct error *err = NULL;

	CU_ASSERT(fixture_pack(fixture, &archive));
	CU_ASSERT(fd >= 0 && fd_write_all(fd, archive.data, archive.length, NEVER, &err) == 0);
	CU_ASSERT(lseek(fd, 0, SEEK_SET) == 0 && verify_bundle(fd, &options, report, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	verify_text(report, quiet, text);
}

static bool says(const struct buf *text, const char *words)
{
	if (strstr(buf_string(text), words))
		return true;
	fprintf(stderr, "expected '%s' in:\n%s", words, buf_string(text));
	return false;
}

/* Word for word, and then quietly nothing. */
static void test_shipped(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES), quiet = BUF(FIXTURE_BYTES), none = BUF(FIXTURE_BYTES);
	cleanup_free struct shipped *shipped = calloc(1, sizeof(*shipped));
	struct verify_report report = { .exit_code = 3 };

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	ship(&fixture.world, shipped);
	verify(&fixture, shipped, false, &report, &text);
	CU_ASSERT_EQUAL(report.exit_code, 0);
	CU_ASSERT(report.remarks.compared && report.remarks.same == report.remarks.scenarios);
	CU_ASSERT(report.remarks.same > 1 && !report.remarks.all && report.remarks.lacking == 0);
	CU_ASSERT(says(&text, " are word for word those that come with this program\nverdict, made again: pass"));
	verify(&fixture, shipped, true, &report, &quiet);
	CU_ASSERT_PTR_NULL(strstr(buf_string(&quiet), "scenarios:"));
	verify(&fixture, NULL, true, &report, &none);
	CU_ASSERT(!report.remarks.compared && report.exit_code == 0);
	CU_ASSERT(says(&none, ", and none are installed to compare them with\n"));
}

/* One of the same id says something else here, and one is not here. */
static void test_others(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES);
	cleanup_free struct shipped *shipped = calloc(1, sizeof(*shipped));
	struct verify_report report = { .exit_code = 3 };

	CU_ASSERT(fixture_make(&fixture, "baseline"));
	for (size_t i = 0; i < fixture.world.scenarios_count; i++)
		if (strcmp(fixture.world.scenarios[i].id, "mutation/network") == 0)
			set(fixture.world.scenarios[i].title, TITLE_MAX, "Something else");
	ship(&fixture.world, shipped);
	for (size_t i = 0; i < shipped->count; i++)
		if (strcmp(shipped->rows[i].id, "mutation/read-only") == 0)
			set(shipped->rows[i].id, sizeof(shipped->rows[i].id), "mutation/read-write");
	verify(&fixture, shipped, true, &report, &text);
	CU_ASSERT_EQUAL(report.exit_code, 0);
	CU_ASSERT_EQUAL(report.remarks.differ, 1);
	CU_ASSERT_EQUAL(report.remarks.own, 1);
	CU_ASSERT_EQUAL(report.remarks.same + 2, report.remarks.scenarios);
	CU_ASSERT(says(&text, ", 1 have another text, 1 are the bundle's own\n"));
}

/* A run of all, with a program that has two more: one of them hurts the engine, and "all" does not mean it. */
static void test_lacking(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES);
	cleanup_free struct shipped *shipped = calloc(1, sizeof(*shipped));
	struct verify_report report = { .exit_code = 3 };

	CU_ASSERT(fixture_make(&fixture, "all"));
	ship(&fixture.world, shipped);
	shipped->rows[shipped->count++] = (struct verify_scenario){ .id = "policy/new", .of_all = true };
	shipped->rows[shipped->count++] = (struct verify_scenario){ .id = "engine/new", .of_all = false };
	verify(&fixture, shipped, true, &report, &text);
	CU_ASSERT_EQUAL(report.exit_code, 0);
	CU_ASSERT(report.remarks.all && report.remarks.lacking == 1);
	CU_ASSERT(says(&text, "; the run was of all, and 1 that come with this program are not there\n"));
}

/* Of a bundle with the tree's declarations, which are four here: beside the two, one of another text and one more. */
static void test_declarations(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES), same = BUF(FIXTURE_BYTES), quiet = BUF(FIXTURE_BYTES);
	cleanup_buf struct buf none = BUF(FIXTURE_BYTES);
	cleanup_free struct shipped *shipped = calloc(1, sizeof(*shipped));
	struct verify_report report = { .exit_code = 3 };
	struct verify_declared *declared = &report.remarks.declared;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(declared_load(&fixture.effects, &fixture.effects_count, &err), 0);
	CU_ASSERT(test_no_error(&err) && fixture_make(&fixture, "baseline"));
	CU_ASSERT_EQUAL(fixture.effects_count, 2);
	ship(&fixture.world, shipped);
	for (size_t i = 0; i < fixture.effects_count && i < 2; i++) {
		struct verify_declaration *one = &shipped->declared[shipped->declared_count++];

		set(one->id, sizeof(one->id), fixture.effects[i].id);
		CU_ASSERT_EQUAL(effect_digest(&fixture.effects[i], one->sha256, &err), 0);
	}
	verify(&fixture, shipped, false, &report, &same);
	CU_ASSERT(declared->compared && declared->same == 2 && declared->count == 2 && declared->differ_count == 0);
	CU_ASSERT(says(&same,
		       "\ndeclarations: 2 of 2 are word for word those that come with this program\nverdict, made"));
	verify(&fixture, shipped, true, &report, &quiet);
	CU_ASSERT_PTR_NULL(strstr(buf_string(&quiet), "declarations:"));
	shipped->declared[0].sha256[0] ^= 1;
	set(shipped->declared[1].id, sizeof(shipped->declared[1].id), "another");
	verify(&fixture, shipped, true, &report, &text);
	CU_ASSERT_EQUAL(report.exit_code, 0);
	CU_ASSERT(declared->same == 0 && declared->own == 1 && declared->differ_count == 1);
	CU_ASSERT(says(&text, "declarations: 0 of 2 are word for word those that come with this program, order_create "
			      "has another text, 1 are the bundle's own\n"));
	verify(&fixture, NULL, true, &report, &none);
	CU_ASSERT(!declared->compared);
	CU_ASSERT(says(&none, "\ndeclarations: 2, and none are installed to compare them with\n"));
}

static void test_shard(void)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES);
	struct verify_report report = { .exit_code = 3 };

	fixture.origin.shard = (struct plan_shard){ .index = 1, .of = 64 };
	CU_ASSERT(fixture_make(&fixture, "all"));
	verify(&fixture, NULL, true, &report, &text);
	CU_ASSERT_EQUAL(report.exit_code, 0);
	CU_ASSERT(report.remarks.shard.index == 1 && report.remarks.shard.of == 64 && !report.remarks.all);
	CU_ASSERT(says(&text, "this is shard 1 of 64 of a plan: it says nothing of the other shards"));
	CU_ASSERT(strstr(buf_string(&text), "this is shard") < strstr(buf_string(&text), "verdict, made again"));
}

/* A shard names its plan. */
static void test_shard_of_none(void)
{
	static const char *const plans[] = { "\"planSha256\":null",
					     "\"planSha256\":\"00000000000000000000000000000000000000000000000000000000"
					     "00000000\"" };

	for (size_t i = 0; i < ARRAY_SIZE(plans); i++) {
		cleanup_fixture struct fixture fixture = { .count = 0 };
		struct verify_report report = { .exit_code = 3 };
		char was[HEX_SHA256 + 16];

		fixture.origin.shard = (struct plan_shard){ .index = 1, .of = 64 };
		CU_ASSERT(fixture_make(&fixture, "baseline"));
		snprintf(was, sizeof(was), "\"planSha256\":\"%s\"", fixture.origin.plan);
		fixture_edit(&fixture, "manifest.json", was, plans[i]);
		fixture_sums(&fixture);
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(fixture_failed(&report, "references", "planSha256: a shard is of a plan, and names it"));
	}
}

/* The lines alone. */
static void test_words(void)
{
	struct verify_report report = { .recomputed = true };
	cleanup_buf struct buf text = BUF(FIXTURE_BYTES), part = BUF(FIXTURE_BYTES);

	report.remarks = (struct verify_remarks){ .merged = 3,
						  .replay = true,
						  .replay_of = "cafe",
						  .replay_outcome = replay_outcome_names[REPLAY_DIVERGED] };
	verify_text(&report, true, &text);
	CU_ASSERT(says(&text, "this is merged from the bundles of 3 shards\n"));
	CU_ASSERT(says(&text, "this is a replay of the run cafe, and its own word for the outcome is DIVERGED\n"));
	report.remarks.replay_part = true;
	verify_text(&report, true, &part);
	CU_ASSERT(says(&part, "this is a replay of one scenario of run cafe"));
}

static CU_TestInfo tests[] = {
	{ "scenarios that come with the program", test_shipped },
	{ "other scenarios", test_others },
	{ "scenarios that are not there", test_lacking },
	{ "declarations", test_declarations },
	{ "a shard", test_shard },
	{ "a shard of no plan", test_shard_of_none },
	{ "merged and replayed", test_words },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "verify_remarks", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify_remarks", suites);
}
