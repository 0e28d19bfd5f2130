/* How differences between bundles are told, by diff and by replay. */
#ifndef HARNESS_RUNNER_DIFF_PRINT_H
#define HARNESS_RUNNER_DIFF_PRINT_H

#include <stdio.h>

#include "core/json.h"
#include "reports/compare.h"
#include "reports/opened.h"

/* A bundle as compare_bundles() takes it, as long as it is open. */
void diff_side(const struct opened *opened, struct compare_side *out);
/* A line each. */
void diff_print_differences(const struct compare_difference *differences, size_t count, FILE *out);
void diff_print_facts(const struct compare_fact *facts, size_t count, FILE *out);
/* As an array. */
void diff_put_differences(const struct compare_difference *differences, size_t count, struct json_writer *json);
void diff_put_facts(const struct compare_fact *facts, size_t count, struct json_writer *json);

#endif
