/* Rules over the image, and over the container in the light of what the engine says of itself. */
#include <string.h>

#include "adapter/admission_rules.h"

#define ID_PREFIX "sha256:"

static bool immutable_id(const char *text)
{
	if (!text || strncmp(text, ID_PREFIX, strlen(ID_PREFIX)) != 0)
		return false;
	text += strlen(ID_PREFIX);
	return strlen(text) == HEX_SHA256 - 1 && strspn(text, "0123456789abcdef") == HEX_SHA256 - 1;
}

bool image_immutable(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return immutable_id(documents->image_id) &&
	       json_text_is(json_at(documents->inspect, rule->path), documents->image_id);
}

bool image_same(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return json_text_is(json_at(documents->inspect, rule->path), documents->image_id) &&
	       json_text_is(json_member(documents->image, "Id"), documents->image_id);
}

static const struct json_node *image_config(const struct admission_declared *documents)
{
	return json_member(documents->image, "Config");
}

bool image_volumes(const struct admission_declared *documents, const struct admission_rule *rule)
{
	(void)rule;
	return image_config(documents) && json_blank(json_member(image_config(documents), "Volumes"));
}

bool image_healthcheck(const struct admission_declared *documents, const struct admission_rule *rule)
{
	(void)rule;
	return image_config(documents) && json_blank(json_member(image_config(documents), "Healthcheck"));
}

/* A runtime that enters /proc/self/fd/N of its own hands the host to the container (CVE-2024-21626). */
bool image_working_dir(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *node = json_member(image_config(documents), "WorkingDir");
	const char *path = json_string(node);

	(void)rule;
	if (!image_config(documents) || json_blank(node))
		return image_config(documents) != NULL;
	if (!path || path[0] != '/')
		return false;
	for (const char *part = path; *part;) {
		size_t length;

		part += strspn(part, "/");
		length = strcspn(part, "/");
		if ((length == 2 && strncmp(part, "..", 2) == 0) || (length == 4 && strncmp(part, "proc", 4) == 0))
			return false;
		part += length;
	}
	return true;
}

/* An option of /info as "name=NAME" or "name=NAME,...": what follows the name, or NULL. */
static const char *security_option(const struct admission_declared *documents, const char *name)
{
	const struct json_node *options = json_member(documents->info, "SecurityOptions");
	size_t length = strlen(name);

	for (const struct json_node *item = json_first(options); item; item = json_next(item)) {
		const char *text = json_string(item);

		if (text && strncmp(text, "name=", 5) == 0 && strncmp(text + 5, name, length) == 0 &&
		    (text[5 + length] == '\0' || text[5 + length] == ','))
			return text + 5 + length;
	}
	return NULL;
}

/* Two names of the engine's own profile; an engine may have been started with another, or with none. */
bool engine_seccomp(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const char *rest = security_option(documents, "seccomp");

	(void)rule;
	return rest && (strcmp(rest, ",profile=default") == 0 || strcmp(rest, ",profile=builtin") == 0);
}

static bool options_known(const struct admission_declared *documents)
{
	const struct json_node *options = json_member(documents->info, "SecurityOptions");

	return options && json_type(options) == JSON_ARRAY;
}

/* The engine names the profile only once the process runs. */
bool engine_apparmor(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *profile = json_at(documents->inspect, rule->path);
	bool running = true;

	if (!options_known(documents))
		return false;
	if (!security_option(documents, "apparmor"))
		return true;
	if (json_text_is(profile, rule->text))
		return true;
	return json_bool(json_at(documents->inspect, "State.Running"), &running) && !running && json_blank(profile);
}

bool engine_selinux(const struct admission_declared *documents, const struct admission_rule *rule)
{
	if (!options_known(documents))
		return false;
	if (!security_option(documents, "selinux"))
		return true;
	return json_string_length(json_at(documents->inspect, rule->path)) != 0 &&
	       json_string_length(json_member(documents->inspect, "MountLabel")) != 0;
}

/* Version 1 has the host's view as the engine's own default; in version 2 a private one is. */
bool engine_cgroupns(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *version = json_member(documents->info, "CgroupVersion");
	const struct json_node *mode = json_at(documents->inspect, rule->path);

	if (json_text_is(mode, "private"))
		return json_text_is(version, "1") || json_text_is(version, "2");
	return json_text_is(version, "1") && json_text_is(mode, "host");
}
