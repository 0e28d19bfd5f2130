/*
 * The bridge as the gateway's client. A call is built anew from the tool's name and the raw arguments; the agent's own
 * bytes get no further than that. What the gateway says of an error is a code from a table, or a fault.
 */
#include <string.h>

#include "adapter/bridge_parts.h"
#include "core/clock.h"
#include "core/fd.h"

/* An agent's call and a beacon. */
#define CALLS 2
#define BEACON_BYTES 256
#define CALL_OVERHEAD (4 * KIB)

static const char *const denials[3];

/* The client tells a callback only that the peer is lost; how is known behind its dispatch, which is before the end. */
static void fail(struct bridge *bridge, enum mcp_outcome outcome)
{
	switch (outcome) {
	case MCP_TIMEOUT:
		bridge_end(bridge, CONTROL_REASON_GATEWAY_TIMEOUT);
		break;
	case MCP_LOST:
		bridge->gateway.lost = true;
		break;
	case MCP_ERROR:
	case MCP_RESULT:
		bridge_end(bridge, CONTROL_REASON_GATEWAY_FAULT);
		break;
	}
}

static enum control_reason loss(const struct error *error)
{
	switch (error_code(error)) {
	case ERROR_CLOSED:
	case ERROR_SYSTEM:
		return CONTROL_REASON_GATEWAY_LOST;
	case ERROR_MEMORY:
	case ERROR_INTERNAL:
		return CONTROL_REASON_INTERNAL;
	default:
		return CONTROL_REASON_GATEWAY_PROTOCOL;
	}
}

static bool denied(const struct mcp_answer *answer)
{
	if (answer->outcome != MCP_ERROR)
		return false;
	for (const char *const *code = denials; *code; code++)
		if (strcmp(answer->error_code, *code) == 0)
			return true;
	return false;
}

static void on_initialized(void *context, const struct mcp_answer *answer)
{
	struct bridge *bridge = context;

	if (answer->outcome != MCP_RESULT) {
		fail(bridge, answer->outcome);
		return;
	}
	bridge->gateway.ready = true;
	bridge_tell(bridge, CONTROL_READY, 0);
	bridge_tell_guarded(bridge);
}

static void on_called(void *context, const struct mcp_answer *answer)
{
	struct bridge *bridge = context;

	if (answer->outcome != MCP_RESULT && !denied(answer) && bridge->config->fail_closed) {
		fail(bridge, answer->outcome);
		return;
	}
	bridge->gateway.calling = false;
	bridge_policy_finished(bridge);
	bridge_agent_reply(bridge, answer->outcome == MCP_RESULT ? answer->result : NULL);
}

/* A beacon that did not pass is the arm's to judge. */
static void on_beacon(void *context, const struct mcp_answer *answer)
{
	struct bridge *bridge = context;

	if (answer->outcome == MCP_LOST && bridge->config->fail_closed) {
		fail(bridge, answer->outcome);
		return;
	}
	bridge->gateway.beaconing = false;
	bridge_tell(bridge, CONTROL_BEACON_DONE, answer->outcome == MCP_RESULT);
}

/* Behind the agent's death the gateway may go, if nothing waits for it. */
static void lose(struct bridge *bridge, enum control_reason reason)
{
	struct bridge_gateway *gateway = &bridge->gateway;

	gateway->lost = true;
	if (gateway->ready && !bridge->config->fail_closed)
		mcp_client_free(steal_pointer(&gateway->client));
	else if (gateway->calling || gateway->beaconing || !bridge_guard_dead(bridge))
		bridge_end(bridge, reason);
}

static int on_gateway(void *context, int fd, short revents, struct error **err)
{
	struct bridge *bridge = context;
	cleanup_error struct error *reason = NULL;
	int r = mcp_client_dispatch(bridge->gateway.client, 0, &reason);

	(void)fd;
	(void)revents;
	(void)err;
	if (r < 0) {
		lose(bridge, loss(reason));
	} else if (bridge->gateway.lost) {
		bridge_end(bridge, CONTROL_REASON_GATEWAY_PROTOCOL);
	}
	return bridge_settle(bridge);
}

static int on_deadline(void *context, struct error **err)
{
	return on_gateway(context, -1, 0, err);
}

