#include "observers/counter.h"

#include <string.h>

static int open_counter(struct counter *counter, struct observer *observer, bool encode, struct error **err)
{
	memset(counter, 0, sizeof(*counter));
	counter->subjects = observer->count;
	return observer_scanner(observer, encode, &counter->scanner, err);
}

int counter_open(struct counter *counter, struct observer *observer, struct error **err)
{
	return open_counter(counter, observer, false, err);
}

int counter_open_encoded(struct counter *counter, struct observer *observer, struct error **err)
{
	return open_counter(counter, observer, true, err);
}

void counter_bytes(struct counter *counter, const void *bytes, size_t length)
{
	canary_scanner_feed(counter->scanner, bytes, length, counter->current);
	counter->begun = true;
}

void counter_apart(struct counter *counter, const void *bytes, size_t length)
{
	canary_scanner_reset(counter->scanner);
	counter_bytes(counter, bytes, length);
	canary_scanner_reset(counter->scanner);
}

void counter_end(struct counter *counter)
{
	canary_scanner_reset(counter->scanner);
	if (!counter->begun)
		return;
	for (size_t i = 0; i < counter->subjects; i++) {
		counter->records[i] += counter->current[i] != 0;
		counter->hits[i] += counter->current[i];
		counter->current[i] = 0;
	}
	counter->begun = false;
}

void counter_lines(struct counter *counter, const void *bytes, size_t length)
{
	const char *at = bytes;

	while (length) {
		const char *feed = memchr(at, '\n', length);
		size_t line = feed ? (size_t)(feed - at) + 1 : length;

		counter_bytes(counter, at, line);
		if (feed)
			counter_end(counter);
		at += line;
		length -= line;
	}
}

void counter_clear(struct counter *counter)
{
	canary_scanner_reset(counter->scanner);
	counter->begun = false;
	memset(counter->current, 0, sizeof(counter->current));
	memset(counter->records, 0, sizeof(counter->records));
	memset(counter->hits, 0, sizeof(counter->hits));
}

void counter_close(struct counter *counter)
{
	canary_scanner_free(counter->scanner);
	counter->scanner = NULL;
}
