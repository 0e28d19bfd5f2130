/*
 * The real bridge before a gateway, or an upstream, that is ours and misbehaves: each manner with the one reason that
 * the session ends for, what had been recorded by then, and what comes of it where that protection is taken away.
 */
#include <signal.h>

#include "tests/unit/bridge_world.h"

#define LINE_BYTES 512
#define FILE_BYTES (64 * KIB)
#define CALL_MS 400
#define LIFTED_MS 60000
/* From the call to the process's death, where no deadline is waited for. */
#define SOON_MS 1000
#define PERMITTED "{\"operation\":\"permitted\",\"arguments\":{\"v\":1}}\n"
#define ALLOWED "{\"allowed\":true,\"response\":\"recorded\"}\n"
#define DENIED "{\"allowed\":false,\"response\":null}\n"

struct peer_row {
	const char *gateway, *upstream; /* the manner of one of them */
	enum control_reason reason;
	int64_t call_ms; /* 0: none that matters */
	size_t permitted; /* lines of permitted.tool */
	size_t acted;
	size_t decisions; /* rows, the beacon's and the first call's included */
	enum gateway_rule rule; /* of the last one */
};

static const struct peer_row peer_rows[];

static void set_up(struct world *world, const struct peer_row *row)
{
	world_init(world);
	world->limits.session_ms = LIFTED_MS;
	world->limits.lease_ms = LIFTED_MS;
	world->limits.calls = 4;
	if (row->call_ms)
		world->limits.gateway_call_ms = row->call_ms;
	if (row->gateway)
		world->gateway_program = "hostile-gateway";
	if (row->upstream)
		world->upstream_program = "hostile-upstream";
	world->gateway_mode = row->gateway;
	world->upstream_mode = row->upstream;
}

/* The beacon and the first call pass; the second is under way when this returns. */
static void call_twice(struct world *world)
{
	struct control_message beacon = { .type = CONTROL_BEACON };
	struct canary canary;
	struct error *err = NULL;
	char line[LINE_BYTES];

	world_start(world, GATEWAY_REAL);
	CU_ASSERT_EQUAL(world_told(world, CONTROL_READY).type, CONTROL_READY);
	CU_ASSERT_EQUAL(canary_new(&canary, &err), 0);
	CU_ASSERT(test_no_error(&err));
	memcpy(beacon.canary, canary.text, sizeof(beacon.canary));
	world_order_with(world, &beacon);
	CU_ASSERT_EQUAL(world_told(world, CONTROL_BEACON_DONE).value, 1);
	world_go(world, "go\n");
	CU_ASSERT_STRING_EQUAL(world_agent_hears(world, line, sizeof(line)), "go\n");
	world_agent_says(world, PERMITTED);
	CU_ASSERT_STRING_EQUAL(world_agent_hears(world, line, sizeof(line)), ALLOWED);
	world_agent_says(world, PERMITTED);
}

static size_t lines_of(const struct world *world, const char *tool)
{
	cleanup_free char *text = calloc(1, FILE_BYTES);
	char start[64];
	size_t count = 0;

	snprintf(start, sizeof(start), "{\"tool\":\"%s\",", tool);
	CU_ASSERT(text && pread(world->rig.sink, text, FILE_BYTES - 1, 0) > 0);
	for (const char *at = text; (at = strstr(at, start)) != NULL; at++)
		count++;
	return count;
}

static bool recorded(const struct world *world, const struct peer_row *row, size_t permitted, size_t acted)
{
	struct decided last = rig_decision(&world->rig, row->decisions - 1);
	bool ok = lines_of(world, "permitted.tool") == permitted && lines_of(world, "peer.acted") == acted &&
		  lines_of(world, "beacon.tool") == 1 && rig_decisions(&world->rig) == row->decisions &&
		  last.rule == (uint32_t)row->rule;

	if (!ok)
		fprintf(stderr, "%s: permitted %zu, acted %zu, rows %zu, rule %u\n",
			row->gateway ? row->gateway : row->upstream, lines_of(world, "permitted.tool"),
			lines_of(world, "peer.acted"), rig_decisions(&world->rig), last.rule);
	return ok;
}

static void test_ends(void)
{
	for (const struct peer_row *row = peer_rows; row->reason; row++) {
		cleanup_world struct world world;
		int64_t called;

		set_up(&world, row);
		call_twice(&world);
		called = clock_now();
		CU_ASSERT(world_ended(&world, row->reason));
		CU_ASSERT(clock_now() - called < (row->call_ms + SOON_MS) * NS_PER_MS);
		/* Its end is in the bridge's: both files are whole. */
		CU_ASSERT(rig_exit(&world.rig) >= 0);
		CU_ASSERT(recorded(&world, row, row->permitted, row->acted));
	}
}

