/* A run of the scenarios of effects, but of those that end a session, in which everything went well, with the
 * declarations that came with harness. */
#ifndef HARNESS_TESTS_UNIT_DECLARATION_WORLD_H
#define HARNESS_TESTS_UNIT_DECLARATION_WORLD_H

#include "oracle/effect.h"
#include "tests/unit/judge_world.h"

/* *out is freed by the caller. */
static inline int declared_load(struct effect **out, size_t *count, struct error **err)
{
	struct effect_names names = { .observers = observer_ids };
	cleanup_free struct scenario *scenarios = NULL;
	cleanup_fd int folder = open("effects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder < 0)
		return error_set(err, ERROR_SYSTEM, "no folder effects");
	if (world_load_whole(&scenarios, &names.scenarios_count, err) < 0)
		return -1;
	names.scenarios = scenarios;
	return effect_load_all(folder, &names, out, count, err);
}

static inline int declared_plan(struct world *world, const char *selector, struct error **err)
{
	size_t all = 0;

	if (world_load_whole(&world->scenarios, &all, err) < 0)
		return -1;
	for (size_t i = 0; i < all; i++)
		if (world_has(&world->scenarios[i]) ||
		    (scenario_selected(&world->scenarios[i], "effects") && !world->scenarios[i].ends[0]))
			world->scenarios[world->scenarios_count++] = world->scenarios[i];
	world->selector = selector;
	return plan_make(world->scenarios, world->scenarios_count, &selector, 1, 1, NULL, &world->plan, err);
}

/* The deployment that ran is the one that the effect is declared for. */
static inline void declared_revision(struct world *world, const struct effect *effect)
{
	for (size_t i = 0; i < world->plan->arms_count; i++)
		if (scenario_selected(world->plan->arms[i].scenario, "effects"))
			snprintf(world->arms[i].deployment_revision, sizeof(world->arms[i].deployment_revision), "%s",
				 effect->revision);
}

static inline int declared_make(struct world *world, const char *selector, struct effect **effects, size_t *count)
{
	struct error *err = NULL;

	if (declared_load(effects, count, &err) < 0 || declared_plan(world, selector, &err) < 0)
		return test_no_error(&err) && false;
	if (!fill(world) || *count == 0)
		return 0;
	declared_revision(world, &(*effects)[0]);
	return 1;
}

#endif
