/*
 * The scenarios whose agent writes given bytes: these stand in the file of hostile frames, with the reason that the
 * scenario says; what is written is enough for the kernel's count of it to show; and each has a mutant of its own.
 */
#include "core/fd.h"
#include "tests/unit/frame_rows.h"
#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

#define FILE_NAME "tests/data/frames/hostile"
#define SCENARIOS_MIN 26
#define PIPE_BYTES (64 * KIB)

struct sought {
	const struct scenario *scenario;
	char bytes[MISBEHAVIOUR_HEX / 2];
	size_t length;
	size_t found;
};

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void decode(struct sought *sought)
{
	const char *hex = sought->scenario->misbehaviour.bytes;

	for (; hex[0] && hex[1]; hex += 2)
		sought->bytes[sought->length++] = (char)(digit(hex[0]) << 4 | digit(hex[1]));
}

static int take_row(void *context, const struct frame_row *row, struct error **err)
{
	struct sought *sought = context;

	(void)err;
	sought->found += row->length == sought->length && memcmp(row->bytes, sought->bytes, row->length) == 0 &&
			 strcmp(row->word, sought->scenario->ends) == 0;
	return 0;
}

static bool writes_given(const struct scenario *scenario)
{
	return !scenario->control[0] && strcmp(scenario->misbehaviour.id, "raw") == 0;
}

static bool in_file(const struct scenario *scenario)
{
	struct sought sought = { .scenario = scenario };
	struct error *err = NULL;

	decode(&sought);
	CU_ASSERT(sought.length > 0);
	CU_ASSERT_EQUAL(frame_rows_read(FILE_NAME, take_row, &sought, &err), 0);
	CU_ASSERT(test_no_error(&err));
	return sought.found == 1;
}

/* In one write that a pipe takes whole: so the agent has written it, however soon it is killed. */
static bool counted(const struct scenario *scenario)
{
	const struct expectation *attempted = scenario_cell(scenario, "attempted", "state");
	int64_t once = (int64_t)strlen(scenario->misbehaviour.bytes) / 2;
	int64_t all = once * scenario->misbehaviour.count;

	return attempted && attempted->op == OP_GE && attempted->value >= 16 * KIB && all >= attempted->value &&
	       all <= PIPE_BYTES;
}

static size_t mutants(const struct scenario *scenarios, size_t count, const struct scenario *scenario)
{
	const struct expectation *after = scenario_cell(scenario, "after", "deliveries");
	size_t found = 0;

	for (size_t i = 0; i < count && after; i++)
		found += strcmp(scenarios[i].control, scenario->id) == 0 && scenarios[i].removes_count == 1 &&
			 strcmp(scenarios[i].removes[0], "strict-frames") == 0 &&
			 scenario_earns(&scenarios[i], scenario, after);
	return found;
}

static bool alone(const struct scenario *scenarios, size_t count, const struct scenario *scenario)
{
	size_t same = 0;

	for (size_t i = 0; i < count; i++)
		same += writes_given(&scenarios[i]) &&
			strcmp(scenarios[i].misbehaviour.bytes, scenario->misbehaviour.bytes) == 0;
	return same == 1;
}

static void test_scenarios(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0, seen = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i < count; i++) {
		const struct scenario *scenario = &scenarios[i];
		bool good;

		if (!writes_given(scenario))
			continue;
		seen++;
		good = in_file(scenario) && counted(scenario) && mutants(scenarios, count, scenario) == 1 &&
		       alone(scenarios, count, scenario);
		if (!good)
			fprintf(stderr, "%s is not as it should be\n", scenario->id);
		CU_ASSERT(good);
	}
	CU_ASSERT(seen >= SCENARIOS_MIN);
}

static CU_TestInfo tests[] = {
	{ "scenarios", test_scenarios },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "frame_scenarios", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("frame_scenarios", suites);
}
