/*
 * Spans: one for each audit entry, handed to libexec/otlp-export by a pipe, which sends them to a collector by
 * OTLP/HTTP. Nothing here waits: a span that does not fit is dropped and counted, and no call knows of it.
 */
#ifndef HARNESS_GATEWAY_TELEMETRY_H
#define HARNESS_GATEWAY_TELEMETRY_H

#include <stdint.h>

#include "core/error.h"
#include "core/loop.h"
#include "gateway/audit_entry.h"

#define TELEMETRY_URL_BYTES 256

struct telemetry;

/* Starts the exporter for an endpoint, "http://127.0.0.1:4318". */
int telemetry_open(const char *endpoint, const char *service, struct telemetry **out, struct error **err) MUST_CHECK;
/* Queues the span of one entry; `start` and `end` are wall clock ns. Never waits, never fails. */
void telemetry_span(struct telemetry *telemetry, const struct audit_entry *entry, int64_t start, int64_t end);
/* Keeps the loop's watch on the pipe as it is needed. */
int telemetry_watch(struct telemetry *telemetry, struct loop *loop, struct error **err) MUST_CHECK;
/* Spans that were dropped here or by the exporter, as far as it said. */
uint64_t telemetry_dropped(const struct telemetry *telemetry);
/* Flushes within the deadline, then ends the exporter. NULL-safe. */
void telemetry_close(struct telemetry *telemetry, int64_t deadline);

#endif
