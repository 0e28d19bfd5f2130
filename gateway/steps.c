/* The steps of a call, one function each, and their order. */
#include <string.h>

#include "core/clock.h"
#include "gateway/call.h"
#include "gateway/decision.h"
#include "gateway/scan.h"

#define NOTICE_BYTES KIB
#define NOTICES_MAX 1000 /* of a call: how many there are says something too */
#define NUMBER_BYTES 15 /* shorter than a card's */

enum step_result gateway_end_by(struct gateway_call *call, enum gateway_rule rule)
{
	call->rule = rule;
	return STEP_END;
}

/* While the session is being closed, who comes waits for the next one. */
enum step_result step_enter(struct gateway_call *call)
{
	struct gateway_state *session = &call->gateway->session;

	if (call->gateway->closing)
		return STEP_WAIT;
	call->entered = true;
	memcpy(call->session_id, session->id, sizeof(call->session_id));
	call->epoch = session->epoch;
	call->session_at_entry = session->rank;
	call->label_at_entry = session->label;
	return STEP_NEXT;
}

enum step_result step_execution(struct gateway_call *call)
{
	const struct json_node *meta = json_member(mcp_request_params(call->request), "_cmcp");

	return json_member(meta, "execution_id") ? gateway_end_by(call, RULE_EXECUTION_ID) : STEP_NEXT;
}

enum step_result step_health(struct gateway_call *call)
{
	if (call->gateway->refusing)
		return gateway_end_by(call, RULE_AUDIT);
	return call->gateway->session.drifted ? gateway_end_by(call, RULE_CATALOG_DRIFT) : STEP_NEXT;
}

enum step_result step_catalog(struct gateway_call *call)
{
	call->tool = gateway_config_tool(call->gateway->config, call->name);
	return call->tool ? STEP_NEXT : gateway_end_by(call, RULE_CATALOG_MISS);
}

static enum gateway_rule ask(const struct gateway_call *call, enum gateway_sink sink)
{
	const struct gateway_config *config = call->gateway->config;
	const char *ceiling =
		sink == SINK_TOOL ? gateway_config_ceiling(config, call->tool->tool) : config->sink_policy.response;
	const struct gateway_question question = {
		.sink = sink,
		.session_at_entry = call->session_at_entry,
		.session = call->gateway->session.rank,
		.catalog = gateway_config_rank(config, call->tool->sensitivity),
		.declared = call->declared != NULL,
		.declaration = gateway_config_rank(config, call->declared),
		.listed = ceiling != NULL,
		.ceiling = gateway_config_rank(config, ceiling),
	};

	return gateway_decide(&question);
}

enum step_result step_ceiling(struct gateway_call *call)
{
	enum gateway_rule rule = ask(call, SINK_TOOL);

	return rule == RULE_ALLOW ? STEP_NEXT : gateway_end_by(call, rule);
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
		call->life = upstream_lives(upstream);
		return STEP_NEXT;
	case UPSTREAM_STARTING:
		return STEP_WAIT;
	case UPSTREAM_DOWN:
		break;
	}
	return gateway_end_by(call, upstream_fault(upstream));
}

enum step_result step_discover(struct gateway_call *call)
{
	return discover(call, (size_t)call->tool->server);
}

/* All that the catalog has of this server: one definition that changed puts the others in doubt. */
enum step_result step_defined(struct gateway_call *call)
{
	static const char *const kinds[] = {
		[UPSTREAM_WITHDRAWN] = "{\"kind\":\"withdrawn\"}",
		[UPSTREAM_CHANGED] = "{\"kind\":\"definition_changed\"}",
	};
	struct gateway *gateway = call->gateway;
	const struct upstream *upstream = gateway->upstreams[call->tool->server];

	/* A call before this one found it, and wrote it down. */
	if (gateway->session.drifted)
		return gateway_end_by(call, RULE_CATALOG_DRIFT);
	for (size_t i = 0; i < gateway->config->catalog_count; i++) {
		const struct gateway_tool *tool = &gateway->config->catalog[i];
		enum upstream_definition definition;
		cleanup_error struct error *lost = NULL;

		if (tool->server != call->tool->server)
			continue;
		definition = upstream_defines(upstream, tool);
		if (definition == UPSTREAM_DEFINED)
			continue;
		gateway->session.drifted = true;
		if (record_drift(gateway, call, tool, kinds[definition], &lost) < 0)
			return gateway_end_by(call, RULE_AUDIT);
	}
	return gateway->session.drifted ? gateway_end_by(call, RULE_CATALOG_DRIFT) : STEP_NEXT;
}

