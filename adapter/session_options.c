/* The reference session's options. */
#include <string.h>

#include "adapter/session.h"

static const struct session_options reference;

/* The parts that have a table of their own are copied beside it. */
void session_options_reference(struct session_options *out)
{
	*out = reference;
	out->profile = profile_reference;
	out->limits = session_limits_reference;
}

const struct session_limits session_limits_reference = {
	.frame_bytes = FRAME_BYTES,
	.stdout_bytes = STDOUT_BYTES,
	.stderr_bytes = STDERR_BYTES,
	.calls = SESSION_CALLS,
	.session_ms = SESSION_MS,
	.heartbeat_ms = HEARTBEAT_MS,
	.acknowledge_ms = ACKNOWLEDGE_MS,
	.lease_ms = LEASE_MS,
	.stop_try_ms = STOP_TRY_MS,
	.gateway_call_ms = GATEWAY_CALL_MS,
};

static const struct session_options reference = {
	.ceilings = {
		{ .tool = "beacon.tool", .max = "confidential" },
		{ .tool = "permitted.tool", .max = "confidential" },
		{ .tool = "public.tool", .max = "public" },
		{ .tool = "slow.tool", .max = "confidential" },
	},
	.ceilings_count = 4,
	.response_ceiling = "confidential",
	.sensitivity = "confidential",
	.watchdog = true,
	.watchdog_pidfd = true,
	.acknowledge = true,
	.strict = true,
	.fail_closed = true,
	.policy = true,
	.policy_lock = true,
	.gateway_program = "harness-gateway",
	.upstream_program = "recorder",
	.orders_program = "order-service",
};
