#include "reports/environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "core/schema.h"

#define FILE_NAME "environment.json"
#define ABSENT "(not known)"
/* Of the engine's API, as the adapter speaks it. */
#define API_MINOR_MIN 41
#define API_MINOR_MAX 55

/* A line of a text: fixed words before and after one fact of the first snapshot. */
struct line {
	const char *before;
	const char *fact;
	const char *after;
};
static const struct line kernel_lines[], engine_lines[];

/* A need of a scenario's cell, and the fact that says whether the host meets it. */
struct need {
	const char *id, *fact;
};
static const struct need needs[ENVIRONMENT_NEEDS];
static const char *const reason_names[] = { "absent", "permission", "unsupported", "error", NULL };

static int parse(const char *environment, size_t length, struct json_document **out, struct error **err)
{
	const char *schema;
	int result = json_parse(environment, length, JSON_DEPTH, out, err);

	if (result < 0)
		return error_wrap(err, FILE_NAME);
	schema = json_string(json_member(json_root(*out), "schema"));
	if (!schema || strcmp(schema, ENVIRONMENT_SCHEMA) != 0)
		return error_set(err, ERROR_INPUT, FILE_NAME ": schema: not " ENVIRONMENT_SCHEMA);
	return 0;
}

static void put_fact(struct buf *out, const struct json_node *node)
{
	const char *text = json_string(node);
	int64_t number;

	if (json_int64(node, &number))
		buf_printf(out, "%" PRId64, number);
	else if (text && schema_matches(PATTERN_ASCII, text, json_string_length(node)))
		buf_text(out, text);
	else
		buf_text(out, ABSENT);
}

static int write_lines(const char *environment, size_t length, const struct line *lines, struct buf *out,
		       struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	const struct json_node *before;
	int result = parse(environment, length, &document, err);

	if (result < 0)
		return result;
	before = json_member(json_root(document), "before");
	for (const struct line *line = lines; line->before; line++) {
		buf_text(out, line->before);
		if (line->fact)
			put_fact(out, json_member(before, line->fact));
		buf_text(out, line->after);
	}
	return buf_check(out, FILE_NAME, err);
}

int environment_kernel_text(const char *environment, size_t length, struct buf *out, struct error **err)
{
	return write_lines(environment, length, kernel_lines, out, err);
}

int environment_engine_text(const char *environment, size_t length, struct buf *out, struct error **err)
{
	return write_lines(environment, length, engine_lines, out, err);
}

/* Canonical objects: the same facts stand in the same order. */
static bool same_facts(const struct json_node *before, const struct json_node *after)
{
	const struct json_node *one = json_first(before), *other = json_first(after);

	for (; one && other; one = json_next(one), other = json_next(other)) {
		struct json_span was = json_raw(one), is = json_raw(other);

		if (strcmp(json_key(one), json_key(other)) != 0)
			return false;
		if ((was.length != is.length || memcmp(was.bytes, is.bytes, was.length) != 0) &&
		    !environment_fact_varies(json_key(one)))
			return false;
	}
	return !one && !other;
}

int environment_differs(const char *environment, size_t length, bool *out, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	const struct json_node *before, *after;
	int result = parse(environment, length, &document, err);

	if (result < 0)
		return result;
	before = json_member(json_root(document), "before");
	after = json_member(json_root(document), "after");
	if (!before || !after || json_type(before) != JSON_OBJECT || json_type(after) != JSON_OBJECT)
		return error_set(err, ERROR_INPUT, FILE_NAME ": a snapshot is missing");
	*out = !same_facts(before, after);
	return 0;
}

int environment_boot_of(const char *environment, size_t length, char *out, size_t size, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	const char *boot;
	int result = parse(environment, length, &document, err);

	if (result < 0)
		return result;
	boot = json_string(json_member(json_member(json_root(document), "before"), "kernel.boot"));
	snprintf(out, size, "%s", boot ? boot : "");
	return 0;
}

static int check_snapshot(const struct json_node *root, const char *name, struct error **err)
{
	const struct json_node *snapshot = json_member(root, name);
	size_t count = 0;
	const char *fact;

	while (environment_fact(count))
		count++;
	if (!snapshot || json_type(snapshot) != JSON_OBJECT)
		return error_set(err, ERROR_INPUT, FILE_NAME ": %s: must be an object", name);
	if (json_count(snapshot) > count)
		return error_unlisted(err, FILE_NAME ": %s: a fact that is not listed", name);
	for (size_t i = 0; (fact = environment_fact(i)); i++) {
		const struct json_node *value = json_member(snapshot, fact);

		if (!value && environment_fact_later(fact))
			continue;
		if (!value)
			return error_set(err, ERROR_INPUT, FILE_NAME ": %s: %s: missing", name, fact);
		if (!environment_fact_fits(fact, value))
			return error_set(err, ERROR_INPUT, FILE_NAME ": %s: %s: not of the form that it must have",
					 name, fact);
	}
	return 0;
}

static size_t times_named(const struct json_node *list, const char *fact)
{
	size_t times = 0;

	for (const struct json_node *one = json_first(list); one; one = json_next(one))
		times += json_text_is(json_member(one, "field"), fact);
	return times;
}

/* In either snapshot. */
static bool is_unknown(const struct json_node *root, const char *fact)
{
	const struct json_node *before = json_member(json_member(root, "before"), fact);
	const struct json_node *after = json_member(json_member(root, "after"), fact);

	if (!before && !after && environment_fact_later(fact))
		return false;
	return json_is_null(before) || json_is_null(after);
}

