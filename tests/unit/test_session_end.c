/* The order in which a session ends, for whoever is killed halfway: the watchdog is let go behind the process's death.
 */
#include "adapter/control.h"
#include "adapter/session.h"
#include "core/clock.h"
#include "core/fd.h"
#include "tests/unit/test.h"

#define DYING_MS 300

/* A process that takes its time to die: what stands for its pidfd is ready when the holder of the other end is gone. */
static void start_dying(struct child *holder, int *pidfd)
{
	char name[] = "sh", option[] = "-c", script[] = "exec sleep 0.3";
	char *argv[] = { name, option, script, NULL };
	char path[] = "PATH=/usr/bin:/bin";
	char *envp[] = { path, NULL };
	cleanup_fd int write_end = -1;
	cleanup_error struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_pipe(pidfd, &write_end, &err), 0);

	const struct spawn_options options = { SPAWN_DEFAULTS,
					       .path = "/bin/sh",
					       .argv = argv,
					       .envp = envp,
					       .fds = { { .from = write_end, .to = 3 } },
					       .fds_count = 1 };

	CU_ASSERT_EQUAL(spawn(&options, holder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static void test_order(void)
{
	cleanup_child struct child holder = CHILD_NONE;
	cleanup_error struct error *err = NULL;
	struct control_message message;
	struct session_options options;
	struct session session;
	cleanup_fd int watchdog = -1;
	int64_t began;
	size_t none = 0;

	session_options_reference(&options);
	session_init(&session, NULL, NULL, &options);
	CU_ASSERT_EQUAL(fd_seqpacket(&session.watchdog_control, &watchdog, &err), 0);
	start_dying(&holder, &session.pidfd);
	began = clock_now();
	CU_ASSERT_EQUAL(session_end_begin(&session, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(control_receive(watchdog, &message, NULL, &none, clock_now(), &err), 0);
	CU_ASSERT_EQUAL(message.type, CONTROL_DISARM);
	CU_ASSERT(message.time - began >= DYING_MS / 2 * NS_PER_MS);
	CU_ASSERT_EQUAL(session_end(&session, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static CU_TestInfo order[] = {
	{ "disarmed behind the death", test_order },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = {
		{ .pName = "order", .pTests = order },
		CU_SUITE_INFO_NULL,
	};

	return test_main("session end", suites);
}
