/* The gateway of one arm, with the recorder behind it, on the arm's own payload files. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "gateway/config.h"
#include "mcp/client.h"
#include "runner/arm.h"

#define PIPE_MS 2000
#define END_MS 1000

static const char *const tools[] = { "beacon.tool", "permitted.tool", "public.tool", "slow.tool" };

static int measure_upstream(const char *upstream, struct gateway_server *server, struct error **err)
{
	cleanup_fd int program = -1;

	if (spawn_helper_path(upstream, server->command, sizeof(server->command), err) < 0)
		return -1;
	program = open(server->command, O_RDONLY | O_CLOEXEC);
	if (program < 0)
		return error_errno(err, errno, "the upstream");
	return hash_fd(program, server->sha256, err);
}

/* The catalog calls every tool public, so that the session's own sensitivity and the ceilings decide. */
static int configure(const struct arm *arm, struct buf *out, struct error **err)
{
	cleanup_free struct gateway_config *config = calloc(1, sizeof(*config));
	struct json_writer json;

	if (!config)
		return error_set(err, ERROR_MEMORY, "no memory for the gateway's configuration");
	snprintf(config->session.sensitivity, sizeof(config->session.sensitivity), "%s", arm->options.sensitivity);
	snprintf(config->sink_policy.response, sizeof(config->sink_policy.response), "%s",
		 arm->options.response_ceiling);
	for (size_t i = 0; i < arm->options.ceilings_count; i++) {
		struct gateway_ceiling *row = &config->sink_policy.tools[config->sink_policy.tools_count++];

		snprintf(row->tool, sizeof(row->tool), "%s", arm->options.ceilings[i].tool);
		snprintf(row->max, sizeof(row->max), "%s", arm->options.ceilings[i].max);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++) {
		struct gateway_tool *row = &config->catalog[config->catalog_count++];

		snprintf(row->tool, sizeof(row->tool), "%s", tools[i]);
		snprintf(row->sensitivity, sizeof(row->sensitivity), "public");
	}
	config->servers_count = 1;
	config->servers[0].pass_fd = GATEWAY_FD_PASS;
	/* It gives an upstream up before the bridge gives it up, and can still say why. */
	config->call_ms = arm->options.limits.gateway_call_ms * 3 / 4;
	if (measure_upstream(arm->options.upstream_program, &config->servers[0], err) < 0)
		return -1;
	if (arm->options.upstream_mode) {
		snprintf(config->servers[0].arguments[0], GATEWAY_ARGUMENT_BYTES, "%s", arm->options.upstream_mode);
		config->servers[0].arguments_count = 1;
	}
	json_begin(&json, out);
	schema_encode(gateway_config_fields, config, &json);
	return buf_check(out, "the gateway's configuration", err);
}

static int payload_file(const struct arm *arm, const char *name, int *out, struct error **err)
{
	*out = openat(arm->folder, name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return *out < 0 ? error_errno(err, errno, "a payload file of the arm") : 0;
}

int arm_gateway_start(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf config = BUF(GATEWAY_CONFIG_BYTES);
	cleanup_fd int config_read = -1, config_write = -1, in_read = -1, out_write = -1, life_read = -1;
	char path[PATH_MAX], name[] = "gateway", mode[NAME_MAX_SHORT];
	char *argv[] = { name, mode, NULL };

	snprintf(mode, sizeof(mode), "%s", arm->options.gateway_mode ? arm->options.gateway_mode : "embedded");
	if (configure(arm, &config, err) < 0 ||
	    spawn_helper_path(arm->options.gateway_program, path, sizeof(path), err) < 0)
		return -1;
	if ((arm->recorder < 0 && payload_file(arm, "recorder", &arm->recorder, err) < 0) ||
	    (arm->decisions < 0 && payload_file(arm, "decisions", &arm->decisions, err) < 0))
		return -1;
	if (fd_pipe(&config_read, &config_write, err) < 0 || fd_pipe(&in_read, &arm->gateway_in, err) < 0 ||
	    fd_pipe(&arm->gateway_out, &out_write, err) < 0 || fd_pipe(&life_read, &arm->gateway_life, err) < 0)
		return -1;

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = argv,
		.fds = {
			{ .from = in_read, .to = 0 },
			{ .from = out_write, .to = 1 },
			{ .from = config_read, .to = GATEWAY_FD_CONFIG },
			{ .from = arm->decisions, .to = GATEWAY_FD_DECISIONS },
			{ .from = life_read, .to = GATEWAY_FD_LIFELINE },
			{ .from = arm->recorder, .to = GATEWAY_FD_PASS },
		},
		.fds_count = 6,
	};
	options.cpu = arm->session.cpu;
	if (spawn(&options, &arm->gateway, err) < 0)
		return error_wrap(err, "the gateway");
	fd_close(&config_read);
	return fd_write_all(config_write, config.data, config.length, clock_deadline(PIPE_MS), err);
}

void arm_gateway_end(struct arm *arm)
{
	cleanup_error struct error *ignored = NULL;
	int status;

	fd_close(&arm->gateway_in);
	fd_close(&arm->gateway_out);
	fd_close(&arm->gateway_life);
	if (arm->gateway.pid && child_wait(&arm->gateway, clock_deadline(END_MS), &status, &ignored) < 0)
		child_signal(&arm->gateway, SIGKILL);
	child_end(&arm->gateway);
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
