#include "adapter/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"

/* Of a container that is started again when it failed. */
#define RESTARTS_MAX 3

#define SHM_BYTES (64 * MIB)
#define SETTING_BYTES 48
#define PROFILE_BYTES (64 * KIB)

static void put_list(struct json_writer *json, const char *key, const char *only)
{
	json_put_key(json, key);
	json_array(json);
	if (only)
		json_put_string(json, only);
	json_array_end(json);
}

static void put_command(struct json_writer *json, const char *const *command)
{
	put_list(json, "Entrypoint", command[0]);
	json_put_key(json, "Cmd");
	json_array(json);
	for (size_t i = 1; command[0] && command[i]; i++)
		json_put_string(json, command[i]);
	json_array_end(json);
}

static void put_labels(struct json_writer *json, const struct profile_identity *identity)
{
	json_put_key(json, "Labels");
	json_object(json);
	json_member_string(json, PROFILE_LABEL_RUN, identity->run);
	json_member_string(json, PROFILE_LABEL_ROLE, identity->role);
	json_object_end(json);
}

static void put_core_limit(struct json_writer *json, const struct profile *profile)
{
	json_put_key(json, "Ulimits");
	json_array(json);
	json_object(json);
	json_member_string(json, "Name", "core");
	json_member_int(json, "Soft", profile->core_soft);
	json_member_int(json, "Hard", profile->core_hard);
	json_object_end(json);
	json_array_end(json);
}

static void put_log(struct json_writer *json, const struct profile *profile)
{
	json_put_key(json, "LogConfig");
	json_object(json);
	json_member_string(json, "Type", profile->log_driver);
	json_put_key(json, "Config");
	json_object(json);
	json_object_end(json);
	json_object_end(json);
}

static void put_restart(struct json_writer *json, const struct profile *profile)
{
	json_put_key(json, "RestartPolicy");
	json_object(json);
	json_member_string(json, "Name", profile->restart);
	json_member_int(json, "MaximumRetryCount", strcmp(profile->restart, "no") == 0 ? 0 : RESTARTS_MAX);
	json_object_end(json);
}

static void put_host(struct json_writer *json, const struct profile *profile)
{
	json_put_key(json, "HostConfig");
	json_object(json);
	json_member_string(json, "NetworkMode", profile->network_mode);
	json_member_bool(json, "ReadonlyRootfs", profile->read_only_root);
	json_member_bool(json, "Privileged", false);
	put_list(json, "CapAdd", NULL);
	put_list(json, "CapDrop", profile->drop_all_capabilities ? "ALL" : NULL);
	put_list(json, "SecurityOpt", profile->no_new_privileges ? "no-new-privileges=true" : NULL);
	put_log(json, profile);
	put_restart(json, profile);
	json_member_bool(json, "AutoRemove", false);
	/* The engine may be told to run an init of its own in each container that does not refuse it. */
	json_member_bool(json, "Init", false);
	json_member_int(json, "PidsLimit", profile->pids);
	json_member_int(json, "Memory", profile->memory_bytes);
	json_member_int(json, "MemorySwap", profile->memory_bytes);
	json_member_int(json, "ShmSize", SHM_BYTES);
	put_core_limit(json, profile);
	json_member_string(json, "IpcMode", profile->ipc_mode);
	json_member_string(json, "PidMode", "");
	json_member_string(json, "UTSMode", "");
	json_member_string(json, "UsernsMode", "");
	json_member_string(json, "Runtime", profile->runtime);
	json_member_bool(json, "PublishAllPorts", false);
	json_object_end(json);
}

int profile_create_body(const struct profile *profile, const struct profile_identity *identity, struct buf *out,
			struct error **err)
{
	struct json_writer json;
	char user[SETTING_BYTES];

