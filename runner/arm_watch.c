/* The loop looks after the watch over the session while it runs, and after the engine while a fault asks it something.
 */
#include "adapter/session_watch.h"
#include "core/clock.h"
#include "runner/arm_steps.h"

static int look(struct arm *arm, struct error **err)
{
	bool known = arm->session.changed;

	if (session_watch_step(&arm->session, err) < 0 || engine_pump(arm->engine, err) < 0)
		return -1;
	if (arm->session.changed && !known)
		arm_note(arm, "ended", watch_kind_names[arm->session.change], arm->session.changed_at);
	/* The loop ends, so that what is watched is what the engine's client has open then. */
	return 1;
}

static int on_descriptor(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	return look(context, err);
}

static int on_due(void *context, struct error **err)
{
	return look(context, err);
}

int arm_look_begin(struct arm *arm, struct error **err)
{
	size_t count;

	if (arm->told.dead)
		session_watch_close(&arm->session);
	count = session_watch_descriptors(&arm->session, arm->looked, ARM_LOOKED_MAX);
	if (count == 0 && arm_faults_pending(arm))
		count = engine_descriptors(arm->engine, arm->looked, ARM_LOOKED_MAX);
	loop_timer(arm->loop, ARM_TIMER_WATCH, session_watch_due(&arm->session), on_due, arm);
	for (arm->looked_count = 0; arm->looked_count < count; arm->looked_count++) {
		const struct pollfd *one = &arm->looked[arm->looked_count];

		if (loop_fd(arm->loop, one->fd, one->events, on_descriptor, arm, err) < 0)
			return -1;
	}
	return 0;
}

void arm_look_end(struct arm *arm)
{
	for (size_t i = 0; i < arm->looked_count; i++)
		loop_remove(arm->loop, arm->looked[i].fd);
	arm->looked_count = 0;
}

const char *arm_end_reason(const struct arm *arm)
{
	return arm->session.changed ? watch_kind_names[arm->session.change] : control_reason_names[arm->told.reason];
}
