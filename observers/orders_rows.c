#include "observers/orders_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "core/database.h"
#include "core/fd.h"

#define TRIES 3 /* a writer that ends meanwhile makes one useless */
#define QUERY "SELECT id, reference, item, quantity, call FROM orders NOT INDEXED ORDER BY id"
enum { NUMBER, REFERENCE, ITEM, QUANTITY, CALL, COLUMNS };

static const int types[COLUMNS];

/* Whether a number that was given is given to no other row: as SQLite understood the table, not as its text reads. */
static bool never_again(sqlite3 *connection)
{
	int counts = 0;

	return sqlite3_table_column_metadata(connection, "main", "orders", "id", NULL, NULL, NULL, NULL, &counts) ==
		       SQLITE_OK &&
	       counts;
}

/* A view, a table with other columns, or one that gives a number again, might show what is no order, or hide one. */
static bool form_holds(sqlite3 *connection)
{
	static const char *const names[COLUMNS] = { "id", "reference", "item", "quantity", "call" };
	sqlite3_stmt *column = NULL;
	int at = 0, code = sqlite3_prepare_v2(connection,
					      "SELECT c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c "
					      "WHERE s.name = 'orders' AND s.type = 'table' ORDER BY c.cid",
					      -1, &column, NULL);
	bool same = code == SQLITE_OK && never_again(connection);

	while (same && (code = sqlite3_step(column)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(column, 0);

		same = at < COLUMNS && name && strcmp(name, names[at]) == 0;
		at++;
	}
	(void)sqlite3_finalize(column);
	return same && code == SQLITE_DONE && at == COLUMNS;
}

/* The number that the table last gave to a row, which it gives to none again; 0: it never gave one. Negative: it keeps
 * no such account. */
static int64_t last_given(sqlite3 *connection)
{
	sqlite3_stmt *row = NULL;
	int code =
		sqlite3_prepare_v2(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'orders'", -1, &row, NULL);
	int64_t given = -1;

	if (code == SQLITE_OK)
		code = sqlite3_step(row);
	if (code == SQLITE_DONE)
		given = 0;
	else if (code == SQLITE_ROW && sqlite3_column_type(row, 0) == SQLITE_INTEGER)
		given = sqlite3_column_int64(row, 0);
	(void)sqlite3_finalize(row);
	return given;
}

static bool take(struct orders_rows *rows, sqlite3_stmt *row, uint64_t *still)
{
	int64_t number = sqlite3_column_int64(row, NUMBER);

	for (int i = 0; i < COLUMNS; i++)
		if (sqlite3_column_type(row, i) != types[i])
			return false;
	*still += number <= rows->last;
	rows->rows++;
	if (rows->row) {
		const struct orders_row one = {
			.number = number,
			.quantity = sqlite3_column_int64(row, QUANTITY),
			.reference = (const char *)sqlite3_column_text(row, REFERENCE),
			.item = (const char *)sqlite3_column_text(row, ITEM),
			.call = (const char *)sqlite3_column_text(row, CALL),
		};

		if (!one.reference || !one.item || !one.call)
			return false;
		rows->row(rows->context, &one);
	}
	for (int i = 0; i < COLUMNS; i++) {
		const char *text = types[i] == SQLITE_TEXT ? (const char *)sqlite3_column_text(row, i) : NULL;

		if (text)
			rows->text(rows->context, text, (size_t)sqlite3_column_bytes(row, i));
	}
	rows->end(rows->context);
	return true;
}

static enum wire_reason reason_of(int code)
{
	int low = code & 0xff;

	return low == SQLITE_BUSY || low == SQLITE_LOCKED ? WIRE_REASON_TIMEOUT : WIRE_REASON_INPUT_INVALID;
}

/* All in one transaction: of one state. Numbers are given one after the other, and what was rolled back took none: one
 * that is not there any more was an order. */
static enum wire_reason read_rows(struct orders_rows *rows, sqlite3 *connection, int64_t *last)
{
	enum wire_reason reason = WIRE_REASON_NONE;
	sqlite3_stmt *row = NULL;
	uint64_t still = 0;
	int64_t given;
	int code = sqlite3_exec(connection, "BEGIN", NULL, NULL, NULL);
	bool all = true;

	rows->rows = 0;
	*last = 0;
	rows->begin(rows->context);
	if (code != SQLITE_OK || !form_holds(connection))
		return WIRE_REASON_INPUT_INVALID;
	given = last_given(connection);
	if (given < 0)
		return WIRE_REASON_INPUT_INVALID;
	if (sqlite3_prepare_v2(connection, QUERY, -1, &row, NULL) != SQLITE_OK)
		return WIRE_REASON_INPUT_INVALID;
	while (reason == WIRE_REASON_NONE && (code = sqlite3_step(row)) == SQLITE_ROW) {
		*last = sqlite3_column_int64(row, NUMBER);
		if (!take(rows, row, &still))
			reason = WIRE_REASON_INPUT_INVALID;
		all = all && *last == (int64_t)rows->rows;
	}
	if (reason == WIRE_REASON_NONE && code != SQLITE_DONE)
		reason = reason_of(code);
	if (reason == WIRE_REASON_NONE && (still < rows->known || !all || *last != given))
		reason = WIRE_REASON_TRUNCATED;
	(void)sqlite3_finalize(row);
	return reason;
}

enum wire_reason orders_rows_read(struct orders_rows *rows, int folder, const char *name)
{
	struct stat about;

	rows->rows = 0;
	if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? WIRE_REASON_INPUT_MISSING : WIRE_REASON_INPUT_INVALID;
	for (int try = 0; try < TRIES; try++) {
		cleanup_database struct database *database = NULL;
		cleanup_error struct error *err = NULL;
		enum wire_reason reason;
		int64_t last;

		if (database_open(folder, name, &database, &err) < 0)
			return error_code(err) == ERROR_TIMEOUT ? WIRE_REASON_TIMEOUT : WIRE_REASON_INPUT_INVALID;
		reason = read_rows(rows, database_connection(database), &last);
		if (reason != WIRE_REASON_NONE)
			return reason;
		if (database_unchanged(database, &err) < 0)
			continue;
		rows->last = last;
		rows->known = rows->rows;
		return WIRE_REASON_NONE;
	}
	return WIRE_REASON_INPUT_INVALID;
}

static const int types[COLUMNS] = {
	[NUMBER] = SQLITE_INTEGER,   [REFERENCE] = SQLITE_TEXT, [ITEM] = SQLITE_TEXT,
	[QUANTITY] = SQLITE_INTEGER, [CALL] = SQLITE_TEXT,
};
