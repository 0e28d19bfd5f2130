/*
 * The judge over a whole run of the tree's scenarios in which everything went well, and then over the same run with one
 * thing planted: each reason of each verdict is reached by a row.
 */
#include "oracle/judge.h"

#include <stdlib.h>

#include "tests/unit/judge_plants.h"

/* A cell's verdict and a mutation's ("": not looked at) after one thing was planted, and the run's exit code. */
struct row {
	void (*plant)(struct world *world);
	const char *arm, *subject, *observer;
	enum verdict verdict;
	enum because because;
	const char *mutation;
	enum verdict mutation_verdict;
	enum because mutation_because;
	int exit_code;
};

#define TCP4 BASE, "tcp4", "tcp4"
#define KILLED "lifecycle/bridge-killed", "loss_to_dead", "state"
#define PERMITTED BASE, "permitted", "deliveries"
#define P(reason) VERDICT_PASS, BECAUSE_##reason
#define F(reason) VERDICT_FAIL, BECAUSE_##reason
#define N(reason) VERDICT_NOT_ESTABLISHED, BECAUSE_##reason

static const struct row *row_at(size_t index);
static size_t rows_count(void);

static void plant_and_judge(const struct row *row, size_t index)
{
	cleanup_world struct world world = { .plan = NULL };
	const struct verdict_cell *cell;
	const struct verdict_mutation *mutation;
	bool fine;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	row->plant(&world);
	CU_ASSERT(world_judge(&world));
	if (!world.verdicts)
		return;
	cell = cell_in(&world, row->arm, 1, row->subject, row->observer);
	mutation = mutation_in(&world, row->mutation);
	fine = cell && cell->verdict == row->verdict && cell->because == row->because && mutation &&
	       mutation->verdict == row->mutation_verdict && mutation->because == row->mutation_because &&
	       world.verdicts->exit_code == row->exit_code;
	CU_ASSERT(fine);
	if (!fine)
		fprintf(stderr, "row %zu: cell %s %s, mutation %s %s, exit %d\n", index,
			cell ? verdict_names[cell->verdict] : "-", cell ? because_names[cell->because] : "-",
			mutation ? verdict_names[mutation->verdict] : "-",
			mutation ? because_names[mutation->because] : "-", world.verdicts->exit_code);
}

static void test_rows(void)
{
	bool reached[BECAUSE_UNPLANNED + 1] = { false };

	for (size_t i = 0; i < rows_count(); i++) {
		plant_and_judge(row_at(i), i);
		reached[row_at(i)->because] = reached[row_at(i)->mutation_because] = true;
	}
	for (size_t i = 0; i <= BECAUSE_UNPLANNED; i++)
		CU_ASSERT_TRUE(reached[i]);
}

static void test_good_run(void)
{
	cleanup_world struct world world = { .plan = NULL };
	const struct verdicts *verdicts;

	CU_ASSERT(world_make(&world, "all", 1, NULL) && world_judge(&world));
	verdicts = world.verdicts;
	if (!verdicts)
		return;
	CU_ASSERT_EQUAL(verdicts->cells_count, world.observations_count);
	CU_ASSERT_EQUAL(verdicts->pass, verdicts->cells_count);
	CU_ASSERT_EQUAL(verdicts->fail + verdicts->not_established + verdicts->arms_not_ok, 0);
	CU_ASSERT_EQUAL(verdicts->mutations_count, 7);
	CU_ASSERT_EQUAL(verdicts->arms_count, 11);
	CU_ASSERT_EQUAL(verdicts->overall, VERDICT_PASS);
	CU_ASSERT_EQUAL(verdicts->exit_code, 0);
	for (size_t i = 0; i < verdicts->mutations_count; i++)
		CU_ASSERT(verdicts->mutations[i].installed && verdicts->mutations[i].detected);
	for (size_t i = 0; i < verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &verdicts->cells[i];
		bool zero = cell->expectation->class == CELL_PROTECTED && !cell->expectation->flips;

		CU_ASSERT_EQUAL(cell->mutant[0] != '\0', zero);
		CU_ASSERT_PTR_NOT_NULL(cell->observation);
	}
	CU_ASSERT_STRING_EQUAL(cell_in(&world, BASE, 1, "tcp4", "tcp4")->mutant, NET);
	CU_ASSERT_STRING_EQUAL(cell_in(&world, BASE, 1, "denied", "deliveries")->mutant, "mutation/sink-ceiling");
	CU_ASSERT_STRING_EQUAL(cell_in(&world, "lifecycle/bridge-killed", 1, "loss_to_dead", "state")->mutant,
			       "mutation/watchdog");
	CU_ASSERT_STRING_EQUAL(cell_in(&world, "mutation/network-bridge", 1, "dns", "dns")->mutant, NET);
}

