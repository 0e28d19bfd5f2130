#include "gateway/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"

#define LIST_BYTES (GATEWAY_TOOLS_MAX * 64 * KIB + KIB)
#define NS_PER_US 1000

enum step_result {
	STEP_NEXT,
	STEP_WAIT,
	STEP_END, /* call->rule says how */
};

struct gateway_step {
	const char *id;
	enum step_result (*run)(struct gateway_call *call);
};

/* A kind of request: its steps, and what follows when all passed (RULE_ALLOW) or one ended it. */
struct route {
	const struct gateway_step *steps; /* ended by .id = NULL */
	void (*finish)(struct gateway_call *call);
	bool decided; /* its outcome is a row of the decisions file */
};

struct gateway_call {
	struct gateway *gateway;
	struct gateway_call *next;
	struct mcp_request *request;
	const struct route *route;
	const struct gateway_step *step;
	enum gateway_rule rule;
	char id[ANSWER_ID_BYTES];
	int64_t start;
	int64_t deadline;
	const char *name; /* as the caller gave it; owned by the request, as is `arguments` */
	const struct gateway_tool *tool; /* once it is found in the catalog */
	struct json_span arguments;
	const char *declared; /* class that the caller declared, or NULL */
	int session_at_entry;
	uint32_t tried; /* bit per upstream that this call started, or saw down */
	bool sent;
	bool answered;
	struct buf text; /* of the upstream's answer */
};

static const struct route call_route, list_route;

static enum step_result end_by(struct gateway_call *call, enum gateway_rule rule)
{
	call->rule = rule;
	return STEP_END;
}

/* ---- steps of tools/call ---- */

static enum step_result check_execution(struct gateway_call *call)
{
	const struct json_node *meta = json_member(mcp_request_params(call->request), "_cmcp");

	return json_member(meta, "execution_id") ? end_by(call, RULE_EXECUTION_ID) : STEP_NEXT;
}

static enum step_result find_tool(struct gateway_call *call)
{
	call->tool = gateway_config_tool(call->gateway->config, call->name);
	return call->tool ? STEP_NEXT : end_by(call, RULE_CATALOG_MISS);
}

static enum gateway_rule ask(const struct gateway_call *call, enum gateway_sink sink)
{
	const struct gateway *gateway = call->gateway;
	const char *ceiling = sink == SINK_TOOL ? gateway_config_ceiling(gateway->config, call->tool->tool)
						: gateway->config->sink_policy.response;
	const struct gateway_question question = {
		.sink = sink,
		.session_at_entry = call->session_at_entry,
		.session = gateway->session,
		.catalog = gateway_label_rank(call->tool->sensitivity),
		.declared = call->declared != NULL,
		.declaration = gateway_label_rank(call->declared),
		.listed = ceiling != NULL,
		.ceiling = gateway_label_rank(ceiling),
	};

	return gateway_decide(&question);
}

static enum step_result check_ceiling(struct gateway_call *call)
{
	enum gateway_rule rule = ask(call, SINK_TOOL);

	return rule == RULE_ALLOW ? STEP_NEXT : end_by(call, rule);
}

/* An upstream is started once by a call: one that is down again while the call waits is a fault of the call. */
static enum step_result discover(struct gateway_call *call, size_t server)
{
	struct upstream *upstream = call->gateway->upstreams[server];
	uint32_t bit = UINT32_C(1) << server;

	if (upstream_state(upstream) == UPSTREAM_DOWN && !(call->tried & bit))
		upstream_start(upstream);
	call->tried |= bit;
	switch (upstream_state(upstream)) {
	case UPSTREAM_READY:
		return STEP_NEXT;
	case UPSTREAM_STARTING:
		return STEP_WAIT;
	case UPSTREAM_DOWN:
		break;
	}
	return end_by(call, upstream_fault(upstream));
}

static enum step_result discover_own(struct gateway_call *call)
{
	return discover(call, (size_t)call->tool->server);
}

static enum step_result check_defined(struct gateway_call *call)
{
	const struct upstream *upstream = call->gateway->upstreams[call->tool->server];

	return upstream_definition(upstream, call->tool).length > 0 ? STEP_NEXT : end_by(call, RULE_CATALOG_DRIFT);
}

static void on_answer(void *context, const struct mcp_answer *answer)
{
	struct gateway_call *call = context;

	call->answered = true;
	call->gateway->stirred = true;
	switch (answer->outcome) {
	case MCP_RESULT:
		answer_text(answer->result, &call->text);
		break;
	case MCP_ERROR:
		call->rule = RULE_UPSTREAM_ERROR;
		break;
	case MCP_TIMEOUT:
		call->rule = RULE_UPSTREAM_TIMEOUT;
		upstream_condemn(call->gateway->upstreams[call->tool->server]);
		break;
	case MCP_LOST:
		call->rule = RULE_UPSTREAM_LOST;
		break;
	}
}

