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

int gateway_label_rank(const char *label)
{
	for (const struct label *row = labels; label && row->name; row++)
		if (strcmp(label, row->name) == 0)
			return row->rank;
	return LABEL_UNKNOWN;
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

static const struct gateway_outcome outcomes[RULES_END] = {
	[RULE_ALLOW] = { .id = "allow", .decision = DECISION_ALLOW },
	[RULE_EXECUTION_ID] = { .id = "execution-id",
				.decision = DECISION_DENY,
				.message = DENIED,
				.error_code = "POLICY_DENY" },
	[RULE_CATALOG_MISS] = { .id = "catalog-miss",
				.decision = DECISION_DENY,
				.message = DENIED,
				.error_code = "TOOL_NOT_IN_CATALOG" },
	[RULE_TOOL_UNLISTED] = { .id = "tool-unlisted",
				 .decision = DECISION_DENY,
				 .message = DENIED,
				 .error_code = "POLICY_DENY" },
	[RULE_LABEL_UNKNOWN] = { .id = "label-unknown",
				 .decision = DECISION_DENY,
				 .message = DENIED,
				 .error_code = "POLICY_DENY" },
	[RULE_CEILING_TOOL] = { .id = "ceiling-tool",
				.decision = DECISION_DENY,
				.message = DENIED,
				.error_code = "POLICY_DENY" },
	[RULE_CEILING_RESPONSE] = { .id = "ceiling-response",
				    .decision = DECISION_DENY,
				    .message = DENIED,
				    .error_code = "POLICY_DENY" },
	[RULE_RESPONSE_SIZE] = { .id = "response-size",
				 .decision = DECISION_DENY,
				 .message = DENIED,
				 .error_code = "POLICY_DENY" },
	[RULE_CATALOG_DRIFT] = { .id = "catalog-drift",
				 .decision = DECISION_FAULT,
				 .message = "catalog_drift",
				 .error_code = "CATALOG_DRIFT" },
	[RULE_UPSTREAM_MEASURE] = { .id = "upstream-measure",
				    .decision = DECISION_FAULT,
				    .message = INTERNAL,
				    .error_code = "TEE_FAULT" },
	[RULE_UPSTREAM_START] = { .id = "upstream-start",
				  .decision = DECISION_FAULT,
				  .message = INTERNAL,
				  .error_code = "TEE_FAULT" },
	[RULE_UPSTREAM_TIMEOUT] = { .id = "upstream-timeout",
				    .decision = DECISION_FAULT,
				    .message = UNAVAILABLE,
				    .error_code = "UPSTREAM_UNAVAILABLE" },
	[RULE_UPSTREAM_LOST] = { .id = "upstream-lost",
				 .decision = DECISION_FAULT,
				 .message = UNAVAILABLE,
				 .error_code = "UPSTREAM_UNAVAILABLE" },
	[RULE_UPSTREAM_ERROR] = { .id = "upstream-error",
				  .decision = DECISION_FAULT,
				  .message = UNAVAILABLE,
				  .error_code = "UPSTREAM_TOOL_ERROR" },
	[RULE_CALLER_GONE] = { .id = "caller-gone",
			       .decision = DECISION_FAULT,
			       .message = INTERNAL,
			       .error_code = "TEE_FAULT" },
	[RULE_INTERNAL] = { .id = "internal",
			    .decision = DECISION_FAULT,
			    .message = INTERNAL,
			    .error_code = "TEE_FAULT" },
};
