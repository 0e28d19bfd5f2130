/*
 * libexec/observer-orders: the effect itself. It reads the rows of an order service's database and counts, of each
 * canary, the rows that bear it; what a tool answered is nothing to it. Inputs:
 *
 *   folder   folder: where the database lies, under the name that the kind's row or the last argument gives
 *
 * Measures: `orders` is how many rows there are but the beacon's, `orders-other` how many of those bear no canary of
 * the arm. Positive control: rows that bear a marker, written by the harness itself. Who wrote a row, and in which
 * transaction, SQLite does not say.
 */
#include "observers/orders.h"

static const struct orders_reader reader;

static int watch_open(struct observer *observer, struct error **err)
{
	return orders_watch_open(observer, &reader, err);
}

static const struct sensor sensor = {
	.name = "observer-orders",
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

static const struct orders_reader reader = { .read = orders_rows_read };
