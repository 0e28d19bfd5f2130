/* Rules over the engine's answer about the container. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "adapter/admission_rules.h"

#define KEY_BYTES 48

static const char *const masked_paths[];
static const char *const read_only_paths[];

const struct json_node *json_at(const struct json_node *root, const char *path)
{
	const struct json_node *node = root;

	while (node && *path) {
		size_t length = strcspn(path, ".");
		char key[KEY_BYTES];

		if (length >= sizeof(key))
			return NULL;
		memcpy(key, path, length);
		key[length] = '\0';
		node = json_member(node, key);
		path += length + (path[length] == '.');
	}
	return node;
}

bool json_blank(const struct json_node *node)
{
	if (json_is_null(node))
		return true;
	switch (json_type(node)) {
	case JSON_STRING:
		return json_string_length(node) == 0;
	case JSON_ARRAY:
	case JSON_OBJECT:
		return json_count(node) == 0;
	case JSON_NULL:
	case JSON_BOOL:
	case JSON_NUMBER:
		break;
	}
	return false;
}

bool json_texts_are(const struct json_node *node, const char *const *texts)
{
	const struct json_node *item = json_first(node);

	if (!texts[0])
		return json_blank(node);
	if (!node || json_type(node) != JSON_ARRAY)
		return false;
	for (; *texts && item; texts++, item = json_next(item))
		if (!json_text_is(item, *texts))
			return false;
	return !*texts && !item;
}

static const struct json_node *member(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return json_at(documents->inspect, rule->path);
}

static bool bool_is(const struct json_node *node, bool expected)
{
	bool found;

	return json_bool(node, &found) && found == expected;
}

static bool number_is(const struct json_node *node, int64_t expected)
{
	int64_t found;

	return json_int64(node, &found) && found == expected;
}

/* ---- one member ---- */

bool declared_blank(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return documents->inspect && json_blank(member(documents, rule));
}

bool declared_empty_text(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return json_text_is(member(documents, rule), "");
}

bool declared_true(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return bool_is(member(documents, rule), true);
}

bool declared_false(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return bool_is(member(documents, rule), false);
}

bool declared_off(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return declared_unset(documents, rule) || declared_false(documents, rule);
}

bool declared_unset(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return documents->inspect && json_is_null(member(documents, rule));
}

bool declared_text(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return json_text_is(member(documents, rule), rule->text);
}

bool declared_number(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return number_is(member(documents, rule), rule->number);
}

bool declared_profile_text(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const char *expected;

	memcpy(&expected, (const char *)documents->profile + rule->offset, sizeof(expected));
	return json_text_is(member(documents, rule), expected);
}

bool declared_profile_number(const struct admission_declared *documents, const struct admission_rule *rule)
{
	int64_t expected;

	memcpy(&expected, (const char *)documents->profile + rule->offset, sizeof(expected));
	return number_is(member(documents, rule), expected);
}

bool declared_profile_true(const struct admission_declared *documents, const struct admission_rule *rule)
{
	bool expected;

	memcpy(&expected, (const char *)documents->profile + rule->offset, sizeof(expected));
	return bool_is(member(documents, rule), expected);
}

/* ---- more than one ---- */

bool declared_id(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return documents->container_id && documents->container_id[0] &&
	       json_text_is(member(documents, rule), documents->container_id);
}

bool declared_warnings(const struct admission_declared *documents, const struct admission_rule *rule)
{
	(void)rule;
	return !documents->create_warnings;
}

/* The mode that was asked for does not say which networks the container is on. */
bool declared_networks(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *networks = member(documents, rule);

	return json_count(networks) == 1 && json_member(networks, documents->profile->network_mode);
}

bool declared_cap_drop(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const char *const all[] = { documents->profile->drop_all_capabilities ? "ALL" : NULL, NULL };

	return json_texts_are(member(documents, rule), all);
}

/* Exactly the one option, in our own spelling: "=false" is accepted by engines too, and means off. */
bool declared_security_opt(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const char *const options[] = { documents->profile->no_new_privileges ? "no-new-privileges=true" : NULL, NULL };

	return json_texts_are(member(documents, rule), options);
}

