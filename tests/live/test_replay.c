/* What is recorded of an engine is what the engine here says: the simulated engine's script cannot drift. */
#include <signal.h>

#include "adapter/engine.h"
#include "tests/live/replay.h"
#include "tests/unit/test.h"

#define SOCKET "/var/run/docker.sock"
#define ANSWERS_LEAST 40

static void test_replay(void)
{
	CU_ASSERT(replay(SOCKET, TEST_BUILD "/agent") >= ANSWERS_LEAST);
}

static CU_TestInfo replay_tests[] = {
	{ "every recorded answer", test_replay },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "a real engine", NULL, NULL, NULL, NULL, replay_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	cleanup_engine struct engine *engine = NULL;
	cleanup_error struct error *err = NULL;

	signal(SIGPIPE, SIG_IGN);
	if (engine_open(SOCKET, &engine, &err) == 0)
		return test_main("replay", suites);
	printf("skipped: %s\nreplay: 0 passed, 0 failed, 1 skipped\n", error_text(err));
	return 0;
}