enum step_result step_allowed(struct gateway_call *call)
{
	return gateway_config_allows(call->gateway->config, call->tool->tool) ? STEP_NEXT
									      : gateway_end_by(call, RULE_NOT_ALLOWED);
}

enum step_result step_arguments(struct gateway_call *call)
{
	bool found = call->gateway->config->scan_arguments && scan_arguments(call->arguments);

	return found ? gateway_end_by(call, RULE_ARGUMENT) : STEP_NEXT;
}

enum step_result step_budget(struct gateway_call *call)
{
	int64_t budget = call->gateway->config->budget;

	if (budget && call->gateway->session.calls >= budget)
		return gateway_end_by(call, RULE_BUDGET);
	call->gateway->session.calls++;
	return STEP_NEXT;
}

/* Goes out only when its entry is on the disk: no effect is ever without one. */
enum step_result step_intent(struct gateway_call *call)
{
	cleanup_error struct error *lost = NULL;

	if (!call->gateway->audit)
		return STEP_NEXT;
	if (call->intent == INTENT_NONE) {
		if (record_intent(call, &lost) < 0)
			return gateway_end_by(call, RULE_AUDIT);
		call->intent = INTENT_PENDING;
		call->gateway->intents = true;
	}
	if (call->gateway->refusing)
		return gateway_end_by(call, RULE_AUDIT);
	return call->intent == INTENT_DURABLE ? STEP_NEXT : STEP_WAIT;
}

static bool is_too_long(const struct gateway_call *call)
{
	return call->answer_bytes > (size_t)call->gateway->config->response_bytes;
}

static void on_answer(void *context, const struct mcp_answer *answer)
{
	struct gateway_call *call = context;
	struct upstream *upstream = call->gateway->upstreams[call->tool->server];

	call->answered = true;
	call->gateway->stirred = true;
	switch (answer->outcome) {
	case MCP_RESULT:
		upstream_heard(upstream);
		/* What is no object is no result of a call, and an upstream that says so speaks something else. */
		if (json_type(answer->result) != JSON_OBJECT) {
			call->rule = RULE_UPSTREAM_LOST;
			upstream_condemn(upstream, clock_now());
			break;
		}
		call->answer_bytes = json_raw(answer->result).length;
		/* Nothing is made of one that is too long. */
		if (is_too_long(call))
			break;
		if (call->gateway->config->scan_responses)
			call->finding = scan_response(answer->result);
		memcpy(call->response_hash, "sha256:", sizeof("sha256:"));
		answer_text_hash(answer->result, call->response_hash + strlen("sha256:"));
		answer_begin(&call->answer, answer->result);
		break;
	case MCP_ERROR:
		if (upstream_unreached(upstream, answer->error_code)) {
			call->rule = RULE_UPSTREAM_LOST;
			upstream_condemn(upstream, clock_now());
			break;
		}
		upstream_heard(upstream);
		call->rule = RULE_UPSTREAM_ERROR;
		break;
	case MCP_TIMEOUT:
		call->rule = RULE_UPSTREAM_TIMEOUT;
		upstream_condemn(upstream, call->sent_at);
		break;
	case MCP_LOST:
		call->rule = RULE_UPSTREAM_LOST;
		break;
	}
}

/* A number may say much as well: it passes where the answer may. No message does: it is text that no check of the
 * answer has seen. */
static void on_progress(void *context, struct json_span progress, struct json_span total)
{
	struct gateway_call *call = context;
	cleanup_buf struct buf params = BUF(NOTICE_BYTES);
	struct json_writer writer;

	upstream_heard(call->gateway->upstreams[call->tool->server]);
	if (++call->notices > NOTICES_MAX)
		return;

	if (progress.length > NUMBER_BYTES || total.length > NUMBER_BYTES || ask(call, SINK_RESPONSE) != RULE_ALLOW)
		return;
	json_begin(&writer, &params);
	json_object(&writer);
	json_put_key(&writer, "progressToken");
	json_put_raw(&writer, call->progress.bytes, call->progress.length);
	json_put_key(&writer, "progress");
	json_put_raw(&writer, progress.bytes, progress.length);
	if (total.length) {
		json_put_key(&writer, "total");
		json_put_raw(&writer, total.bytes, total.length);
	}
	json_object_end(&writer);
	if (!params.failed)
		mcp_request_notify(call->request, "notifications/progress", rpc_span(&params));
}

