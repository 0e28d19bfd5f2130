/* A mutation that is not applied: the arms get other documents than the plan says, and are judged under the plan. */
#include <string.h>

#include "tests/live/own_run.h"

static const char baseline[], network[];

/* What the mutant's arm gets instead of its document: its control's under its own name, or one that takes away
 * `removes`. */
struct planted {
	const char *removes;
	struct scenario edited;
};

static void edit(struct run *run, void *context)
{
	struct planted *planted = context;

	for (size_t i = 0; i < run->plan->arms_count; i++) {
		struct plan_arm *arm = &run->plan->arms[i];
		struct scenario *edited = &planted->edited;

		if (arm->scenario->removes_count == 0)
			continue;
		*edited = planted->removes
				  ? *arm->scenario
				  : *scenario_find(run->scenarios, run->scenarios_count, arm->scenario->control);
		snprintf(edited->id, sizeof(edited->id), "%s", arm->scenario->id);
		if (planted->removes)
			snprintf(edited->removes[0], sizeof(edited->removes[0]), "%s", planted->removes);
		arm->scenario = edited;
	}
}

static void restore(struct run *run, void *context)
{
	const struct planted *planted = context;

	for (size_t i = 0; i < run->plan->arms_count; i++)
		if (run->plan->arms[i].scenario == &planted->edited)
			run->plan->arms[i].scenario =
				scenario_find(run->scenarios, run->scenarios_count, planted->edited.id);
}

static struct own_run *open_edited(struct planted *planted)
{
	const struct own_run_edit both = { .before = edit, .after = restore, .context = planted };

	return own_run_open(baseline, "mutation/network", network, planted ? &both : NULL);
}

/* Else the other two would show nothing. */
static void test_as_planned(void)
{
	struct own_run *own = open_edited(NULL);

	own_run_check(own, EXIT_PASS, VERDICT_PASS, BECAUSE_MET, VERDICT_PASS, BECAUSE_MET);
	own_run_close(own);
}

static void test_nothing_removed(void)
{
	struct planted planted = { .removes = NULL };
	struct own_run *own = open_edited(&planted);

	own_run_check(own, EXIT_NOT_ESTABLISHED, VERDICT_NOT_ESTABLISHED, BECAUSE_DIFFERENCE, VERDICT_NOT_ESTABLISHED,
		      BECAUSE_UNEARNED);
	if (own && own->verdicts)
		CU_ASSERT_FALSE(own->verdicts->mutations[0].installed);
	own_run_close(own);
}

static void test_another_removed(void)
{
	struct planted planted = { .removes = "read-only" };
	struct own_run *own = open_edited(&planted);

	own_run_check(own, EXIT_FAIL, VERDICT_FAIL, BECAUSE_UNDETECTED, VERDICT_NOT_ESTABLISHED, BECAUSE_UNEARNED);
	own_run_close(own);
}

static CU_TestInfo tests[] = {
	{ "as planned", test_as_planned },
	{ "nothing removed", test_nothing_removed },
	{ "another protection removed", test_another_removed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "not applied", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

static const char baseline[] =
	"{ \"title\": \"one closed way\", \"probes\": [\"tcp4\", \"permitted\"], \"expect\": ["
	"{ \"subject\": \"tcp4\", \"observer\": \"tcp4\", \"op\": \"eq\", \"value\": 0, \"class\": \"protected\" },"
	"{ \"subject\": \"permitted\", \"observer\": \"deliveries\", \"op\": \"eq\", \"value\": 1, \"class\": "
	"\"control\" }"
	"] }";
static const char network[] =
	"{ \"title\": \"the same way, open\", \"control\": \"baseline\", \"removes\": [\"network\"],"
	"\"probes\": [\"tcp4\", \"permitted\"], \"expect\": ["
	"{ \"subject\": \"tcp4\", \"observer\": \"tcp4\", \"op\": \"eq\", \"value\": 1, \"class\": \"protected\","
	"\"flips\": true },"
	"{ \"subject\": \"permitted\", \"observer\": \"deliveries\", \"op\": \"eq\", \"value\": 1, \"class\": "
	"\"control\" }"
	"] }";

int main(int argc, char **argv)
{
	return own_run_main("test_not_applied", suites, argc, argv);
}
