/*
 * The policy gate in the real bridge, with the real gateway and recorder: what an update changes, what it waits for,
 * and that nothing is delivered behind an acknowledged revocation, however calls and updates race.
 */
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "adapter/policy_gate.h"
#include "tests/unit/bridge_world.h"

#define LINE_BYTES 1024
#define PERMITTED "{\"operation\":\"permitted\",\"arguments\":{}}\n"
#define DENIED "{\"operation\":\"denied\",\"arguments\":{}}\n"
#define SLOW "{\"operation\":\"slow\",\"arguments\":{\"milliseconds\":300}}\n"
#define SLOW_LINE "{\"tool\":\"slow.tool\",\"arguments\":{\"milliseconds\":300}}\n"
#define PERMITTED_LINE "{\"tool\":\"permitted.tool\",\"arguments\":{}}\n"
#define ALLOWED_REPLY "{\"allowed\":true,\"response\":\"recorded\"}\n"
#define DENIED_REPLY "{\"allowed\":false,\"response\":null}\n"

#define UPDATES 100
#define CALLS_PER_UPDATE 10

/* In the order of the world's aliases: permitted.tool, public.tool, hidden.tool, slow.tool. */
#define BIT_PERMITTED 1u
#define BIT_SLOW 8u

struct order_row {
	const char *what;
	bool guarded;
	size_t descriptors;
};

static const struct order_row order_rows[];

static void start(struct world *world)
{
	world_start(world, GATEWAY_REAL);
	world_go(world, "");
}

static void send_update(struct world *world, int64_t revision, const char *what, const char *tool)
{
	char document[128];

	snprintf(document, sizeof(document), "{\"revision\":%lld,\"%s\":\"%s\"}", (long long)revision, what, tool);
	world_policy(world, document, strlen(document));
}

static struct control_message update(struct world *world, int64_t revision, const char *what, const char *tool)
{
	send_update(world, revision, what, tool);
	return world_told(world, CONTROL_POLICY_DONE);
}

static bool hears(struct world *world, const char *expected)
{
	char line[LINE_BYTES];
	bool same = strcmp(world_agent_hears(world, line, sizeof(line)), expected) == 0;

	if (!same)
		fprintf(stderr, "expected %s     the agent heard %s\n", expected, line);
	return same;
}

static off_t sink_size(const struct world *world)
{
	struct stat status = { .st_size = -1 };

	CU_ASSERT_EQUAL(fstat(world->rig.sink, &status), 0);
	return status.st_size;
}

/* Until the recorder wrote as much: it is an observer's place, which the bridge cannot reach. */
static bool sink_reaches(const struct world *world, size_t size)
{
	int64_t deadline = clock_deadline(WORLD_GUARD_MS);

	while (sink_size(world) < (off_t)size && clock_now() < deadline)
		(void)!fd_wait(world->control, 0, clock_deadline(1), NULL);
	return sink_size(world) == (off_t)size;
}

/* ---- what an update changes ---- */

static void test_revoke_restore(void)
{
	cleanup_world struct world world;
	struct control_message told;

	world_init(&world);
	world.limits.calls = 10;
	start(&world);
	world_agent_says(&world, PERMITTED);
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	told = update(&world, 1, "revoke", "permitted.tool");
	CU_ASSERT(told.value == 1 && told.outcome == POLICY_APPLIED && !told.closed && told.revoked == BIT_PERMITTED);
	world_agent_says(&world, PERMITTED);
	CU_ASSERT(hears(&world, DENIED_REPLY));
	told = update(&world, 2, "restore", "permitted.tool");
	CU_ASSERT(told.value == 2 && told.outcome == POLICY_APPLIED && told.revoked == 0);
	world_agent_says(&world, PERMITTED);
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	/* A ceiling stays what it is: the session is as confidential as before. */
	told = update(&world, 3, "restore", "public.tool");
	CU_ASSERT(told.value == 3 && told.outcome == POLICY_APPLIED);
	world_agent_says(&world, DENIED);
	CU_ASSERT(hears(&world, DENIED_REPLY));
	shutdown(world.attach, SHUT_WR);
	told = world_told(&world, CONTROL_ENDED);
	CU_ASSERT(told.allowed == 2 && told.denied == 2);
	CU_ASSERT(rig_sink_is(&world.rig, PERMITTED_LINE PERMITTED_LINE));
	/* The bridge's own denial never came to the gateway. */
	CU_ASSERT_EQUAL(rig_decisions(&world.rig), 3);
}