bool declared_log(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *log = member(documents, rule);

	return json_text_is(json_member(log, "Type"), documents->profile->log_driver) &&
	       json_blank(json_member(log, "Config"));
}

bool declared_restart(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *policy = member(documents, rule);

	return json_text_is(json_member(policy, "Name"), "no") &&
	       number_is(json_member(policy, "MaximumRetryCount"), 0);
}

bool declared_ulimits(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *limits = member(documents, rule);
	const struct json_node *core = json_first(limits);

	return limits && json_type(limits) == JSON_ARRAY && json_count(limits) == 1 &&
	       json_text_is(json_member(core, "Name"), "core") &&
	       number_is(json_member(core, "Soft"), documents->profile->core_soft) &&
	       number_is(json_member(core, "Hard"), documents->profile->core_hard);
}

static bool holds(const struct json_node *list, const char *text)
{
	for (const struct json_node *item = json_first(list); item; item = json_next(item))
		if (json_text_is(item, text))
			return true;
	return false;
}

/* Engines add to these lists, so that they are compared as sets with a least content. */
static bool holds_all(const struct json_node *list, const char *const *texts)
{
	if (!list || json_type(list) != JSON_ARRAY)
		return false;
	for (; *texts; texts++)
		if (!holds(list, *texts))
			return false;
	return true;
}

bool declared_masked_paths(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return holds_all(member(documents, rule), masked_paths);
}

bool declared_read_only_paths(const struct admission_declared *documents, const struct admission_rule *rule)
{
	return holds_all(member(documents, rule), read_only_paths);
}

bool declared_dns(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *host = member(documents, rule);

	return host && json_blank(json_member(host, "Dns")) && json_blank(json_member(host, "DnsOptions")) &&
	       json_blank(json_member(host, "DnsSearch"));
}

bool declared_user(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct profile *profile = documents->profile;
	char user[32];

	snprintf(user, sizeof(user), "%" PRIu32 ":%" PRIu32, profile->uid, profile->gid);
	return profile->uid != 0 && profile->gid != 0 && json_text_is(member(documents, rule), user);
}

bool declared_labels(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *labels = member(documents, rule);

	return json_count(labels) == 2 &&
	       json_text_is(json_member(labels, PROFILE_LABEL_RUN), documents->identity->run) &&
	       json_text_is(json_member(labels, PROFILE_LABEL_ROLE), documents->identity->role);
}

/* Path and Args are what the engine will run, whatever Config says. */
bool declared_entrypoint(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const char *const *command = documents->identity->command;
	const char *const first[] = { command[0], NULL };

	return command[0] && json_texts_are(member(documents, rule), first) &&
	       json_text_is(json_member(documents->inspect, "Path"), command[0]);
}

bool declared_command(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const char *const *command = documents->identity->command;

	return command[0] && documents->inspect && json_texts_are(member(documents, rule), command + 1) &&
	       json_texts_are(json_member(documents->inspect, "Args"), command + 1);
}

bool declared_healthcheck(const struct admission_declared *documents, const struct admission_rule *rule)
{
	static const char *const none[] = { "NONE", NULL };

	return json_texts_are(json_member(member(documents, rule), "Test"), none);
}

bool declared_streams(const struct admission_declared *documents, const struct admission_rule *rule)
{
	const struct json_node *config = member(documents, rule);

	return bool_is(json_member(config, "AttachStdin"), true) &&
	       bool_is(json_member(config, "AttachStdout"), true) && bool_is(json_member(config, "AttachStderr"), true);
}

static const char *const masked_paths[] = {
	"/proc/asound",
	"/proc/acpi",
	"/proc/kcore",
	"/proc/keys",
	"/proc/latency_stats",
	"/proc/timer_list",
	"/proc/timer_stats",
	"/proc/sched_debug",
	"/proc/scsi",
	"/sys/firmware",
	NULL,
};

static const char *const read_only_paths[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", NULL,
};
