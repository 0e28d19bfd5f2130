/* A canary's shape, known or not, in each encoding of the table: "canary-" and 32 letters a to p, found in a stream of
 * bytes. */
#ifndef HARNESS_REPORTS_SHAPE_H
#define HARNESS_REPORTS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/canary.h"

/* What stands at the end of the bytes so far. Zeroed before the first. */
struct shape {
	struct canary_finder finder;
};

/* Whether the shape was completed within these bytes. */
bool shape_feed(struct shape *shape, const void *bytes, size_t length);

#endif
