/*
 * A row of the table audit_entries, which ours and the reference gateway's share: read, and checked by itself. For the
 * store, which goes on behind its last row, and for whoever verifies them all.
 */
#ifndef HARNESS_GATEWAY_AUDIT_ROW_H
#define HARNESS_GATEWAY_AUDIT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/limits.h"
#include "gateway/audit_entry.h"

/* What a query must ask for, in this order. */
#define AUDIT_COLUMNS "sequence_number, session_id, entry_id, entry_type, entry_hash, prev_entry_hash, payload"

struct sqlite3_stmt;

/* Borrowed from the statement until its next step. */
struct audit_row {
	int64_t sequence_number;
	const char *session_id, *entry_id, *entry_type, *entry_hash, *prev_entry_hash;
	const char *payload;
	size_t payload_length;
};

/* False when a column is not of its type, or a text holds a NUL. */
bool audit_row_read(struct sqlite3_stmt *statement, struct audit_row *out);
/* NULL when the payload is canonical, each column says what the payload says, and the hash is that of all the payload's
 * keys but entry_hash; else why not, as fixed text. *time, unless it is NULL, is then the payload's timestamp. */
const char *audit_row_check(const struct audit_row *row, char time[AUDIT_TIME_BYTES]);

#endif
