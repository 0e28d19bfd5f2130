/*
 * libexec/observer-audit: the gateway's audit chain. It counts the rows of each outcome, checks that the chain holds,
 * and looks for canaries in the text of every row, in every encoding: a text that SQLite spread over pages is whole
 * here, and the bytes of pages and log, those of deleted rows too, are what observer-bytes looks at. Inputs:
 *
 *   folder   folder: where the database lies, under the name that the kind's row or the last argument gives
 *
 * Positive control: the rows of the beacon's calls, told by the hash of what they bore. They are in no measure.
 */
#include <stddef.h>
#include <string.h>

#include "core/fd.h"
#include "observers/audit_chain.h"
#include "observers/counter.h"
#include "observers/observer.h"
#include "observers/stream.h"

#define VIEW 0

struct audit {
	struct observer *observer;
	int folder;
	struct counter counter; /* of the reading under way */
	struct audit_chain chain;
	uint64_t rows; /* of the reading before */
	enum wire_reason reason; /* of this reading */
};

/* Of which member each measure is the count. */
static const struct measure {
	const char *name;
	size_t offset;
} measures[];
static const size_t measures_count;

static void on_text(void *context, const char *bytes, size_t length)
{
	struct audit *audit = context;

	counter_apart(&audit->counter, bytes, length);
}

static void on_row(void *context)
{
	struct audit *audit = context;

	counter_end(&audit->counter);
}

/* ---- the sensor ----------------------------------------------------------------------------------------------------
 */

static int audit_open(struct observer *observer, struct error **err)
{
	struct audit *audit = observer->state;

	*audit = (struct audit){ .observer = observer,
				 .folder = -1,
				 .chain = { .text = on_text, .end = on_row, .context = audit } };
	for (size_t i = 0; i < observer->count; i++) {
		const struct observed *observed = &observer->subjects[i];

		if (observed->marker)
			audit_chain_beacon(observed->canary.text, audit->chain.beacon[observed->phase]);
	}
	return counter_open_encoded(&audit->counter, observer, err);
}

static int audit_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct audit *audit = observer->state;
	const struct input inputs[] = { { .name = "folder", .folder = &audit->folder } };

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

static int look(struct audit *audit, struct error **err)
{
	struct observer *observer = audit->observer;
	int status = 0;

	counter_clear(&audit->counter);
	audit->reason = WIRE_REASON_INPUT_MISSING;
	if (audit->folder >= 0)
		audit->reason = audit_chain_read(&audit->chain, audit->folder,
						 observer->extra ? observer->extra : observer->kind->argument);
	/* A chain only grows. */
	if (audit->reason == WIRE_REASON_NONE && audit->chain.rows < audit->rows)
		status = observer_blind(observer, VIEW, WIRE_REASON_TRUNCATED, err);
	if (audit->reason == WIRE_REASON_NONE)
		audit->rows = audit->chain.rows;
	for (int phase = 0; phase < 2 && !status; phase++) {
		uint64_t seen = observer->views[VIEW].beacons[phase];

		if (audit->chain.beacons[phase] > seen)
			status = observer_beacon(observer, VIEW, phase, audit->chain.beacons[phase] - seen, err);
	}
	return status;
}

static int report_measure(const struct audit *audit, const struct measure *measure, enum wire_phase phase,
			  struct error **err)
{
	struct wire_record record = { .kind = WIRE_COUNT, .reason = audit->reason };
	uint64_t value;

	memcpy(&value, (const char *)&audit->chain + measure->offset, sizeof(value));
	record.value = (int64_t)value;
	record.connections = (int64_t)audit->chain.rows;
	return observer_record(audit->observer, VIEW, measure->name, phase, &record, err);
}

static int audit_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct audit *audit = observer->state;
	int status = look(audit, err);

	for (size_t i = 0; i < measures_count && !status; i++)
		status = report_measure(audit, &measures[i], phase, err);
	for (size_t i = 0; i < observer->count && !status; i++) {
		const struct observed *observed = &observer->subjects[i];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.reason = audit->reason,
			.value = (int64_t)audit->counter.records[i],
			.hits = (int64_t)audit->counter.hits[i],
			.connections = (int64_t)audit->chain.rows,
		};

		if (!observed->marker && observed->scanned)
			status = observer_record(observer, VIEW, observed->subject, phase, &record, err);
	}
	return status;
}

static void audit_close(struct observer *observer)
{
	struct audit *audit = observer->state;

	/* Without an observer it was never opened, and the descriptor of zero is not its own. */
	if (!audit->observer)
		return;
	counter_close(&audit->counter);
	fd_close(&audit->folder);
}

static const struct measure measures[] = {
	{ "audit-allow", offsetof(struct audit_chain, allowed) },
	{ "audit-deny", offsetof(struct audit_chain, denied) },
	{ "audit-fault", offsetof(struct audit_chain, faults) },
	{ "audit-intent", offsetof(struct audit_chain, intents) },
	{ "audit-chain", offsetof(struct audit_chain, broken) },
};
static const size_t measures_count = ARRAY_SIZE(measures);

static const struct sensor sensor = {
	.name = "observer-audit",
	.state_size = sizeof(struct audit),
	.open = audit_open,
	.input = audit_input,
	.report = audit_report,
	.close = audit_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
