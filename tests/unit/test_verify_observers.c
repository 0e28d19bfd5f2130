/* Observers that the declarations of a bundle bring: each one's program is listed, and nothing else is behind the run's
 * own. */
#include "reports/claims.h"
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/declaration_world.h"

/* The first effect has an observer more, which is this program; and with `again` a second one that is the same. */
static int make(struct fixture *fixture, const char *program, bool again)
{
	int made = declared_make(&fixture->world, "effects", &fixture->effects, &fixture->effects_count);
	struct effect *effect = fixture->effects;
	int brought = again ? 2 : 1;

	for (int i = 0; made && program && i < brought; i++) {
		struct effect_observer *observer = &effect->observers[effect->observers_count++];

		*observer = (struct effect_observer){ .inputs_count = 1, .sees_count = 1 };
		snprintf(observer->id, sizeof(observer->id), "kept-%d", i);
		snprintf(observer->program, sizeof(observer->program), "%s", program);
		snprintf(observer->inputs[0], sizeof(observer->inputs[0]), "root");
	}
	return made && fixture_write(fixture);
}

static const char *const none[] = { NULL };
static const char *const one[] = { "observer-kept.py", NULL };
static const char *const other[] = { "observer-gone.py", NULL };
static const char *const two[] = { "observer-kept.py", "observer-gone.py", NULL };
static const char *const doubled[] = { "observer-kept.py", "observer-kept.py", NULL };

static void listed(void)
{
	static const struct {
		const char *program; /* NULL: none is brought */
		bool again;
		const char *const *brought;
		const char *reason; /* NULL: intact */
	} rows[] = {
		{ NULL, false, none, NULL },
		{ "observer-kept.py", false, one, NULL },
		{ "observer-kept.py", true, one, NULL },
		{ "observer-kept.py", false, none, "observers[1]: manifest.json does not list its program" },
		{ "observer-kept.py", false, other, "observers[1]: manifest.json does not list its program" },
		{ "observer-kept.py", false, two, "2 behind those of a run, 1 declared" },
		{ "observer-kept.py", false, doubled, "2 behind those of a run, 1 declared" },
		{ NULL, false, one, "1 behind those of a run, 0 declared" },
		{ "observer-tcp", false, none, "0 behind those of a run, 1 declared" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_fixture struct fixture fixture = { .brought = rows[i].brought };
		struct verify_report report;

		CU_ASSERT(make(&fixture, rows[i].program, rows[i].again));
		CU_ASSERT(fixture_verify(&fixture, &report));
		CU_ASSERT(
			fixture_failed(&report, rows[i].reason ? "effects" : "", rows[i].reason ? rows[i].reason : ""));
		CU_ASSERT_EQUAL(report.exit_code == 1, rows[i].reason != NULL);
	}
}

static CU_TestInfo tests[] = {
	{ "each program that is brought is listed", listed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "observers", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("verify_observers", suites);
}
