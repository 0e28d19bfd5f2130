/*
 * A run of the tree's scenarios in which everything went well, made up: the plan, one record for each arm and one live
 * observation that meets its expectation for each planned cell. Tests plant one thing and judge.
 */
#ifndef HARNESS_TESTS_UNIT_JUDGE_WORLD_H
#define HARNESS_TESTS_UNIT_JUDGE_WORLD_H

#include <stdlib.h>

#include "oracle/judge.h"
#include "tests/unit/oracle_world.h"
#include "tests/unit/test.h"

struct world {
	const char *selector; /* by which it was planned, or NULL */
	struct scenario *scenarios;
	size_t scenarios_count;
	struct plan *plan;
	struct arm_record *arms;
	struct arm_room *rooms; /* what their lists stand in */
	size_t arms_count;
	struct observation *observations; /* with room for one more */
	size_t observations_count;
	bool environment_changed;
	struct verdicts *verdicts;
};

static inline void world_free(struct world *world)
{
	verdicts_free(world->verdicts);
	plan_free(world->plan);
	free(world->scenarios);
	free(world->arms);
	free(world->rooms);
	free(world->observations);
}
#define cleanup_world __attribute__((cleanup(world_free)))

static inline void set(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
}

static inline void add_effective(struct arm_record *record, const char *field, char digit)
{
	struct effective_value *value = record->effective[record->effective_count++];

	set(value->field, sizeof(value->field), field);
	memset(value->sha256, digit, HEX_SHA256 - 1);
	value->sha256[HEX_SHA256 - 1] = '\0';
}

/* Every arm has one field that none may change and one for each protection; a mutant's own differs. */
static inline void fill_record(struct arm_record *record, struct arm_room *room, const struct plan_arm *arm)
{
	const char *removed = arm->scenario->removes_count ? arm->scenario->removes[0] : "";

	arm_room_open(room);
	*record = room->record;
	set(record->arm, sizeof(record->arm), arm->scenario->id);
	record->repetition = arm->repetition;
	memset(record->image, 'a', HEX_SHA256 - 1);
	memset(record->boot, 'b', 32);
	record->agent_attempts = 9;
	record->duration_ns = 1;
	/* A deployment ran where orders are asked for. */
	for (size_t i = 0; i < arm->scenario->expect_count; i++)
		if (strncmp(arm->scenario->expect[i].observer, "orders", 6) == 0)
			set(record->deployment_revision, sizeof(record->deployment_revision), "example-1");
	add_effective(record, "inspect.HostConfig.PidsLimit", '0');
	for (size_t i = 0; mutation_ids[i]; i++) {
		char field[64];

		snprintf(field, sizeof(field), "protection.%s.value", mutation_ids[i]);
		add_effective(record, field, strcmp(mutation_ids[i], removed) == 0 ? '1' : '0');
	}
	if (!removed[0])
		return;
	/* One mutation names its field, the others a prefix. */
	snprintf(record->may_differ[0], sizeof(record->may_differ[0]), "protection.%s.%s", removed,
		 strcmp(removed, "ack") == 0 ? "value" : "*");
	set(record->may_differ[1], sizeof(record->may_differ[1]), "kernel.unused");
	record->may_differ_count = 2;
	if (strcmp(removed, "network") == 0) {
		set(record->must_fail[0], NAME_MAX_SHORT, "network-mode");
		set(record->must_fail[1], NAME_MAX_SHORT, "interfaces");
		set(record->failed[0], NAME_MAX_SHORT, "interfaces");
		set(record->failed[1], NAME_MAX_SHORT, "network-mode");
		record->must_fail_count = record->failed_count = 2;
	}
}

static inline void fill_observation(struct observation *out, size_t number, const struct plan_arm *arm,
				    const struct expectation *cell)
{
	*out = (struct observation){ .repetition = arm->repetition, .beacon_before = 1, .beacon_after = 1 };
	snprintf(out->id, sizeof(out->id), "o-%06zu", number);
	set(out->arm, sizeof(out->arm), arm->scenario->id);
	set(out->subject, sizeof(out->subject), cell->subject);
	set(out->observer, sizeof(out->observer), cell->observer);
	set(out->unit, sizeof(out->unit), "records");
	out->value = cell->op == OP_LE ? cell->value / 2 : cell->value;
	if (strcmp(cell->subject, "loss_to_dead") == 0 && cell->flips)
		out->reason = OBSERVATION_REASON_CENSORED;
}

static inline int fill(struct world *world)
{
	const struct plan *plan = world->plan;

	world->arms = calloc(plan->arms_count + 1, sizeof(*world->arms));
	world->observations = calloc(plan->arms_count * ARM_CELLS_MAX / 8 + 1, sizeof(*world->observations));
	world->rooms = calloc(plan->arms_count + 1, sizeof(*world->rooms));
	if (!world->arms || !world->rooms || !world->observations)
		return 0;
	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct plan_arm *arm = &plan->arms[i];

		fill_record(&world->arms[world->arms_count], &world->rooms[world->arms_count], arm);
		world->arms_count++;
		for (size_t c = 0; c < arm->scenario->expect_count; c++) {
			if (!plan_has(plan, arm->scenario, &arm->scenario->expect[c]))
				continue;
			fill_observation(&world->observations[world->observations_count], world->observations_count,
					 arm, &arm->scenario->expect[c]);
			world->observations_count++;
		}
	}
	return 1;
}

