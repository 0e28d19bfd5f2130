/* Our own gateway, with the recorder behind it, on the arm's payload files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "gateway/config.h"
#include "runner/arm.h"

#define PIPE_MS 2000

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

static int put_server(const struct arm *arm, struct gateway_config *config, const char *program, struct error **err)
{
	struct gateway_server *server = &config->servers[config->servers_count++];

	server->pass_fd = GATEWAY_FD_PASS;
	if (measure_upstream(program, server, err) < 0)
		return -1;
	if (arm->options.upstream_mode && strcmp(program, arm->options.upstream_program) == 0) {
		snprintf(server->arguments[0], GATEWAY_ARGUMENT_BYTES, "%s", arm->options.upstream_mode);
		server->arguments_count = 1;
	}
	return 0;
}

/* What was declared of a program is the recorder's: it was replaced since. */
static int put_servers(const struct arm *arm, struct gateway_config *config, struct error **err)
{
	const struct session_options *options = &arm->options;

	if (!options->apart)
		return put_server(arm, config, options->upstream_program, err);
	if (put_server(arm, config, "recorder", err) < 0 || put_server(arm, config, options->upstream_program, err) < 0)
		return -1;
	if (options->undeclared)
		memcpy(config->servers[1].sha256, config->servers[0].sha256, sizeof(config->servers[1].sha256));
	return 0;
}

/* On its own database; it gets no descriptor of ours, and is told under which id a call was authorised. */
static int put_orders(const struct arm *arm, struct gateway_config *config, struct error **err)
{
	struct gateway_tool *row = &config->catalog[config->catalog_count];
	struct gateway_server *server = &config->servers[config->servers_count];

	if (!arm->options.orders)
		return 0;
	if (measure_upstream(arm->options.orders_program, server, err) < 0)
		return -1;
	server->pass_fd = -1;
	server->call_id = true;
	if (arm->options.orders_mode)
		snprintf(server->arguments[server->arguments_count++], GATEWAY_ARGUMENT_BYTES, "%s",
			 arm->options.orders_mode);
	if (strlen(arm->orders.database) >= GATEWAY_ARGUMENT_BYTES)
		return error_set(err, ERROR_LIMIT, "the path of the orders is too long");
	snprintf(server->arguments[server->arguments_count++], GATEWAY_ARGUMENT_BYTES, "%.*s",
		 GATEWAY_ARGUMENT_BYTES - 1, arm->orders.database);
	snprintf(row->tool, sizeof(row->tool), SESSION_ORDER_TOOL);
	snprintf(row->sensitivity, sizeof(row->sensitivity), "public");
	row->server = (int64_t)config->servers_count++;
	config->catalog_count++;
	return 0;
}

static void put_records(const struct arm *arm, struct gateway_config *config)
{
	if (arm->records.folder >= 0)
		snprintf(config->audit.path, sizeof(config->audit.path), "%.*s/" ARM_AUDIT "/audit.db",
			 (int)(sizeof(config->audit.path) / 2), arm->path);
	if (arm->records.collector)
		snprintf(config->telemetry.endpoint, sizeof(config->telemetry.endpoint), "http://127.0.0.1:%u",
			 arm->records.collector);
}

static const char *label_of(const struct session_options *options, const char *tool)
{
	return options->permitted_label[0] && strcmp(tool, "permitted.tool") == 0 ? options->permitted_label : "public";
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
		snprintf(row->sensitivity, sizeof(row->sensitivity), "%s", label_of(&arm->options, tools[i]));
		row->server = arm->options.apart && strcmp(arm->options.apart, tools[i]) == 0;
	}
	/* It gives an upstream up before the bridge gives it up, and can still say why. */
	config->call_ms = arm->options.limits.gateway_call_ms * 3 / 4;
	config->scan_arguments = arm->records.folder >= 0;
	put_records(arm, config);
	if (put_servers(arm, config, err) < 0 || put_orders(arm, config, err) < 0)
		return -1;
	json_begin(&json, out);
	schema_encode(gateway_config_fields, config, &json);
	return buf_check(out, "the gateway's configuration", err);
}

int gateway_embedded_start(struct arm *arm, struct error **err)
{
	cleanup_buf struct buf config = BUF(GATEWAY_CONFIG_BYTES);
	cleanup_fd int config_read = -1, config_write = -1, in_read = -1, out_write = -1, life_read = -1;
	char path[PATH_MAX], name[] = "gateway", mode[NAME_MAX_SHORT];
	char *argv[] = { name, mode, NULL };
	char secret[sizeof("GATEWAY_TOKEN=") + CANARY_LENGTH], directory[PATH_MAX + sizeof("/" ARM_RECORDS)];
	char *envp[] = { secret, NULL };

	snprintf(mode, sizeof(mode), "%s", arm->options.gateway_mode ? arm->options.gateway_mode : "embedded");
	if (configure(arm, &config, err) < 0 ||
	    spawn_helper_path(arm->options.gateway_program, path, sizeof(path), err) < 0)
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
	/* Its environment holds what no upstream may get. */
	if (arm->records.folder >= 0) {
		snprintf(secret, sizeof(secret), "GATEWAY_TOKEN=%s", arm->subjects[0].canary.text);
		snprintf(directory, sizeof(directory), "%s/" ARM_RECORDS, arm->path);
		options.envp = envp;
		options.directory = directory;
		options.fds[options.fds_count++] =
			(struct spawn_fd){ .from = arm->records.errors, .to = STDERR_FILENO };
	}
	if (spawn(&options, &arm->gateway, err) < 0)
		return error_wrap(err, "the gateway");
	fd_close(&config_read);
	return fd_write_all(config_write, config.data, config.length, clock_deadline(PIPE_MS), err);
}
