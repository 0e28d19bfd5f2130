/* The bridge's policy gate: the arm's updates in, acknowledgments out. Nothing that the agent writes comes near it. */
#include "adapter/bridge_parts.h"
#include "core/clock.h"
#include "core/fd.h"

#define READ_MS 200

void bridge_policy_init(struct bridge *bridge)
{
	policy_gate_init(&bridge->gate, bridge->config->policy, bridge->config->policy_lock);
	for (size_t i = 0; i < bridge->config->aliases_count; i++)
		policy_gate_approve(&bridge->gate, bridge->config->aliases[i].tool);
}

static void acknowledge(struct bridge *bridge)
{
	struct policy_acknowledgment told;
	struct control_message message = { .type = CONTROL_POLICY_DONE };
	cleanup_error struct error *reason = NULL;

	if (!policy_gate_settle(&bridge->gate, &told))
		return;
	message.value = told.revision;
	message.outcome = told.outcome;
	message.closed = told.closed;
	message.revoked = told.revoked;
	if (control_send(bridge->control, &message, NULL, 0, clock_now(), &reason) < 0)
		bridge_end(bridge, CONTROL_REASON_PARENT_LOST);
}

/* One that is too long is as invalid as any other: it closes admission. */
void bridge_policy_take(struct bridge *bridge, const int *fds, size_t count)
{
	cleanup_fd int fd = count > 0 ? fds[0] : -1;
	cleanup_buf struct buf bytes = BUF(CONTROL_POLICY_BYTES);
	cleanup_error struct error *reason = NULL;

	for (size_t i = 1; i < count; i++)
		close(fds[i]);
	if (count != 1 ||
	    (fd_read_all(fd, &bytes, clock_deadline(READ_MS), &reason) < 0 && error_code(reason) != ERROR_LIMIT)) {
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
		return;
	}
	policy_gate_submit(&bridge->gate, reason ? "" : buf_string(&bytes), reason ? 0 : bytes.length);
	acknowledge(bridge);
}

void bridge_policy_finished(struct bridge *bridge)
{
	policy_gate_finish(&bridge->gate);
	acknowledge(bridge);
}
