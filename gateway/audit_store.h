/*
 * The audit chain in SQLite (WAL): one row an entry, each holding the hash of the one before. Entries are appended to a
 * batch and committed together, so that parallel calls share one sync. What a power cut can take is what was committed
 * without `durable` and not yet synced. A database holds one chain: sequence numbers go on from session to session.
 */
#ifndef HARNESS_GATEWAY_AUDIT_STORE_H
#define HARNESS_GATEWAY_AUDIT_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "gateway/audit_entry.h"

#define AUDIT_SYNC_MS 100 /* an outcome is on the disk by then */
#define AUDIT_BUSY_MS 1000 /* for a lock of a reader's or of another writer's */

struct audit_store;

/* Opens the database, or makes it (mode 0600), and goes on with the chain that it holds. ERROR_INPUT: another schema,
 * a last entry that does not fit its own hash, a file that is read-only or no regular file, or that another store has
 * open. Open it after exec only,
 * and never open its files otherwise: closing one would drop SQLite's locks. */
int audit_store_open(const char *path, struct audit_store **out, struct error **err) MUST_CHECK;
/* Adds an entry to the batch, and fills in what the store gives it; the first of a chain is a session_start. An entry
 * that cannot be written (ERROR_INPUT: too long a one) is refused by itself. Once the store has failed (also because
 * another process wrote to the chain), everything fails with the same error, and of that batch nothing was committed.
 */
int audit_store_append(struct audit_store *store, struct audit_entry *entry, struct error **err) MUST_CHECK;
/* Commits the batch. `durable`: it is on the disk before this returns, and so is all that was committed before. */
int audit_store_commit(struct audit_store *store, bool durable, struct error **err) MUST_CHECK;
/* Until when audit_store_sync() must be called (CLOCK_MONOTONIC ns), or NEVER: nothing waits for the disk. */
int64_t audit_store_due(const struct audit_store *store);
int audit_store_sync(struct audit_store *store, struct error **err) MUST_CHECK;
/* Commits, checkpoints and closes: the database is one file then, unless somebody is connected who reads it. NULL-safe.
 * Frees it in any case. */
int audit_store_close(struct audit_store *store, struct error **err) MUST_CHECK;

/* What a database holds. */
struct audit_verdict {
	int64_t entries; /* in order, up to the broken one */
	int64_t sessions;
	int64_t chains; /* 1 in a database of ours; the reference begins one with each session that follows a close */
	int64_t broken_at; /* sequence number of the first entry that does not fit, or -1 */
	const char *reason; /* fixed text, or NULL */
};
/* Reads a database of ours or of the reference gateway without changing it, and checks each hash over the stored
 * payload's own keys, each link, that sequence numbers have no gap, and that columns and payload agree. Negative only
 * when it cannot be read. Not in a process that has it open: see core/database.h. */
int audit_verify(const char *path, struct audit_verdict *out, struct error **err) MUST_CHECK;

#endif
