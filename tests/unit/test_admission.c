/* The declared half of admission: recorded answers of an engine, and one weakened copy of them for each rule. */
#include "adapter/admission.h"

#include "mutations/mutation.h"
#include "tests/unit/admission_fixture.h"

enum document { INSPECT, IMAGE, INFO };

/* One change of a document that exactly one rule must refuse. */
struct weakened {
	const char *rule;
	enum document document;
	const char *path;
	const char *value;
};
static const struct weakened weakened[];
static const size_t weakened_count;

static const char *const nothing[] = { NULL };

static void refused(const struct recorded *recorded, const char *what, const char *const *rules)
{
	struct rule_set failed = { { 0 } };

	admission_declared(&recorded->declared, &failed);
	CU_ASSERT_TRUE(failed_exactly(what, &failed, rules));
}

static void weaken(struct recorded *recorded, enum document document, const char *path, const char *value)
{
	struct json_document **documents[] = {
		[INSPECT] = &recorded->inspect, [IMAGE] = &recorded->image, [INFO] = &recorded->info
	};

	fixture_weaken(documents[document], path, value);
	fixture_view(recorded);
}

static void test_table_of_rules(void)
{
	bool effective = false;

	CU_ASSERT_TRUE(admission_rules() > 0 && admission_rules() <= ADMISSION_RULES_MAX);
	for (size_t rule = 0; rule < admission_rules(); rule++) {
		const char *id = admission_rule_id(rule);

		CU_ASSERT_TRUE(strlen(id) < NAME_MAX_SHORT && strspn(id, "abcdefghijklmnopqrstuvwxyz-") == strlen(id));
		CU_ASSERT_TRUE(strlen(admission_rule_title(rule)) > 5 &&
			       strlen(admission_rule_title(rule)) < TITLE_MAX);
		for (size_t other = 0; other < rule; other++)
			CU_ASSERT_STRING_NOT_EQUAL(id, admission_rule_id(other));
		/* Declared first: a record lists them in this order. */
		effective = effective || admission_rule_half(rule) == ADMISSION_EFFECTIVE;
		CU_ASSERT_EQUAL(admission_rule_half(rule), effective ? ADMISSION_EFFECTIVE : ADMISSION_DECLARED);
	}
}

static void test_rule_sets(void)
{
	struct rule_set one = { { 0 } }, other = { { 0 } };

	CU_ASSERT_TRUE(rule_set_empty(&one));
	rule_set_add(&one, ADMISSION_RULES_MAX - 1);
	CU_ASSERT_TRUE(rule_set_has(&one, ADMISSION_RULES_MAX - 1));
	CU_ASSERT_FALSE(rule_set_has(&one, ADMISSION_RULES_MAX - 2));
	CU_ASSERT_FALSE(rule_set_empty(&one));
	CU_ASSERT_FALSE(rule_set_equal(&one, &other));
	rule_set_add(&other, ADMISSION_RULES_MAX - 1);
	CU_ASSERT_TRUE(rule_set_equal(&one, &other));
	rule_set_add(&one, ADMISSION_RULES_MAX);
	CU_ASSERT_FALSE(rule_set_has(&one, ADMISSION_RULES_MAX));
	CU_ASSERT_TRUE(rule_set_equal(&one, &other));
	CU_ASSERT_FALSE(rule_set_add_id(&one, "no-such-rule"));
	CU_ASSERT_TRUE(rule_set_add_id(&one, "networks"));
	CU_ASSERT_FALSE(rule_set_equal(&one, &other));
}

static void test_reference_is_admitted(void)
{
	static const char *const names[] = { "reference", "again" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_recorded struct recorded recorded;

		recorded_open(&recorded, names[i]);
		refused(&recorded, names[i], nothing);
	}
}

static void test_created_is_admitted(void)
{
	cleanup_recorded struct recorded recorded;

	recorded_open(&recorded, "reference");
	json_free(recorded.inspect);
	recorded.inspect = fixture_document("reference", "created.json");
	fixture_view(&recorded);
	refused(&recorded, "created", nothing);
}

