#include "gateway/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "gateway/call.h"
#include "gateway/decision.h"

#define LIST_BYTES (GATEWAY_TOOLS_MAX * 64 * KIB + KIB)
#define FLUSH_MS 3000
#define END_MS 500 /* for all upstreams together */

static const struct gateway_route call_route, list_route;

struct json_span gateway_arguments(const struct gateway_call *call)
{
	static const struct json_span none = { .bytes = "{}", .length = 2 };

	return call->arguments ? json_raw(call->arguments) : none;
}

/* ---- the way of a call ---- */

static void finish_call(struct gateway_call *call)
{
	const struct answer_meta meta = { .call_id = call->id,
					  .session_id = call->session_id,
					  .audit_hash = call->audit_hash[0] ? call->audit_hash : NULL,
					  .workflow_id = call->workflow,
					  .latency_us = (clock_now() - call->start) / NS_PER_US };

	if (call->rule == RULE_ALLOW)
		answer_allow(call->request, &meta, &call->answer);
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
		const struct upstream *upstream = gateway->upstreams[tool->server];
		struct json_span raw = upstream_definition(upstream, tool);

		if (upstream_defines(upstream, tool) == UPSTREAM_DEFINED)
			json_put_raw(&writer, raw.bytes, raw.length);
	}
	json_array_end(&writer);
	json_object_end(&writer);
	if (result.failed)
		mcp_request_error(call->request, RPC_INTERNAL_ERROR, "Internal error", RPC_NONE);
	else
		mcp_request_result(call->request, rpc_span(&result));
}

static void forget(struct gateway_call *call)
{
	struct gateway_call **at = &call->gateway->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	answer_wipe(&call->answer);
	free(call);
}

static void end(struct gateway_call *call)
{
	record_outcome(call);
	call->route->finish(call);
	forget(call);
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
	end(call);
}

/* One sync for all the calls that came in together. */
static void commit_intents(struct gateway *gateway)
{
	cleanup_error struct error *lost = NULL;

	if (!gateway->intents)
		return;
	gateway->intents = false;
	gateway->stirred = true;
	if (audit_store_commit(gateway->audit, true, &lost) < 0)
		gateway->refusing = true;
	for (struct gateway_call *call = gateway->calls; call; call = call->next)
		if (call->intent == INTENT_PENDING && !gateway->refusing)
			call->intent = INTENT_DURABLE;
}

static bool is_busy(const struct gateway *gateway)
{
	for (const struct gateway_call *call = gateway->calls; call; call = call->next)
		if (call->entered)
			return true;
	return false;
}

static void end_upstreams(struct gateway *gateway)
{
	for (size_t i = 0; i < gateway->config->servers_count; i++)
		upstream_stop(gateway->upstreams[i]);
}

static void finish_closing(struct gateway *gateway)
{
	cleanup_error struct error *lost = NULL;
	gateway_ended ended = gateway->closing;
	bool ok;

	if (!ended || is_busy(gateway))
		return;
	gateway->closing = NULL;
	gateway->stirred = true;
	end_upstreams(gateway);
	ok = record_session(gateway, "session_end", &lost) == 0 &&
	     session_begin(&gateway->session, gateway->config, &lost) == 0 &&
	     record_session(gateway, "session_start", &lost) == 0;
	gateway->refusing = gateway->refusing || !ok;
	ended(gateway->closing_context, ok);
}

static void sync_due(struct gateway *gateway)
{
	cleanup_error struct error *lost = NULL;

	if (gateway->audit && audit_store_due(gateway->audit) <= clock_now() &&
	    audit_store_sync(gateway->audit, &lost) < 0)
		gateway->refusing = true;
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
		commit_intents(gateway);
		finish_closing(gateway);
	} while (gateway->stirred);
	sync_due(gateway);
}

int64_t gateway_due(const struct gateway *gateway)
{
	return gateway->audit ? audit_store_due(gateway->audit) : NEVER;
}

void gateway_cancelled(void *context, struct mcp_request *request)
{
	struct gateway *gateway = context;
	struct gateway_call *call = gateway->calls;

	while (call && call->request != request)
		call = call->next;
	/* What was dispatched has its outcome recorded when it is known. */
	if (!call || call->sent)
		return;
	call->rule = RULE_CALLER_GONE;
	end(call);
	/* The session's close may have waited for it. */
	gateway->wake(gateway->wake_context);
}

/* NULL with *err set when there is no memory, or no random id. */
static struct gateway_call *begin(struct gateway *gateway, const struct gateway_route *route,
				  const struct gateway_step *steps, struct mcp_request *request, struct error **err)
{
	struct gateway_call *call = calloc(1, sizeof(*call)), **last = &gateway->calls;

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
	call->step = steps;
	call->start = clock_now();
	call->started = clock_realtime();
	call->deadline = clock_add(call->start, gateway->config->call_ms * NS_PER_MS);
	memcpy(call->session_id, gateway->session.id, sizeof(call->session_id));
	/* Behind the others: they go on in the order in which they came. */
	while (*last)
		last = &(*last)->next;
	*last = call;
	return call;
}

static struct json_span progress_token(const struct json_node *params)
{
	const struct json_node *token = json_member(json_member(params, "_meta"), "progressToken");
	bool fits = token && (json_type(token) == JSON_STRING || json_type(token) == JSON_NUMBER) &&
		    json_raw(token).length <= RPC_ID_BYTES;

	return fits ? json_raw(token) : RPC_NONE;
}

