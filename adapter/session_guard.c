/* The two processes that guard a session: the bridge, which holds the agent's stream, and the watchdog. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "adapter/bridge_config.h"
#include "adapter/policy_gate.h"
#include "adapter/session.h"
#include "core/clock.h"
#include "core/fd.h"

#define PIPE_MS 2000

static const struct bridge_alias aliases[];

/* Whether the agent may ask for it in this session. */
static bool offered(const struct bridge_alias *alias, const struct session_options *options)
{
	if (strcmp(alias->operation, SESSION_ORDER) == 0)
		return options->orders;
	return !alias->waits || options->checkpoint;
}

size_t session_tools(const char *out[SESSION_TOOLS_MAX])
{
	struct policy_gate gate;
	size_t count = 0;

	/* What the bridge does with the same aliases. */
	policy_gate_init(&gate, true, true);
	for (const struct bridge_alias *alias = aliases; alias->operation[0]; alias++) {
		if (strcmp(alias->operation, SESSION_ORDER) == 0)
			continue;
		policy_gate_approve(&gate, alias->tool);
		if (gate.tools_count > count)
			out[count++] = alias->tool;
	}
	return count;
}

/* By the field table that the bridge reads it with. */
static int put_config(const struct session_options *options, struct buf *out, struct error **err)
{
	struct bridge_config config = {
		.beacon_tool = "beacon.tool",
		.acknowledge = options->acknowledge,
		.strict = options->strict,
		.fail_closed = options->fail_closed,
		.policy = options->policy,
		.policy_lock = options->policy_lock,
		.limits = options->limits,
	};
	struct json_writer json;

	for (const struct bridge_alias *alias = aliases; alias->operation[0]; alias++)
		if (offered(alias, options))
			config.aliases[config.aliases_count++] = *alias;
	json_begin(&json, out);
	schema_encode(bridge_config_fields, &config, &json);
	return buf_check(out, "the bridge's configuration", err);
}

int session_bridge(struct session *session, int gateway_in, int gateway_out, struct error **err)
{
	cleanup_buf struct buf config = BUF(BRIDGE_CONFIG_BYTES);
	cleanup_fd int config_read = -1, config_write = -1, payload_read = -1, life_read = -1, control = -1,
		       program = -1;
	char path[PATH_MAX];
	char name[] = "bridge";
	char *argv[] = { name, NULL };

	if (spawn_helper_path("bridge", path, sizeof(path), err) < 0 ||
	    put_config(session->options, &config, err) < 0 || fd_pipe(&config_read, &config_write, err) < 0 ||
	    fd_pipe(&payload_read, &session->payload, err) < 0 || fd_pipe(&life_read, &session->lifeline, err) < 0 ||
	    fd_seqpacket(&session->bridge_control, &control, err) < 0)
		return -1;

	/* By descriptor: the container's user may not be able to walk to where the program lies. */
	program = open(path, O_PATH | O_CLOEXEC);
	if (program < 0)
		return error_errno(err, errno, "the bridge");

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.argv = argv,
		.fds = {
			{ .from = config_read, .to = BRIDGE_FD_CONFIG },
			{ .from = session->attach, .to = BRIDGE_FD_ATTACH },
			{ .from = payload_read, .to = BRIDGE_FD_PAYLOAD },
			{ .from = control, .to = BRIDGE_FD_CONTROL },
			{ .from = gateway_in, .to = BRIDGE_FD_GATEWAY_IN },
			{ .from = gateway_out, .to = BRIDGE_FD_GATEWAY_OUT },
			{ .from = life_read, .to = BRIDGE_FD_LIFELINE },
		},
		.fds_count = 7,
		.drop_privileges = true,
		.uid = session->options->profile.uid,
		.gid = session->options->profile.gid,
	};
	options.executable = program;
	options.cpu = session->cpu;
	if (spawn(&options, &session->bridge, err) < 0)
		return error_wrap(err, "the bridge");
	/* A second holder of the stream would keep the engine's lock alive after the bridge's death. */
	fd_close(&session->attach);
	return fd_write_all(config_write, config.data, config.length, clock_deadline(PIPE_MS), err);
}

