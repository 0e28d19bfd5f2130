#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/database.h"
#include "core/fd.h"
#include "gateway/audit_row.h"
#include "gateway/audit_store.h"

struct chain {
	int64_t next; /* sequence number */
	char tip[HEX_SHA256]; /* hash of the entry before; "" before the first chain */
};

static int sqlite_error(struct error **err, int code)
{
	/* No such table, or no such column. */
	const char *reason = code == SQLITE_ERROR ? "it holds no audit chain" : database_reason(code);

	return error_set(err, ERROR_INPUT, "reading an audit database: %s", reason);
}

/* Whether the row goes on with the chain, or begins another; else why not. */
static const char *follow(struct chain *chain, const struct audit_row *row, struct audit_verdict *verdict)
{
	bool first = strcmp(row->prev_entry_hash, AUDIT_GENESIS) == 0;

	if (first && (row->sequence_number != 0 || strcmp(row->entry_type, AUDIT_FIRST_TYPE) != 0))
		return "a chain does not begin with the start of a session";
	if (!first && strcmp(row->prev_entry_hash, chain->tip) != 0)
		return "the link to the entry before is broken";
	if (!first && row->sequence_number != chain->next)
		return "a sequence number is missing";
	verdict->chains += first;
	chain->next = row->sequence_number + 1;
	snprintf(chain->tip, sizeof(chain->tip), "%s", row->entry_hash);
	return NULL;
}

static const char *check_row(struct chain *chain, sqlite3_stmt *statement, struct audit_verdict *verdict)
{
	struct audit_row row;
	const char *reason;

	if (!audit_row_read(statement, &row)) {
		verdict->broken_at = chain->next;
		return "a column is not of its type";
	}
	reason = audit_row_check(&row, NULL);
	if (!reason)
		reason = follow(chain, &row, verdict);
	if (reason)
		verdict->broken_at = row.sequence_number < 0 ? chain->next : row.sequence_number;
	return reason;
}

/* In the order in which they were written, by the table alone: an index may say something else. */
static int check_rows(sqlite3 *connection, struct audit_verdict *verdict, struct error **err)
{
	struct chain chain = { 0 };
	sqlite3_stmt *statement = NULL;
	int code =
		sqlite3_prepare_v2(connection, "SELECT " AUDIT_COLUMNS " FROM audit_entries NOT INDEXED ORDER BY rowid",
				   -1, &statement, NULL);

	while (code == SQLITE_OK && !verdict->reason) {
		if (sqlite3_step(statement) != SQLITE_ROW)
			break;
		verdict->reason = check_row(&chain, statement, verdict);
		verdict->entries += !verdict->reason;
	}
	/* Says the last step's code, when that was an error. */
	if (code == SQLITE_OK)
		code = sqlite3_reset(statement);
	(void)sqlite3_finalize(statement);
	return code == SQLITE_OK ? 0 : sqlite_error(err, code);
}

static int count_sessions(sqlite3 *connection, int64_t *out, struct error **err)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(connection, "SELECT count(DISTINCT session_id) FROM audit_entries NOT INDEXED",
				      -1, &statement, NULL);

	if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		*out = sqlite3_column_int64(statement, 0);
	if (code == SQLITE_OK)
		code = sqlite3_reset(statement);
	(void)sqlite3_finalize(statement);
	return code == SQLITE_OK ? 0 : sqlite_error(err, code);
}

/* Both queries see one state. */
static int check_database(sqlite3 *connection, struct audit_verdict *verdict, struct error **err)
{
	int code = sqlite3_exec(connection, "BEGIN", NULL, NULL, NULL);
	int status = code == SQLITE_OK ? 0 : sqlite_error(err, code);

	if (!status)
		status = check_rows(connection, verdict, err);
	return status ? status : count_sessions(connection, &verdict->sessions, err);
}

static int open_folder(const char *path, const char **name, int *folder, struct error **err)
{
	char parent[PATH_MAX] = ".";
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;

	if (length >= sizeof(parent))
		return error_set(err, ERROR_INPUT, "an audit database's path is too long");
	if (slash)
		snprintf(parent, sizeof(parent), "%.*s", length ? (int)length : 1, length ? path : "/");
	*name = slash ? slash + 1 : path;
	*folder = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *folder < 0 ? error_errno(err, errno, "opening an audit database's folder") : 0;
}

int audit_verify(const char *path, struct audit_verdict *out, struct error **err)
{
	cleanup_database struct database *database = NULL;
	cleanup_fd int folder = -1;
	const char *name = NULL;
	int status = open_folder(path, &name, &folder, err);

	*out = (struct audit_verdict){ .broken_at = -1 };
	if (!status)
		status = database_open(folder, name, &database, err);
	if (!status)
		status = check_database(database_connection(database), out, err);
	return status ? status : database_unchanged(database, err);
}
