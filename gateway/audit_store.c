#include "gateway/audit_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/database.h"
#include "core/fd.h"
#include "gateway/audit_row.h"

enum statement { BEGIN, VERSION, INSERT, COMMIT, ROLLBACK, STATEMENTS };

struct audit_store {
	sqlite3 *connection;
	sqlite3_stmt *statements[STATEMENTS];
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

static const char *const statement_texts[STATEMENTS];
/* What the schema must answer. */
static const struct schema_check {
	const char *query, *answer;
} schema_checks[];
static const size_t schema_checks_count;
static const char schema[];

/* ---- failing -------------------------------------------------------------------------------------------------------
 */

static int say_failed(const struct audit_store *store, struct error **err)
{
	return error_set(err, store->failed, "the audit store: %s", store->reason);
}

static int run_once(struct audit_store *store, enum statement which)
{
	sqlite3_stmt *statement = store->statements[which];
	int code = sqlite3_step(statement), reset = sqlite3_reset(statement);

	return code == SQLITE_DONE || code == SQLITE_ROW ? reset : code;
}

/* What of the batch was written already is taken back. */
static int fail(struct audit_store *store, enum error_code code, const char *reason, struct error **err)
{
	store->failed = code;
	store->reason = reason;
	store->due = NEVER;
	store->batch = false;
	if (store->statements[ROLLBACK] && !sqlite3_get_autocommit(store->connection))
		(void)run_once(store, ROLLBACK);
	return say_failed(store, err);
}

static int fail_sqlite(struct audit_store *store, int code, struct error **err)
{
	return fail(store, ERROR_SYSTEM, database_reason(code), err);
}

/* ---- opening -------------------------------------------------------------------------------------------------------
 */

static int refuse(struct error **err, const char *reason)
{
	return error_set(err, ERROR_INPUT, "the audit database: %s", reason);
}

static int sync_folder(const char *path, struct error **err)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	cleanup_fd int folder = -1;

	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 || fsync(folder) < 0 ? error_errno(err, errno, "syncing the audit database's folder") : 0;
}

/* Makes the file, since SQLite would give it another mode, or looks at what is there. */
static int prepare_file(const char *path, struct error **err)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat about;

	if (fd >= 0)
		return fsync(fd) < 0 ? error_errno(err, errno, "making the audit database") : sync_folder(path, err);
	if (errno != EEXIST)
		return error_errno(err, errno, "making the audit database");
	if (lstat(path, &about) < 0)
		return error_errno(err, errno, "looking at the audit database");
	return S_ISREG(about.st_mode) ? 0 : refuse(err, "it is not a regular file");
}

static int connect_to(struct audit_store *store, const char *path, struct error **err)
{
	char plain[PATH_MAX];
	int code, on;

	/* So that no name is taken for another kind of database. */
	snprintf(plain, sizeof(plain), "%s%s", path[0] == '/' ? "" : "./", path);
	code = sqlite3_open_v2(plain, &store->connection,
			       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_busy_timeout(store->connection, AUDIT_BUSY_MS);
	if (code == SQLITE_OK)
		code = sqlite3_db_config(store->connection, SQLITE_DBCONFIG_DEFENSIVE, 1, &on);
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->connection, "PRAGMA trusted_schema=OFF;PRAGMA cell_size_check=ON", NULL,
				    NULL, NULL);
	return code == SQLITE_OK ? 0 : refuse(err, database_reason(code));
}

/* Whether the query's one value is `answer`. */
static int ask(sqlite3 *connection, const char *query, const char *answer, bool *is)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(connection, query, -1, &statement, NULL);

	*is = false;
	if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(statement, 0);

		*is = text && strcmp(text, answer) == 0;
	}
	if (code == SQLITE_OK)
		code = sqlite3_reset(statement);
	(void)sqlite3_finalize(statement);
	return code;
}

static int check_schema(struct audit_store *store, struct error **err)
{
	bool is = true;

	for (size_t i = 0; i < schema_checks_count && is; i++) {
		int code = ask(store->connection, schema_checks[i].query, schema_checks[i].answer, &is);

		if (code != SQLITE_OK)
			return refuse(err, database_reason(code));
	}
	return is ? 0 : refuse(err, "its tables are another program's");
}

/* Before anything is written: a database that is another's stays as it was. */
static int check_unwritten(struct audit_store *store, bool *empty, struct error **err)
{
	int code = ask(store->connection, "SELECT count(*) FROM sqlite_schema", "0", empty);

	if (code != SQLITE_OK)
		return refuse(err, database_reason(code));
	if (sqlite3_db_readonly(store->connection, "main") != 0)
		return refuse(err, "it is read-only");
	return *empty ? 0 : check_schema(store, err);
}

