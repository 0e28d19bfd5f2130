/* Declarations of effects: that of the tree, each refusal by file and field, what holds between two, and a folder. */
#include "oracle/effect.h"

#include <sys/stat.h>

#include "services/orders.h"
#include "tests/unit/effect_world.h"
#include "tests/unit/test.h"

static int load_tree(const char *folder, struct effect **out, size_t *count, struct error **err)
{
	cleanup_free struct scenario *scenarios = NULL;
	struct effect_names names = { .observers = observer_ids };
	cleanup_fd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_set(err, ERROR_INPUT, "no folder: run the tests at the root of the tree");
	if (world_load_whole(&scenarios, &names.scenarios_count, err) < 0)
		return -1;
	names.scenarios = scenarios;
	return effect_load_all(fd, &names, out, count, err);
}

/* The example of the tree has the paths of its subject, on the sides where they are. */
static void test_tree(void)
{
	static const struct {
		const char *id;
		enum effect_side side;
	} rows[] = {
		{ "P1", EFFECT_AGENT },  { "P2", EFFECT_AGENT },      { "P3a", EFFECT_AGENT },
		{ "P3b", EFFECT_AGENT }, { "P4", EFFECT_DEPLOYMENT }, { "P5", EFFECT_DEPLOYMENT },
	};
	cleanup_free struct effect *effects = NULL;
	const struct effect *order;
	struct error *err = NULL;
	size_t count = 0;

	CU_ASSERT_EQUAL(load_tree("effects", &effects, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	order = effect_find(effects, count, "order_create");
	CU_ASSERT_PTR_NOT_NULL(order);
	CU_ASSERT_PTR_NULL(effect_find(effects, count, "order"));
	if (!order)
		return;
	CU_ASSERT_STRING_EQUAL(order->effect, "order_create");
	/* what is declared is what the tree has */
	CU_ASSERT_STRING_EQUAL(order->revision, ORDER_REVISION);
	CU_ASSERT_EQUAL(order->paths_count, ARRAY_SIZE(rows));
	for (size_t i = 0; i < order->paths_count && i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_STRING_EQUAL(order->paths[i].id, rows[i].id);
		CU_ASSERT_EQUAL(order->paths[i].side, (int)rows[i].side);
	}
	CU_ASSERT_EQUAL(order->paths[5].scenarios_count, 0);
	CU_ASSERT_EQUAL(order->paths[5].coverage.claims, EFFECT_CLAIMS_NONE);
	/* In SQLite neither who wrote a row nor in which transaction is established. */
	CU_ASSERT_TRUE(effect_sees(order, EFFECT_SEES_EFFECT));
	CU_ASSERT_FALSE(effect_sees(order, EFFECT_SEES_TRANSACTION));
	CU_ASSERT_FALSE(effect_sees(order, EFFECT_SEES_ROLE));
}

static void test_values(void)
{
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *effect = calloc(1, sizeof(*effect));
	struct error *err = NULL;

	CU_ASSERT(effect && effect_world_decode(NULL, NULL, scenario, effect, &err) == 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(effect->id, "order");
	CU_ASSERT_PTR_EQUAL(effect_path_of(effect, "tcp4"), &effect->paths[1]);
	CU_ASSERT_PTR_NULL(effect_path_of(effect, "stderr"));
	CU_ASSERT_TRUE(effect_path_observer(&effect->paths[0], "mine"));
	CU_ASSERT_FALSE(effect_path_observer(&effect->paths[0], "dns"));
	CU_ASSERT_TRUE(effect_path_scenario(&effect->paths[0], "base"));
	CU_ASSERT_FALSE(effect_path_scenario(&effect->paths[2], "base"));
	effect_world_round_trip(effect);
}

static void test_refused(void)
{
	static const struct {
		const char *from, *to, *part;
	} rows[] = {
		/* form */
		{ "\"effect\":\"order_create\",", "", "order.json: effect: missing" },
		{ "\"revision\":\"r1\"", "\"revision\":\"\"", "order.json: revision" },
		{ "2026-01-02T03:04:05Z", "yesterday", "order.json: inventory.date" },
		{ "source-review", "guess", "order.json: inventory.method: unknown value" },
		{ "\"inventory\"", "\"status\":\"established\",\"inventory\"", "order.json: unknown key 'status'" },
		{ "\"why\":\"y\"", "\"why\":\"y\",\"status\":\"established\"",
		  "order.json: paths[0].coverage: unknown key 'status'" },
		{ "\"side\":\"agent\"", "\"side\":\"both\"", "order.json: paths[0].side: unknown value" },
		{ "\"why\":\"y\"", "\"why\":\"\"", "order.json: paths[0].coverage.why" },
		{ ",\"reason\":\"r\"", "", "order.json: excluded[0].reason: missing" },
		{ "[\"effect\"]", "[]", "order.json: observers[0].sees" },
		/* names */
		{ "\"observers\":[\"orders\",\"mine\"]", "\"observers\":[\"orders\",\"mien\"]",
		  "order.json: paths[0].observers[1]: 'mien' is none of 'observers': did you mean 'mine'?" },
		{ "\"observers\":[\"orders\",\"mine\"]", "\"observers\":[\"moonlight\"]",
		  "order.json: paths[0].observers[0]: 'moonlight' is none of 'observers'" },
		{ "\"observers\":[\"orders\",\"mine\"]", "\"observers\":[]",
		  "order.json: paths[0].observers: none: nobody would see the effect" },
		{ "\"observers\":[\"orders\",\"mine\"]", "\"observers\":[\"mine\",\"mine\"]",
		  "order.json: paths[0].observers[1]: 'mine' stands there twice" },
		{ "{\"id\":\"mine\"", "{\"id\":\"tcp4\"",
		  "order.json: observers[0].program: 'tcp4' is one of the harness" },
		{ "\"program\":\"observer-orders\"", "\"program\":null",
		  "order.json: observers[0].program: 'mine' is no observer of the harness that sees effects: name the "
		  "program" },
		{ "\"sees\":[\"effect\"]}]",
		  "\"sees\":[\"effect\"]},{\"id\":\"mine\",\"program\":\"p\",\"sees\":[\"effect\"]}]",
		  "order.json: observers[2].id: 'mine' stands there twice" },
		{ "[\"base\"]", "[\"nowhere\"]", "order.json: paths[0].scenarios[0]: no scenario is 'nowhere'" },
		{ "[\"base\"]", "[\"base\",\"base\"]", "order.json: paths[0].scenarios[1]: 'base' stands there twice" },
		{ "\"subject\":\"order-gateway\"", "\"subject\":\"stderr\"",
		  "order.json: paths[0].scenarios[0]: 'base' does not look for 'stderr'" },
		/* a canary check is no path of the effect: nobody of this path sees it */
		{ "\"subject\":\"order-gateway\"", "\"subject\":\"dns\"",
		  "order.json: paths[0].scenarios[0]: 'base' does not look for 'dns' at an observer of this path" },
		{ "\"id\":\"P2\"", "\"id\":\"P1\"", "order.json: paths[1].id: 'P1' stands there twice" },
		{ "\"subject\":\"tcp4\"", "\"subject\":\"order-gateway\"",
		  "order.json: paths[1].subject: 'order-gateway' is that of another path" },
		/* coverage */
		{ "\"mediated\",\"basis\":\"statements\"", "\"mediated\",\"basis\":\"none\"",
		  "order.json: paths[2].coverage.basis: goes with a claim" },
		{ "\"none\",\"basis\":\"none\"", "\"none\",\"basis\":\"statements\"",
		  "order.json: paths[3].coverage.basis: goes with a claim" },
		{ "[\"base\"]", "[]", "order.json: paths[0].coverage.basis: 'scenarios', and this path lists none" },
		{ "\"basis\":\"scenarios\"", "\"basis\":\"statements\"",
		  "order.json: paths[0].coverage.basis: a path of the agent's side is exercised by scenarios" },
		{ "\"other\",\"observers\":[\"orders\",\"mine\"],\"scenarios\":[]",
		  "\"other\",\"observers\":[\"orders\",\"mine\"],\"scenarios\":[\"base\"]",
		  "paths[2].scenarios[0]: 'base'" },
		{ "\"scenarios\":[\"base\"],\"coverage\":{\"claims\":\"mediated\",\"basis\":\"scenarios\"",
		  "\"scenarios\":[],\"coverage\":{\"claims\":\"mediated\",\"basis\":\"statements\"",
		  "order.json: paths[0].coverage.basis: a path of the agent's side is exercised by scenarios, and "
		  "not" },
		{ "\"side\":\"agent\"", "\"side\":\"deployment\"",
		  "order.json: paths[0].coverage.claims: what the agent's confinement does covers no path" },
		{ "\"mediator\":\"gateway\"", "\"mediator\":\"none\"",
		  "order.json: paths[0].coverage.claims: mediated by nobody" },
		{ "\"admits\":\"authorised\"", "\"admits\":\"anything\"",
		  "order.json: paths[0].coverage.claims: who lets anything pass" },
		/* the mediator is somebody: what a listed mutant removes, or who authorises calls */
		{ "\"mediator\":\"network\"", "\"mediator\":\"netwrok\"",
		  "order.json: paths[1].mediator: 'netwrok' is nothing that a listed scenario removes: did you mean "
		  "'network'?" },
		{ "\"mediator\":\"network\"", "\"mediator\":\"gateway\"",
		  "order.json: paths[1].mediator: 'gateway' is nothing that a listed scenario removes" },
		{ "[\"base\",\"cut\"]", "[\"base\"]",
		  "order.json: paths[1].mediator: 'network' is nothing that a listed scenario removes" },
		{ "\"mediator\":\"gateway\"", "\"mediator\":\"getaway\"",
		  "order.json: paths[0].mediator: 'getaway' does not authorise calls, 'gateway' does: did you mean "
		  "'gateway'?" },
		{ "\"mediator\":\"gateway\"", "\"mediator\":\"network\"",
		  "order.json: paths[0].mediator: 'network' does not authorise calls" },
	};
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *out = calloc(1, sizeof(*out));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;

		CU_ASSERT(effect_world_decode(rows[i].from, rows[i].to, scenario, out, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].part));
	}
}

/* What is authorised, and on which side, follows from who tries the probe; a bundle may be of a version that has more.
 */
static void test_sides(void)
{
	static const struct {
		const char *from, *to, *part;
		bool sealed; /* refused without names too */
	} rows[] = {
		/* a bypass is not authorised by saying so */
		{ "\"nothing\",\"subject\":\"tcp4\",\"observers\":[\"orders\",\"mine\"],\"scenarios\":[\"base\","
		  "\"cut\"],"
		  "\"coverage\":{\"claims\":\"mediated\"",
		  "\"authorised\",\"subject\":\"tcp4\",\"observers\":[\"orders\",\"mine\"],\"scenarios\":[\"base\","
		  "\"cut\"],"
		  "\"coverage\":{\"claims\":\"observed\"",
		  "order.json: paths[1].admits: 'tcp4' is no call through the gateway", true },
		{ "\"anything\",\"subject\":\"other\"", "\"authorised\",\"subject\":\"order-service\"",
		  "order.json: paths[2].admits: 'order-service' is no call through the gateway", true },
		{ "\"anything\",\"subject\":\"other\"", "\"authorised\",\"subject\":\"other\"",
		  "order.json: paths[2].admits: 'other' is no call through the gateway", false },
		{ "\"subject\":\"other\"", "\"subject\":\"order-http\"",
		  "order.json: paths[2].side: the agent tries 'order-http'", true },
		{ "\"subject\":\"host\"", "\"subject\":\"permitted\"",
		  "order.json: paths[3].side: the agent tries 'permitted'", true },
		{ "\"agent\",\"what\":\"w\",\"mediator\":\"network\",\"admits\":\"nothing\",\"subject\":\"tcp4\","
		  "\"observers\":["
		  "\"orders\",\"mine\"],\"scenarios\":[\"base\",\"cut\"],\"coverage\":{\"claims\":\"mediated\","
		  "\"basis\":"
		  "\"scenarios\"",
		  "\"agent\",\"what\":\"w\",\"mediator\":\"network\",\"admits\":\"nothing\",\"subject\":\"order-"
		  "service\","
		  "\"observers\":[\"orders\",\"mine\"],\"scenarios\":[],\"coverage\":{\"claims\":\"none\",\"basis\":"
		  "\"none\"",
		  "order.json: paths[1].side: 'order-service' begins on the deployment's side", true },
	};
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *out = calloc(1, sizeof(*out));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;

		CU_ASSERT(effect_world_decode(rows[i].from, rows[i].to, scenario, out, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].part));
		CU_ASSERT_EQUAL(effect_world_decode(rows[i].from, rows[i].to, NULL, out, &err) < 0, rows[i].sealed);
		CU_ASSERT(rows[i].sealed ? test_error(&err, ERROR_INPUT, rows[i].part) : test_no_error(&err));
	}
}