/* Whatever is wrong with an update, every call is denied until a valid newer one. */
static void test_closed(void)
{
	static const char *const documents[] = {
		"{\"revision\":0,\"revoke\":\"permitted.tool\"}",
		"{\"revision\":5,\"revoke\":\"beacon.tool\"}",
		"{\"revision\":5,\"ceiling\":{\"public.tool\":\"confidential\"}}",
		"",
	};
	int64_t revision = 1;

	for (size_t i = 0; i <= ARRAY_SIZE(documents); i++) {
		cleanup_world struct world world;
		struct control_message told;
		char long_one[CONTROL_POLICY_BYTES + 1];

		memset(long_one, ' ', sizeof(long_one));
		world_init(&world);
		start(&world);
		if (i < ARRAY_SIZE(documents))
			world_policy(&world, documents[i], strlen(documents[i]));
		else
			world_policy(&world, long_one, sizeof(long_one));
		told = world_told(&world, CONTROL_POLICY_DONE);
		CU_ASSERT(told.outcome == POLICY_INVALID && told.closed && told.value == 0);
		world_agent_says(&world, PERMITTED);
		CU_ASSERT(hears(&world, DENIED_REPLY));
		told = update(&world, revision, "restore", "public.tool");
		CU_ASSERT(told.outcome == POLICY_APPLIED && !told.closed && told.value == revision);
		world_agent_says(&world, PERMITTED);
		CU_ASSERT(hears(&world, ALLOWED_REPLY));
		told = update(&world, revision, "restore", "public.tool");
		CU_ASSERT(told.outcome == POLICY_STALE && told.closed && told.value == revision);
		world_agent_says(&world, PERMITTED);
		CU_ASSERT(hears(&world, DENIED_REPLY));
		CU_ASSERT(rig_sink_is(&world.rig, PERMITTED_LINE));
	}
}

/* A beacon is the operator's own: no update speaks of it. */
static void test_beacon(void)
{
	struct control_message order = { .type = CONTROL_BEACON, .canary = "canary-abcdefghijklmnopabcdefghijklmnop" };
	cleanup_world struct world world;

	world_init(&world);
	start(&world);
	world_policy(&world, "x", 1);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_POLICY_DONE).closed, 1);
	world_order_with(&world, &order);
	CU_ASSERT_EQUAL(world_told(&world, CONTROL_BEACON_DONE).value, 1);
}

/* Where the gate is not enforced an update is acknowledged as ever, and the call passes. */
static void test_not_enforced(void)
{
	cleanup_world struct world world;
	struct control_message told;

	world_init(&world);
	world.policy = false;
	start(&world);
	told = update(&world, 1, "revoke", "permitted.tool");
	CU_ASSERT(told.outcome == POLICY_APPLIED && told.revoked == BIT_PERMITTED);
	world_agent_says(&world, PERMITTED);
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	CU_ASSERT(rig_sink_is(&world.rig, PERMITTED_LINE));
}

/* ---- what an update waits for ---- */

static void test_in_flight(void)
{
	cleanup_world struct world world;
	struct control_message told;

	world_init(&world);
	start(&world);
	world_agent_says(&world, SLOW SLOW);
	CU_ASSERT(sink_reaches(&world, strlen(SLOW_LINE)));
	told = update(&world, 1, "revoke", "slow.tool");
	/* Acknowledged behind the call's last effect. */
	CU_ASSERT_EQUAL(sink_size(&world), (off_t)strlen(SLOW_LINE SLOW_LINE));
	CU_ASSERT(told.outcome == POLICY_APPLIED && told.revoked == BIT_SLOW);
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	CU_ASSERT(hears(&world, DENIED_REPLY));
	CU_ASSERT(rig_sink_is(&world.rig, SLOW_LINE SLOW_LINE));
}

/* A call that waits behind another one sees the update that came meanwhile. */
static void test_queued(void)
{
	cleanup_world struct world world;

	world_init(&world);
	start(&world);
	world_agent_says(&world, SLOW PERMITTED);
	CU_ASSERT(sink_reaches(&world, strlen(SLOW_LINE)));
	CU_ASSERT_EQUAL(update(&world, 1, "revoke", "permitted.tool").outcome, POLICY_APPLIED);
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	CU_ASSERT(hears(&world, DENIED_REPLY));
	CU_ASSERT(rig_sink_is(&world.rig, SLOW_LINE SLOW_LINE));
}

/* Without the lock the acknowledgment comes first, and an effect of the revoked tool behind it. */
static void test_late_without_lock(void)
{
	cleanup_world struct world world;

	world_init(&world);
	world.policy_lock = false;
	start(&world);
	world_agent_says(&world, SLOW);
	CU_ASSERT(sink_reaches(&world, strlen(SLOW_LINE)));
	CU_ASSERT_EQUAL(update(&world, 1, "revoke", "slow.tool").outcome, POLICY_APPLIED);
	CU_ASSERT_EQUAL(sink_size(&world), (off_t)strlen(SLOW_LINE));
	CU_ASSERT(hears(&world, ALLOWED_REPLY));
	CU_ASSERT(rig_sink_is(&world.rig, SLOW_LINE SLOW_LINE));
}

/* A second update while one waits is no order of an arm of ours. */
static void test_second_update(void)
{
	cleanup_world struct world world;

	world_init(&world);
	start(&world);
	world_agent_says(&world, SLOW);
	CU_ASSERT(sink_reaches(&world, strlen(SLOW_LINE)));
	send_update(&world, 1, "revoke", "slow.tool");
	send_update(&world, 2, "restore", "slow.tool");
	CU_ASSERT(world_ended(&world, CONTROL_REASON_INTERNAL));
}

