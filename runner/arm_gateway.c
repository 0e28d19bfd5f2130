/* The gateway of one arm, of whatever kind, with the recorder behind it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "mcp/client.h"
#include "runner/arm.h"

#define END_MS 1000

struct gateway_row {
	int (*begin)(struct arm *arm, struct error **err); /* or NULL */
	int (*start)(struct arm *arm, struct error **err);
	void (*end)(struct arm *arm); /* or NULL: the end of its stdin ends it */
	int64_t slow_ms; /* to end and start anew, at most */
	bool decides; /* writes the decisions file */
};
static const struct gateway_row rows[];

static const struct gateway_row *row_of(const struct arm *arm)
{
	return &rows[arm->context.gateway.kind];
}

static int payload_file(const struct arm *arm, const char *name, int *out, struct error **err)
{
	*out = openat(arm->folder, name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *out < 0 ? error_errno(err, errno, "a payload file of the arm") : 0;
}

/* They are there before anything is written to them. */
static int payload_files(struct arm *arm, struct error **err)
{
	if ((arm->recorder < 0 && payload_file(arm, "recorder", &arm->recorder, err) < 0) ||
	    (arm->decisions < 0 && payload_file(arm, "decisions", &arm->decisions, err) < 0))
		return -1;
	return 0;
}

int arm_gateway_begin(struct arm *arm, struct error **err)
{
	if (payload_files(arm, err) < 0)
		return -1;
	return row_of(arm)->begin ? row_of(arm)->begin(arm, err) : 0;
}

int arm_gateway_start(struct arm *arm, struct error **err)
{
	return row_of(arm)->start(arm, err);
}

int64_t arm_gateway_slowness(const struct arm *arm)
{
	return row_of(arm)->slow_ms;
}

bool arm_gateway_decides(const struct arm *arm)
{
	return row_of(arm)->decides;
}

int arm_gateway_sink(const struct arm *arm, int *out, struct error **err)
{
	const char *elsewhere = arm->context.gateway.sink;

	*out = elsewhere[0] ? open(elsewhere, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
			    : openat(arm->folder, "recorder", O_RDONLY | O_CLOEXEC);
	return *out < 0 ? error_errno(err, errno, "the recorder's file") : 0;
}

/* The end of its stdin ends each that reads one. */
static void end_child(struct child *child)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	if (child->pid && child_wait(child, clock_deadline(END_MS), &status, &ignored) < 0)
		child_signal(child, SIGKILL);
	child_end(child);
}

void arm_gateway_end(struct arm *arm)
{
	fd_close(&arm->gateway_in);
	fd_close(&arm->gateway_out);
	fd_close(&arm->gateway_life);
	if (row_of(arm)->end)
		row_of(arm)->end(arm);
	end_child(&arm->gateway);
	end_child(&arm->relay);
}

struct beacon_call {
	struct mcp_client *client;
	bool initialized, answered, allowed;
};

static void on_initialized(void *context, const struct mcp_answer *answer)
{
	struct beacon_call *call = context;

	call->initialized = answer->outcome == MCP_RESULT;
	call->answered = !call->initialized;
}

static void on_called(void *context, const struct mcp_answer *answer)
{
	struct beacon_call *call = context;

	call->answered = true;
	call->allowed = answer->outcome == MCP_RESULT;
}

static int send_call(struct beacon_call *call, const struct canary *marker, int64_t deadline, struct error **err)
{
	cleanup_buf struct buf arguments = BUF(4 * KIB);
	cleanup_buf struct buf params = BUF(4 * KIB);
	struct json_writer json;

	json_begin(&json, &arguments);
	json_object(&json);
	json_member_string(&json, "value", marker->text);
	json_object_end(&json);
	mcp_put_tool_call(&params, "beacon.tool", (struct json_span){ arguments.data, arguments.length });
	if (buf_check(&params, "the beacon's call", err) < 0)
		return -1;
	return mcp_client_call(call->client, "tools/call", (struct json_span){ params.data, params.length }, deadline,
			       on_called, call, NULL, err);
}

static int converse(struct beacon_call *call, const struct canary *marker, struct error **err)
{
	int64_t deadline = clock_deadline(ARM_BEACON_MS);
	bool sent = false;

	if (mcp_client_initialize(call->client, "harness", HARNESS_VERSION, deadline, on_initialized, call, err) < 0)
		return -1;
	while (!call->answered && clock_now() < deadline) {
		if (call->initialized && !sent) {
			if (send_call(call, marker, deadline, err) < 0)
				return -1;
			sent = true;
		}
		if (mcp_client_dispatch(call->client, deadline, err) < 0)
			return -1;
	}
	return call->allowed ? 0 : error_set(err, ERROR_PROTOCOL, "the beacon did not pass a fresh gateway");
}

int arm_gateway_beacon(struct arm *arm, const struct canary *marker, struct error **err)
{
	struct mcp_limits limits = { .line_max = 64 * KIB, .queue_max = 128 * KIB, .calls_max = 4 };
	struct beacon_call call = { .client = NULL };
	int status;

	arm_gateway_end(arm);
	if (arm_gateway_start(arm, err) < 0)
		return -1;
	status = mcp_client_new(steal_fd(&arm->gateway_out), steal_fd(&arm->gateway_in), &limits, &call.client, err);
	if (status == 0)
		status = converse(&call, marker, err);
	mcp_client_free(call.client);
	return status;
}

static const struct gateway_row rows[] = {
	[GATEWAY_EMBEDDED] = { .start = gateway_embedded_start, .decides = true },
	[GATEWAY_CMCP] = { .begin = gateway_cmcp_begin,
			   .start = gateway_cmcp_start,
			   .end = gateway_cmcp_end,
			   .slow_ms = 6000 },
	[GATEWAY_URL] = { .start = gateway_url_start },
};
