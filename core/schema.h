/*
 * Field tables: one const table describes an object of JSON and the C struct behind it. It decodes, names each error by
 * file and path, encodes, and prints the JSON Schema (2020-12). Structs hold fixed arrays only, so nothing is owned.
 */
#ifndef HARNESS_CORE_SCHEMA_H
#define HARNESS_CORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"

enum schema_type {
	SCHEMA_INT, /* int64_t, min..max */
	SCHEMA_BOOL, /* bool */
	SCHEMA_ENUM, /* int (the index into names) */
	SCHEMA_STRING, /* char[size], of `pattern` */
	SCHEMA_OBJECT, /* struct of `fields`; embedded */
};

enum schema_pattern {
	PATTERN_ID, /* [a-z0-9._-]{1,size-1}, and '/' between such parts; no part is "." or ".." */
	PATTERN_HEX, /* lower-case hexadecimal digits, 1 to size-1; `min` demands more */
	PATTERN_TIME, /* RFC 3339, UTC, seconds */
	PATTERN_ASCII, /* printable ASCII, 0 to size-1: listed prose and version strings */
	PATTERN_FIELD, /* as PATTERN_ID with A-Z: a path into an effective configuration */
};

struct schema_field {
	const char *key;
	enum schema_type type;
	bool required;
	bool nullable; /* null leaves the member zero; SCHEMA_STRING (written as null when empty), and SCHEMA_INT of a
			  form that is printed alone */
	size_t offset; /* of the value, or of the array's first element */
	size_t size; /* SCHEMA_STRING: bytes of the char array; SCHEMA_OBJECT: sizeof the struct */
	int64_t min, max; /* SCHEMA_INT: bounds; SCHEMA_STRING: least length; for arrays see array_max */
	const char *const *names; /* SCHEMA_ENUM: NULL-terminated, index = value */
	enum schema_pattern pattern;
	const struct schema_field *fields; /* SCHEMA_OBJECT: table ended by .key = NULL */
	size_t array_max; /* 0: a single value; else an array of at most so many in a C array */
	size_t array_min;
	size_t count_offset; /* arrays: offset of the size_t count */
	int64_t value; /* default of an absent SCHEMA_INT, SCHEMA_BOOL, SCHEMA_ENUM */
};

/* Decodes an object of `fields` into `out` (zeroed and defaulted first, zeroed again on error). Unknown keys, wrong
 * types, values outside their bounds, missing required keys: ERROR_INPUT "file: path: reason". `file` is a name of ours
 * or error_safe'd. Of the document's own bytes only an unknown key of [A-Za-z0-9_.-]{1,32} enters the text. */
int schema_decode(const struct schema_field *fields, const struct json_node *node, const char *file, void *out,
		  size_t out_size, struct error **err) MUST_CHECK;
/* Writes the object, keys in table order. Absent-by-default values are written too, so that the form is total, but for
 * optional members that have no valid absent form: an empty string that may not be empty, an array below array_min, an
 * object that lacks a required string. */
void schema_encode(const struct schema_field *fields, const void *in, struct json_writer *writer);
/* Appends a JSON Schema document with `title`. */
int schema_print(const struct schema_field *fields, const char *title, struct buf *out, struct error **err) MUST_CHECK;
/* Whether `text` is of the pattern. */
bool schema_matches(enum schema_pattern pattern, const char *text, size_t length);
/* What a text of the pattern is made of, for a message. */
const char *schema_form(enum schema_pattern pattern);
/* Index of `name` in a NULL-terminated list, or -1. */
int schema_enum(const char *const *names, const char *name);

#endif
