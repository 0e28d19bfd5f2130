/* What SQLite and the disk ask for, without a gateway: the rows of a call, the first one synced. */
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/database.h"
#include "tests/bench/gateway.h"

#define PAYLOAD_BYTES 900 /* of an entry, about */

struct floor_store {
	sqlite3 *connection;
	sqlite3_stmt *insert;
	int64_t number;
	char payload[PAYLOAD_BYTES + 1];
};

static const char schema[] = "PRAGMA journal_mode=WAL;"
			     "CREATE TABLE audit_entries(sequence_number INTEGER NOT NULL,session_id TEXT NOT NULL,"
			     "entry_id TEXT NOT NULL PRIMARY KEY,entry_type TEXT NOT NULL,entry_hash TEXT NOT NULL,"
			     "prev_entry_hash TEXT NOT NULL,payload TEXT NOT NULL);"
			     "CREATE INDEX idx_session ON audit_entries(session_id, sequence_number);";

static int fail(int code, struct error **err)
{
	return error_set(err, ERROR_SYSTEM, "the bare database: %s", database_reason(code));
}

int floor_open(const char *folder, struct floor_store **out, struct error **err)
{
	struct floor_store *store = calloc(1, sizeof(*store));
	char path[PATH_MAX];
	int code;

	*out = store;
	if (!store)
		return error_set(err, ERROR_MEMORY, "no memory");
	memset(store->payload, 'x', PAYLOAD_BYTES);
	snprintf(path, sizeof(path), "%s/floor.db", folder);
	code = sqlite3_open(path, &store->connection);
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->connection, schema, NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_prepare_v2(store->connection, "INSERT INTO audit_entries VALUES(?,?,?,?,?,?,?)", -1,
					  &store->insert, NULL);
	return code == SQLITE_OK ? 0 : fail(code, err);
}

/* An insert outside a transaction is a commit of its own. */
static int commit(struct floor_store *store, const char *synchronous, int64_t *duration)
{
	char session[33], entry[37], hash[HEX_SHA256];
	const char *texts[] = { session, entry, "tool_call", hash, hash, store->payload };
	int code = sqlite3_exec(store->connection, synchronous, NULL, NULL, NULL);
	int64_t start = clock_now();

	snprintf(session, sizeof(session), "%032d", 1);
	/* Anywhere in the index, as a random id is. */
	snprintf(entry, sizeof(entry), "%016llx-%019llx", (unsigned long long)store->number * 0x9e3779b97f4a7c15U,
		 (unsigned long long)store->number);
	snprintf(hash, sizeof(hash), "%064lld", (long long)store->number);
	if (code == SQLITE_OK)
		code = sqlite3_bind_int64(store->insert, 1, store->number++);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && code == SQLITE_OK; i++)
		code = sqlite3_bind_text(store->insert, (int)i + 2, texts[i], -1, SQLITE_TRANSIENT);
	if (code == SQLITE_OK && sqlite3_step(store->insert) != SQLITE_DONE)
		code = sqlite3_errcode(store->connection);
	if (code == SQLITE_OK)
		code = sqlite3_reset(store->insert);
	*duration = clock_now() - start;
	return code;
}

int floor_calls(struct floor_store *store, size_t calls, struct floor_times *out, struct error **err)
{
	for (size_t i = 0; i < calls && out->count < SIDE_SAMPLES; i++, out->count++) {
		int code = commit(store, "PRAGMA synchronous=FULL", &out->synced[out->count]);

		if (code == SQLITE_OK)
			code = commit(store, "PRAGMA synchronous=NORMAL", &out->committed[out->count]);
		if (code != SQLITE_OK)
			return fail(code, err);
	}
	return 0;
}

void floor_close(struct floor_store *store)
{
	if (!store)
		return;
	(void)sqlite3_finalize(store->insert);
	(void)sqlite3_close(store->connection);
	free(store);
}