/* NORMAL: a commit does not sync the log, a checkpoint does; audit_store_sync() makes it durable. */
static int set_journal(struct audit_store *store, struct error **err)
{
	bool is = false;
	int code = ask(store->connection, "PRAGMA journal_mode=WAL", "wal", &is);

	if (code == SQLITE_OK && !is)
		return refuse(err, "it takes no write-ahead log");
	if (code == SQLITE_OK)
		code = sqlite3_exec(store->connection, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : refuse(err, database_reason(code));
}

static int take_last(struct audit_store *store, sqlite3_stmt *statement, struct error **err)
{
	struct audit_row row;
	const char *reason;

	if (!audit_row_read(statement, &row))
		return refuse(err, "its last entry is not one");
	reason = audit_row_check(&row, store->time);
	if (reason)
		return error_set(err, ERROR_INPUT, "the audit database's last entry: %s", reason);
	if (row.sequence_number < 0 || row.sequence_number == INT64_MAX)
		return refuse(err, "its last sequence number is out of range");
	store->sequence_number = row.sequence_number + 1;
	snprintf(store->prev_entry_hash, sizeof(store->prev_entry_hash), "%s", row.entry_hash);
	return 0;
}

static int find_last(struct audit_store *store, struct error **err)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(store->connection,
				      "SELECT " AUDIT_COLUMNS " FROM audit_entries ORDER BY rowid DESC LIMIT 1", -1,
				      &statement, NULL);
	int status = 0;

	snprintf(store->prev_entry_hash, sizeof(store->prev_entry_hash), AUDIT_GENESIS);
	if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		status = take_last(store, statement, err);
	if (code == SQLITE_OK)
		code = sqlite3_reset(statement);
	(void)sqlite3_finalize(statement);
	return status || code == SQLITE_OK ? status : refuse(err, database_reason(code));
}

static int prepare_statements(struct audit_store *store, struct error **err)
{
	for (size_t i = 0; i < STATEMENTS; i++) {
		int code = sqlite3_prepare_v3(store->connection, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
					      &store->statements[i], NULL);

		if (code != SQLITE_OK)
			return refuse(err, database_reason(code));
	}
	return 0;
}

static int read_version(struct audit_store *store, int64_t *out)
{
	sqlite3_stmt *statement = store->statements[VERSION];

	if (sqlite3_step(statement) == SQLITE_ROW)
		*out = sqlite3_column_int64(statement, 0);
	return sqlite3_reset(statement);
}

