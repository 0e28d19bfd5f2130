/* Spans as OTLP/JSON: an ExportTraceServiceRequest of one resource, whose only attribute is the service's name. */
#ifndef HARNESS_GATEWAY_SPAN_JSON_H
#define HARNESS_GATEWAY_SPAN_JSON_H

#include "core/buf.h"
#include "gateway/span_record.h"

#define SPAN_TRACE_BYTES 16
#define SPAN_ID_BYTES 8

/* Appends one span with these ids; failures are the buffer's. Name, attributes and status come from the record. */
void span_json_write(const struct span_record *record, const unsigned char trace[SPAN_TRACE_BYTES],
		     const unsigned char id[SPAN_ID_BYTES], struct buf *out);
/* Appends the whole request around `spans`, which are separated by commas. */
void span_json_request(const char *service, const struct buf *spans, struct buf *out);
/* How many spans the collector's answer says it did not take; 0 when it says nothing that can be read. */
uint64_t span_json_rejected(const char *answer, size_t length);

#endif
