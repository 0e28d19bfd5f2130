#include "gateway/upstream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/limits.h"
#include "core/spawn.h"

#define DEFINITION_BYTES (64 * KIB)
#define CURSOR_BYTES (4 * KIB)
#define PAGES_MAX 16
#define CALLS_MAX 32
#define END_MS 500
#define ENVELOPE_BYTES 256

struct definition {
	char *bytes;
	size_t length;
};

struct upstream {
	const struct gateway_config *config;
	struct gateway_server server;
	int64_t index;
	enum upstream_state state;
	enum gateway_rule fault;
	bool condemned;
	int64_t ready_by; /* STARTING: until when it must be ready */
	unsigned pages;
	struct child child;
	struct mcp_client *client;
	struct definition definitions[GATEWAY_TOOLS_MAX]; /* in the catalog's order */
};

int upstream_new(const struct gateway_config *config, size_t index, struct upstream **out, struct error **err)
{
	struct upstream *upstream = calloc(1, sizeof(*upstream));

	if (!upstream)
		return error_set(err, ERROR_MEMORY, "no memory for an upstream");
	upstream->config = config;
	upstream->server = config->servers[index];
	upstream->index = (int64_t)index;
	upstream->child = (struct child)CHILD_NONE;
	*out = upstream;
	return 0;
}

static void forget_definitions(struct upstream *upstream)
{
	for (size_t i = 0; i < GATEWAY_TOOLS_MAX; i++) {
		free(upstream->definitions[i].bytes);
		upstream->definitions[i] = (struct definition){ .bytes = NULL };
	}
}

static void end(struct upstream *upstream)
{
	mcp_client_free(upstream->client);
	upstream->client = NULL;
	child_end(&upstream->child);
	forget_definitions(upstream);
	upstream->condemned = false;
	upstream->state = UPSTREAM_DOWN;
}

void upstream_free(struct upstream *upstream)
{
	cleanup_error struct error *late = NULL;
	int status;

	if (!upstream)
		return;
	/* End of file on its stdin is how it is asked to go. */
	mcp_client_free(upstream->client);
	upstream->client = NULL;
	if (upstream->child.pid > 0)
		(void)!child_wait(&upstream->child, clock_deadline(END_MS), &status, &late);
	end(upstream);
	free(upstream);
}

enum upstream_state upstream_state(const struct upstream *upstream)
{
	return upstream->state;
}

enum gateway_rule upstream_fault(const struct upstream *upstream)
{
	return upstream->fault;
}

void upstream_condemn(struct upstream *upstream)
{
	upstream->condemned = true;
	upstream->fault = RULE_UPSTREAM_TIMEOUT;
}

/* For callbacks: the client is in use until they are over. */
static void fail(struct upstream *upstream, const struct mcp_answer *answer)
{
	upstream->condemned = true;
	upstream->fault = answer->outcome == MCP_TIMEOUT ? RULE_UPSTREAM_TIMEOUT : RULE_UPSTREAM_LOST;
}

/* Returns the open, measured program, or -1. */
static int measure(const struct gateway_server *server)
{
	cleanup_fd int program = open(server->command, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	cleanup_error struct error *reason = NULL;
	char digest[HEX_SHA256];
	struct stat info;

	if (program < 0 || fstat(program, &info) < 0 || !S_ISREG(info.st_mode))
		return -1;
	if (hash_fd(program, digest, &reason) < 0 || strcmp(digest, server->sha256) != 0)
		return -1;
	return steal_fd(&program);
}

/* Starts the program on two pipes; our ends go to *in (we read) and *out (we write). */
static int run(struct upstream *upstream, int program, int *in, int *out, struct error **err)
{
	struct gateway_server *server = &upstream->server;
	cleanup_fd int child_in = -1, child_out = -1;
	char *argv[GATEWAY_ARGUMENTS_MAX + 2] = { server->command };
	struct spawn_options options = { SPAWN_DEFAULTS, .argv = argv };
	int r;

	for (size_t i = 0; i < server->arguments_count; i++)
		argv[i + 1] = server->arguments[i];
	r = fd_pipe(&child_in, out, err);
	if (r == 0)
		r = fd_pipe(in, &child_out, err);
	if (r < 0)
		return r;
	options.executable = program;
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = child_in, .to = STDIN_FILENO };
	options.fds[options.fds_count++] = (struct spawn_fd){ .from = child_out, .to = STDOUT_FILENO };
	if (server->pass_fd >= 0)
		options.fds[options.fds_count++] =
			(struct spawn_fd){ .from = (int)server->pass_fd, .to = UPSTREAM_FD_PASSED };
	return spawn(&options, &upstream->child, err);
}

static int ask_tools(struct upstream *upstream, const char *cursor, size_t length);

/* Keeps the definitions of our catalog's tools; negative when one is given twice, has no schema, or is too long. */
static int keep_definition(struct upstream *upstream, const struct json_node *tool)
{
	const struct gateway_tool *row = gateway_config_tool(upstream->config, json_string(json_member(tool, "name")));
	const struct json_node *schema = json_member(tool, "inputSchema");
	struct json_span raw = json_raw(tool);
	struct definition *definition;

	if (!row || row->server != upstream->index)
		return 0;
	definition = &upstream->definitions[row - upstream->config->catalog];
	if (definition->bytes || !schema || json_type(schema) != JSON_OBJECT || raw.length > DEFINITION_BYTES)
		return -1;
	definition->bytes = malloc(raw.length);
	if (!definition->bytes)
		return -1;
	memcpy(definition->bytes, raw.bytes, raw.length);
	definition->length = raw.length;
	return 0;
}

