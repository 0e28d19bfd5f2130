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
#define MEMBER_BYTES 128 /* of a hash */

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

static void put_member(const struct audit_entry *entry, size_t field, struct buf *out)
{
	(void)buf_text(out, field == 0 ? "{" : ",");
	(void)buf_text(out, fields[field].key);
	put_field(entry, &fields[field], out);
}

static bool is_hash(size_t field)
{
	return fields[field].offset == offsetof(struct audit_entry, entry_hash);
}

size_t audit_entry_write(const struct audit_entry *entry, struct buf *out)
{
	size_t at = out->length;

	for (size_t i = 0; i < fields_count; i++) {
		if (is_hash(i))
			at = out->length;
		else
			put_member(entry, i, out);
	}
	(void)buf_text(out, "}");
	return at;
}

static int check_written(const struct buf *out, struct error **err)
{
	if (out->failed && !out->no_memory)
		return error_set(err, ERROR_INPUT, "an audit entry that is too long, or has no JSON");
	return buf_check(out, "an audit entry", err);
}

static int insert_hash(const struct audit_entry *entry, size_t at, struct buf *out, struct error **err)
{
	cleanup_buf struct buf member = BUF(MEMBER_BYTES);
	size_t field = 0;

	while (!is_hash(field))
		field++;
	put_member(entry, field, &member);
	if (buf_check(&member, "an audit entry", err) < 0)
		return -1;
	if (buf_reserve(out, member.length)) {
		memmove(&out->data[at + member.length], &out->data[at], out->length - at);
		memcpy(&out->data[at], member.data, member.length);
		buf_commit(out, member.length);
	}
	return check_written(out, err);
}

int audit_entry_seal(struct audit_entry *entry, struct buf *out, struct error **err)
{
	size_t before = out->length, at = audit_entry_write(entry, out);
	int status = check_written(out, err);

	if (status)
		return status;
	hash_bytes(&out->data[before], out->length - before, entry->entry_hash);
	return insert_hash(entry, at, out, err);
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
