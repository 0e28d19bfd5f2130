/* What the engine says of a running container, against what was admitted. */
#include <stdio.h>
#include <string.h>

#include "adapter/admission_rules.h"
#include "adapter/session_watch_parts.h"

/* Whose fields change what; the first row that fits holds. */
struct area {
	const char *prefix;
	enum watch_kind kind;
};
static const struct area areas[];

struct comparison {
	const struct watch_admitted *admitted;
	bool seen[WATCH_FIELDS_MAX + 1];
	unsigned changes;
};

static int keep_field(void *context, const char *field, const char *sha256, struct error **err)
{
	struct watch_admitted *admitted = context;
	struct watch_field *kept;

	if (admitted->count == WATCH_FIELDS_MAX || strlen(field) >= WATCH_FIELD_BYTES)
		return error_set(err, ERROR_LIMIT, "a container's configuration has at most %d fields",
				 WATCH_FIELDS_MAX);
	kept = &admitted->fields[admitted->count++];
	snprintf(kept->name, sizeof(kept->name), "%s", field);
	snprintf(kept->sha256, sizeof(kept->sha256), "%s", sha256);
	return 0;
}

static unsigned changed(const char *field)
{
	const struct area *area = areas;

	while (area->prefix && strncmp(field, area->prefix, strlen(area->prefix)) != 0)
		area++;
	return watch_bit(area->kind);
}

/* The one of this name, or what lies behind the last. */
static size_t find_field(const struct watch_admitted *admitted, const char *field)
{
	size_t i = 0;

	while (i < admitted->count && strcmp(admitted->fields[i].name, field) != 0)
		i++;
	return i;
}

static int compare_field(void *context, const char *field, const char *sha256, struct error **err)
{
	struct comparison *comparison = context;
	const struct watch_admitted *admitted = comparison->admitted;
	size_t found = find_field(admitted, field);

	(void)err;
	if (found == admitted->count || strcmp(admitted->fields[found].sha256, sha256) != 0)
		comparison->changes |= changed(field);
	comparison->seen[found] = true;
	return 0;
}

static unsigned fields_gone(const struct comparison *comparison)
{
	unsigned changes = 0;

	for (size_t i = 0; i < comparison->admitted->count; i++)
		if (!comparison->seen[i])
			changes |= changed(comparison->admitted->fields[i].name);
	return changes;
}

static int project(const struct json_node *inspect, effective_take take, void *context, struct error **err)
{
	const struct admission_declared documents = { .inspect = inspect };

	return admission_project(&documents, NULL, take, context, err);
}

int watch_admit(const struct json_node *inspect, struct watch_admitted *out, struct error **err)
{
	const char *name = json_string(json_member(inspect, "Name"));

	*out = (struct watch_admitted){ .count = 0 };
	if (!name || !json_int64(json_at(inspect, "State.Pid"), &out->pid) ||
	    !json_int64(json_member(inspect, "RestartCount"), &out->restarts))
		return error_set(err, ERROR_PROTOCOL, "the engine's answer lacks the container's name or process");
	snprintf(out->name, sizeof(out->name), "%s", name);
	return project(inspect, keep_field, out, err);
}

unsigned watch_compare(const struct watch_admitted *admitted, const struct json_node *inspect)
{
	struct comparison comparison = { .admitted = admitted };
	cleanup_error struct error *unread = NULL;
	const char *name = json_string(json_member(inspect, "Name"));
	int64_t pid = 0, restarts = -1;

	if (project(inspect, compare_field, &comparison, &unread) < 0)
		comparison.changes |= watch_bit(WATCH_INSPECT);
	comparison.changes |= fields_gone(&comparison);
	if (!name || strcmp(name, admitted->name) != 0)
		comparison.changes |= watch_bit(WATCH_RENAME);
	if (!json_blank(json_member(inspect, "ExecIDs")))
		comparison.changes |= watch_bit(WATCH_EXEC);
	if (!json_int64(json_at(inspect, "State.Pid"), &pid) || pid != admitted->pid ||
	    !json_int64(json_member(inspect, "RestartCount"), &restarts) || restarts != admitted->restarts)
		comparison.changes |= watch_bit(WATCH_INSPECT);
	return comparison.changes;
}

static const struct area areas[] = {
	{ .prefix = "inspect.HostConfig.", .kind = WATCH_UPDATE },
	{ .prefix = "inspect.NetworkSettings.Networks", .kind = WATCH_NETWORK },
	{ .prefix = NULL, .kind = WATCH_INSPECT },
};
