/*
 * From the first frame to the end: the agent works, faults strike, what is alive reports; then the end (arm_end.c), and
 * what the observers hold.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_steps.h"

#define UPDATED_MS 2000
/* The bridge ends a session that lasts too long; the arm waits a little longer for it. */
#define SESSION_SLACK_MS 2000

/* ---- what the control sockets tell ---- */

static void take_bridge(struct arm *arm, const struct control_message *message)
{
	struct arm_told *told = &arm->told;

	switch ((enum control_type)message->type) {
	case CONTROL_READY:
		told->bridge_ready = true;
		break;
	case CONTROL_GUARDED:
		told->guarded = true;
		break;
	case CONTROL_FIRST_FRAME:
		told->first_frame = true;
		arm_note(arm, "first-frame", "", message->time);
		break;
	case CONTROL_BEACON_DONE:
		told->beacon_done = true;
		told->beacon_allowed = message->value == 1;
		break;
	case CONTROL_CHECKPOINT:
		told->checkpoint = true;
		arm_note(arm, "checkpoint", "", message->time);
		break;
	case CONTROL_POLICY_DONE:
		arm_policy_acknowledged(arm, message);
		break;
	case CONTROL_DONE:
		told->done = true;
		arm_note(arm, "done", "", message->time);
		break;
	case CONTROL_ENDED:
		told->ended = true;
		told->reason = (enum control_reason)message->reason;
		arm->result->room.record.calls_allowed = message->allowed;
		arm->result->room.record.calls_denied = message->denied;
		arm_note(arm, "ended", control_reason_names[message->reason], message->time);
		break;
	default:
		break;
	}
}

static void take_watchdog(struct arm *arm, const struct control_message *message)
{
	switch ((enum control_type)message->type) {
	case CONTROL_ARMED:
		arm->told.armed = true;
		break;
	case CONTROL_FIRED:
		arm_note(arm, "watchdog-fired", control_reason_names[message->reason], message->time);
		break;
	case CONTROL_DEAD:
		arm_note(arm, "watchdog-dead", "", message->time);
		break;
	case CONTROL_STOPPED:
		arm_note(arm, "watchdog-stopped", control_reason_names[message->reason], message->time);
		break;
	default:
		break;
	}
}

/* A socket whose peer left is no longer watched: it would be readable for ever. */
static int on_control(void *context, int fd, short revents, struct error **err)
{
	struct arm *arm = context;
	bool bridge = fd == arm->session.bridge_control;
	cleanup_error struct error *gone = NULL;
	struct control_message message;
	size_t none = 0;

	(void)revents;
	(void)err;
	if (control_receive(fd, &message, NULL, &none, clock_now(), &gone) < 0) {
		loop_remove(arm->loop, fd);
		if (bridge)
			arm->told.bridge_gone = arm->told.ended = true;
		else
			arm->told.watchdog_gone = true;
		return 1;
	}
	if (bridge)
		take_bridge(arm, &message);
	else
		take_watchdog(arm, &message);
	return 1;
}

static int on_process(void *context, int fd, short revents, struct error **err)
{
	struct arm *arm = context;

	(void)revents;
	(void)err;
	arm->told.dead = true;
	arm_note(arm, "dead", "", clock_now());
	loop_remove(arm->loop, fd);
	return 1;
}

static int on_observer(void *context, int fd, short revents, struct error **err)
{
	struct arm *arm = context;
	bool alive = false;

	(void)revents;
	(void)err;
	for (size_t i = 0; i < arm->observers_count; i++) {
		cleanup_error struct error *gone = NULL;

		if (observer_fd(arm->observers[i]) == fd)
			alive = observer_dispatch(arm->observers[i], &gone) == 0;
	}
	/* Also one that was lost while something else waited for it: its descriptor is nobody's any more. */
	if (!alive)
		loop_remove(arm->loop, fd);
	return 1;
}

