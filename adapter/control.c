#include "adapter/control.h"

#include "adapter/policy_gate.h"
#include "core/clock.h"
#include "core/fd.h"

#define REASONS (CONTROL_REASON_INTERNAL + 1)
#define OUTCOMES (POLICY_INVALID + 1)

int control_send(int socket, struct control_message *message, const int *fds, size_t count, int64_t deadline,
		 struct error **err)
{
	message->version = CONTROL_VERSION;
	if (message->time == 0)
		message->time = clock_now();
	return fd_send(socket, message, sizeof(*message), fds, count, deadline, err);
}

/* The peer may be a process that hostile bytes took over: what is used as an index or a string is checked here. */
static bool well_formed(const struct control_message *message, size_t length)
{
	return length == sizeof(*message) && message->version == CONTROL_VERSION && message->reason < REASONS &&
	       message->outcome < OUTCOMES && message->closed <= 1 && message->canary[CANARY_LENGTH] == '\0';
}

int control_receive(int socket, struct control_message *out, int *fds, size_t *count, int64_t deadline,
		    struct error **err)
{
	int got = fd_receive(socket, out, sizeof(*out), fds, count, deadline, err);

	if (got < 0)
		return got;
	if (got > 0 && well_formed(out, (size_t)got))
		return 0;
	for (size_t i = 0; count && i < *count; i++)
		fd_close(&fds[i]);
	if (count)
		*count = 0;
	if (got == 0)
		return error_set(err, ERROR_CLOSED, "a control socket's peer is gone");
	return error_set(err, ERROR_PROTOCOL, "a control message that is none of this version");
}

const char *const control_reason_names[] = {
	[CONTROL_REASON_NONE] = "none",
	[CONTROL_REASON_STREAM_END] = "stream-end",
	[CONTROL_REASON_FRAME_INVALID] = "frame-invalid",
	[CONTROL_REASON_FRAME_LIMIT] = "frame-limit",
	[CONTROL_REASON_OPERATION] = "operation",
	[CONTROL_REASON_STDOUT_LIMIT] = "stdout-limit",
	[CONTROL_REASON_STDERR_LIMIT] = "stderr-limit",
	[CONTROL_REASON_CALL_LIMIT] = "call-limit",
	[CONTROL_REASON_DEADLINE] = "deadline",
	[CONTROL_REASON_GATEWAY_LOST] = "gateway-lost",
	[CONTROL_REASON_GATEWAY_PROTOCOL] = "gateway-protocol",
	[CONTROL_REASON_GATEWAY_TIMEOUT] = "gateway-timeout",
	[CONTROL_REASON_GATEWAY_FAULT] = "gateway-fault",
	[CONTROL_REASON_WATCHDOG_LOST] = "watchdog-lost",
	[CONTROL_REASON_PARENT_LOST] = "parent-lost",
	[CONTROL_REASON_STREAM_PROTOCOL] = "stream-protocol",
	[CONTROL_REASON_PARTIAL_FRAME] = "partial-frame",
	[CONTROL_REASON_AGENT_STUCK] = "agent-stuck",
	[CONTROL_REASON_BRIDGE_LOST] = "bridge-lost",
	[CONTROL_REASON_LEASE] = "lease",
	[CONTROL_REASON_STOP_FAILED] = "stop-failed",
	[CONTROL_REASON_INTERNAL] = "internal",
	[REASONS] = NULL,
};