/* A run of `selector` in which everything went well. */
static inline int world_make_on(struct world *world, const char *selector, int64_t repetitions,
				const struct ground *ground)
{
	struct error *err = NULL;

	world->selector = selector;
	if (world_load(&world->scenarios, &world->scenarios_count, &err) == 0 &&
	    plan_make(world->scenarios, world->scenarios_count, &selector, 1, repetitions, ground, &world->plan,
		      &err) == 0)
		return fill(world);
	return test_no_error(&err);
}

static inline int world_make(struct world *world, const char *selector, int64_t repetitions, const char *const *missing)
{
	const struct ground ground = { .missing = missing };

	return world_make_on(world, selector, repetitions, &ground);
}

static inline int world_judge(struct world *world)
{
	struct error *err = NULL;

	verdicts_free(world->verdicts);
	world->verdicts = NULL;
	if (judge(world->plan, world->arms, world->arms_count, world->observations, world->observations_count,
		  world->environment_changed, &world->verdicts, &err) < 0)
		(void)test_no_error(&err);
	return world->verdicts != NULL;
}

static inline struct observation *see_in(struct world *world, const char *arm, int64_t repetition, const char *subject,
					 const char *observer)
{
	for (size_t i = 0; i < world->observations_count; i++) {
		struct observation *one = &world->observations[i];

		if (strcmp(one->arm, arm) == 0 && one->repetition == repetition && strcmp(one->subject, subject) == 0 &&
		    strcmp(one->observer, observer) == 0)
			return one;
	}
	fprintf(stderr, "no observation %s %s@%s\n", arm, subject, observer);
	abort();
}

static inline struct observation *see(struct world *world, const char *arm, const char *subject, const char *observer)
{
	return see_in(world, arm, 1, subject, observer);
}

static inline struct arm_record *record_in(struct world *world, const char *arm, int64_t repetition)
{
	for (size_t i = 0; i < world->arms_count; i++)
		if (strcmp(world->arms[i].arm, arm) == 0 && world->arms[i].repetition == repetition)
			return &world->arms[i];
	abort();
}

static inline struct arm_record *record_of(struct world *world, const char *arm)
{
	return record_in(world, arm, 1);
}

/* Whether one cell has two observations. */
static inline bool world_has_twin(const struct world *world)
{
	return strcmp(world->observations[world->observations_count - 1].id, "o-again") == 0;
}

static inline void forget(struct world *world, struct observation *one)
{
	*one = world->observations[--world->observations_count];
}

static inline void twice(struct world *world, const struct observation *one, int64_t value)
{
	struct observation *again = &world->observations[world->observations_count++];

	*again = *one;
	again->value = value;
	set(again->id, sizeof(again->id), "o-again");
}

/* One more observation, like this one, of another subject. */
static inline void stray(struct world *world, const struct observation *one, const char *subject, int64_t value)
{
	twice(world, one, value);
	set(world->observations[world->observations_count - 1].subject, NAME_MAX_SHORT, subject);
}

static inline const struct verdict_cell *cell_in(const struct world *world, const char *arm, int64_t repetition,
						 const char *subject, const char *observer)
{
	for (size_t i = 0; i < world->verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &world->verdicts->cells[i];

		if (strcmp(cell->scenario->id, arm) == 0 && cell->repetition == repetition &&
		    strcmp(cell->expectation->subject, subject) == 0 &&
		    strcmp(cell->expectation->observer, observer) == 0)
			return cell;
	}
	return NULL;
}

static inline const struct verdict_mutation *mutation_in(const struct world *world, const char *id)
{
	for (size_t i = 0; i < world->verdicts->mutations_count; i++)
		if (strcmp(world->verdicts->mutations[i].scenario->id, id) == 0)
			return &world->verdicts->mutations[i];
	return NULL;
}

static inline struct scenario *scenario_in(struct world *world, const char *id)
{
	for (size_t i = 0; i < world->scenarios_count; i++)
		if (strcmp(world->scenarios[i].id, id) == 0)
			return &world->scenarios[i];
	abort();
}

/* The host cannot make this cell after all: it is not planned, and nobody saw it. */
static inline void unplan(struct world *world, const char *arm, const char *subject, const char *observer)
{
	const struct scenario *scenario = scenario_in(world, arm);

	world->plan->absent[world->plan->absent_count++] =
		(struct plan_absent){ .scenario = scenario,
				      .expectation = scenario_cell(scenario, subject, observer),
				      .reason = "ipv6-loopback" };
	forget(world, see(world, arm, subject, observer));
}

/* Judges and writes verdicts.json. */
static inline int world_encode(struct world *world, struct buf *out)
{
	struct error *err = NULL;

	if (!world_judge(world))
		return 0;
	return verdicts_encode(world->verdicts, out, &err) == 0 && test_no_error(&err);
}

#endif
