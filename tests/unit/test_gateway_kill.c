/*
 * The real gateway, killed at any point of its calls: its chain verifies and goes on, what the real recorder got has
 * its intent, and what was answered its outcome. 25 kills; GATEWAY_KILLS says how many, GATEWAY_SEED where the points
 * are drawn from (said when it fails).
 */
#include "gateway/audit_store.h"
#include "tests/unit/gateway_served.h"

#define KILLS 25
#define SEED 20260919
#define SPAN_MS 25 /* in which it is killed, from its start or its first answer on */
#define KILLS_A_CHAIN 10
#define FLIGHTS 6
#define ANSWERS_MAX 4096

/* One of the calls under way, sent again as soon as it is answered. */
struct flight {
	struct reply reply;
	int number;
};

struct world {
	struct served served;
	struct flight flights[FLIGHTS];
	int last; /* number of a call */
	int answered[ANSWERS_MAX], answered_count;
	off_t seen; /* of the recorder's file */
	size_t deliveries;
	int64_t entries;
};

static unsigned long from_environment(const char *name, unsigned long fallback)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : fallback;
}

/* The recorder in the played upstream's place. */
static void world_init(struct world *world)
{
	struct gateway_server *server = &world->served.rig.config.servers[0];
	char path[RIG_PATH_BYTES];
	struct error *err = NULL;

	*world = (struct world){ .last = 0 };
	served_init(&world->served, "public");
	CU_ASSERT_EQUAL(spawn_helper_path("recorder", path, sizeof(path), &err), 0);
	CU_ASSERT(test_no_error(&err));
	rig_server(&world->served.rig, path);
	server->arguments_count = 0;
	world->served.rig.config.http.address[0] = '\0';
}

static void world_end(struct world *world)
{
	served_end(&world->served);
}

static void send_next(struct world *world, struct flight *flight)
{
	char params[128];

	flight->number = ++world->last;
	snprintf(params, sizeof(params), "{\"name\":\"" PERMITTED "\",\"arguments\":{\"n\":%d}}", flight->number);
	rig_send(&world->served.rig, "tools/call", params, &flight->reply);
}

static void take_answers(struct world *world)
{
	for (int i = 0; i < FLIGHTS; i++) {
		struct flight *flight = &world->flights[i];

		if (flight->reply.times == 0)
			continue;
		if (flight->reply.outcome == MCP_RESULT && world->answered_count < ANSWERS_MAX)
			world->answered[world->answered_count++] = flight->number;
		send_next(world, flight);
	}
}

/* For so long after they were sent, or after the first was answered. */
static void call_for(struct world *world, int64_t nanoseconds, bool answered)
{
	cleanup_error struct error *gone = NULL;
	int64_t guard = clock_deadline(RIG_GUARD_MS), deadline;

	for (int i = 0; i < FLIGHTS; i++)
		send_next(world, &world->flights[i]);
	while (answered && world->flights[0].reply.times == 0 && clock_now() < guard && !gone)
		(void)!mcp_client_dispatch(world->served.rig.client, guard, &gone);
	take_answers(world);
	deadline = clock_add(clock_now(), nanoseconds);
	while (clock_now() < deadline && !gone) {
		(void)!mcp_client_dispatch(world->served.rig.client, deadline, &gone);
		take_answers(world);
	}
	CU_ASSERT_PTR_NULL(gone);
}

static void kill_gateway(struct rig *rig)
{
	struct error *err = NULL;
	int status;

	CU_ASSERT_EQUAL(child_signal(&rig->gateway, SIGKILL), 0);
	CU_ASSERT_EQUAL(child_wait(&rig->gateway, clock_deadline(RIG_GUARD_MS), &status, &err), 0);
	CU_ASSERT(test_no_error(&err));
	mcp_client_free(steal_pointer(&rig->client));
	fd_close(&rig->lifeline);
}

