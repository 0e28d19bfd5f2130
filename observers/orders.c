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
#include <string.h>

#include "core/fd.h"
#include "observers/counter.h"
#include "observers/observer.h"
#include "observers/orders_rows.h"
#include "observers/stream.h"

#define VIEW 0

struct watch {
	struct observer *observer;
	int folder;
	struct counter counter; /* of the reading under way */
	struct orders_rows rows;
	uint64_t marked, others; /* of the reading under way */
	uint64_t markers[2]; /* by phase */
	enum wire_reason reason;
};

static void clear(struct watch *watch)
{
	counter_clear(&watch->counter);
	watch->marked = watch->others = watch->markers[0] = watch->markers[1] = 0;
}

static void on_begin(void *context)
{
	clear(context);
}

static void on_text(void *context, const char *bytes, size_t length)
{
	struct watch *watch = context;

	counter_apart(&watch->counter, bytes, length);
}

/* Before the counter ends the row: whose canary it bears. */
static void on_row(void *context)
{
	struct watch *watch = context;
	bool marked = false, borne = false;

	for (size_t i = 0; i < watch->observer->count; i++) {
		const struct observed *observed = &watch->observer->subjects[i];

		if (watch->counter.current[i] == 0)
			continue;
		borne = true;
		if (!observed->marker)
			continue;
		marked = true;
		watch->markers[observed->phase]++;
	}
	watch->marked += marked;
	watch->others += !borne;
	counter_end(&watch->counter);
}

static int watch_open(struct observer *observer, struct error **err)
{
	struct watch *watch = observer->state;

	*watch = (struct watch){ .observer = observer,
				 .folder = -1,
				 .rows = { .begin = on_begin, .text = on_text, .end = on_row, .context = watch } };
	return counter_open_encoded(&watch->counter, observer, err);
}

static int watch_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct watch *watch = observer->state;
	const struct input inputs[] = { { .name = "folder", .folder = &watch->folder } };

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

static int look(struct watch *watch, struct error **err)
{
	struct observer *observer = watch->observer;
	int status = 0;

	clear(watch);
	watch->reason = WIRE_REASON_INPUT_MISSING;
	if (watch->folder >= 0)
		watch->reason = orders_rows_read(&watch->rows, watch->folder,
						 observer->extra ? observer->extra : observer->kind->argument);
	if (watch->reason == WIRE_REASON_TRUNCATED)
		status = observer_blind(observer, VIEW, WIRE_REASON_TRUNCATED, err);
	for (int phase = 0; phase < 2 && !status && watch->reason == WIRE_REASON_NONE; phase++) {
		uint64_t seen = observer->views[VIEW].beacons[phase];

		if (watch->markers[phase] > seen)
			status = observer_beacon(observer, VIEW, phase, watch->markers[phase] - seen, err);
	}
	return status;
}

static int report_measure(const struct watch *watch, const char *name, uint64_t value, enum wire_phase phase,
			  struct error **err)
{
	struct wire_record record = { .kind = WIRE_COUNT, .reason = watch->reason, .value = (int64_t)value };

	record.connections = (int64_t)watch->rows.rows;
	return observer_record(watch->observer, VIEW, name, phase, &record, err);
}

static int watch_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct watch *watch = observer->state;
	int status = look(watch, err);

	if (status == 0)
		status = report_measure(watch, "orders", watch->rows.rows - watch->marked, phase, err);
	if (status == 0)
		status = report_measure(watch, "orders-other", watch->others, phase, err);
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

static void watch_close(struct observer *observer)
{
	struct watch *watch = observer->state;

	/* Without an observer it was never opened, and the descriptor of zero is not its own. */
	if (!watch->observer)
		return;
	counter_close(&watch->counter);
	fd_close(&watch->folder);
}

static const struct sensor sensor = {
	.name = "observer-orders",
	.state_size = sizeof(struct watch),
	.open = watch_open,
	.input = watch_input,
	.report = watch_report,
	.close = watch_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
