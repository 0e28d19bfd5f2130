/* The audit store: writing, syncing, closing. */
#include <sqlite3.h>
#include <string.h>

#include "core/clock.h"
#include "core/database.h"
#include "core/fd.h"
#include "gateway/audit_store_internal.h"

int audit_store_run(struct audit_store *store, enum statement which)
{
	sqlite3_stmt *statement = store->statements[which];
	int code = sqlite3_step(statement), reset = sqlite3_reset(statement);

	return code == SQLITE_DONE || code == SQLITE_ROW ? reset : code;
}

int audit_store_version(struct audit_store *store, int64_t *out)
{
	sqlite3_stmt *statement = store->statements[VERSION];

	if (sqlite3_step(statement) == SQLITE_ROW)
		*out = sqlite3_column_int64(statement, 0);
	return sqlite3_reset(statement);
}

/* ---- failing -------------------------------------------------------------------------------------------------------
 */

static int say_failed(const struct audit_store *store, struct error **err)
{
	return error_set(err, store->failed, "the audit store: %s", store->reason);
}

/* What of the batch was written already is taken back. */
static int fail(struct audit_store *store, enum error_code code, const char *reason, struct error **err)
{
	store->failed = code;
	store->reason = reason;
	store->due = NEVER;
	store->batch = false;
	if (store->statements[ROLLBACK] && !sqlite3_get_autocommit(store->connection))
		(void)audit_store_run(store, ROLLBACK);
	return say_failed(store, err);
}

static int fail_sqlite(struct audit_store *store, int code, struct error **err)
{
	return fail(store, ERROR_SYSTEM, database_reason(code), err);
}

/* ---- writing -------------------------------------------------------------------------------------------------------
 */

static int begin(struct audit_store *store, struct error **err)
{
	int64_t version = 0;
	int code = audit_store_run(store, BEGIN);

	if (code == SQLITE_OK)
		code = audit_store_version(store, &version);
	if (code != SQLITE_OK)
		return fail_sqlite(store, code, err);
	if (version != store->version)
		return fail(store, ERROR_INTERNAL, "another process wrote to the chain", err);
	store->batch = true;
	return 0;
}

static int fill_in(struct audit_store *store, struct audit_entry *entry, struct error **err)
{
	int status;

	/* Its room is kept for the next entry. */
	if (store->payload.failed)
		buf_free(&store->payload);
	store->payload.length = 0;
	audit_time(clock_realtime(), entry->timestamp_utc);
	if (strcmp(entry->timestamp_utc, store->time) < 0)
		memcpy(entry->timestamp_utc, store->time, sizeof(entry->timestamp_utc));
	entry->sequence_number = store->sequence_number;
	memcpy(entry->prev_entry_hash, store->prev_entry_hash, sizeof(entry->prev_entry_hash));
	status = audit_new_id(entry->entry_id, err);
	return status ? status : audit_entry_seal(entry, &store->payload, err);
}

static int insert(struct audit_store *store, const struct audit_entry *entry)
{
	sqlite3_stmt *statement = store->statements[INSERT];
	const char *texts[] = { entry->session_id, entry->entry_id,        entry->entry_type,
				entry->entry_hash, entry->prev_entry_hash, store->payload.data };
	int code = sqlite3_bind_int64(statement, 1, entry->sequence_number);

	for (size_t i = 0; i < ARRAY_SIZE(texts) && code == SQLITE_OK; i++)
		code = sqlite3_bind_text(statement, (int)i + 2, texts[i], -1, SQLITE_STATIC);
	return code == SQLITE_OK ? audit_store_run(store, INSERT) : code;
}

/* Nothing of an entry that is refused is kept: an agent chooses names, and must not end the audit by a long one. */
static int check_entry(const struct audit_store *store, const struct audit_entry *entry, struct error **err)
{
	if (!entry->session_id || !entry->entry_type)
		return error_set(err, ERROR_INTERNAL, "an audit entry without session or type");
	if (store->sequence_number == 0 && strcmp(entry->entry_type, AUDIT_FIRST_TYPE) != 0)
		return error_set(err, ERROR_INTERNAL, "an audit chain begins with the start of a session");
	return 0;
}

int audit_store_append(struct audit_store *store, struct audit_entry *entry, struct error **err)
{
	int status, code;

	if (store->failed)
		return say_failed(store, err);
	status = check_entry(store, entry, err);
	if (!status)
		status = fill_in(store, entry, err);
	if (!status && !store->batch)
		status = begin(store, err);
	if (status)
		return status;
	code = insert(store, entry);
	if (code != SQLITE_OK)
		return fail_sqlite(store, code, err);
	store->sequence_number++;
	memcpy(store->prev_entry_hash, entry->entry_hash, sizeof(store->prev_entry_hash));
	memcpy(store->time, entry->timestamp_utc, sizeof(store->time));
	return 0;
}

int audit_store_commit(struct audit_store *store, bool durable, struct error **err)
{
	if (store->failed)
		return say_failed(store, err);
	if (store->batch) {
		int code = audit_store_run(store, COMMIT);

		if (code != SQLITE_OK)
			return fail_sqlite(store, code, err);
		store->batch = false;
		if (store->due == NEVER)
			store->due = clock_deadline(AUDIT_SYNC_MS);
	}
	return durable ? audit_store_sync(store, err) : 0;
}

int64_t audit_store_due(const struct audit_store *store)
{
	return store->due;
}

int audit_store_sync(struct audit_store *store, struct error **err)
{
	sqlite3_file *log = NULL;
	int code, moved = 0;

	if (store->failed)
		return say_failed(store, err);
	if (store->due == NEVER)
		return 0;
	code = sqlite3_file_control(store->connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	/* What is written to a file without its name is lost with this process. */
	if (code == SQLITE_OK && moved)
		code = SQLITE_CANTOPEN;
	if (code == SQLITE_OK)
		code = sqlite3_file_control(store->connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (code == SQLITE_OK && log && log->pMethods)
		code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
	else if (code == SQLITE_OK)
		code = SQLITE_IOERR;
	if (code != SQLITE_OK)
		return fail_sqlite(store, code, err);
	store->due = NEVER;
	return 0;
}

/* ---- closing -------------------------------------------------------------------------------------------------------
 */

int audit_store_close(struct audit_store *store, struct error **err)
{
	int status, code;

	if (!store)
		return 0;
	status = audit_store_commit(store, true, err);
	if (!status) {
		code = sqlite3_wal_checkpoint_v2(store->connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
		if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
			status = error_set(err, ERROR_TIMEOUT, "the audit store: a reader keeps its log beside it");
		else if (code != SQLITE_OK)
			status = fail_sqlite(store, code, err);
	}
	audit_store_free(store);
	return status;
}
