/*
 * Reads an ExportTraceServiceRequest (opentelemetry-proto v1), as JSON and as protobuf, just far enough to count its
 * spans. Strict about what it reads: lengths, types, text; what it does not know is skipped.
 */
#ifndef HARNESS_OBSERVERS_OTLP_H
#define HARNESS_OBSERVERS_OTLP_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

struct otlp_counts {
	uint64_t spans;
	uint64_t errors; /* of them, those with status ERROR */
};

/* Takes a text of the document as it is once its escapes are read. */
typedef void (*otlp_text)(void *context, const char *text, size_t length);

/* Every key and string goes to `text` as well (NULL: to nobody). Errors are ERROR_INPUT. */
int otlp_read_json(const char *bytes, size_t length, otlp_text text, void *context, struct otlp_counts *out,
		   struct error **err) MUST_CHECK;
int otlp_read_protobuf(const void *bytes, size_t length, struct otlp_counts *out, struct error **err) MUST_CHECK;

#endif
