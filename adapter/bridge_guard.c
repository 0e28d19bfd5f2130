/* The bridge's part of the chain of life: the arm's pulses, the watchdog's acknowledgments, and the pidfd. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "adapter/bridge_parts.h"
#include "core/clock.h"
#include "core/fd.h"

#define GUARD_FDS_ALONE 1
#define GUARD_FDS_WATCHED 3
#define ACKNOWLEDGMENTS_AT_ONCE 64

void bridge_guard_init(struct bridge *bridge)
{
	bridge->guard = (struct bridge_guard){ .pidfd = -1, .pulse = -1, .acknowledgments = -1 };
}

void bridge_guard_free(struct bridge *bridge)
{
	fd_close(&bridge->guard.pidfd);
	fd_close(&bridge->guard.pulse);
	fd_close(&bridge->guard.acknowledgments);
}

void bridge_guard_kill(const struct bridge *bridge)
{
	if (bridge->guard.pidfd >= 0)
		(void)pidfd_send_signal(bridge->guard.pidfd, SIGKILL, NULL, 0);
}

bool bridge_guard_dead(const struct bridge *bridge)
{
	return bridge->guard.pidfd >= 0 && fd_wait(bridge->guard.pidfd, POLLIN, 0, NULL) == 1;
}

/* A process that is dead needs neither watchdog nor parent: its stream is read to its end. */
static void lose(struct bridge *bridge, enum control_reason reason)
{
	if (!bridge_guard_dead(bridge))
		bridge_end(bridge, reason);
}

static int on_acknowledge_late(void *context, struct error **err)
{
	struct bridge *bridge = context;

	(void)err;
	lose(bridge, CONTROL_REASON_WATCHDOG_LOST);
	return bridge_settle(bridge);
}

static void pulse(struct bridge *bridge)
{
	struct bridge_guard *guard = &bridge->guard;
	int64_t now = clock_now();
	ssize_t put;

	if (guard->pulse < 0 || guard->outstanding)
		return;
	do
		put = write(guard->pulse, "", 1);
	while (put < 0 && errno == EINTR);
	/* A full pipe is a watchdog that does not read: the acknowledgment that does not come tells. */
	if (put < 0 && errno != EAGAIN) {
		fd_close(&guard->pulse);
		lose(bridge, CONTROL_REASON_WATCHDOG_LOST);
	} else if (bridge->config->acknowledge) {
		guard->outstanding = true;
		loop_timer(bridge->loop, TIMER_ACKNOWLEDGE,
			   clock_add(now, bridge->config->limits.acknowledge_ms * NS_PER_MS), on_acknowledge_late,
			   bridge);
	}
}

static int on_heartbeat(void *context, struct error **err);

static void beat(struct bridge *bridge)
{
	pulse(bridge);
	loop_timer(bridge->loop, TIMER_HEARTBEAT, clock_deadline(bridge->config->limits.heartbeat_ms), on_heartbeat,
		   bridge);
}

static int on_heartbeat(void *context, struct error **err)
{
	(void)err;
	beat(context);
	return bridge_settle(context);
}

static void acknowledged(struct bridge *bridge)
{
	bridge->guard.outstanding = false;
	bridge->guard.checked = true;
	loop_timer(bridge->loop, TIMER_ACKNOWLEDGE, NEVER, NULL, NULL);
	bridge_tell_guarded(bridge);
}

static int on_acknowledgment(void *context, int fd, short revents, struct error **err)
{
	struct bridge *bridge = context;
	char bytes[ACKNOWLEDGMENTS_AT_ONCE];
	ssize_t got = read(fd, bytes, sizeof(bytes));

	(void)revents;
	(void)err;
	if (got > 0 && bridge->guard.outstanding)
		acknowledged(bridge);
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return bridge_settle(bridge);
	loop_remove(bridge->loop, fd);
	if (bridge->config->acknowledge)
		lose(bridge, CONTROL_REASON_WATCHDOG_LOST);
	return bridge_settle(bridge);
}

static int watch(struct bridge *bridge, struct error **err)
{
	struct bridge_guard *guard = &bridge->guard;

	if (fd_nonblocking(guard->pulse, true, err) < 0 || fd_nonblocking(guard->acknowledgments, true, err) < 0)
		return -1;
	return loop_fd(bridge->loop, guard->acknowledgments, POLLIN, on_acknowledgment, bridge, err);
}

void bridge_guard_take(struct bridge *bridge, const int *fds, size_t count)
{
	struct bridge_guard *guard = &bridge->guard;
	cleanup_error struct error *reason = NULL;

	if (guard->given || (count != GUARD_FDS_ALONE && count != GUARD_FDS_WATCHED)) {
		for (size_t i = 0; i < count; i++)
			close(fds[i]);
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
		return;
	}
	guard->given = true;
	guard->pidfd = fds[0];
	if (count == GUARD_FDS_WATCHED) {
		guard->pulse = fds[1];
		guard->acknowledgments = fds[2];
		if (watch(bridge, &reason) < 0) {
			bridge_end(bridge, CONTROL_REASON_INTERNAL);
			return;
		}
	}
	guard->checked = guard->pulse < 0 || !bridge->config->acknowledge;
	if (guard->pulse >= 0)
		beat(bridge);
	bridge_tell_guarded(bridge);
}

static int on_lease(void *context, struct error **err)
{
	struct bridge *bridge = context;

	(void)err;
	lose(bridge, CONTROL_REASON_PARENT_LOST);
	return bridge_settle(bridge);
}

void bridge_guard_lease(struct bridge *bridge)
{
	loop_timer(bridge->loop, TIMER_LEASE, clock_deadline(bridge->config->limits.lease_ms), on_lease, bridge);
}

void bridge_guard_pulse(struct bridge *bridge)
{
	bridge_tell(bridge, CONTROL_PULSE_ACK, 0);
	if (bridge->agent.open)
		bridge_guard_lease(bridge);
}