/* Newer engines mask more, sort the lists and leave members out that they have no value for. */
static void test_newer_engine_is_admitted(void)
{
	static const char *const absent[] = {
		"HostConfig.KernelMemory", "HostConfig.KernelMemoryTCP", "Config.OnBuild",
		"HostConfig.Cgroup",       "HostConfig.Links",
	};
	cleanup_recorded struct recorded recorded;

	recorded_open(&recorded, "reference");
	weaken(&recorded, INSPECT, "HostConfig.MaskedPaths",
	       "[\"/proc/acpi\",\"/proc/asound\",\"/proc/interrupts\",\"/proc/kcore\",\"/proc/keys\",\"/proc/"
	       "latency_stats\","
	       "\"/proc/sched_debug\",\"/proc/scsi\",\"/proc/timer_list\",\"/proc/timer_stats\","
	       "\"/sys/devices/virtual/powercap\",\"/sys/firmware\"]");
	weaken(&recorded, INSPECT, "HostConfig.PortBindings", "{}");
	weaken(&recorded, INSPECT, "Config.Cmd", "null");
	weaken(&recorded, INSPECT, "Driver", "\"overlayfs\"");
	weaken(&recorded, INFO, "SecurityOptions", "[\"name=seccomp,profile=builtin\",\"name=cgroupns\"]");
	weaken(&recorded, INFO, "CgroupVersion", "\"2\"");
	weaken(&recorded, INSPECT, "HostConfig.CgroupnsMode", "\"private\"");
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		weaken(&recorded, INSPECT, absent[i], NULL);
	refused(&recorded, "newer engine", nothing);
}

static void test_each_weakened_copy(void)
{
	for (size_t i = 0; i < weakened_count; i++) {
		const char *const only[] = { weakened[i].rule, NULL };
		cleanup_recorded struct recorded recorded;
		char what[96];

		recorded_open(&recorded, "reference");
		weaken(&recorded, weakened[i].document, weakened[i].path, weakened[i].value);
		snprintf(what, sizeof(what), "row %zu, %s", i, weakened[i].path);
		refused(&recorded, what, only);
	}
}

/* What stands under a key of another spelling is not there. */
static void test_keys_are_exact(void)
{
	static const char *const only[] = { "network-mode", NULL };
	cleanup_recorded struct recorded recorded;

	recorded_open(&recorded, "reference");
	weaken(&recorded, INSPECT, "HostConfig.NetworkMode", NULL);
	weaken(&recorded, INSPECT, "HostConfig.networkMode", "\"none\"");
	refused(&recorded, "keys", only);
}

static void test_warning(void)
{
	static const char *const only[] = { "create-warnings", NULL };
	cleanup_recorded struct recorded recorded;

	recorded_open(&recorded, "reference");
	recorded.declared.create_warnings = true;
	refused(&recorded, "warning", only);
}

static void test_every_rule_has_a_row(void)
{
	for (size_t rule = 0; rule < admission_rules(); rule++) {
		size_t rows = strcmp(admission_rule_id(rule), "create-warnings") == 0;

		if (admission_rule_half(rule) != ADMISSION_DECLARED)
			continue;
		for (size_t i = 0; i < weakened_count; i++)
			rows += strcmp(weakened[i].rule, admission_rule_id(rule)) == 0;
		if (rows == 0)
			fprintf(stderr, "no weakened copy for %s\n", admission_rule_id(rule));
		CU_ASSERT_TRUE(rows > 0);
	}
}

static void test_all_failed_rules_are_named(void)
{
	static const char *const both[] = { "networks", "privileged", NULL };
	cleanup_recorded struct recorded recorded;

	recorded_open(&recorded, "reference");
	weaken(&recorded, INSPECT, "HostConfig.Privileged", "true");
	weaken(&recorded, INSPECT, "NetworkSettings.Networks", "{}");
	refused(&recorded, "two", both);
}