static int check_unavailable(const struct json_node *root, struct error **err)
{
	const struct json_node *list = json_member(root, "unavailable");
	bool good = list && json_type(list) == JSON_ARRAY;
	size_t unknown = 0;
	const char *fact;

	for (size_t i = 0; (fact = environment_fact(i)); i++)
		unknown += is_unknown(root, fact);
	good = good && json_count(list) == unknown;
	for (const struct json_node *one = json_first(list); one && good; one = json_next(one)) {
		const char *reason = json_string(json_member(one, "reason"));

		good = json_count(one) == 2 && reason && schema_enum(reason_names, reason) >= 0;
	}
	for (size_t i = 0; (fact = environment_fact(i)) && good; i++)
		good = times_named(list, fact) == is_unknown(root, fact);
	return good ? 0 : error_set(err, ERROR_INPUT, FILE_NAME ": unavailable: must name each fact that is null");
}

int environment_check(const char *environment, size_t length, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root;
	int result = parse(environment, length, &document, err);

	if (result < 0)
		return result;
	root = json_root(document);
	if (json_count(root) > 4)
		return error_unlisted(err,
				      FILE_NAME ": unknown key: must have schema, before, after and unavailable alone");
	if (json_count(root) != 4)
		return error_set(err, ERROR_INPUT, FILE_NAME ": must have schema, before, after and unavailable alone");
	result = check_snapshot(root, "before", err);
	if (result >= 0)
		result = check_snapshot(root, "after", err);
	return result < 0 ? result : check_unavailable(root, err);
}

int environment_lacks(const char *environment, size_t length, const char *out[ENVIRONMENT_NEEDS + 1],
		      struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	int result = parse(environment, length, &document, err);
	const struct json_node *before;
	size_t count = 0;

	if (result < 0)
		return result;
	before = json_member(json_root(document), "before");
	for (size_t i = 0; i < ENVIRONMENT_NEEDS; i++) {
		const struct json_node *fact = json_member(before, needs[i].fact);
		bool has = false;

		if (!json_bool(fact, &has) && (fact || !environment_fact_later(needs[i].fact)))
			return error_set(err, ERROR_INPUT, FILE_NAME ": before: %s: must be true or false",
					 needs[i].fact);
		if (!has)
			out[count++] = needs[i].id;
	}
	out[count] = NULL;
	return 0;
}

static bool our_version(const struct json_node *api)
{
	char text[16];

	for (int minor = API_MINOR_MIN; minor <= API_MINOR_MAX; minor++) {
		snprintf(text, sizeof(text), "1.%d", minor);
		if (json_text_is(api, text))
			return true;
	}
	return false;
}

/* "name=NAME", alone or with what follows a comma. */
static bool has_option(const struct json_node *options, const char *option)
{
	size_t length = strlen(option);

	for (const struct json_node *one = json_first(options); one; one = json_next(one)) {
		const char *text = json_string(one);

		if (text && strncmp(text, option, length) == 0 && (text[length] == '\0' || text[length] == ','))
			return true;
	}
	return false;
}

int environment_refused(const char *environment, size_t length, struct error **err)
{
	cleanup_json struct json_document *document = NULL;
	const struct json_node *before, *options;
	int result = parse(environment, length, &document, err);

	if (result < 0)
		return result;
	before = json_member(json_root(document), "before");
	options = json_member(before, "engine.securityOptions");
	if (!json_text_is(json_member(before, "sysctl.corePatternClass"), "file"))
		return error_set(err, ERROR_INPUT, FILE_NAME ": sysctl.corePatternClass: no run starts but on 'file'");
	if (!options || json_type(options) != JSON_ARRAY)
		return error_set(err, ERROR_INPUT, FILE_NAME ": engine.securityOptions: must be said");
	if (has_option(options, "name=rootless"))
		return error_set(err, ERROR_INPUT, FILE_NAME ": engine.securityOptions: no run starts on 'rootless'");
	if (has_option(options, "name=userns"))
		return error_set(err, ERROR_INPUT, FILE_NAME ": engine.securityOptions: no run starts on 'userns'");
	if (!our_version(json_member(before, "engine.api")))
		return error_set(err, ERROR_INPUT, FILE_NAME ": engine.api: 1.%d to 1.%d are spoken", API_MINOR_MIN,
				 API_MINOR_MAX);
	return 0;
}

/* `uname -a` without the node's name. */
static const struct line kernel_lines[] = {
	{ "", "kernel.name", " " },
	{ "", "kernel.release", " " },
	{ "", "kernel.version", " " },
	{ "", "kernel.machine", "\n" },
	{ .before = NULL },
};

static const struct line engine_lines[] = {
	{ "Server:\n  Version: ", "engine.version", "\n" },
	{ "  API version: ", "engine.apiVersion", "" },
	{ " (minimum version ", "engine.minApiVersion", "" },
	{ ", used ", "engine.api", ")\n" },
	{ "  Git commit: ", "engine.gitCommit", "\n" },
	{ "  OS/Arch: ", "engine.osType", "/" },
	{ "", "engine.architecture", "\n" },
	{ "  Storage driver: ", "engine.storageDriver", "\n" },
	{ "  Cgroup driver: ", "engine.cgroupDriver", "\n" },
	{ "  Cgroup version: ", "engine.cgroupVersion", "\n" },
	{ "  Default runtime: ", "engine.defaultRuntime", "\n" },
	{ "containerd:\n  Version: ", "containerd.version", "\n" },
	{ "runc:\n  Version: ", "runc.version", "\n" },
	{ .before = NULL },
};

static const struct need needs[ENVIRONMENT_NEEDS] = {
	{ .id = "ipv6-loopback", .fact = "host.ipv6Loopback" },
	{ .id = "user-xattr", .fact = "host.userXattr" },
	{ .id = "relative-core", .fact = "sysctl.corePatternRelative" },
	{ .id = "postgres", .fact = "host.postgres" },
};

const char *const *const environment_reasons = reason_names;
