#include "gateway/span_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"

#define KIND_INTERNAL 1
#define STATUS_ERROR 2
#define ID_DIGITS (2 * SPAN_TRACE_BYTES + 1)
#define NAME_BYTES 64
#define TIME_BYTES 24

static const char *const error_decisions[];

static void member_hex(struct json_writer *json, const char *key, const unsigned char *bytes, size_t length)
{
	char text[ID_DIGITS] = "";

	for (size_t i = 0; i < length; i++)
		snprintf(text + 2 * i, sizeof(text) - 2 * i, "%02x", bytes[i]);
	json_member_string(json, key, text);
}

/* 64-bit numbers are strings in OTLP/JSON. */
static void member_number(struct json_writer *json, const char *key, int64_t number)
{
	char text[TIME_BYTES];

	snprintf(text, sizeof(text), "%" PRId64, number);
	json_member_string(json, key, text);
}

static void put_name(struct json_writer *json, const struct span_value *type)
{
	char name[sizeof("cmcp.") + SPAN_TEXT_BYTES];

	memcpy(name, "cmcp.", sizeof("cmcp.") - 1);
	memcpy(name + sizeof("cmcp.") - 1, type->text, type->length);
	json_put_key(json, "name");
	json_put_bytes(json, name, sizeof("cmcp.") - 1 + type->length);
}

static void put_attribute(struct json_writer *json, const struct span_field *field, const struct span_value *value)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "cmcp.%s", field->name);
	json_object(json);
	json_member_string(json, "key", name);
	json_put_key(json, "value");
	json_object(json);
	if (field->number) {
		member_number(json, "intValue", value->number);
	} else {
		json_put_key(json, "stringValue");
		json_put_bytes(json, value->text, value->length);
	}
	json_object_end(json);
	json_object_end(json);
}

static bool is_error(const struct span_value *decision)
{
	for (const char *const *word = error_decisions; decision->present && *word; word++)
		if (strlen(*word) == decision->length && memcmp(*word, decision->text, decision->length) == 0)
			return true;
	return false;
}

void span_json_write(const struct span_record *record, const unsigned char trace[SPAN_TRACE_BYTES],
		     const unsigned char id[SPAN_ID_BYTES], struct buf *out)
{
	struct json_writer json;

	json_begin(&json, out);
	json_object(&json);
	member_hex(&json, "traceId", trace, SPAN_TRACE_BYTES);
	member_hex(&json, "spanId", id, SPAN_ID_BYTES);
	put_name(&json, &record->values[SPAN_ENTRY_TYPE]);
	json_member_int(&json, "kind", KIND_INTERNAL);
	member_number(&json, "startTimeUnixNano", record->start);
	member_number(&json, "endTimeUnixNano", record->end);
	json_put_key(&json, "attributes");
	json_array(&json);
	for (size_t i = 0; i < SPAN_FIELDS; i++)
		if (record->values[i].present)
			put_attribute(&json, &span_fields[i], &record->values[i]);
	json_array_end(&json);
	json_put_key(&json, "status");
	json_object(&json);
	if (is_error(&record->values[SPAN_POLICY_DECISION]))
		json_member_int(&json, "code", STATUS_ERROR);
	json_object_end(&json);
	json_object_end(&json);
}

void span_json_request(const char *service, const struct buf *spans, struct buf *out)
{
	cleanup_buf struct buf name = BUF(8 * KIB);
	struct json_writer json;

	json_begin(&json, &name);
	json_put_string(&json, service);
	if (name.failed)
		out->failed = true;
	buf_printf(out,
		   "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":"
		   "{\"stringValue\":%s}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"harness-gateway\"},\"spans\":[",
		   buf_string(&name));
	buf_add(out, buf_string(spans), spans->length);
	buf_text(out, "]}]}]}");
}

uint64_t span_json_rejected(const char *answer, size_t length)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *unread = NULL;
	const struct json_node *count;
	const char *text;
	int64_t number = 0;

	if (json_parse(answer, length, JSON_DEPTH, &document, &unread) < 0)
		return 0;
	count = json_member(json_member(json_root(document), "partialSuccess"), "rejectedSpans");
	text = json_string(count);
	if (text)
		number = strtoll(text, NULL, 10);
	else
		(void)json_int64(count, &number);
	return number > 0 ? (uint64_t)number : 0;
}

static const char *const error_decisions[] = { "deny", "advisory_deny", "fault", NULL };
