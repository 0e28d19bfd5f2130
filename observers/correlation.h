/*
 * What the observers of correlation have in common: calls of a gateway's audit chain and rows of the order service's
 * database are joined. Of observers/correlation*.c alone; each is a program with its own reader of rows.
 */
#ifndef HARNESS_OBSERVERS_CORRELATION_H
#define HARNESS_OBSERVERS_CORRELATION_H

#include "core/correlate.h"
#include "observers/audit_chain.h"
#include "observers/observer.h"
#include "observers/orders_rows.h"

struct joining {
	struct observer *observer;
	int audit, orders;
	const struct orders_reader *source;
	struct orders_rows reader;
	char beacon[2][AUDIT_REQUEST_BYTES];
	struct correlate_call *calls;
	size_t calls_count;
	char (*intents)[ID_MAX]; /* ids of calls that were allowed and had not gone out yet */
	size_t intents_count;
	struct correlate_row *rows;
	size_t rows_count;
	uint64_t read, known; /* entries of this reading of the chain, and of the one before */
	uint64_t entries[2], marked[2]; /* markers of each phase, in the one and in the other */
	bool limit;
	enum wire_reason reason;
};

/* The operations of a sensor whose state is one struct joining; `reader` outlives it. */
int correlation_open(struct observer *observer, const struct orders_reader *reader, struct error **err) MUST_CHECK;
int correlation_input(struct observer *observer, const char *name, int fd, struct error **err) MUST_CHECK;
int correlation_report(struct observer *observer, enum wire_phase phase, struct error **err) MUST_CHECK;
void correlation_close(struct observer *observer);

#endif
