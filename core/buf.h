/* A byte buffer with a maximum, given when it is made. An append that would pass the maximum fails and changes nothing.
 */
#ifndef HARNESS_CORE_BUF_H
#define HARNESS_CORE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

struct buf {
	char *data; /* NUL after the last byte once anything was appended; NULL before */
	size_t length;
	size_t capacity;
	size_t max;
	bool failed; /* sticky: an append failed (memory or maximum); check once at the end */
	bool no_memory; /* that is why */
	/* Or NULL. Then the buffer does not grow beyond BUF_DRAIN_BYTES by much: before the next append what it holds
	 * is handed on and dropped. The maximum counts what was handed on too. buf_drain() hands on the rest. */
	void (*drain)(void *context, const void *bytes, size_t length);
	void *drain_context;
	size_t drained; /* bytes handed on so far */
};
#define BUF_DRAIN_BYTES 65536

#define BUF(maximum)                                                                                                   \
	{                                                                                                              \
		.data = NULL, .length = 0, .capacity = 0, .max = (maximum), .failed = false, .no_memory = false,       \
		.drain = NULL, .drain_context = NULL, .drained = 0                                                     \
	}

/* Each append returns 0, or negative and sets `failed`; after a failure each fails, until buf_free() or buf_wipe(). */
int buf_add(struct buf *buf, const void *bytes, size_t length);
int buf_text(struct buf *buf, const char *text);
int buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
/* Room for at least `length` more bytes; returns where to write them, or NULL. buf_commit() then counts them. */
char *buf_reserve(struct buf *buf, size_t length);
void buf_commit(struct buf *buf, size_t length);
/* Drops the first `length` bytes. */
void buf_consume(struct buf *buf, size_t length);
void buf_drain(struct buf *buf);
/* Never NULL: "" when empty. */
const char *buf_string(const struct buf *buf);
/* 0, or ERROR_LIMIT or ERROR_MEMORY naming `what` when an append failed. */
int buf_check(const struct buf *buf, const char *what, struct error **err) MUST_CHECK;
/* Overwrites the bytes with zeros (they may be a canary), frees them and leaves an empty buffer of the same maximum. */
void buf_wipe(struct buf *buf);
void buf_free(struct buf *buf);
#define cleanup_buf __attribute__((cleanup(buf_free)))

#endif
