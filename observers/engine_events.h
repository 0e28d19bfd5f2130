/* What the engine's events say of a container: how often it was created and started. */
#ifndef HARNESS_OBSERVERS_ENGINE_EVENTS_H
#define HARNESS_OBSERVERS_ENGINE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/limits.h"

#define ENGINE_EVENT_BYTES (256 * KIB)

struct engine_events {
	struct buf line; /* the one that has no end yet */
	int64_t creates, starts;
	bool broken; /* a line that is no JSON, or too long: what was counted is not all */
};
#define ENGINE_EVENTS ((struct engine_events){ .line = BUF(ENGINE_EVENT_BYTES) })

/* The next bytes: a JSON object a line. */
void engine_events_take(struct engine_events *events, const void *bytes, size_t length);
/* Idempotent. */
void engine_events_free(struct engine_events *events);

#endif
