/* What a DNS question asks for. */
#ifndef HARNESS_OBSERVERS_DNS_H
#define HARNESS_OBSERVERS_DNS_H

#include <stddef.h>

#include "core/buf.h"
#include "core/error.h"

/* Of a whole DNS query (RFC 1035) with one question or more: appends the labels of each question's name joined without
 * dots, in lower case, and a line feed. Anything else is ERROR_INPUT; then `out` may hold the first questions. */
int dns_labels(const void *bytes, size_t length, struct buf *out, struct error **err) MUST_CHECK;

#endif
