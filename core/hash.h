/* SHA-256 (libmd). */
#ifndef HARNESS_CORE_HASH_H
#define HARNESS_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"

struct hash; /* a running digest */

struct hash *hash_new(void); /* NULL: no memory */
void hash_add(struct hash *hash, const void *bytes, size_t length);
/* Writes 64 lower-case digits and a NUL, and frees the digest. */
void hash_end(struct hash *hash, char hex[HEX_SHA256]);
void hash_bytes(const void *bytes, size_t length, char hex[HEX_SHA256]);
/* From offset 0, the descriptor's own offset untouched (pread). */
int hash_fd(int fd, char hex[HEX_SHA256], struct error **err) MUST_CHECK;

/* Any bytes as 2 * `length` lower-case digits and a NUL. */
void hash_digits(const void *bytes, size_t length, char *out);

#endif