/* In one transaction, so that nobody writes between the last entry and the version that goes with it. */
static int take_over(struct audit_store *store, bool empty, struct error **err)
{
	int code = sqlite3_exec(store->connection, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	int status;

	if (code == SQLITE_OK && empty)
		code = sqlite3_exec(store->connection, schema, NULL, NULL, NULL);
	if (code != SQLITE_OK)
		return refuse(err, database_reason(code));
	status = prepare_statements(store, err);
	if (!status)
		status = find_last(store, err);
	if (status)
		return status;
	code = read_version(store, &store->version);
	if (code == SQLITE_OK)
		code = run_once(store, COMMIT);
	if (code != SQLITE_OK)
		return refuse(err, database_reason(code));
	store->due = clock_now();
	return audit_store_sync(store, err);
}

static void free_store(struct audit_store *store)
{
	for (size_t i = 0; i < STATEMENTS; i++)
		(void)sqlite3_finalize(store->statements[i]);
	(void)sqlite3_close(store->connection);
	buf_free(&store->payload);
	free(store);
}

static int open_store(struct audit_store *store, const char *path, struct error **err)
{
	bool empty = false;
	int status;

	if (strlen(path) + 3 > PATH_MAX)
		return refuse(err, "its path is too long");
	status = prepare_file(path, err);
	if (!status)
		status = connect_to(store, path, err);
	if (!status)
		status = check_unwritten(store, &empty, err);
	if (!status)
		status = set_journal(store, err);
	return status ? status : take_over(store, empty, err);
}

int audit_store_open(const char *path, struct audit_store **out, struct error **err)
{
	struct audit_store *store = calloc(1, sizeof(*store));
	int status;

	if (!store)
		return error_set(err, ERROR_MEMORY, "no memory for an audit store");
	store->payload = (struct buf)BUF(AUDIT_ENTRY_BYTES);
	store->due = NEVER;
	status = open_store(store, path, err);
	if (status)
		free_store(store);
	else
		*out = store;
	return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------------
 */

static int begin(struct audit_store *store, struct error **err)
{
	int64_t version = 0;
	int code = run_once(store, BEGIN);

	if (code == SQLITE_OK)
		code = read_version(store, &version);
	if (code != SQLITE_OK)
		return fail_sqlite(store, code, err);
	if (version != store->version)
		return fail(store, ERROR_INTERNAL, "another process wrote to the chain", err);
	store->batch = true;
	return 0;
}

static int fill_in(struct audit_store *store, struct audit_entry *entry, struct error **err)
{
	audit_time(clock_realtime(), entry->timestamp_utc);
	if (strcmp(entry->timestamp_utc, store->time) < 0)
		memcpy(entry->timestamp_utc, store->time, sizeof(entry->timestamp_utc));
	entry->sequence_number = store->sequence_number;
	memcpy(entry->prev_entry_hash, store->prev_entry_hash, sizeof(entry->prev_entry_hash));
	store->payload.length = 0;
	return audit_new_id(entry->entry_id, err) < 0 ? -1 : audit_entry_seal(entry, &store->payload, err);
}

static int insert(struct audit_store *store, const struct audit_entry *entry)
{
	sqlite3_stmt *statement = store->statements[INSERT];
	const char *texts[] = { entry->session_id, entry->entry_id,        entry->entry_type,
				entry->entry_hash, entry->prev_entry_hash, store->payload.data };
	int code = sqlite3_bind_int64(statement, 1, entry->sequence_number);

	for (size_t i = 0; i < ARRAY_SIZE(texts) && code == SQLITE_OK; i++)
		code = sqlite3_bind_text(statement, (int)i + 2, texts[i], -1, SQLITE_STATIC);
	return code == SQLITE_OK ? run_once(store, INSERT) : code;
}

int audit_store_append(struct audit_store *store, struct audit_entry *entry, struct error **err)
{
	cleanup_error struct error *why = NULL;
	int status, code;

	if (store->failed)
		return say_failed(store, err);
	if (!entry->session_id || !entry->entry_type)
		return fail(store, ERROR_INTERNAL, "an entry without session or type", err);
	status = store->batch ? 0 : begin(store, err);
	if (status)
		return status;
	if (fill_in(store, entry, &why) < 0)
		return fail(store, error_code(why), "an entry that cannot be written", err);
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
		int code = run_once(store, COMMIT);

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
	int code;

	if (store->failed)
		return say_failed(store, err);
	if (store->due == NEVER)
		return 0;
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
	free_store(store);
	return status;
}

/* ---- tables --------------------------------------------------------------------------------------------------------
 */

static const char *const statement_texts[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[VERSION] = "PRAGMA data_version",
	[INSERT] = "INSERT INTO audit_entries(" AUDIT_COLUMNS ") VALUES(?,?,?,?,?,?,?)",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
};

static const char schema[] = "CREATE TABLE audit_entries("
			     "sequence_number INTEGER NOT NULL,"
			     "session_id TEXT NOT NULL,"
			     "entry_id TEXT NOT NULL PRIMARY KEY,"
			     "entry_type TEXT NOT NULL,"
			     "entry_hash TEXT NOT NULL,"
			     "prev_entry_hash TEXT NOT NULL,"
			     "payload TEXT NOT NULL);"
			     "CREATE INDEX idx_session ON audit_entries(session_id, sequence_number);";

#define LIST_TABLES                                                                                                    \
	"SELECT group_concat(type || ' ' || name || ' ' || tbl_name, ', ') "                                           \
	"FROM (SELECT type, name, tbl_name FROM sqlite_schema ORDER BY name)"
#define LIST_COLUMNS                                                                                                   \
	"SELECT group_concat(name || ' ' || type || ' ' || \"notnull\" || pk || hidden, ', ') "                        \
	"FROM pragma_table_xinfo('audit_entries')"
#define LIST_INDEX "SELECT group_concat(name, ', ') FROM pragma_index_info('idx_session')"
#define TABLES                                                                                                         \
	"table audit_entries audit_entries, index idx_session audit_entries, "                                         \
	"index sqlite_autoindex_audit_entries_1 audit_entries"
#define COLUMNS                                                                                                        \
	"sequence_number INTEGER 100, session_id TEXT 100, entry_id TEXT 110, entry_type TEXT 100, "                   \
	"entry_hash TEXT 100, prev_entry_hash TEXT 100, payload TEXT 100"
static const struct schema_check schema_checks[] = {
	{ .query = LIST_TABLES, .answer = TABLES },
	{ .query = LIST_COLUMNS, .answer = COLUMNS },
	{ .query = LIST_INDEX, .answer = "session_id, sequence_number" },
};
static const size_t schema_checks_count = ARRAY_SIZE(schema_checks);
