/* Opening the audit store: the file, its schema, and the entry that the chain goes on behind. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/database.h"
#include "core/fd.h"
#include "gateway/audit_row.h"
#include "gateway/audit_store_internal.h"

static const char *const statement_texts[STATEMENTS];
/* What the schema must answer. */
static const struct schema_check {
	const char *query, *answer;
} schema_checks[];
static const size_t schema_checks_count;
static const char schema[];

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

/* Makes the file, since SQLite would give it another mode, or looks at what is there; and holds it, so that a second
 * gateway is told at once. The descriptor is closed when SQLite's are: else it would drop their locks. */
static int hold_file(struct audit_store *store, const char *path, struct error **err)
{
	int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	struct stat about;

	store->file = open(path, flags | O_CREAT | O_EXCL, 0600);
	if (store->file >= 0 && fsync(store->file) < 0)
		return error_errno(err, errno, "making the audit database");
	if (store->file >= 0)
		return sync_folder(path, err);
	if (errno == EEXIST)
		store->file = open(path, flags);
	if (store->file < 0 && (errno == ELOOP || errno == EISDIR))
		return refuse(err, "it is not a regular file");
	if (store->file < 0 || fstat(store->file, &about) < 0)
		return error_errno(err, errno, "opening the audit database");
	return S_ISREG(about.st_mode) ? 0 : refuse(err, "it is not a regular file");
}

static int take_file(struct audit_store *store, const char *path, struct error **err)
{
	int status = hold_file(store, path, err);

	if (status)
		return status;
	return flock(store->file, LOCK_EX | LOCK_NB) < 0 ? refuse(err, "another gateway writes to it") : 0;
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
	code = audit_store_version(store, &store->version);
	if (code == SQLITE_OK)
		code = audit_store_run(store, COMMIT);
	if (code != SQLITE_OK)
		return refuse(err, database_reason(code));
	store->due = clock_now();
	return audit_store_sync(store, err);
}

void audit_store_free(struct audit_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < STATEMENTS; i++)
		(void)sqlite3_finalize(store->statements[i]);
	(void)sqlite3_close(store->connection);
	fd_close(&store->file);
	buf_free(&store->payload);
	free(store);
}

static int open_store(struct audit_store *store, const char *path, struct error **err)
{
	bool empty = false;
	int status;

	if (strlen(path) + 3 > PATH_MAX)
		return refuse(err, "its path is too long");
	status = take_file(store, path, err);
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
	store->file = -1;
	status = open_store(store, path, err);
	if (status)
		audit_store_free(store);
	else
		*out = store;
	return status;
}

/* ---- tables --------------------------------------------------------------------------------------------------------
 */

static const char *const statement_texts[STATEMENTS] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[VERSION] = "PRAGMA data_version",
	[INSERT] = "INSERT INTO audit_entries VALUES(?,?,?,?,?,?,?)",
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
