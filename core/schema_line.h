/*
 * The canonical form of a flat object, read directly: for lines that stand by the million. A field table is arranged
 * once; then a text is taken exactly when it is the one canonical form of an object that schema_decode() takes. What is
 * not taken is read again by the slow way, which says what is wrong.
 */
#ifndef HARNESS_CORE_SCHEMA_LINE_H
#define HARNESS_CORE_SCHEMA_LINE_H

#include "core/schema.h"

#define SCHEMA_LINE_FIELDS 32

struct schema_line {
	struct {
		const struct schema_field *field;
		size_t key_length;
	} rows[SCHEMA_LINE_FIELDS]; /* in the order of the canonical form */
	size_t count;
};

/* False: the table has more than required single integers, enums and strings of patterns that need no escapes. */
bool schema_line_arrange(struct schema_line *line, const struct schema_field *fields) MUST_CHECK;
/* True: *out is as schema_decode() would fill it; false leaves it undefined. */
bool schema_line_read(const struct schema_line *line, const char *text, size_t length, void *out,
		      size_t out_size) MUST_CHECK;

#endif