	snprintf(user, sizeof(user), "%" PRIu32 ":%" PRIu32, profile->uid, profile->gid);
	json_begin(&json, out);
	json_object(&json);
	json_member_string(&json, "Image", identity->image);
	json_member_string(&json, "User", user);
	put_command(&json, identity->command);
	put_list(&json, "Env", NULL);
	json_member_string(&json, "WorkingDir", profile->working_dir);
	json_member_string(&json, "StopSignal", "SIGTERM");
	put_labels(&json, identity);
	json_put_key(&json, "Healthcheck");
	json_object(&json);
	put_list(&json, "Test", "NONE");
	json_object_end(&json);
	json_member_bool(&json, "AttachStdin", true);
	json_member_bool(&json, "AttachStdout", true);
	json_member_bool(&json, "AttachStderr", true);
	json_member_bool(&json, "OpenStdin", true);
	/* Without it the end of input does not reach the agent. */
	json_member_bool(&json, "StdinOnce", true);
	json_member_bool(&json, "Tty", false);
	put_host(&json, profile);
	json_object_end(&json);
	return buf_check(out, "the container's create body", err);
}

/* ---- profile.json ---- */

struct protection {
	const char *id;
	const char *rule;
	const char *setting; /* fixed text; NULL: `print` says it */
	void (*print)(const struct profile *profile, char *out, size_t size);
};
static const struct protection protections[];
static const size_t protections_count;

static void put_protections(struct json_writer *json, const struct profile *profile)
{
	char setting[SETTING_BYTES];

	json_put_key(json, "protections");
	json_array(json);
	for (size_t i = 0; i < protections_count; i++) {
		const struct protection *row = &protections[i];

		if (row->print)
			row->print(profile, setting, sizeof(setting));
		json_object(json);
		json_member_string(json, "id", row->id);
		json_member_string(json, "setting", row->print ? setting : row->setting);
		json_member_bool(json, "required", true);
		json_member_string(json, "admissionRule", row->rule);
		json_object_end(json);
	}
	json_array_end(json);
}

int profile_encode(const struct profile *profile, struct buf *out, struct error **err)
{
	cleanup_buf struct buf text = BUF(PROFILE_BYTES);
	struct json_writer json;

	json_begin(&json, &text);
	json_object(&json);
	json_member_string(&json, "schema", "confinement-evidence/profile/1");
	json_member_string(&json, "id", profile->id);
	put_protections(&json, profile);
	json_put_key(&json, "limits");
	json_object(&json);
	json_member_int(&json, "pids", profile->pids);
	json_member_int(&json, "memoryBytes", profile->memory_bytes);
	json_member_int(&json, "memorySwapBytes", profile->memory_bytes);
	json_member_int(&json, "shmBytes", SHM_BYTES);
	json_member_int(&json, "coreSoft", profile->core_soft);
	json_member_int(&json, "coreHard", profile->core_hard);
	json_object_end(&json);
	json_object_end(&json);
	if (buf_check(&text, "the profile's document", err) < 0)
		return -1;
	return json_canonical(text.data, text.length, out, err);
}

static void print_network(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->network_mode);
}

static void print_root(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->read_only_root ? "read-only" : "writable");
}

static void print_capabilities(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->drop_all_capabilities ? "none" : "default");
}

static void print_privileges(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->no_new_privileges ? "true" : "false");
}

static void print_user(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%" PRIu32 ":%" PRIu32, profile->uid, profile->gid);
}

static void print_log(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->log_driver);
}

static void print_pids(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%" PRId64, profile->pids);
}

static void print_memory(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%" PRId64, profile->memory_bytes);
}

static void print_core(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%" PRId64 ":%" PRId64, profile->core_soft, profile->core_hard);
}

static void print_ipc(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->ipc_mode);
}

static void print_runtime(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->runtime);
}

static void print_restart(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->restart);
}

static void print_working_dir(const struct profile *profile, char *out, size_t size)
{
	snprintf(out, size, "%s", profile->working_dir);
}

