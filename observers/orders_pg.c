/*
 * libexec/observer-orders-pg: the same effect, in PostgreSQL, as the role order_observer, which may read the table and
 * do nothing else. Inputs:
 *
 *   folder   folder: of the server's socket; the last argument names the database
 *
 * Measures: beside those of observer-orders `roles-other`, rows that bear a path's canary and were written by another
 * role than that path's, and `transactions`, in how many transactions the rows but the beacon's were written. Positive
 * control: rows that bear a marker, of the role order_writer.
 */
#include "observers/orders.h"

static const struct orders_reader reader;

static int watch_open(struct observer *observer, struct error **err)
{
	return orders_watch_open(observer, &reader, err);
}

static const struct sensor sensor = {
	.name = "observer-orders-pg",
	.state_size = sizeof(struct orders_watch),
	.open = watch_open,
	.input = orders_watch_input,
	.report = orders_watch_report,
	.close = orders_watch_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}

static const struct orders_reader reader = { .read = orders_rows_read_pg, .tells = true };
