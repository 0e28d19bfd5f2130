/*
 * What the observers of orders have in common: rows of a database are counted by the canary that they bear, and where
 * the database says so by the role and the transaction that wrote them. Of observers/orders*.c alone; each is a program
 * with its own reader.
 */
#ifndef HARNESS_OBSERVERS_ORDERS_H
#define HARNESS_OBSERVERS_ORDERS_H

#include "observers/counter.h"
#include "observers/observer.h"
#include "observers/orders_rows.h"

#define ORDERS_TRANSACTIONS_MAX 65536

struct orders_watch {
	struct observer *observer;
	const struct orders_reader *reader;
	int folder;
	struct counter counter; /* of the reading under way */
	struct orders_rows rows;
	uint64_t marked, others; /* of the reading under way */
	uint64_t strangers; /* rows of a path that another role wrote */
	uint64_t markers[2]; /* by phase */
	char role[NAME_MAX_SHORT * 2]; /* of the row under way */
	uint64_t transaction;
	uint64_t *transactions; /* of the reading under way, but the beacon's; NULL where none is told */
	size_t transactions_count;
	bool limit;
	enum wire_reason reason;
};

/* The operations of a sensor whose state is one struct orders_watch; `reader` outlives it. */
int orders_watch_open(struct observer *observer, const struct orders_reader *reader, struct error **err) MUST_CHECK;
int orders_watch_input(struct observer *observer, const char *name, int fd, struct error **err) MUST_CHECK;
int orders_watch_report(struct observer *observer, enum wire_phase phase, struct error **err) MUST_CHECK;
void orders_watch_close(struct observer *observer);

#endif
