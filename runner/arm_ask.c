/*
 * What the arm asks a fresh gateway by itself, on the files of the arm: what no agent can ask through the bridge, and
 * the beacon behind it.
 */
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "mcp/client.h"
#include "runner/arm.h"

#define CALLS_MAX 8
#define CALL_BYTES (4 * KIB)

struct asking {
	const struct arm *arm;
	struct mcp_client *client;
	int64_t deadline;
	bool initialized, refused; /* of the handshake */
	bool asked;
	size_t under_way;
	bool beaconed, allowed; /* of the beacon alone */
};

static void on_initialized(void *context, const struct mcp_answer *answer)
{
	struct asking *asking = context;

	asking->initialized = answer->outcome == MCP_RESULT;
	asking->refused = !asking->initialized;
}

static void on_called(void *context, const struct mcp_answer *answer)
{
	struct asking *asking = context;

	asking->under_way--;
	asking->allowed = answer->outcome == MCP_RESULT;
}

static int send_call(struct asking *asking, const char *tool, const struct canary *canary, struct error **err)
{
	cleanup_buf struct buf arguments = BUF(CALL_BYTES);
	cleanup_buf struct buf params = BUF(CALL_BYTES);
	struct json_writer json;

	json_begin(&json, &arguments);
	json_object(&json);
	json_member_string(&json, "value", canary->text);
	json_object_end(&json);
	mcp_put_tool_call(&params, tool, (struct json_span){ arguments.data, arguments.length });
	if (buf_check(&params, "a call of the arm", err) < 0)
		return -1;
	asking->under_way++;
	return mcp_client_call(asking->client, "tools/call", (struct json_span){ params.data, params.length },
			       asking->deadline, on_called, asking, NULL, err);
}

static int send_subjects(struct asking *asking, struct error **err)
{
	asking->asked = true;
	for (size_t i = 0; i < asking->arm->subjects_count; i++) {
		const struct arm_subject *subject = &asking->arm->subjects[i];
		const char *tool = subject->route->target ? subject->route->target : subject->canary.text;

		if (subject->route->address == PROBE_OUTSIDE && send_call(asking, tool, &subject->canary, err) < 0)
			return -1;
	}
	return 0;
}

static int converse(struct asking *asking, const struct canary *marker, struct error **err)
{
	if (mcp_client_initialize(asking->client, "harness", HARNESS_VERSION, asking->deadline, on_initialized, asking,
				  err) < 0)
		return -1;
	while (!asking->refused && !(asking->beaconed && asking->under_way == 0) && clock_now() < asking->deadline) {
		if (asking->initialized && !asking->asked && send_subjects(asking, err) < 0)
			return -1;
		if (asking->asked && asking->under_way == 0) {
			asking->beaconed = true;
			if (send_call(asking, "beacon.tool", marker, err) < 0)
				return -1;
		}
		if (mcp_client_dispatch(asking->client, asking->deadline, err) < 0)
			return -1;
	}
	return asking->beaconed && asking->under_way == 0 && asking->allowed
		       ? 0
		       : error_set(err, ERROR_PROTOCOL, "the beacon did not pass a fresh gateway");
}

int arm_gateway_ask(struct arm *arm, const struct canary *marker, struct error **err)
{
	struct mcp_limits limits = { .line_max = 64 * KIB, .queue_max = 128 * KIB, .calls_max = CALLS_MAX };
	struct asking asking = { .arm = arm };
	int status;

	arm_gateway_end(arm);
	if (arm_records_trap(arm, false, err) < 0 || arm_gateway_start(arm, err) < 0)
		return -1;
	asking.deadline = clock_deadline(ARM_BEACON_MS);
	status = mcp_client_new(steal_fd(&arm->gateway_out), steal_fd(&arm->gateway_in), &limits, &asking.client, err);
	if (status == 0)
		status = converse(&asking, marker, err);
	mcp_client_free(asking.client);
	return status;
}
