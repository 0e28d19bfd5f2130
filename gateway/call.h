/*
 * One call on its way, and the pieces that its way is made of. For the files of the pipeline, and for a program that
 * puts the steps together otherwise.
 */
#ifndef HARNESS_GATEWAY_CALL_H
#define HARNESS_GATEWAY_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "gateway/answer.h"
#include "gateway/pipeline.h"

enum step_result {
	STEP_NEXT,
	STEP_WAIT, /* asked again when something moved */
	STEP_END, /* call->rule says how */
};

struct gateway_step {
	const char *id;
	enum step_result (*run)(struct gateway_call *call);
};

/* A kind of request: its steps, and what follows when all passed (RULE_ALLOW) or one ended it. */
struct gateway_route {
	const struct gateway_step *steps; /* ended by .id = NULL */
	void (*finish)(struct gateway_call *call);
	bool decided; /* its outcome is recorded */
};

/* Of the entry that stands in the audit chain before the effect. */
enum intent { INTENT_NONE, INTENT_PENDING, INTENT_DURABLE };

#define PAYLOAD_HASH_BYTES (HEX_SHA256 + 7) /* with "sha256:" */

struct gateway_call {
	struct gateway *gateway;
	struct gateway_call *next;
	struct mcp_request *request;
	const struct gateway_route *route;
	const struct gateway_step *step;
	enum gateway_rule rule;
	char id[ANSWER_ID_BYTES];
	int64_t start; /* monotonic */
	int64_t started; /* wall clock */
	int64_t deadline;
	/* As the caller gave them; owned by the request. */
	const char *name;
	const struct json_node *arguments; /* NULL: none were given */
	const char *declared; /* class of the data, or NULL */
	const char *workflow; /* or NULL */
	struct json_span progress; /* the caller's token, or empty */
	const struct gateway_tool *tool; /* once it is found in the catalog */
	/* Of the session when the call came in. */
	bool entered;
	char session_id[ANSWER_ID_BYTES];
	uint64_t epoch;
	int session_at_entry;
	const char *label_at_entry;
	uint32_t tried; /* bit per upstream that this call started, or saw down */
	uint64_t life; /* of the upstream that was looked at */
	bool queued; /* it waited for its turn at the upstream */
	enum intent intent;
	bool sent, answered;
	int64_t sent_at; /* monotonic */
	unsigned notices; /* of progress */
	struct answer answer; /* of the upstream */
	size_t answer_bytes;
	const char *finding; /* of the scanner in the answer, or NULL */
	char request_hash[PAYLOAD_HASH_BYTES], response_hash[PAYLOAD_HASH_BYTES];
	char audit_hash[HEX_SHA256]; /* of the outcome's entry */
};

enum step_result gateway_end_by(struct gateway_call *call, enum gateway_rule rule);
/* The arguments as they go on: the bytes that they were written with. */
struct json_span gateway_arguments(const struct gateway_call *call);

/* ---- the steps of tools/call, in their order ---- */

enum step_result step_enter(struct gateway_call *call);
enum step_result step_execution(struct gateway_call *call);
enum step_result step_health(struct gateway_call *call);
enum step_result step_catalog(struct gateway_call *call);
enum step_result step_ceiling(struct gateway_call *call);
enum step_result step_discover(struct gateway_call *call);
enum step_result step_defined(struct gateway_call *call);
enum step_result step_allowed(struct gateway_call *call);
enum step_result step_arguments(struct gateway_call *call);
enum step_result step_budget(struct gateway_call *call);
enum step_result step_intent(struct gateway_call *call);
enum step_result step_dispatch(struct gateway_call *call);
enum step_result step_size(struct gateway_call *call);
enum step_result step_raise(struct gateway_call *call);
enum step_result step_scan(struct gateway_call *call);
enum step_result step_response(struct gateway_call *call);
/* and of tools/list */
enum step_result step_discover_all(struct gateway_call *call);

extern const struct gateway_step gateway_call_steps[], gateway_list_steps[];

/* ---- records ---- */

/* Each is durable, or at least committed, as the audit chain's header says. Negative: the call must not go on. */
/* Takes the hash of the arguments, for all entries of the call. ERROR_INPUT: they have no canonical form. */
int record_arguments(struct gateway_call *call, struct error **err) MUST_CHECK;
int record_session(struct gateway *gateway, const char *entry_type, struct error **err) MUST_CHECK;
int record_drift(struct gateway *gateway, const struct gateway_call *call, const struct gateway_tool *tool,
		 const char *kind, struct error **err) MUST_CHECK;
int record_intent(struct gateway_call *call, struct error **err) MUST_CHECK;
/* The decision's row and the chain's entry, before the answer leaves: a decision that cannot be recorded is not given,
 * and the call's rule says so. */
void record_outcome(struct gateway_call *call);

#endif
