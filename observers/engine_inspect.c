#include "observers/engine_inspect.h"

#include "core/limits.h"

void engine_inspect_init(struct engine_inspect *inspect)
{
	*inspect = (struct engine_inspect){ .parsed = false };
	document_init(&inspect->document);
}

void engine_inspect_parse(struct engine_inspect *inspect)
{
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root;

	if (inspect->parsed || !document_parse(&inspect->document, &document))
		return;
	root = json_root(document);
	inspect->exited = json_int64(json_member(json_member(root, "State"), "ExitCode"), &inspect->exit_code);
	inspect->parsed = json_string_length(json_member(root, "Id")) == CONTAINER_ID_MAX - 1 &&
			  json_member(root, "State") &&
			  json_int64(json_member(root, "RestartCount"), &inspect->restarts) && inspect->restarts >= 0;
}

enum wire_reason engine_inspect_restarts(const struct engine_inspect *inspect, int64_t *value)
{
	enum wire_reason reason = stream_reason(&inspect->document.stream);

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
	document_close(&inspect->document);
}
