/*
 * An event stream (text/event-stream) cut into the data of its events: fields, comments and line ends as the HTML
 * standard has them. Pure; of the fields only `data` is kept, which is all that MCP uses.
 */
#ifndef HARNESS_MCP_SSE_H
#define HARNESS_MCP_SSE_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"

/* Negative with *err set ends sse_feed() with it. */
typedef int (*sse_event)(void *context, struct json_span data, struct error **err);

struct sse {
	struct buf line, data;
	bool any; /* a data field of the event came, maybe an empty one */
	bool return_came; /* the line before ended in CR: a LF that follows belongs to it */
	bool begun; /* the byte order mark, which may come first, is past */
	sse_event event;
	void *context;
};

/* `max`: bytes of a line, and of an event's data. */
void sse_init(struct sse *sse, size_t max, sse_event event, void *context);
/* Wipes. Idempotent. */
void sse_free(struct sse *sse);
/* Takes bytes as they come, and hands over each event that they complete. ERROR_LIMIT. An event without the empty line
 * behind it never comes. */
int sse_feed(struct sse *sse, const char *bytes, size_t length, struct error **err) MUST_CHECK;

#endif
