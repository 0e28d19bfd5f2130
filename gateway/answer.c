#include "gateway/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/limits.h"

#define ID_RANDOM_BYTES ((ANSWER_ID_BYTES - 1) / 2)
#define REFUSAL_BYTES KIB
/* A byte of text is at most six as JSON (\u00XX). */
#define ALLOW_BYTES (6 * GATEWAY_RESPONSE_BYTES + KIB)

int answer_new_id(char out[ANSWER_ID_BYTES], struct error **err)
{
	unsigned char random[ID_RANDOM_BYTES];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_errno(err, errno, "getrandom");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(out + 2 * i, 3, "%02x", random[i]);
	return 0;
}

static bool is_text(const struct json_node *part)
{
	const char *type = json_string(json_member(part, "type"));

	return type && strcmp(type, "text") == 0 && json_string(json_member(part, "text"));
}

void answer_text(const struct json_node *result, struct buf *out)
{
	struct json_span whole = json_raw(result);
	bool any = false;

	for (const struct json_node *part = json_first(json_member(result, "content")); part; part = json_next(part)) {
		const struct json_node *text = json_member(part, "text");

		if (!is_text(part))
			continue;
		if (any)
			buf_text(out, "\n");
		buf_add(out, json_string(text), json_string_length(text));
		any = true;
	}
	if (!any)
		buf_add(out, whole.bytes, whole.length);
}

void answer_allow(struct mcp_request *request, const struct answer_meta *meta, const struct buf *text)
{
	struct buf result = BUF(ALLOW_BYTES);
	struct json_writer writer;

	json_begin(&writer, &result);
	json_object(&writer);
	json_put_key(&writer, "content");
	json_array(&writer);
	json_object(&writer);
	json_member_string(&writer, "type", "text");
	json_put_key(&writer, "text");
	json_put_bytes(&writer, buf_string(text), text->length);
	json_object_end(&writer);
	json_array_end(&writer);
	json_put_key(&writer, "_cmcp");
	json_object(&writer);
	json_member_string(&writer, "call_id", meta->call_id);
	json_member_bool(&writer, "would_have_denied", false);
	json_member_int(&writer, "latency_us", meta->latency_us);
	json_member_string(&writer, "session_id", meta->session_id);
	json_object_end(&writer);
	json_object_end(&writer);
	if (result.failed)
		answer_refuse(request, RULE_INTERNAL, meta->call_id);
	else
		mcp_request_result(request, rpc_span(&result));
	buf_wipe(&result);
}

void answer_refuse(struct mcp_request *request, enum gateway_rule rule, const char *call_id)
{
	const struct gateway_outcome *outcome = gateway_outcome(rule);
	cleanup_buf struct buf data = BUF(REFUSAL_BYTES);
	struct json_writer writer;

	json_begin(&writer, &data);
	json_object(&writer);
	json_member_string(&writer, "error_code", outcome->error_code);
	json_member_string(&writer, "call_id", call_id);
	json_object_end(&writer);
	mcp_request_error(request, RPC_SERVER_ERROR, outcome->message, data.failed ? RPC_NONE : rpc_span(&data));
}