static bool has_entry(sqlite3_stmt *query, int number, const char *type)
{
	char arguments[32], hash[HEX_SHA256 + 8] = "sha256:";
	bool found;

	snprintf(arguments, sizeof(arguments), "{\"n\":%d}", number);
	hash_bytes(arguments, strlen(arguments), hash + strlen("sha256:"));
	(void)sqlite3_bind_text(query, 1, type, -1, SQLITE_STATIC);
	(void)sqlite3_bind_text(query, 2, hash, -1, SQLITE_STATIC);
	found = sqlite3_step(query) == SQLITE_ROW && sqlite3_column_int(query, 0) == 1;
	(void)sqlite3_reset(query);
	return found;
}

static void check_deliveries(struct world *world, sqlite3_stmt *query)
{
	static const char start[] = "{\"tool\":\"permitted.tool\",\"arguments\":{\"n\":";
	off_t size = lseek(world->served.rig.sink, 0, SEEK_END);
	cleanup_free char *text = calloc(1, (size_t)(size - world->seen) + 1);
	char *at = text, *end;

	CU_ASSERT_EQUAL(pread(world->served.rig.sink, text, (size_t)(size - world->seen), world->seen),
			size - world->seen);
	for (; (end = strchr(at, '\n')); at = end + 1) {
		CU_ASSERT_EQUAL(strncmp(at, start, sizeof(start) - 1), 0);
		CU_ASSERT(has_entry(query, atoi(at + sizeof(start) - 1), "call_intent"));
		world->deliveries++;
		world->seen += end + 1 - at;
	}
}

static void check_chain(struct world *world)
{
	char path[RIG_PATH_BYTES];
	struct audit_verdict verdict = { .broken_at = -1 };
	sqlite3_stmt *query = NULL;
	sqlite3 *connection = NULL;
	struct error *err = NULL;

	in_folder(path, world->served.folder, "audit.db");
	CU_ASSERT_EQUAL(audit_verify(path, &verdict, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(!verdict.reason && verdict.chains == 1 && verdict.entries > world->entries);
	world->entries = verdict.entries;
	CU_ASSERT_EQUAL(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	CU_ASSERT_EQUAL(sqlite3_prepare_v2(connection,
					   "SELECT count(*) FROM audit_entries WHERE entry_type = ? AND "
					   "json_extract(payload, '$.request_payload_hash') = ?",
					   -1, &query, NULL),
			SQLITE_OK);
	check_deliveries(world, query);
	for (int i = 0; i < world->answered_count; i++)
		CU_ASSERT(has_entry(query, world->answered[i], "tool_call"));
	world->answered_count = 0;
	sqlite3_finalize(query);
	sqlite3_close(connection);
}

static void test_killed(void)
{
	unsigned long kills = from_environment("GATEWAY_KILLS", KILLS), seed = from_environment("GATEWAY_SEED", SEED);
	unsigned short state[3] = { (unsigned short)seed, (unsigned short)(seed >> 16), 0x330e };
	size_t deliveries = 0;

	for (unsigned long done = 0; done < kills;) {
		__attribute__((cleanup(world_end))) struct world world;

		world_init(&world);
		for (int i = 0; i < KILLS_A_CHAIN && done < kills; i++, done++) {
			rig_start(&world.served.rig);
			call_for(&world, nrand48(state) % (SPAN_MS * NS_PER_MS), done % 2 == 0);
			kill_gateway(&world.served.rig);
			check_chain(&world);
		}
		deliveries += world.deliveries;
	}
	if (CU_get_number_of_failures() > 0)
		fprintf(stderr, "GATEWAY_SEED=%lu GATEWAY_KILLS=%lu\n", seed, kills);
	CU_ASSERT(deliveries > kills / 2);
}

static CU_TestInfo tests[] = {
	{ "killed at any point of its calls", test_killed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway_kill", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return test_main("gateway_kill", suites);
}
