/* What must hold between scenarios: a mutant and its control, and what earns a zero. */
#include <stdlib.h>

#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

static void test_sets(void)
{
	static const struct {
		const char *control_from, *control_to, *mutant_from, *mutant_to, *part;
	} rows[] = {
		{ NULL, NULL, NULL, NULL, NULL },
		{ NULL, NULL, "\"tries\":2", "\"tries\":9", NULL },
		{ NULL, NULL, "\"base\"", "\"bare\"", "mutant.json: control: unknown 'bare'" },
		{ NULL, NULL, "\"base\"", "\"mutant\"", "mutant.json: control: 'mutant' removes a protection itself" },
		{ NULL, NULL, "\"reference\"", "\"strict\"", "mutant.json: profile: not that of the control" },
		{ NULL, NULL, "\"tcp4\",\"dns\"", "\"dns\",\"tcp4\"", "mutant.json: probes: not those of the control" },
		{ NULL, NULL, "\"tcp4\",\"dns\",", "\"tcp4\",\"dns\",\"file\",", "mutant.json: probes" },
		{ NULL, NULL, "\"ending\":\"hold\"", "\"ending\":\"exit\"",
		  "mutant.json: ending: not that of the control" },
		{ NULL, NULL, "\"ending\":\"hold\"", "\"labels\":{\"session\":\"pii\"},\"ending\":\"hold\"",
		  "mutant.json: labels: not those of the control" },
		{ NULL, NULL, "5000", "6000", "mutant.json: faults: not those of the control" },
		{ NULL, NULL, "\"kill\"", "\"pause\"", "mutant.json: faults: not those of the control" },
		{ NULL, NULL, "\"bridge\"", "\"gateway\"", "mutant.json: faults: not those of the control" },
		{ NULL, NULL, "\"undo\":false", "\"delayMs\":3", "mutant.json: faults: not those of the control" },
		{ NULL, NULL, "\"trigger\":\"permitted\",\"undo\"", "\"trigger\":\"dns\",\"undo\"",
		  "mutant.json: faults" },
		{ NULL, NULL, "\"revision\":1", "\"revision\":2", "mutant.json: updates: not those of the control" },
		{ NULL, NULL, "\"public.tool\"", "\"x\"", "mutant.json: updates: not those of the control" },
		{ NULL, NULL, "\"revoke\":\"public.tool\",\"restore\":null", "\"restore\":\"public.tool\"",
		  "mutant.json: updates" },
		{ NULL, NULL, "\"revision\":1,\"revoke\":\"public.tool\"", "\"document\":\"{}\"",
		  "mutant.json: updates" },
		{ NULL, NULL, "\"revision\":1", "\"pause\":true,\"revision\":1", "mutant.json: updates" },
		{ NULL, NULL, "\"trigger\":\"permitted\",\"revision\"", "\"trigger\":\"dns\",\"revision\"",
		  "mutant.json: updates" },
		{ NULL, NULL, "\"revision\":1", "\"outcome\":\"stale\",\"revision\":1", "mutant.json: updates" },
		{ NULL, NULL, "\"observer\":\"tcp4\"", "\"observer\":\"dns\"",
		  "mutant.json: expect[0].flips: the control has no such cell" },
		{ NULL, NULL, "\"value\":10,\"class\":\"protected\"", "\"value\":10,\"class\":\"control\"",
		  "mutant.json: expect[1].class" },
		{ NULL, NULL, "\"flips\":true", "\"flips\":true,\"needs\":\"ipv6-loopback\"",
		  "mutant.json: expect[0].needs" },
		{ NULL, NULL, "\"value\":10", "\"value\":9",
		  "mutant.json: expect[1].flips: a value may meet the control's expectation too" },
		{ NULL, NULL, "\"op\":\"eq\",\"value\":1", "\"op\":\"ge\",\"value\":1",
		  "mutant.json: expect[2].value: may fail the control's expectation" },
		/* impossible: a zero that nothing can earn */
		{ "\"subject\":\"dns\",\"observer\":\"attempts\",\"op\":\"ge\",\"value\":1,\"class\":\"control\"",
		  "\"subject\":\"dns\",\"observer\":\"dns\",\"op\":\"eq\",\"value\":0,\"class\":\"protected\"", NULL,
		  NULL, "base.json: expect[3]: protected, and no mutant flips 'dns' at 'dns'" },
	};
	cleanup_free struct scenario *pair = calloc(2, sizeof(*pair));

	CU_ASSERT_PTR_NOT_NULL(pair);
	for (size_t i = 0; pair && i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;
		int result;

		CU_ASSERT_EQUAL(
			world_decode("base", control_text, rows[i].control_from, rows[i].control_to, &pair[0], &err),
			0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(
			world_decode("mutant", mutant_text, rows[i].mutant_from, rows[i].mutant_to, &pair[1], &err), 0);
		CU_ASSERT(test_no_error(&err));
		result = scenario_check_set(pair, 2, &err);
		CU_ASSERT_EQUAL(result == 0, rows[i].part == NULL);
		CU_ASSERT(rows[i].part ? test_error(&err, ERROR_INPUT, rows[i].part) : test_no_error(&err));
	}
}

/* What was opened without a fault or an update is open under any; what one of them opened, and a bound, is earned under
 * the same alone. */
static void test_earns(void)
{
	cleanup_free struct scenario *three = calloc(3, sizeof(*three));
	struct scenario *base = &three[0], *mutant = &three[1], *other = &three[2];
	struct error *err = NULL;

	CU_ASSERT(world_decode("base", control_text, NULL, NULL, base, &err) == 0);
	CU_ASSERT(world_decode("mutant", mutant_text, NULL, NULL, mutant, &err) == 0);
	CU_ASSERT(world_decode("other", control_text, "\"bridge\"", "\"gateway\"", other, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_TRUE(scenario_earns(mutant, base, &base->expect[0]));
	CU_ASSERT_TRUE(scenario_earns(mutant, base, &base->expect[1]));
	CU_ASSERT_FALSE(scenario_earns(mutant, other, &other->expect[0]));
	CU_ASSERT_FALSE(scenario_earns(mutant, other, &other->expect[1]));
	CU_ASSERT_FALSE(scenario_earns(mutant, base, &base->expect[2]));
	CU_ASSERT_FALSE(scenario_earns(base, other, &other->expect[0]));
	CU_ASSERT_FALSE(scenario_earns(mutant, mutant, &mutant->expect[0]));
	mutant->faults_count = 0;
	CU_ASSERT_TRUE(scenario_earns(mutant, other, &other->expect[0]));
	mutant->faults_count = 1;
	/* another update, none, and a mutant without any */
	CU_ASSERT(world_decode("other", control_text, "\"revision\":1", "\"revision\":2", other, &err) == 0);
	CU_ASSERT_FALSE(scenario_earns(mutant, other, &other->expect[0]));
	CU_ASSERT(world_decode("other", control_text, "\"revision\":1", "\"outcome\":\"stale\",\"revision\":1", other,
			       &err) == 0);
	CU_ASSERT_FALSE(scenario_earns(mutant, other, &other->expect[0]));
	mutant->updates_count = 0;
	CU_ASSERT_TRUE(scenario_earns(mutant, other, &other->expect[0]));
	mutant->updates_count = 1;
	other->updates_count = 0;
	CU_ASSERT_FALSE(scenario_earns(mutant, other, &other->expect[0]));
	/* one that hurts the engine would be planned where that must not happen */
	CU_ASSERT(world_decode("engine/mutant", mutant_text, NULL, NULL, mutant, &err) == 0);
	CU_ASSERT_FALSE(scenario_earns(mutant, base, &base->expect[0]));
	CU_ASSERT(world_decode("engine/base", control_text, NULL, NULL, base, &err) == 0);
	CU_ASSERT_TRUE(scenario_earns(mutant, base, &base->expect[0]));
	CU_ASSERT(test_no_error(&err));
	mutant->expect[0].class = CELL_CONTROL;
	CU_ASSERT_FALSE(scenario_earns(mutant, base, &base->expect[0]));
}

static CU_TestInfo tests[] = {
	{ "between scenarios", test_sets },
	{ "what earns a zero", test_earns },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "scenario_set", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("scenario_set", suites);
}
