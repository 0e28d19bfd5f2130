/* What is written down of a call: the row of the decisions file, the entries of the audit chain, their spans. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/hash.h"
#include "core/json_python.h"
#include "gateway/call.h"
#include "gateway/decision.h"

#define HASHED_BYTES (6 * MCP_LINE_BYTES) /* a byte of text is at most six there */

/* What became of the effect, for the detail of a fault. */
static const char *effect(const struct gateway_call *call)
{
	if (!call->sent)
		return "{\"effect\":\"none\"}";
	/* An upstream that says error may have done it, or not. */
	return call->answer_bytes ? "{\"effect\":\"made\"}" : "{\"effect\":\"unknown\"}";
}

int record_arguments(struct gateway_call *call, struct error **err)
{
	char hex[HEX_SHA256];

	if (!call->arguments)
		hash_bytes("{}", 2, hex);
	else if (json_python_hash(call->arguments, HASHED_BYTES, hex, err) < 0)
		return -1;
	snprintf(call->request_hash, sizeof(call->request_hash), "sha256:%s", hex);
	return 0;
}

/* What a caller says is no word of ours, and may be payload: only what it hashes to is kept. */
static const char *workflow(const struct gateway_call *call, char out[PAYLOAD_HASH_BYTES])
{
	char hex[HEX_SHA256];

	if (!call->workflow)
		return NULL;
	hash_bytes(call->workflow, strlen(call->workflow), hex);
	snprintf(out, PAYLOAD_HASH_BYTES, "sha256:%s", hex);
	return out;
}

static const char *effective_class(const struct gateway_call *call)
{
	const struct gateway_config *config = call->gateway->config;
	const char *own = call->tool ? gateway_config_label(config, call->tool->sensitivity) : NULL;
	const char *declared = gateway_config_label(config, call->declared);

	if (!declared)
		return own;
	return !own || gateway_config_rank(config, declared) > gateway_config_rank(config, own) ? declared : own;
}

static void span(struct gateway *gateway, const struct audit_entry *entry, int64_t start)
{
	if (gateway->telemetry)
		telemetry_span(gateway->telemetry, entry, start, clock_realtime());
}

static int append(struct gateway *gateway, struct audit_entry *entry, int64_t start, struct error **err)
{
	if (gateway->audit && audit_store_append(gateway->audit, entry, err) < 0) {
		gateway->refusing = true;
		return -1;
	}
	span(gateway, entry, start);
	return 0;
}

static int commit(struct gateway *gateway, bool durable, struct error **err)
{
	if (!gateway->audit || audit_store_commit(gateway->audit, durable, err) == 0)
		return 0;
	gateway->refusing = true;
	return -1;
}

/* Of a session that was reset meanwhile nothing more is known, and its successor is none of the call's business. */
static const char *label_now(const struct gateway_call *call)
{
	const struct gateway_state *session = &call->gateway->session;

	return !call->entered || call->epoch == session->epoch ? session->label : call->label_at_entry;
}

static struct audit_entry of_call(const struct gateway_call *call, const char *type)
{
	return (struct audit_entry){
		.session_id = call->session_id,
		.call_id = call->id,
		.entry_type = type,
		/* A name that is not in the catalog is the caller's, and may be payload. */
		.tool_name = call->tool ? call->tool->tool : NULL,
		.server_identity = call->tool ? "" : NULL,
		.policy_decision = "n/a",
		.latency_us = -1,
		.request_payload_hash = call->request_hash[0] ? call->request_hash : NULL,
		.session_sensitivity_before = call->label_at_entry,
		.session_sensitivity_after = label_now(call),
		.evidence_class = "hash-only",
		.effective_data_class = effective_class(call),
	};
}

int record_session(struct gateway *gateway, const char *entry_type, struct error **err)
{
	struct audit_entry entry = {
		.session_id = gateway->session.id,
		.entry_type = entry_type,
		.policy_decision = "n/a",
		.latency_us = -1,
		.response_inspection_result = "n/a",
		.session_sensitivity_after = gateway->session.label,
		.evidence_class = "hash-only",
	};

	return append(gateway, &entry, clock_realtime(), err) < 0 ? -1 : commit(gateway, true, err);
}

int record_drift(struct gateway *gateway, const struct gateway_call *call, const struct gateway_tool *tool,
		 const char *kind, struct error **err)
{
	struct audit_entry entry = of_call(call, "catalog_drift");

	entry.tool_name = tool->tool;
	entry.detail = kind;
	entry.policy_decision = "fault";
	return append(gateway, &entry, call->started, err) < 0 ? -1 : commit(gateway, false, err);
}

int record_intent(struct gateway_call *call, struct error **err)
{
	char named[PAYLOAD_HASH_BYTES];
	struct audit_entry entry = of_call(call, "call_intent");

	entry.workflow_id = workflow(call, named);
	return append(call->gateway, &entry, call->started, err);
}

static const char *inspection(const struct gateway_call *call)
{
	if (call->rule == RULE_RESPONSE_SIZE)
		return "size_exceeded";
	if (call->rule == RULE_RESPONSE_SCAN)
		return "injection_detected";
	return call->answered && call->rule == RULE_ALLOW ? "clean" : NULL;
}

static int entry_of_outcome(struct gateway_call *call, struct error **err)
{
	static const char *const decisions[] = {
		[DECISION_ALLOW] = "allow",
		[DECISION_DENY] = "deny",
		[DECISION_FAULT] = "fault",
	};
	/* A label without a rank, once the upstream has answered, is that of answers. */
	bool withheld = call->rule == RULE_LABEL_UNKNOWN && call->answered;
	const struct gateway_outcome *outcome = gateway_outcome(withheld ? RULE_CEILING_RESPONSE : call->rule);
	char named[PAYLOAD_HASH_BYTES];
	struct audit_entry entry;

	if (!outcome->entry || (!call->gateway->audit && !call->gateway->telemetry))
		return 0;
	entry = of_call(call, outcome->entry);
	entry.workflow_id = workflow(call, named);
	entry.policy_decision = decisions[outcome->decision];
	entry.policy_rule_matched = outcome->matched;
	entry.response_inspection_result = inspection(call);
	if (outcome->decision == DECISION_FAULT)
		entry.detail = effect(call);
	if (call->rule == RULE_ALLOW && call->tool) {
		entry.latency_us = (clock_now() - call->start) / NS_PER_US;
		entry.response_payload_hash = call->response_hash;
		entry.evidence_class =
			call->gateway->config->servers[call->tool->server].url[0] ? "hash-only" : "spawn-measured";
	}
	if (append(call->gateway, &entry, call->started, err) < 0)
		return -1;
	memcpy(call->audit_hash, entry.entry_hash, sizeof(call->audit_hash));
	return commit(call->gateway, false, err);
}

void record_outcome(struct gateway_call *call)
{
	cleanup_error struct error *lost = NULL, *failed = NULL;
	const char *tool = call->tool ? call->tool->tool : NULL;

	if (!call->route->decided)
		return;
	if (entry_of_outcome(call, &lost) < 0)
		call->rule = RULE_AUDIT;
	if (call->gateway->decisions.fd >= 0 &&
	    decisions_append(&call->gateway->decisions, tool, call->rule, clock_now(), &failed) < 0)
		call->rule = RULE_INTERNAL;
}
