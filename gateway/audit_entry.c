#include "gateway/audit_entry.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/json_python.h"

#define UUID_BYTES 16

enum field_kind {
	FIELD_ARRAY, /* text inside the struct */
	FIELD_TEXT,
	FIELD_NUMBER,
	FIELD_LATENCY, /* null below 0 */
	FIELD_VALUE, /* JSON */
};

/* The fields, in the order of their keys. */
static const struct field {
	const char *key; /* as it is written */
	enum field_kind kind;
	size_t offset;
} fields[];
static const size_t fields_count;

static void put_value(const char *json, struct buf *out)
{
	cleanup_error struct error *err = NULL;

	if (json_python(json, strlen(json), JSON_DEPTH, out, &err) < 0)
		out->failed = true;
}

static void put_text(const char *text, enum field_kind kind, struct buf *out)
{
	if (!text)
		(void)buf_text(out, "null");
	else if (kind == FIELD_VALUE)
		put_value(text, out);
	else
		json_python_string(text, strlen(text), out);
}

static void put_number(int64_t number, enum field_kind kind, struct buf *out)
{
	if (kind == FIELD_LATENCY && number < 0)
		(void)buf_text(out, "null");
	else
		(void)buf_printf(out, "%" PRId64, number);
}

static void put_field(const struct audit_entry *entry, const struct field *field, struct buf *out)
{
	const char *at = (const char *)entry + field->offset;
	const char *text;
	int64_t number;

	switch (field->kind) {
	case FIELD_ARRAY:
		put_text(at, field->kind, out);
		return;
	case FIELD_TEXT:
	case FIELD_VALUE:
		memcpy(&text, at, sizeof(text));
		put_text(text, field->kind, out);
		return;
	case FIELD_NUMBER:
	case FIELD_LATENCY:
		memcpy(&number, at, sizeof(number));
		put_number(number, field->kind, out);
		return;
	}
}

void audit_entry_write(const struct audit_entry *entry, bool with_hash, struct buf *out)
{
	for (size_t i = 0; i < fields_count; i++) {
		if (!with_hash && fields[i].offset == offsetof(struct audit_entry, entry_hash))
			continue;
		(void)buf_text(out, i == 0 ? "{" : ",");
		(void)buf_text(out, fields[i].key);
		put_field(entry, &fields[i], out);
	}
	(void)buf_text(out, "}");
}

static int check_written(const struct buf *out, struct error **err)
{
	if (out->failed && !out->no_memory)
		return error_set(err, ERROR_INPUT, "an audit entry that is too long, or has no JSON");
	return buf_check(out, "an audit entry", err);
}

int audit_entry_seal(struct audit_entry *entry, struct buf *out, struct error **err)
{
	size_t before = out->length;
	int status;

	audit_entry_write(entry, false, out);
	status = check_written(out, err);
	if (status)
		return status;
	hash_bytes(&out->data[before], out->length - before, entry->entry_hash);
	out->length = before;
	audit_entry_write(entry, true, out);
	return check_written(out, err);
}

int audit_new_id(char out[AUDIT_ID_BYTES], struct error **err)
{
	uint8_t bytes[UUID_BYTES];
	size_t at = 0;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return error_errno(err, errno, "getrandom");
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	for (size_t i = 0; i < UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[at++] = '-';
		hash_digits(&bytes[i], 1, &out[at]);
		at += 2;
	}
	return 0;
}

void audit_time(int64_t realtime, char out[AUDIT_TIME_BYTES])
{
	time_t seconds = (time_t)(realtime / NS_PER_S);
	unsigned micros = (unsigned)(realtime % NS_PER_S / 1000) % 1000000;
	char date[20] = "", fraction[8] = "";
	struct tm tm = { 0 };

	if (gmtime_r(&seconds, &tm))
		(void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	if (micros)
		snprintf(fraction, sizeof(fraction), ".%06u", micros);
	snprintf(out, AUDIT_TIME_BYTES, "%s%s+00:00", date, fraction);
}

#define FIELD(name, what)                                                                                              \
	{                                                                                                              \
		.key = "\"" #name "\":", .kind = (what), .offset = offsetof(struct audit_entry, name)                  \
	}
static const struct field fields[] = {
	FIELD(call_id, FIELD_TEXT),
	FIELD(detail, FIELD_VALUE),
	FIELD(effective_data_class, FIELD_TEXT),
	FIELD(entry_hash, FIELD_ARRAY),
	FIELD(entry_id, FIELD_ARRAY),
	FIELD(entry_type, FIELD_TEXT),
	FIELD(evidence_class, FIELD_TEXT),
	FIELD(execution_id, FIELD_TEXT),
	FIELD(external_execution_evidence, FIELD_VALUE),
	FIELD(latency_us, FIELD_LATENCY),
	FIELD(policy_decision, FIELD_TEXT),
	FIELD(policy_rule_matched, FIELD_TEXT),
	FIELD(prev_entry_hash, FIELD_ARRAY),
	FIELD(request_payload_hash, FIELD_TEXT),
	FIELD(response_inspection_result, FIELD_TEXT),
	FIELD(response_payload_hash, FIELD_TEXT),
	FIELD(sequence_number, FIELD_NUMBER),
	FIELD(server_identity, FIELD_TEXT),
	FIELD(session_id, FIELD_TEXT),
	FIELD(session_sensitivity_after, FIELD_TEXT),
	FIELD(session_sensitivity_before, FIELD_TEXT),
	FIELD(timestamp_utc, FIELD_ARRAY),
	FIELD(tool_name, FIELD_TEXT),
	FIELD(workflow_id, FIELD_TEXT),
};
static const size_t fields_count = ARRAY_SIZE(fields);