static void test_orders(void)
{
	for (const struct order_row *row = order_rows; row->what; row++) {
		struct control_message order = { .type = CONTROL_POLICY };
		cleanup_fd int one = -1, other = -1;
		cleanup_world struct world world;
		struct error *err = NULL;
		bool ended;

		world_init(&world);
		world_start(&world, GATEWAY_REAL);
		if (row->guarded)
			world_go(&world, "");
		CU_ASSERT_EQUAL(fd_pipe(&one, &other, &err), 0);
		int fds[] = { one, other };

		CU_ASSERT_EQUAL(control_send(world.control, &order, fds, row->descriptors,
					     clock_deadline(WORLD_GUARD_MS), &err),
				0);
		CU_ASSERT(test_no_error(&err));
		/* The last one says what it holds, and never ends. */
		ended = world_told(&world, CONTROL_ENDED).reason == CONTROL_REASON_INTERNAL &&
			world_dead(&world.bridge, WORLD_GUARD_MS);
		if (!ended)
			fprintf(stderr, "order: %s\n", row->what);
		CU_ASSERT(ended);
	}
}

/* ---- the race ---- */

struct race {
	int64_t allowed, denied;
	int64_t late; /* bytes that the recorder wrote behind an acknowledged revocation */
	int64_t turned; /* answers that fell back to what held before the update */
	off_t offset; /* where the recorder's file ended when the last revocation was acknowledged; -1: none holds */
};

/* Answers to the calls around one update: those before it, then those behind it, and never back. */
static void take_answers(struct world *world, struct race *race, bool revoke)
{
	bool behind = false;

	for (int i = 0; i < CALLS_PER_UPDATE; i++) {
		char line[LINE_BYTES];
		bool denied = strcmp(world_agent_hears(world, line, sizeof(line)), DENIED_REPLY) == 0;

		if (!denied)
			CU_ASSERT_STRING_EQUAL(line, ALLOWED_REPLY);
		race->turned += behind && denied != revoke;
		behind |= denied == revoke;
		*(denied ? &race->denied : &race->allowed) += 1;
	}
}

static void race_once(struct world *world, struct race *race, int64_t revision)
{
	bool revoke = revision % 2 == 1;
	struct control_message told;

	/* Until an update restores the tool nothing may have been added. */
	if (race->offset >= 0)
		race->late += sink_size(world) - race->offset;
	for (int i = 0; i < CALLS_PER_UPDATE; i++) {
		world_agent_says(world, PERMITTED);
		if (i == revision % CALLS_PER_UPDATE)
			send_update(world, revision, revoke ? "revoke" : "restore", "permitted.tool");
	}
	told = world_told(world, CONTROL_POLICY_DONE);
	race->offset = revoke ? sink_size(world) : -1;
	CU_ASSERT(told.outcome == POLICY_APPLIED && told.value == revision);
	take_answers(world, race, revoke);
}

static void test_race(void)
{
	cleanup_world struct world world;
	struct race race = { .offset = -1 };
	int64_t calls = UPDATES * CALLS_PER_UPDATE;

	world_init(&world);
	world.limits.calls = calls;
	world.limits.stdout_bytes = MIB;
	world.limits.session_ms = 60000;
	world.limits.lease_ms = 60000;
	start(&world);
	for (int64_t revision = 1; revision <= UPDATES; revision++)
		race_once(&world, &race, revision);
	CU_ASSERT_EQUAL(race.late, 0);
	CU_ASSERT_EQUAL(race.turned, 0);
	CU_ASSERT_EQUAL(race.allowed + race.denied, calls);
	/* Both sides of the race were run, each often. */
	CU_ASSERT(race.allowed > calls / 20);
	CU_ASSERT(race.denied > calls / 20);
	CU_ASSERT_EQUAL(sink_size(&world), (off_t)(race.allowed * (int64_t)strlen(PERMITTED_LINE)));
	printf("race: %lld calls, %d updates: %lld allowed, %lld denied, %lld late\n", (long long)calls, UPDATES,
	       (long long)race.allowed, (long long)race.denied, (long long)race.late);
}

static const struct order_row order_rows[] = {
	{ "before the guard", false, 1 },
	{ "without a descriptor", true, 0 },
	{ "with two", true, 2 },
	{ "with one that never ends", true, 1 },
	{ NULL, false, 0 },
};

static CU_TestInfo update_tests[] = {
	{ "revoked and restored", test_revoke_restore },
	{ "closed and opened", test_closed },
	{ "the beacon", test_beacon },
	{ "not enforced", test_not_enforced },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo lock_tests[] = {
	{ "a call under way", test_in_flight },
	{ "a call that waits", test_queued },
	{ "late without the lock", test_late_without_lock },
	{ "two updates at once", test_second_update },
	{ "orders out of turn", test_orders },
	{ "the race", test_race },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "updates", NULL, NULL, NULL, NULL, update_tests },
	{ "lock", NULL, NULL, NULL, NULL, lock_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("bridge_policy", suites);
}
