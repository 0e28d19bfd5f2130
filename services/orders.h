/*
 * The orders of an example's order service: one table in an SQLite database, or in one of PostgreSQL. A row is an
 * order: there is nothing before its commit and nothing to be done behind it. Whoever can write to the database can
 * make one.
 */
#ifndef HARNESS_SERVICES_ORDERS_H
#define HARNESS_SERVICES_ORDERS_H

#include <stdint.h>

#include "core/error.h"
#include "core/json.h"
#include "core/limits.h"
#include "core/schema.h"

#define ORDER_TEXT 256
/* Of the example as a whole: what its programs do. The order service says it, in its greeting on either face. */
#define ORDER_REVISION "example-1"
#define ORDER_BUSY_MS 1000 /* for a lock of somebody else's */

struct order {
	char reference[ORDER_TEXT];
	char item[NAME_MAX_SHORT];
	int64_t quantity;
};
extern const struct schema_field order_fields[];

struct orders;

/* Opens the database `where`. A path is SQLite's, which is made, with mode 0600, when there is none; what
 * core/postgres.h calls a URL is PostgreSQL's, where the table is there already, and is written to as role
 * ORDERS_ROLE. ERROR_INPUT: no database, or one of another schema. */
#define ORDERS_ROLE "order_service"
int orders_open(const char *where, struct orders **out, struct error **err) MUST_CHECK;
void orders_close(struct orders *orders); /* NULL-safe */
static inline void orders_cleanup(struct orders **orders)
{
	orders_close(*orders);
}
#define cleanup_orders __attribute__((cleanup(orders_cleanup)))

/* Commits one row, in a transaction of its own; *id is its number. `call` is the id under which the caller was
 * authorised, or "". ERROR_TIMEOUT: somebody else holds the database; another: it cannot be written. */
int orders_create(struct orders *orders, const struct order *order, const char *call, int64_t *id,
		  struct error **err) MUST_CHECK;

/* One order as JSON. ERROR_INPUT: another form. */
int order_read(const char *bytes, size_t length, struct order *out, struct error **err) MUST_CHECK;

#endif
