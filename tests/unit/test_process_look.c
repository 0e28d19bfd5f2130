/* One look at a process that lives: this one. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "core/fd.h"
#include "observers/process_look.h"
#include "tests/unit/test.h"

static void test_look(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };
	cleanup_fd int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct process_look before = { .seen = false }, after = { .seen = false };
	int more;

	CU_ASSERT_EQUAL(sigaction(SIGTERM, &usual, NULL), 0);
	CU_ASSERT_TRUE(process_look(self, &before));
	CU_ASSERT_TRUE(before.seen);
	CU_ASSERT(before.descriptors >= 4);
	CU_ASSERT_EQUAL(before.ignores_term, 0);
	CU_ASSERT_EQUAL(sigaction(SIGTERM, &ignore, NULL), 0);
	CU_ASSERT_EQUAL(sigaction(SIGINT, &usual, NULL), 0);
	more = dup(self);
	CU_ASSERT(more >= 0);
	CU_ASSERT_TRUE(process_look(self, &after));
	CU_ASSERT_EQUAL(after.descriptors, before.descriptors + 1);
	CU_ASSERT_EQUAL(after.ignores_term, 1);
	fd_close(&more);
	CU_ASSERT_EQUAL(sigaction(SIGTERM, &usual, NULL), 0);
}

static void test_gone(void)
{
	cleanup_fd int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct process_look look = { .descriptors = 7 };

	CU_ASSERT_FALSE(process_look(folder, &look));
	CU_ASSERT_FALSE(process_look(-1, &look));
	CU_ASSERT_FALSE(look.seen);
	CU_ASSERT_EQUAL(look.descriptors, 7);
}

static CU_TestInfo tests[] = {
	{ "a look", test_look },
	{ "no process", test_gone },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = {
		{ .pName = "look", .pTests = tests },
		CU_SUITE_INFO_NULL,
	};

	return test_main("process look", suites);
}
