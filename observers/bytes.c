/*
 * libexec/observer-bytes: every byte below a folder, in every encoding of core/canary.h: names, attributes and contents
 * of whatever lies there when a report is due. One program for several ids, each with a folder of its own:
 * `audit-bytes` (the database, its log and its index, read as bytes: no connection, so no lock of anybody's is dropped)
 * and `output`.
 *
 *   folder   folder: what is looked at. A file in it that bears a marker is the positive control.
 */
#include <string.h>

#include "core/fd.h"
#include "observers/counter.h"
#include "observers/observer.h"
#include "observers/stream.h"
#include "observers/tree.h"

#define VIEW 0

struct bytes {
	struct observer *observer;
	int folder;
	struct counter counter; /* of the walk under way */
	/* The largest of each that a walk found: a file may be gone when the next one comes. */
	uint64_t records[ARM_SUBJECTS_MAX];
	uint64_t hits[ARM_SUBJECTS_MAX];
	uint64_t total;
	enum wire_reason reason; /* the first */
};

/* ---- a walk --------------------------------------------------------------------------------------------------------
 */

static int on_entry(void *context, const char *name, const char *link, struct error **err)
{
	struct bytes *bytes = context;

	(void)err;
	counter_apart(&bytes->counter, name, strlen(name));
	counter_apart(&bytes->counter, link, strlen(link));
	return 0;
}

static int on_attribute(void *context, const void *value, size_t length, struct error **err)
{
	struct bytes *bytes = context;

	(void)err;
	counter_apart(&bytes->counter, value, length);
	return 0;
}

static int on_data(void *context, const void *data, size_t length, struct error **err)
{
	struct bytes *bytes = context;

	(void)err;
	counter_bytes(&bytes->counter, data, length);
	return 0;
}

static int on_end(void *context, struct error **err)
{
	struct bytes *bytes = context;

	(void)err;
	counter_end(&bytes->counter);
	return 0;
}

static const struct tree_visitor visitor = {
	.entry = on_entry, .attribute = on_attribute, .data = on_data, .end = on_end
};

/* A marker counts once for each file that was ever seen to bear it. */
static int keep(struct bytes *bytes, size_t index, struct error **err)
{
	const struct observed *observed = &bytes->observer->subjects[index];
	uint64_t records = bytes->counter.records[index], before = bytes->records[index];

	if (bytes->counter.hits[index] > bytes->hits[index])
		bytes->hits[index] = bytes->counter.hits[index];
	if (records <= before)
		return 0;
	bytes->records[index] = records;
	return observed->marker ? observer_beacon(bytes->observer, VIEW, observed->phase, records - before, err) : 0;
}

static int look(struct bytes *bytes, struct error **err)
{
	struct tree_result result = { 0 };
	int status;

	counter_clear(&bytes->counter);
	status = tree_walk(bytes->folder, &visitor, bytes, &result, err);
	for (size_t i = 0; i < bytes->observer->count && !status; i++)
		status = keep(bytes, i, err);
	if (result.bytes > bytes->total)
		bytes->total = result.bytes;
	/* What lies behind a mount was not seen. */
	if (result.reason == WIRE_REASON_NONE && result.skipped > 0)
		result.reason = WIRE_REASON_INPUT_INVALID;
	if (bytes->reason == WIRE_REASON_NONE)
		bytes->reason = result.reason;
	return status;
}

/* ---- the sensor ----------------------------------------------------------------------------------------------------
 */

static int bytes_open(struct observer *observer, struct error **err)
{
	struct bytes *bytes = observer->state;

	*bytes = (struct bytes){ .observer = observer, .folder = -1 };
	return counter_open_encoded(&bytes->counter, observer, err);
}

static int bytes_input(struct observer *observer, const char *name, int fd, struct error **err)
{
	struct bytes *bytes = observer->state;
	const struct input inputs[] = { { .name = "folder", .folder = &bytes->folder } };

	return input_take(inputs, ARRAY_SIZE(inputs), name, fd, observer->loop, err);
}

static int bytes_report(struct observer *observer, enum wire_phase phase, struct error **err)
{
	struct bytes *bytes = observer->state;
	int status = bytes->folder < 0 ? 0 : look(bytes, err);

	for (size_t i = 0; i < observer->count && !status; i++) {
		const struct observed *observed = &observer->subjects[i];
		struct wire_record record = {
			.kind = WIRE_COUNT,
			.reason = bytes->folder < 0 ? WIRE_REASON_INPUT_MISSING : bytes->reason,
			.value = (int64_t)bytes->records[i],
			.hits = (int64_t)bytes->hits[i],
			.bytes = (int64_t)bytes->total,
		};

		if (!observed->marker && observed->scanned)
			status = observer_record(observer, VIEW, observed->subject, phase, &record, err);
	}
	return status;
}

static void bytes_close(struct observer *observer)
{
	struct bytes *bytes = observer->state;

	/* Without an observer it was never opened, and the descriptor of zero is not its own. */
	if (!bytes->observer)
		return;
	counter_close(&bytes->counter);
	fd_close(&bytes->folder);
}

static const struct sensor sensor = {
	.name = "observer-bytes",
	.state_size = sizeof(struct bytes),
	.open = bytes_open,
	.input = bytes_input,
	.report = bytes_report,
	.close = bytes_close,
};

int main(int argc, char **argv)
{
	return observer_main(&sensor, argc, argv);
}
