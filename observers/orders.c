#include "observers/orders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "observers/stream.h"

#define VIEW 0
#define WRITER "order_writer"
#define SERVICE "order_service"
#define DEPLOYMENT "order-service" /* the subject of another service, which writes as a role of its own */

static void clear(struct orders_watch *watch)
{
	counter_clear(&watch->counter);
	watch->marked = watch->others = watch->strangers = watch->markers[0] = watch->markers[1] = 0;
	watch->transactions_count = 0;
	watch->role[0] = '\0';
}

static void on_begin(void *context)
{
	clear(context);
}

static void on_told(void *context, const struct orders_row *row)
{
	struct orders_watch *watch = context;

	snprintf(watch->role, sizeof(watch->role), "%s", row->role ? row->role : "");
	watch->transaction = row->transaction;
}

static void on_text(void *context, const char *bytes, size_t length)
{
	struct orders_watch *watch = context;

	counter_apart(&watch->counter, bytes, length);
}

/* Whether the role that wrote the row is that of the path whose canary it bears. */
static bool role_fits(const struct orders_watch *watch, const struct observed *observed)
{
	bool writer = observed->marker || strcmp(observed->subject, DEPLOYMENT) == 0;

	return !watch->reader->tells || strcmp(watch->role, writer ? WRITER : SERVICE) == 0;
}

static void keep_transaction(struct orders_watch *watch)
{
	if (!watch->reader->tells)
		return;
	if (watch->transactions_count == ORDERS_TRANSACTIONS_MAX)
		watch->limit = true;
	else
		watch->transactions[watch->transactions_count++] = watch->transaction;
}

/* Before the counter ends the row: whose canary it bears. */
static void on_row(void *context)
{
	struct orders_watch *watch = context;
	bool marked = false, borne = false, strange = false;

	for (size_t i = 0; i < watch->observer->count; i++) {
		const struct observed *observed = &watch->observer->subjects[i];

		if (watch->counter.current[i] == 0)
			continue;
		borne = true;
		strange = strange || !role_fits(watch, observed);
		if (!observed->marker || !role_fits(watch, observed))
			continue;
		marked = true;
		watch->markers[observed->phase]++;
	}
	watch->marked += marked;
	watch->others += !borne;
	watch->strangers += strange;
	if (!marked)
		keep_transaction(watch);
	counter_end(&watch->counter);
}

int orders_watch_open(struct observer *observer, const struct orders_reader *reader, struct error **err)
{
	struct orders_watch *watch = observer->state;

	*watch = (struct orders_watch){
		.observer = observer,
		.reader = reader,
		.folder = -1,
		.rows = { .begin = on_begin, .row = on_told, .text = on_text, .end = on_row, .context = watch }
	};
	if (reader->tells) {
		watch->transactions = calloc(ORDERS_TRANSACTIONS_MAX, sizeof(*watch->transactions));
		if (!watch->transactions)
			return error_set(err, ERROR_MEMORY, "no memory for transactions");
	}
	return counter_open_encoded(&watch->counter, observer, err);
}

int orders_watch_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct orders_watch *watch = observer->state;
	const struct input inputs[] = { { .name = "folder", .folder = &watch->folder } };

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

static int look(struct orders_watch *watch, struct error **err)
{
	struct observer *observer = watch->observer;
	int status = 0;

	clear(watch);
	watch->limit = false;
	watch->reason = WIRE_REASON_INPUT_MISSING;
	if (watch->folder >= 0 && (observer->extra || observer->kind->argument))
		watch->reason = watch->reader->read(&watch->rows, watch->folder,
						    observer->extra ? observer->extra : observer->kind->argument);
	if (watch->reason == WIRE_REASON_NONE && watch->limit)
		watch->reason = WIRE_REASON_LIMIT;
	if (watch->reason == WIRE_REASON_TRUNCATED)
		status = observer_blind(observer, VIEW, WIRE_REASON_TRUNCATED, err);
	for (int phase = 0; phase < 2 && !status && watch->reason == WIRE_REASON_NONE; phase++) {
		uint64_t seen = observer->views[VIEW].beacons[phase];

		if (watch->markers[phase] > seen)
			status = observer_beacon(observer, VIEW, phase, watch->markers[phase] - seen, err);
	}
	return status;
}

static int report_measure(const struct orders_watch *watch, const char *name, uint64_t value, enum wire_phase phase,
			  struct error **err)
{
	struct wire_record record = { .kind = WIRE_COUNT, .reason = watch->reason, .value = (int64_t)value };

	record.connections = (int64_t)watch->rows.rows;
	return observer_record(watch->observer, VIEW, name, phase, &record, err);
}

static int by_number(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

static uint64_t distinct(struct orders_watch *watch)
{
	uint64_t count = 0;

	qsort(watch->transactions, watch->transactions_count, sizeof(*watch->transactions), by_number);
	for (size_t i = 0; i < watch->transactions_count; i++)
		count += i == 0 || watch->transactions[i] != watch->transactions[i - 1];
	return count;
}

int orders_watch_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct orders_watch *watch = observer->state;
	int status = look(watch, err);

	if (status == 0)
		status = report_measure(watch, "orders", watch->rows.rows - watch->marked, phase, err);
	if (status == 0)
		status = report_measure(watch, "orders-other", watch->others, phase, err);
	if (status == 0 && watch->reader->tells)
		status = report_measure(watch, "roles-other", watch->strangers, phase, err);
	if (status == 0 && watch->reader->tells)
		status = report_measure(watch, "transactions", distinct(watch), phase, err);
	for (size_t i = 0; i < observer->count && !status; i++) {
		const struct observed *observed = &observer->subjects[i];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.reason = watch->reason,
			.value = (int64_t)watch->counter.records[i],
			.hits = (int64_t)watch->counter.hits[i],
			.connections = (int64_t)watch->rows.rows,
		};

		if (!observed->marker && observed->scanned)
			status = observer_record(observer, VIEW, observed->subject, phase, &record, err);
	}
	return status;
}

void orders_watch_close(struct observer *observer)
{
	struct orders_watch *watch = observer->state;

	/* Without an observer it was never opened, and the descriptor of zero is not its own. */
	if (!watch->observer)
		return;
	counter_close(&watch->counter);
	free(watch->transactions);
	fd_close(&watch->folder);
}
