/*
 * libexec/observer-correlation: whether calls and orders belong together. It reads the gateway's audit chain and the
 * order service's database, each by itself, and joins the call, its entry and the row by the hash of what was asked
 * for, which it computes of the row: nobody's answer is taken for an effect. Inputs:
 *
 *   audit    folder: where the gateway's audit database lies, audit.db
 *   orders   folder: where the database of orders lies, orders.db
 *
 * Its measures are how many findings of each kind there are (core/correlate.h), and `row-without-id`: how many of those
 * that are joined bear no id, and belong to their call by what was asked for alone. Rows that bear the canary of
 * another subject than the tool's are that path's, and no matter of a call. Positive control: the marker of each phase,
 * as a beacon's entry in the one database and as a row in the other; the fewer of both count.
 */
#include "observers/correlation.h"

static const struct orders_reader reader;

static int joining_open(struct observer *observer, struct error **err)
{
	return correlation_open(observer, &reader, err);
}

static const struct sensor sensor = {
	.name = "observer-correlation",
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

static const struct orders_reader reader = { .read = orders_rows_read };
