/*
 * An SQLite database that somebody else writes or wrote, opened for reading so that nothing of it changes: where a
 * writer is connected it is read in place under SQLite's locks; where nobody is, and a write-ahead log lies beside it,
 * both are copied to a folder of our own, since a reader would have to make or mend files; else it is read as it lies.
 */
#ifndef HARNESS_CORE_DATABASE_H
#define HARNESS_CORE_DATABASE_H

#include "core/error.h"

#define DATABASE_BYTES (1024LL * 1024 * 1024) /* what is copied at most */
#define DATABASE_ROW_BYTES (16 * 1024 * 1024)
#define DATABASE_BUSY_MS 1000 /* for a lock of somebody else's */

struct sqlite3; /* SQLite's connection */
struct database;

/* Opens the regular file `name` below `folder` (a descriptor, or AT_FDCWD). Must not be called in a process that has
 * the same database open otherwise: closing a descriptor would drop that connection's locks. ERROR_INPUT: no database,
 * or one that cannot be read. ERROR_TIMEOUT: somebody else held it all the while. */
int database_open(int folder, const char *name, struct database **out, struct error **err) MUST_CHECK;
struct sqlite3 *database_connection(const struct database *database);
/* ERROR_INPUT when somebody wrote to it while it was read without his locks: what was read may be no one state. Asked
 * when all was read. */
int database_unchanged(const struct database *database, struct error **err) MUST_CHECK;
/* NULL-safe. */
void database_close(struct database *database);
static inline void database_cleanup(struct database **database)
{
	database_close(*database);
}
#define cleanup_database __attribute__((cleanup(database_cleanup)))

/* What an SQLite code means, as fixed text: SQLite's own may hold data. */
const char *database_reason(int code);

#endif
