/*
 * The gateway's program: an MCP server on stdin and stdout, its configuration, decisions file and lifeline on the
 * descriptors of enum gateway_fd. It ends, with its upstreams, when its caller or its parent is gone.
 */
#include <stdio.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/loop.h"
#include "core/spawn.h"
#include "gateway/pipeline.h"

#define CONFIG_MS 5000
#define LAST_WRITE_MS 1000
#define CALLS_MAX 32
#define TIMER_UPSTREAMS 0
#define EXIT_ERROR 3

struct program {
	struct gateway gateway;
	struct mcp_server *server;
	struct loop *loop;
};

static int on_caller(void *context, int fd, short revents, struct error **err);
static int on_upstream(void *context, int fd, short revents, struct error **err);
static int on_deadline(void *context, struct error **err);

/* Brings watches and timer up to date with what is under way. */
static int settle(struct program *program, struct error **err)
{
	struct gateway *gateway = &program->gateway;
	int64_t nearest = NEVER;
	int r = mcp_server_watch(program->server, program->loop, on_caller, program, err);

	for (size_t i = 0; i < gateway->config->servers_count && r == 0; i++) {
		int64_t deadline = upstream_deadline(gateway->upstreams[i]);

		nearest = deadline < nearest ? deadline : nearest;
		r = upstream_watch(gateway->upstreams[i], program->loop, on_upstream, program, err);
	}
	loop_timer(program->loop, TIMER_UPSTREAMS, nearest, on_deadline, program);
	return r;
}

static int on_caller(void *context, int fd, short revents, struct error **err)
{
	struct program *program = context;
	int r = mcp_server_dispatch(program->server, 0, err);

	(void)fd;
	(void)revents;
	return r != 0 ? r : settle(program, err);
}

static int on_deadline(void *context, struct error **err)
{
	struct program *program = context;
	struct gateway *gateway = &program->gateway;
	int r;

	for (size_t i = 0; i < gateway->config->servers_count; i++)
		upstream_dispatch(gateway->upstreams[i]);
	gateway_resume(gateway);
	r = mcp_server_resume(program->server, err);
	return r != 0 ? r : settle(program, err);
}

static int on_upstream(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	return on_deadline(context, err);
}

/* Nothing is ever written to the lifeline: whatever happens on it means the end. */
static int on_lifeline(void *context, int fd, short revents, struct error **err)
{
	(void)context;
	(void)fd;
	(void)revents;
	(void)err;
	return 1;
}

static int on_signal(void *context, int signal, struct error **err)
{
	(void)context;
	(void)signal;
	(void)err;
	return 1;
}

static int read_config(struct gateway_config *config, struct error **err)
{
	cleanup_fd int fd = GATEWAY_FD_CONFIG;
	cleanup_buf struct buf bytes = BUF(GATEWAY_CONFIG_BYTES);
	int r = fd_read_all(fd, &bytes, clock_deadline(CONFIG_MS), err);

	return r < 0 ? r : gateway_config_read(buf_string(&bytes), bytes.length, config, err);
}

static int run_loop(struct program *program, struct error **err)
{
	const struct mcp_server_options options = {
		.name = "harness-gateway",
		.version = HARNESS_VERSION,
		.handlers = gateway_handlers,
		.context = &program->gateway,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = 2 * MCP_LINE_BYTES, .calls_max = CALLS_MAX },
	};
	int r = mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &program->server, err);

	if (r == 0)
		r = loop_signals(program->loop, on_signal, program, err);
	if (r == 0)
		r = loop_fd(program->loop, GATEWAY_FD_LIFELINE, POLLIN, on_lifeline, program, err);
	if (r == 0)
		r = settle(program, err);
	if (r == 0)
		r = loop_run(program->loop, clock_deadline(HELPER_LIFE_MS), err);
	if (r == 0)
		r = error_set(err, ERROR_TIMEOUT, "nobody ended it");
	if (r < 0)
		return r;
	return mcp_server_flush(program->server, clock_deadline(LAST_WRITE_MS), err);
}

static int serve(struct gateway_config *config, struct error **err)
{
	cleanup_loop struct loop *loop = NULL;
	struct program program = { .server = NULL };
	int r = process_harden(true, 0, err);

	if (r == 0)
		r = read_config(config, err);
	if (r == 0)
		r = loop_new(&loop, err);
	if (r < 0)
		return r;
	r = gateway_open(&program.gateway, config, GATEWAY_FD_DECISIONS, err);
	if (r < 0)
		return r;
	program.loop = loop;
	r = run_loop(&program, err);
	gateway_close(&program.gateway);
	mcp_server_free(program.server);
	return r;
}

int main(void)
{
	cleanup_error struct error *err = NULL;
	cleanup_free struct gateway_config *config = calloc(1, sizeof(*config));

	if (config && serve(config, &err) == 0)
		return 0;
	fprintf(stderr, "gateway: %s\n", error_text(err));
	return EXIT_ERROR;
}