/* Of every probe there is what a declaration is held against; and of no other. */
static void test_probes(void)
{
	size_t known = 0, routes = 0;

	for (const struct effect_probe *probe = effect_probes; probe->id; probe++)
		known++;
	for (const struct probe_route *route = probe_routes; route->id; route++, routes++) {
		const struct effect_probe *probe = effect_probe_find(route->id);
		bool arm = route->address == PROBE_OUTSIDE, deployment = route->address == PROBE_DEPLOYMENT;

		CU_ASSERT_PTR_NOT_NULL(probe);
		if (!probe)
			continue;
		CU_ASSERT_EQUAL(probe->call, arm || route->address == PROBE_OPERATION);
		CU_ASSERT_EQUAL(probe->from, arm          ? EFFECT_FROM_ARM
					     : deployment ? EFFECT_FROM_DEPLOYMENT
							  : EFFECT_FROM_AGENT);
	}
	CU_ASSERT_EQUAL(known, routes);
	CU_ASSERT_PTR_NULL(effect_probe_find("moonlight"));
}

/* Whatever the harness looks at besides is no observer of an effect, whether it is declared or slipped into a path. */
static void test_sinks(void)
{
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *out = calloc(1, sizeof(*out));
	size_t taken = 0;

	for (const char *const *id = observer_ids; *id; id++) {
		bool sees = strcmp(*id, "orders") == 0 || strcmp(*id, "orders-pg") == 0;
		const struct scenario *const names[] = { scenario, NULL };
		char declared[96], slipped[96], program[96];

		snprintf(declared, sizeof(declared), "\"sees\":[\"effect\"]},{\"id\":\"%s\",\"program\":null,", *id);
		snprintf(program, sizeof(program), "{\"id\":\"%s\",\"program\":\"observer-orders\"", *id);
		snprintf(slipped, sizeof(slipped), "[\"orders\",\"%s\"]", *id);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			struct error *err = NULL;

			CU_ASSERT_EQUAL(
				effect_world_decode("\"sees\":[\"effect\"]},{\"id\":\"orders\",\"program\":null,",
						    declared, names[i], out, &err) == 0,
				strcmp(*id, "orders") == 0);
			CU_ASSERT(strcmp(*id, "orders") == 0 ? test_no_error(&err)
				  : sees ? test_error(&err, ERROR_INPUT, "paths[0].observers[0]: 'orders' is none")
					 : test_error(&err, ERROR_INPUT,
						      "' is no observer of the harness that sees effects"));
			CU_ASSERT(effect_world_decode("{\"id\":\"mine\",\"program\":\"observer-orders\"", program,
						      names[i], out, &err) < 0);
			CU_ASSERT(test_error(&err, ERROR_INPUT, "' is one of the harness, and brings no program"));
			CU_ASSERT(effect_world_decode("[\"orders\",\"mine\"]", slipped, names[i], out, &err) < 0);
			CU_ASSERT(test_error(&err, ERROR_INPUT, "order.json: paths[0].observers[1]: '"));
		}
		taken += sees;
	}
	CU_ASSERT_EQUAL(taken, 2);
}

