/*
 * The shapes of the gateway's answers. A refusal holds a fixed text, a code and the call's id: neither the reason nor a
 * byte of the call.
 */
#ifndef HARNESS_GATEWAY_ANSWER_H
#define HARNESS_GATEWAY_ANSWER_H

#include <stdint.h>

#include "core/error.h"
#include "core/json.h"
#include "gateway/decision.h"
#include "mcp/server.h"

#define ANSWER_ID_BYTES 33 /* 32 hexadecimal digits and a NUL: 128 random bits */

int answer_new_id(char out[ANSWER_ID_BYTES], struct error **err) MUST_CHECK;

/* The text of an upstream's tools/call result: its text parts joined by newlines, or the whole result as written.
 * Appended to `out`, whose sticky failure tells that it is too long. */
void answer_text(const struct json_node *result, struct buf *out);

struct answer_meta {
	const char *call_id;
	const char *session_id;
	int64_t latency_us;
};

/* Each answers and frees the request. */
void answer_allow(struct mcp_request *request, const struct answer_meta *meta, const struct buf *text);
void answer_refuse(struct mcp_request *request, enum gateway_rule rule, const char *call_id);

#endif
