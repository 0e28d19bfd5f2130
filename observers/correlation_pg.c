/*
 * libexec/observer-correlation-pg: as observer-correlation, with the rows of PostgreSQL, each with its transaction.
 * Inputs:
 *
 *   audit    folder: where the gateway's audit database lies, audit.db
 *   orders   folder: of the server's socket; the last argument names the database
 */
#include "observers/correlation.h"

static const struct orders_reader reader;

static int joining_open(struct observer *observer, struct error **err)
{
	return correlation_open(observer, &reader, err);
}

static const struct sensor sensor = {
	.name = "observer-correlation-pg",
	.state_size = sizeof(struct joining),
	.open = joining_open,
	.input = correlation_input,
	.report = correlation_report,
	.close = correlation_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}

static const struct orders_reader reader = { .read = orders_rows_read_pg, .tells = true };