/* While the intent was on its way to the disk, the upstream may have gone, and another life begun that no check has
 * seen; while the call waited for its turn, the session may have risen. */
static enum step_result may_go(struct gateway_call *call, const struct upstream *upstream)
{
	if (upstream_state(upstream) == UPSTREAM_DOWN || upstream_lives(upstream) != call->life)
		return gateway_end_by(call, RULE_UPSTREAM_LOST);
	if (upstream_full(upstream)) {
		call->queued = true;
		return STEP_WAIT;
	}
	if (call->deadline <= clock_now())
		return gateway_end_by(call, RULE_UPSTREAM_TIMEOUT);
	return call->queued ? step_ceiling(call) : STEP_NEXT;
}

enum step_result step_dispatch(struct gateway_call *call)
{
	struct upstream *upstream = call->gateway->upstreams[call->tool->server];

	if (!call->sent) {
		enum step_result may = may_go(call, upstream);
		const struct upstream_call outgoing = {
			.tool = call->tool,
			.arguments = gateway_arguments(call),
			.call_id = call->id,
			.deadline = call->deadline,
			.done = on_answer,
			.progress = call->progress.length ? on_progress : NULL,
			.context = call,
		};
		enum gateway_rule rule;

		if (may != STEP_NEXT)
			return may;
		rule = upstream_call(upstream, &outgoing);
		call->sent = rule == RULE_ALLOW || rule == RULE_UPSTREAM_LOST;
		call->sent_at = clock_now();
		return rule == RULE_ALLOW ? STEP_WAIT : gateway_end_by(call, rule);
	}
	if (!call->answered)
		return STEP_WAIT;
	return call->rule == RULE_NONE ? STEP_NEXT : STEP_END;
}

enum step_result step_size(struct gateway_call *call)
{
	return is_too_long(call) || call->answer.text.failed ? gateway_end_by(call, RULE_RESPONSE_SIZE) : STEP_NEXT;
}

/* Also for an answer that the scanner blocks: what it holds was there. A session that began meanwhile knows nothing of
 * it. */
enum step_result step_raise(struct gateway_call *call)
{
	struct gateway *gateway = call->gateway;

	if (call->epoch != gateway->session.epoch)
		return STEP_NEXT;
	session_raise(&gateway->session, gateway->config, call->tool->sensitivity);
	session_raise(&gateway->session, gateway->config, call->declared);
	return STEP_NEXT;
}

enum step_result step_scan(struct gateway_call *call)
{
	return call->finding ? gateway_end_by(call, RULE_RESPONSE_SCAN) : STEP_NEXT;
}

enum step_result step_response(struct gateway_call *call)
{
	enum gateway_rule rule = ask(call, SINK_RESPONSE);

	return rule == RULE_ALLOW ? STEP_NEXT : gateway_end_by(call, rule);
}

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

enum step_result step_discover_all(struct gateway_call *call)
{
	enum step_result result = STEP_NEXT;

	/* One that is down leaves its tools out of the list. */
	for (size_t i = 0; i < call->gateway->config->servers_count; i++)
		if (may_discover(call, i) && discover(call, i) == STEP_WAIT)
			result = STEP_WAIT;
	return result;
}

const struct gateway_step gateway_call_steps[] = {
	{ .id = "enter", .run = step_enter },
	{ .id = "execution", .run = step_execution },
	{ .id = "health", .run = step_health },
	{ .id = "catalog", .run = step_catalog },
	{ .id = "ceiling", .run = step_ceiling },
	{ .id = "discover", .run = step_discover },
	{ .id = "defined", .run = step_defined },
	{ .id = "ceiling-again", .run = step_ceiling },
	{ .id = "allowed", .run = step_allowed },
	{ .id = "arguments", .run = step_arguments },
	{ .id = "budget", .run = step_budget },
	{ .id = "intent", .run = step_intent },
	{ .id = "ceiling-last", .run = step_ceiling },
	{ .id = "dispatch", .run = step_dispatch },
	{ .id = "size", .run = step_size },
	{ .id = "raise", .run = step_raise },
	{ .id = "scan", .run = step_scan },
	{ .id = "ceiling-response", .run = step_response },
	{ .id = NULL },
};

const struct gateway_step gateway_list_steps[] = {
	{ .id = "enter", .run = step_enter },
	{ .id = "discover", .run = step_discover_all },
	{ .id = NULL },
};
