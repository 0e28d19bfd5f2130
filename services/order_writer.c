/*
 * libexec/order-writer DATABASE: another service, on the deployment's side, that writes to the database of orders by
 * itself: to SQLite, or with a URL to PostgreSQL. Standard input is the reference of its one order. No line of the
 * order service is in it, and nothing that confines an agent concerns it.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/database.h"
#include "core/fd.h"
#include "core/postgres.h"
#include "core/spawn.h"

#define ROLE "order_writer"
#define REFERENCE_BYTES 255
#define BUSY_MS 1000
#define READ_MS 5000
#define EXIT_ERROR 3
#define EXIT_USAGE 4

static int insert(sqlite3 *connection, const struct buf *reference)
{
	static const char sql[] =
		"INSERT INTO orders (reference, item, quantity, call) VALUES (?1, 'of another service', 1, '')";
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(connection, sql, -1, &row, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_bind_text(row, 1, reference->data, (int)reference->length, SQLITE_STATIC);
	if (code == SQLITE_OK)
		code = sqlite3_step(row);
	(void)sqlite3_finalize(row);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int write_order(const char *path, const struct buf *reference, struct error **err)
{
	sqlite3 *connection = NULL;
	int code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_PRIVATECACHE, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_busy_timeout(connection, BUSY_MS);
	if (code == SQLITE_OK)
		code = insert(connection, reference);
	(void)sqlite3_close(connection);
	return code == SQLITE_OK ? 0 : error_set(err, ERROR_SYSTEM, "writing an order: %s", database_reason(code));
}

static int write_pg(const char *url, struct buf *reference, struct error **err)
{
	static const char sql[] =
		"INSERT INTO public.orders (reference, item, quantity, call) VALUES ($1, 'of another service', 1, '')";
	const char *const values[] = { buf_string(reference) };
	cleanup_postgres struct postgres *connection = NULL;
	int64_t deadline = clock_deadline(READ_MS);

	if (postgres_open(url, ROLE, deadline, &connection, err) < 0 ||
	    postgres_run(connection, sql, values, 1, deadline, NULL, NULL, err) < 0)
		return error_wrap(err, "writing an order");
	return 0;
}

static int run(const char *path, struct error **err)
{
	cleanup_buf struct buf reference = BUF(REFERENCE_BYTES);

	if (process_harden(true, 0, err) < 0 || fd_read_all(STDIN_FILENO, &reference, clock_deadline(READ_MS), err) < 0)
		return -1;
	if (reference.length == 0)
		return error_set(err, ERROR_INPUT, "standard input holds no reference");
	return postgres_is_url(path) ? write_pg(path, &reference, err) : write_order(path, &reference, err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: order-writer DATABASE < REFERENCE\n");
		return EXIT_USAGE;
	}
	if (run(argv[1], &err) == 0)
		return 0;
	fprintf(stderr, "order-writer: %s\n", error_text(err));
	return EXIT_ERROR;
}
