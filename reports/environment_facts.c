/* The facts that a snapshot of the environment holds, each with its form. */
#include <inttypes.h>
#include <string.h>

#include "core/json.h"
#include "core/limits.h"
#include "core/schema.h"
#include "reports/environment.h"

#define TEXT_MAX 128
#define LIST_MAX 64
#define COUNT_MAX ((INT64_C(1) << 53) - 1)

enum form {
	FORM_TEXT, /* printable ASCII */
	FORM_WORD, /* printable ASCII without blanks, quotes and the like: WORD_BYTES */
	FORM_HEX, /* min to max lower-case hexadecimal digits */
	FORM_DIGITS, /* a text of 1 to max decimal digits */
	FORM_NAME, /* one of names */
	FORM_COUNT, /* min to max */
	FORM_FLAG,
	FORM_LIST, /* of at most LIST_MAX texts */
};
#define WORD_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@:+-"

struct fact {
	const char *name;
	enum form form;
	int64_t min, max;
	const char *const *names;
	bool varies; /* changes by itself: it is told, and not compared */
	bool later; /* bundles of format 1.0 lack it */
};
static const struct fact facts[];

const char *environment_fact(size_t index)
{
	return facts[index].name;
}

static const struct fact *find(const char *name)
{
	for (const struct fact *fact = facts; fact->name; fact++)
		if (strcmp(fact->name, name) == 0)
			return fact;
	return NULL;
}

bool environment_fact_varies(const char *name)
{
	const struct fact *fact = find(name);

	return fact && fact->varies;
}

bool environment_fact_later(const char *name)
{
	const struct fact *fact = find(name);

	return fact && fact->later;
}

static bool is_text(const struct json_node *node)
{
	const char *text = json_string(node);
	size_t length = json_string_length(node);

	return text && length > 0 && length <= TEXT_MAX && schema_matches(PATTERN_ASCII, text, length);
}

static bool is_list(const struct json_node *node)
{
	if (json_type(node) != JSON_ARRAY || json_count(node) > LIST_MAX)
		return false;
	for (const struct json_node *one = json_first(node); one; one = json_next(one))
		if (!is_text(one))
			return false;
	return true;
}

static bool is_form(const struct fact *fact, const struct json_node *value)
{
	const char *text = json_string(value);
	size_t length = json_string_length(value);
	int64_t number;
	bool flag;

	switch (fact->form) {
	case FORM_TEXT:
		return is_text(value);
	case FORM_WORD:
		return is_text(value) && strspn(text, WORD_BYTES) == length;
	case FORM_HEX:
		return is_text(value) && strspn(text, "0123456789abcdef") == length && (int64_t)length >= fact->min &&
		       (int64_t)length <= fact->max;
	case FORM_DIGITS:
		return is_text(value) && strspn(text, "0123456789") == length && (int64_t)length <= fact->max;
	case FORM_NAME:
		return text && schema_enum(fact->names, text) >= 0;
	case FORM_COUNT:
		return json_int64(value, &number) && number >= fact->min && number <= fact->max;
	case FORM_FLAG:
		return json_bool(value, &flag);
	case FORM_LIST:
		return is_list(value);
	}
	return false;
}

bool environment_fact_fits(const char *name, const struct json_node *value)
{
	const struct fact *fact = find(name);

	return fact && value && (json_type(value) == JSON_NULL || is_form(fact, value));
}

#define TEXT_FORM "{\"type\":\"string\",\"minLength\":1,\"maxLength\":%d,\"pattern\":\"^[%s]*$\"}"

static void put_names(struct buf *out, const char *const *names)
{
	buf_text(out, "{\"enum\":[");
	for (size_t i = 0; names[i]; i++)
		buf_printf(out, "%s\"%s\"", i ? "," : "", names[i]);
	buf_text(out, "]}");
}

static void put_form(const struct fact *fact, struct buf *out)
{
	switch (fact->form) {
	case FORM_TEXT:
		buf_printf(out, TEXT_FORM, TEXT_MAX, " -~");
		break;
	case FORM_WORD:
		buf_printf(out, TEXT_FORM, TEXT_MAX, "a-zA-Z0-9._/@:+-");
		break;
	case FORM_HEX:
		buf_printf(out, "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{%" PRId64 ",%" PRId64 "}$\"}", fact->min,
			   fact->max);
		break;
	case FORM_DIGITS:
		buf_printf(out, "{\"type\":\"string\",\"pattern\":\"^[0-9]{1,%" PRId64 "}$\"}", fact->max);
		break;
	case FORM_NAME:
		put_names(out, fact->names);
		break;
	case FORM_COUNT:
		buf_printf(out, "{\"type\":\"integer\",\"minimum\":%" PRId64 ",\"maximum\":%" PRId64 "}", fact->min,
			   fact->max);
		break;
	case FORM_FLAG:
		buf_text(out, "{\"type\":\"boolean\"}");
		break;
	case FORM_LIST:
		buf_printf(out, "{\"type\":\"array\",\"maxItems\":%d,\"items\":" TEXT_FORM "}", LIST_MAX, TEXT_MAX,
			   " -~");
		break;
	}
}

void environment_fact_schema(size_t index, struct buf *out)
{
	buf_text(out, "{\"anyOf\":[{\"type\":\"null\"},");
	put_form(&facts[index], out);
	buf_text(out, "]}");
}

