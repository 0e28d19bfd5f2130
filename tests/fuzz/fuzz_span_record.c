/* A record on the pipe to the exporter: what is read as one is, written again, the same bytes. */
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "gateway/span_record.h"

#include "tests/fuzz/fuzz.h"

static void set_text(struct audit_entry *entry, const struct span_field *field, const struct span_value *value,
		     char *copy)
{
	char *at = (char *)entry + field->offset;

	memcpy(copy, value->text, value->length);
	copy[value->length] = '\0';
	if (field->inside)
		memcpy(at, copy, value->length + 1);
	else
		memcpy(at, &copy, sizeof(copy));
}

static void write_again(const uint8_t *bytes, size_t size, const struct span_record *record)
{
	static char texts[SPAN_FIELDS][SPAN_TEXT_BYTES + 1];
	struct audit_entry entry = { .sequence_number = -1, .latency_us = -1 };
	struct buf out = BUF(64 * KIB);

	for (size_t i = 0; i < SPAN_FIELDS; i++) {
		const struct span_value *value = &record->values[i];

		if (value->present && span_fields[i].number)
			memcpy((char *)&entry + span_fields[i].offset, &value->number, sizeof(value->number));
		else if (value->present)
			set_text(&entry, &span_fields[i], value, texts[i]);
	}
	FUZZ_HOLDS(span_record_write(&entry, record->start, record->end, &out));
	FUZZ_HOLDS(out.length == size && memcmp(out.data, bytes, size) == 0);
	buf_free(&out);
}

FUZZ_TARGET(span_record)
{
	struct span_record record;
	struct error *err = NULL;
	int length = span_record_size(bytes, size, &err);

	FUZZ_HOLDS((length < 0) == (err != NULL));
	FUZZ_HOLDS(length <= SPAN_RECORD_BYTES);
	error_free(err);
	err = NULL;
	if (span_record_read(bytes, size, &record, &err) == 0)
		write_again(bytes, size, &record);
	error_free(err);
}
