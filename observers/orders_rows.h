/*
 * The rows of an order service's database, read by who has no line of that service's: SQL of its own, read-only. What
 * is committed is there; what was rolled back never was.
 */
#ifndef HARNESS_OBSERVERS_ORDERS_ROWS_H
#define HARNESS_OBSERVERS_ORDERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observers/wire.h"

struct orders_row {
	int64_t number, quantity;
	const char *reference, *item, *call;
	const char *role; /* who wrote it, by the database's word; NULL: not established */
	uint64_t transaction; /* in which it was written; 0: not established */
};

struct orders_rows {
	int64_t last; /* the highest number of the reading before; 0 at first. Updated by a reading that succeeds. */
	uint64_t known; /* how many rows there were then */
	uint64_t newest; /* the highest transaction then; 0 where none is established */
	uint64_t rows; /* of this reading */
	/* A reading begins, perhaps anew: what was told before is void. */
	void (*begin)(void *context);
	/* Every text of a row, one after the other, then its end. */
	void (*text)(void *context, const char *bytes, size_t length);
	void (*end)(void *context);
	void (*row)(void *context, const struct orders_row *row); /* or NULL; before its texts */
	void *context;
};

/* Reads database `name` in `folder`. INPUT_MISSING when there is none; TIMEOUT when somebody holds it; INPUT_INVALID
 * when it is none, or its table is of another form; TRUNCATED when rows of the reading before are gone, or numbers of
 * rows that were there at any time: it was reset, or somebody deletes orders. */
enum wire_reason orders_rows_read(struct orders_rows *rows, int folder, const char *name);
/* The same of PostgreSQL: `folder` is that of the server's socket, `name` the database's. Each row says its role and
 * its transaction, which is not established, and so the table of another form, where a writer could have given them. */
enum wire_reason orders_rows_read_pg(struct orders_rows *rows, int folder, const char *name);

/* Where an observer reads rows, and who can be told apart there. */
struct orders_reader {
	enum wire_reason (*read)(struct orders_rows *rows, int folder, const char *name);
	bool tells; /* each row says its role and its transaction */
};

#endif
