/*
 * A span on the pipe between the gateway and libexec/otlp-export, and the fields of an audit entry that a span may
 * hold: those of the table, and nothing else. The record names a field by its place there, so that neither end can add
 * one.
 *
 *   "SPN1", length of what follows (4 bytes), start and end (8 each, wall clock ns), count of fields (1), and for each
 *   field, in rising order: its place (1), its length (2), its bytes; a number is 8 bytes. All little endian.
 */
#ifndef HARNESS_GATEWAY_SPAN_RECORD_H
#define HARNESS_GATEWAY_SPAN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "gateway/audit_entry.h"

#define SPAN_FIELDS 19
#define SPAN_TEXT_BYTES 1024 /* of one field */
#define SPAN_HEAD_BYTES 8
#define SPAN_RECORD_BYTES (SPAN_HEAD_BYTES + 17 + SPAN_FIELDS * (3 + SPAN_TEXT_BYTES))

/* Places of the fields that also say what the span is called, and whether it is an error. */
enum { SPAN_ENTRY_TYPE = 4, SPAN_POLICY_DECISION = 7 };

struct span_field {
	const char *name; /* without "cmcp." */
	bool number;
	size_t offset; /* in struct audit_entry */
	size_t inside; /* bytes of the text's place in the entry itself, with its NUL; 0: the entry holds a pointer */
};
extern const struct span_field span_fields[SPAN_FIELDS];

/* One field of a record; all zero where the entry says null. */
struct span_value {
	bool present;
	const char *text; /* borrowed from the record, not terminated */
	size_t length;
	int64_t number;
};

struct span_record {
	int64_t start, end;
	struct span_value values[SPAN_FIELDS];
};

/* Appends the record of an entry. False, and nothing appended, when a field is too long, is not UTF-8 or holds a NUL,
 * when the entry has no type, or when there is no room. */
bool span_record_write(const struct audit_entry *entry, int64_t start, int64_t end, struct buf *out) MUST_CHECK;

/* How many bytes the record at the start of `bytes` has: 0 while that cannot be told, negative when it is none. */
int span_record_size(const void *bytes, size_t length, struct error **err) MUST_CHECK;
/* Reads one whole record; `out` borrows from `bytes`. Anything that span_record_write() would not have written is
 * ERROR_PROTOCOL. */
int span_record_read(const void *bytes, size_t length, struct span_record *out, struct error **err) MUST_CHECK;

#endif
