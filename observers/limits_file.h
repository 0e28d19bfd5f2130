/* What /proc/PID/limits says of core files. */
#ifndef HARNESS_OBSERVERS_LIMITS_FILE_H
#define HARNESS_OBSERVERS_LIMITS_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct core_limit {
	int64_t soft, hard; /* bytes; INT64_MAX: unlimited */
};

/* `text` is the whole file. False when the row is missing or has another form; then *out is untouched. */
bool core_limit_parse(const char *text, struct core_limit *out);

#endif
