/* The bridge and the arm: orders in, fixed structs out, and the one way in which a session ends. */
#include <poll.h>
#include <string.h>

#include "adapter/bridge_parts.h"
#include "core/clock.h"
#include "core/fd.h"

#define LAST_WORD_MS 200
#define ORDER_FDS 3

int bridge_end(struct bridge *bridge, enum control_reason reason)
{
	bridge_guard_kill(bridge);
	if (bridge->reason == CONTROL_REASON_NONE)
		bridge->reason = reason;
	return 1;
}

int bridge_settle(struct bridge *bridge)
{
	if (bridge->reason == CONTROL_REASON_NONE)
		bridge_agent_settle(bridge);
	if (bridge->reason == CONTROL_REASON_NONE)
		bridge_gateway_settle(bridge);
	return bridge->reason != CONTROL_REASON_NONE;
}

void bridge_tell(struct bridge *bridge, enum control_type type, int64_t value)
{
	struct control_message message = { .type = type, .value = value };
	cleanup_error struct error *reason = NULL;

	if (control_send(bridge->control, &message, NULL, 0, clock_now(), &reason) < 0)
		bridge_end(bridge, CONTROL_REASON_PARENT_LOST);
}

void bridge_tell_guarded(struct bridge *bridge)
{
	struct bridge_guard *guard = &bridge->guard;

	if (guard->guarded || !guard->given || !guard->checked || !bridge->gateway.ready)
		return;
	guard->guarded = true;
	bridge_tell(bridge, CONTROL_GUARDED, 0);
}

/* Best effort: the end itself does not depend on who hears of it. */
static void tell_ended(struct bridge *bridge)
{
	const struct bridge_agent *agent = &bridge->agent;
	struct control_message message = {
		.type = CONTROL_ENDED,
		.reason = bridge->reason,
		.frames = agent->frames,
		.stdout_bytes = (int64_t)frame_reader_total(&agent->reader),
		.stderr_bytes = agent->stderr_bytes,
		.allowed = agent->allowed,
		.denied = agent->denied,
	};
	cleanup_error struct error *ignored = NULL;

	(void)!control_send(bridge->control, &message, NULL, 0, clock_deadline(LAST_WORD_MS), &ignored);
}

/* An order out of its turn is no order of an arm of ours. */
static bool in_turn(const struct bridge *bridge, uint16_t type)
{
	switch (type) {
	case CONTROL_PULSE:
	case CONTROL_GUARD:
		return true;
	case CONTROL_GO:
		return bridge->guard.guarded && !bridge->agent.open;
	case CONTROL_RESUME:
		return bridge->agent.waiting;
	case CONTROL_BEACON:
		return bridge->gateway.ready && !bridge->agent.ending;
	case CONTROL_END:
		return bridge->guard.guarded && !bridge->agent.ending;
	case CONTROL_POLICY:
		return bridge->guard.guarded && !bridge->agent.ending && !policy_gate_pending(&bridge->gate);
	default:
		return false;
	}
}

static void obey(struct bridge *bridge, const struct control_message *order, const int *fds, size_t count)
{
	switch (order->type) {
	case CONTROL_PULSE:
		bridge_guard_pulse(bridge);
		break;
	case CONTROL_GUARD:
		bridge_guard_take(bridge, fds, count);
		break;
	case CONTROL_GO:
		bridge_agent_go(bridge);
		break;
	case CONTROL_BEACON:
		bridge_gateway_beacon(bridge, order->canary);
		break;
	case CONTROL_RESUME:
		bridge_agent_resume(bridge);
		break;
	case CONTROL_END:
		bridge_agent_finish(bridge);
		break;
	case CONTROL_POLICY:
		bridge_policy_take(bridge, fds, count);
		break;
	default:
		break;
	}
}

static int on_control(void *context, int fd, short revents, struct error **err)
{
	struct bridge *bridge = context;
	cleanup_error struct error *reason = NULL;
	struct control_message order;
	int fds[ORDER_FDS];
	size_t count = ORDER_FDS;

	(void)revents;
	(void)err;
	if (control_receive(fd, &order, fds, &count, clock_now(), &reason) < 0)
		return bridge_end(bridge, error_code(reason) == ERROR_CLOSED ? CONTROL_REASON_PARENT_LOST
									     : CONTROL_REASON_INTERNAL);
	if (!in_turn(bridge, order.type) ||
	    (order.type != CONTROL_GUARD && order.type != CONTROL_POLICY && count > 0)) {
		for (size_t i = 0; i < count; i++)
			fd_close(&fds[i]);
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
	} else {
		obey(bridge, &order, fds, count);
	}
	explicit_bzero(&order, sizeof(order));
	return bridge_settle(bridge);
}

/* Nothing is ever written to the lifeline: whatever happens on it means that the arm is gone. */
static int on_lifeline(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	(void)err;
	return bridge_end(context, CONTROL_REASON_PARENT_LOST);
}

static int on_signal(void *context, int signal, struct error **err)
{
	(void)signal;
	(void)err;
	return bridge_end(context, CONTROL_REASON_PARENT_LOST);
}

static int open_all(struct bridge *bridge, struct error **err)
{
	if (loop_signals(bridge->loop, on_signal, bridge, err) < 0 ||
	    loop_fd(bridge->loop, BRIDGE_FD_LIFELINE, POLLIN, on_lifeline, bridge, err) < 0 ||
	    loop_fd(bridge->loop, bridge->control, POLLIN, on_control, bridge, err) < 0)
		return -1;
	bridge_gateway_init(bridge);
	return 0;
}

static void run(struct bridge *bridge)
{
	cleanup_error struct error *reason = NULL;
	cleanup_loop struct loop *loop = NULL;
	int r = loop_new(&loop, &reason);

	bridge->loop = loop;
	bridge_agent_init(bridge);
	if (r == 0)
		r = open_all(bridge, &reason);
	if (r == 0 && bridge_settle(bridge) == 0)
		r = loop_run(loop, clock_deadline(HELPER_LIFE_MS), &reason);
	/* Also when nobody ended it. */
	if (r <= 0)
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
	bridge_gateway_free(bridge);
}

void bridge_run(const struct bridge_config *config)
{
	struct bridge bridge = { .config = config, .control = BRIDGE_FD_CONTROL };

	bridge_guard_init(&bridge);
	if (config)
		bridge_policy_init(&bridge);
	if (config)
		run(&bridge);
	else
		bridge_end(&bridge, CONTROL_REASON_INTERNAL);
	tell_ended(&bridge);
	bridge_agent_free(&bridge);
	bridge_guard_free(&bridge);
}
