/* Orders in a PostgreSQL database: a table that others made, and this service may add to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/postgres.h"
#include "services/orders_store.h"

#define ORDER_MS 2000
#define INSERT                                                                                                         \
	"INSERT INTO public.orders (reference, item, quantity, call) VALUES ($1, $2, $3::bigint, $4) RETURNING id"
/* What such an order would do, without one. */
#define CHECK                                                                                                          \
	"INSERT INTO public.orders (reference, item, quantity, call) SELECT '', '', 1, '' WHERE false RETURNING id"
#define DECIMAL 10
#define DIGITS 24

struct pg_orders {
	struct orders orders;
	struct postgres *connection; /* NULL: it was lost */
	char url[POSTGRES_URL_BYTES];
};
static const struct orders_store store;

static int refuse(struct pg_orders *of, const char *doing, struct error **err)
{
	if (of->connection && postgres_lost(of->connection))
		postgres_close(steal_pointer(&of->connection));
	return error_wrap(err, "%s", doing);
}

static int connect_as_service(struct pg_orders *of, struct error **err)
{
	int64_t deadline = clock_deadline(ORDER_MS);

	if (postgres_open(of->url, ORDERS_ROLE, deadline, &of->connection, err) < 0 ||
	    postgres_run(of->connection, CHECK, NULL, 0, deadline, NULL, NULL, err) < 0)
		return refuse(of, "opening the database of orders", err);
	return 0;
}

static void close_pg(struct orders *orders)
{
	struct pg_orders *of = (struct pg_orders *)orders;

	postgres_close(of->connection);
	free(of);
}

int orders_open_pg(const char *url, struct orders **out, struct error **err)
{
	struct pg_orders *of = calloc(1, sizeof(*of));
	cleanup_orders struct orders *orders = of ? &of->orders : NULL;
	int status;

	if (!of)
		return error_set(err, ERROR_MEMORY, "no memory for the orders");
	orders->store = &store;
	if (strlen(url) >= sizeof(of->url))
		return error_set(err, ERROR_INPUT, "the database's place is too long");
	snprintf(of->url, sizeof(of->url), "%s", url);
	status = connect_as_service(of, err);
	if (status < 0)
		return status;
	*out = steal_pointer(&orders);
	return 0;
}

static bool take_id(void *context, const struct postgres_row *row)
{
	int64_t *id = context;

	if (row->count != 1 || !row->columns[0].text)
		return false;
	*id = strtoll(row->columns[0].text, NULL, DECIMAL);
	return true;
}

static int create_pg(struct orders *orders, const struct order *order, const char *call, int64_t *id,
		     struct error **err)
{
	struct pg_orders *of = (struct pg_orders *)orders;
	char quantity[DIGITS];
	const char *const values[] = { order->reference, order->item, quantity, call };
	int64_t made = 0;

	/* A server that was away may be back. */
	if (!of->connection && connect_as_service(of, err) < 0)
		return -1;
	snprintf(quantity, sizeof(quantity), "%" PRId64, order->quantity);
	if (postgres_run(of->connection, INSERT, values, ARRAY_SIZE(values), clock_deadline(ORDER_MS), take_id, &made,
			 err) < 0)
		return refuse(of, "writing an order", err);
	*id = made;
	return 0;
}

static const struct orders_store store = { .create = create_pg, .close = close_pg };
