/* What a run's seed decides: the order in which the arms start, and when within its range a fault strikes. */
#include <stdlib.h>
#include <string.h>

#include "oracle/plan.h"

/* splitmix64: each call's number is spread over all 64 bits. */
static uint64_t next(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

/* From 0 to below `bound`; what would make the low ones likelier is drawn again. */
static uint64_t below(uint64_t *state, uint64_t bound)
{
	uint64_t reject = (UINT64_MAX % bound + 1) % bound, number;

	do {
		number = next(state);
	} while (number > UINT64_MAX - reject);
	return number % bound;
}

static int64_t window_of(const struct plan *plan, size_t arm)
{
	return plan->arms[arm].scenario->window_ms;
}

void plan_schedule(const struct plan *plan, int64_t seed, size_t *order)
{
	uint64_t state = (uint64_t)seed;

	for (size_t i = 0; i < plan->arms_count; i++) {
		size_t other = seed == PLAN_SEED_NONE ? i : (size_t)below(&state, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	/* Stable, so that arms of one window stay as they were drawn. */
	for (size_t i = 1; i < plan->arms_count; i++) {
		size_t arm = order[i], place = i;

		for (; place > 0 && window_of(plan, order[place - 1]) < window_of(plan, arm); place--)
			order[place] = order[place - 1];
		order[place] = arm;
	}
}

void plan_delays(const struct plan_arm *arm, int64_t seed, int64_t delays[ARM_FAULTS_MAX])
{
	const struct scenario *scenario = arm->scenario;
	uint64_t state = (uint64_t)seed;

	for (const char *at = scenario->id; *at; at++)
		state = next(&state) ^ (unsigned char)*at;
	state = next(&state) ^ (uint64_t)arm->repetition;
	for (size_t i = 0; i < scenario->faults_count; i++) {
		const struct fault *fault = &scenario->faults[i];

		delays[i] = fault->delay_ms;
		if (seed != PLAN_SEED_NONE)
			delays[i] += (int64_t)below(&state, (uint64_t)fault->delay_span_ms + 1);
	}
}
