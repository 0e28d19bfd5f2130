/* What the judge's tests plant into a good run: one thing each, by a function of its name. */
#ifndef HARNESS_TESTS_UNIT_JUDGE_PLANTS_H
#define HARNESS_TESTS_UNIT_JUDGE_PLANTS_H

#include "tests/unit/judge_world.h"

#define BASE "baseline"
#define NET "mutation/network"

#define PLANT(name, what)                                                                                              \
	static void name(struct world *w)                                                                              \
	{                                                                                                              \
		what;                                                                                                  \
	}

static void nothing(struct world *w)
{
	(void)w;
}

/* What an observer may lack. */
PLANT(missing, forget(w, see(w, BASE, "tcp4", "tcp4")))
PLANT(missing_control, forget(w, see(w, BASE, "permitted", "deliveries")))
PLANT(dropped, see(w, BASE, "tcp4", "tcp4")->dropped = 1)
PLANT(no_before, see(w, BASE, "tcp4", "tcp4")->beacon_before = 0)
PLANT(no_after, see(w, BASE, "tcp4", "tcp4")->beacon_after = 0)
PLANT(no_after_control, see(w, BASE, "permitted", "deliveries")->beacon_after = 0)
PLANT(observer_error, see(w, BASE, "tcp4", "tcp4")->status = OBSERVATION_OBSERVER_ERROR)
PLANT(truncated, see(w, BASE, "tcp4", "tcp4")->reason = OBSERVATION_REASON_TRUNCATED)
PLANT(negative, see(w, "lifecycle/bridge-killed", "loss_to_dead", "state")->value = -1)
PLANT(duplicate, twice(w, see(w, BASE, "tcp4", "tcp4"), 0))
PLANT(duplicate_control, twice(w, see(w, BASE, "permitted", "deliveries"), 1))

/* Leaks, alone and beside errors. */
/* a canary where no cell looks */
PLANT(unplanned, stray(w, see(w, BASE, "stderr", "logs-disk"), "permitted", 1))
PLANT(unplanned_blind, stray(w, see(w, BASE, "stderr", "logs-disk"), "permitted", 1);
      w->observations[w->observations_count - 1].beacon_after = 0)
PLANT(unplanned_zero, stray(w, see(w, BASE, "stderr", "logs-disk"), "permitted", 0))
PLANT(unplanned_inward, stray(w, see(w, BASE, "tcp4", "attempts"), "file", 1))
PLANT(unplanned_in_mutant, stray(w, see(w, NET, "tcp4", "tcp4"), "permitted", 1))

PLANT(leak, see(w, BASE, "tcp4", "tcp4")->value = 1)
PLANT(leak_blind, see(w, BASE, "tcp4", "tcp4")->value = 1; no_after(w))
PLANT(leak_dropped, see(w, BASE, "tcp4", "tcp4")->value = 1; dropped(w))
PLANT(leak_broken_arm, see(w, BASE, "tcp4", "tcp4")->value = 1; record_of(w, BASE)->status = ARM_HARNESS_ERROR)
PLANT(leak_duplicate, twice(w, see(w, BASE, "tcp4", "tcp4"), 1))
PLANT(leak_unseen, see(w, BASE, "tcp4", "tcp4")->value = 1; observer_error(w))
PLANT(leak_environment, see(w, BASE, "tcp4", "tcp4")->value = 1; w->environment_changed = true)
PLANT(leak_in_mutant, see(w, NET, "denied", "deliveries")->value = 1)
PLANT(leak_in_refused, see(w, NET, "denied", "deliveries")->value = 1; record_of(w, NET)->failed_count = 0)
PLANT(slow, see(w, "lifecycle/bridge-killed", "loss_to_dead", "state")->value = 1000000001)
PLANT(bound_met, see(w, "lifecycle/bridge-killed", "loss_to_dead", "state")->value = 1000000000)
PLANT(more_of_control_blind, see(w, BASE, "permitted", "deliveries")->value = 2; no_after_control(w))
PLANT(less_of_control, see(w, BASE, "permitted", "deliveries")->value = 0)
PLANT(tries_nothing, see(w, BASE, "tcp4", "attempts")->value = 0)
PLANT(control_environment, less_of_control(w); w->environment_changed = true)
PLANT(environment, w->environment_changed = true)

/* Censored values are lower bounds. */
PLANT(censored_le, see(w, "lifecycle/bridge-killed", "loss_to_dead", "state")->reason = OBSERVATION_REASON_CENSORED)
PLANT(censored_le_over, slow(w); censored_le(w))
PLANT(censored_eq, see(w, BASE, "permitted", "deliveries")->reason = OBSERVATION_REASON_CENSORED)
PLANT(censored_eq_over, see(w, BASE, "permitted", "deliveries")->value = 2; censored_eq(w))
PLANT(censored_ge_under, see(w, "mutation/watchdog", "loss_to_dead", "state")->value = 4999999999)
PLANT(censored_ge_control, see(w, BASE, "dns", "attempts")->value = 0;
      see(w, BASE, "dns", "attempts")->reason = OBSERVATION_REASON_CENSORED)

