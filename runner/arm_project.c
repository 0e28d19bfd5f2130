/* The effective configuration of an arm, for its record: each value by its hash. */
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "runner/arm_steps.h"

/* A protection of the session that is there or not. */
struct session_flag {
	const char *field;
	size_t offset;
};

struct session_limit {
	const char *field;
	size_t offset;
};

static const struct session_flag flags[];
static const struct session_limit limits[];

static int take_effective(void *context, const char *field, const char *sha256, struct error **err)
{
	struct arm_record *record = &((struct arm *)context)->result->room.record;
	struct effective_value *value;

	if (record->effective_count == ARM_EFFECTIVE_MAX)
		return error_set(err, ERROR_LIMIT, "the effective configuration has more than %d fields",
				 ARM_EFFECTIVE_MAX);
	value = record->effective[record->effective_count++];
	snprintf(value->field, sizeof(value->field), "%s", field);
	snprintf(value->sha256, sizeof(value->sha256), "%s", sha256);
	return 0;
}

static int take_text(struct arm *arm, const char *field, const char *text, struct error **err)
{
	char sha256[HEX_SHA256];

	hash_bytes(text, strlen(text), sha256);
	return take_effective(arm, field, sha256, err);
}

static int take_program(struct arm *arm, const char *field, const char *program, const char *mode, struct error **err)
{
	char text[2 * NAME_MAX_SHORT];

	snprintf(text, sizeof(text), "%s %s", program, mode ? mode : "");
	return take_text(arm, field, text, err);
}

static int take_flags(struct arm *arm, struct error **err)
{
	for (const struct session_flag *flag = flags; flag->field; flag++) {
		const bool *value = (const bool *)((const char *)&arm->options + flag->offset);

		if (take_text(arm, flag->field, *value ? "yes" : "no", err) < 0)
			return -1;
	}
	return 0;
}

static int take_limits(struct arm *arm, struct error **err)
{
	for (const struct session_limit *limit = limits; limit->field; limit++) {
		char number[24];
		int64_t value;

		memcpy(&value, (const char *)&arm->options.limits + limit->offset, sizeof(value));
		snprintf(number, sizeof(number), "%lld", (long long)value);
		if (take_text(arm, limit->field, number, err) < 0)
			return -1;
	}
	return 0;
}

static int take_watch(struct arm *arm, struct error **err)
{
	for (int kind = 0; kind < WATCH_ALWAYS; kind++) {
		bool off = arm->options.watch_off & 1U << kind;
		char field[64];

		snprintf(field, sizeof(field), "session.watch.%s", watch_kind_names[kind] + strlen("watch-"));
		if (take_text(arm, field, off ? "no" : "yes", err) < 0)
			return -1;
	}
	return 0;
}

/* The engine's and the kernel's view, then the gateway's and the session's own configuration. */
int arm_project(struct arm *arm, struct error **err)
{
	if (session_project(&arm->session, take_effective, arm, err) < 0 ||
	    take_text(arm, "gateway.kind", gateway_kind_names[arm->context.gateway.kind], err) < 0 ||
	    take_text(arm, "gateway.sensitivity", arm->options.sensitivity, err) < 0 ||
	    take_text(arm, "gateway.label.permitted.tool", arm->options.permitted_label, err) < 0 ||
	    take_text(arm, "gateway.ceiling.response", arm->options.response_ceiling, err) < 0 ||
	    (arm->context.gateway.kind == GATEWAY_EMBEDDED &&
	     take_program(arm, "gateway.program", arm->options.gateway_program, arm->options.gateway_mode, err) < 0) ||
	    take_program(arm, "gateway.upstream", arm->options.upstream_program, arm->options.upstream_mode, err) < 0 ||
	    (arm->options.orders &&
	     take_program(arm, "gateway.orders", arm->options.orders_program, arm->options.orders_mode, err) < 0) ||
	    take_flags(arm, err) < 0 || take_limits(arm, err) < 0 || take_watch(arm, err) < 0)
		return -1;
	for (size_t i = 0; i < arm->options.ceilings_count; i++) {
		char field[64];

		snprintf(field, sizeof(field), "gateway.ceiling.%s", arm->options.ceilings[i].tool);
		if (take_text(arm, field, arm->options.ceilings[i].max, err) < 0)
			return -1;
	}
	return 0;
}

#define LIMIT(name, member)                                                                                            \
	{                                                                                                              \
		.field = "session.limits." name, .offset = offsetof(struct session_limits, member)                     \
	}

static const struct session_flag flags[] = {
	{ .field = "session.watchdog", .offset = offsetof(struct session_options, watchdog) },
	{ .field = "session.watchdog-pidfd", .offset = offsetof(struct session_options, watchdog_pidfd) },
	{ .field = "session.acknowledge", .offset = offsetof(struct session_options, acknowledge) },
	{ .field = "session.policy", .offset = offsetof(struct session_options, policy) },
	{ .field = "session.policy-lock", .offset = offsetof(struct session_options, policy_lock) },
	{ .field = "session.strict", .offset = offsetof(struct session_options, strict) },
	{ .field = "session.fail-closed", .offset = offsetof(struct session_options, fail_closed) },
	{ .field = NULL },
};

static const struct session_limit limits[] = {
	LIMIT("frame-bytes", frame_bytes),
	LIMIT("stdout-bytes", stdout_bytes),
	LIMIT("stderr-bytes", stderr_bytes),
	LIMIT("calls", calls),
	LIMIT("session-ms", session_ms),
	LIMIT("heartbeat-ms", heartbeat_ms),
	LIMIT("acknowledge-ms", acknowledge_ms),
	LIMIT("lease-ms", lease_ms),
	LIMIT("gateway-call-ms", gateway_call_ms),
	LIMIT("stop-try-ms", stop_try_ms),
	{ .field = NULL },
};
