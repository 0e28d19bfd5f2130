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

#define TELEMETRY_URL_BYTES 256 /* with its NUL */

struct telemetry;

/* Starts the exporter for an endpoint, "http://127.0.0.1:4318": http, a numeric host, perhaps a path; /v1/traces comes
 * behind it. Anything else is ERROR_USAGE. The caller has SIGPIPE ignored. */
int telemetry_open(const char *endpoint, const char *service, struct telemetry **out, struct error **err) MUST_CHECK;
/* Queues the span of one entry; `start` and `end` are wall clock ns. Never waits, never fails. */
void telemetry_span(struct telemetry *telemetry, const struct audit_entry *entry, int64_t start, int64_t end);
/* Keeps the loop's watch on the pipe as it is needed: to be called after spans were queued, before the loop waits. */
int telemetry_watch(struct telemetry *telemetry, struct loop *loop, struct error **err) MUST_CHECK;
/* Spans that were dropped here or by the exporter, as far as it said. Once the exporter ended, all that no collector
 * took. */
uint64_t telemetry_dropped(const struct telemetry *telemetry);
/* Spans that a collector took, as far as the exporter said. */
uint64_t telemetry_exported(const struct telemetry *telemetry);
/* Hands over what is queued, lets the exporter flush and ends it, all within the deadline; then the counts are final.
 * A loop that watches must not run any more. Later spans are dropped. NULL-safe. */
void telemetry_flush(struct telemetry *telemetry, int64_t deadline);
/* telemetry_flush(), and frees. NULL-safe. */
void telemetry_close(struct telemetry *telemetry, int64_t deadline);

#endif
