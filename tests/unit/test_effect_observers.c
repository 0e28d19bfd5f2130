/* Observers of an effect: what a declaration may bring, paths that share one, and one that sees two effects. */
#include "tests/unit/claims_world.h"
#include "tests/unit/test.h"

#define MINE "\"program\":\"observer-orders\","

/* What a program is given and reports beside the probes, and back from the form of a bundle. */
static void values(void)
{
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *effect = calloc(1, sizeof(*effect));
	struct error *err = NULL;

	CU_ASSERT_EQUAL(effect_world_decode(
				MINE, "\"program\":\"mine.py\",\"inputs\":[\"root\",\"proc\"],\"measures\":[\"gone\"],",
				scenario, effect, &err),
			0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(effect->observers[0].inputs_count, 2);
	CU_ASSERT_STRING_EQUAL(effect->observers[0].inputs[1], "proc");
	CU_ASSERT_EQUAL(effect->observers[0].measures_count, 1);
	CU_ASSERT_STRING_EQUAL(effect->observers[0].measures[0], "gone");
	effect_world_round_trip(effect);
}

static void refused(void)
{
	static const struct {
		const char *to, *part;
		bool sense; /* refused without names too */
	} rows[] = {
		{ "\"program\":\"a/b\",", "observers[0].program: the name of a file beside the declaration", true },
		{ "\"program\":\".b\",", "observers[0].program: the name of a file beside the declaration", true },
		{ "\"program\":\"../b\",", "order.json: observers[0].program", true },
		{ "\"program\":null,\"inputs\":[\"root\"],", "observers[0].program: ", true },
		{ "\"program\":null,\"measures\":[\"gone\"],", "observers[0].program: ", true },
		{ MINE "\"inputs\":[\"root\",\"root\"],", "observers[0].inputs[1]: 'root' stands there twice", true },
		{ MINE "\"measures\":[\"gone\",\"gone\"],", "observers[0].measures[1]: 'gone' stands there twice",
		  true },
		{ MINE "\"inputs\":[\"roof\"],", "observers[0].inputs[0]: no arm gives 'roof'", false },
		{ MINE "\"measures\":[\"alive\"],", "observers[0].measures[0]: 'alive' is one of the harness", false },
		{ MINE "\"inputs\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"],",
		  "order.json: observers[0].inputs", true },
	};
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *out = calloc(1, sizeof(*out));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;

		CU_ASSERT(effect_world_decode(MINE, rows[i].to, scenario, out, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].part));
		CU_ASSERT_EQUAL(effect_world_decode(MINE, rows[i].to, NULL, out, &err) < 0, rows[i].sense);
		error_free(err);
	}
}

/* Two declarations that bring one observer bring one program. */
static void one_program(void)
{
	static const struct {
		const char *to;
		bool same;
	} rows[] = {
		{ MINE, true },
		{ "\"program\":\"observer-other\",", false },
		{ MINE "\"inputs\":[\"root\"],", false },
		{ MINE "\"measures\":[\"gone\"],", false },
	};
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *two = calloc(2, sizeof(*two));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error *err = NULL;

		CU_ASSERT_EQUAL(effect_world_decode(NULL, NULL, scenario, &two[0], &err), 0);
		CU_ASSERT_EQUAL(effect_world_decode(MINE, rows[i].to, scenario, &two[1], &err), 0);
		CU_ASSERT(test_no_error(&err));
		snprintf(two[1].id, sizeof(two[1].id), "second");
		snprintf(two[1].effect, sizeof(two[1].effect), "order_delete");
		for (size_t path = 0; path < two[1].paths_count; path++)
			snprintf(two[1].paths[path].subject, sizeof(two[1].paths[path].subject), "other-%zu", path);
		CU_ASSERT_EQUAL(effect_check_set(two, 2, &err) == 0, rows[i].same);
		if (rows[i].same) {
			CU_ASSERT(test_no_error(&err));
		} else {
			CU_ASSERT(test_error(&err, ERROR_INPUT,
					     "second.json: observers[0]: 'mine' is another program in order.json"));
		}
	}
}

/* Two paths of one declaration share their observer by their subjects; one subject for both is refused, and so is one
 * that another declaration counts there. */