static void test_cited_leak(void)
{
	cleanup_world struct world world = { .plan = NULL };
	const struct verdict_cell *cell;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	twice(&world, see(&world, BASE, "tcp4", "tcp4"), 1);
	CU_ASSERT(world_judge(&world));
	cell = cell_in(&world, BASE, 1, "tcp4", "tcp4");
	CU_ASSERT(cell && cell->observation && cell->observation->value == 1);
}

/* Without ::1 its cells are not planned, and the rest is judged as ever. */
static void test_absent_cells(void)
{
	static const char *const lacking[] = { "ipv6-loopback", NULL };
	cleanup_world struct world world = { .plan = NULL };

	CU_ASSERT(world_make(&world, "all", 1, lacking) && world_judge(&world));
	CU_ASSERT_PTR_NULL(cell_in(&world, BASE, 1, "tcp6", "tcp6"));
	CU_ASSERT_EQUAL(world.verdicts->exit_code, 0);
}

/* A zero is earned by a mutant of its own repetition when there is one, else by any. */
static void test_repetitions(void)
{
	cleanup_world struct world world = { .plan = NULL };
	const struct verdict_cell *one, *two;

	CU_ASSERT(world_make(&world, BASE, 3, NULL));
	CU_ASSERT(world_judge(&world));
	CU_ASSERT_EQUAL(world.verdicts->exit_code, 0);
	record_in(&world, NET, 2)->failed_count = 0;
	CU_ASSERT(world_judge(&world));
	one = cell_in(&world, BASE, 2, "tcp4", "tcp4");
	two = cell_in(&world, BASE, 2, "tcp4-nic", "capture-host");
	CU_ASSERT(one && one->verdict == VERDICT_PASS && strcmp(one->mutant, NET) == 0);
	CU_ASSERT(two && two->verdict == VERDICT_PASS && strcmp(two->mutant, "mutation/network-bridge") == 0);
	CU_ASSERT_EQUAL(world.verdicts->exit_code, 2);
	record_in(&world, NET, 1)->failed_count = 0;
	record_in(&world, NET, 3)->failed_count = 0;
	CU_ASSERT(world_judge(&world));
	one = cell_in(&world, BASE, 2, "tcp4", "tcp4");
	CU_ASSERT(one && one->verdict == VERDICT_NOT_ESTABLISHED && one->because == BECAUSE_UNEARNED);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void swap(struct world *world, size_t a, size_t b)
{
	struct observation kept = world->observations[a];

	world->observations[a] = world->observations[b];
	world->observations[b] = kept;
}

/* The order of the observations says nothing: turned round, and shuffled. */
static void test_permutations(void)
{
	uint32_t random = 7;

	for (size_t i = 0; i < rows_count(); i++) {
		cleanup_world struct world world = { .plan = NULL };
		cleanup_buf struct buf first = BUF(MIB), turned = BUF(MIB), shuffled = BUF(MIB);

		CU_ASSERT(world_make(&world, "all", 1, NULL));
		row_at(i)->plant(&world);
		CU_ASSERT(world_encode(&world, &first));
		for (size_t n = 0; n < world.observations_count / 2; n++)
			swap(&world, n, world.observations_count - 1 - n);
		CU_ASSERT(world_encode(&world, &turned));
		for (size_t n = world.observations_count; n > 1; n--)
			swap(&world, n - 1, next_random(&random) % n);
		CU_ASSERT(world_encode(&world, &shuffled));
		CU_ASSERT_STRING_EQUAL(buf_string(&first), buf_string(&turned));
		CU_ASSERT_STRING_EQUAL(buf_string(&first), buf_string(&shuffled));
	}
}

/* Judges without observation `index`. */
static enum verdict without(struct world *world, size_t index)
{
	struct observation kept = world->observations[index],
			   *last = &world->observations[world->observations_count - 1];
	int judged;

	world->observations[index] = *last;
	world->observations_count--;
	judged = world_judge(world);
	CU_ASSERT(judged);
	world->observations_count++;
	*last = world->observations[index];
	world->observations[index] = kept;
	return judged ? world->verdicts->overall : VERDICT_PASS;
}

/* What is taken away never makes a pass: not of a good run, and not of one that was none. (Two observations of one cell
 * are left out: taking the second one away mends that.) */
static void test_monotonic(void)
{
	uint32_t random = 11;

	for (size_t i = 0; i < rows_count(); i++) {
		cleanup_world struct world world = { .plan = NULL };
		size_t step = i == 0 ? 1 : 17;

		CU_ASSERT(world_make(&world, "all", 1, NULL));
		row_at(i)->plant(&world);
		if (world_has_twin(&world))
			continue;
		for (size_t n = next_random(&random) % step; n < world.observations_count; n += step)
			CU_ASSERT_NOT_EQUAL(without(&world, n), VERDICT_PASS);
	}
}

static void test_refused(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_free struct plan *empty = calloc(1, sizeof(*empty));
	struct verdicts *verdicts = NULL;
	struct error *err = NULL;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	CU_ASSERT(judge(empty, NULL, 0, NULL, 0, false, &verdicts, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "no cells"));
	set(world.observations[5].arm, ID_MAX, "elsewhere");
	CU_ASSERT(judge(world.plan, world.arms, world.arms_count, world.observations, world.observations_count, false,
			&verdicts, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "observation 5: no such arm"));
	world.arms[2].repetition = 2;
	CU_ASSERT(judge(world.plan, world.arms, world.arms_count, NULL, 0, false, &verdicts, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "arm record 2: no such arm"));
	CU_ASSERT_PTR_NULL(verdicts);
}

/* A mutation alone makes the run fail, or leaves it open, whatever the cells say. */
static void test_mutation_alone(void)
{
	cleanup_world struct world world = { .plan = NULL };

	CU_ASSERT(world_make(&world, "mutation/ack", 1, NULL));
	toothless(&world);
	CU_ASSERT(world_judge(&world));
	CU_ASSERT_EQUAL(world.verdicts->fail, 0);
	CU_ASSERT_EQUAL(world.verdicts->overall, VERDICT_FAIL);
}

/* Nothing at all was recorded: nothing passes. */
static void test_nothing_recorded(void)
{
	cleanup_world struct world world = { .plan = NULL };

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	world.arms_count = 0;
	world.observations_count = 0;
	CU_ASSERT(world_judge(&world));
	CU_ASSERT_EQUAL(world.verdicts->not_established, world.verdicts->cells_count);
	CU_ASSERT_EQUAL(world.verdicts->arms_not_ok, 11);
	CU_ASSERT_EQUAL(world.verdicts->overall, VERDICT_NOT_ESTABLISHED);
	CU_ASSERT_EQUAL(world.verdicts->exit_code, 3);
}

static const struct row rows[] = {
	{ nothing, TCP4, P(MET), NET, P(MET), 0 },

	{ missing, TCP4, N(MISSING), NET, P(MET), 2 },
	{ missing_control, PERMITTED, N(MISSING), NET, P(MET), 2 },
	{ dropped, TCP4, N(NOT_LIVE), NET, P(MET), 2 },
	{ no_before, TCP4, N(NOT_LIVE), NET, P(MET), 2 },
	{ no_after, TCP4, N(NOT_LIVE), NET, P(MET), 2 },
	{ no_after_control, PERMITTED, N(NOT_LIVE), NET, P(MET), 2 },
	{ observer_error, TCP4, N(NOT_LIVE), NET, P(MET), 2 },
	{ truncated, TCP4, N(NOT_LIVE), NET, P(MET), 2 },
	{ negative, KILLED, N(NOT_LIVE), NET, P(MET), 2 },
	{ unplanned, BASE, "permitted", "logs-disk", F(UNPLANNED), NET, P(MET), 1 },
	{ unplanned_blind, BASE, "permitted", "logs-disk", F(UNPLANNED), NET, P(MET), 1 },
	{ unplanned_zero, TCP4, P(MET), NET, P(MET), 0 },
	{ unplanned_inward, TCP4, P(MET), NET, P(MET), 0 },
	{ unplanned_in_mutant, TCP4, P(MET), NET, P(MET), 0 },
	{ duplicate, TCP4, N(DUPLICATE), NET, P(MET), 2 },
	{ duplicate_control, PERMITTED, N(DUPLICATE), NET, P(MET), 2 },

	{ leak, TCP4, F(VALUE), NET, P(MET), 1 },
	{ leak_blind, TCP4, F(VALUE), NET, P(MET), 1 },
	{ leak_dropped, TCP4, F(VALUE), NET, P(MET), 1 },
	{ leak_broken_arm, TCP4, F(VALUE), NET, N(ARM), 1 },
	{ leak_duplicate, TCP4, F(VALUE), NET, P(MET), 1 },
	{ leak_unseen, TCP4, N(NOT_LIVE), NET, P(MET), 2 },
	{ leak_environment, TCP4, F(VALUE), NET, N(ENVIRONMENT), 1 },
	{ leak_in_mutant, NET, "denied", "deliveries", F(VALUE), NET, F(UNDETECTED), 1 },
	{ leak_in_refused, NET, "denied", "deliveries", F(VALUE), NET, N(ADMISSION), 1 },
	{ slow, KILLED, F(VALUE), "mutation/watchdog", P(MET), 1 },
	{ bound_met, KILLED, P(MET), "mutation/watchdog", P(MET), 0 },
	{ more_of_control_blind, PERMITTED, N(NOT_LIVE), NET, P(MET), 2 },
	{ less_of_control, PERMITTED, F(VALUE), NET, P(MET), 1 },
	{ tries_nothing, BASE, "tcp4", "attempts", F(VALUE), NET, P(MET), 1 },
	{ control_environment, PERMITTED, F(VALUE), NET, N(ENVIRONMENT), 1 },
	{ environment, TCP4, N(ENVIRONMENT), NET, N(ENVIRONMENT), 2 },

	{ censored_le, KILLED, N(NOT_LIVE), "mutation/watchdog", P(MET), 2 },
	{ censored_le_over, KILLED, F(VALUE), "mutation/watchdog", P(MET), 1 },
	{ censored_eq, PERMITTED, N(NOT_LIVE), NET, P(MET), 2 },
	{ censored_eq_over, PERMITTED, F(VALUE), NET, P(MET), 1 },
	{ censored_ge_under, KILLED, N(UNEARNED), "mutation/watchdog", N(NOT_LIVE), 2 },
	{ censored_ge_control, BASE, "dns", "attempts", N(NOT_LIVE), NET, P(MET), 2 },

	{ arm_error, TCP4, N(ARM), NET, N(ARM), 3 },
	{ arm_timeout, TCP4, N(ARM), NET, N(ARM), 2 },
	{ arm_unsupported, TCP4, N(ARM), NET, N(ARM), 2 },
	{ arm_not_run, TCP4, N(ARM), NET, N(ARM), 3 },
	{ arm_missing, TCP4, N(ARM), NET, N(ARM), 3 },
	{ arm_twice, TCP4, N(DUPLICATE), NET, N(DUPLICATE), 2 },
	{ arm_error, KILLED, P(MET), "mutation/watchdog", P(MET), 3 },
	{ mutant_error, TCP4, N(UNEARNED), NET, N(ARM), 2 },
	{ mutant_error, NET, "tcp4", "tcp4", N(ARM), NET, N(ARM), 2 },
	{ mutant_twice, NET, "tcp4", "tcp4", N(DUPLICATE), NET, N(DUPLICATE), 2 },
	{ base_refused, TCP4, N(ADMISSION), NET, N(ADMISSION), 2 },
	{ base_waived, TCP4, N(ADMISSION), NET, N(ADMISSION), 2 },

	{ not_applied, TCP4, N(UNEARNED), NET, N(ADMISSION), 2 },
	{ not_applied, NET, "tcp4", "tcp4", N(ADMISSION), NET, N(ADMISSION), 2 },
	{ one_rule_held, TCP4, N(UNEARNED), NET, N(ADMISSION), 2 },
	{ extra_rule, TCP4, N(UNEARNED), NET, N(ADMISSION), 2 },
	{ other_rule, TCP4, N(UNEARNED), NET, N(ADMISSION), 2 },
	{ rule_named_twice, TCP4, P(MET), NET, P(MET), 0 },
	{ rule_undeclared, "lifecycle/watchdog-paused", "loss_to_dead", "state", N(UNEARNED), "mutation/ack",
	  N(ADMISSION), 2 },
	{ extra_difference, TCP4, N(UNEARNED), NET, N(DIFFERENCE), 2 },
	{ extra_difference, NET, "tcp4", "tcp4", N(DIFFERENCE), NET, N(DIFFERENCE), 2 },
	{ extra_field, TCP4, N(UNEARNED), NET, N(DIFFERENCE), 2 },
	{ extra_field_allowed, TCP4, P(MET), NET, P(MET), 0 },
	{ missing_field, TCP4, N(UNEARNED), NET, N(DIFFERENCE), 2 },
	{ prefix_is_no_prefix, TCP4, N(UNEARNED), NET, N(DIFFERENCE), 2 },
	{ prefix_of_exact, TCP4, P(MET), "mutation/ack", N(DIFFERENCE), 2 },
	{ no_difference, TCP4, N(UNEARNED), NET, N(DIFFERENCE), 2 },
	{ order_of_fields, TCP4, P(MET), NET, P(MET), 0 },
	{ undetected, TCP4, N(UNEARNED), NET, F(UNDETECTED), 1 },
	{ undetected, BASE, "dns", "dns", N(UNEARNED), NET, F(UNDETECTED), 1 },
	{ undetected_control, BASE, "denied", "deliveries", N(UNEARNED), "mutation/sink-ceiling", F(UNDETECTED), 1 },
	{ detected_too_much, BASE, "file", "files-root", N(UNEARNED), "mutation/read-only", F(UNDETECTED), 1 },
	{ detected_leak_too_much, "mutation/network-bridge", "tcp4", "tcp4", F(VALUE), "mutation/network-bridge",
	  F(UNDETECTED), 1 },
	{ flip_blind, TCP4, N(UNEARNED), NET, N(NOT_LIVE), 2 },
	{ flip_missing, TCP4, N(UNEARNED), NET, N(MISSING), 2 },
	{ flip_duplicate, TCP4, N(UNEARNED), NET, N(DUPLICATE), 2 },
	{ other_blind, NET, "permitted", "decisions", N(NOT_LIVE), NET, P(MET), 2 },
	/* the route was open, but the count is not the declared one: no proof of this cell, and of the others still */
	{ more_than_expected, TCP4, N(UNEARNED), NET, P(MET), 1 },
	{ more_than_expected, BASE, "dns", "dns", P(MET), NET, P(MET), 1 },
	{ other_image, TCP4, N(UNEARNED), NET, N(ENVIRONMENT), 2 },
	{ other_boot, TCP4, N(UNEARNED), NET, N(ENVIRONMENT), 2 },
	{ no_boot, TCP4, N(UNEARNED), NET, N(ENVIRONMENT), 2 },
	{ no_image, TCP4, N(UNEARNED), NET, N(ENVIRONMENT), 2 },
	{ again_other_boot, TCP4, P(MET), NET, P(MET), 2 },
	{ again_other_boot, "baseline-again", "tcp4", "tcp4", N(ENVIRONMENT), NET, P(MET), 2 },
	{ again_other_boot, "baseline-again", "permitted", "deliveries", P(MET), NET, P(MET), 2 },
	{ more_than_expected_refused, NET, "tcp4", "tcp4", N(ADMISSION), NET, N(ADMISSION), 2 },
	{ undetected_environment, TCP4, N(ENVIRONMENT), NET, F(UNDETECTED), 1 },
	{ control_unplanned, BASE, "file", "files-root", P(MET), "mutation/read-only", P(MET), 1 },
	{ toothless, "mutation/ack", "loss_to_dead", "state", P(MET), "mutation/ack", F(UNDETECTED), 1 },
	{ flips_unplanned, TCP4, P(MET), "mutation/log-driver", N(MISSING), 2 },
	{ no_cells_no_end, TCP4, P(MET), NET, P(MET), 2 },
};

static const struct row *row_at(size_t index)
{
	return &rows[index];
}

static size_t rows_count(void)
{
	return ARRAY_SIZE(rows);
}

static CU_TestInfo tests[] = {
	{ "a run in which everything went well", test_good_run },
	{ "one thing planted", test_rows },
	{ "the leak is cited", test_cited_leak },
	{ "absent cells", test_absent_cells },
	{ "repetitions", test_repetitions },
	{ "any order of observations", test_permutations },
	{ "less evidence is never more", test_monotonic },
	{ "refused evidence", test_refused },
	{ "a mutation alone", test_mutation_alone },
	{ "nothing recorded", test_nothing_recorded },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "judge", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("judge", suites);
}
