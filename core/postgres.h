/*
 * A PostgreSQL server on a Unix socket, asked with deadlines: one connection, one statement at a time, its rows as they
 * come. Nothing of a server's own words enters an error. A build without libpq has core/postgres_none.c in its place,
 * which refuses.
 */
#ifndef HARNESS_CORE_POSTGRES_H
#define HARNESS_CORE_POSTGRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define POSTGRES_FOLDER "/run/harness-postgres" /* of the socket, where ci/postgres puts it */
#define POSTGRES_SOCKET ".s.PGSQL.5432"
#define POSTGRES_COLUMNS_MAX 16
#define POSTGRES_VALUES_MAX 8
#define POSTGRES_STATEMENT_MS 1000 /* after which the server gives a statement up, and so a wait for a lock */
#define POSTGRES_URL_BYTES 320

/* Where a database is, as one argument: "postgresql:///NAME?host=FOLDER". ERROR_INPUT: a name or a folder of other
 * bytes than letters, digits and what stands in common paths, or too long. */
int postgres_url(const char *folder, const char *name, char out[POSTGRES_URL_BYTES], struct error **err) MUST_CHECK;
/* Whether a program's argument is such a place, and no path. */
bool postgres_is_url(const char *where);

struct postgres;

/* Connects as `role`; what the kernel says of us has to be enough. `where` is of postgres_url(). ERROR_CLOSED: no
 * server takes us there; ERROR_TIMEOUT: it says nothing until the absolute deadline; ERROR_REFUSED: this build has no
 * libpq. */
int postgres_open(const char *where, const char *role, int64_t deadline, struct postgres **out,
		  struct error **err) MUST_CHECK;
/* NULL-safe. */
void postgres_close(struct postgres *postgres);
static inline void postgres_cleanup(struct postgres **postgres)
{
	postgres_close(*postgres);
}
#define cleanup_postgres __attribute__((cleanup(postgres_cleanup)))

/* One row; a column of NULL has no text. Each text ends with a NUL that its length leaves out. */
struct postgres_column {
	const char *text;
	size_t length;
};
struct postgres_row {
	struct postgres_column columns[POSTGRES_COLUMNS_MAX];
	size_t count;
};
/* False: no more of them, the statement is ERROR_INPUT. */
typedef bool (*postgres_take)(void *context, const struct postgres_row *row);

/* Runs one statement with `values` for $1 and on, and hands over each row. Alone it is a transaction. `take` may be
 * NULL. ERROR_TIMEOUT: somebody else holds what it needs, or the deadline; ERROR_REFUSED: this role, or this
 * transaction, may not; ERROR_INPUT: there is no such thing there, or it is of another form; ERROR_CLOSED: the server
 * went away; ERROR_SYSTEM: else. After a deadline and after ERROR_CLOSED the connection is lost. */
int postgres_run(struct postgres *postgres, const char *sql, const char *const *values, size_t count, int64_t deadline,
		 postgres_take take, void *context, struct error **err) MUST_CHECK;
/* Whether only a new connection will do. */
bool postgres_lost(const struct postgres *postgres);

#endif