static int on_lifeline(void *context, int fd, short revents, struct error **err)
{
	struct arm *arm = context;

	(void)revents;
	arm->told.interrupted = true;
	loop_remove(arm->loop, fd);
	return error_set(err, ERROR_INTERRUPTED, "interrupted: the runner let go of it");
}

static int on_signal(void *context, int number, struct error **err)
{
	struct arm *arm = context;

	arm->told.interrupted = true;
	return error_set(err, ERROR_INTERRUPTED, "interrupted by signal %d", number);
}

static int on_pulse(void *context, struct error **err)
{
	struct arm *arm = context;
	struct control_message pulse = { .type = CONTROL_PULSE };
	cleanup_error struct error *gone = NULL;

	(void)err;
	loop_timer(arm->loop, ARM_TIMER_PULSE, clock_deadline(arm->options.limits.heartbeat_ms), on_pulse, arm);
	/* A bridge that does not read its pulses is the watchdog's to judge. */
	if (!arm->told.bridge_gone &&
	    control_send(arm->session.bridge_control, &pulse, NULL, 0, clock_now(), &gone) < 0)
		return 1;
	return 0;
}

static int watch_one(struct arm *arm, int fd, loop_fd_callback callback, struct error **err)
{
	return fd < 0 ? 0 : loop_fd(arm->loop, fd, POLLIN, callback, arm, err);
}

int arm_watch(struct arm *arm, struct error **err)
{
	if (!arm->watching && (loop_signals(arm->loop, on_signal, arm, err) < 0 ||
			       loop_fd(arm->loop, ARM_FD_LIFELINE, POLLIN, on_lifeline, arm, err) < 0))
		return -1;
	arm->watching = true;
	if (watch_one(arm, arm->told.bridge_gone ? -1 : arm->session.bridge_control, on_control, err) < 0 ||
	    watch_one(arm, arm->told.dead ? -1 : arm->session.pidfd, on_process, err) < 0 ||
	    watch_one(arm, arm->told.watchdog_gone ? -1 : arm->session.watchdog_control, on_control, err) < 0)
		return -1;
	for (size_t i = 0; i < arm->observers_count; i++)
		if (watch_one(arm, observer_fd(arm->observers[i]), on_observer, err) < 0)
			return -1;
	return 0;
}

