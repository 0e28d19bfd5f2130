/* A whole session on the simulated engine: in order, when a part of it is lost, and when admission refuses. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/sim/stage.h"
#include "tests/unit/test.h"

#define TRIES 3

/* ---- in order ---- */

static void test_whole(void)
{
	cleanup_stage struct stage stage;
	struct control_message end = { .type = 0 };
	struct error *err = NULL;
	int64_t exit_code = -1;
	pid_t peer = 0;
	uid_t uid = 1;

	if (!stage_open(&stage, NULL))
		return;
	engine_peer(stage.engine, &peer, &uid);
	CU_ASSERT_EQUAL(peer, stage.process.child.pid);
	CU_ASSERT_EQUAL(uid, 0);
	CU_ASSERT_EQUAL(stage_session(&stage, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(session_refused_as_declared(&stage.session));
	CU_ASSERT_EQUAL(stage_finish(&stage, TRIES, STAGE_GUARD_MS, &end, &exit_code, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(end.type, CONTROL_ENDED);
	CU_ASSERT_EQUAL(end.reason, CONTROL_REASON_STREAM_END);
	CU_ASSERT_EQUAL(end.allowed, TRIES);
	CU_ASSERT_EQUAL(end.denied, TRIES);
	CU_ASSERT_EQUAL(end.frames, 2 * TRIES + 1);
	CU_ASSERT_EQUAL(exit_code, 2 * TRIES);
	CU_ASSERT_EQUAL(stage_delivered(&stage, &stage.permitted, 0), TRIES);
	CU_ASSERT_EQUAL(stage_delivered(&stage, &stage.denied, 0), 0);
	CU_ASSERT_EQUAL(session_end(&stage.session, &err), 0);
	CU_ASSERT_EQUAL(session_end(&stage.session, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(stage_clean(&stage));
	CU_ASSERT_EQUAL(stage_engine_requests(&stage.process, "POST", "/kill"), 0);
	CU_ASSERT_EQUAL(stage_engine_requests(&stage.process, "DELETE", "/containers/"), 1);
}

/* The agent ends by itself: no kill, and the end of its stream is not mistaken for a loss. */
static void test_agent_exits(void)
{
	cleanup_stage struct stage stage;
	struct control_message end;
	struct error *err = NULL;
	int64_t exit_code = -1;

	if (!stage_open(&stage, NULL))
		return;
	CU_ASSERT_EQUAL(stage_session(&stage, &err), 0);
	CU_ASSERT_EQUAL(stage_go(&stage, 1, false, "exit", &err), 0);
	end = stage_told(&stage, stage.session.bridge_control, CONTROL_ENDED);
	CU_ASSERT_EQUAL(end.reason, CONTROL_REASON_STREAM_END);
	CU_ASSERT_EQUAL(session_exited(&stage.session, clock_deadline(STAGE_GUARD_MS), &exit_code, &err), 0);
	CU_ASSERT_EQUAL(exit_code, 2);
	CU_ASSERT_EQUAL(session_end(&stage.session, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(stage_clean(&stage));
}

/* ---- what is lost ---- */

/* A session whose agent has delivered, and stays. */
static bool open_held(struct stage *stage, bool noise)
{
	struct error *err = NULL;
	bool up;

	if (!stage_open(stage, NULL))
		return false;
	up = stage_session(stage, &err) == 0 && stage_go(stage, 1, noise, "hold", &err) == 0 &&
	     stage_told(stage, stage->session.bridge_control, CONTROL_FIRST_FRAME).type == CONTROL_FIRST_FRAME;
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(up);
	if (up && !noise)
		CU_ASSERT_EQUAL(stage_delivered(stage, &stage->permitted, STAGE_GUARD_MS), 1);
	return up;
}

static void expect_fired(struct stage *stage, enum control_reason reason)
{
	int control = stage->session.watchdog_control;
	struct control_message stopped;

	CU_ASSERT_EQUAL(stage_told(stage, control, CONTROL_FIRED).reason, reason);
	CU_ASSERT_EQUAL(stage_told(stage, control, CONTROL_DEAD).type, CONTROL_DEAD);
	stopped = stage_told(stage, control, CONTROL_STOPPED);
	CU_ASSERT_EQUAL(stopped.type, CONTROL_STOPPED);
	CU_ASSERT_EQUAL(stopped.reason, CONTROL_REASON_NONE);
	CU_ASSERT_EQUAL(stopped.value, 1);
	CU_ASSERT_EQUAL(stage_engine_requests(&stage->process, "POST", "/kill?signal=KILL"), 1);
}

static void expect_end(struct stage *stage)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(session_end(&stage->session, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(stage_clean(stage));
}

static void test_bridge_killed(void)
{
	cleanup_stage struct stage stage;
	int64_t took;

	if (!open_held(&stage, false))
		return;
	CU_ASSERT_EQUAL(child_signal(&stage.session.bridge, SIGKILL), 0);
	took = stage_dead(&stage, STAGE_GUARD_MS);
	/* The end of its pulses means now: long before the lease. */
	CU_ASSERT(took >= 0 && took < STAGE_LEASE_MS);
	expect_fired(&stage, CONTROL_REASON_BRIDGE_LOST);
	expect_end(&stage);
}

static void test_bridge_paused(void)
{
	cleanup_stage struct stage stage;
	int64_t took;

	if (!open_held(&stage, false))
		return;
	CU_ASSERT_EQUAL(child_signal(&stage.session.bridge, SIGSTOP), 0);
	took = stage_dead(&stage, STAGE_GUARD_MS);
	CU_ASSERT(took >= STAGE_LEASE_MS - 2 * STAGE_HEARTBEAT_MS && took < 3 * STAGE_LEASE_MS);
	expect_fired(&stage, CONTROL_REASON_LEASE);
	expect_end(&stage);
}

/* The engine answers nothing about a dead container whose output nobody takes: the watchdog ends the stuck holder. */
static void test_bridge_stuck(void)
{
	cleanup_stage struct stage stage;

	if (!open_held(&stage, true))
		return;
	CU_ASSERT_EQUAL(child_signal(&stage.session.bridge, SIGSTOP), 0);
	CU_ASSERT(stage_dead(&stage, STAGE_GUARD_MS) >= 0);
	expect_fired(&stage, CONTROL_REASON_LEASE);
	CU_ASSERT_FALSE(child_running(&stage.session.bridge));
	expect_end(&stage);
}

static void test_watchdog_paused(void)
{
	cleanup_stage struct stage stage;
	struct control_message end;
	int64_t took;

	if (!open_held(&stage, false))
		return;
	CU_ASSERT_EQUAL(child_signal(&stage.session.watchdog, SIGSTOP), 0);
	end = stage_told(&stage, stage.session.bridge_control, CONTROL_ENDED);
	CU_ASSERT_EQUAL(end.reason, CONTROL_REASON_WATCHDOG_LOST);
	took = stage_dead(&stage, STAGE_GUARD_MS);
	CU_ASSERT(took >= 0 && took < STAGE_LEASE_MS);
	expect_end(&stage);
}

static void test_watchdog_killed(void)
{
	cleanup_stage struct stage stage;

	if (!open_held(&stage, false))
		return;
	CU_ASSERT_EQUAL(child_signal(&stage.session.watchdog, SIGKILL), 0);
	CU_ASSERT_EQUAL(stage_told(&stage, stage.session.bridge_control, CONTROL_ENDED).reason,
			CONTROL_REASON_WATCHDOG_LOST);
	CU_ASSERT(stage_dead(&stage, STAGE_LEASE_MS) >= 0);
	expect_end(&stage);
}

/* Without the check of acknowledgments a lost watchdog is not noticed: what the mutant of that name must show. */
static void test_unchecked(void)
{
	cleanup_stage struct stage stage;
	struct error *err = NULL;

	if (!stage_open(&stage, NULL))
		return;
	stage.options.acknowledge = false;
	CU_ASSERT_EQUAL(stage_session(&stage, &err), 0);
	CU_ASSERT_EQUAL(stage_go(&stage, 1, false, "hold", &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(child_signal(&stage.session.watchdog, SIGSTOP), 0);
	CU_ASSERT_EQUAL(stage_delivered(&stage, &stage.permitted, STAGE_GUARD_MS), 1);
	CU_ASSERT_EQUAL(stage_dead(&stage, STAGE_ACKNOWLEDGE_MS), -1);
	expect_end(&stage);
}

static void test_unarmed(void)
{
	cleanup_stage struct stage stage;
	struct error *err = NULL;

	if (!stage_open(&stage, NULL))
		return;
	stage.options.watchdog = false;
	CU_ASSERT_EQUAL(stage_session(&stage, &err), 0);
	CU_ASSERT_EQUAL(stage.session.watchdog_control, -1);
	CU_ASSERT_EQUAL(stage_go(&stage, 1, false, "hold", &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(stage_delivered(&stage, &stage.permitted, STAGE_GUARD_MS), 1);
	CU_ASSERT_EQUAL(child_signal(&stage.session.bridge, SIGKILL), 0);
	CU_ASSERT_EQUAL(stage_dead(&stage, STAGE_ACKNOWLEDGE_MS), -1);
	expect_end(&stage);
}

static void test_arm_lost(void)
{
	cleanup_stage struct stage stage;
	int64_t took;

	if (!open_held(&stage, false))
		return;
	fd_close(&stage.session.lifeline);
	took = stage_dead(&stage, STAGE_GUARD_MS);
	CU_ASSERT(took >= 0 && took < STAGE_LEASE_MS);
	CU_ASSERT_EQUAL(stage_told(&stage, stage.session.bridge_control, CONTROL_ENDED).reason,
			CONTROL_REASON_PARENT_LOST);
	expect_end(&stage);
}

/* The engine dies: the session ends all the same, in bounded time, and says what is left. */
static void test_engine_lost(void)
{
	cleanup_stage struct stage stage;
	struct error *err = NULL;
	char group[128];

	if (!open_held(&stage, false))
		return;
	CU_ASSERT_EQUAL(child_signal(&stage.process.child, SIGKILL), 0);
	CU_ASSERT(stage_dead(&stage, STAGE_GUARD_MS) >= 0);
	CU_ASSERT(session_end(&stage.session, &err) < 0);
	CU_ASSERT(err && strstr(error_text(err), "stays: run `harness clean`"));
	error_free(err);
	stage.session.removed = true;
	for (int i = 0; i < 2; i++) {
		snprintf(group, sizeof(group), "/sys/fs/cgroup/%s/harness-sim-%s", i ? "memory" : "pids",
			 stage.session.container);
		rmdir(group);
	}
	snprintf(group, sizeof(group), "/sys/fs/cgroup/harness-sim-%s", stage.session.container);
	rmdir(group);
}

/* ---- what is refused ---- */

static void refused(const char *rule, bool fails_too_little, const char *text)
{
	cleanup_stage struct stage stage;
	struct rule_set none = { { 0 } };
	struct error *err = NULL;

	if (!stage_open(&stage, NULL))
		return;
	if (fails_too_little)
		stage.options.must_fail = none;
	else
		CU_ASSERT(rule_set_add_id(&stage.options.must_fail, rule));
	CU_ASSERT(stage_session(&stage, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_REFUSED, text));
	CU_ASSERT_FALSE(session_refused_as_declared(&stage.session));
	CU_ASSERT_EQUAL(stage.session.bridge_control >= 0, !rule || strcmp(rule, "read-only-root") != 0);
	expect_end(&stage);
}

static void test_refusals(void)
{
	refused(NULL, true, "admission: capabilities, seccomp, ns-pid");
	refused("uid", false, "admission: not refused: uid");
	refused("read-only-root", false, "admission: not refused: read-only-root");
}

/* A mutation's profile is refused on its rules, which are then waived; the kernel of a plain child knows of neither. */
static void test_mutated(void)
{
	cleanup_stage struct stage stage;
	struct error *err = NULL;

	if (!stage_open(&stage, NULL))
		return;
	stage.options.profile.log_driver = "json-file";
	CU_ASSERT(rule_set_add_id(&stage.options.must_fail, "log-driver"));
	CU_ASSERT_EQUAL(stage_session(&stage, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(session_refused_as_declared(&stage.session));
	expect_end(&stage);
}

static CU_TestInfo order_tests[] = {
	{ "a session", test_whole },
	{ "the agent exits", test_agent_exits },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo loss_tests[] = {
	{ "bridge killed", test_bridge_killed },
	{ "bridge paused", test_bridge_paused },
	{ "bridge paused with output that nobody takes", test_bridge_stuck },
	{ "watchdog paused", test_watchdog_paused },
	{ "watchdog killed", test_watchdog_killed },
	{ "acknowledgments unchecked", test_unchecked },
	{ "watchdog not armed", test_unarmed },
	{ "arm lost", test_arm_lost },
	{ "engine lost", test_engine_lost },
	CU_TEST_INFO_NULL,
};
static CU_TestInfo refusal_tests[] = {
	{ "rules", test_refusals },
	{ "a mutated profile", test_mutated },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ "in order", NULL, NULL, NULL, NULL, order_tests },
	{ "what is lost", NULL, NULL, NULL, NULL, loss_tests },
	{ "what is refused", NULL, NULL, NULL, NULL, refusal_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (stage_isolate())
		return test_main("session_sim", suites);
	printf("session_sim: 0 passed, 0 failed, 1 skipped\n");
	return 0;
}
