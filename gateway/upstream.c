#include "gateway/upstream.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"
#include "core/spawn.h"
#include "gateway/catalog.h"
#include "gateway/program.h"

#define DEFINITION_BYTES (64 * KIB)
#define CURSOR_BYTES (4 * KIB)
#define PAGES_MAX 16
#define CALLS_MAX 32
#define ENVELOPE_BYTES 256

struct definition {
	char *bytes;
	size_t length;
	bool changed;
};

/* A call under way that asked for its progress; token 0 is a free slot. */
struct progress {
	int64_t token;
	upstream_progress tell;
	mcp_done done;
	void *context;
};

struct upstream {
	const struct gateway_config *config;
	struct gateway_server server;
	int64_t index;
	enum upstream_state state;
	enum gateway_rule fault;
	bool condemned;
	int64_t heard; /* when it last answered a call, or told its progress */
	int64_t ready_by; /* STARTING: until when it must be ready */
	unsigned pages;
	uint64_t lives;
	struct program program;
	struct program_stamp stamp; /* of what was found to be as declared, for readiness alone */
	bool measured;
	struct child child;
	struct mcp_client *client;
	struct definition definitions[GATEWAY_TOOLS_MAX]; /* in the catalog's order */
	struct progress progress[CALLS_MAX];
	int64_t last_token;
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
	upstream->program = (struct program)PROGRAM_NONE;
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
	program_close(&upstream->program);
	forget_definitions(upstream);
	upstream->condemned = false;
	upstream->state = UPSTREAM_DOWN;
}

void upstream_dismiss(struct upstream *upstream)
{
	if (!upstream)
		return;
	mcp_client_free(upstream->client);
	upstream->client = NULL;
}

