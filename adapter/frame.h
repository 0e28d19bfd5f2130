/*
 * The agent's frames: one JSON object a line, with exactly `operation`, a string, and `arguments`, an object. Both
 * parts are pure. What is not so has one answer: the reason that ends the session.
 */
#ifndef HARNESS_ADAPTER_FRAME_H
#define HARNESS_ADAPTER_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include "adapter/control.h"
#include "core/buf.h"
#include "core/json.h"

/* Cuts the agent's stdout into lines. What waits to be taken is bounded by what may be written in all. */
struct frame_reader {
	struct buf buf;
	size_t frame_max; /* bytes of a line, without its newline */
	size_t start; /* of the line that comes next */
	size_t open; /* of the line that has no newline yet */
	size_t taken; /* bytes that are no longer in the buffer */
};

void frame_reader_init(struct frame_reader *reader, size_t frame_max, size_t total_max);
/* Wipes. Idempotent. */
void frame_reader_free(struct frame_reader *reader);
/* Takes the next bytes. CONTROL_REASON_FRAME_LIMIT: a line is too long, found before its end was seen;
 * CONTROL_REASON_STDOUT_LIMIT: more bytes than the session may write. Lines that were given out are no longer valid. */
enum control_reason frame_reader_feed(struct frame_reader *reader, const void *bytes, size_t length) MUST_CHECK;
/* The next whole line without its newline, valid until the next feed; false when there is none yet. */
bool frame_reader_next(struct frame_reader *reader, struct json_span *line);
/* Whether the bytes end within a line. */
bool frame_reader_partial(const struct frame_reader *reader);
/* All bytes that were fed. */
size_t frame_reader_total(const struct frame_reader *reader);

struct frame {
	struct json_document *document; /* owns what follows */
	const char *operation; /* decoded; holds no NUL */
	size_t operation_length;
	struct json_span arguments; /* as written */
};

/* CONTROL_REASON_FRAME_INVALID: not one JSON object by the strict rules with exactly the two members, a carriage return
 * in the line, or a number of more than 308 digits (1e999). The line is copied. */
enum control_reason frame_parse(struct json_span line, struct frame *out) MUST_CHECK;
/* Wipes. Idempotent. */
void frame_free(struct frame *frame);
#define cleanup_frame __attribute__((cleanup(frame_free)))

#endif
