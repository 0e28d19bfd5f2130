/*
 * The end of an arm's session: the process ends, the markers that come after it are sent, and the engine's evidence is
 * collected while it still notices the exit. Where something was lost all of it is bounded.
 */
#include <string.h>

#include "core/clock.h"
#include "runner/arm_steps.h"

#define GONE_MS 5000
#define EXIT_MS 5000
#define STRUCK_MS 250

static bool dead(const struct arm *arm)
{
	return arm->told.dead;
}

static bool bridge_over(const struct arm *arm)
{
	return arm->told.ended;
}

/* Whether the agent is left to end by itself. */
static bool ends_itself(const struct arm *arm)
{
	return arm->scenario.faults_count == 0 && (arm->told.done || !scenario_pauses(&arm->scenario));
}

/* What an agent wrote before it left is handled: until then the gateway is the bridge's. Nothing is asked of the engine
 * meanwhile: an archive that nobody reads holds the container, and with it the end of the stream. */
static int await_handled(struct arm *arm, struct error **err)
{
	cleanup_error struct error *late = NULL;

	if (arm_wait(arm, bridge_over, clock_deadline(EXIT_MS), &late) == 0 || error_code(late) == ERROR_TIMEOUT)
		return 0;
	error_keep_first(err, &late);
	return -1;
}

/* Whether a fresh gateway is asked once the agent was done: what no agent can ask, or the marker, which the session's
 * own gateway would not let through any more. */
static bool asks(const struct arm *arm)
{
	bool any = arm->told.done && !arm->told.beacon_allowed && arm->scenario.faults_count == 0;

	for (size_t i = 0; i < arm->subjects_count; i++)
		any = any || arm->subjects[i].route->address == PROBE_OUTSIDE;
	return any;
}

/* The process ends by itself, or is ended; then the markers that come after everything it did. */
int arm_process_end(struct arm *arm, bool orderly, struct error **err)
{
	cleanup_error struct error *lost = NULL;
	bool left = arm->told.dead && !arm->told.done && arm->scenario.faults_count == 0;

	if (!ends_itself(arm) || !orderly) {
		arm_faults_undo(arm, false);
		session_kill(&arm->session);
	}
	if (arm_wait(arm, dead, clock_deadline(GONE_MS), err) < 0)
		return error_wrap(err, "the end of the container's process");
	if ((left || asks(arm)) && await_handled(arm, err) < 0)
		return -1;
	arm_evidence_begin(arm);
	arm_observers_beacon(arm, WIRE_AFTER);
	if (arm->scenario.faults_count || !arm->told.done || asks(arm)) {
		struct observer_process *deliveries = arm_observer(arm, "deliveries");

		if (deliveries && arm_gateway_ask(arm, &arm->markers[WIRE_AFTER], &lost) < 0)
			arm_note(arm, "beacon-lost", "deliveries", clock_now());
	}
	return 0;
}

static int64_t patience(const struct arm *arm, int64_t milliseconds)
{
	int64_t deadline = clock_deadline(milliseconds);

	return deadline < arm->end_by ? deadline : arm->end_by;
}

/* An engine that was hurt may not tell any more: what needs its word is not established. */
int arm_engine_end(struct arm *arm, struct error **err)
{
	cleanup_error struct error *late = NULL, *silent = NULL;
	int64_t exit_code = -1;

	arm_evidence_archive(arm);
	/* Until the attach stream is read to its end the engine holds the container; a bridge that was struck may never
	 * do that. */
	if (!arm->told.ended &&
	    arm_wait(arm, bridge_over, patience(arm, arm_faults_struck(arm, FAULT_BRIDGE) ? STRUCK_MS : EXIT_MS),
		     &late) < 0)
		child_end(&arm->session.bridge);
	if (session_exited(&arm->session, patience(arm, EXIT_MS), &exit_code, &silent) == 0) {
		arm_note(arm, "exited", "", clock_now());
		arm->result->room.record.agent_attempts = exit_code;
	} else if (!scenario_hurts_engine(&arm->scenario)) {
		error_keep_first(err, &silent);
		return -1;
	}
	arm_evidence(arm);
	arm_note(arm, "evidence", "", clock_now());
	return 0;
}

/* What an operator changed is not what the scenario is about. As the scenario says; else one in which nothing was
 * planted ends because the agent was done and its input ended: all else cut it short. */
int arm_check_end(const struct arm *arm, struct error **err)
{
	const char *reason = arm_end_reason(arm), *ends = arm->scenario.ends;

	if (arm->policy.operated)
		return error_set(err, ERROR_PROTOCOL, "an operator changed the session");
	if (arm->policy.otherwise)
		return error_set(err, ERROR_PROTOCOL,
				 "a policy update was acknowledged otherwise than the scenario says");
	if (!arm_policy_all_acknowledged(arm))
		return error_set(err, ERROR_PROTOCOL, "a policy update was not acknowledged");
	if (ends[0])
		return strcmp(reason, ends) == 0
			       ? 0
			       : error_set(err, ERROR_PROTOCOL, "the session ended by %s, and not by %s", reason, ends);
	if (!ends_itself(arm) ||
	    (arm->told.done && !arm->session.changed && arm->told.reason == CONTROL_REASON_STREAM_END))
		return 0;
	return error_set(err, ERROR_PROTOCOL, "the session was cut short: %s", reason);
}
