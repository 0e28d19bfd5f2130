/* Faults are data: a part, what happens to it, when. They are applied from outside, and triggered by observers. */
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_fault.h"

static const int signals[];

static const struct child *part(const struct arm *arm, int role)
{
	switch (role) {
	case FAULT_BRIDGE:
		return &arm->session.bridge;
	case FAULT_WATCHDOG:
		return &arm->session.watchdog;
	case FAULT_GATEWAY:
		return &arm->gateway;
	default:
		return NULL;
	}
}

static int signal_part(const struct arm *arm, int role, int number)
{
	const struct child *child = part(arm, role);

	if (role == FAULT_CONTAINER)
		return pidfd_send_signal(arm->session.pidfd, number, NULL, 0);
	return child ? child_signal(child, number) : -1;
}

static int apply(struct arm *arm, size_t index, struct error **err)
{
	const struct fault *fault = &arm->scenario.faults[index];

	switch (fault->role) {
	case FAULT_OPERATOR:
		return arm_fault_ask(arm, index, err);
	case FAULT_NAMESPACE:
		return arm_fault_link(arm, &arm->faults[index], err);
	case FAULT_HOST:
		return arm_fault_pattern(arm, &arm->faults[index], err);
	default:
		break;
	}
	if (signal_part(arm, fault->role, signals[fault->action]) < 0)
		return error_set(err, ERROR_INTERNAL, "the fault could not be applied");
	return 0;
}

int arm_faults_prepare(struct arm *arm, struct error **err)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		arm->faults[i].stream = -1;
	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		if (arm->scenario.faults[i].role == FAULT_HOST)
			return arm_fault_apart(err);
	return 0;
}

static bool due(const struct arm *arm, size_t index)
{
	const struct fault *fault = &arm->scenario.faults[index];
	const struct observer_process *deliveries = arm_observer(arm, "deliveries");

	if (arm->faults[index].fired)
		return false;
	if (strcmp(fault->trigger, "misbehaviour") == 0)
		return arm->told.resumed;
	return deliveries && observer_hit(deliveries, fault->trigger);
}

int arm_loss(struct arm *arm, int64_t at, struct error **err)
{
	struct observer_process *observer = arm_observer(arm, "state");

	if (arm->loss)
		return 0;
	arm->loss = at;
	return observer ? observer_loss(observer, at, err) : 0;
}

int arm_faults_apply(struct arm *arm, struct error **err)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++) {
		const struct fault *fault = &arm->scenario.faults[i];
		struct arm_fault_state *state = &arm->faults[i];

		if (arm_fault_go_on(arm, i, err) < 0)
			return -1;
		if (!due(arm, i))
			continue;
		if (state->at == 0)
			arm_note(arm, "delivered", fault->trigger, clock_now());
		state->at = state->at ? state->at : clock_deadline(fault->delay_ms);
		if (clock_now() < state->at)
			continue;
		/* Taken before it is applied, so that the time to death is never too short. */
		state->at = clock_now();
		state->fired = true;
		arm_note(arm, "part-lost", "", state->at);
		if (arm_loss(arm, state->at, err) < 0 || apply(arm, i, err) < 0)
			return -1;
	}
	return 0;
}

void arm_faults_undo(struct arm *arm)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++) {
		struct arm_fault_state *state = &arm->faults[i];

		if (state->fired && arm->scenario.faults[i].undo && arm->scenario.faults[i].action == FAULT_PAUSE)
			(void)signal_part(arm, arm->scenario.faults[i].role, SIGCONT);
		if (!state->fired)
			continue;
		engine_cancel(arm->engine, steal_pointer(&state->request));
		fd_close(&state->stream);
		arm_fault_unlink(state);
		arm_fault_uncover(state);
	}
}

bool arm_faults_all_fired(const struct arm *arm)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		if (!arm->faults[i].fired)
			return false;
	return true;
}

int64_t arm_faults_next(const struct arm *arm)
{
	int64_t next = NEVER;

	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		if (!arm->faults[i].fired && arm->faults[i].at && arm->faults[i].at < next)
			next = arm->faults[i].at;
	return next;
}

bool arm_faults_change(const struct arm *arm)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		if (arm->scenario.faults[i].role == FAULT_OPERATOR || arm->scenario.faults[i].role == FAULT_NAMESPACE ||
		    arm->scenario.faults[i].role == FAULT_HOST)
			return true;
	return false;
}

bool arm_faults_pending(const struct arm *arm)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		if (arm->faults[i].request)
			return true;
	return false;
}

static const int signals[] = { [FAULT_KILL] = SIGKILL, [FAULT_PAUSE] = SIGSTOP, [FAULT_TERMINATE] = SIGTERM };