static int refuse_params(struct mcp_request *request)
{
	mcp_request_error(request, RPC_INVALID_PARAMS, "Invalid params", RPC_NONE);
	return 0;
}

static int run_call(void *context, struct mcp_request *request, struct error **err)
{
	cleanup_error struct error *formless = NULL;
	struct gateway *gateway = context;
	const struct json_node *params = mcp_request_params(request);
	const struct json_node *arguments = json_member(params, "arguments");
	const struct json_node *meta = json_member(params, "_cmcp");
	const char *name = json_string(json_member(params, "name"));
	struct gateway_call *call;

	if (!name || (arguments && json_type(arguments) != JSON_OBJECT))
		return refuse_params(request);
	call = begin(gateway, &call_route, gateway->call_steps, request, err);
	if (!call)
		return -1;
	call->name = name;
	call->arguments = arguments;
	/* What could not be recorded is not decided. */
	if ((gateway->audit || gateway->telemetry) && record_arguments(call, &formless) < 0) {
		forget(call);
		return refuse_params(request);
	}
	call->declared = json_string(json_member(meta, "data_class"));
	call->workflow = json_string(json_member(meta, "workflow_id"));
	call->progress = progress_token(params);
	run(call);
	gateway->wake(gateway->wake_context);
	return 0;
}

static int run_list(void *context, struct mcp_request *request, struct error **err)
{
	struct gateway *gateway = context;
	struct gateway_call *call = begin(gateway, &list_route, gateway_list_steps, request, err);

	if (!call)
		return -1;
	run(call);
	gateway->wake(gateway->wake_context);
	return 0;
}

/* ---- the gateway ---- */

static int open_records(struct gateway *gateway, int decisions, struct error **err)
{
	const struct gateway_config *config = gateway->config;
	const char *service = config->telemetry.service[0] ? config->telemetry.service : "harness-gateway";

	gateway->decisions = (struct decisions){ .fd = -1 };
	if (decisions >= 0 && decisions_open(decisions, &gateway->decisions, err) < 0)
		return -1;
	if (config->telemetry.endpoint[0] &&
	    telemetry_open(config->telemetry.endpoint, service, &gateway->telemetry, err) < 0)
		return -1;
	return config->audit.path[0] ? audit_store_open(config->audit.path, &gateway->audit, err) : 0;
}

int gateway_open(struct gateway *gateway, const struct gateway_options *options, struct error **err)
{
	int r;

	*gateway = (struct gateway){ .config = options->config,
				     .call_steps = options->call_steps ? options->call_steps : gateway_call_steps,
				     .wake = options->wake,
				     .wake_context = options->wake_context };
	r = open_records(gateway, options->decisions, err);
	if (r == 0)
		r = session_begin(&gateway->session, gateway->config, err);
	for (size_t i = 0; i < gateway->config->servers_count && r == 0; i++)
		r = upstream_new(gateway->config, i, &gateway->upstreams[i], err);
	if (r == 0)
		r = record_session(gateway, "session_start", err);
	if (r < 0)
		gateway_close(gateway);
	return r;
}

void gateway_close(struct gateway *gateway)
{
	int64_t deadline = clock_deadline(END_MS);
	cleanup_error struct error *lost = NULL;

	while (gateway->calls) {
		gateway->calls->rule = RULE_CALLER_GONE;
		record_outcome(gateway->calls);
		forget(gateway->calls);
	}
	for (size_t i = 0; i < GATEWAY_SERVERS_MAX; i++)
		upstream_dismiss(gateway->upstreams[i]);
	for (size_t i = 0; i < GATEWAY_SERVERS_MAX; i++)
		upstream_free(steal_pointer(&gateway->upstreams[i]), deadline);
	(void)!audit_store_close(steal_pointer(&gateway->audit), &lost);
	telemetry_close(steal_pointer(&gateway->telemetry), clock_deadline(FLUSH_MS));
}

bool gateway_ready(struct gateway *gateway)
{
	if (gateway->refusing || gateway->session.drifted)
		return false;
	for (size_t i = 0; i < gateway->config->servers_count; i++)
		if (upstream_state(gateway->upstreams[i]) == UPSTREAM_DOWN && !upstream_measured(gateway->upstreams[i]))
			return false;
	return true;
}

int gateway_reset(struct gateway *gateway, struct error **err)
{
	if (gateway->closing)
		return error_set(err, ERROR_REFUSED, "the session is being closed");
	for (size_t i = 0; i < gateway->config->servers_count; i++)
		upstream_relist(gateway->upstreams[i]);
	gateway->wake(gateway->wake_context);
	if (session_begin(&gateway->session, gateway->config, err) == 0 &&
	    record_session(gateway, "session_reset", err) == 0)
		return 0;
	gateway->refusing = true;
	return -1;
}

int gateway_close_session(struct gateway *gateway, gateway_ended ended, void *context, struct error **err)
{
	if (gateway->closing)
		return error_set(err, ERROR_REFUSED, "the session is being closed");
	gateway->closing = ended;
	gateway->closing_context = context;
	gateway->wake(gateway->wake_context);
	return 0;
}

static const struct gateway_route call_route = { .steps = gateway_call_steps, .finish = finish_call, .decided = true };
static const struct gateway_route list_route = { .steps = gateway_list_steps, .finish = finish_list };

const struct mcp_handler gateway_handlers[] = {
	{ .method = "tools/list", .run = run_list },
	{ .method = "tools/call", .run = run_call },
	{ .method = NULL },
};
