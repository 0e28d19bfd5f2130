/* The table of routes: every word of it is in the table that it names, and every word of those tables is in a route. */
#include <stdlib.h>

#include "mutations/mutation.h"
#include "runner/routes_check.h"
#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

#define ROUTES_MAX 64
#define IDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct world {
	struct scenario *scenarios;
	size_t count;
	struct route table[ROUTES_MAX];
	size_t routes_count;
};

static void world_end(struct world *world)
{
	free(world->scenarios);
}
#define cleanup_routes __attribute__((cleanup(world_end)))

/* A copy of the table, to plant something in. */
static bool world_begin(struct world *world)
{
	struct error *err = NULL;

	*world = (struct world){ .scenarios = NULL };
	while (routes[world->routes_count].id && world->routes_count < ROUTES_MAX - 1) {
		world->table[world->routes_count] = routes[world->routes_count];
		world->routes_count++;
	}
	CU_ASSERT_PTR_NULL(routes[world->routes_count].id);
	return world_load_whole(&world->scenarios, &world->count, &err) == 0 && test_no_error(&err);
}

static struct route *route_of(struct world *world, const char *id)
{
	for (size_t i = 0; i < world->routes_count; i++)
		if (strcmp(world->table[i].id, id) == 0)
			return &world->table[i];
	fprintf(stderr, "no route %s\n", id);
	abort();
}

static void refused(struct world *world, const char *part)
{
	const struct route_names names = route_names_of(world->scenarios, world->count);
	struct error *err = NULL;

	CU_ASSERT(routes_check(world->table, &names, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INTERNAL, part));
}

