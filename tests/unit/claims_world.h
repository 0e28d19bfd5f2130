/* A run of which every claim is established, for the tests of claims to take something away from. */
#ifndef HARNESS_TESTS_UNIT_CLAIMS_WORLD_H
#define HARNESS_TESTS_UNIT_CLAIMS_WORLD_H

#include "oracle/claims.h"
#include "tests/unit/effect_world.h"

#define WORLD_BEFORE "2026-11-30T07:59:59Z"
#define WORLD_NOW "2026-11-30T08:00:00Z"
#define WORLD_AFTER "2026-11-30T08:00:01Z"
#define WORLD_LATER "2026-11-30T08:00:02Z"
#define WORLD_ASSESSOR "aa11"
#define WORLD_RUN_KEY "bb22"

/* In the order of the arrays. */
enum { WORLD_P1, WORLD_P2, WORLD_P4, WORLD_P5 };
enum {
	WORLD_INVENTORY,
	WORLD_P4_CONTROL,
	WORLD_P4_OBSERVATION,
	WORLD_P5_CONTROL,
	WORLD_P5_OBSERVATION,
	WORLD_STATEMENTS
};

struct claims_world {
	struct effect effect;
	struct scenario scenario, mutant, other; /* room for another mutant */
	struct observation observations[5];
	struct verdict_cell cells[5]; /* of P1, P2, P2 in a mutant, and P1's chain; room for one more */
	struct expectation spare; /* of that one more */
	struct verdict_arm arms[2]; /* of the scenario, and of the mutant */
	struct verdict_mutation mutation;
	struct verdicts verdicts;
	struct correlate_finding findings[4];
	struct correlation correlation;
	struct assessment statements[WORLD_STATEMENTS];
	char keys[1][HEX_SHA256], run_keys[1][HEX_SHA256];
	struct claim_input input;
	struct claims claims;
};

static inline void world_cell(struct claims_world *world, size_t at, const struct scenario *scenario,
			      size_t expectation)
{
	struct verdict_cell *cell = &world->cells[at];

	snprintf(world->observations[at].id, sizeof(world->observations[at].id), "o-%zu", at);
	*cell = (struct verdict_cell){ .scenario = scenario,
				       .expectation = &scenario->expect[expectation],
				       .observation = &world->observations[at],
				       .verdict = VERDICT_PASS,
				       .because = BECAUSE_MET };
}

/* One more cell, which failed, of the first arm. */
static inline void world_failure(struct claims_world *world, const char *subject, const char *observer)
{
	world->spare = world->scenario.expect[1];
	snprintf(world->spare.subject, sizeof(world->spare.subject), "%s", subject);
	snprintf(world->spare.observer, sizeof(world->spare.observer), "%s", observer);
	world_cell(world, 4, &world->scenario, 1);
	world->cells[4].expectation = &world->spare;
	world->cells[4].verdict = VERDICT_FAIL;
	world->cells[4].because = BECAUSE_VALUE;
	world->verdicts.cells_count = 5;
}

static inline void world_finding(struct claims_world *world, int kind, const char *subject)
{
	struct correlate_finding *finding = &world->findings[world->correlation.count++];

	*finding = (struct correlate_finding){ .kind = kind, .call = "c1", .entry = "e1", .row = 1 };
	snprintf(finding->subject, sizeof(finding->subject), "%s", subject);
}

static inline void world_statement(struct claims_world *world, size_t at, enum assessment_kind kind, const char *path)
{
	struct assessment *statement = &world->statements[at];

	*statement = (struct assessment){ .kind = (int)kind,
					  .effect = "order_create",
					  .revision = "r1",
					  .boundary = "b",
					  .what = "what stands there",
					  .from = WORLD_BEFORE,
					  .until = WORLD_AFTER,
					  .key = WORLD_ASSESSOR };
	snprintf(statement->id, sizeof(statement->id), "s-%zu", at);
	snprintf(statement->path, sizeof(statement->path), "%s", path);
}

/* The statements are of the declaration as it now is. */
static inline void claims_world_bind(struct claims_world *world)
{
	char *declaration = world->input.ground.declaration;
	struct error *err = NULL;

	if (effect_digest(&world->effect, declaration, &err) < 0)
		abort();
	for (size_t i = 0; i < WORLD_STATEMENTS; i++)
		memcpy(world->statements[i].declaration, declaration, HEX_SHA256);
}