void upstream_free(struct upstream *upstream, int64_t deadline)
{
	cleanup_error struct error *late = NULL;
	int status;

	if (!upstream)
		return;
	upstream_dismiss(upstream);
	if (upstream->child.pid > 0)
		(void)!child_wait(&upstream->child, deadline, &status, &late);
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

bool upstream_unreached(const struct upstream *upstream, const char *error_code)
{
	static const char relay[] = "HTTP_";

	return upstream->server.url[0] && strncmp(error_code, relay, strlen(relay)) == 0;
}

void upstream_heard(struct upstream *upstream)
{
	upstream->heard = clock_now();
}

void upstream_condemn(struct upstream *upstream, int64_t since)
{
	if (upstream->heard > since)
		return;
	upstream->condemned = true;
	upstream->fault = RULE_UPSTREAM_TIMEOUT;
}

/* For callbacks: the client is in use until they are over. */
static void fail(struct upstream *upstream, const struct mcp_answer *answer)
{
	upstream->condemned = true;
	upstream->fault = answer->outcome == MCP_TIMEOUT ? RULE_UPSTREAM_TIMEOUT : RULE_UPSTREAM_LOST;
}

static int ask_tools(struct upstream *upstream, const char *cursor, size_t length);

/* Keeps the definitions of our catalog's tools; negative when one is given twice, has no schema, or is too long. */
static int keep_definition(struct upstream *upstream, const struct json_node *tool)
{
	const struct gateway_tool *row = gateway_config_tool(upstream->config, json_string(json_member(tool, "name")));
	const struct json_node *schema = json_member(tool, "inputSchema");
	struct json_span raw = json_raw(tool);
	struct definition *definition;

	cleanup_error struct error *ignored = NULL;
	char digest[HEX_SHA256];

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
	definition->changed = row->definition[0] && (catalog_definition_hash(tool, digest, &ignored) < 0 ||
						     strcmp(digest, row->definition) != 0);
	return 0;
}

/* What an interpreter opened by its path is measured once more: nothing goes out to another script. */
static void be_ready(struct upstream *upstream)
{
	if (program_unchanged(&upstream->program)) {
		upstream->state = UPSTREAM_READY;
		return;
	}
	upstream->condemned = true;
	upstream->fault = RULE_UPSTREAM_MEASURE;
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
		be_ready(upstream);
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

static void on_notice(void *context, const char *method, const struct json_node *params)
{
	struct upstream *upstream = context;
	const struct json_node *progress = json_member(params, "progress"), *total = json_member(params, "total");
	int64_t token;

	if (strcmp(method, "notifications/progress") != 0 ||
	    !json_int64(json_member(params, "progressToken"), &token) || !progress ||
	    json_type(progress) != JSON_NUMBER || (total && json_type(total) != JSON_NUMBER))
		return;
	for (size_t i = 0; i < CALLS_MAX && token > 0; i++)
		if (upstream->progress[i].token == token)
			upstream->progress[i].tell(upstream->progress[i].context, json_raw(progress),
						   total ? json_raw(total) : RPC_NONE);
}

/* The caller has set the fault that stands when this fails. */
static int start(struct upstream *upstream, struct error **err)
{
	static const struct mcp_limits limits = { .line_max = MCP_LINE_BYTES,
						  .queue_max = MCP_LINE_BYTES + ENVELOPE_BYTES,
						  .calls_max = CALLS_MAX + 1 /* the list */ };
	cleanup_fd int in = -1, out = -1;
	int r = program_start(&upstream->program, &upstream->server, upstream->config->call_ms, &upstream->child, &in,
			      &out, err);

	if (r == 0)
		r = mcp_client_new(steal_fd(&in), steal_fd(&out), &limits, &upstream->client, err);
	if (r < 0)
		return r;
	mcp_client_on_notification(upstream->client, on_notice, upstream);
	upstream->pages = 0;
	upstream->ready_by = clock_deadline(upstream->config->call_ms);
	return mcp_client_initialize(upstream->client, "harness-gateway", HARNESS_VERSION, upstream->ready_by,
				     on_initialized, upstream, err);
}

void upstream_start(struct upstream *upstream)
{
	cleanup_error struct error *reason = NULL;

	upstream->fault = RULE_UPSTREAM_MEASURE;
	if (program_measure(&upstream->server, &upstream->program) < 0)
		return;
	upstream->fault = RULE_UPSTREAM_START;
	if (start(upstream, &reason) < 0) {
		end(upstream);
		return;
	}
	upstream->fault = RULE_NONE;
	upstream->state = UPSTREAM_STARTING;
	upstream->lives++;
}

uint64_t upstream_lives(const struct upstream *upstream)
{
	return upstream->lives;
}

bool upstream_full(const struct upstream *upstream)
{
	return upstream->client && mcp_client_calls(upstream->client) >= CALLS_MAX;
}

bool upstream_measured(struct upstream *upstream)
{
	cleanup_program struct program program = PROGRAM_NONE;
	struct program_stamp stamp = program_stamp(&upstream->server);

	if (upstream->measured && program_same_stamp(&stamp, &upstream->stamp))
		return true;
	/* Taken before it was read: a change meanwhile makes another. */
	upstream->stamp = stamp;
	upstream->measured = program_measure(&upstream->server, &program) == 0;
	return upstream->measured;
}

void upstream_stop(struct upstream *upstream)
{
	if (!upstream->client)
		return;
	mcp_client_lose(upstream->client);
	end(upstream);
}

void upstream_relist(struct upstream *upstream)
{
	static const struct mcp_answer broken = { .outcome = MCP_LOST, .error_code = "" };

	if (upstream->state != UPSTREAM_READY)
		return;
	forget_definitions(upstream);
	upstream->pages = 0;
	upstream->ready_by = clock_deadline(upstream->config->call_ms);
	upstream->state = UPSTREAM_STARTING;
	if (ask_tools(upstream, NULL, 0) < 0)
		fail(upstream, &broken);
}

struct json_span upstream_definition(const struct upstream *upstream, const struct gateway_tool *tool)
{
	const struct definition *definition = &upstream->definitions[tool - upstream->config->catalog];

	return (struct json_span){ .bytes = definition->bytes, .length = definition->length };
}

enum upstream_definition upstream_defines(const struct upstream *upstream, const struct gateway_tool *tool)
{
	const struct definition *definition = &upstream->definitions[tool - upstream->config->catalog];

	if (!definition->bytes)
		return UPSTREAM_WITHDRAWN;
	return definition->changed ? UPSTREAM_CHANGED : UPSTREAM_DEFINED;
}

/* The slot is free before the callback. */
static void on_done(void *context, const struct mcp_answer *answer)
{
	struct progress *slot = context, told = *slot;

	*slot = (struct progress){ .token = 0 };
	told.done(told.context, answer);
}

/* NULL: it is not asked for, or there is no room to remember it. */
static struct progress *follow(struct upstream *upstream, const struct upstream_call *call)
{
	for (size_t i = 0; i < CALLS_MAX && call->progress; i++) {
		struct progress *slot = &upstream->progress[i];

		if (slot->token)
			continue;
		*slot = (struct progress){ .token = ++upstream->last_token,
					   .tell = call->progress,
					   .done = call->done,
					   .context = call->context };
		return slot;
	}
	return NULL;
}

static int send_call(struct upstream *upstream, const struct upstream_call *call, const struct buf *params,
		     struct progress *slot, struct error **err)
{
	return mcp_client_call(upstream->client, "tools/call", rpc_span(params), call->deadline,
			       slot ? on_done : call->done, slot ? (void *)slot : call->context, NULL, err);
}

enum gateway_rule upstream_call(struct upstream *upstream, const struct upstream_call *call)
{
	struct progress *slot = follow(upstream, call);
	cleanup_error struct error *reason = NULL;
	struct buf params = BUF(MCP_LINE_BYTES);
	enum gateway_rule rule = RULE_ALLOW;
	const struct mcp_call_meta meta = { .progress = slot ? slot->token : 0,
					    .call_id = upstream->server.call_id ? call->call_id : NULL };

	mcp_put_tool_call_meta(&params, call->tool->tool, call->arguments, &meta);
	if (params.failed || send_call(upstream, call, &params, slot, &reason) < 0)
		rule = !reason || error_code(reason) == ERROR_LIMIT ? RULE_INTERNAL : RULE_UPSTREAM_LOST;
	buf_wipe(&params);
	if (rule != RULE_ALLOW && slot)
		slot->token = 0;
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
