/* Orders in an SQLite database: a file. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/database.h"
#include "core/fd.h"
#include "services/orders_store.h"

#define TABLE                                                                                                          \
	"CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, reference TEXT NOT NULL, item TEXT NOT NULL, "     \
	"quantity INTEGER NOT NULL, call TEXT NOT NULL) STRICT"
#define INSERT "INSERT INTO orders (reference, item, quantity, call) VALUES (?1, ?2, ?3, ?4)"

struct sqlite_orders {
	struct orders orders;
	sqlite3 *connection;
	sqlite3_stmt *insert;
};
static const struct orders_store store;

static int refuse(int code, const char *doing, struct error **err)
{
	int low = code & 0xff;

	return error_set(err, low == SQLITE_BUSY || low == SQLITE_LOCKED ? ERROR_TIMEOUT : ERROR_SYSTEM, "%s: %s",
			 doing, database_reason(code));
}

/* Makes the table where there is none yet. */
static int make_table(struct sqlite_orders *orders, struct error **err)
{
	static const char again[] = "table orders already exists";
	int code = sqlite3_exec(orders->connection, TABLE, NULL, NULL, NULL);

	if (code == SQLITE_ERROR && strcmp(sqlite3_errmsg(orders->connection), again) == 0)
		return 0;
	return code == SQLITE_OK ? 0 : refuse(code, "making the table of orders", err);
}

static int check_table(const struct sqlite_orders *orders, struct error **err)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(orders->connection, "SELECT sql FROM sqlite_schema WHERE name = 'orders'", -1,
				      &row, NULL);
	bool same = false;

	if (code == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW && sqlite3_column_type(row, 0) == SQLITE_TEXT)
		same = strcmp((const char *)sqlite3_column_text(row, 0), TABLE) == 0;
	(void)sqlite3_finalize(row);
	return same ? 0 : error_set(err, ERROR_INPUT, "the table of orders is of another form");
}

static int prepare(struct sqlite_orders *orders, const char *path, struct error **err)
{
	int code = sqlite3_open_v2(path, &orders->connection,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
	int status;

	if (code == SQLITE_OK)
		code = sqlite3_busy_timeout(orders->connection, ORDER_BUSY_MS);
	if (code != SQLITE_OK)
		return refuse(code, "opening the database of orders", err);
	status = make_table(orders, err);
	if (status == 0)
		status = check_table(orders, err);
	if (status < 0)
		return status;
	code = sqlite3_prepare_v2(orders->connection, INSERT, -1, &orders->insert, NULL);
	return code == SQLITE_OK ? 0 : refuse(code, "preparing an order", err);
}

static void close_sqlite(struct orders *orders)
{
	struct sqlite_orders *of = (struct sqlite_orders *)orders;

	(void)sqlite3_finalize(of->insert);
	(void)sqlite3_close(of->connection);
	free(of);
}

int orders_open_sqlite(const char *path, struct orders **out, struct error **err)
{
	struct sqlite_orders *of = calloc(1, sizeof(*of));
	cleanup_orders struct orders *orders = of ? &of->orders : NULL;
	cleanup_fd int fd = -1;
	int status;

	if (!of)
		return error_set(err, ERROR_MEMORY, "no memory for the orders");
	orders->store = &store;
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, errno, "the database of orders");
	fd_close(&fd);
	status = prepare(of, path, err);
	if (status < 0)
		return status;
	*out = steal_pointer(&orders);
	return 0;
}

static int create_sqlite(struct orders *orders, const struct order *order, const char *call, int64_t *id,
			 struct error **err)
{
	const struct sqlite_orders *of = (struct sqlite_orders *)orders;
	sqlite3_stmt *insert = of->insert;
	int code = sqlite3_bind_text(insert, 1, order->reference, -1, SQLITE_STATIC);

	if (code == SQLITE_OK)
		code = sqlite3_bind_text(insert, 2, order->item, -1, SQLITE_STATIC);
	if (code == SQLITE_OK)
		code = sqlite3_bind_int64(insert, 3, order->quantity);
	if (code == SQLITE_OK)
		code = sqlite3_bind_text(insert, 4, call, -1, SQLITE_STATIC);
	/* Alone it is a transaction, which ends with the step. */
	if (code == SQLITE_OK)
		code = sqlite3_step(insert);
	(void)sqlite3_reset(insert);
	(void)sqlite3_clear_bindings(insert);
	if (code != SQLITE_DONE)
		return refuse(code, "writing an order", err);
	*id = sqlite3_last_insert_rowid(of->connection);
	return 0;
}

static const struct orders_store store = { .create = create_sqlite, .close = close_sqlite };