/* Freed by free(). */
static inline struct claims_world *claims_world_new(void)
{
	struct claims_world *world = calloc(1, sizeof(*world));
	struct error *err = NULL;
	struct assessment *inventory;

	if (!world || world_decode("base", effect_scenario_text, NULL, NULL, &world->scenario, &err) < 0 ||
	    effect_world_decode(NULL, NULL, &world->scenario, &world->effect, &err) < 0) {
		fprintf(stderr, "claims_world: %s\n", err ? error_text(err) : "no memory");
		abort();
	}
	effect_world_mutant(&world->scenario, &world->mutant);
	world_cell(world, 0, &world->scenario, 1);
	world_cell(world, 1, &world->scenario, 0);
	world_cell(world, 2, &world->mutant, 0);
	world_cell(world, 3, &world->scenario, 3);
	world->cells[1].mutant = world->mutant.id;
	world->observations[0].value = 1;
	world->arms[0] = (struct verdict_arm){ .scenario = &world->scenario, .deployment_revision = "r1" };
	world->arms[1] = (struct verdict_arm){ .scenario = &world->mutant, .deployment_revision = "r1" };
	world->verdicts = (struct verdicts){ .cells = world->cells,
					     .cells_count = 4,
					     .arms = world->arms,
					     .arms_count = 2,
					     .mutations = &world->mutation,
					     .mutations_count = 1 };
	world->mutation = (struct verdict_mutation){ .scenario = &world->mutant, .installed = true, .detected = true };
	world->correlation.findings = world->findings;
	world_finding(world, CORRELATE_JOINED, "order-gateway");
	world_statement(world, WORLD_INVENTORY, ASSESSMENT_INVENTORY, "");
	inventory = &world->statements[WORLD_INVENTORY];
	for (size_t i = 0; i < world->effect.paths_count; i++)
		snprintf(inventory->paths[inventory->paths_count++], NAME_MAX_SHORT, "%s", world->effect.paths[i].id);
	world_statement(world, WORLD_P4_CONTROL, ASSESSMENT_CONTROL, "P4");
	world_statement(world, WORLD_P4_OBSERVATION, ASSESSMENT_OBSERVATION, "P4");
	world_statement(world, WORLD_P5_CONTROL, ASSESSMENT_CONTROL, "P5");
	world_statement(world, WORLD_P5_OBSERVATION, ASSESSMENT_OBSERVATION, "P5");
	snprintf(world->keys[0], sizeof(world->keys[0]), WORLD_ASSESSOR);
	snprintf(world->run_keys[0], sizeof(world->run_keys[0]), WORLD_RUN_KEY);
	world->input = (struct claim_input){ .effect = &world->effect,
					     .verdicts = &world->verdicts,
					     .correlation = &world->correlation,
					     .statements = world->statements,
					     .statements_count = WORLD_STATEMENTS,
					     .ground = { .effect = &world->effect,
							 .keys = (const char(*)[HEX_SHA256])world->keys,
							 .keys_count = 1,
							 .run_keys = (const char(*)[HEX_SHA256])world->run_keys,
							 .run_keys_count = 1,
							 .now = WORLD_NOW } };
	claims_world_bind(world);
	return world;
}

/* What is not established and why, in one line; "" when all is. */
static inline void claims_render(const struct claims *claims, struct buf *out)
{
	buf_free(out);
	for (size_t id = 0; id < claims->claims_count; id++) {
		const struct claim *claim = &claims->claims[id];

		if (claim->status == CLAIM_ESTABLISHED)
			continue;
		(void)buf_printf(out, "%s%s %s:", out->length ? "; " : "", claim_names[id],
				 claim_status_names[claim->status]);
		for (size_t i = 0; i < claim->refuted_count; i++)
			(void)buf_printf(out, " !%s@%s", claim_refutation_names[claim->refuted[i].by],
					 claim->refuted[i].path);
		for (size_t i = 0; i < claim->unmet_count; i++)
			(void)buf_printf(out, " %s@%s", claim_obligation_names[claim->unmet[i].obligation],
					 claim->unmet[i].path);
	}
}

#endif
