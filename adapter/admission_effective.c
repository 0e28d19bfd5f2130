/* Rules over what the kernel says of the container's process, and the reading of its texts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/admission_rules.h"

/* Version 1 writes the largest number of pages as bytes where nothing limits. */
#define NO_LIMIT (1LL << 62)

#define BLANKS " \t"

bool text_line(const char **rest, struct text *line)
{
	if (!*rest || !**rest)
		return false;
	line->bytes = *rest;
	line->length = strcspn(*rest, "\n");
	*rest += line->length + ((*rest)[line->length] == '\n');
	return true;
}

bool text_word(struct text *line, struct text *word)
{
	const char *end = line->bytes + line->length, *at = line->bytes;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	word->bytes = at;
	while (at < end && *at != ' ' && *at != '\t')
		at++;
	word->length = (size_t)(at - word->bytes);
	line->bytes = at;
	line->length = (size_t)(end - at);
	return word->length != 0;
}

bool text_is(struct text text, const char *other)
{
	return strlen(other) == text.length && memcmp(text.bytes, other, text.length) == 0;
}

static void trim(struct text *text)
{
	while (text->length && strchr(BLANKS, text->bytes[0])) {
		text->bytes++;
		text->length--;
	}
	while (text->length && strchr(BLANKS, text->bytes[text->length - 1]))
		text->length--;
}

bool status_value(const char *status, const char *name, struct text *out)
{
	size_t length = strlen(name);
	struct text line;

	while (text_line(&status, &line)) {
		if (line.length <= length || memcmp(line.bytes, name, length) != 0 || line.bytes[length] != ':')
			continue;
		out->bytes = line.bytes + length + 1;
		out->length = line.length - length - 1;
		trim(out);
		return true;
	}
	return false;
}

bool net_dev_next(const char **rest, struct text *name)
{
	while (text_line(rest, name)) {
		const char *colon = memchr(name->bytes, ':', name->length);

		/* The two lines of headings hold '|' where the others have their colon. */
		if (!colon || memchr(name->bytes, '|', name->length))
			continue;
		name->length = (size_t)(colon - name->bytes);
		trim(name);
		return true;
	}
	return false;
}

/* Real, effective, saved and file system id are all `id`, which is not root's. */
static bool four_ids(const char *status, const char *name, uint32_t id)
{
	struct text value, word;
	char expected[16];
	int count = 0;

	if (id == 0 || !status_value(status, name, &value))
		return false;
	snprintf(expected, sizeof(expected), "%" PRIu32, id);
	for (; text_word(&value, &word); count++)
		if (!text_is(word, expected))
			return false;
	return count == 4;
}

bool effective_uid(const struct admission_effective *files, const struct admission_rule *rule)
{
	return four_ids(files->status, rule->path, files->profile->uid);
}

bool effective_gid(const struct admission_effective *files, const struct admission_rule *rule)
{
	return four_ids(files->status, rule->path, files->profile->gid);
}

/* Engines add the primary group to the list; newer ones may leave it empty. */
bool effective_groups(const struct admission_effective *files, const struct admission_rule *rule)
{
	struct text value;
	char own[16];

	snprintf(own, sizeof(own), "%" PRIu32, files->profile->gid);
	return status_value(files->status, rule->path, &value) && (value.length == 0 || text_is(value, own));
}

bool effective_capabilities(const struct admission_effective *files, const struct admission_rule *rule)
{
	(void)rule;
	for (size_t i = 0; capability_sets[i]; i++) {
		struct text value;

		if (!status_value(files->status, capability_sets[i], &value) || value.length == 0)
			return false;
		for (size_t digit = 0; digit < value.length; digit++)
			if (value.bytes[digit] != '0')
				return false;
	}
	return true;
}

bool effective_status(const struct admission_effective *files, const struct admission_rule *rule)
{
	struct text value;

	return status_value(files->status, rule->path, &value) && text_is(value, rule->text);
}

bool effective_namespace(const struct admission_effective *files, const struct admission_rule *rule)
{
	for (size_t i = 0; i < files->namespaces_count; i++)
		if (strcmp(files->namespaces[i].name, rule->text) == 0)
			return files->namespaces[i].own != 0 && files->namespaces[i].theirs != 0 &&
			       files->namespaces[i].own != files->namespaces[i].theirs;
	return false;
}