/* What ends the process without the engine. */
static void hold_process(const struct session *session, struct spawn_options *options)
{
	options->fds[options->fds_count++] = (struct spawn_fd){ .from = session->pidfd, .to = WATCHDOG_FD_PIDFD };
	if (session->freezer >= 0)
		options->fds[options->fds_count++] =
			(struct spawn_fd){ .from = session->freezer, .to = WATCHDOG_FD_FREEZER };
}

static int arm_watchdog(struct session *session, int pulse, int acknowledge, struct error **err)
{
	cleanup_fd int control = -1;
	char path[PATH_MAX], stop[PATH_MAX], socket_path[PATH_MAX];
	char name[] = "watchdog", lease[24], try_ms[24], id[CONTAINER_ID_MAX];
	char *argv[] = { name, lease, try_ms, id, stop, socket_path, NULL };

	snprintf(lease, sizeof(lease), "%lld", (long long)session->options->limits.lease_ms);
	snprintf(try_ms, sizeof(try_ms), "%lld", (long long)session->options->limits.stop_try_ms);
	snprintf(id, sizeof(id), "%s", session->container);
	snprintf(socket_path, sizeof(socket_path), "%s", session->target->socket);
	if (spawn_helper_path("watchdog", path, sizeof(path), err) < 0 ||
	    spawn_helper_path("stop", stop, sizeof(stop), err) < 0 ||
	    fd_seqpacket(&session->watchdog_control, &control, err) < 0)
		return -1;

	struct spawn_options options = {
		SPAWN_DEFAULTS,
		.path = path,
		.argv = argv,
		.fds = {
			{ .from = pulse, .to = WATCHDOG_FD_PULSE },
			{ .from = acknowledge, .to = WATCHDOG_FD_ACK },
			{ .from = session->bridge.pidfd, .to = WATCHDOG_FD_BRIDGE },
			{ .from = session->cgroup, .to = WATCHDOG_FD_CGROUP },
			{ .from = control, .to = WATCHDOG_FD_CONTROL },
		},
		.fds_count = 5,
		.new_session = true,
		.survive_parent = true,
	};
	if (session->options->watchdog_pidfd)
		hold_process(session, &options);
	if (spawn(&options, &session->watchdog, err) < 0)
		return error_wrap(err, "the watchdog");
	return 0;
}

int session_guard(struct session *session, struct error **err)
{
	cleanup_fd int pulse_read = -1, pulse_write = -1, ack_read = -1, ack_write = -1;
	struct control_message guard = { .type = CONTROL_GUARD };
	int fds[3] = { session->pidfd, -1, -1 };
	size_t count = 1;

	if (session->options->watchdog) {
		if (fd_pipe(&pulse_read, &pulse_write, err) < 0 || fd_pipe(&ack_read, &ack_write, err) < 0 ||
		    arm_watchdog(session, pulse_read, ack_write, err) < 0)
			return -1;
		fds[1] = pulse_write;
		fds[2] = ack_read;
		count = 3;
	}
	return control_send(session->bridge_control, &guard, fds, count, clock_deadline(PIPE_MS), err);
}

int session_go(struct session *session, const struct buf *payload, struct error **err)
{
	struct control_message go = { .type = CONTROL_GO };

	if (fd_write_all(session->payload, payload->data, payload->length, clock_deadline(PIPE_MS), err) < 0)
		return error_wrap(err, "the initial frame");
	fd_close(&session->payload);
	return control_send(session->bridge_control, &go, NULL, 0, clock_deadline(PIPE_MS), err);
}

int session_resume(struct session *session, struct error **err)
{
	struct control_message resume = { .type = CONTROL_RESUME };

	return control_send(session->bridge_control, &resume, NULL, 0, clock_deadline(PIPE_MS), err);
}

/* Operator-owned: what the agent may ask for, and the tool behind it. Those without a tool are the session's own. */
static const struct bridge_alias aliases[] = {
	{ .operation = "permitted", .tool = "permitted.tool" },
	{ .operation = "denied", .tool = "public.tool" },
	{ .operation = "slow", .tool = "slow.tool" },
	{ .operation = SESSION_ORDER, .tool = SESSION_ORDER_TOOL },
	{ .operation = "checkpoint", .waits = true },
	{ .operation = "done" },
	{ .operation = "" },
};
