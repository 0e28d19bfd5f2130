#include "gateway/decision.h"

#include <stddef.h>
#include <string.h>

#define DENIED "Request denied by policy"
#define UNAVAILABLE "Upstream MCP server error"
#define INTERNAL "Internal error"

struct label {
	const char *name;
	int rank;
};

static const struct label labels[7];
static const struct gateway_outcome outcomes[RULES_END];

const struct gateway_outcome *gateway_outcome(enum gateway_rule rule)
{
	return &outcomes[rule > RULE_NONE && rule < RULES_END ? rule : RULE_INTERNAL];
}

/* The last row is of every other label. */
static const struct label *find(const char *label)
{
	const struct label *row = labels;

	while (row->name && (!label || strcmp(label, row->name) != 0))
		row++;
	return row;
}

int gateway_label_rank(const char *label)
{
	return find(label)->rank;
}

const char *gateway_label_name(const char *label)
{
	return find(label)->name;
}

int gateway_session_raise(int session, int label)
{
	/* An unknown session stays so: nothing passes it. */
	return session == LABEL_UNKNOWN || session > label ? session : label;
}

enum gateway_rule gateway_decide(const struct gateway_question *question)
{
	const int ranks[] = { question->session_at_entry, question->session, question->catalog,
			      question->declared ? question->declaration : question->catalog };
	enum gateway_rule verdict = RULE_ALLOW;

	if (!question->listed)
		return RULE_TOOL_UNLISTED;
	if (question->ceiling == LABEL_UNKNOWN)
		return RULE_LABEL_UNKNOWN;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		if (ranks[i] == LABEL_UNKNOWN)
			return RULE_LABEL_UNKNOWN;
		if (ranks[i] > question->ceiling)
			verdict = question->sink == SINK_TOOL ? RULE_CEILING_TOOL : RULE_CEILING_RESPONSE;
	}
	return verdict;
}

static const struct label labels[] = {
	{ .name = "public", .rank = 0 },         { .name = "pii", .rank = 1 },  { .name = "confidential", .rank = 2 },
	{ .name = "hipaa_phi", .rank = 3 },      { .name = "mnpi", .rank = 3 }, { .name = "trade_secret", .rank = 3 },
	{ .name = NULL, .rank = LABEL_UNKNOWN },
};

#define OUTCOME(word, kind, http, type, rule, text, code)                                                              \
	{                                                                                                              \
		.id = (word), .decision = DECISION_##kind, .status = (http), .entry = (type), .matched = (rule),       \
		.message = (text), .error_code = (code)                                                                \
	}

static const struct gateway_outcome outcomes[RULES_END] = {
	[RULE_ALLOW] = OUTCOME("allow", ALLOW, 200, "tool_call", "allowed", NULL, NULL),
	[RULE_EXECUTION_ID] =
		OUTCOME("execution-id", DENY, 403, "tool_call", "execution:unavailable", DENIED, "POLICY_DENY"),
	[RULE_CATALOG_MISS] =
		OUTCOME("catalog-miss", DENY, 403, "tool_call", "catalog_miss", DENIED, "TOOL_NOT_IN_CATALOG"),
	[RULE_TOOL_UNLISTED] =
		OUTCOME("tool-unlisted", DENY, 403, "tool_call", "sink_policy:tool_denied", DENIED, "POLICY_DENY"),
	[RULE_LABEL_UNKNOWN] =
		OUTCOME("label-unknown", DENY, 403, "tool_call", "sink_policy:tool_denied", DENIED, "POLICY_DENY"),
	[RULE_CEILING_TOOL] =
		OUTCOME("ceiling-tool", DENY, 403, "tool_call", "sink_policy:tool_denied", DENIED, "POLICY_DENY"),
	[RULE_CEILING_RESPONSE] = OUTCOME("ceiling-response", DENY, 403, "egress_denied", "sink_policy:response_denied",
					  DENIED, "POLICY_DENY"),
	[RULE_RESPONSE_SIZE] =
		OUTCOME("response-size", DENY, 403, "tool_call", "response_size_exceeded", DENIED, "POLICY_DENY"),
	[RULE_CATALOG_DRIFT] = OUTCOME("catalog-drift", FAULT, 503, NULL, NULL, "catalog_drift", "CATALOG_DRIFT"),
	[RULE_UPSTREAM_MEASURE] =
		OUTCOME("upstream-measure", FAULT, 500, "fault", "unexpected:measure", INTERNAL, "TEE_FAULT"),
	[RULE_UPSTREAM_START] =
		OUTCOME("upstream-start", FAULT, 500, "fault", "unexpected:start", INTERNAL, "TEE_FAULT"),
	[RULE_UPSTREAM_TIMEOUT] = OUTCOME("upstream-timeout", FAULT, 502, "fault", "upstream:UPSTREAM_UNAVAILABLE",
					  UNAVAILABLE, "UPSTREAM_UNAVAILABLE"),
	[RULE_UPSTREAM_LOST] = OUTCOME("upstream-lost", FAULT, 502, "fault", "upstream:UPSTREAM_UNAVAILABLE",
				       UNAVAILABLE, "UPSTREAM_UNAVAILABLE"),
	[RULE_UPSTREAM_ERROR] = OUTCOME("upstream-error", FAULT, 502, "fault", "upstream:UPSTREAM_TOOL_ERROR",
					UNAVAILABLE, "UPSTREAM_TOOL_ERROR"),
	[RULE_CALLER_GONE] = OUTCOME("caller-gone", FAULT, 500, "fault", "caller_gone", INTERNAL, "TEE_FAULT"),
	[RULE_INTERNAL] = OUTCOME("internal", FAULT, 500, "fault", "unexpected:internal", INTERNAL, "TEE_FAULT"),
	[RULE_NOT_ALLOWED] = OUTCOME("not-allowed", DENY, 403, "tool_call", "allow_list", DENIED, "POLICY_DENY"),
	[RULE_ARGUMENT] = OUTCOME("argument", DENY, 403, "tool_call", "argument_scan", DENIED, "POLICY_DENY"),
	[RULE_BUDGET] = OUTCOME("budget", DENY, 403, "tool_call", "call_budget", DENIED, "POLICY_DENY"),
	[RULE_RESPONSE_SCAN] = OUTCOME("response-scan", DENY, 403, "tool_call", "response_scan", DENIED, "POLICY_DENY"),
	[RULE_AUDIT] = OUTCOME("audit", FAULT, 500, "fault", "unexpected:audit", INTERNAL, "TEE_FAULT"),
};
