/*
 * Forgeries, each by the real programs: the gateway, the order service or the one that forges, and the observers of
 * both databases. What they see must be what the scenario's cells say, and nothing besides.
 */
#include <sqlite3.h>

#include "services/order_tool.h"
#include "tests/unit/gateway_rig.h"
#include "tests/unit/observing.h"
#include "tests/unit/oracle_world.h"

#define FOLDER_BYTES 64
#define SUBJECTS_MAX 3
#define CALLS_MAX 4
#define USAGE 4

static const char *const watching[] = { "orders", "correlation" };
enum { WATCHING = ARRAY_SIZE(watching) };

struct world {
	const struct scenario *scenario;
	char folder[FOLDER_BYTES];
	struct rig rig;
	struct observing observing[WATCHING];
	struct canary canaries[SUBJECTS_MAX]; /* of the scenario's probes */
	struct reply replies[CALLS_MAX];
	size_t calls;
};

static void world_end(struct world *world)
{
	cleanup_error struct error *err = NULL;

	for (size_t i = 0; i < WATCHING; i++)
		observing_end(&world->observing[i]);
	rig_end(&world->rig);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, world->folder, &err), 0);
}
#define cleanup_world __attribute__((cleanup(world_end)))

/* The first observer draws the canaries, the others are told them. */
static bool expect_subjects(struct world *world, size_t observer)
{
	struct error *err = NULL;

	for (size_t i = 0; i < world->scenario->probes_count; i++) {
		const struct observer_subject row = { .subject = world->scenario->probes[i],
						      .canary = &world->canaries[i],
						      .text = probe_find(world->scenario->probes[i])->tool };

		if (observer == 0 && canary_new(&world->canaries[i], &err) < 0)
			return test_no_error(&err);
		if (observer_expect(world->observing[observer].process, &row, &err) < 0)
			return test_no_error(&err);
	}
	return true;
}

static bool world_watch(struct world *world)
{
	static const char *const inputs[WATCHING] = { "folder", "orders" };
	cleanup_fd int folder = open(world->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < WATCHING; i++)
		if (!observing_start(&world->observing[i], watching[i], NULL) || !expect_subjects(world, i) ||
		    !observing_ready(&world->observing[i]) || !observing_give(&world->observing[i], inputs[i], folder))
			return false;
	return observing_give(&world->observing[1], "audit", folder);
}

static void put_word(struct gateway_server *server, const char *word)
{
	snprintf(server->arguments[server->arguments_count++], GATEWAY_ARGUMENT_BYTES, "%s", word);
}

