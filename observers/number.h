/* A number in the text of a file of the kernel's: all of it, or a line that begins with a name. */
#ifndef HARNESS_OBSERVERS_NUMBER_H
#define HARNESS_OBSERVERS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The text's number, or with a `key` that of the first line that is the key, a blank and a number. False, and *out as
 * it was, when there is none, or none that fits, or anything stands behind it. */
bool number_in(const char *text, const char *key, int64_t *out);

#endif
