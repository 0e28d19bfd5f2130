/* The document: parsing, looking up, freeing. cJSON is asked only to decode strings that hold an escape. */
#include "core/json.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/json_node.h"

#define DOCUMENT_MAX ((size_t)INT32_MAX)

int json_decode_escaped(const char *quoted, size_t length, char *out, size_t *out_length, struct error **err)
{
	cJSON *item = cJSON_ParseWithLength(quoted, length);
	char *value = cJSON_GetStringValue(item);
	size_t decoded = value ? strlen(value) : 0;
	int result = 0;

	if (!value)
		result = error_set(err, ERROR_MEMORY, "JSON: no memory for a string");
	else if (decoded > length - 2)
		result = error_set(err, ERROR_INTERNAL, "JSON: a string grew when it was decoded");
	if (!result) {
		memcpy(out, value, decoded);
		*out_length = decoded;
	}
	if (value)
		explicit_bzero(value, decoded);
	cJSON_Delete(item);
	return result;
}

int json_parse(const char *bytes, size_t length, size_t max_depth, struct json_document **out, struct error **err)
{
	cleanup_json struct json_document *document = calloc(1, sizeof(*document));
	int result;

	if (length > DOCUMENT_MAX)
		return error_set(err, ERROR_LIMIT, "JSON: a document of %zu bytes", length);
	if (!document)
		return error_set(err, ERROR_MEMORY, "JSON: no memory for a document");
	document->text = malloc(length + 1);
	document->strings = malloc(length + 1);
	if (!document->text || !document->strings)
		return error_set(err, ERROR_MEMORY, "JSON: no memory for %zu bytes", length);
	if (length)
		memcpy(document->text, bytes, length);
	document->text[length] = '\0';
	document->length = length;
	result = json_scan(document, max_depth, err);
	if (result < 0)
		return result;
	*out = steal_pointer(&document);
	return 0;
}

void json_free(struct json_document *document)
{
	if (!document)
		return;
	if (document->text)
		explicit_bzero(document->text, document->length);
	if (document->strings)
		explicit_bzero(document->strings, document->length);
	free(document->text);
	free(document->strings);
	free(document->nodes);
	free(document);
}

const struct json_node *json_root(const struct json_document *document)
{
	return document ? document->nodes : NULL;
}

enum json_type json_type(const struct json_node *node)
{
	return node ? node->type : JSON_NULL;
}

static bool is_container(const struct json_node *node)
{
	return node && (node->type == JSON_ARRAY || node->type == JSON_OBJECT);
}

size_t json_count(const struct json_node *node)
{
	return is_container(node) ? node->size : 0;
}

const struct json_node *json_first(const struct json_node *node)
{
	return json_count(node) ? node + 1 : NULL;
}

const struct json_node *json_next(const struct json_node *node)
{
	return node && node->next ? node + node->next : NULL;
}

const struct json_node *json_member(const struct json_node *object, const char *key)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (const struct json_node *member = json_first(object); member; member = json_next(member)) {
		if (strcmp(member->key, key) == 0)
			return member;
	}
	return NULL;
}

const char *json_key(const struct json_node *node)
{
	return node ? node->key : NULL;
}

const char *json_string(const struct json_node *node)
{
	return node && node->type == JSON_STRING ? node->string : NULL;
}

size_t json_string_length(const struct json_node *node)
{
	return node && node->type == JSON_STRING ? node->size : 0;
}

bool json_int64(const struct json_node *node, int64_t *out)
{
	int64_t value = 0;
	bool negative;

	if (!node || node->type != JSON_NUMBER)
		return false;
	negative = node->bytes[0] == '-';
	for (uint32_t i = negative; i < node->length; i++) {
		int digit = node->bytes[i] - '0';

		if (digit < 0 || digit > 9)
			return false;
		/* Downwards, since INT64_MIN has no positive twin. */
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
			return false;
	}
	if (negative ? value == 0 : value == INT64_MIN)
		return false;
	*out = negative ? value : -value;
	return true;
}

bool json_bool(const struct json_node *node, bool *out)
{
	if (!node || node->type != JSON_BOOL)
		return false;
	*out = node->bytes[0] == 't';
	return true;
}

bool json_text_is(const struct json_node *node, const char *text)
{
	const char *found = json_string(node);

	return found && text && strcmp(found, text) == 0;
}

bool json_is_null(const struct json_node *node)
{
	return !node || node->type == JSON_NULL;
}

struct json_span json_raw(const struct json_node *node)
{
	return node ? (struct json_span){ node->bytes, node->length } : (struct json_span){ "", 0 };
}
