/* An input that is one JSON document of the engine's: collected as it comes, read once it is whole. */
#ifndef HARNESS_OBSERVERS_DOCUMENT_H
#define HARNESS_OBSERVERS_DOCUMENT_H

#include "core/buf.h"
#include "core/json.h"
#include "observers/stream.h"

struct document {
	struct stream stream; /* the input */
	struct buf text;
};

/* In place: the stream's context points at it. At most ENGINE_ANSWER_BYTES. */
void document_init(struct document *document);
/* False, and nothing in *out, unless all of it came and is JSON: stream_reason() tells the one, the rest is
 * WIRE_REASON_INPUT_INVALID. The caller frees *out. */
bool document_parse(const struct document *document, struct json_document **out) MUST_CHECK;
/* Overwrites what was read: it may hold a canary. */
void document_close(struct document *document);

#endif
