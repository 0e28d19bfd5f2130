#include "gateway/serve.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/loop.h"
#include "core/spawn.h"
#include "gateway/routes.h"
#include "mcp/http_server.h"
#include "mcp/server.h"

#define CONFIG_MS 5000
#define LAST_WRITE_MS 1000
#define CALLS_MAX 32
#define TOKEN_BYTES 256
#define NAME "harness-gateway"

enum timer { TIMER_UPSTREAMS, TIMER_RESUME, TIMER_HTTP };

struct serving {
	struct gateway gateway;
	struct loop *loop;
	struct mcp_server *pipe; /* or NULL */
	struct mcp_http_server *http; /* or NULL */
	char token[TOKEN_BYTES], operator_token[TOKEN_BYTES];
};

static int on_caller(void *context, int fd, short revents, struct error **err);
static int on_upstream(void *context, int fd, short revents, struct error **err);
static int on_deadline(void *context, struct error **err);

/* Brings watches and timers up to date with what is under way. */
static int settle(struct serving *serving, struct error **err)
{
	struct gateway *gateway = &serving->gateway;
	int64_t nearest = gateway_due(gateway);
	int r = serving->pipe ? mcp_server_watch(serving->pipe, serving->loop, on_caller, serving, err) : 0;

	for (size_t i = 0; i < gateway->config->servers_count && r == 0; i++) {
		int64_t deadline = upstream_deadline(gateway->upstreams[i]);

		nearest = deadline < nearest ? deadline : nearest;
		r = upstream_watch(gateway->upstreams[i], serving->loop, on_upstream, serving, err);
	}
	if (r == 0 && gateway->telemetry)
		r = telemetry_watch(gateway->telemetry, serving->loop, err);
	loop_timer(serving->loop, TIMER_UPSTREAMS, nearest, on_deadline, serving);
	return r;
}

static int on_caller(void *context, int fd, short revents, struct error **err)
{
	struct serving *serving = context;
	int r = mcp_server_dispatch(serving->pipe, 0, err);

	(void)fd;
	(void)revents;
	return r != 0 ? r : settle(serving, err);
}

static int on_deadline(void *context, struct error **err)
{
	struct serving *serving = context;
	struct gateway *gateway = &serving->gateway;
	int r = 0;

	loop_timer(serving->loop, TIMER_RESUME, NEVER, on_deadline, serving);
	for (size_t i = 0; i < gateway->config->servers_count; i++)
		upstream_dispatch(gateway->upstreams[i]);
	gateway_resume(gateway);
	if (serving->pipe)
		r = mcp_server_resume(serving->pipe, err);
	return r != 0 ? r : settle(serving, err);
}

static int on_upstream(void *context, int fd, short revents, struct error **err)
{
	(void)fd;
	(void)revents;
	return on_deadline(context, err);
}

/* Behind all that is ready now: what comes in together is committed together. */
static void on_wake(void *context)
{
	struct serving *serving = context;

	loop_timer(serving->loop, TIMER_RESUME, clock_now(), on_deadline, serving);
}

/* ---- the configuration ---- */

static int read_descriptor(struct gateway_config *config, struct error **err)
{
	cleanup_fd int fd = GATEWAY_FD_CONFIG;
	cleanup_buf struct buf bytes = BUF(GATEWAY_CONFIG_BYTES);
	int r = fd_read_all(fd, &bytes, clock_deadline(CONFIG_MS), err);

	return r < 0 ? r : gateway_config_read(buf_string(&bytes), bytes.length, NULL, config, err);
}

/* Nobody passed it descriptors: each would be one of its own. */
static int check_alone(const struct gateway_config *config, struct error **err)
{
	for (size_t i = 0; i < config->servers_count; i++)
		if (config->servers[i].pass_fd >= 0)
			return error_set(err, ERROR_INPUT, "gateway: servers[%zu].passFd: for an arm alone", i);
	return 0;
}

int serve_read_config(const char *path, struct gateway_config *config, struct error **err)
{
	cleanup_buf struct buf bytes = BUF(GATEWAY_CONFIG_BYTES);
	char folder[PATH_MAX];
	char *slash;

	if ((size_t)snprintf(folder, sizeof(folder), "%s", path) >= sizeof(folder))
		return error_set(err, ERROR_INPUT, "the configuration's path is too long");
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	if (fd_read_file(AT_FDCWD, path, GATEWAY_CONFIG_BYTES, &bytes, err) < 0)
		return error_wrap(err, "the configuration");
	if (gateway_config_read(buf_string(&bytes), bytes.length, slash ? folder : NULL, config, err) < 0)
		return -1;
	return check_alone(config, err);
}

static int read_token(const char *path, char out[TOKEN_BYTES], struct error **err)
{
	cleanup_buf struct buf bytes = BUF(TOKEN_BYTES);
	int r = 0;

	out[0] = '\0';
	if (!path[0])
		return 0;
	r = fd_read_file(AT_FDCWD, path, TOKEN_BYTES - 1, &bytes, err);
	if (r == 0)
		snprintf(out, TOKEN_BYTES, "%.*s", (int)strcspn(buf_string(&bytes), "\r\n"), buf_string(&bytes));
	buf_wipe(&bytes);
	if (r == 0 && !out[0])
		return error_set(err, ERROR_INPUT, "a token's file holds no token");
	return r < 0 ? error_wrap(err, "a token's file") : 0;
}