static const char *const pattern_names[] = { "file", "pipe", "socket", "empty", NULL };
static const char *const source_names[] = { "proc", "boot", NULL };
static const char *const store_names[] = { "graphdriver", "containerd", NULL };
static const char *const provider_names[] = { "none", "github", "gitlab", "jenkins", "other", NULL };
static const char *const runner_names[] = { "github-hosted", "self-hosted", NULL };

#define TEXT(key)                                                                                                      \
	{                                                                                                              \
		.name = (key), .form = FORM_TEXT                                                                       \
	}
#define WORD(key)                                                                                                      \
	{                                                                                                              \
		.name = (key), .form = FORM_WORD                                                                       \
	}
#define HEX(key, least, most)                                                                                          \
	{                                                                                                              \
		.name = (key), .form = FORM_HEX, .min = (least), .max = (most)                                         \
	}
#define DIGEST(key) HEX(key, HEX_SHA256 - 1, HEX_SHA256 - 1)
#define NAME(key, list)                                                                                                \
	{                                                                                                              \
		.name = (key), .form = FORM_NAME, .names = (list)                                                      \
	}
#define COUNT(key, least, most)                                                                                        \
	{                                                                                                              \
		.name = (key), .form = FORM_COUNT, .min = (least), .max = (most)                                       \
	}
#define FLAG(key)                                                                                                      \
	{                                                                                                              \
		.name = (key), .form = FORM_FLAG                                                                       \
	}
#define LIST(key)                                                                                                      \
	{                                                                                                              \
		.name = (key), .form = FORM_LIST                                                                       \
	}

static const struct fact facts[] = {
	TEXT("kernel.name"),
	TEXT("kernel.release"),
	TEXT("kernel.version"),
	TEXT("kernel.machine"),
	HEX("kernel.boot", 32, 32),
	HEX("kernel.buildId", 8, TEXT_MAX),
	DIGEST("kernel.configSha256"),
	NAME("kernel.configSource", source_names),
	DIGEST("kernel.cmdlineSha256"),
	LIST("kernel.cmdlineFlags"),
	COUNT("kernel.tainted", 0, COUNT_MAX),
	NAME("sysctl.corePatternClass", pattern_names),
	FLAG("sysctl.corePatternRelative"),
	COUNT("sysctl.coreUsesPid", 0, 1),
	COUNT("sysctl.suidDumpable", 0, 2),
	COUNT("sysctl.randomizeVaSpace", 0, 2),
	COUNT("sysctl.ptraceScope", 0, 3),
	COUNT("sysctl.unprivilegedUsernsClone", 0, 1),
	COUNT("sysctl.maxUserNamespaces", 0, INT32_MAX),
	COUNT("sysctl.unprivilegedBpfDisabled", 0, 2),
	COUNT("sysctl.ipv6Disabled", 0, 1),
	COUNT("sysctl.ipv6BindOnly", 0, 1),
	LIST("lsm.list"),
	LIST("seccomp.actions"),
	COUNT("cgroup.version", 1, 2),
	TEXT("cpu.vendor"),
	TEXT("cpu.model"),
	TEXT("cpu.microcode"),
	COUNT("cpu.online", 1, 65536),
	FLAG("cpu.virtualised"),
	LIST("cpu.vulnerabilities"),
	DIGEST("cpu.vulnerabilitiesSha256"),
	WORD("clock.source"),
	{ .name = "clock.synchronised", .form = FORM_FLAG, .varies = true },
	TEXT("build.libc"),
	TEXT("build.compiler"),
	FLAG("process.ldPreloadSet"),
	FLAG("process.dockerHostSet"),
	NAME("ci.provider", provider_names),
	{ .name = "ci.runId", .form = FORM_DIGITS, .max = 20 },
	{ .name = "ci.attempt", .form = FORM_DIGITS, .max = 6 },
	WORD("ci.workflow"),
	HEX("ci.sha", 40, 64),
	WORD("ci.runnerOs"),
	WORD("ci.runnerArch"),
	NAME("ci.runner", runner_names),
	WORD("ci.image"),
	WORD("ci.imageVersion"),
	TEXT("engine.api"),
	TEXT("engine.version"),
	TEXT("engine.gitCommit"),
	TEXT("engine.apiVersion"),
	TEXT("engine.minApiVersion"),
	TEXT("containerd.version"),
	TEXT("containerd.gitCommit"),
	TEXT("runc.version"),
	TEXT("runc.gitCommit"),
	TEXT("dockerInit.version"),
	TEXT("dockerInit.gitCommit"),
	TEXT("engine.storageDriver"),
	TEXT("engine.backingFilesystem"),
	NAME("engine.imageStore", store_names),
	TEXT("engine.cgroupDriver"),
	TEXT("engine.cgroupVersion"),
	TEXT("engine.defaultRuntime"),
	LIST("engine.runtimes"),
	TEXT("engine.loggingDriver"),
	FLAG("engine.liveRestore"),
	TEXT("engine.operatingSystem"),
	TEXT("engine.kernelVersion"),
	TEXT("engine.osType"),
	TEXT("engine.architecture"),
	LIST("engine.securityOptions"),
	COUNT("engine.warnings", 0, 1000),
	COUNT("host.cpus", 1, 65536),
	COUNT("host.memoryBytes", 0, COUNT_MAX),
	FLAG("host.ipv6Loopback"),
	FLAG("host.userXattr"),
	{ .name = "host.postgres", .form = FORM_FLAG, .later = true },
	{ .name = "postgres.version", .form = FORM_TEXT, .later = true },
	{ .name = NULL },
};