/* Without documents nothing is known: every rule refuses that is about one. */
static void test_nothing_known(void)
{
	struct profile_identity identity = {
		.image = "", .run = "", .role = "", .command = (const char *const[]){ "/agent", NULL }
	};
	struct admission_declared documents = { .profile = &profile_reference, .identity = &identity };
	struct rule_set failed = { { 0 } };

	admission_declared(&documents, &failed);
	for (size_t rule = 0; rule < admission_rules(); rule++) {
		bool document = strcmp(admission_rule_id(rule), "create-warnings") != 0;
		bool declared = admission_rule_half(rule) == ADMISSION_DECLARED;

		CU_ASSERT_EQUAL(rule_set_has(&failed, rule), declared && document);
	}
}

static void test_spellings_of_none(void)
{
	static const char *const spellings[] = { "null", "[]", "{}", "\"\"", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(spellings); i++) {
		cleanup_recorded struct recorded recorded;

		recorded_open(&recorded, "reference");
		weaken(&recorded, INSPECT, "HostConfig.Binds", spellings[i]);
		weaken(&recorded, INSPECT, "Config.Env", spellings[i]);
		weaken(&recorded, INSPECT, "Mounts", spellings[i]);
		refused(&recorded, "none", nothing);
	}
}

/* A tag is refused even where the caller expects one. */
static void test_tag_is_never_an_id(void)
{
	static const char *const tags[] = { "harness/agent:1", "sha256:", "sha256:abc", "" };
	static const char *const only[] = { "image-immutable", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		cleanup_recorded struct recorded recorded;
		char quoted[80];

		recorded_open(&recorded, "reference");
		snprintf(recorded.image_id, sizeof(recorded.image_id), "%s", tags[i]);
		snprintf(quoted, sizeof(quoted), "\"%s\"", tags[i]);
		weaken(&recorded, INSPECT, "Config.Image", quoted);
		weaken(&recorded, INSPECT, "Image", quoted);
		weaken(&recorded, IMAGE, "Id", quoted);
		refused(&recorded, tags[i], only);
	}
}

static void test_image_working_dirs(void)
{
	static const struct {
		const char *value;
		bool admitted;
	} rows[] = {
		{ "\"\"", true },
		{ "null", true },
		{ "\"/\"", true },
		{ "\"/work\"", true },
		{ "\"/process\"", true },
		{ "\"/proc\"", false },
		{ "\"/proc/\"", false },
		{ "\"/proc/self/fd/7\"", false },
		{ "\"//proc/self\"", false },
		{ "\"/./proc/1\"", false },
		{ "\"/x/../proc\"", false },
		{ "\"proc\"", false },
		{ "\"work\"", false },
		{ "7", false },
		{ NULL, true },
	};
	static const char *const only[] = { "image-working-dir", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_recorded struct recorded recorded;

		recorded_open(&recorded, "reference");
		weaken(&recorded, IMAGE, "Config.WorkingDir", rows[i].value);
		refused(&recorded, rows[i].value ? rows[i].value : "absent", rows[i].admitted ? nothing : only);
	}
}

