/*
 * Patterns that the gateway keeps from passing, over every string, key and number of a JSON value: what looks like a
 * command or a card in arguments, what looks like a secret or an instruction in an answer. A pattern has false
 * negatives; the ceilings are what confines.
 */
#ifndef HARNESS_GATEWAY_SCAN_H
#define HARNESS_GATEWAY_SCAN_H

#include "core/json.h"

/* The id of the first pattern that matched, or NULL. Fixed text, never the value's. NULL-safe. */
const char *scan_arguments(const struct json_node *arguments);
const char *scan_response(const struct json_node *result);

#endif