/* Behind the recorder, as in an arm. */
static void put_service(struct world *world)
{
	const struct peer *peer = &world->scenario->peer;
	struct gateway_config *config = &world->rig.config;
	struct gateway_server *server = &config->servers[config->servers_count];
	char database[FOLDER_BYTES + sizeof("/orders.db")];
	cleanup_fd int program = -1;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(spawn_helper_path(peer->at == PEER_ORDERS ? "hostile-orders" : "order-service", server->command,
					  sizeof(server->command), &err),
			0);
	program = open(server->command, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(hash_fd(program, server->sha256, &err), 0);
	CU_ASSERT(test_no_error(&err));
	server->pass_fd = -1;
	server->call_id = true;
	if (peer->at == PEER_ORDERS)
		put_word(server, peer->does);
	snprintf(database, sizeof(database), "%s/orders.db", world->folder);
	put_word(server, database);
	rig_tool(&world->rig, ORDER_TOOL, "public");
	config->catalog[config->catalog_count - 1].server = (int64_t)config->servers_count++;
	rig_ceiling(&world->rig, ORDER_TOOL, "confidential");
	snprintf(config->audit.path, sizeof(config->audit.path), "%s/audit.db", world->folder);
}

static bool world_begin(struct world *world, const struct scenario *scenario)
{
	*world = (struct world){ .scenario = scenario };
	rig_init(&world->rig);
	snprintf(world->folder, sizeof(world->folder), "/tmp/harness-forged-XXXXXX");
	if (!mkdtemp(world->folder) || !world_watch(world))
		return false;
	put_service(world);
	rig_start(&world->rig);
	return true;
}

/* As the agent does: each probe as often as the scenario says. */
static void world_call(struct world *world)
{
	for (size_t probe = 0; probe < world->scenario->probes_count; probe++)
		for (int64_t try = 0; try < world->scenario->tries; try++) {
			const char *tool = probe_find(world->scenario->probes[probe])->tool;
			char order[RIG_TEXT_BYTES / 4];

			snprintf(order, sizeof(order), "{\"reference\":\"%s\",\"item\":\"book\",\"quantity\":1}",
				 world->canaries[probe].text);
			world->replies[world->calls++] = rig_call(&world->rig, tool, order, "");
		}
	rig_stop(&world->rig);
}

static bool as_planned(const struct world *world, const struct wire_record *record)
{
	const struct expectation *cell = scenario_cell(world->scenario, record->subject, record->observer);
	bool right = record->reason == WIRE_REASON_NONE && record->value == (cell ? cell->value : 0);

	if (!right)
		fprintf(stderr, "%s: %s@%s: %lld, reason %u\n", world->scenario->id, record->subject, record->observer,
			(long long)record->value, record->reason);
	return right;
}

/* Each cell of these observers has its record, and each record is as its cell says, or zero. */
static void compare(struct world *world)
{
	size_t cells = 0;

	for (size_t i = 0; i < WATCHING; i++) {
		struct observing *observing = &world->observing[i];

		CU_ASSERT(observing_report(observing, WIRE_AFTER));
		for (size_t at = 0; at < observing->count; at++) {
			const struct wire_record *record = &observing->records[at];

			CU_ASSERT(as_planned(world, record));
			cells += scenario_cell(world->scenario, record->subject, record->observer) != NULL;
		}
	}
	for (size_t at = 0; at < world->scenario->expect_count; at++)
		for (size_t i = 0; i < WATCHING; i++)
			cells -= strcmp(world->scenario->expect[at].observer, watching[i]) == 0;
	CU_ASSERT_EQUAL(cells, 0);
}

static int64_t planned(const struct world *world, const char *subject)
{
	const struct expectation *cell = scenario_cell(world->scenario, subject, "audit");

	return cell ? cell->value : 0;
}

/* How many of the scenario's calls were answered as made: all but what is denied, or answered as failed. */
static void answered(const struct world *world)
{
	size_t made = 0;

	for (size_t i = 0; i < world->calls; i++)
		made += world->replies[i].outcome == MCP_RESULT;
	CU_ASSERT_EQUAL((int64_t)made, planned(world, "audit-allow"));
	CU_ASSERT_EQUAL((int64_t)(world->calls - made), planned(world, "audit-deny") + planned(world, "audit-fault"));
}

static void forge(const struct scenario *scenario)
{
	cleanup_world struct world world;

	CU_ASSERT(world_begin(&world, scenario));
	world_call(&world);
	answered(&world);
	compare(&world);
}

static void each_forgery(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	struct error *err = NULL;
	size_t count = 0, forged = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i < count; i++) {
		if (scenarios[i].peer.at != PEER_ORDERS)
			continue;
		forge(&scenarios[i]);
		forged++;
	}
	CU_ASSERT(forged >= 8);
}

