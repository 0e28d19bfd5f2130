#include "adapter/admission.h"

#include <string.h>

#include "adapter/admission_rules.h"
#include "core/fd.h"

static const struct admission_rule rules[];
static const size_t rules_count;

bool rule_set_has(const struct rule_set *set, size_t rule)
{
	return rule < ADMISSION_RULES_MAX && (set->bits[rule / 64] >> (rule % 64) & 1);
}

void rule_set_add(struct rule_set *set, size_t rule)
{
	if (rule < ADMISSION_RULES_MAX)
		set->bits[rule / 64] |= UINT64_C(1) << (rule % 64);
}

bool rule_set_equal(const struct rule_set *one, const struct rule_set *other)
{
	return memcmp(one->bits, other->bits, sizeof(one->bits)) == 0;
}

bool rule_set_empty(const struct rule_set *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
		if (set->bits[i])
			return false;
	return true;
}

bool rule_set_add_id(struct rule_set *set, const char *id)
{
	for (size_t rule = 0; rule < rules_count; rule++) {
		if (strcmp(rules[rule].id, id) == 0) {
			rule_set_add(set, rule);
			return true;
		}
	}
	return false;
}

size_t admission_rules(void)
{
	return rules_count;
}

const char *admission_rule_id(size_t rule)
{
	return rules[rule].id;
}

const char *admission_rule_title(size_t rule)
{
	return rules[rule].title;
}

enum admission_half admission_rule_half(size_t rule)
{
	return rules[rule].half;
}

void admission_declared(const struct admission_declared *documents, struct rule_set *failed)
{
	for (size_t rule = 0; rule < rules_count; rule++)
		if (rules[rule].half == ADMISSION_DECLARED && !rules[rule].declared(documents, &rules[rule]))
			rule_set_add(failed, rule);
}

void admission_effective(const struct admission_effective *files, struct rule_set *failed)
{
	for (size_t rule = 0; rule < rules_count; rule++)
		if (rules[rule].half == ADMISSION_EFFECTIVE && !rules[rule].effective(files, &rules[rule]))
			rule_set_add(failed, rule);
}

#define HOST(name) .path = "HostConfig." name
#define CONFIG(name) .path = "Config." name
#define PROFILE(member) .offset = offsetof(struct profile, member)
#define DECLARED(check) .half = ADMISSION_DECLARED, .declared = (check)
#define EFFECTIVE(check) .half = ADMISSION_EFFECTIVE, .effective = (check)

