/* What libexec/otlp-export says on its standard output whenever it changed: sums since its start. */
#ifndef HARNESS_GATEWAY_TELEMETRY_STATUS_H
#define HARNESS_GATEWAY_TELEMETRY_STATUS_H

#include <stdint.h>

struct telemetry_status {
	uint64_t exported; /* spans that the collector took */
	uint64_t dropped; /* spans that it did not, whatever the reason */
};

/* From the end of standard input until the exporter's own end, at most. */
#define TELEMETRY_FLUSH_MS 2000

#endif