static void test_holds(void)
{
	cleanup_routes struct world world = { .scenarios = NULL };
	struct error *err = NULL;

	CU_ASSERT(world_begin(&world));
	const struct route_names names = route_names_of(world.scenarios, world.count);

	CU_ASSERT_EQUAL(routes_check(routes, &names, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Those that the source text names. */
static void test_required(void)
{
	static const char *const required[] = {
		"initial-input",
		"returned-results",
		"approved-arguments",
		"other-tools",
		"other-endpoints",
		"children",
		"files",
		"inherited",
		"stdout",
		"stderr-and-logs",
		"audit",
		"telemetry",
		"crash-of-the-agent",
		"shutdown",
		"restart",
		"crash-of-our-parts",
	};

	for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
		size_t found = 0;

		for (const struct route *route = routes; route->id; route++)
			found += strcmp(route->id, required[i]) == 0;
		if (found != 1)
			fprintf(stderr, "route %s: %zu times\n", required[i], found);
		CU_ASSERT_EQUAL(found, 1);
	}
	for (const struct route *route = routes; route->id; route++) {
		CU_ASSERT(route->title && route->mediator && route->missing);
		/* What no mutant shows says so. */
		CU_ASSERT(route->mutations || route->rest);
		CU_ASSERT(route->scenarios || route->rest);
	}
}

/* Each kind of word, one that is in no table. */
static void test_unknown(void)
{
	cleanup_routes struct world world = { .scenarios = NULL };
	struct route *route, kept;

	CU_ASSERT(world_begin(&world));
	route = route_of(&world, "files");
	kept = *route;
	route->subjects = IDS("file", "fil");
	refused(&world, "route files: fil: no such probe or measure");
	*route = kept;
	route->observers = IDS("files-archive", "files");
	refused(&world, "route files: files: no such observer");
	*route = kept;
	route->mutations = IDS("read-only", "read-write");
	refused(&world, "route files: read-write: no such mutation");
	*route = kept;
	route->rules = IDS("read-only-root", "writable");
	refused(&world, "route files: writable: no such rule");
	*route = kept;
	route->scenarios = IDS("baseline", "mutation/read-onl");
	refused(&world, "route files: mutation/read-onl: no such scenario");
	route->scenarios = IDS("baseline", "nothing/*");
	refused(&world, "route files: nothing/*: no such scenario");
}

/* Words that are there, in a route where they have no place. */
static void test_senseless(void)
{
	cleanup_routes struct world world = { .scenarios = NULL };
	struct route *route, kept;

	CU_ASSERT(world_begin(&world));
	route = route_of(&world, "files");
	kept = *route;
	route->mutations = IDS("read-only", "log-driver");
	refused(&world, "route files: log-driver: none of the route's scenarios takes it away");
	*route = kept;
	/* It is taken away there, but the cell that turns is another observer's. */
	route->observers = IDS("capture-host");
	refused(&world, "route files: ");
	*route = kept;
	route->scenarios = IDS("baseline", "mutation/watchdog");
	refused(&world, "route files: mutation/watchdog: looks at none of the route's observers");
	*route = kept;
	route->subjects = IDS("file", "slow");
	refused(&world, "route files: slow: none of the route's scenarios tries it");
	*route = kept;
	route->observers =
		IDS("files-archive", "files-changes", "files-upper", "files-root", "orders", "orders-pg", "spans");
	refused(&world, "route files: spans: none of the route's scenarios looks at it");
	*route = kept;
	*route_of(&world, "deleted-files") =
		(struct route){ .id = "deleted-files", .subjects = IDS("file-delete", "tcp4") };
	refused(&world, "route deleted-files: tcp4: a scenario tries it, and the route has none");
	route->rules = IDS("read-only-root");
	refused(&world, "route files: writable-mounts: a rule that the route's mutation must fail");
}

/* What is new in a table must be given a route. */
static void test_new(void)
{
	cleanup_routes struct world world = { .scenarios = NULL };
	struct error *err = NULL;

	CU_ASSERT(world_begin(&world));
	struct route_names names = route_names_of(world.scenarios, world.count);

	names.probes = IDS("tcp4", "raw-socket");
	CU_ASSERT(routes_check(routes, &names, &err) < 0);
	CU_ASSERT(error_code(err) == ERROR_INTERNAL);
	error_free(err);
	err = NULL;
	names = route_names_of(world.scenarios, world.count);
	names.measures = IDS("loss_to_dead", "temperature");
	CU_ASSERT(routes_check(routes, &names, &err) < 0);
	error_free(err);
}

enum part { RULES, SUBJECTS, OBSERVERS, MUTATIONS };

/* A row that loses the only mention of a word. */
static void test_left_out(void)
{
	static const struct {
		const char *route;
		enum part part;
		const char *said;
	} rows[] = {
		{ "files", RULES, "rule image-volumes stands in no route" },
		{ "restart", RULES, "rule image-healthcheck stands in no route" },
		{ "deleted-files", SUBJECTS, "probe file-delete stands in no route" },
		{ "deployment", SUBJECTS, "probe order-service stands in no route" },
		{ "changes-from-outside", SUBJECTS, "measure renamed stands in no route" },
		{ "inherited", OBSERVERS, "observer children stands in no route" },
		{ "revoked-tools", MUTATIONS, "mutation policy stands in no route" },
		{ "shutdown", MUTATIONS, "mutation watchdog stands in no route" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_routes struct world world = { .scenarios = NULL };
		struct route *route;

		CU_ASSERT(world_begin(&world));
		route = route_of(&world, rows[i].route);
		if (rows[i].part == RULES)
			route->rules = NULL;
		else if (rows[i].part == SUBJECTS)
			route->subjects = NULL;
		else
			route->mutations = NULL;
		if (rows[i].part == RULES)
			route->mutations = NULL;
		if (rows[i].part == OBSERVERS)
			route->observers = route->scenarios = NULL;
		refused(&world, rows[i].said);
	}
}

static CU_TestInfo tests[] = {
	{ "hold against the tables of the code", test_holds },
	{ "those that there must be", test_required },
	{ "a word that no table has", test_unknown },
	{ "a word in the wrong route", test_senseless },
	{ "a probe or a measure that is new", test_new },
	{ "a row that is left out", test_left_out },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "routes", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("routes", suites);
}