static int64_t rows(const struct world *world, const char *call, const char *reference)
{
	char path[FOLDER_BYTES + sizeof("/orders.db")];
	sqlite3 *connection = NULL;
	sqlite3_stmt *row = NULL;
	int64_t value = -1;

	snprintf(path, sizeof(path), "%s/orders.db", world->folder);
	if (sqlite3_open(path, &connection) == SQLITE_OK &&
	    sqlite3_prepare_v2(connection, "SELECT count(*) FROM orders WHERE call = ?1 AND reference = ?2", -1, &row,
			       NULL) == SQLITE_OK &&
	    sqlite3_bind_text(row, 1, call, -1, SQLITE_STATIC) == SQLITE_OK &&
	    sqlite3_bind_text(row, 2, reference, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
		value = sqlite3_column_int64(row, 0);
	(void)sqlite3_finalize(row);
	(void)sqlite3_close(connection);
	return value;
}

/* Four honest calls, two and two alike: each has its own row, under the id that its caller was told. */
static void own_rows(void)
{
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_world struct world world;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(world_begin(&world, scenario_find(scenarios, count, "effects/order-twice")));
	world_call(&world);
	CU_ASSERT_EQUAL(world.calls, CALLS_MAX);
	for (size_t i = 0; i < world.calls; i++) {
		const struct canary *canary = &world.canaries[i * world.scenario->probes_count / world.calls];

		CU_ASSERT_EQUAL(rows(&world, world.replies[i].call_id, canary->text), 1);
	}
	answered(&world);
	compare(&world);
}

static void usage(void)
{
	static const char *const manners[] = { NULL, "honest", "copies-id" };

	for (size_t i = 0; i < ARRAY_SIZE(manners); i++) {
		char path[RIG_PATH_BYTES], name[] = "hostile-orders", manner[NAME_MAX_SHORT], database[] = "/";
		bool known = manners[i] && strcmp(manners[i], "copies-id") == 0;
		char *argv[] = { name, manners[i] ? manner : NULL, database, NULL };
		const struct spawn_options options = { SPAWN_DEFAULTS, .path = path, .argv = argv };
		cleanup_child struct child child = CHILD_NONE;
		struct error *err = NULL;
		int status = -1;

		snprintf(manner, sizeof(manner), "%s", manners[i] ? manners[i] : "");
		CU_ASSERT_EQUAL(spawn_helper_path(name, path, sizeof(path), &err), 0);
		CU_ASSERT_EQUAL(spawn(&options, &child, &err), 0);
		CU_ASSERT_EQUAL(child_wait(&child, clock_deadline(RIG_GUARD_MS), &status, &err), 0);
		CU_ASSERT(test_no_error(&err));
		/* A folder is no database. */
		CU_ASSERT_EQUAL(status, known ? USAGE - 1 : USAGE);
	}
}

/* ---- the scenarios themselves --------------------------------------------------------------------------------------
 */

static bool refused(const char *probe, const char *does, const char *subject, const char *says)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_free struct scenario *scenario = calloc(1, sizeof(*scenario));
	char text[RIG_TEXT_BYTES];
	struct error *err = NULL;
	int r;

	snprintf(text, sizeof(text),
		 "{\"title\":\"t\",\"probes\":[\"%s\"]%s%s%s,\"expect\":[{\"subject\":\"%s\",\"observer\":\"orders\","
		 "\"op\":\"eq\",\"value\":1,\"class\":\"control\"}]}",
		 probe, does ? ",\"peer\":{\"at\":\"orders\",\"does\":\"" : "", does ? does : "", does ? "\"}" : "",
		 subject);
	CU_ASSERT_EQUAL(json_parse(text, strlen(text), JSON_DEPTH, &document, &err), 0);
	r = scenario_decode("s", json_root(document), &world_names, scenario, &err);
	if (!says)
		return r == 0 && test_no_error(&err);
	return r < 0 && test_error(&err, ERROR_INPUT, says);
}

static void scenarios_checked(void)
{
	CU_ASSERT(refused("order-gateway", "copies-id", "order-gateway", NULL));
	CU_ASSERT(refused("order-again", "copies-id", "orders-other", NULL));
	CU_ASSERT(refused("order-gateway", "copies-ids", "order-gateway", "did you mean 'copies-id'"));
	CU_ASSERT(refused("permitted", "copies-id", "orders", "peer.at: nobody orders through the gateway here"));
	/* Where nobody forges, an order that bears nobody's canary is a way out. */
	CU_ASSERT(refused("order-gateway", NULL, "orders-other", "is a way out, and no control"));
}

static CU_TestInfo tests[] = {
	{ "each forgery is found as planned", each_forgery },
	{ "each call has its own row", own_rows },
	{ "usage", usage },
	{ "scenarios", scenarios_checked },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "orders forged", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_orders_forged", suites);
}
