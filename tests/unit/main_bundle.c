/*
 * A made-up bundle on standard output: `main_bundle SELECTOR [REPETITIONS]`, of a run of the tree's scenarios in which
 * everything went well, with the tree's declarations. Those scenarios that are not of the world of most tests are there
 * with "whole" as a third word; then the timeline of an arm may not be as its scenario has it. `effects` are there too.
 * Behind another third word, "declared", may stand a file of statements and the keys of assessors: "run:FILE" is one
 * that signs the run.
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

static int assess(struct assessing *assessing, char **words, size_t count, struct error **err)
{
	cleanup_buf struct buf text = BUF(MIB);

	for (size_t i = 1; i < count; i++) {
		bool run = strncmp(words[i], "run:", 4) == 0;
		struct public_key *key = NULL;

		if (public_key_open(words[i] + (run ? 4 : 0), &key, err) < 0 ||
		    assessors_add(&assessing->assessors, key, err) < 0)
			return -1;
		if (run)
			memcpy(assessing->run_keys[assessing->run_keys_count++],
			       assessing->assessors.names[assessing->assessors.count - 1], HEX_SHA256);
	}
	if (fd_read_file(AT_FDCWD, words[0], MIB, &text, err) < 0)
		return -1;
	return assessments_read(buf_string(&text), text.length, &assessing->assessors, &assessing->statements, err);
}

int main(int argc, char **argv)
{
	cleanup_fixture struct fixture fixture = { .count = 0 };
	cleanup_assessing struct assessing assessing = { .run_keys_count = 0 };
	cleanup_buf struct buf archive = BUF(FIXTURE_BYTES);
	struct error *err = NULL;

	if (argc > 4 && assess(&assessing, argv + 4, (size_t)argc - 4, &err) == 0)
		fixture.assessing = &assessing;
	if (!test_no_error(&err))
		return 1;

	if (argc < 2 ||
	    !make(&fixture, argv[1], argc > 2 ? strtoll(argv[2], NULL, 10) : 1,
		  argc > 3 && strcmp(argv[3], "whole") == 0) ||
	    !fixture_pack(&fixture, &archive))
		return 1;
	return fwrite(archive.data, 1, archive.length, stdout) != archive.length || fflush(stdout) != 0;
}