/* Rules that apply only where the engine lists what they are about. */
static void test_security_modules(void)
{
	static const struct {
		const char *option, *running, *path, *value, *rule;
	} rows[] = {
		{ "name=apparmor", "true", "AppArmorProfile", "\"docker-default\"", NULL },
		{ "name=apparmor", "false", "AppArmorProfile", "\"docker-default\"", NULL },
		{ "name=apparmor", "false", "AppArmorProfile", "\"\"", NULL },
		{ "name=apparmor", "true", "AppArmorProfile", "\"\"", "app-armor" },
		{ "name=apparmor", "true", "AppArmorProfile", "\"unconfined\"", "app-armor" },
		{ "name=apparmor", "false", "AppArmorProfile", "\"unconfined\"", "app-armor" },
		{ "name=apparmor", "true", "AppArmorProfile", NULL, "app-armor" },
		{ "name=selinux", "true", "ProcessLabel", "\"\"", "selinux" },
		{ "name=selinux", "true", "ProcessLabel", "\"system_u:system_r:container_t:s0\"", "selinux" },
		{ "name=apparmored", "true", "AppArmorProfile", "\"\"", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *const only[] = { rows[i].rule, NULL };
		cleanup_recorded struct recorded recorded;
		char options[96], what[32];

		recorded_open(&recorded, "reference");
		snprintf(options, sizeof(options), "[\"%s\",\"name=seccomp,profile=default\"]", rows[i].option);
		weaken(&recorded, INFO, "SecurityOptions", options);
		weaken(&recorded, INSPECT, "State.Running", rows[i].running);
		weaken(&recorded, INSPECT, rows[i].path, rows[i].value);
		snprintf(what, sizeof(what), "module row %zu", i);
		refused(&recorded, what, only);
	}
}

static void test_selinux_labels(void)
{
	cleanup_recorded struct recorded recorded;

	recorded_open(&recorded, "reference");
	weaken(&recorded, INFO, "SecurityOptions", "[\"name=selinux\",\"name=seccomp,profile=default\"]");
	weaken(&recorded, INSPECT, "ProcessLabel", "\"system_u:system_r:container_t:s0:c1,c2\"");
	weaken(&recorded, INSPECT, "MountLabel", "\"system_u:object_r:container_file_t:s0:c1,c2\"");
	refused(&recorded, "selinux", nothing);
}

static void test_cgroup_namespaces(void)
{
	static const struct {
		const char *version, *mode;
		bool admitted;
	} rows[] = {
		{ "\"1\"", "\"host\"", true },  { "\"1\"", "\"private\"", true },  { "\"2\"", "\"private\"", true },
		{ "\"2\"", "\"host\"", false }, { "\"1\"", "\"\"", false },        { "\"2\"", NULL, false },
		{ NULL, "\"host\"", false },    { "\"3\"", "\"private\"", false }, { "1", "\"host\"", false },
	};
	static const char *const only[] = { "cgroupns-mode", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_recorded struct recorded recorded;
		char what[32];

		recorded_open(&recorded, "reference");
		weaken(&recorded, INFO, "CgroupVersion", rows[i].version);
		weaken(&recorded, INSPECT, "HostConfig.CgroupnsMode", rows[i].mode);
		snprintf(what, sizeof(what), "cgroup row %zu", i);
		refused(&recorded, what, rows[i].admitted ? nothing : only);
	}
}

/* What a real engine and kernel say of each mutant is refused on the rules that the mutation names, and no other. */
static void test_recorded_mutants(void)
{
	static const struct mutation *const recorded_ones[] = { &mutation_network, &mutation_network_bridge,
								&mutation_read_only, &mutation_log_driver };

	for (size_t i = 0; i < ARRAY_SIZE(recorded_ones); i++) {
		const struct mutation *mutation = recorded_ones[i];
		cleanup_recorded struct recorded recorded;
		struct rule_set failed = { { 0 } };

		recorded_open(&recorded, mutation->id);
		admission_declared(&recorded.declared, &failed);
		admission_effective(&recorded.effective, &failed);
		CU_ASSERT_TRUE(failed_exactly(mutation->id, &failed, mutation->must_fail));
	}
}

/* A mutation that changes the profile is recorded above; each other one changes nothing that admission sees. */
static void test_every_mutation_is_covered(void)
{
	for (size_t i = 0; mutations[i]; i++) {
		struct session_options options = { .profile = profile_reference };
		cleanup_buf struct buf changed = BUF(MIB);
		cleanup_buf struct buf reference = BUF(MIB);
		struct error *err = NULL;

		mutations[i]->apply(&options);
		CU_ASSERT_EQUAL(profile_encode(&profile_reference, &reference, &err), 0);
		CU_ASSERT_EQUAL(profile_encode(&options.profile, &changed, &err), 0);
		CU_ASSERT_EQUAL(mutations[i]->must_fail[0] != NULL,
				strcmp(buf_string(&changed), buf_string(&reference)) != 0);
		CU_ASSERT_TRUE(test_no_error(&err));
	}
}

static void test_mutations_name_rules(void)
{
	for (size_t i = 0; mutations[i]; i++) {
		struct session_options options = { .profile = profile_reference };
		char removes[1][NAME_MAX_SHORT];
		struct error *err = NULL;

		snprintf(removes[0], sizeof(removes[0]), "%s", mutations[i]->id);
		CU_ASSERT_EQUAL(mutations_apply(removes, 1, &options, &err), 0);
		CU_ASSERT_TRUE(test_no_error(&err));
		CU_ASSERT_TRUE(failed_exactly(mutations[i]->id, &options.must_fail, mutations[i]->must_fail));
	}
}

static const struct weakened weakened[] = {
	{ "container-id", INSPECT, "Id", "\"0000000000000000000000000000000000000000000000000000000000000000\"" },
	{ "container-id", INSPECT, "Id", NULL },
	{ "platform", INSPECT, "Platform", "\"windows\"" },

	{ "image-immutable", INSPECT, "Config.Image", "\"harness/agent:latest\"" },
	{ "image-immutable", INSPECT, "Config.Image", NULL },
	{ "image-id", INSPECT, "Image", "\"sha256:0000000000000000000000000000000000000000000000000000000000000000\"" },
	{ "image-id", IMAGE, "Id", "\"sha256:0000000000000000000000000000000000000000000000000000000000000000\"" },
	{ "image-volumes", IMAGE, "Config.Volumes", "{\"/data\":{}}" },
	{ "image-healthcheck", IMAGE, "Config.Healthcheck", "{\"Test\":[\"CMD\",\"/agent\"]}" },
	{ "image-working-dir", IMAGE, "Config.WorkingDir", "\"/proc/self/fd/8\"" },

	{ "user", INSPECT, "Config.User", "\"10001\"" },
	{ "user", INSPECT, "Config.User", "\"\"" },
	{ "user", INSPECT, "Config.User", "\"0:10001\"" },
	{ "user", INSPECT, "Config.User", "\"10001:0\"" },
	{ "entrypoint", INSPECT, "Config.Entrypoint", "[\"/bin/sh\"]" },
	{ "entrypoint", INSPECT, "Config.Entrypoint", "[\"/agent\",\"/agent\"]" },
	{ "entrypoint", INSPECT, "Path", "\"/bin/sh\"" },
	{ "command", INSPECT, "Config.Cmd", "[\"-x\"]" },
	{ "command", INSPECT, "Args", "[\"-x\"]" },
	{ "environment", INSPECT, "Config.Env", "[\"LD_PRELOAD=/export/x.so\"]" },
	{ "working-dir", INSPECT, "Config.WorkingDir", "\"/export\"" },
	{ "working-dir", INSPECT, "Config.WorkingDir", "\"\"" },
	{ "labels", INSPECT, "Config.Labels", "{\"harness.role\":\"arm\"}" },
	{ "labels", INSPECT, "Config.Labels", "{\"harness.role\":\"control\",\"harness.run\":\"" RECORDED_RUN "\"}" },
	{ "labels", INSPECT, "Config.Labels",
	  "{\"harness.role\":\"arm\",\"harness.run\":\"" RECORDED_RUN "\",\"x\":\"\"}" },
	{ "healthcheck", INSPECT, "Config.Healthcheck", "{\"Test\":[\"CMD\",\"/agent\"]}" },
	{ "healthcheck", INSPECT, "Config.Healthcheck", NULL },
	{ "stop-signal", INSPECT, "Config.StopSignal", "\"SIGCONT\"" },
	{ "stop-timeout", INSPECT, "Config.StopTimeout", "3600" },
	{ "domain-name", INSPECT, "Config.Domainname", "\"example.test\"" },
	{ "on-build", INSPECT, "Config.OnBuild", "[\"RUN x\"]" },
	{ "init", INSPECT, "HostConfig.Init", "true" },
	{ "init", INSPECT, "HostConfig.Init", NULL },
	{ "runtime", INSPECT, "HostConfig.Runtime", "\"wrapper\"" },
	{ "isolation", INSPECT, "HostConfig.Isolation", "\"default\"" },
	{ "annotations", INSPECT, "HostConfig.Annotations", "{\"a\":\"b\"}" },
	{ "exec-ids", INSPECT, "ExecIDs", "[\"abc\"]" },

	{ "tty", INSPECT, "Config.Tty", "true" },
	{ "attach-streams", INSPECT, "Config.AttachStdin", "false" },
	{ "attach-streams", INSPECT, "Config.AttachStdout", "false" },
	{ "attach-streams", INSPECT, "Config.AttachStderr", "false" },
	{ "stdin-open", INSPECT, "Config.OpenStdin", "false" },
	{ "stdin-once", INSPECT, "Config.StdinOnce", "false" },
	{ "log-driver", INSPECT, "HostConfig.LogConfig", "{\"Type\":\"json-file\",\"Config\":{}}" },
	{ "log-driver", INSPECT, "HostConfig.LogConfig.Config", "{\"max-size\":\"1m\"}" },
	{ "log-driver", INSPECT, "HostConfig.LogConfig", NULL },

	{ "network-mode", INSPECT, "HostConfig.NetworkMode", "\"host\"" },
	{ "network-mode", INSPECT, "HostConfig.NetworkMode", "\"default\"" },
	{ "network-mode", INSPECT, "HostConfig.NetworkMode", "\"None\"" },
	{ "network-mode", INSPECT, "HostConfig.NetworkMode", NULL },
	{ "networks", INSPECT, "NetworkSettings.Networks", "{\"bridge\":{}}" },
	{ "networks", INSPECT, "NetworkSettings.Networks", "{\"none\":{},\"bridge\":{}}" },
	{ "networks", INSPECT, "NetworkSettings.Networks", "{}" },
	{ "networks", INSPECT, "NetworkSettings.Networks", "[\"none\"]" },
	{ "networks", INSPECT, "NetworkSettings", NULL },
	{ "ports", INSPECT, "HostConfig.PortBindings", "{\"80/tcp\":[{\"HostPort\":\"80\"}]}" },
	{ "publish-all", INSPECT, "HostConfig.PublishAllPorts", "true" },
	{ "exposed-ports", INSPECT, "Config.ExposedPorts", "{\"80/tcp\":{}}" },
	{ "extra-hosts", INSPECT, "HostConfig.ExtraHosts", "[\"host:127.0.0.1\"]" },
	{ "dns", INSPECT, "HostConfig.Dns", "[\"192.0.2.1\"]" },
	{ "dns", INSPECT, "HostConfig.DnsOptions", "[\"ndots:1\"]" },
	{ "dns", INSPECT, "HostConfig.DnsSearch", "[\"example.test\"]" },
	{ "links", INSPECT, "HostConfig.Links", "[\"/other:/this/other\"]" },

	{ "read-only-root", INSPECT, "HostConfig.ReadonlyRootfs", "false" },
	{ "read-only-root", INSPECT, "HostConfig.ReadonlyRootfs", NULL },
	{ "binds", INSPECT, "HostConfig.Binds", "[\"/:/host:ro\"]" },
	{ "mounts", INSPECT, "HostConfig.Mounts", "[{\"Type\":\"tmpfs\",\"Target\":\"/export\"}]" },
	{ "mount-points", INSPECT, "Mounts",
	  "[{\"Type\":\"bind\",\"Source\":\"/\",\"Destination\":\"/host\",\"RW\":true}]" },
	{ "volumes", INSPECT, "Config.Volumes", "{\"/data\":{}}" },
	{ "volumes-from", INSPECT, "HostConfig.VolumesFrom", "[\"other\"]" },
	{ "volume-driver", INSPECT, "HostConfig.VolumeDriver", "\"local\"" },
	{ "tmpfs", INSPECT, "HostConfig.Tmpfs", "{\"/export\":\"\"}" },
	{ "shm-size", INSPECT, "HostConfig.ShmSize", "1073741824" },
	{ "shm-size", INSPECT, "HostConfig.ShmSize", "67108864.0" },
	{ "storage-options", INSPECT, "HostConfig.StorageOpt", "{\"size\":\"1T\"}" },
	{ "id-file", INSPECT, "HostConfig.ContainerIDFile", "\"/tmp/id\"" },
	{ "masked-paths", INSPECT, "HostConfig.MaskedPaths", "[]" },
	{ "masked-paths", INSPECT, "HostConfig.MaskedPaths", NULL },
	{ "masked-paths", INSPECT, "HostConfig.MaskedPaths",
	  "[\"/proc/asound\",\"/proc/acpi\",\"/proc/kcore\",\"/proc/latency_stats\",\"/proc/timer_list\",\"/proc/"
	  "timer_stats\","
	  "\"/proc/sched_debug\",\"/proc/scsi\",\"/sys/firmware\"]" },
	{ "read-only-paths", INSPECT, "HostConfig.ReadonlyPaths", "[]" },
	{ "read-only-paths", INSPECT, "HostConfig.ReadonlyPaths",
	  "[\"/proc/bus\",\"/proc/fs\",\"/proc/irq\",\"/proc/sysrq-trigger\"]" },

	{ "privileged", INSPECT, "HostConfig.Privileged", "true" },
	{ "privileged", INSPECT, "HostConfig.Privileged", NULL },
	{ "cap-drop", INSPECT, "HostConfig.CapDrop", "[]" },
	{ "cap-drop", INSPECT, "HostConfig.CapDrop", "[\"all\"]" },
	{ "cap-drop", INSPECT, "HostConfig.CapDrop", "[\"NET_RAW\"]" },
	{ "cap-add", INSPECT, "HostConfig.CapAdd", "[\"NET_RAW\"]" },
	{ "security-opt", INSPECT, "HostConfig.SecurityOpt", "null" },
	{ "security-opt", INSPECT, "HostConfig.SecurityOpt", "[\"no-new-privileges=false\"]" },
	{ "security-opt", INSPECT, "HostConfig.SecurityOpt", "[\"no-new-privileges=true\",\"seccomp=unconfined\"]" },
	{ "security-opt", INSPECT, "HostConfig.SecurityOpt",
	  "[\"no-new-privileges=true\",\"no-new-privileges=false\"]" },
	{ "security-opt", INSPECT, "HostConfig.SecurityOpt", "[\"no-new-privileges=true\",\"label=disable\"]" },
	{ "group-add", INSPECT, "HostConfig.GroupAdd", "[\"0\",\"6\"]" },
	{ "devices", INSPECT, "HostConfig.Devices", "[{\"PathOnHost\":\"/dev/kmsg\"}]" },
	{ "device-requests", INSPECT, "HostConfig.DeviceRequests", "[{\"Driver\":\"nvidia\"}]" },
	{ "device-rules", INSPECT, "HostConfig.DeviceCgroupRules", "[\"c 1:3 rwm\"]" },
	{ "sysctls", INSPECT, "HostConfig.Sysctls", "{\"net.ipv4.ip_forward\":\"1\"}" },
	{ "engine-seccomp", INFO, "SecurityOptions", "[]" },
	{ "engine-seccomp", INFO, "SecurityOptions", "[\"name=seccomp\"]" },
	{ "engine-seccomp", INFO, "SecurityOptions", "[\"name=seccomp,profile=unconfined\"]" },
	{ "engine-seccomp", INFO, "SecurityOptions", "[\"name=seccomp,profile=/etc/docker/seccomp.json\"]" },
	{ "app-armor", INFO, "SecurityOptions", "[\"name=apparmor\",\"name=seccomp,profile=default\"]" },
	{ "selinux", INFO, "SecurityOptions", "[\"name=seccomp,profile=default\",\"name=selinux\"]" },

	{ "ipc-mode", INSPECT, "HostConfig.IpcMode", "\"shareable\"" },
	{ "ipc-mode", INSPECT, "HostConfig.IpcMode", "\"host\"" },
	{ "pid-mode", INSPECT, "HostConfig.PidMode", "\"host\"" },
	{ "pid-mode", INSPECT, "HostConfig.PidMode", NULL },
	{ "uts-mode", INSPECT, "HostConfig.UTSMode", "\"host\"" },
	{ "userns-mode", INSPECT, "HostConfig.UsernsMode", "\"host\"" },
	{ "cgroupns-mode", INFO, "CgroupVersion", "\"2\"" },

	{ "pids-limit", INSPECT, "HostConfig.PidsLimit", "null" },
	{ "pids-limit", INSPECT, "HostConfig.PidsLimit", "33" },
	{ "memory", INSPECT, "HostConfig.Memory", "0" },
	{ "memory-swap", INSPECT, "HostConfig.MemorySwap", "268435456" },
	{ "memory-swap", INSPECT, "HostConfig.MemorySwap", "-1" },
	{ "memory-swappiness", INSPECT, "HostConfig.MemorySwappiness", "100" },
	{ "oom-kill-disable", INSPECT, "HostConfig.OomKillDisable", "true" },
	{ "oom-score", INSPECT, "HostConfig.OomScoreAdj", "-1000" },
	{ "ulimits", INSPECT, "HostConfig.Ulimits", "null" },
	{ "ulimits", INSPECT, "HostConfig.Ulimits", "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":-1}]" },
	{ "ulimits", INSPECT, "HostConfig.Ulimits",
	  "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0},{\"Name\":\"core\",\"Soft\":-1,\"Hard\":-1}]" },
	{ "ulimits", INSPECT, "HostConfig.Ulimits",
	  "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0},{\"Name\":\"nofile\",\"Soft\":9,\"Hard\":9}]" },
	{ "cgroup-parent", INSPECT, "HostConfig.CgroupParent", "\"/other\"" },
	{ "cgroup", INSPECT, "HostConfig.Cgroup", "\"container:other\"" },

	{ "restart-policy", INSPECT, "HostConfig.RestartPolicy", "{\"Name\":\"always\",\"MaximumRetryCount\":0}" },
	{ "restart-policy", INSPECT, "HostConfig.RestartPolicy.Name", "\"\"" },
	{ "restart-policy", INSPECT, "HostConfig.RestartPolicy.MaximumRetryCount", "1" },
	{ "restart-count", INSPECT, "RestartCount", "1" },
	{ "auto-remove", INSPECT, "HostConfig.AutoRemove", "true" },
};
static const size_t weakened_count = ARRAY_SIZE(weakened);

