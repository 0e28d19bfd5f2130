#include "gateway/answer.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "core/hash.h"
#include "mcp/rpc.h"

#define ID_RANDOM_BYTES ((ANSWER_ID_BYTES - 1) / 2)
#define REFUSAL_BYTES KIB
#define META "_cmcp" /* what the gateway says of a call stands there; what an upstream says there does not pass */

int answer_new_id(char out[ANSWER_ID_BYTES], struct error **err)
{
	unsigned char random[ID_RANDOM_BYTES];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_errno(err, errno, "getrandom");
	hash_digits(random, sizeof(random), out);
	return 0;
}

static bool is_text(const struct json_node *part)
{
	const char *type = json_string(json_member(part, "type"));

	return type && strcmp(type, "text") == 0 && json_string(json_member(part, "text"));
}

void answer_text_hash(const struct json_node *result, char out[HEX_SHA256])
{
	struct json_span whole = json_raw(result);
	struct hash *hash = hash_new();
	bool any = false;

	out[0] = '\0';
	if (!hash)
		return;
	for (const struct json_node *part = json_first(json_member(result, "content")); part; part = json_next(part)) {
		const struct json_node *text = json_member(part, "text");

		if (!is_text(part))
			continue;
		if (any)
			hash_add(hash, "\n", 1);
		hash_add(hash, json_string(text), json_string_length(text));
		any = true;
	}
	if (!any)
		hash_add(hash, whole.bytes, whole.length);
	hash_end(hash, out);
}

void answer_begin(struct answer *answer, const struct json_node *result)
{
	answer->text = (struct buf)BUF(ANSWER_BYTES);
	json_begin(&answer->writer, &answer->text);
	json_object(&answer->writer);
	for (const struct json_node *member = json_first(result); member; member = json_next(member)) {
		struct json_span raw = json_raw(member);

		if (strcmp(json_key(member), META) == 0)
			continue;
		json_put_key(&answer->writer, json_key(member));
		json_put_raw(&answer->writer, raw.bytes, raw.length);
	}
}

void answer_wipe(struct answer *answer)
{
	buf_wipe(&answer->text);
}

void answer_allow(struct mcp_request *request, const struct answer_meta *meta, struct answer *answer)
{
	struct json_writer *writer = &answer->writer;

	json_put_key(writer, META);
	json_object(writer);
	json_member_string(writer, "call_id", meta->call_id);
	if (meta->audit_hash)
		json_member_string(writer, "audit_entry_hash", meta->audit_hash);
	json_member_bool(writer, "would_have_denied", false);
	json_member_int(writer, "latency_us", meta->latency_us);
	json_member_string(writer, "session_id", meta->session_id);
	if (meta->workflow_id)
		json_member_string(writer, "workflow_id", meta->workflow_id);
	json_object_end(writer);
	json_object_end(writer);
	if (answer->text.failed)
		answer_refuse(request, RULE_INTERNAL, meta->call_id);
	else
		mcp_request_result(request, rpc_span(&answer->text));
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
	mcp_request_status(request, outcome->status);
	mcp_request_error(request, RPC_SERVER_ERROR, outcome->message, data.failed ? RPC_NONE : rpc_span(&data));
}
