/* Rows of tests/data/frames: a word and the bytes that an agent writes, in the escaped form that the files describe. */
#ifndef HARNESS_TESTS_UNIT_FRAME_ROWS_H
#define HARNESS_TESTS_UNIT_FRAME_ROWS_H

#include <stddef.h>

#include "core/error.h"
#include "core/limits.h"

struct frame_row {
	size_t line; /* in the file */
	char word[NAME_MAX_SHORT]; /* before the first space: a reason, or an operation */
	const char *bytes; /* until the next row is taken */
	size_t length;
};

/* Negative with *err set ends the reading. */
typedef int (*frame_row_take)(void *context, const struct frame_row *row, struct error **err);

/* Gives out each row of the file in order. A line of another form is ERROR_INPUT with its number. */
int frame_rows_read(const char *path, frame_row_take take, void *context, struct error **err) MUST_CHECK;

#endif