/* ---- the transports ---- */

static int open_pipe(struct serving *serving, struct error **err)
{
	const struct mcp_server_options options = {
		.name = NAME,
		.version = HARNESS_VERSION,
		.handlers = gateway_handlers,
		.context = &serving->gateway,
		.cancelled = gateway_cancelled,
		.limits = { .line_max = MCP_LINE_BYTES, .queue_max = 2 * MCP_LINE_BYTES, .calls_max = CALLS_MAX },
	};

	return mcp_server_new(STDIN_FILENO, STDOUT_FILENO, &options, &serving->pipe, err);
}

static int open_http(struct serving *serving, struct error **err)
{
	const struct gateway_http *http = &serving->gateway.config->http;
	const struct mcp_http_options options = {
		.address = http->address,
		.port = (uint16_t)http->port,
		.bearer = serving->token,
		.operator_token = serving->operator_token,
		.name = NAME,
		.version = HARNESS_VERSION,
		.handlers = gateway_handlers,
		.routes = gateway_routes,
		.context = &serving->gateway,
		.cancelled = gateway_cancelled,
		.answer_max = ANSWER_BYTES,
	};

	if (mcp_http_server_new(&options, &serving->http, err) < 0 ||
	    mcp_http_server_attach(serving->http, serving->loop, TIMER_HTTP, err) < 0)
		return -1;
	/* With stdio, what is written there is MCP. */
	if (!serving->pipe) {
		bool six = strchr(http->address, ':');

		printf("ready http://%s%s%s:%u/mcp\n", six ? "[" : "", http->address, six ? "]" : "",
		       (unsigned)mcp_http_server_port(serving->http));
		fflush(stdout);
	}
	return 0;
}

static int open_transports(struct serving *serving, const struct serve_options *options, struct error **err)
{
	int r = loop_signals(serving->loop, loop_end_by_signal, serving, err);

	if (r == 0 && !options->config)
		r = loop_fd(serving->loop, GATEWAY_FD_LIFELINE, POLLIN, loop_end_by_fd, serving, err);
	if (r == 0 && options->stdio)
		r = open_pipe(serving, err);
	if (r == 0 && serving->gateway.config->http.address[0])
		r = open_http(serving, err);
	return r < 0 ? r : settle(serving, err);
}

static int run(struct serving *serving, const struct serve_options *options, struct error **err)
{
	/* An arm's gateway that nobody ended by then ends by itself. */
	int64_t life = options->config ? NEVER : clock_deadline(HELPER_LIFE_MS);
	int r = open_transports(serving, options, err);

	if (r == 0)
		r = loop_run(serving->loop, life, err);
	if (r == 0)
		r = error_set(err, ERROR_TIMEOUT, "nobody ended it");
	if (r > 0 && serving->pipe)
		r = mcp_server_flush(serving->pipe, clock_deadline(LAST_WRITE_MS), err);
	return r < 0 ? r : 0;
}

static int read_tokens(const struct gateway_config *config, char token[TOKEN_BYTES], char operator_token[TOKEN_BYTES],
		       struct error **err)
{
	if (read_token(config->http.token_file, token, err) < 0 ||
	    read_token(config->http.operator_token_file, operator_token, err) < 0)
		return -1;
	return token[0] && strcmp(token, operator_token) == 0
		       ? error_set(err, ERROR_INPUT, "the operator's token is every caller's too")
		       : 0;
}

int serve_check(const char *path, struct gateway_config *config, struct error **err)
{
	char token[TOKEN_BYTES], operator_token[TOKEN_BYTES];
	int r = serve_read_config(path, config, err);

	if (r == 0)
		r = read_tokens(config, token, operator_token, err);
	explicit_bzero(token, sizeof(token));
	explicit_bzero(operator_token, sizeof(operator_token));
	return r;
}

static int prepare(struct serving *serving, const struct serve_options *options, struct gateway_config *config,
		   struct error **err)
{
	int r = process_harden(!options->config, 0, err);

	if (r == 0)
		r = options->config ? serve_read_config(options->config, config, err) : read_descriptor(config, err);
	if (r == 0 && !options->stdio && !config->http.address[0])
		r = error_set(err, ERROR_INPUT, "nothing to serve: give \"http\" in the configuration, or --stdio");
	if (r == 0)
		r = read_tokens(config, serving->token, serving->operator_token, err);
	return r < 0 ? r : loop_new(&serving->loop, err);
}

int serve(const struct serve_options *options, struct error **err)
{
	cleanup_free struct gateway_config *config = calloc(1, sizeof(*config));
	cleanup_free struct serving *serving = calloc(1, sizeof(*serving));
	const struct gateway_options gateway = {
		.config = config,
		.call_steps = options->call_steps,
		.decisions = options->config ? -1 : GATEWAY_FD_DECISIONS,
		.wake = on_wake,
		.wake_context = serving,
	};
	int r;

	if (!config || !serving)
		return error_set(err, ERROR_MEMORY, "no memory for a gateway");
	r = prepare(serving, options, config, err);
	if (r == 0)
		r = gateway_open(&serving->gateway, &gateway, err);
	if (r == 0) {
		r = run(serving, options, err);
		gateway_close(&serving->gateway);
	}
	mcp_http_server_free(serving->http);
	mcp_server_free(serving->pipe);
	loop_free(serving->loop);
	explicit_bzero(serving, sizeof(*serving));
	return r;
}
