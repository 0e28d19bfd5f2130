#include "gateway/span_record.h"

#include <endian.h>
#include <string.h>

#include "core/utf8.h"

#define MAGIC "SPN1"
#define MAGIC_BYTES 4
#define TIMES_BYTES 17 /* start, end, count */
#define FIELD_BYTES 3 /* place, length */
#define NUMBER_BYTES 8

_Static_assert(SPAN_HEAD_BYTES == MAGIC_BYTES + sizeof(uint32_t), "magic and length");

static bool is_text(const char *text, size_t length)
{
	for (size_t at = 0; at < length;) {
		size_t step = text[at] ? utf8_sequence(text + at, length - at) : 0;

		if (!step)
			return false;
		at += step;
	}
	return true;
}

/* ---- writing ---- */

static void put_number(struct buf *out, int64_t number)
{
	const uint64_t value = htole64((uint64_t)number);

	buf_add(out, &value, sizeof(value));
}

static void put_field(struct buf *out, size_t place, const void *bytes, size_t length)
{
	const unsigned char head[FIELD_BYTES] = { (unsigned char)place, (unsigned char)length,
						  (unsigned char)(length >> 8) };

	buf_add(out, head, sizeof(head));
	buf_add(out, bytes, length);
}

/* The field of an entry, or one that is not present. */
static struct span_value value_of(const struct audit_entry *entry, const struct span_field *field)
{
	const char *at = (const char *)entry + field->offset;
	struct span_value value = { 0 };

	if (field->number) {
		memcpy(&value.number, at, sizeof(value.number));
		value.present = value.number >= 0;
	} else if (field->inside) {
		value.text = at;
		value.present = at[0] != '\0';
	} else {
		memcpy(&value.text, at, sizeof(value.text));
		value.present = value.text != NULL;
	}
	if (value.text)
		value.length = strlen(value.text);
	return value;
}

/* Where the count of the fields stands in a body. */
#define COUNT_AT (TIMES_BYTES - 1)

static bool put_body(const struct audit_entry *entry, int64_t start, int64_t end, struct buf *body)
{
	char count = 0;

	put_number(body, start);
	put_number(body, end);
	buf_add(body, &count, 1);
	for (size_t i = 0; i < SPAN_FIELDS; i++) {
		const struct span_value value = value_of(entry, &span_fields[i]);
		const uint64_t number = htole64((uint64_t)value.number);

		if (!value.present)
			continue;
		if (value.length > SPAN_TEXT_BYTES || (value.text && !is_text(value.text, value.length)))
			return false;
		if (value.text)
			put_field(body, i, value.text, value.length);
		else
			put_field(body, i, &number, sizeof(number));
		count++;
	}
	if (body->failed)
		return false;
	body->data[COUNT_AT] = count;
	return true;
}

bool span_record_write(const struct audit_entry *entry, int64_t start, int64_t end, struct buf *out)
{
	cleanup_buf struct buf body = BUF(SPAN_RECORD_BYTES - SPAN_HEAD_BYTES);
	uint32_t length;
	char *room;

	if (!entry->entry_type || !put_body(entry, start, end, &body))
		return false;
	/* Asked first: an append that fails would spoil the buffer for the records behind it. */
	if (out->failed || SPAN_HEAD_BYTES + body.length > out->max - out->length)
		return false;
	room = buf_reserve(out, SPAN_HEAD_BYTES + body.length);
	if (!room)
		return false;
	length = htole32((uint32_t)body.length);
	memcpy(room, MAGIC, MAGIC_BYTES);
	memcpy(room + MAGIC_BYTES, &length, sizeof(length));
	memcpy(room + SPAN_HEAD_BYTES, body.data, body.length);
	buf_commit(out, SPAN_HEAD_BYTES + body.length);
	return true;
}

/* ---- reading ---- */

