#include "observers/engine_events.h"

#include <string.h>

#include "core/json.h"

static void count_event(struct engine_events *events, const char *line, size_t length)
{
	cleanup_error struct error *broken = NULL;
	cleanup_json struct json_document *document = NULL;
	const struct json_node *action;

	if (length == 0)
		return;
	if (json_parse(line, length, JSON_ENGINE_DEPTH, &document, &broken) < 0) {
		events->broken = true;
		return;
	}
	if (!json_text_is(json_member(json_root(document), "Type"), "container"))
		return;
	action = json_member(json_root(document), "Action");
	events->creates += json_text_is(action, "create");
	events->starts += json_text_is(action, "start");
}

void engine_events_take(struct engine_events *events, const void *bytes, size_t length)
{
	const char *end;

	if (buf_add(&events->line, bytes, length) < 0) {
		/* Sticky: what follows is broken as well. */
		events->broken = true;
		return;
	}
	while ((end = memchr(buf_string(&events->line), '\n', events->line.length)) != NULL) {
		size_t line = (size_t)(end - buf_string(&events->line));

		count_event(events, buf_string(&events->line), line);
		buf_consume(&events->line, line + 1);
	}
}

void engine_events_free(struct engine_events *events)
{
	buf_free(&events->line);
}