void bridge_gateway_init(struct bridge *bridge)
{
	const struct session_limits *limits = &bridge->config->limits;
	const struct mcp_limits mcp = { .line_max = MCP_LINE_BYTES,
					.queue_max = 2 * ((size_t)limits->frame_bytes + CALL_OVERHEAD),
					.calls_max = CALLS };
	int in = BRIDGE_FD_GATEWAY_OUT, out = BRIDGE_FD_GATEWAY_IN;
	cleanup_error struct error *reason = NULL;

	bridge->gateway = (struct bridge_gateway){ .client = NULL };
	if (mcp_client_new(in, out, &mcp, &bridge->gateway.client, &reason) < 0 ||
	    mcp_client_initialize(bridge->gateway.client, "harness-bridge", HARNESS_VERSION,
				  clock_deadline(limits->gateway_call_ms), on_initialized, bridge, &reason) < 0)
		bridge_end(bridge, loss(reason));
}

void bridge_gateway_free(struct bridge *bridge)
{
	mcp_client_free(steal_pointer(&bridge->gateway.client));
}

static bool call_tool(struct bridge *bridge, const char *tool, struct json_span arguments, mcp_done done)
{
	struct buf params = BUF((size_t)bridge->config->limits.frame_bytes + CALL_OVERHEAD);
	int64_t deadline = clock_deadline(bridge->config->limits.gateway_call_ms);
	cleanup_error struct error *reason = NULL;
	int r = bridge->gateway.client ? 0 : error_set(&reason, ERROR_CLOSED, "the gateway is gone");

	mcp_put_tool_call(&params, tool, arguments);
	if (r == 0)
		r = buf_check(&params, "a call's parameters", &reason);
	if (r == 0)
		r = mcp_client_call(bridge->gateway.client, "tools/call",
				    (struct json_span){ .bytes = params.data, .length = params.length }, deadline, done,
				    bridge, NULL, &reason);
	buf_wipe(&params);
	if (r < 0 && bridge->config->fail_closed)
		bridge_end(bridge, loss(reason));
	return r == 0;
}

void bridge_gateway_call(struct bridge *bridge, const char *tool, struct json_span arguments)
{
	bridge->gateway.calling = true;
	if (call_tool(bridge, tool, arguments, on_called))
		return;
	/* Who asked goes on with the frames behind this one: not the answer. */
	if (!bridge->config->fail_closed)
		bridge_agent_reply(bridge, NULL);
	bridge->gateway.calling = false;
	bridge_policy_finished(bridge);
}

void bridge_gateway_beacon(struct bridge *bridge, const char *canary)
{
	struct buf arguments = BUF(BEACON_BYTES);
	struct json_writer writer;

	if (bridge->gateway.beaconing || !canary_valid(canary, strlen(canary))) {
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
		return;
	}
	json_begin(&writer, &arguments);
	json_object(&writer);
	json_member_string(&writer, "value", canary);
	json_object_end(&writer);
	bridge->gateway.beaconing =
		call_tool(bridge, bridge->config->beacon_tool,
			  (struct json_span){ .bytes = buf_string(&arguments), .length = arguments.length }, on_beacon);
	buf_wipe(&arguments);
	if (!bridge->gateway.beaconing && !bridge->config->fail_closed)
		bridge_tell(bridge, CONTROL_BEACON_DONE, 0);
}

void bridge_gateway_settle(struct bridge *bridge)
{
	struct mcp_client *client = bridge->gateway.client;
	cleanup_error struct error *reason = NULL;

	if (!client) {
		loop_timer(bridge->loop, TIMER_GATEWAY, NEVER, NULL, NULL);
		return;
	}
	if (mcp_client_watch(client, bridge->loop, on_gateway, bridge, &reason) < 0)
		bridge_end(bridge, CONTROL_REASON_INTERNAL);
	loop_timer(bridge->loop, TIMER_GATEWAY, mcp_client_deadline(client), on_deadline, bridge);
}

/* What a gateway says when policy forbids a call; each other error is a fault. */
static const char *const denials[] = { "POLICY_DENY", "TOOL_NOT_IN_CATALOG", NULL };
