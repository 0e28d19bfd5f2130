/*
 * The wire format: fields of a number and a type, one behind the other. A message stands in a field of type LEN. Only
 * the messages on the way to a span's status are opened, one function each, so that no input nests them deeper.
 */
#include <stdbool.h>
#include <string.h>

#include "core/utf8.h"
#include "observers/otlp.h"

enum wire_format { VARINT = 0, FIXED64 = 1, LEN = 2, FIXED32 = 5 };

/* Fields of opentelemetry/proto/collector/trace/v1 and trace/v1. */
enum {
	REQUEST_RESOURCE_SPANS = 1,
	RESOURCE_SPANS_SCOPE_SPANS = 2,
	SCOPE_SPANS_SPANS = 2,
	SPAN_TRACE_ID = 1,
	SPAN_ID = 2,
	SPAN_NAME = 5,
	SPAN_STATUS = 15,
	STATUS_CODE = 3,
};

#define STATUS_ERROR 2
#define TRACE_ID_BYTES 16
#define SPAN_ID_BYTES 8
#define VARINT_BYTES 10
#define FIELD_MAX ((UINT64_C(1) << 29) - 1)

struct reader {
	const unsigned char *at, *end;
};

struct field {
	uint64_t number;
	enum wire_format type;
	uint64_t value; /* VARINT */
	struct reader bytes; /* LEN */
};

static size_t left(const struct reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

static bool take_varint(struct reader *reader, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < VARINT_BYTES && reader->at < reader->end; i++) {
		const unsigned char byte = *reader->at++;

		/* The tenth byte has room for one bit. */
		if (i == VARINT_BYTES - 1 && byte > 1)
			return false;
		*out |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool take_bytes(struct reader *reader, uint64_t length, struct reader *out)
{
	if (length > left(reader))
		return false;
	*out = (struct reader){ .at = reader->at, .end = reader->at + length };
	reader->at += length;
	return true;
}

/* Groups are none of proto3's. */
static bool take_field(struct reader *reader, struct field *out)
{
	uint64_t tag = 0, length = 0;

	if (!take_varint(reader, &tag) || tag >> 3 == 0 || tag >> 3 > FIELD_MAX)
		return false;
	*out = (struct field){ .number = tag >> 3, .type = (enum wire_format)(tag & 7) };
	switch (out->type) {
	case VARINT:
		return take_varint(reader, &out->value);
	case FIXED64:
		return take_bytes(reader, 8, &out->bytes);
	case FIXED32:
		return take_bytes(reader, 4, &out->bytes);
	case LEN:
		return take_varint(reader, &length) && take_bytes(reader, length, &out->bytes);
	}
	return false;
}

static bool is_text(const struct reader *text)
{
	for (struct reader rest = *text; rest.at < rest.end;) {
		size_t step = utf8_sequence((const char *)rest.at, left(&rest));

		if (!step)
			return false;
		rest.at += step;
	}
	return true;
}

/* Of a field that comes twice the last one holds. */
static bool read_status(struct reader reader, uint64_t *code)
{
	struct field field;

	while (reader.at < reader.end) {
		if (!take_field(&reader, &field))
			return false;
		if (field.number != STATUS_CODE)
			continue;
		if (field.type != VARINT)
			return false;
		*code = field.value;
	}
	return true;
}

static bool check_span_field(const struct field *field, uint64_t *code)
{
	switch (field->number) {
	case SPAN_TRACE_ID:
		return field->type == LEN && left(&field->bytes) == TRACE_ID_BYTES;
	case SPAN_ID:
		return field->type == LEN && left(&field->bytes) == SPAN_ID_BYTES;
	case SPAN_NAME:
		return field->type == LEN && is_text(&field->bytes);
	case SPAN_STATUS:
		return field->type == LEN && read_status(field->bytes, code);
	default:
		return true;
	}
}

static bool read_span(struct reader reader, struct otlp_counts *out)
{
	struct field field;
	uint64_t code = 0;

	while (reader.at < reader.end)
		if (!take_field(&reader, &field) || !check_span_field(&field, &code))
			return false;
	out->spans++;
	out->errors += code == STATUS_ERROR;
	return true;
}

/* Hands each message in a field of that number to `take`. */
static bool read_messages(struct reader reader, uint64_t number, bool (*take)(struct reader, struct otlp_counts *),
			  struct otlp_counts *out)
{
	struct field field;

	while (reader.at < reader.end) {
		if (!take_field(&reader, &field))
			return false;
		if (field.number == number && (field.type != LEN || !take(field.bytes, out)))
			return false;
	}
	return true;
}

static bool read_scope_spans(struct reader reader, struct otlp_counts *out)
{
	return read_messages(reader, SCOPE_SPANS_SPANS, read_span, out);
}

static bool read_resource_spans(struct reader reader, struct otlp_counts *out)
{
	return read_messages(reader, RESOURCE_SPANS_SCOPE_SPANS, read_scope_spans, out);
}

int otlp_read_protobuf(const void *bytes, size_t length, struct otlp_counts *out, struct error **err)
{
	const unsigned char *begin = bytes;
	struct reader reader = { .at = begin, .end = length ? begin + length : begin };

	*out = (struct otlp_counts){ 0 };
	if (read_messages(reader, REQUEST_RESOURCE_SPANS, read_resource_spans, out))
		return 0;
	*out = (struct otlp_counts){ 0 };
	return error_set(err, ERROR_INPUT, "the protobuf message is no export of spans");
}
