/* The shape of a JSON value: its keys and the types of their values, whatever the values are. */
#ifndef HARNESS_TESTS_LIVE_SHAPE_H
#define HARNESS_TESTS_LIVE_SHAPE_H

#include <stdbool.h>

#include "core/json.h"

/* Whether `came` is of the shape of `recorded`. `exact`: no key may be new. Each difference is a line on stderr that
 * begins with `name`. */
bool shape_same(const char *name, const struct json_node *recorded, const struct json_node *came, bool exact);

#endif
