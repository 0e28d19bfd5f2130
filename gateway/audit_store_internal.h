/* Between audit_open.c, which opens and frees the store, and audit_store.c, which writes; for nobody else. */
#ifndef HARNESS_GATEWAY_AUDIT_STORE_INTERNAL_H
#define HARNESS_GATEWAY_AUDIT_STORE_INTERNAL_H

#include "core/buf.h"
#include "gateway/audit_store.h"

struct sqlite3;
struct sqlite3_stmt;

enum statement { BEGIN, VERSION, INSERT, COMMIT, ROLLBACK, STATEMENTS };

struct audit_store {
	int file; /* holds the lock that keeps another gateway out */
	struct sqlite3 *connection;
	struct sqlite3_stmt *statements[STATEMENTS];
	bool batch; /* a transaction is open */
	int64_t version; /* changes when somebody else commits */
	int64_t due;
	/* of the next entry */
	int64_t sequence_number;
	char prev_entry_hash[HEX_SHA256];
	char time[AUDIT_TIME_BYTES];
	struct buf payload;
	/* why it failed, for ever */
	enum error_code failed;
	const char *reason;
};

/* Steps a prepared statement to its end: SQLITE_OK, or why not. */
int audit_store_run(struct audit_store *store, enum statement which);
/* What PRAGMA data_version says. */
int audit_store_version(struct audit_store *store, int64_t *out);
/* NULL-safe. */
void audit_store_free(struct audit_store *store);

#endif