/* Where the bridge does not fail closed the agent is denied, and lives on: also behind the loss of its gateway. */
static void test_fail_open(void)
{
	for (const struct peer_row *row = peer_rows; row->reason; row++) {
		cleanup_world struct world world;
		char line[LINE_BYTES];

		set_up(&world, row);
		world.fail_closed = false;
		call_twice(&world);
		CU_ASSERT_STRING_EQUAL(world_agent_hears(&world, line, sizeof(line)), DENIED);
		if (!row->upstream && row->reason != CONTROL_REASON_GATEWAY_TIMEOUT) {
			world_agent_says(&world, PERMITTED PERMITTED);
			CU_ASSERT_STRING_EQUAL(world_agent_hears(&world, line, sizeof(line)), DENIED);
			CU_ASSERT_STRING_EQUAL(world_agent_hears(&world, line, sizeof(line)), DENIED);
		}
		CU_ASSERT(!world_dead(&world.container, 0));
		CU_ASSERT(recorded(&world, row, row->permitted, row->acted));
		world_order(&world, CONTROL_END);
		fd_close(&world.attach);
		(void)world_told(&world, CONTROL_ENDED);
	}
}

/* The limits that end the session at a late answer, and at none, are the deadline's alone. */
static void test_no_deadline(void)
{
	static const struct peer_row late = {
		.gateway = "late", .call_ms = LIFTED_MS, .decisions = 3, .rule = RULE_ALLOW
	};
	static const struct peer_row hangs = { .upstream = "hangs", .call_ms = LIFTED_MS };
	cleanup_world struct world waits, hung;
	char line[LINE_BYTES];

	set_up(&waits, &late);
	set_up(&hung, &hangs);
	call_twice(&waits);
	call_twice(&hung);
	CU_ASSERT_STRING_EQUAL(world_agent_hears(&waits, line, sizeof(line)), ALLOWED);
	CU_ASSERT(recorded(&waits, &late, 2, 2));
	CU_ASSERT(!world_dead(&waits.container, 0));
	/* By now it took far longer than any deadline of the rows above. */
	CU_ASSERT(!world_dead(&hung.container, 0));
	CU_ASSERT_EQUAL(lines_of(&hung, "peer.acted"), 1);
	CU_ASSERT_EQUAL(rig_decisions(&hung.rig), 2);
}

static void test_usage(void)
{
	static const char *const programs[] = { "hostile-gateway", "hostile-upstream" };
	static const char *const modes[] = { NULL, "honest" };

	for (size_t i = 0; i < ARRAY_SIZE(programs) * ARRAY_SIZE(modes); i++) {
		char path[RIG_PATH_BYTES], name[] = "hostile", mode[NAME_MAX_SHORT];
		const char *given = modes[i % ARRAY_SIZE(modes)];
		char *argv[] = { name, given ? mode : NULL, NULL };
		const struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
		cleanup_child struct child child = CHILD_NONE;
		struct error *err = NULL;
		int status = -1;

		snprintf(mode, sizeof(mode), "%s", given ? given : "");
		CU_ASSERT_EQUAL(spawn_helper_path(programs[i / ARRAY_SIZE(modes)], path, sizeof(path), &err), 0);
		CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
		CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(WORLD_GUARD_MS), &status, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(status, 4);
	}
}

/* A flood is told by a note before it, and one for each whole MiB that was taken: a line has at most 8. */
static const struct peer_row peer_rows[] = {
	{ .gateway = "unavailable",
	  .reason = CONTROL_REASON_GATEWAY_LOST,
	  .permitted = 1,
	  .acted = 1,
	  .decisions = 2,
	  .rule = RULE_ALLOW },
	{ .gateway = "dies",
	  .reason = CONTROL_REASON_GATEWAY_LOST,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_ALLOW },
	{ .gateway = "garbage",
	  .reason = CONTROL_REASON_GATEWAY_PROTOCOL,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_ALLOW },
	{ .gateway = "late",
	  .reason = CONTROL_REASON_GATEWAY_TIMEOUT,
	  .call_ms = CALL_MS,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_ALLOW },
	{ .upstream = "dies",
	  .reason = CONTROL_REASON_GATEWAY_FAULT,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_UPSTREAM_LOST },
	{ .upstream = "hangs",
	  .reason = CONTROL_REASON_GATEWAY_FAULT,
	  .call_ms = CALL_MS,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_UPSTREAM_TIMEOUT },
	{ .upstream = "floods",
	  .reason = CONTROL_REASON_GATEWAY_FAULT,
	  .permitted = 2,
	  .acted = 9,
	  .decisions = 3,
	  .rule = RULE_UPSTREAM_LOST },
	{ .upstream = "other-id",
	  .reason = CONTROL_REASON_GATEWAY_FAULT,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_UPSTREAM_LOST },
	{ .upstream = "refuses",
	  .reason = CONTROL_REASON_GATEWAY_FAULT,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_UPSTREAM_ERROR },
	{ .upstream = "breaks-off",
	  .reason = CONTROL_REASON_GATEWAY_FAULT,
	  .permitted = 2,
	  .acted = 1,
	  .decisions = 3,
	  .rule = RULE_UPSTREAM_LOST },
	{ .reason = CONTROL_REASON_NONE },
};

static CU_TestInfo tests[] = {
	{ "each ends the session", test_ends },
	{ "none does without fail-closed", test_fail_open },
	{ "no deadline", test_no_deadline },
	{ "usage", test_usage },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "hostile peers", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("hostile_peers", suites);
}
