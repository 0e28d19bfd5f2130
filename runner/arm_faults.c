/* Faults are data: a part, what happens to it, when. They are applied from outside, and triggered by observers. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "adapter/freezer.h"
#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_fault.h"

#define PIPE_BYTES 4096

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

static int signal_part(const struct arm *arm, int role, int number, struct error **err)
{
	const struct child *child = part(arm, role);
	int result;

	if (role == FAULT_ENGINE || role == FAULT_SHIM)
		return arm_engine_signal(arm, role, number, err);
	if (role == FAULT_CONTAINER && (number == SIGSTOP || number == SIGCONT))
		result = freezer_set(arm->session.freezer, number == SIGSTOP) ? 0 : -1;
	else if (role == FAULT_CONTAINER)
		result = pidfd_send_signal(arm->session.pidfd, number, NULL, 0);
	else
		result = child ? child_signal(child, number) : -1;
	return result == 0 ? 0 : error_set(err, ERROR_INTERNAL, "the fault could not be applied");
}

/* Through its own end of the pipe, opened anew for writing. It is closed at once: another holder would hide the end of
 * the pulses. */
static int fill(const struct arm *arm, struct error **err)
{
	static const char zeros[PIPE_BYTES];
	cleanup_fd int pipe_end = -1;
	char path[40];
	ssize_t put;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)arm->session.watchdog.pid, WATCHDOG_FD_PULSE);
	pipe_end = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (pipe_end < 0)
		return error_errno(err, errno, "the watchdog's pulses");
	do
		put = write(pipe_end, zeros, sizeof(zeros));
	while (put > 0);
	return errno == EAGAIN ? 0 : error_errno(err, errno, "filling the watchdog's pulses");
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
	return fault->action == FAULT_FILL ? fill(arm, err)
					   : signal_part(arm, fault->role, signals[fault->action], err);
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

bool arm_faults_witnessed(const struct arm *arm)
{
	const struct observer_process *deliveries = arm_observer(arm, "deliveries");

	return !scenario_tries(&arm->scenario, "permitted") || (deliveries && observer_hit(deliveries, "permitted"));
}

static bool due(const struct arm *arm, size_t index)
{
	const struct fault *fault = &arm->scenario.faults[index];
	const struct observer_process *deliveries = arm_observer(arm, "deliveries");

	if (arm->faults[index].fired)
		return false;
	if (strcmp(fault->trigger, "misbehaviour") == 0)
		return arm->told.resumed && arm_faults_witnessed(arm);
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

void arm_faults_undo(struct arm *arm, bool all)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++) {
		const struct fault *fault = &arm->scenario.faults[i];
		struct arm_fault_state *state = &arm->faults[i];
		cleanup_error struct error *gone = NULL;

		if (!state->fired)
			continue;
		if (fault->action == FAULT_PAUSE && (fault->undo || (all && fault->role == FAULT_ENGINE)))
			(void)!signal_part(arm, fault->role, SIGCONT, &gone);
		/* What the engine has not answered yet never began: nothing is heard of it. */
		arm_fault_give_stream(arm, state, state->request != NULL);
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

bool arm_faults_struck(const struct arm *arm, int role)
{
	for (size_t i = 0; i < arm->scenario.faults_count; i++)
		if (arm->faults[i].fired && arm->scenario.faults[i].role == role)
			return true;
	return false;
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