int span_record_size(const void *bytes, size_t length, struct error **err)
{
	uint32_t size;

	if (length && memcmp(bytes, MAGIC, length < MAGIC_BYTES ? length : MAGIC_BYTES) != 0)
		return error_set(err, ERROR_PROTOCOL, "what came is no record of a span");
	if (length < SPAN_HEAD_BYTES)
		return 0;
	memcpy(&size, (const char *)bytes + MAGIC_BYTES, sizeof(size));
	size = le32toh(size);
	if (size < TIMES_BYTES || size > SPAN_RECORD_BYTES - SPAN_HEAD_BYTES)
		return error_set(err, ERROR_PROTOCOL, "the record of a span has no such length");
	return (int)(SPAN_HEAD_BYTES + size);
}

static int64_t get_number(const char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return (int64_t)le64toh(value);
}

/* A text that stands in the entry itself is null when it is empty. */
static bool fits(const struct span_field *field, size_t length)
{
	return field->inside == 0 || (length > 0 && length < field->inside);
}

/* The next field at *at: its place, or negative when there is none of the form, or it does not follow `last`. */
static int read_field(const char *bytes, size_t length, size_t *at, int last, struct span_record *out)
{
	const char *head = bytes + *at;
	struct span_value value = { .present = true };
	size_t place;

	if (length - *at < FIELD_BYTES)
		return -1;
	place = (unsigned char)head[0];
	value.length = (unsigned char)head[1] | (size_t)(unsigned char)head[2] << 8;
	*at += FIELD_BYTES;
	if (place >= SPAN_FIELDS || (int)place <= last || value.length > SPAN_TEXT_BYTES || value.length > length - *at)
		return -1;
	if (span_fields[place].number) {
		if (value.length != NUMBER_BYTES)
			return -1;
		value.number = get_number(bytes + *at);
		if (value.number < 0)
			return -1;
	} else {
		value.text = bytes + *at;
		if (!is_text(value.text, value.length) || !fits(&span_fields[place], value.length))
			return -1;
	}
	*at += value.length;
	out->values[place] = value;
	return (int)place;
}

int span_record_read(const void *bytes, size_t length, struct span_record *out, struct error **err)
{
	const char *body = (const char *)bytes + SPAN_HEAD_BYTES;
	size_t at = TIMES_BYTES, count;
	int last = -1, size = span_record_size(bytes, length, err);

	*out = (struct span_record){ 0 };
	if (size < 0)
		return size;
	if (size == 0 || (size_t)size != length)
		return error_set(err, ERROR_PROTOCOL, "the record of a span is not whole");
	length -= SPAN_HEAD_BYTES;
	out->start = get_number(body);
	out->end = get_number(body + NUMBER_BYTES);
	count = (unsigned char)body[COUNT_AT];
	for (; count > 0; count--) {
		last = read_field(body, length, &at, last, out);
		if (last < 0)
			return error_set(err, ERROR_PROTOCOL, "a field of a span's record is off");
	}
	if (at != length || !out->values[SPAN_ENTRY_TYPE].present)
		return error_set(err, ERROR_PROTOCOL, "a span's record has a byte too many, or no type");
	return 0;
}

#define NUMBER(field)                                                                                                  \
	{                                                                                                              \
		.name = #field, .number = true, .offset = offsetof(struct audit_entry, field)                          \
	}
#define INSIDE(field)                                                                                                  \
	{                                                                                                              \
		.name = #field, .inside = sizeof(((struct audit_entry *)NULL)->field),                                 \
		.offset = offsetof(struct audit_entry, field)                                                          \
	}
#define POINTER(field)                                                                                                 \
	{                                                                                                              \
		.name = #field, .offset = offsetof(struct audit_entry, field)                                          \
	}
const struct span_field span_fields[SPAN_FIELDS] = {
	INSIDE(entry_id),
	NUMBER(sequence_number),
	POINTER(session_id),
	POINTER(call_id),
	[SPAN_ENTRY_TYPE] = POINTER(entry_type),
	POINTER(tool_name),
	POINTER(server_identity),
	[SPAN_POLICY_DECISION] = POINTER(policy_decision),
	POINTER(policy_rule_matched),
	NUMBER(latency_us),
	POINTER(request_payload_hash),
	POINTER(response_payload_hash),
	POINTER(response_inspection_result),
	POINTER(session_sensitivity_before),
	POINTER(session_sensitivity_after),
	POINTER(workflow_id),
	INSIDE(prev_entry_hash),
	POINTER(evidence_class),
	INSIDE(entry_hash),
};