bool effective_interfaces(const struct admission_effective *files, const struct admission_rule *rule)
{
	const char *rest = files->net_dev;
	struct text name;
	size_t count = 0;

	for (; net_dev_next(&rest, &name); count++)
		if (!text_is(name, rule->text))
			return false;
	return count == 1;
}

static bool limit_is(struct text word, int64_t expected)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, expected);
	return text_is(word, expected < 0 ? "unlimited" : text);
}

bool effective_core_limit(const struct admission_effective *files, const struct admission_rule *rule)
{
	size_t length = strlen(rule->text);
	const char *rest = files->limits;
	struct text line, soft, hard;

	while (text_line(&rest, &line)) {
		if (line.length <= length || memcmp(line.bytes, rule->text, length) != 0)
			continue;
		line.bytes += length;
		line.length -= length;
		return text_word(&line, &soft) && text_word(&line, &hard) &&
		       limit_is(soft, files->profile->core_soft) && limit_is(hard, files->profile->core_hard);
	}
	return false;
}

bool effective_descriptors(const struct admission_effective *files, const struct admission_rule *rule)
{
	return files->descriptors && strcmp(files->descriptors, rule->text) == 0;
}

static bool contains(struct text text, const char *part)
{
	return memmem(text.bytes, text.length, part, strlen(part)) != NULL;
}

/* Whether "pids" or "memory" is among the controllers, separated by commas. */
static bool limits_us(struct text controllers)
{
	static const char *const names[] = { "pids", "memory" };
	const char *at = controllers.bytes, *end = controllers.bytes + controllers.length;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct text one = { at, (size_t)((comma ? comma : end) - at) };

		if (text_is(one, names[0]) || text_is(one, names[1]))
			return true;
		at = comma ? comma + 1 : end;
	}
	return false;
}

/* "HIERARCHY:CONTROLLERS:PATH" a line. Each hierarchy that limits pids or memory has the container's own group; where
 * none does, the unified one has. */
bool effective_cgroup(const struct admission_effective *files, const struct admission_rule *rule)
{
	const char *rest = files->cgroup;
	bool limiting = false, unified = false;
	struct text line;

	(void)rule;
	if (!files->container_id || !files->container_id[0])
		return false;
	while (text_line(&rest, &line)) {
		const char *end = line.bytes + line.length;
		const char *one = memchr(line.bytes, ':', line.length);
		const char *two = one ? memchr(one + 1, ':', (size_t)(end - one - 1)) : NULL;
		struct text controllers, path;

		if (!two)
			return false;
		controllers = (struct text){ one + 1, (size_t)(two - one - 1) };
		path = (struct text){ two + 1, (size_t)(end - two - 1) };
		if (limits_us(controllers)) {
			limiting = true;
			if (!contains(path, files->container_id))
				return false;
		} else if (controllers.length == 0) {
			unified = contains(path, files->container_id);
		}
	}
	return limiting || unified;
}

/* One number and the end of the line, as a file of a cgroup holds it. */
static bool value_is(const char *text, int64_t expected)
{
	char line[24];

	snprintf(line, sizeof(line), "%" PRId64 "\n", expected);
	return text && strcmp(text, line) == 0;
}

/* Both are the same number; one that no memory reaches is no limit. */
static bool same_limit(const char *one, const char *other)
{
	return other && strcmp(one, other) == 0 && strtoll(one, NULL, 10) < NO_LIMIT;
}

bool effective_pids_max(const struct admission_effective *files, const struct admission_rule *rule)
{
	(void)rule;
	return value_is(files->pids_max, files->profile->pids);
}

bool effective_memory_max(const struct admission_effective *files, const struct admission_rule *rule)
{
	(void)rule;
	return value_is(files->memory_max, files->profile->memory_bytes);
}

/* Version 1 counts memory and swap together, version 2 swap alone: beside the profile's memory, or the memory
 * that there is, no swap. A kernel that counts neither is refused. */
bool effective_swap_max(const struct admission_effective *files, const struct admission_rule *rule)
{
	bool together = files->memory_swap_max && files->memory_swap_max[0];
	bool alone = files->swap_max && files->swap_max[0];

	(void)rule;
	if (together == alone)
		return false;
	if (!together)
		return value_is(files->swap_max, 0);
	return value_is(files->memory_swap_max, files->profile->memory_bytes) ||
	       same_limit(files->memory_swap_max, files->memory_max);
}

const char *const capability_sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", NULL };
