/*
 * The audit chain of a gateway, read from its database without a line of the gateway's: SQL, canonical form and hashes
 * of its own. Rows are counted by outcome, each link is checked, and each row's text is handed on.
 */
#ifndef HARNESS_OBSERVERS_AUDIT_CHAIN_H
#define HARNESS_OBSERVERS_AUDIT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "observers/wire.h"

#define AUDIT_REQUEST_BYTES (7 + HEX_SHA256) /* "sha256:" and 64 digits */

/* What one reading of it found. */
struct audit_chain {
	/* Hashes of the beacon's requests, by phase: they are counted apart, given before. */
	char beacon[2][AUDIT_REQUEST_BYTES];
	uint64_t beacons[2]; /* allowed */
	uint64_t rows;
	uint64_t allowed, denied, faults; /* by policy_decision; other decisions are in `rows` alone */
	uint64_t intents; /* by entry_type; they have no outcome yet */
	uint64_t broken; /* rows that are not what their hash, their link or their columns say */
	/* Every text of a row, one after the other, then its end. */
	void (*text)(void *context, const char *bytes, size_t length);
	void (*end)(void *context);
	void *context;
};

/* Reads database `name` in `folder`; counts start at 0. INPUT_MISSING when there is none, INPUT_INVALID when it cannot
 * be read as one; a broken chain is neither. */
enum wire_reason audit_chain_read(struct audit_chain *chain, int folder, const char *name);
/* The hash of the canonical arguments that a beacon's call bears. */
void audit_chain_beacon(const char *canary, char out[AUDIT_REQUEST_BYTES]);

#endif