const struct profile profile_reference = {
	.id = "reference",
	.network_mode = "none",
	.read_only_root = true,
	.drop_all_capabilities = true,
	.no_new_privileges = true,
	.uid = 10001,
	.gid = 10001,
	.log_driver = "none",
	.pids = 32,
	.memory_bytes = 128 * MIB,
	.core_soft = 0,
	.core_hard = 0,
	.ipc_mode = "private",
	.runtime = "runc",
	.restart = "no",
	.working_dir = "/",
};

static const struct protection protections[] = {
	{ .id = "network", .rule = "network-mode", .print = print_network },
	{ .id = "networks", .rule = "networks", .print = print_network },
	{ .id = "read-only", .rule = "read-only-root", .print = print_root },
	{ .id = "binds", .rule = "binds", .setting = "none" },
	{ .id = "mounts", .rule = "mounts", .setting = "none" },
	{ .id = "mount-points", .rule = "mount-points", .setting = "none" },
	{ .id = "volumes", .rule = "volumes", .setting = "none" },
	{ .id = "tmpfs", .rule = "tmpfs", .setting = "none" },
	{ .id = "devices", .rule = "devices", .setting = "none" },
	{ .id = "device-rules", .rule = "device-rules", .setting = "none" },
	{ .id = "capabilities", .rule = "cap-drop", .print = print_capabilities },
	{ .id = "added-capabilities", .rule = "cap-add", .setting = "none" },
	{ .id = "no-new-privileges", .rule = "security-opt", .print = print_privileges },
	{ .id = "user", .rule = "user", .print = print_user },
	{ .id = "groups", .rule = "group-add", .setting = "none" },
	{ .id = "log-driver", .rule = "log-driver", .print = print_log },
	{ .id = "restart", .rule = "restart-policy", .print = print_restart },
	{ .id = "working-dir", .rule = "working-dir", .print = print_working_dir },
	{ .id = "pids", .rule = "pids-limit", .print = print_pids },
	{ .id = "memory", .rule = "memory", .print = print_memory },
	{ .id = "memory-swap", .rule = "memory-swap", .print = print_memory },
	{ .id = "core", .rule = "ulimits", .print = print_core },
	{ .id = "ipc", .rule = "ipc-mode", .print = print_ipc },
	{ .id = "pid", .rule = "pid-mode", .setting = "private" },
	{ .id = "uts", .rule = "uts-mode", .setting = "private" },
	{ .id = "userns", .rule = "userns-mode", .setting = "engine" },
	{ .id = "privileged", .rule = "privileged", .setting = "false" },
	{ .id = "healthcheck", .rule = "healthcheck", .setting = "none" },
	{ .id = "tty", .rule = "tty", .setting = "false" },
	{ .id = "seccomp", .rule = "engine-seccomp", .setting = "engine default" },
	{ .id = "masked-paths", .rule = "masked-paths", .setting = "engine default" },
	{ .id = "read-only-paths", .rule = "read-only-paths", .setting = "engine default" },
	{ .id = "sysctls", .rule = "sysctls", .setting = "none" },
	{ .id = "extra-hosts", .rule = "extra-hosts", .setting = "none" },
	{ .id = "dns", .rule = "dns", .setting = "none" },
	{ .id = "cgroup-parent", .rule = "cgroup-parent", .setting = "none" },
	{ .id = "init", .rule = "init", .setting = "false" },
	{ .id = "runtime", .rule = "runtime", .print = print_runtime },
	{ .id = "environment", .rule = "environment", .setting = "none" },
	{ .id = "labels", .rule = "labels", .setting = "run and role" },
	{ .id = "entrypoint", .rule = "entrypoint", .setting = "as declared" },
	{ .id = "command", .rule = "command", .setting = "as declared" },
	{ .id = "image", .rule = "image-immutable", .setting = "by id" },
	{ .id = "image-volumes", .rule = "image-volumes", .setting = "none" },
	{ .id = "image-healthcheck", .rule = "image-healthcheck", .setting = "none" },
	{ .id = "image-working-dir", .rule = "image-working-dir", .setting = "not below /proc" },
};
static const size_t protections_count = sizeof(protections) / sizeof(protections[0]);
