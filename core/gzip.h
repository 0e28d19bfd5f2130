/* One file that somebody else packed with gzip. */
#ifndef HARNESS_CORE_GZIP_H
#define HARNESS_CORE_GZIP_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"

/* The digest of what these bytes unpack to. ERROR_LIMIT beyond `max` bytes of it; ERROR_INPUT for what is cut, no gzip,
 * or followed by anything. */
int gzip_digest(const void *bytes, size_t length, uint64_t max, char hex[HEX_SHA256], struct error **err) MUST_CHECK;

#endif
