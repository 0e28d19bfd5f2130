/* What an event of the engine says about a session's container. */
#include <string.h>

#include "adapter/session_watch_parts.h"

struct change {
	const char *type;
	const char *action; /* or its beginning, up to a colon: the rest is the command */
	enum watch_kind kind;
};
static const struct change changes[];

static bool is_action(const char *action, const char *name)
{
	size_t length = strlen(name);

	return strncmp(action, name, length) == 0 && (action[length] == '\0' || action[length] == ':');
}

static enum watch_kind find_change(const char *type, const char *action)
{
	for (const struct change *change = changes; change->type; change++)
		if (strcmp(change->type, type) == 0 && is_action(action, change->action))
			return change->kind;
	return WATCH_KINDS;
}

/* An engine's filter by container would hide the events of networks, whose actor is the network. */
static bool is_about(const struct json_node *event, const char *type, const char *container)
{
	const struct json_node *actor = json_member(event, "Actor");

	if (strcmp(type, "container") == 0)
		return json_text_is(json_member(actor, "ID"), container);
	return json_text_is(json_member(json_member(actor, "Attributes"), "container"), container);
}

/* The first. An engine may tell an event twice to who subscribes while it happens: out of what it kept, and as it
 * comes; both have the same time. */
static bool is_own_attach(struct watch_told *told, const struct json_node *event)
{
	int64_t at = 0;

	if (!json_int64(json_member(event, "timeNano"), &at))
		at = 0;
	if (told->attaches++ > 0)
		return at > 0 && at == told->attached;
	told->attached = at;
	return true;
}

static enum watch_kind judge(struct watch_told *told, const struct json_node *event, const char *type,
			     const char *action)
{
	enum watch_kind kind = find_change(type, action);

	if (strcmp(type, "container") == 0 && strcmp(action, "start") == 0)
		told->started = true;
	if (kind == WATCH_ATTACH && is_own_attach(told, event))
		return WATCH_KINDS;
	if (kind == WATCH_NETWORK && !told->started)
		return WATCH_KINDS;
	return kind;
}

enum watch_kind watch_take_event(struct watch_told *told, const char *container, const char *line, size_t length)
{
	cleanup_json struct json_document *document = NULL;
	cleanup_error struct error *broken = NULL;
	const struct json_node *event;
	const char *type, *action;

	if (json_parse(line, length, JSON_ENGINE_DEPTH, &document, &broken) < 0)
		return WATCH_EVENTS_LOST;
	event = json_root(document);
	type = json_string(json_member(event, "Type"));
	action = json_string(json_member(event, "Action"));
	if (!type || !action)
		return WATCH_EVENTS_LOST;
	return is_about(event, type, container) ? judge(told, event, type, action) : WATCH_KINDS;
}

static const struct change changes[] = {
	{ .type = "container", .action = "attach", .kind = WATCH_ATTACH },
	{ .type = "container", .action = "exec_create", .kind = WATCH_EXEC },
	{ .type = "container", .action = "exec_start", .kind = WATCH_EXEC },
	{ .type = "container", .action = "update", .kind = WATCH_UPDATE },
	{ .type = "container", .action = "rename", .kind = WATCH_RENAME },
	{ .type = "network", .action = "connect", .kind = WATCH_NETWORK },
	{ .type = "network", .action = "disconnect", .kind = WATCH_NETWORK },
	{ .type = NULL },
};