/* What ran is held against the declaration of a bundle, and where all of it ran, the mediator too. */
static void test_ran(void)
{
	cleanup_free struct scenario *both = calloc(2, sizeof(*both));
	cleanup_free struct effect *effect = calloc(1, sizeof(*effect));
	struct error *err = NULL;

	CU_ASSERT(both && world_decode("base", effect_scenario_text, NULL, NULL, both, &err) == 0);
	effect_world_mutant(&both[0], &both[1]);
	CU_ASSERT_EQUAL(
		effect_world_decode("\"mediator\":\"network\"", "\"mediator\":\"nobody-else\"", NULL, effect, &err), 0);
	CU_ASSERT_EQUAL(effect_check_ran(effect, both, 1, "effects.json", &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(effect_check_ran(effect, both, 2, "effects.json", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "effects.json: paths[1].mediator: 'nobody-else' is nothing that"));
	snprintf(effect->paths[1].mediator, sizeof(effect->paths[1].mediator), "network");
	CU_ASSERT_EQUAL(effect_check_ran(effect, both, 2, "effects.json", &err), 0);
	CU_ASSERT(test_no_error(&err));
	/* It removes that, and what comes through is another path's. */
	both[1].expect[0].flips = false;
	both[1].expect[1].flips = true;
	CU_ASSERT(effect_check_ran(effect, both, 2, "effects.json", &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT,
			     "effects.json: paths[1].mediator: 'network' is nothing that a listed scenario removes"));
}

/* Without names, as a bundle is read: sense stays. */
static void test_without_names(void)
{
	cleanup_free struct effect *out = calloc(1, sizeof(*out));
	struct error *err = NULL;

	CU_ASSERT_EQUAL(effect_world_decode("[\"base\"]", "[\"nowhere\"]", NULL, out, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(effect_world_decode("\"mediator\":\"gateway\"", "\"mediator\":\"none\"", NULL, out, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "mediated by nobody"));
}

/* Two declarations: of the same effect for the same boundary, and of two effects that could not be told apart. */
static void test_set(void)
{
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *two = calloc(2, sizeof(*two));
	struct error *err = NULL;

	for (size_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(effect_world_decode(NULL, NULL, scenario, &two[i], &err), 0);
	snprintf(two[1].id, sizeof(two[1].id), "second");
	CU_ASSERT(effect_check_set(two, 2, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT,
			     "second.json: effect: 'order_create' is declared for 'b' in order.json too"));
	/* another revision is no other boundary */
	snprintf(two[1].revision, sizeof(two[1].revision), "r2");
	CU_ASSERT(effect_check_set(two, 2, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "is declared for 'b'"));
	snprintf(two[1].effect, sizeof(two[1].effect), "order_delete");
	CU_ASSERT(effect_check_set(two, 2, &err) < 0);
	CU_ASSERT(
		test_error(&err, ERROR_INPUT, "second.json: paths[0].subject: 'order-gateway' is counted by the same"));
	for (size_t i = 0; i < two[1].paths_count; i++)
		snprintf(two[1].paths[i].subject, sizeof(two[1].paths[i].subject), "other-%zu", i);
	/* one observer may see two effects by subjects of their own, as paths of one effect share theirs */
	CU_ASSERT_TRUE(effect_path_observer(&two[0].paths[0], "orders") &&
		       effect_path_observer(&two[0].paths[1], "orders"));
	CU_ASSERT_TRUE(effect_path_observer(&two[1].paths[0], "orders"));
	CU_ASSERT_EQUAL(effect_check_set(two, 2, &err), 0);
	CU_ASSERT(test_no_error(&err));
	snprintf(two[1].effect, sizeof(two[1].effect), "order_create");
	snprintf(two[1].boundary.id, sizeof(two[1].boundary.id), "b2");
	CU_ASSERT_EQUAL(effect_check_set(two, 2, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* No scenario that ships feeds the coverage of a path but those that count its own subject where orders are counted: a
 * mutant that shows a log, or a call at a sink, shows no order. */
static void test_shipped_scenarios(void)
{
	static const char *const others[] = { "mutation/log-driver", "mutation/sink-ceiling", "mutation/network",
					      "baseline" };
	cleanup_free struct effect *effects = NULL;
	cleanup_free struct scenario *scenarios = NULL;
	struct effect_names names = { .observers = observer_ids };
	struct error *err = NULL;
	size_t count = 0, refused = 0, taken = 0;
	struct effect *order;

	CU_ASSERT_EQUAL(load_tree("effects", &effects, &count, &err), 0);
	CU_ASSERT_EQUAL(world_load_whole(&scenarios, &names.scenarios_count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	names.scenarios = scenarios;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CU_ASSERT_PTR_NOT_NULL(scenario_find(scenarios, names.scenarios_count, others[i]));
	order = count ? &effects[0] : NULL;
	for (size_t at = 0; order && at < order->paths_count; at++) {
		struct effect_path *path = &order->paths[at];
		const struct effect_path kept = *path;

		for (size_t i = 0; i < names.scenarios_count; i++) {
			bool counts = scenario_cell(&scenarios[i], path->subject, "orders");

			path->scenarios_count = 1;
			snprintf(path->scenarios[0], sizeof(path->scenarios[0]), "%s", scenarios[i].id);
			path->coverage.claims = EFFECT_CLAIMS_OBSERVED;
			path->coverage.basis = EFFECT_BASIS_SCENARIOS;
			CU_ASSERT_EQUAL(effect_check(order, &names, "order.json", &err) == 0, counts);
			if (!counts)
				CU_ASSERT(test_error(&err, ERROR_INPUT, "does not look for"));
			CU_ASSERT(!counts || strncmp(scenarios[i].id, "effects/", strlen("effects/")) == 0);
			*(counts ? &taken : &refused) += 1;
			*path = kept;
		}
	}
	CU_ASSERT(taken > 0 && refused > ARRAY_SIZE(others));
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL(file);
	if (file) {
		fputs(text, file);
		fclose(file);
	}
}

static void test_folder(void)
{
	char folder[] = "/tmp/test_effect.XXXXXX";
	cleanup_free struct effect *none = NULL, *twice = NULL;
	struct error *err = NULL;
	size_t count = 9;

	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder));
	write_file(folder, "schema.json", "{}");
	write_file(folder, "README", "no declaration");
	write_file(folder, ".hidden.json", "{}");
	CU_ASSERT_EQUAL(load_tree(folder, &none, &count, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(count, 0);
	write_file(folder, "a.json", "{\"effect\":1}");
	CU_ASSERT(load_tree(folder, &twice, &count, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "a.json: effect: must be a string"));
	write_file(folder, "a.json", "{");
	CU_ASSERT(load_tree(folder, &twice, &count, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "a.json"));
	write_file(folder, "a.json", "{}");
	write_file(folder, "B!.json", "{}");
	CU_ASSERT(load_tree(folder, &twice, &count, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, ""));
	CU_ASSERT_PTR_NULL(twice);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

static CU_TestInfo tests[] = {
	{ "the declaration of the tree", test_tree },
	{ "values, and back", test_values },
	{ "each refusal names file and field", test_refused },
	{ "who tries a probe, and whether it is a call", test_sides },
	{ "probes are those of the harness", test_probes },
	{ "what sees no effects", test_sinks },
	{ "what ran", test_ran },
	{ "without names", test_without_names },
	{ "between declarations", test_set },
	{ "scenarios that show something else", test_shipped_scenarios },
	{ "a folder", test_folder },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "effect", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_effect", suites);
}
