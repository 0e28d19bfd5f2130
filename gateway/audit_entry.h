/*
 * One entry of the audit chain: the 24 fields of the reference gateway's, in a form that both the store and the spans
 * take. Fixed words, labels, ids and hashes: never a byte of a call. NULL, and a latency below 0, is null.
 */
#ifndef HARNESS_GATEWAY_AUDIT_ENTRY_H
#define HARNESS_GATEWAY_AUDIT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/limits.h"

#define AUDIT_ID_BYTES 37 /* a UUID with its NUL */
#define AUDIT_TIME_BYTES 40
#define AUDIT_GENESIS "genesis" /* prev_entry_hash of the first entry */
#define AUDIT_FIRST_TYPE "session_start" /* and its type */

struct audit_entry {
	/* The store fills these in. */
	char entry_id[AUDIT_ID_BYTES];
	int64_t sequence_number;
	char timestamp_utc[AUDIT_TIME_BYTES]; /* as Python's isoformat(), never before the one before it */
	char prev_entry_hash[HEX_SHA256];
	char entry_hash[HEX_SHA256];
	/* The gateway says these; borrowed for the call. */
	const char *session_id, *call_id;
	const char *entry_type; /* session_start, call_intent, tool_call, fault, egress_denied, ... */
	const char *tool_name, *server_identity;
	const char *policy_decision, *policy_rule_matched;
	int64_t latency_us;
	const char *request_payload_hash, *response_payload_hash; /* "sha256:" and 64 digits */
	const char *response_inspection_result;
	const char *session_sensitivity_before, *session_sensitivity_after;
	const char *detail; /* one JSON object, in any order of keys */
	const char *workflow_id;
	const char *evidence_class;
	const char *external_execution_evidence; /* one JSON value */
	const char *effective_data_class;
	const char *execution_id;
};

/* Appends the entry as canonical JSON (core/json_python.h) without entry_hash, which is what that hash is made over,
 * and returns where in `out` that member belongs. The buffer's sticky failure is the only error: also set by text that
 * is not UTF-8, and by a `detail` or an evidence that is not JSON. */
size_t audit_entry_write(const struct audit_entry *entry, struct buf *out);
/* Sets entry_hash, and appends the entry with it. ERROR_INPUT: too long a one, or a text is not what it must be. */
int audit_entry_seal(struct audit_entry *entry, struct buf *out, struct error **err) MUST_CHECK;

/* A random (version 4) UUID in lower case. */
int audit_new_id(char out[AUDIT_ID_BYTES], struct error **err) MUST_CHECK;
/* Wall clock ns as datetime.isoformat() in UTC: "2026-09-18T00:00:00.000001+00:00", without a fraction when it is 0.
 * Texts of this form sort as their times do. */
void audit_time(int64_t realtime, char out[AUDIT_TIME_BYTES]);

#endif