static enum step_result dispatch(struct gateway_call *call)
{
	struct upstream *upstream = call->gateway->upstreams[call->tool->server];

	if (!call->sent) {
		enum gateway_rule rule =
			upstream_call(upstream, call->tool, call->arguments, call->deadline, on_answer, call);

		call->sent = true;
		return rule == RULE_ALLOW ? STEP_WAIT : end_by(call, rule);
	}
	if (!call->answered)
		return STEP_WAIT;
	return call->rule == RULE_NONE ? STEP_NEXT : STEP_END;
}

static enum step_result check_size(struct gateway_call *call)
{
	return call->text.failed ? end_by(call, RULE_RESPONSE_SIZE) : STEP_NEXT;
}

static enum step_result raise_session(struct gateway_call *call)
{
	struct gateway *gateway = call->gateway;

	gateway->session = gateway_session_raise(gateway->session, gateway_label_rank(call->tool->sensitivity));
	if (call->declared)
		gateway->session = gateway_session_raise(gateway->session, gateway_label_rank(call->declared));
	return STEP_NEXT;
}

static enum step_result check_response(struct gateway_call *call)
{
	enum gateway_rule rule = ask(call, SINK_RESPONSE);

	return rule == RULE_ALLOW ? STEP_NEXT : end_by(call, rule);
}

/* ---- steps of tools/list ---- */

/* As for a call: an upstream that no call could reach is not started to be listed. */
static bool may_discover(struct gateway_call *call, size_t server)
{
	const struct gateway_config *config = call->gateway->config;
	bool may = false;

	for (size_t i = 0; i < config->catalog_count && !may; i++) {
		call->tool = &config->catalog[i];
		may = (size_t)call->tool->server == server && ask(call, SINK_TOOL) == RULE_ALLOW;
	}
	call->tool = NULL;
	return may;
}

static enum step_result discover_all(struct gateway_call *call)
{
	enum step_result result = STEP_NEXT;

	/* One that is down leaves its tools out of the list. */
	for (size_t i = 0; i < call->gateway->config->servers_count; i++)
		if (may_discover(call, i) && discover(call, i) == STEP_WAIT)
			result = STEP_WAIT;
	return result;
}

/* ---- the way of a call ---- */

static void finish_call(struct gateway_call *call)
{
	const struct answer_meta meta = { .call_id = call->id,
					  .session_id = call->gateway->session_id,
					  .latency_us = (clock_now() - call->start) / NS_PER_US };

	if (call->rule == RULE_ALLOW)
		answer_allow(call->request, &meta, &call->text);
	else
		answer_refuse(call->request, call->rule, call->id);
}

static void finish_list(struct gateway_call *call)
{
	const struct gateway *gateway = call->gateway;
	cleanup_buf struct buf result = BUF(LIST_BYTES);
	struct json_writer writer;

	json_begin(&writer, &result);
	json_object(&writer);
	json_put_key(&writer, "tools");
	json_array(&writer);
	for (size_t i = 0; i < gateway->config->catalog_count; i++) {
		const struct gateway_tool *tool = &gateway->config->catalog[i];
		struct json_span raw = upstream_definition(gateway->upstreams[tool->server], tool);

		if (raw.length > 0)
			json_put_raw(&writer, raw.bytes, raw.length);
	}
	json_array_end(&writer);
	json_object_end(&writer);
	if (result.failed)
		mcp_request_error(call->request, RPC_INTERNAL_ERROR, "Internal error", RPC_NONE);
	else
		mcp_request_result(call->request, rpc_span(&result));
}

/* The row is written before the answer: a decision that cannot be recorded is not given. */
static void record(struct gateway_call *call)
{
	cleanup_error struct error *reason = NULL;
	const char *tool = call->tool ? call->tool->tool : NULL;

	if (call->route->decided &&
	    decisions_append(&call->gateway->decisions, tool, call->rule, clock_now(), &reason) < 0)
		call->rule = RULE_INTERNAL;
}

static void forget(struct gateway_call *call)
{
	struct gateway_call **at = &call->gateway->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	buf_wipe(&call->text);
	free(call);
}