int arm_wait(struct arm *arm, arm_condition condition, int64_t deadline, struct error **err)
{
	while (!condition(arm)) {
		int64_t fault = arm_faults_next(arm);
		int status;

		if (clock_now() >= deadline)
			return error_set(err, ERROR_TIMEOUT, "a step of the arm took too long");
		status = arm_look_begin(arm, err);
		if (status == 0)
			status = loop_run(arm->loop, fault < deadline ? fault : deadline, err);
		arm_look_end(arm);
		if (status < 0)
			return status;
		if (arm_faults_apply(arm, err) < 0 || arm_policy_apply(arm, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the steps ---- */

static bool beacon_done(const struct arm *arm)
{
	return arm->told.ended || arm->told.beacon_done;
}

int arm_bridge_beacon(struct arm *arm, enum wire_phase phase, struct error **err)
{
	struct control_message beacon = { .type = CONTROL_BEACON };

	arm->told.beacon_done = arm->told.beacon_allowed = false;
	memcpy(beacon.canary, arm->markers[phase].text, sizeof(beacon.canary));
	if (control_send(arm->session.bridge_control, &beacon, NULL, 0, clock_deadline(ARM_BEACON_MS), err) < 0 ||
	    arm_wait(arm, beacon_done, clock_deadline(ARM_BEACON_MS), err) < 0)
		return -1;
	return arm->told.beacon_allowed ? 0
					: error_set(err, ERROR_PROTOCOL, "the beacon did not pass bridge and gateway");
}

static bool agent_finished(const struct arm *arm)
{
	return arm->told.done || arm->told.ended || arm->told.dead;
}

static bool faults_fired(const struct arm *arm)
{
	return arm_faults_all_fired(arm) || arm->told.dead;
}

static bool at_checkpoint(const struct arm *arm)
{
	return arm->told.checkpoint || agent_finished(arm);
}

static bool witnessed(const struct arm *arm)
{
	return arm->told.dead || arm->told.ended || arm_faults_witnessed(arm);
}

static bool misbehaved(const struct arm *arm)
{
	return arm->told.dead || arm->told.done;
}

static bool updated(const struct arm *arm)
{
	return arm_policy_all_acknowledged(arm) || arm->told.ended || arm->told.dead;
}

static bool dead(const struct arm *arm)
{
	return arm->told.dead;
}

/* What needs the process alive; a look that was missed is its cells' matter. */
static void look_alive(struct arm *arm)
{
	cleanup_error struct error *late = NULL;
	int status = arm->told.dead ? 0 : arm_observers_ask(arm, "files", WIRE_BEFORE, &late);

	if (status == 0 && !arm->told.dead)
		status = arm_observers_take(arm, "files", WIRE_BEFORE, &late);
	if (status == 0 && !arm->told.dead)
		status = arm_records_look(arm, &late);
	if (!arm->told.dead)
		arm_note(arm, status < 0 ? "barrier-missed" : "barrier", status < 0 ? "files" : "", clock_now());
}

/* The observers that need the process alive report here, while the marker passes bridge and gateway; a barrier that was
 * missed is their cells' matter. */
static void barrier(struct arm *arm)
{
	cleanup_error struct error *late = NULL, *lost = NULL;
	bool looks = !arm->told.dead && !arm->told.resumed;
	int status = looks ? arm_observers_ask(arm, "files", WIRE_BEFORE, &late) : 0;

	if (arm_bridge_beacon(arm, WIRE_AFTER, &lost) < 0)
		arm_note(arm, "beacon-lost", "deliveries", clock_now());
	if (status == 0 && looks)
		status = arm_observers_take(arm, "files", WIRE_BEFORE, &late);
	if (status == 0 && looks)
		status = arm_records_look(arm, &late);
	if (looks)
		arm_note(arm, status < 0 ? "barrier-missed" : "barrier", status < 0 ? "files" : "", clock_now());
}

/* Closes the window: what the process is now, it is by no doing of the arm. From here on the arm's own end is bounded.
 */
static int close_window(struct arm *arm, struct error **err)
{
	int64_t now = clock_now();

	arm_note(arm, ARM_WINDOW_CLOSED, "", now);
	if (arm->scenario.faults_count)
		arm->end_by = clock_add(now, (ARM_END_MS - ARM_REMOVE_MS + arm_gateway_slowness(arm)) * NS_PER_MS);
	arm_evidence_window(arm);
	return arm_observers_ask(arm, "state", WIRE_BEFORE, err) < 0
		       ? -1
		       : arm_observers_take(arm, "state", WIRE_BEFORE, err);
}

/* While the window is open the arm does nothing to the container: that is what is measured. */
static int watch_window(struct arm *arm, arm_condition over, struct error **err)
{
	cleanup_error struct error *late = NULL;

	arm_note(arm, ARM_WINDOW, "", clock_now());
	if (arm_wait(arm, over, clock_add(arm->loss, arm->scenario.window_ms * NS_PER_MS), &late) < 0 &&
	    error_code(late) != ERROR_TIMEOUT) {
		error_keep_first(err, &late);
		return -1;
	}
	return close_window(arm, err);
}

static int strike(struct arm *arm, int64_t session, struct error **err)
{
	if (arm_wait(arm, faults_fired, session, err) < 0)
		return error_wrap(err, "the fault's trigger");
	return watch_window(arm, dead, err);
}

/* The agent's stdin ends once its work is seen. */
static int finish(struct arm *arm, struct error **err)
{
	struct control_message end = { .type = CONTROL_END };

	if (!arm->told.done || arm->told.ended)
		return 0;
	arm_orders_work(arm);
	barrier(arm);
	return control_send(arm->session.bridge_control, &end, NULL, 0, clock_deadline(ARM_BEACON_MS), err);
}

/* At its checkpoint the agent has tried all ways out and lives: what must be looked at alive is looked at. Then it is
 * let go on, and the clock runs. */
static int misbehave(struct arm *arm, int64_t session, struct error **err)
{
	cleanup_error struct error *lost = NULL, *late = NULL;
	int64_t now;

	if (arm_wait(arm, at_checkpoint, session, err) < 0)
		return error_wrap(err, "the agent's checkpoint");
	if (!arm->told.checkpoint)
		return error_set(err, ERROR_PROTOCOL, "the agent ended before its checkpoint");
	look_alive(arm);
	/* An observer that is blind is its cells' matter: then nothing strikes, and the arm says so. */
	if (arm->scenario.faults_count && arm_wait(arm, witnessed, clock_deadline(ARM_BEACON_MS), &late) < 0 &&
	    error_code(late) != ERROR_TIMEOUT) {
		error_keep_first(err, &late);
		return -1;
	}
	now = clock_now();
	arm->told.resumed = true;
	arm_note(arm, "resumed", "", now);
	if (arm->scenario.faults_count == 0 && arm_loss(arm, now, err) < 0)
		return -1;
	/* What is due now strikes before it goes on. */
	if (arm_faults_apply(arm, err) < 0)
		return -1;
	if (session_resume(&arm->session, &lost) < 0 && !arm->loss) {
		error_keep_first(err, &lost);
		return -1;
	}
	if (arm->scenario.faults_count)
		return strike(arm, session, err);
	return watch_window(arm, misbehaved, err) < 0 ? -1 : finish(arm, err);
}

static int work(struct arm *arm, struct error **err)
{
	int64_t session = clock_deadline(arm->options.limits.session_ms + SESSION_SLACK_MS);

	if (scenario_pauses(&arm->scenario))
		return misbehave(arm, session, err);
	if (arm->scenario.faults_count)
		return strike(arm, session, err);
	if (arm_wait(arm, agent_finished, session, err) < 0)
		return error_wrap(err, "the agent");
	if (arm_wait(arm, updated, clock_deadline(UPDATED_MS), err) < 0)
		return error_wrap(err, "a policy update");
	return finish(arm, err);
}

/* What the observers hold is collected however the session went: a leak is never hidden by an error. */
int arm_exchange(struct arm *arm, const struct buf *payload, struct error **err)
{
	cleanup_error struct error *late = NULL;
	int status;

	loop_timer(arm->loop, ARM_TIMER_PULSE, clock_now(), on_pulse, arm);
	arm_observers_await_state(arm);
	/* The record is written while the agent works. */
	status = session_go(&arm->session, payload, err);
	if (status == 0)
		status = arm_project(arm, err);
	if (status == 0)
		status = work(arm, err);
	if (arm->told.interrupted)
		return -1;
	if (arm_process_end(arm, status == 0, &late) < 0 && status == 0)
		status = -1;
	error_keep_first(err, &late);
	if (arm_observers_collect(arm, false, &late) < 0)
		status = -1;
	loop_timer(arm->loop, ARM_TIMER_PULSE, NEVER, on_pulse, arm);
	error_keep_first(err, &late);
	if (arm_engine_end(arm, &late) < 0)
		status = -1;
	error_keep_first(err, &late);
	arm_records_finish(arm);
	arm_orders_finish(arm);
	arm_declared_finish(arm);
	if (arm_observers_collect(arm, true, &late) < 0)
		status = -1;
	error_keep_first(err, &late);
	arm_note(arm, "collected", "", clock_now());
	return status < 0 ? status : arm_check_end(arm, err);
}