static void shared(void)
{
	cleanup_free struct scenario *scenario = base_scenario();
	cleanup_free struct effect *two = calloc(2, sizeof(*two));
	struct error *err = NULL;

	CU_ASSERT_EQUAL(effect_world_decode(NULL, NULL, scenario, &two[0], &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_TRUE(effect_path_observer(&two[0].paths[0], "mine"));
	CU_ASSERT_TRUE(effect_path_observer(&two[0].paths[1], "mine"));
	CU_ASSERT(effect_world_decode("\"subject\":\"tcp4\"", "\"subject\":\"order-gateway\"", scenario, &two[1],
				      &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "paths[1].subject: 'order-gateway' is that of another path"));
	CU_ASSERT_EQUAL(effect_world_decode(NULL, NULL, scenario, &two[1], &err), 0);
	snprintf(two[1].id, sizeof(two[1].id), "second");
	CU_ASSERT(effect_check_set(two, 2, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT,
			     "second.json: effect: 'order_create' is declared for 'b' in order.json too"));
	snprintf(two[1].boundary.id, sizeof(two[1].boundary.id), "b2");
	CU_ASSERT(effect_check_set(two, 2, &err) < 0);
	CU_ASSERT(
		test_error(&err, ERROR_INPUT, "second.json: paths[0].subject: 'order-gateway' is counted by the same"));
	/* where their observers differ, so do the effects */
	for (size_t path = 0; path < two[1].paths_count; path++) {
		two[1].paths[path].observers_count = 1;
		snprintf(two[1].paths[path].observers[0], NAME_MAX_SHORT, "yours");
	}
	CU_ASSERT_EQUAL(effect_check_set(two, 2, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Only what is counted under a path's own subject is of the effect. */
static bool rests_on(const struct claims *claims, const char *observation)
{
	const struct claim *claim = &claims->claims[CLAIM_OBSERVATION];

	for (size_t i = 0; i < claim->rests_on_count; i++)
		if (strcmp(claim->rests_on[i], observation) == 0)
			return true;
	return false;
}

static void derive(struct claims_world *world, const struct effect *effect)
{
	struct error *err = NULL;

	world->input.effect = world->input.ground.effect = effect;
	CU_ASSERT_EQUAL(claims_derive(&world->input, &world->claims, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* One observer sees two effects: what it counts of the one says nothing of the other. */
static void two_effects(void)
{
	cleanup_free struct claims_world *world = claims_world_new();
	cleanup_free struct effect *two = calloc(2, sizeof(*two));
	const struct claim *mediation = &world->claims.claims[CLAIM_MEDIATION];
	struct error *err = NULL;

	/* what was assessed is of other paths */
	world->input.statements_count = 0;
	two[0] = two[1] = world->effect;
	snprintf(two[1].id, sizeof(two[1].id), "second");
	snprintf(two[1].effect, sizeof(two[1].effect), "order_delete");
	/* the first keeps P1, and the second has P2 alone */
	two[0].paths_count = 1;
	two[1].paths[0] = two[1].paths[1];
	two[1].paths_count = 1;
	CU_ASSERT_EQUAL(effect_check_set(two, 2, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_TRUE(effect_path_observer(&two[0].paths[0], "orders") &&
		       effect_path_observer(&two[1].paths[0], "orders"));
	derive(world, &two[0]);
	CU_ASSERT_TRUE(rests_on(&world->claims, "o-0") && !rests_on(&world->claims, "o-1"));
	derive(world, &two[1]);
	CU_ASSERT_TRUE(rests_on(&world->claims, "o-1") && !rests_on(&world->claims, "o-0"));
	world->observations[1].value = 1;
	world->cells[1].verdict = VERDICT_FAIL;
	world->cells[1].because = BECAUSE_VALUE;
	derive(world, &two[1]);
	CU_ASSERT_EQUAL(mediation->status, CLAIM_REFUTED);
	derive(world, &two[0]);
	CU_ASSERT_NOT_EQUAL(mediation->status, CLAIM_REFUTED);
	CU_ASSERT_EQUAL(world->claims.claims[CLAIM_OBSERVATION].status, CLAIM_ESTABLISHED);
}

/* Two paths of one effect share their observer: a bypass is that of its own path. */
static void two_paths(void)
{
	cleanup_free struct claims_world *world = claims_world_new();
	const struct claim *mediation = &world->claims.claims[CLAIM_MEDIATION];

	CU_ASSERT_TRUE(effect_path_observer(&world->effect.paths[0], "orders") &&
		       effect_path_observer(&world->effect.paths[1], "orders"));
	derive(world, &world->effect);
	CU_ASSERT_EQUAL(mediation->status, CLAIM_ESTABLISHED);
	world->observations[1].value = 1;
	world->cells[1].verdict = VERDICT_FAIL;
	world->cells[1].because = BECAUSE_VALUE;
	derive(world, &world->effect);
	CU_ASSERT_EQUAL(mediation->status, CLAIM_REFUTED);
	CU_ASSERT_EQUAL(mediation->refuted_count, 1);
	CU_ASSERT_STRING_EQUAL(mediation->refuted[0].path, "P2");
}

static CU_TestInfo tests[] = {
	{ "what a program is given, and back", values },
	{ "each refusal names file and field", refused },
	{ "an observer of two declarations is one program", one_program },
	{ "paths share an observer by their subjects", shared },
	{ "one observer that sees two effects", two_effects },
	{ "two paths with one observer", two_paths },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ .pName = "observers", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("effect_observers", suites);
}
