/*
 * A made-up bundle on standard output: `main_bundle SELECTOR [REPETITIONS]`, of a run of the tree's scenarios in which
 * everything went well, with the tree's declarations. Those scenarios that are not of the world of most tests are there
 * with "whole" as a third word; then the timeline of an arm may not be as its scenario has it. `effects` are there too.
 */
#include "tests/unit/bundle_fixture.h"
#include "tests/unit/declaration_world.h"

static int make_whole(struct fixture *fixture, const char *selector, int64_t repetitions)
{
	struct world *world = &fixture->world;
	struct error *err = NULL;

	world->selector = selector;
	if (world_load_whole(&world->scenarios, &world->scenarios_count, &err) < 0 ||
	    plan_make(world->scenarios, world->scenarios_count, &selector, 1, repetitions, NULL, &world->plan, &err) <
		    0)
		return test_no_error(&err);
	return fill(world) && fixture_write(fixture);
}

static int make(struct fixture *fixture, const char *selector, int64_t repetitions, bool whole)
{
	struct error *err = NULL;

	if (strcmp(selector, "effects") == 0)
		return declared_make(&fixture->world, selector, &fixture->effects, &fixture->effects_count) &&
		       fixture_write(fixture);
	if (declared_load(&fixture->effects, &fixture->effects_count, &err) < 0)
		return test_no_error(&err) && false;
	if (whole)
		return make_whole(fixture, selector, repetitions);
	return world_make(&fixture->world, selector, repetitions, NULL) && fixture_write(fixture);
}

int main(int argc, char **argv)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES);

	if (argc < 2 || !make(&fixture, argv[1], argc > 2 ? strtoll(argv[2], NULL, 10) : 1, argc > 3) ||
	    !fixture_pack(&fixture, &archive))
		return 1;
	return fwrite(archive.data, 1, archive.length, stdout) != archive.length || fflush(stdout) != 0;
}
