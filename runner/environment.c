#include "runner/environment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>

#include "adapter/preflight.h"
#include "core/fd.h"
#include "core/hash.h"
#include "core/schema.h"

#define VERSION_TEXT_MAX 128
#define PROC_FILE_BYTES 4096
#define SNAPSHOT_BYTES (32 * KIB)
#define CGROUP2_MAGIC 0x63677270
#define BOOT_APPLICATION "harness boot digest 1\n"
#define BOOT_DIGITS 32

/* An answer of the engine: which document, and the path of members to the value. */
struct answer_fact {
	const char *field;
	bool from_info;
	const char *component; /* of /version's Components, or NULL */
	const char *member, *inner; /* inner: member of the member, or NULL */
};
static const struct answer_fact answer_facts[];
static const size_t answer_facts_count;

static const struct proc_fact {
	const char *field, *path;
} proc_facts[] = {
	{ "kernel.tainted", "/proc/sys/kernel/tainted" },
	{ "sysctl.coreUsesPid", "/proc/sys/kernel/core_uses_pid" },
	{ "sysctl.suidDumpable", "/proc/sys/fs/suid_dumpable" },
	{ "sysctl.randomizeVaSpace", "/proc/sys/kernel/randomize_va_space" },
	{ "sysctl.ipv6Disabled", "/proc/sys/net/ipv6/conf/all/disable_ipv6" },
	{ "sysctl.unprivilegedBpfDisabled", "/proc/sys/kernel/unprivileged_bpf_disabled" },
	{ "sysctl.maxUserNamespaces", "/proc/sys/user/max_user_namespaces" },
};

/* A version string of the listed kind, or null. */
static void put_text(struct json_writer *json, const char *field, const char *text)
{
	json_put_key(json, field);
	if (text && *text && strlen(text) <= VERSION_TEXT_MAX && schema_matches(PATTERN_ASCII, text, strlen(text)))
		json_put_string(json, text);
	else
		json_put_null(json);
}

static void put_proc(struct json_writer *json, const struct proc_fact *fact)
{
	cleanup_buf struct buf text = BUF(PROC_FILE_BYTES);
	cleanup_error struct error *ignored = NULL;
	char *end;
	long long value;

	json_put_key(json, fact->field);
	if (fd_read_file(AT_FDCWD, fact->path, PROC_FILE_BYTES, &text, &ignored) < 0 || text.length == 0) {
		json_put_null(json);
		return;
	}
	value = strtoll(text.data, &end, 10);
	if (end == text.data || *end != '\n')
		json_put_null(json);
	else
		json_put_int(json, value);
}

static const struct json_node *component_of(const struct json_node *version, const char *name)
{
	const struct json_node *list = json_member(version, "Components");

	for (const struct json_node *one = json_first(list); one; one = json_next(one)) {
		const char *is = json_string(json_member(one, "Name"));

		if (is && strcmp(is, name) == 0)
			return one;
	}
	return NULL;
}

static void put_answer(struct json_writer *json, const struct answer_fact *fact, const struct json_node *version,
		       const struct json_node *info)
{
	const struct json_node *node = fact->from_info ? info : version;
	int64_t number;
	bool flag;

	if (fact->component)
		node = component_of(version, fact->component);
	node = json_member(node, fact->member);
	if (fact->inner)
		node = json_member(node, fact->inner);
	if (json_int64(node, &number))
		json_member_int(json, fact->field, number);
	else if (json_bool(node, &flag))
		json_member_bool(json, fact->field, flag);
	else
		put_text(json, fact->field, json_string(node));
}

static void put_security_options(struct json_writer *json, const struct json_node *info)
{
	const struct json_node *list = json_member(info, "SecurityOptions");

	json_put_key(json, "engine.securityOptions");
	json_array(json);
	for (const struct json_node *one = json_first(list); one; one = json_next(one)) {
		const char *text = json_string(one);

		if (text && strlen(text) <= VERSION_TEXT_MAX && schema_matches(PATTERN_ASCII, text, strlen(text)))
			json_put_string(json, text);
	}
	json_array_end(json);
}

static void put_host(struct json_writer *json)
{
	cleanup_error struct error *ignored = NULL;
	enum core_class pattern = CORE_EMPTY;
	struct utsname host;
	struct statfs cgroup;

	memset(&host, 0, sizeof(host));
	(void)uname(&host);
	put_text(json, "kernel.name", host.sysname);
	put_text(json, "kernel.release", host.release);
	put_text(json, "kernel.version", host.version);
	put_text(json, "kernel.machine", host.machine);
	json_put_key(json, "sysctl.corePatternClass");
	if (core_pattern_read(&pattern, &ignored) < 0)
		json_put_null(json);
	else
		json_put_string(json, core_class_names[pattern]);
	json_member_bool(json, "sysctl.corePatternRelative", preflight_core_relative());
	json_put_key(json, "cgroup.version");
	if (statfs("/sys/fs/cgroup", &cgroup) < 0)
		json_put_null(json);
	else
		json_put_int(json, cgroup.f_type == CGROUP2_MAGIC ? 2 : 1);
	for (size_t i = 0; i < ARRAY_SIZE(proc_facts); i++)
		put_proc(json, &proc_facts[i]);
	json_member_bool(json, "host.ipv6Loopback", preflight_ipv6_loopback());
	json_member_bool(json, "process.ldPreloadSet", getenv("LD_PRELOAD") != NULL);
	json_member_bool(json, "process.dockerHostSet", getenv("DOCKER_HOST") != NULL);
}

