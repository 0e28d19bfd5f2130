/*
 * What the gateway decides, as pure functions over labels, and every outcome that a call can have. Labels are public 0
 * < pii 1 < confidential 2 < hipaa_phi = mnpi = trade_secret 3; what is unknown or unlisted is denied.
 */
#ifndef HARNESS_GATEWAY_DECISION_H
#define HARNESS_GATEWAY_DECISION_H

#include <stdbool.h>

#define LABEL_UNKNOWN (-1)

/* As the decisions file holds them. */
enum gateway_decision {
	DECISION_ALLOW = 1,
	DECISION_DENY = 2,
	DECISION_FAULT = 3,
};

/* Which rule decided. The numbers stand in the decisions file: they are never used again for something else. */
enum gateway_rule {
	RULE_NONE = 0,
	RULE_ALLOW = 1,
	RULE_EXECUTION_ID = 2, /* a field that this gateway does not serve */
	RULE_CATALOG_MISS = 3, /* the tool is not in the catalog */
	RULE_TOOL_UNLISTED = 4, /* the tool has no ceiling */
	RULE_LABEL_UNKNOWN = 5, /* a label or a ceiling has no rank */
	RULE_CEILING_TOOL = 6, /* a label is above the tool's ceiling */
	RULE_CEILING_RESPONSE = 7, /* a label is above the ceiling of responses; the upstream was called */
	RULE_RESPONSE_SIZE = 8, /* the upstream answered more than may pass */
	RULE_CATALOG_DRIFT = 9, /* the upstream does not define the tool */
	RULE_UPSTREAM_MEASURE =
		10, /* the upstream's program is not the declared one, or cannot be read: never started */
	RULE_UPSTREAM_START = 11, /* it did not start */
	RULE_UPSTREAM_TIMEOUT = 12, /* no answer within the deadline; whether it took effect is unknown */
	RULE_UPSTREAM_LOST = 13, /* it went away or broke the protocol; likewise */
	RULE_UPSTREAM_ERROR = 14, /* it answered with an error */
	RULE_CALLER_GONE = 15, /* the caller closed before the upstream answered */
	RULE_INTERNAL = 16, /* this gateway could not go on: memory, or the decision could not be recorded */
	RULE_NOT_ALLOWED = 17, /* the operator's list of allowed tools lacks it */
	RULE_ARGUMENT = 18, /* an argument looks dangerous */
	RULE_BUDGET = 19, /* the session has made as many calls as it may */
	RULE_RESPONSE_SCAN = 20, /* the answer holds what may not pass; the upstream was called */
	RULE_AUDIT = 21, /* the audit chain takes no more entries */
	RULES_END,
};

/* One outcome: what is recorded, and what the caller is told. `message` and `error_code` are NULL for an allow. */
struct gateway_outcome {
	const char *id;
	enum gateway_decision decision;
	int status; /* of HTTP, for a caller without an MCP session */
	const char *entry; /* entry_type of the audit chain, or NULL: drift has entries of its own */
	const char *matched; /* its policy_rule_matched */
	const char *message;
	const char *error_code;
};

/* Never NULL: an unknown rule is RULE_INTERNAL. */
const struct gateway_outcome *gateway_outcome(enum gateway_rule rule);

/* The rank of a built-in label, or LABEL_UNKNOWN (also for NULL). */
int gateway_label_rank(const char *label);
/* The name of the built-in label as it is kept here for ever, or NULL. */
const char *gateway_label_name(const char *label);
/* The session after data of rank `label` came into it: it only rises. */
int gateway_session_raise(int session, int label);

enum gateway_sink {
	SINK_TOOL,
	SINK_RESPONSE,
};

/* Ranks, or LABEL_UNKNOWN. */
struct gateway_question {
	enum gateway_sink sink;
	int session_at_entry;
	int session; /* now */
	int catalog; /* the tool's own label */
	bool declared; /* the caller declared a class */
	int declaration;
	bool listed; /* the sink has a ceiling */
	int ceiling;
};

/* RULE_ALLOW, or the rule that denies. A question of zeros is denied. */
enum gateway_rule gateway_decide(const struct gateway_question *question);

#endif