static CU_TestInfo table_tests[] = {
	{ "ids, titles and order of the rules", test_table_of_rules },
	{ "sets of rules", test_rule_sets },
	{ "every rule has a weakened copy", test_every_rule_has_a_row },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo admitted_tests[] = {
	{ "the reference profile, twice", test_reference_is_admitted },
	{ "before its start", test_created_is_admitted },
	{ "as a newer engine reports it", test_newer_engine_is_admitted },
	{ "spellings of none", test_spellings_of_none },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo refused_tests[] = {
	{ "each weakened copy by exactly its rule", test_each_weakened_copy },
	{ "keys of another spelling", test_keys_are_exact },
	{ "a warning at create", test_warning },
	{ "every failed rule is named", test_all_failed_rules_are_named },
	{ "nothing is known", test_nothing_known },
	{ "a tag is never an id", test_tag_is_never_an_id },
	{ "an image's working directory", test_image_working_dirs },
	{ "security modules that the engine lists", test_security_modules },
	{ "SELinux labels", test_selinux_labels },
	{ "cgroup namespaces by version", test_cgroup_namespaces },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo mutant_tests[] = {
	{ "recorded mutants are refused as declared", test_recorded_mutants },
	{ "mutations name rules that exist", test_mutations_name_rules },
	{ "a mutation of the profile is one of admission's", test_every_mutation_is_covered },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "table", NULL, NULL, NULL, NULL, table_tests },
	{ "admitted", NULL, NULL, NULL, NULL, admitted_tests },
	{ "refused", NULL, NULL, NULL, NULL, refused_tests },
	{ "mutants", NULL, NULL, NULL, NULL, mutant_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("admission", suites);
}