int environment_take(const struct json_node *version, const struct json_node *info, const char *api, bool user_xattr,
		     struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(SNAPSHOT_BYTES);
	struct json_writer json;
	char boot[HEX_SHA256];

	if (environment_boot(boot, err) < 0)
		return -1;
	json_begin(&json, &text);
	json_object(&json);
	put_host(&json);
	json_member_bool(&json, "host.userXattr", user_xattr);
	json_member_string(&json, "kernel.boot", boot);
	put_text(&json, "engine.api", api);
	for (size_t i = 0; i < answer_facts_count; i++)
		put_answer(&json, &answer_facts[i], version, info);
	put_security_options(&json, info);
	json_object_end(&json);
	if (buf_check(&text, "the environment", err) < 0)
		return -1;
	return json_canonical(text.data, text.length, out, err);
}

/* Every field that is null in a snapshot, once. */
static int put_unavailable(struct json_writer *json, const struct buf *before, struct error **err)
{
	cleanup_json struct json_document *document = NULL;

	if (json_parse(buf_string(before), before->length, JSON_DEPTH, &document, err) < 0)
		return -1;
	json_put_key(json, "unavailable");
	json_array(json);
	for (const struct json_node *one = json_first(json_root(document)); one; one = json_next(one)) {
		if (json_type(one) != JSON_NULL)
			continue;
		json_object(json);
		json_member_string(json, "field", json_key(one));
		json_member_string(json, "reason", "absent");
		json_object_end(json);
	}
	json_array_end(json);
	return 0;
}

int environment_encode(const struct buf *before, const struct buf *after, struct buf *out, bool *changed,
		       struct error **err)
{
	cleanup_buf struct buf text = BUF(4 * SNAPSHOT_BYTES);
	struct json_writer json;

	*changed = before->length != after->length || memcmp(before->data, after->data, before->length) != 0;
	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "schema", "confinement-evidence/environment/1");
	json_put_key(&json, "before");
	json_put_raw(&json, before->data, before->length);
	json_put_key(&json, "after");
	json_put_raw(&json, after->data, after->length);
	if (put_unavailable(&json, before, err) < 0)
		return -1;
	json_object_end(&json);
	if (buf_check(&text, "the environment", err) < 0)
		return -1;
	return json_canonical(text.data, text.length, out, err);
}

int environment_boot(char out[HEX_SHA256], struct error **err)
{
	cleanup_buf struct buf text = BUF(PROC_FILE_BYTES);

	if (buf_text(&text, BOOT_APPLICATION) < 0 ||
	    fd_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", PROC_FILE_BYTES, &text, err) < 0)
		return *err ? -1 : error_set(err, ERROR_MEMORY, "no memory for the boot's digest");
	hash_bytes(text.data, text.length, out);
	out[BOOT_DIGITS] = '\0';
	return 0;
}

static const struct answer_fact answer_facts[] = {
	{ .field = "engine.version", .member = "Version" },
	{ .field = "engine.gitCommit", .member = "GitCommit" },
	{ .field = "engine.apiVersion", .member = "ApiVersion" },
	{ .field = "engine.minApiVersion", .member = "MinAPIVersion" },
	{ .field = "runc.version", .component = "runc", .member = "Version" },
	{ .field = "containerd.version", .component = "containerd", .member = "Version" },
	{ .field = "engine.storageDriver", .from_info = true, .member = "Driver" },
	{ .field = "engine.cgroupDriver", .from_info = true, .member = "CgroupDriver" },
	{ .field = "engine.cgroupVersion", .from_info = true, .member = "CgroupVersion" },
	{ .field = "engine.defaultRuntime", .from_info = true, .member = "DefaultRuntime" },
	{ .field = "engine.loggingDriver", .from_info = true, .member = "LoggingDriver" },
	{ .field = "engine.liveRestore", .from_info = true, .member = "LiveRestoreEnabled" },
	{ .field = "engine.operatingSystem", .from_info = true, .member = "OperatingSystem" },
	{ .field = "engine.osType", .from_info = true, .member = "OSType" },
	{ .field = "engine.architecture", .from_info = true, .member = "Architecture" },
	{ .field = "host.cpus", .from_info = true, .member = "NCPU" },
	{ .field = "host.memoryBytes", .from_info = true, .member = "MemTotal" },
};
static const size_t answer_facts_count = ARRAY_SIZE(answer_facts);
