/* What the simulated engine says, made or recorded, has the shape of what is recorded of a real one. */
#include <signal.h>

#include "core/fd.h"
#include "tests/live/replay.h"
#include "tests/sim/stage.h"
#include "tests/unit/test.h"

#define ANSWERS_LEAST 40

static void test_replay(void)
{
	struct stage_engine engine = STAGE_ENGINE;

	if (stage_engine_start(&engine, NULL))
		CU_ASSERT(replay(engine.socket, NULL) >= ANSWERS_LEAST);
	CU_ASSERT_FALSE(stage_engine_has_child(&engine));
	stage_engine_stop(&engine);
}

static CU_TestInfo replay_tests[] = {
	{ "every recorded answer", test_replay },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "the simulated engine", NULL, NULL, NULL, NULL, replay_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (stage_isolate())
		return test_main("replay_sim", suites);
	printf("replay_sim: 0 passed, 0 failed, 1 skipped\n");
	return 0;
}
