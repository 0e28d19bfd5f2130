#include "observers/engine_inspect.h"

#include "core/json.h"
#include "core/limits.h"

static int take(void *context, const void *bytes, size_t length, struct error **err)
{
	struct engine_inspect *inspect = context;

	(void)err;
	/* A document that does not fit will not parse. */
	(void)buf_add(&inspect->document, bytes, length);
	return 0;
}

void engine_inspect_init(struct engine_inspect *inspect)
{
	*inspect = (struct engine_inspect){
		.stream = STREAM(ENGINE_ANSWER_BYTES, take),
		.document = BUF(ENGINE_ANSWER_BYTES),
	};
	inspect->stream.context = inspect;
}

void engine_inspect_parse(struct engine_inspect *inspect)
{
	cleanup_error struct error *broken = NULL;
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root;

	if (!inspect->stream.ended || inspect->parsed || inspect->document.failed ||
	    json_parse(buf_string(&inspect->document), inspect->document.length, JSON_ENGINE_DEPTH, &document,
		       &broken) < 0)
		return;
	root = json_root(document);
	inspect->exited = json_int64(json_member(json_member(root, "State"), "ExitCode"), &inspect->exit_code);
	inspect->parsed = json_string_length(json_member(root, "Id")) == CONTAINER_ID_MAX - 1 &&
			  json_member(root, "State") &&
			  json_int64(json_member(root, "RestartCount"), &inspect->restarts) && inspect->restarts >= 0;
}

enum wire_reason engine_inspect_restarts(const struct engine_inspect *inspect, int64_t *value)
{
	enum wire_reason reason = stream_reason(&inspect->stream);

	*value = inspect->restarts;
	if (reason != WIRE_REASON_NONE)
		return reason;
	return inspect->parsed ? WIRE_REASON_NONE : WIRE_REASON_INPUT_INVALID;
}

enum wire_reason engine_inspect_exit_code(const struct engine_inspect *inspect, int64_t *value)
{
	enum wire_reason reason = engine_inspect_restarts(inspect, value);

	*value = inspect->exit_code;
	return reason == WIRE_REASON_NONE && !inspect->exited ? WIRE_REASON_INPUT_INVALID : reason;
}

void engine_inspect_free(struct engine_inspect *inspect)
{
	stream_close(&inspect->stream);
	buf_free(&inspect->document);
}