static void run(struct gateway_call *call)
{
	enum step_result result = STEP_NEXT;

	while (call->step->id && result == STEP_NEXT) {
		result = call->step->run(call);
		if (result == STEP_NEXT)
			call->step++;
	}
	if (result == STEP_WAIT)
		return;
	if (result == STEP_NEXT)
		call->rule = RULE_ALLOW;
	record(call);
	call->route->finish(call);
	forget(call);
}

void gateway_resume(struct gateway *gateway)
{
	/* A call that finds its upstream lost ends those of others, which may stand before it. */
	do {
		struct gateway_call *call = gateway->calls, *next;

		gateway->stirred = false;
		for (; call; call = next) {
			next = call->next;
			run(call);
		}
	} while (gateway->stirred);
}

/* NULL with *err set when there is no memory, or no random id. */
static struct gateway_call *begin(struct gateway *gateway, const struct route *route, struct mcp_request *request,
				  struct error **err)
{
	struct gateway_call *call = calloc(1, sizeof(*call));

	if (!call) {
		error_set(err, ERROR_MEMORY, "no memory for a call");
		return NULL;
	}
	if (answer_new_id(call->id, err) < 0) {
		free(call);
		return NULL;
	}
	call->gateway = gateway;
	call->request = request;
	call->route = route;
	call->step = route->steps;
	call->start = clock_now();
	call->deadline = clock_add(call->start, gateway->config->call_ms * NS_PER_MS);
	call->session_at_entry = gateway->session;
	call->text = (struct buf)BUF(GATEWAY_RESPONSE_BYTES);
	call->next = gateway->calls;
	gateway->calls = call;
	return call;
}

static int run_call(void *context, struct mcp_request *request, struct error **err)
{
	static const struct json_span no_arguments = { .bytes = "{}", .length = 2 };
	const struct json_node *params = mcp_request_params(request);
	const struct json_node *arguments = json_member(params, "arguments");
	const char *name = json_string(json_member(params, "name"));
	struct gateway_call *call;

	if (!name || (arguments && json_type(arguments) != JSON_OBJECT)) {
		mcp_request_error(request, RPC_INVALID_PARAMS, "Invalid params", RPC_NONE);
		return 0;
	}
	call = begin(context, &call_route, request, err);
	if (!call)
		return -1;
	call->name = name;
	call->arguments = arguments ? json_raw(arguments) : no_arguments;
	call->declared = json_string(json_member(json_member(params, "_cmcp"), "data_class"));
	run(call);
	return 0;
}

static int run_list(void *context, struct mcp_request *request, struct error **err)
{
	struct gateway_call *call = begin(context, &list_route, request, err);

	if (!call)
		return -1;
	run(call);
	return 0;
}

int gateway_open(struct gateway *gateway, const struct gateway_config *config, int decisions, struct error **err)
{
	int r;

	*gateway = (struct gateway){ .config = config, .session = gateway_label_rank(config->session.sensitivity) };
	r = decisions_open(decisions, &gateway->decisions, err);
	if (r == 0)
		r = answer_new_id(gateway->session_id, err);
	for (size_t i = 0; i < config->servers_count && r == 0; i++)
		r = upstream_new(config, i, &gateway->upstreams[i], err);
	if (r < 0)
		gateway_close(gateway);
	return r;
}

void gateway_close(struct gateway *gateway)
{
	while (gateway->calls) {
		gateway->calls->rule = RULE_CALLER_GONE;
		record(gateway->calls);
		forget(gateway->calls);
	}
	for (size_t i = 0; i < GATEWAY_SERVERS_MAX; i++) {
		upstream_free(gateway->upstreams[i]);
		gateway->upstreams[i] = NULL;
	}
}

static const struct gateway_step call_steps[] = {
	{ .id = "execution", .run = check_execution },
	{ .id = "catalog", .run = find_tool },
	{ .id = "ceiling", .run = check_ceiling },
	{ .id = "discover", .run = discover_own },
	{ .id = "defined", .run = check_defined },
	{ .id = "ceiling-again", .run = check_ceiling },
	{ .id = "dispatch", .run = dispatch },
	{ .id = "size", .run = check_size },
	{ .id = "raise", .run = raise_session },
	{ .id = "ceiling-response", .run = check_response },
	{ .id = NULL },
};

static const struct gateway_step list_steps[] = {
	{ .id = "discover", .run = discover_all },
	{ .id = NULL },
};

static const struct route call_route = { .steps = call_steps, .finish = finish_call, .decided = true };
static const struct route list_route = { .steps = list_steps, .finish = finish_list };

const struct mcp_handler gateway_handlers[] = {
	{ .method = "tools/list", .run = run_list },
	{ .method = "tools/call", .run = run_call },
	{ .method = NULL },
};
