/*
 * Claims and the scenarios in which an order service forges: they are no path's of the example, so that nothing rests
 * on them; who lists one for a path is refuted by it, or has not established what it says.
 */
#include "tests/unit/claims_world.h"
#include "tests/unit/test.h"

#define EXAMPLE "order_create"
#define FORGED "effects/forged-"

static const struct {
	const char *scenario;
	const char *says; /* what becomes of the claims, where all were established */
} forgeries[] = {
	{ FORGED "again", "correlation refuted: !second_effect_of_call@P1" },
	{ FORGED "answer", "correlation not_established: read_back@P1" },
	{ FORGED "denied",
	  "authorization refuted: !effect_of_denied_call@P1; correlation refuted: !effect_of_denied_call@P1" },
	{ FORGED "failure", "" },
	{ FORGED "id", "correlation refuted: !copied_id@P1 read_back@P1" },
	{ FORGED "id-alike", "correlation refuted: !second_effect_of_call@P1 read_back@P1" },
	{ FORGED "own", "correlation refuted: !effect_without_call@P1" },
	{ FORGED "rollback", "correlation not_established: read_back@P1" },
};

struct tree {
	struct scenario *scenarios;
	size_t count;
	struct effect *effects;
	size_t effects_count;
};

static void tree_free(struct tree *tree)
{
	free(tree->scenarios);
	free(tree->effects);
}
#define cleanup_tree __attribute__((cleanup(tree_free)))

static bool tree_load(struct tree *tree)
{
	cleanup_fd int folder = open("effects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct effect_names names = { .observers = observer_ids };
	struct error *err = NULL;
	int r = world_load_whole(&tree->scenarios, &tree->count, &err);

	names.scenarios = tree->scenarios;
	names.scenarios_count = tree->count;
	if (r == 0)
		r = effect_load_all(folder, &names, &tree->effects, &tree->effects_count, &err);
	return test_no_error(&err) && r == 0;
}

/* A run of this scenario in which each cell was met. */
struct met {
	struct observation observations[ARM_CELLS_MAX];
	struct verdict_cell cells[ARM_CELLS_MAX];
	struct verdicts verdicts;
};

static struct met *met_new(const struct scenario *scenario)
{
	struct met *met = calloc(1, sizeof(*met));

	if (!met)
		abort();
	for (size_t i = 0; i < scenario->expect_count; i++) {
		snprintf(met->observations[i].id, sizeof(met->observations[i].id), "o-%zu", i);
		met->observations[i].value = scenario->expect[i].value;
		met->observations[i].status = OBSERVATION_OBSERVED;
		met->cells[i] = (struct verdict_cell){ .scenario = scenario,
						       .expectation = &scenario->expect[i],
						       .observation = &met->observations[i],
						       .verdict = VERDICT_PASS,
						       .because = BECAUSE_MET };
	}
	met->verdicts = (struct verdicts){ .cells = met->cells, .cells_count = scenario->expect_count };
	return met;
}

/* What the rules make of these findings, where all else is established; complete mediation only repeats it. */
static void render(struct correlation *found, struct buf *out)
{
	cleanup_free struct claims_world *world = claims_world_new();
	struct error *err = NULL;
	char *rest;

	for (size_t i = 0; i < found->count; i++)
		snprintf(found->findings[i].subject, sizeof(found->findings[i].subject), "%s",
			 world->effect.paths[WORLD_P1].subject);
	world->input.correlation = found;
	CU_ASSERT_EQUAL(claims_derive(&world->input, &world->claims, &err), 0);
	CU_ASSERT(test_no_error(&err));
	claims_render(&world->claims, out);
	rest = strstr(out->data ? out->data : "", "; complete_mediation");
	if (rest)
		*rest = '\0';
}

static void test_listed(void)
{
	cleanup_tree struct tree tree = { .scenarios = NULL };
	size_t forged = 0;

	CU_ASSERT(tree_load(&tree));
	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		const struct scenario *scenario = scenario_find(tree.scenarios, tree.count, forgeries[i].scenario);
		const struct effect *example = effect_find(tree.effects, tree.effects_count, EXAMPLE);
		cleanup_free struct effect *effect = calloc(1, sizeof(*effect));
		cleanup_free struct met *met = met_new(scenario);
		cleanup_correlation struct correlation found = { .findings = NULL };
		cleanup_buf struct buf says = BUF(SCENARIO_BYTES);
		struct error *err = NULL;
		bool any = false;

		*effect = *example;
		snprintf(effect->paths[0].scenarios[effect->paths[0].scenarios_count++], ID_MAX, "%s",
			 forgeries[i].scenario);
		CU_ASSERT_EQUAL(claims_findings(effect, &met->verdicts, &found, &any, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(any);
		render(&found, &says);
		CU_ASSERT_STRING_EQUAL(buf_string(&says), forgeries[i].says);
		if (strcmp(buf_string(&says), forgeries[i].says) != 0)
			fprintf(stderr, "%s: %s\n", forgeries[i].scenario, buf_string(&says));
	}
	for (size_t i = 0; i < tree.count; i++)
		forged += tree.scenarios[i].peer.at == PEER_ORDERS;
	CU_ASSERT_EQUAL(forged, ARRAY_SIZE(forgeries));
}

/* No declaration of ours lists one, and then there is nothing that it found. */
static void test_not_listed(void)
{
	cleanup_tree struct tree tree = { .scenarios = NULL };

	CU_ASSERT(tree_load(&tree));
	for (size_t i = 0; i < tree.count; i++) {
		const struct scenario *scenario = &tree.scenarios[i];
		cleanup_free struct met *met = met_new(scenario);

		for (size_t at = 0; at < tree.effects_count && scenario->peer.at == PEER_ORDERS; at++) {
			const struct effect *effect = &tree.effects[at];
			cleanup_correlation struct correlation found = { .findings = NULL };
			struct error *err = NULL;
			bool any = true;

			for (size_t path = 0; path < effect->paths_count; path++)
				CU_ASSERT(!effect_path_scenario(&effect->paths[path], scenario->id));
			CU_ASSERT_EQUAL(claims_findings(effect, &met->verdicts, &found, &any, &err), 0);
			CU_ASSERT(test_no_error(&err));
			CU_ASSERT(!any && found.count == 0);
		}
	}
}

static CU_TestInfo tests[] = {
	{ "a forgery that a path lists", test_listed },
	{ "none is listed", test_not_listed },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "claims forged", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_claims_forged", suites);
}
