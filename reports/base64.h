/* Base64 in the standard alphabet with padding (RFC 4648, section 4). */
#ifndef HARNESS_REPORTS_BASE64_H
#define HARNESS_REPORTS_BASE64_H

#include "core/buf.h"

/* Appends it; the buffer's sticky failure is the only error. */
void base64_encode(const void *bytes, size_t length, struct buf *out);
/* Appends the bytes. One form only, so that no text stands for the bytes of another: ERROR_INPUT for the URL-safe
 * alphabet, a missing or early "=", spaces, and bits behind the last byte. */
int base64_decode(const char *text, size_t length, struct buf *out, struct error **err) MUST_CHECK;

#endif