/* Arms. */
PLANT(arm_error, record_of(w, BASE)->status = ARM_HARNESS_ERROR)
PLANT(arm_timeout, record_of(w, BASE)->status = ARM_TIMEOUT)
PLANT(arm_unsupported, record_of(w, BASE)->status = ARM_HOST_UNSUPPORTED)
PLANT(arm_not_run, record_of(w, BASE)->status = ARM_NOT_RUN)
PLANT(arm_missing, *record_of(w, BASE) = w->arms[--w->arms_count])
PLANT(arm_twice, w->arms[w->arms_count++] = *record_of(w, BASE))
PLANT(mutant_error, record_of(w, NET)->status = ARM_TIMEOUT)
PLANT(mutant_twice, w->arms[w->arms_count++] = *record_of(w, NET))
PLANT(base_refused, set(record_of(w, BASE)->failed[0], NAME_MAX_SHORT, "pids"); record_of(w, BASE)->failed_count = 1)
PLANT(base_waived, base_refused(w); set(record_of(w, BASE)->must_fail[0], NAME_MAX_SHORT, "pids");
      record_of(w, BASE)->must_fail_count = 1)

/* Mutations. */
PLANT(not_applied, record_of(w, NET)->failed_count = 0)
PLANT(one_rule_held, record_of(w, NET)->failed_count = 1)
PLANT(extra_rule, set(record_of(w, NET)->failed[2], NAME_MAX_SHORT, "pids"); record_of(w, NET)->failed_count = 3)
PLANT(other_rule, set(record_of(w, NET)->failed[1], NAME_MAX_SHORT, "pids"))
PLANT(rule_named_twice, set(record_of(w, NET)->failed[2], NAME_MAX_SHORT, "interfaces");
      record_of(w, NET)->failed_count = 3)
PLANT(rule_undeclared, set(record_of(w, "mutation/ack")->failed[0], NAME_MAX_SHORT, "pids");
      record_of(w, "mutation/ack")->failed_count = 1)
PLANT(extra_difference, memset(record_of(w, NET)->effective[0]->sha256, 'f', HEX_SHA256 - 1))
PLANT(extra_field, add_effective(record_of(w, NET), "kernel.new", '0'))
PLANT(extra_field_allowed, add_effective(record_of(w, NET), "kernel.unused", '0'))
PLANT(missing_field,
      record_of(w, NET)->effective[0] = record_of(w, NET)->effective[--record_of(w, NET)->effective_count])
PLANT(prefix_is_no_prefix, set(record_of(w, NET)->may_differ[0], 128, "protection.network."))
PLANT(prefix_of_exact, set(record_of(w, "mutation/ack")->may_differ[0], 128, "protection.ack.value.more"))
PLANT(no_difference, memset(record_of(w, NET)->effective[1]->sha256, '0', HEX_SHA256 - 1))
PLANT(order_of_fields, struct effective_value **e = record_of(w, NET)->effective; struct effective_value *first = e[0];
      e[0] = e[3]; e[3] = first)
PLANT(undetected, see(w, NET, "tcp4", "tcp4")->value = 0)
PLANT(undetected_control, see(w, "mutation/sink-ceiling", "denied", "decisions")->value = 1)
PLANT(detected_too_much, see(w, "mutation/read-only", "core-limit-soft", "state")->value = 1)
PLANT(detected_leak_too_much, see(w, "mutation/network-bridge", "tcp4", "tcp4")->value = 1;
      see(w, "mutation/network-bridge", "tcp4", "tcp4")->beacon_after = 0)
PLANT(flip_blind, see(w, NET, "tcp4", "tcp4")->beacon_before = 0)
PLANT(flip_missing, forget(w, see(w, NET, "tcp4", "tcp4")))
PLANT(flip_duplicate, twice(w, see(w, NET, "tcp4", "tcp4"), 1))
PLANT(other_blind, see(w, NET, "permitted", "decisions")->beacon_before = 0)
PLANT(more_than_expected, see(w, NET, "tcp4", "tcp4")->value = 2)
PLANT(other_image, memset(record_of(w, NET)->image, 'c', HEX_SHA256 - 1))
PLANT(other_boot, memset(record_of(w, NET)->boot, 'c', 32))
PLANT(no_boot, for (size_t i = 0; i < w->arms_count; i++) w->arms[i].boot[0] = '\0')
PLANT(no_image, for (size_t i = 0; i < w->arms_count; i++) w->arms[i].image[0] = '\0')
PLANT(again_other_boot, memset(record_of(w, "baseline-again")->boot, 'c', 32))

PLANT(more_than_expected_refused, more_than_expected(w); not_applied(w))
PLANT(undetected_environment, undetected(w); w->environment_changed = true)
PLANT(control_unplanned, unplan(w, BASE, "core-limit-soft", "state"); detected_too_much(w))

/* A flip that expects what the control expects: no scenario file may say so, and the judge is not fooled by one. */
static void toothless(struct world *w)
{
	struct scenario *mutant = scenario_in(w, "mutation/ack");

	for (size_t i = 0; i < mutant->expect_count; i++) {
		if (!mutant->expect[i].flips)
			continue;
		mutant->expect[i].op = OP_LE;
		see(w, "mutation/ack", "loss_to_dead", "state")->reason = OBSERVATION_REASON_NONE;
		see(w, "mutation/ack", "loss_to_dead", "state")->value = 1;
	}
}

/* Nothing of the mutant is left to flip, and nothing of its control to earn. */
static void flips_unplanned(struct world *w)
{
	static const char *const arms[] = { BASE, "baseline-again", "mutation/log-driver" };

	for (size_t i = 0; i < ARRAY_SIZE(arms); i++) {
		unplan(w, arms[i], "stderr", "logs-api");
		unplan(w, arms[i], "stderr", "logs-disk");
	}
}

/* An arm of which no cell is left, and which ended badly. */
static void no_cells_no_end(struct world *w)
{
	const struct scenario *again = scenario_in(w, "baseline-again");

	for (size_t i = 0; i < again->expect_count; i++)
		unplan(w, again->id, again->expect[i].subject, again->expect[i].observer);
	record_of(w, again->id)->status = ARM_TIMEOUT;
}

#undef PLANT

#endif
