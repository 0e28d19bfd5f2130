/*
 * A row of the gateway's file of decisions, 64 bytes, numbers in big-endian order:
 *
 *   0  "HDR1"      4  sequence, from 1       12  tool, NUL-padded       44  decision      48  rule
 *   52 CLOCK_MONOTONIC, ns     60 CR LF CR LF
 */
#ifndef HARNESS_OBSERVERS_DECISION_ROW_H
#define HARNESS_OBSERVERS_DECISION_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/limits.h"

#define DECISION_ROW_BYTES 64

enum decision { DECISION_ALLOW = 1, DECISION_DENY, DECISION_FAULT };

struct decision_row {
	uint64_t sequence;
	char tool[NAME_MAX_SHORT + 1];
	uint32_t decision; /* enum decision */
	uint32_t rule;
	uint64_t time;
};

/* Reads DECISION_ROW_BYTES bytes; false when they are no row. */
bool decision_row_parse(const char *bytes, struct decision_row *out);

#endif