/* clang-format off */
static const struct admission_rule rules[] = {
	/* what was created */
	{ .id = "container-id", .title = "the answer is about the container that was created",
	  DECLARED(declared_id), .path = "Id" },
	{ .id = "create-warnings", .title = "the engine created it without a warning",
	  DECLARED(declared_warnings) },
	{ .id = "platform", .title = "a Linux container",
	  DECLARED(declared_text), .path = "Platform", .text = "linux" },

	/* the image */
	{ .id = "image-immutable", .title = "the image is named by its id, never by a tag",
	  DECLARED(image_immutable), CONFIG("Image") },
	{ .id = "image-id", .title = "container and image are of the expected id",
	  DECLARED(image_same), .path = "Image" },
	{ .id = "image-volumes", .title = "the image has no VOLUME",
	  DECLARED(image_volumes) },
	{ .id = "image-healthcheck", .title = "the image has no HEALTHCHECK",
	  DECLARED(image_healthcheck) },
	{ .id = "image-working-dir", .title = "the image's WORKDIR is absolute and not below /proc",
	  DECLARED(image_working_dir) },

	/* what runs */
	{ .id = "user", .title = "the profile's uid:gid, explicit, neither of them 0",
	  DECLARED(declared_user), CONFIG("User") },
	{ .id = "entrypoint", .title = "the entrypoint is the declared one, and is the program that runs",
	  DECLARED(declared_entrypoint), CONFIG("Entrypoint") },
	{ .id = "command", .title = "the arguments are the declared ones",
	  DECLARED(declared_command), CONFIG("Cmd") },
	{ .id = "environment", .title = "no environment is declared, here or in the image",
	  DECLARED(declared_blank), CONFIG("Env") },
	{ .id = "working-dir", .title = "the working directory is /",
	  DECLARED(declared_text), CONFIG("WorkingDir"), .text = "/" },
	{ .id = "labels", .title = "exactly the labels of run and role",
	  DECLARED(declared_labels), CONFIG("Labels") },
	{ .id = "healthcheck", .title = "the healthcheck is switched off",
	  DECLARED(declared_healthcheck), CONFIG("Healthcheck") },
	{ .id = "stop-signal", .title = "the stop signal is SIGTERM",
	  DECLARED(declared_text), CONFIG("StopSignal"), .text = "SIGTERM" },
	{ .id = "stop-timeout", .title = "no stop timeout of its own",
	  DECLARED(declared_unset), CONFIG("StopTimeout") },
	{ .id = "domain-name", .title = "no domain name",
	  DECLARED(declared_blank), CONFIG("Domainname") },
	{ .id = "on-build", .title = "no build triggers",
	  DECLARED(declared_blank), CONFIG("OnBuild") },
	{ .id = "init", .title = "no init of the engine's",
	  DECLARED(declared_false), HOST("Init") },
	{ .id = "runtime", .title = "the profile's runtime, not a wrapper",
	  DECLARED(declared_profile_text), HOST("Runtime"), PROFILE(runtime) },
	{ .id = "isolation", .title = "no isolation technology",
	  DECLARED(declared_empty_text), HOST("Isolation") },
	{ .id = "annotations", .title = "no annotations for the runtime",
	  DECLARED(declared_blank), HOST("Annotations") },
	{ .id = "exec-ids", .title = "no second process was started in it",
	  DECLARED(declared_blank), .path = "ExecIDs" },

	/* its streams */
	{ .id = "tty", .title = "no terminal",
	  DECLARED(declared_false), CONFIG("Tty") },
	{ .id = "attach-streams", .title = "all three streams are attached",
	  DECLARED(declared_streams), .path = "Config" },
	{ .id = "stdin-open", .title = "stdin is open",
	  DECLARED(declared_true), CONFIG("OpenStdin") },
	{ .id = "stdin-once", .title = "stdin ends with its first client",
	  DECLARED(declared_true), CONFIG("StdinOnce") },
	{ .id = "log-driver", .title = "the profile's log driver, without options",
	  DECLARED(declared_log), HOST("LogConfig") },

	/* network */
	{ .id = "network-mode", .title = "the profile's network mode",
	  DECLARED(declared_profile_text), HOST("NetworkMode"), PROFILE(network_mode) },
	{ .id = "networks", .title = "on that network and no other, whatever the mode says",
	  DECLARED(declared_networks), .path = "NetworkSettings.Networks" },
	{ .id = "ports", .title = "no published ports",
	  DECLARED(declared_blank), HOST("PortBindings") },
	{ .id = "publish-all", .title = "ports are not published by themselves",
	  DECLARED(declared_false), HOST("PublishAllPorts") },
	{ .id = "exposed-ports", .title = "no exposed ports",
	  DECLARED(declared_blank), CONFIG("ExposedPorts") },
	{ .id = "extra-hosts", .title = "no names of other hosts",
	  DECLARED(declared_blank), HOST("ExtraHosts") },
	{ .id = "dns", .title = "no name servers, options or search domains",
	  DECLARED(declared_dns), .path = "HostConfig" },
	{ .id = "links", .title = "no links to other containers",
	  DECLARED(declared_blank), HOST("Links") },

	/* file systems */
	{ .id = "read-only-root", .title = "the root file system is read-only",
	  DECLARED(declared_profile_true), HOST("ReadonlyRootfs"), PROFILE(read_only_root) },
	{ .id = "binds", .title = "no bind mounts",
	  DECLARED(declared_blank), HOST("Binds") },
	{ .id = "mounts", .title = "no mounts asked for",
	  DECLARED(declared_blank), HOST("Mounts") },
	{ .id = "mount-points", .title = "no mounts made",
	  DECLARED(declared_blank), .path = "Mounts" },
	{ .id = "volumes", .title = "no volumes",
	  DECLARED(declared_blank), CONFIG("Volumes") },
	{ .id = "volumes-from", .title = "no volumes of other containers",
	  DECLARED(declared_blank), HOST("VolumesFrom") },
	{ .id = "volume-driver", .title = "no volume driver",
	  DECLARED(declared_blank), HOST("VolumeDriver") },
	{ .id = "tmpfs", .title = "no tmpfs",
	  DECLARED(declared_blank), HOST("Tmpfs") },
	{ .id = "shm-size", .title = "/dev/shm has 64 MiB",
	  DECLARED(declared_number), HOST("ShmSize"), .number = 64 * MIB },
	{ .id = "storage-options", .title = "no storage options",
	  DECLARED(declared_blank), HOST("StorageOpt") },
	{ .id = "id-file", .title = "no file for the container's id",
	  DECLARED(declared_blank), HOST("ContainerIDFile") },
	{ .id = "masked-paths", .title = "at least the known paths of /proc and /sys are masked",
	  DECLARED(declared_masked_paths), HOST("MaskedPaths") },
	{ .id = "read-only-paths", .title = "at least the known paths of /proc are read-only",
	  DECLARED(declared_read_only_paths), HOST("ReadonlyPaths") },

	/* privileges */
	{ .id = "privileged", .title = "not privileged",
	  DECLARED(declared_false), HOST("Privileged") },
	{ .id = "cap-drop", .title = "all capabilities are dropped",
	  DECLARED(declared_cap_drop), HOST("CapDrop") },
	{ .id = "cap-add", .title = "no capability is added",
	  DECLARED(declared_blank), HOST("CapAdd") },
	{ .id = "security-opt", .title = "no-new-privileges=true and no other security option",
	  DECLARED(declared_security_opt), HOST("SecurityOpt") },
	{ .id = "group-add", .title = "no supplementary groups",
	  DECLARED(declared_blank), HOST("GroupAdd") },
	{ .id = "devices", .title = "no devices",
	  DECLARED(declared_blank), HOST("Devices") },
	{ .id = "device-requests", .title = "no requests for devices",
	  DECLARED(declared_blank), HOST("DeviceRequests") },
	{ .id = "device-rules", .title = "no rules for devices",
	  DECLARED(declared_blank), HOST("DeviceCgroupRules") },
	{ .id = "sysctls", .title = "no kernel parameters",
	  DECLARED(declared_blank), HOST("Sysctls") },
	{ .id = "engine-seccomp", .title = "the engine's own seccomp profile is in force",
	  DECLARED(engine_seccomp) },
	{ .id = "app-armor", .title = "docker-default, where the engine uses AppArmor",
	  DECLARED(engine_apparmor), .path = "AppArmorProfile", .text = "docker-default" },
	{ .id = "selinux", .title = "process and mount labels, where the engine uses SELinux",
	  DECLARED(engine_selinux), .path = "ProcessLabel" },

	/* namespaces */
	{ .id = "ipc-mode", .title = "the profile's IPC mode",
	  DECLARED(declared_profile_text), HOST("IpcMode"), PROFILE(ipc_mode) },
	{ .id = "pid-mode", .title = "a PID namespace of its own",
	  DECLARED(declared_empty_text), HOST("PidMode") },
	{ .id = "uts-mode", .title = "a UTS namespace of its own",
	  DECLARED(declared_empty_text), HOST("UTSMode") },
	{ .id = "userns-mode", .title = "the engine's user namespace",
	  DECLARED(declared_empty_text), HOST("UsernsMode") },
	{ .id = "cgroupns-mode", .title = "a cgroup namespace of its own; in cgroup version 1 the host's is allowed",
	  DECLARED(engine_cgroupns), HOST("CgroupnsMode") },

	/* limits */
	{ .id = "pids-limit", .title = "the profile's number of processes",
	  DECLARED(declared_profile_number), HOST("PidsLimit"), PROFILE(pids) },
	{ .id = "memory", .title = "the profile's memory",
	  DECLARED(declared_profile_number), HOST("Memory"), PROFILE(memory_bytes) },
	{ .id = "memory-swap", .title = "memory and swap together are no more than the memory",
	  DECLARED(declared_profile_number), HOST("MemorySwap"), PROFILE(memory_bytes) },
	{ .id = "memory-swappiness", .title = "no swappiness of its own",
	  DECLARED(declared_unset), HOST("MemorySwappiness") },
	{ .id = "oom-kill-disable", .title = "the kernel may end it when memory is short",
	  DECLARED(declared_off), HOST("OomKillDisable") },
	{ .id = "oom-score", .title = "not spared when memory is short",
	  DECLARED(declared_number), HOST("OomScoreAdj"), .number = 0 },
	{ .id = "ulimits", .title = "exactly the profile's core limit",
	  DECLARED(declared_ulimits), HOST("Ulimits") },
	{ .id = "cgroup-parent", .title = "the engine's own cgroup is its parent",
	  DECLARED(declared_empty_text), HOST("CgroupParent") },
	{ .id = "cgroup", .title = "no cgroup of another container",
	  DECLARED(declared_blank), HOST("Cgroup") },

	/* life */
	{ .id = "restart-policy", .title = "never restarted",
	  DECLARED(declared_restart), HOST("RestartPolicy") },
	{ .id = "restart-count", .title = "was not restarted",
	  DECLARED(declared_number), .path = "RestartCount", .number = 0 },
	{ .id = "auto-remove", .title = "stays after its end, for the evidence",
	  DECLARED(declared_false), HOST("AutoRemove") },

	/* what the kernel says */
	{ .id = "uid", .title = "all four user ids are the profile's",
	  EFFECTIVE(effective_uid), .path = "Uid" },
	{ .id = "gid", .title = "all four group ids are the profile's",
	  EFFECTIVE(effective_gid), .path = "Gid" },
	{ .id = "groups", .title = "no group but its own",
	  EFFECTIVE(effective_groups), .path = "Groups" },
	{ .id = "capabilities", .title = "all five sets of capabilities are empty",
	  EFFECTIVE(effective_capabilities) },
	{ .id = "no-new-privs", .title = "no new privileges can be gained",
	  EFFECTIVE(effective_status), .path = "NoNewPrivs", .text = "1" },
	{ .id = "seccomp", .title = "a seccomp filter is in force",
	  EFFECTIVE(effective_status), .path = "Seccomp", .text = "2" },
	{ .id = "ns-net", .title = "another network namespace than ours",
	  EFFECTIVE(effective_namespace), .text = "net" },
	{ .id = "ns-ipc", .title = "another IPC namespace than ours",
	  EFFECTIVE(effective_namespace), .text = "ipc" },
	{ .id = "ns-uts", .title = "another UTS namespace than ours",
	  EFFECTIVE(effective_namespace), .text = "uts" },
	{ .id = "ns-pid", .title = "another PID namespace than ours",
	  EFFECTIVE(effective_namespace), .text = "pid" },
	{ .id = "ns-mnt", .title = "another mount namespace than ours",
	  EFFECTIVE(effective_namespace), .text = "mnt" },
	{ .id = "interfaces", .title = "no interface but the loopback",
	  EFFECTIVE(effective_interfaces), .text = "lo" },
	{ .id = "core-limit", .title = "the profile's core limit is in force",
	  EFFECTIVE(effective_core_limit), .text = "Max core file size" },
	{ .id = "descriptors", .title = "no descriptor is open but 0, 1 and 2",
	  EFFECTIVE(effective_descriptors), .text = "0 1 2" },
	{ .id = "cgroup-path", .title = "the cgroup that limits it is the container's, in our own hierarchy",
	  EFFECTIVE(effective_cgroup) },
	{ .id = "cgroup-pids", .title = "its cgroup holds the profile's number of processes and no more",
	  EFFECTIVE(effective_pids_max) },
	{ .id = "cgroup-memory", .title = "its cgroup has the profile's memory",
	  EFFECTIVE(effective_memory_max) },
	{ .id = "cgroup-swap", .title = "its cgroup has no swap beside the memory",
	  EFFECTIVE(effective_swap_max) },
	{ .id = "writable-mounts", .title = "nothing can be written but /proc, /dev, and what the runtime mounts there",
	  EFFECTIVE(effective_mounts) },
	{ .id = "proc-sys", .title = "/proc/sys is mounted read-only",
	  EFFECTIVE(effective_read_only_mount), .text = "/proc/sys" },
};
/* clang-format on */
static const size_t rules_count = ARRAY_SIZE(rules);
_Static_assert(ARRAY_SIZE(rules) <= ADMISSION_RULES_MAX, "a rule set holds every rule");
