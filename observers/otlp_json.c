#include <stdbool.h>
#include <string.h>

#include "core/json.h"
#include "core/limits.h"
#include "observers/otlp.h"

#define STATUS_ERROR 2
#define STATUS_ERROR_NAME "STATUS_CODE_ERROR"

/* proto3 writes an empty list as nothing, or null. */
static bool read_list(const struct json_node *object, const char *key,
		      bool (*take)(const struct json_node *, struct otlp_counts *), struct otlp_counts *out)
{
	const struct json_node *list = json_member(object, key);

	if (json_type(object) != JSON_OBJECT)
		return false;
	if (json_is_null(list))
		return true;
	if (json_type(list) != JSON_ARRAY)
		return false;
	for (const struct json_node *node = json_first(list); node; node = json_next(node))
		if (!take(node, out))
			return false;
	return true;
}

static bool read_span(const struct json_node *span, struct otlp_counts *out)
{
	const struct json_node *name = json_member(span, "name"), *status = json_member(span, "status"), *code;
	int64_t number = 0;

	if (json_type(span) != JSON_OBJECT || (!json_is_null(name) && !json_string(name)) ||
	    (!json_is_null(status) && json_type(status) != JSON_OBJECT))
		return false;
	code = json_member(status, "code");
	if (!json_is_null(code) && !json_string(code) && !json_int64(code, &number))
		return false;
	out->spans++;
	out->errors += number == STATUS_ERROR || json_text_is(code, STATUS_ERROR_NAME);
	return true;
}

static bool read_scope_spans(const struct json_node *node, struct otlp_counts *out)
{
	return read_list(node, "spans", read_span, out);
}

static bool read_resource_spans(const struct json_node *node, struct otlp_counts *out)
{
	return read_list(node, "scopeSpans", read_scope_spans, out);
}

/* As deep as the scanner lets a document be. */
static void tell_texts(const struct json_node *node, otlp_text text, void *context)
{
	if (json_key(node))
		text(context, json_key(node), strlen(json_key(node)));
	if (json_string(node))
		text(context, json_string(node), json_string_length(node));
	for (const struct json_node *child = json_first(node); child; child = json_next(child))
		tell_texts(child, text, context);
}

int otlp_read_json(const char *bytes, size_t length, otlp_text text, void *context, struct otlp_counts *out,
		   struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	int r = json_parse(bytes, length, JSON_ENGINE_DEPTH, &document, err);

	*out = (struct otlp_counts){ 0 };
	if (r < 0)
		return r;
	if (text)
		tell_texts(json_root(document), text, context);
	if (read_list(json_root(document), "resourceSpans", read_resource_spans, out))
		return 0;
	*out = (struct otlp_counts){ 0 };
	return error_set(err, ERROR_INPUT, "the JSON document is no export of spans");
}
