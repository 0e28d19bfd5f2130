/*
 * The shapes of the gateway's answers. A refusal holds a fixed text, a code and the call's id: neither the reason nor a
 * byte of the call.
 */
#ifndef HARNESS_GATEWAY_ANSWER_H
#define HARNESS_GATEWAY_ANSWER_H

#include <stdint.h>

#include "core/error.h"
#include "core/json.h"
#include "core/limits.h"
#include "gateway/decision.h"
#include "mcp/request.h"

#define ANSWER_ID_BYTES 33 /* 32 hexadecimal digits and a NUL: 128 random bits */

int answer_new_id(char out[ANSWER_ID_BYTES], struct error **err) MUST_CHECK;

/* SHA-256 over the text of an upstream's tools/call result: its text parts joined by newlines, or the whole result as
 * written where there are none. */
void answer_text_hash(const struct json_node *result, char out[HEX_SHA256]);

/* The answer to be: the upstream's members as they were written, but for what the gateway itself says there. */
struct answer {
	struct buf text;
	struct json_writer writer;
};
#define ANSWER_BYTES (MCP_LINE_BYTES + 4 * KIB)

void answer_begin(struct answer *answer, const struct json_node *result);
void answer_wipe(struct answer *answer);

struct answer_meta {
	const char *call_id;
	const char *session_id;
	const char *audit_hash; /* of the call's entry, or NULL: there is no chain */
	const char *workflow_id; /* as the caller gave it, or NULL */
	int64_t latency_us;
};

/* Each answers and frees the request. */
void answer_allow(struct mcp_request *request, const struct answer_meta *meta, struct answer *answer);
void answer_refuse(struct mcp_request *request, enum gateway_rule rule, const char *call_id);

#endif