static void on_tools(void *context, const struct mcp_answer *answer)
{
	static const struct mcp_answer broken = { .outcome = MCP_LOST, .error_code = "" };
	struct upstream *upstream = context;
	const struct json_node *tools = json_member(answer->result, "tools");
	const struct json_node *cursor = json_member(answer->result, "nextCursor");
	const struct json_node *tool = json_first(tools);

	if (answer->outcome != MCP_RESULT) {
		fail(upstream, answer);
		return;
	}
	while (tool && keep_definition(upstream, tool) == 0)
		tool = json_next(tool);
	if (!tools || json_type(tools) != JSON_ARRAY || tool || (cursor && !json_string(cursor)))
		fail(upstream, &broken);
	else if (!cursor)
		upstream->state = UPSTREAM_READY;
	else if (ask_tools(upstream, json_string(cursor), json_string_length(cursor)) < 0)
		fail(upstream, &broken);
}

static int ask_tools(struct upstream *upstream, const char *cursor, size_t length)
{
	cleanup_error struct error *reason = NULL;
	cleanup_buf struct buf params = BUF(CURSOR_BYTES);
	struct json_writer writer;

	if (upstream->pages++ >= PAGES_MAX)
		return -1;
	if (cursor) {
		json_begin(&writer, &params);
		json_object(&writer);
		json_put_key(&writer, "cursor");
		json_put_bytes(&writer, cursor, length);
		json_object_end(&writer);
	}
	if (params.failed)
		return -1;
	return mcp_client_call(upstream->client, "tools/list", rpc_span(&params), upstream->ready_by, on_tools,
			       upstream, NULL, &reason);
}

static void on_initialized(void *context, const struct mcp_answer *answer)
{
	static const struct mcp_answer broken = { .outcome = MCP_LOST, .error_code = "" };
	struct upstream *upstream = context;

	if (answer->outcome != MCP_RESULT)
		fail(upstream, answer);
	else if (ask_tools(upstream, NULL, 0) < 0)
		fail(upstream, &broken);
}

/* The caller has set the fault that stands when this fails. */
static int start(struct upstream *upstream, int program, struct error **err)
{
	static const struct mcp_limits limits = { .line_max = MCP_LINE_BYTES,
						  .queue_max = MCP_LINE_BYTES + ENVELOPE_BYTES,
						  .calls_max = CALLS_MAX };
	cleanup_fd int in = -1, out = -1;
	int r = run(upstream, program, &in, &out, err);

	if (r == 0)
		r = mcp_client_new(steal_fd(&in), steal_fd(&out), &limits, &upstream->client, err);
	upstream->pages = 0;
	upstream->ready_by = clock_deadline(upstream->config->call_ms);
	if (r == 0)
		r = mcp_client_initialize(upstream->client, "harness-gateway", HARNESS_VERSION, upstream->ready_by,
					  on_initialized, upstream, err);
	return r;
}

void upstream_start(struct upstream *upstream)
{
	cleanup_error struct error *reason = NULL;
	cleanup_fd int program = -1;

	upstream->fault = RULE_UPSTREAM_MEASURE;
	program = measure(&upstream->server);
	if (program < 0)
		return;
	upstream->fault = RULE_UPSTREAM_START;
	if (start(upstream, program, &reason) < 0) {
		end(upstream);
		return;
	}
	upstream->fault = RULE_NONE;
	upstream->state = UPSTREAM_STARTING;
}

struct json_span upstream_definition(const struct upstream *upstream, const struct gateway_tool *tool)
{
	const struct definition *definition = &upstream->definitions[tool - upstream->config->catalog];

	return (struct json_span){ .bytes = definition->bytes, .length = definition->length };
}

enum gateway_rule upstream_call(struct upstream *upstream, const struct gateway_tool *tool, struct json_span arguments,
				int64_t deadline, mcp_done done, void *context)
{
	cleanup_error struct error *reason = NULL;
	struct buf params = BUF(MCP_LINE_BYTES);
	enum gateway_rule rule = RULE_ALLOW;

	mcp_put_tool_call(&params, tool->tool, arguments);
	if (params.failed || mcp_client_call(upstream->client, "tools/call", rpc_span(&params), deadline, done, context,
					     NULL, &reason) < 0)
		rule = !reason || error_code(reason) == ERROR_LIMIT ? RULE_INTERNAL : RULE_UPSTREAM_LOST;
	buf_wipe(&params);
	/* The client knows that its peer is gone: the others' calls are told, and the next call starts it anew. */
	if (rule == RULE_UPSTREAM_LOST)
		upstream_dispatch(upstream);
	return rule;
}

int64_t upstream_deadline(const struct upstream *upstream)
{
	return upstream->client ? mcp_client_deadline(upstream->client) : NEVER;
}

void upstream_dispatch(struct upstream *upstream)
{
	static const struct mcp_answer lost = { .outcome = MCP_LOST, .error_code = "" };
	cleanup_error struct error *reason = NULL;

	if (!upstream->client)
		return;
	if (mcp_client_dispatch(upstream->client, 0, &reason) < 0 && !upstream->condemned)
		fail(upstream, &lost);
	if (!upstream->condemned)
		return;
	mcp_client_lose(upstream->client);
	end(upstream);
}

int upstream_watch(struct upstream *upstream, struct loop *loop, loop_fd_callback callback, void *context,
		   struct error **err)
{
	return upstream->client ? mcp_client_watch(upstream->client, loop, callback, context, err) : 0;
}
