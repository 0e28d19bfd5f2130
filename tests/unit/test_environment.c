/* A snapshot of the environment: each fact from a root folder, an engine's answers and variables that were made up, and
 * what becomes of it when its source is absent, forbidden or garbage. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "core/fd.h"
#include "core/gzip.h"
#include "core/hash.h"
#include "core/limits.h"
#include "reports/environment.h"
#include "runner/environment.h"
#include "runner/environment_facts.h"
#include "tests/unit/test.h"

#define NOBODY 65534
#define ANY NULL /* of the machine that runs the test: a value, or null */

static const struct {
	const char *path, *text;
} files[] = {
	{ "proc/cmdline",
	  "root=/dev/vda1 mitigations=auto,nosmt token=secret lsm=lockdown,yama lockdown=a%20b -- security=none\n" },
	{ "proc/cpuinfo",
	  "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 106\nmodel name\t: A Processor @ 2.80GHz\n"
	  "microcode\t: 0x1\nflags\t\t: fpu hypervisors hypervisor\n\nprocessor\t: 1\nvendor_id\t: other\n" },
	{ "proc/sys/kernel/tainted", "4097\n" },
	{ "proc/sys/kernel/core_uses_pid", "1\n" },
	{ "proc/sys/fs/suid_dumpable", "2\n" },
	{ "proc/sys/kernel/randomize_va_space", "2\n" },
	{ "proc/sys/kernel/yama/ptrace_scope", "1\n" },
	{ "proc/sys/kernel/unprivileged_userns_clone", "0\n" },
	{ "proc/sys/user/max_user_namespaces", "96365\n" },
	{ "proc/sys/kernel/unprivileged_bpf_disabled", "2\n" },
	{ "proc/sys/net/ipv6/conf/all/disable_ipv6", "0\n" },
	{ "proc/sys/net/ipv6/bindv6only", "1\n" },
	{ "proc/sys/kernel/seccomp/actions_avail", "kill_process errno allow \n" },
	{ "sys/kernel/security/lsm", "lockdown,capability,yama" },
	{ "sys/devices/system/cpu/online", "0-2,5,7-8\n" },
	{ "sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n" },
	{ "sys/devices/system/cpu/vulnerabilities/itlb_multihit", "KVM: Mitigation: VMX disabled\n" },
	{ "sys/devices/system/cpu/vulnerabilities/retbleed", "Vulnerable\n" },
	{ "sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n" },
	{ "sys/devices/system/cpu/vulnerabilities/srbds", "Unknown: Dependent on hypervisor status\n" },
	{ "sys/devices/system/cpu/vulnerabilities/tsa", "Processor vulnerable\n" },
	{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n" },
};
/* {4, 3, 1, "Xen", other}, then {4, 20, 3, "GNU", the id} */
static const char notes[] = "\4\0\0\0\3\0\0\0\1\0\0\0Xen\0abc\0"
			    "\4\0\0\0\6\0\0\0\3\0\0\0GNU\0\xc0\xff\xee\1\2\3\0\0";
/* "CONFIG_X=y" and a line feed, by gzip -n */
static const char packed_config[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x73\xf6"
				    "\xf7\x73\xf3\x74\x8f\x8f\xb0\xad\xe4\x02\x00\x9b"
				    "\xa9\x91\xf7\x0b\x00\x00\x00";

static const char version_text[] =
	"{\"Version\":\"24.0\",\"GitCommit\":\"abc\",\"ApiVersion\":\"1.43\",\"MinAPIVersion\":\"1.12\",\"Components\":"
	"["
	"{\"Name\":\"Engine\",\"Version\":\"24.0\"},"
	"{\"Name\":\"containerd\",\"Version\":\"1.6\",\"Details\":{\"GitCommit\":\"c1\"}},"
	"{\"Name\":\"runc\",\"Version\":\"1.1\",\"Details\":{\"GitCommit\":\"r1\"}},"
	"{\"Name\":\"docker-init\",\"Version\":\"0.19\",\"Details\":{\"GitCommit\":\"i1\"}}]}";
static const char info_text[] =
	"{\"ID\":\"AAAA:BBBB\",\"Name\":\"host-name\",\"Driver\":\"overlay2\",\"DriverStatus\":[[\"Backing "
	"Filesystem\",\"extfs\"],"
	"[\"userxattr\",\"false\"]],\"CgroupDriver\":\"systemd\",\"CgroupVersion\":\"2\",\"DefaultRuntime\":\"runc\","
	"\"LoggingDriver\":\"json-file\",\"LiveRestoreEnabled\":true,\"OperatingSystem\":\"Debian GNU/Linux 12\","
	"\"KernelVersion\":\"6.1.0\",\"OSType\":\"linux\",\"Architecture\":\"x86_64\",\"NCPU\":2,\"MemTotal\":4096,"
	"\"SecurityOptions\":[\"name=seccomp,profile=default\",\"name=cgroupns\"],\"Warnings\":[\"one\",\"two\"],"
	"\"Runtimes\":{\"runc\":{\"path\":\"runc\"},\"crun\":{\"path\":\"/home/somebody/crun\"}}}";

static struct {
	const char *name;
	char value[64];
} variables[] = {
	{ "LD_PRELOAD", "/tmp/secret.so" },
	{ "GITHUB_ACTIONS", "true" },
	{ "CI", "true" },
	{ "GITHUB_RUN_ID", "42" },
	{ "GITHUB_RUN_ATTEMPT", "3" },
	{ "GITHUB_WORKFLOW_REF", "o/r/.github/workflows/w.yml@refs/heads/main" },
	{ "GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567" },
	{ "RUNNER_OS", "Linux" },
	{ "RUNNER_ARCH", "X64" },
	{ "RUNNER_ENVIRONMENT", "self-hosted" },
	{ "ImageOS", "ubuntu24" },
	{ "ImageVersion", "20261101.1.0" },
	{ "GITHUB_TOKEN", "secret" },
};

static char *get_variable(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		if (strcmp(variables[i].name, name) == 0)
			return variables[i].value;
	return NULL;
}

static char *get_nothing(const char *name)
{
	(void)name;
	return NULL;
}

static char *get_gitlab(const char *name)
{
	static char value[] = "true";

	return strcmp(name, "GITLAB_CI") == 0 || strcmp(name, "CI") == 0 ? value : NULL;
}

/* ---- a host that was made up ---- */

struct host {
	char path[64];
	int root;
};

static void host_free(struct host *host)
{
	struct error *err = NULL;

	fd_close(&host->root);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, host->path, &err), 0);
	CU_ASSERT(test_no_error(&err));
}
#define HOST(name) __attribute__((cleanup(host_free))) struct host name = { .root = -1 }

static void put(const struct host *host, const char *path, const char *bytes, size_t length)
{
	char folder[128];
	int fd;

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(at - path), path);
		(void)mkdirat(host->root, folder, 0755);
	}
	fd = openat(host->root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CU_ASSERT_EQUAL(write(fd, bytes, length), (ssize_t)length);
	fd_close(&fd);
}

static void host_make(struct host *host)
{
	snprintf(host->path, sizeof(host->path), "/tmp/harness-test-host-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(host->path));
	CU_ASSERT_EQUAL(chmod(host->path, 0755), 0);
	host->root = open(host->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put(host, files[i].path, files[i].text, strlen(files[i].text));
	put(host, "sys/kernel/notes", notes, sizeof(notes) - 1);
	put(host, "proc/config.gz", packed_config, sizeof(packed_config) - 1);
	CU_ASSERT_EQUAL(mkdirat(host->root, "sys/fs", 0755) + mkdirat(host->root, "sys/fs/cgroup", 0755), 0);
}

/* What the four subjects say, as two documents. */
struct said {
	struct json_document *values, *reasons;
};

static void said_free(struct said *said)
{
	json_free(said->values);
	json_free(said->reasons);
}
#define SAID(name) __attribute__((cleanup(said_free))) struct said name = { .values = NULL }

static void end(struct facts *facts, struct said *out)
{
	struct error *err = NULL;

	json_object_end(&facts->values);
	json_object_end(&facts->reasons);
	CU_ASSERT_EQUAL(
		json_parse(buf_string(&facts->values_text), facts->values_text.length, JSON_DEPTH, &out->values, &err),
		0);
	CU_ASSERT_EQUAL(json_parse(buf_string(&facts->reasons_text), facts->reasons_text.length, JSON_DEPTH,
				   &out->reasons, &err),
			0);
	CU_ASSERT(test_no_error(&err));
}

static void ask_host(int root, struct said *out)
{
	cleanup_facts struct facts facts = { 0 };

	facts_begin(&facts);
	facts_kernel(&facts, root);
	facts_machine(&facts, root);
	end(&facts, out);
}

static void ask_engine(const char *version, const char *info, struct said *out)
{
	cleanup_json struct json_document *one = NULL, *other = NULL;
	cleanup_facts struct facts facts = { 0 };
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(version, strlen(version), JSON_ENGINE_DEPTH, &one, &err), 0);
	CU_ASSERT_EQUAL(json_parse(info, strlen(info), JSON_ENGINE_DEPTH, &other, &err), 0);
	CU_ASSERT(test_no_error(&err));
	facts_begin(&facts);
	facts_engine(&facts, json_root(one), json_root(other), "1.41");
	end(&facts, out);
}

static void ask_process(char *(*get)(const char *name), struct said *out)
{
	cleanup_facts struct facts facts = { 0 };

	facts_begin(&facts);
	facts_process(&facts, get);
	end(&facts, out);
}

static int is(const struct said *said, const char *fact, const char *value)
{
	const struct json_node *node = json_member(json_root(said->values), fact);
	struct json_span raw = node ? json_raw(node) : (struct json_span){ "(none)", 6 };

	if (raw.length == strlen(value) && memcmp(raw.bytes, value, raw.length) == 0)
		return 1;
	fprintf(stderr, "%s: %.*s, not %s\n", fact, (int)raw.length, raw.bytes, value);
	return 0;
}

static int is_null(const struct said *said, const char *fact, const char *reason)
{
	return is(said, fact, "null") && (json_text_is(json_member(json_root(said->reasons), fact), reason) ||
					  !fprintf(stderr, "%s: '%s', not '%s'\n", fact,
						   json_string(json_member(json_root(said->reasons), fact)), reason));
}

/* ---- what is there ---- */

enum subject { OF_HOST, OF_ENGINE, OF_PROCESS, TAKEN };

/* Every fact that a bundle lists, in its order. */
static const struct {
	const char *fact;
	enum subject subject;
	const char *value;
} expected[] = {
	{ "kernel.name", OF_HOST, ANY },
	{ "kernel.release", OF_HOST, ANY },
	{ "kernel.version", OF_HOST, ANY },
	{ "kernel.machine", OF_HOST, ANY },
	{ "kernel.boot", TAKEN, ANY },
	{ "kernel.buildId", OF_HOST, "\"c0ffee010203\"" },
	{ "kernel.configSha256", OF_HOST, "\"1f7630d899dcba3785654af21322a2c8853722810228d473f558cfd5513e9d72\"" },
	{ "kernel.configSource", OF_HOST, "\"proc\"" },
	{ "kernel.cmdlineSha256", OF_HOST, "\"53231b0a1cfadca9402333f8819221350347bdd078efc0f29bb3ef9b58f85352\"" },
	{ "kernel.cmdlineFlags", OF_HOST, "[\"mitigations=auto,nosmt\",\"lsm=lockdown,yama\"]" },
	{ "kernel.tainted", OF_HOST, "4097" },
	{ "sysctl.corePatternClass", OF_HOST, ANY },
	{ "sysctl.corePatternRelative", OF_HOST, ANY },
	{ "sysctl.coreUsesPid", OF_HOST, "1" },
	{ "sysctl.suidDumpable", OF_HOST, "2" },
	{ "sysctl.randomizeVaSpace", OF_HOST, "2" },
	{ "sysctl.ptraceScope", OF_HOST, "1" },
	{ "sysctl.unprivilegedUsernsClone", OF_HOST, "0" },
	{ "sysctl.maxUserNamespaces", OF_HOST, "96365" },
	{ "sysctl.unprivilegedBpfDisabled", OF_HOST, "2" },
	{ "sysctl.ipv6Disabled", OF_HOST, "0" },
	{ "sysctl.ipv6BindOnly", OF_HOST, "1" },
	{ "lsm.list", OF_HOST, "[\"lockdown\",\"capability\",\"yama\"]" },
	{ "seccomp.actions", OF_HOST, "[\"kill_process\",\"errno\",\"allow\"]" },
	{ "cgroup.version", OF_HOST, ANY },
	{ "cpu.vendor", OF_HOST, "\"GenuineIntel\"" },
	{ "cpu.model", OF_HOST, "\"A Processor @ 2.80GHz\"" },
	{ "cpu.microcode", OF_HOST, "\"0x1\"" },
	{ "cpu.online", OF_HOST, "6" },
	{ "cpu.virtualised", OF_HOST, "true" },
	{ "cpu.vulnerabilities", OF_HOST,
	  "[\"itlb_multihit:mitigation\",\"l1tf:not-affected\",\"meltdown:mitigation\",\"retbleed:vulnerable\",\"srbds:"
	  "unknown\",\"tsa:other\"]" },
	{ "cpu.vulnerabilitiesSha256", OF_HOST,
	  "\"c1270fd6139af06e649c9d14ae95deeb731dee141abcb528f5190ee5f824978d\"" },
	{ "clock.source", OF_HOST, "\"kvm-clock\"" },
	{ "clock.synchronised", OF_HOST, ANY },
	{ "build.libc", OF_PROCESS, ANY },
	{ "build.compiler", OF_PROCESS, ANY },
	{ "process.ldPreloadSet", OF_PROCESS, "true" },
	{ "process.dockerHostSet", OF_PROCESS, "false" },
	{ "ci.provider", OF_PROCESS, "\"github\"" },
	{ "ci.runId", OF_PROCESS, "\"42\"" },
	{ "ci.attempt", OF_PROCESS, "\"3\"" },
	{ "ci.workflow", OF_PROCESS, "\"o/r/.github/workflows/w.yml@refs/heads/main\"" },
	{ "ci.sha", OF_PROCESS, "\"0123456789abcdef0123456789abcdef01234567\"" },
	{ "ci.runnerOs", OF_PROCESS, "\"Linux\"" },
	{ "ci.runnerArch", OF_PROCESS, "\"X64\"" },
	{ "ci.runner", OF_PROCESS, "\"self-hosted\"" },
	{ "ci.image", OF_PROCESS, "\"ubuntu24\"" },
	{ "ci.imageVersion", OF_PROCESS, "\"20261101.1.0\"" },
	{ "engine.api", OF_ENGINE, "\"1.41\"" },
	{ "engine.version", OF_ENGINE, "\"24.0\"" },
	{ "engine.gitCommit", OF_ENGINE, "\"abc\"" },
	{ "engine.apiVersion", OF_ENGINE, "\"1.43\"" },
	{ "engine.minApiVersion", OF_ENGINE, "\"1.12\"" },
	{ "containerd.version", OF_ENGINE, "\"1.6\"" },
	{ "containerd.gitCommit", OF_ENGINE, "\"c1\"" },
	{ "runc.version", OF_ENGINE, "\"1.1\"" },
	{ "runc.gitCommit", OF_ENGINE, "\"r1\"" },
	{ "dockerInit.version", OF_ENGINE, "\"0.19\"" },
	{ "dockerInit.gitCommit", OF_ENGINE, "\"i1\"" },
	{ "engine.storageDriver", OF_ENGINE, "\"overlay2\"" },
	{ "engine.backingFilesystem", OF_ENGINE, "\"extfs\"" },
	{ "engine.imageStore", OF_ENGINE, "\"graphdriver\"" },
	{ "engine.cgroupDriver", OF_ENGINE, "\"systemd\"" },
	{ "engine.cgroupVersion", OF_ENGINE, "\"2\"" },
	{ "engine.defaultRuntime", OF_ENGINE, "\"runc\"" },
	{ "engine.runtimes", OF_ENGINE, "[\"runc\",\"crun\"]" },
	{ "engine.loggingDriver", OF_ENGINE, "\"json-file\"" },
	{ "engine.liveRestore", OF_ENGINE, "true" },
	{ "engine.operatingSystem", OF_ENGINE, "\"Debian GNU/Linux 12\"" },
	{ "engine.kernelVersion", OF_ENGINE, "\"6.1.0\"" },
	{ "engine.osType", OF_ENGINE, "\"linux\"" },
	{ "engine.architecture", OF_ENGINE, "\"x86_64\"" },
	{ "engine.securityOptions", OF_ENGINE, "[\"name=seccomp,profile=default\",\"name=cgroupns\"]" },
	{ "engine.warnings", OF_ENGINE, "2" },
	{ "host.cpus", OF_ENGINE, "2" },
	{ "host.memoryBytes", OF_ENGINE, "4096" },
	{ "host.ipv6Loopback", TAKEN, ANY },
	{ "host.userXattr", TAKEN, ANY },
	{ "host.postgres", TAKEN, ANY },
	{ "postgres.version", TAKEN, ANY },
};

static void test_each_fact(void)
{
	HOST(host);
	SAID(of_host);
	SAID(of_engine);
	SAID(of_process);
	const struct said *said[] = { [OF_HOST] = &of_host, [OF_ENGINE] = &of_engine, [OF_PROCESS] = &of_process };

	host_make(&host);
	ask_host(host.root, &of_host);
	ask_engine(version_text, info_text, &of_engine);
	ask_process(get_variable, &of_process);
	CU_ASSERT_PTR_NULL(environment_fact(ARRAY_SIZE(expected)));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct json_node *value;

		CU_ASSERT_STRING_EQUAL(environment_fact(i), expected[i].fact);
		if (expected[i].subject == TAKEN)
			continue;
		value = json_member(json_root(said[expected[i].subject]->values), expected[i].fact);
		CU_ASSERT(environment_fact_fits(expected[i].fact, value));
		CU_ASSERT(!expected[i].value || is(said[expected[i].subject], expected[i].fact, expected[i].value));
	}
}

/* Nothing that names a host or a person, and no variable's value but the listed ones. */
static void test_nothing_else(void)
{
	static const char *const never[] = { "secret", "host-name", "AAAA:BBBB",    "somebody",
					     "root=",  "a%20b",     "security=none" };
	cleanup_facts struct facts facts = { 0 };
	cleanup_json struct json_document *version = NULL, *info = NULL;
	struct error *err = NULL;
	HOST(host);

	host_make(&host);
	CU_ASSERT_EQUAL(json_parse(version_text, strlen(version_text), JSON_ENGINE_DEPTH, &version, &err), 0);
	CU_ASSERT_EQUAL(json_parse(info_text, strlen(info_text), JSON_ENGINE_DEPTH, &info, &err), 0);
	facts_begin(&facts);
	facts_kernel(&facts, host.root);
	facts_machine(&facts, host.root);
	facts_engine(&facts, json_root(version), json_root(info), "1.41");
	facts_process(&facts, get_variable);
	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		CU_ASSERT_PTR_NULL(strstr(buf_string(&facts.values_text), never[i]));
	CU_ASSERT(test_no_error(&err));
}

/* ---- what is not, or is something else ---- */

enum fault { GONE, FORBIDDEN, A_FOLDER, EMPTY, TEXT };

static const struct {
	const char *path;
	enum fault fault;
	const char *text;
	const char *fact, *value; /* NULL: null, for the reason */
	const char *reason;
} faults[] = {
	{ "proc/sys/kernel/tainted", GONE, NULL, "kernel.tainted", NULL, "absent" },
	{ "proc/sys/kernel/tainted", FORBIDDEN, NULL, "kernel.tainted", NULL, "permission" },
	{ "proc/sys/kernel/tainted", A_FOLDER, NULL, "kernel.tainted", NULL, "error" },
	{ "proc/sys/kernel/tainted", EMPTY, NULL, "kernel.tainted", NULL, "absent" },
	{ "proc/sys/kernel/tainted", TEXT, "12x\n", "kernel.tainted", NULL, "unsupported" },
	{ "proc/sys/kernel/tainted", TEXT, "-1\n", "kernel.tainted", NULL, "unsupported" },
	{ "proc/sys/kernel/tainted", TEXT, "99999999999999999999\n", "kernel.tainted", NULL, "unsupported" },
	{ "proc/sys/kernel/tainted", TEXT, "9007199254740992\n", "kernel.tainted", NULL, "unsupported" },
	{ "proc/sys/kernel/tainted", TEXT, "9007199254740991\n", "kernel.tainted", "9007199254740991", NULL },
	{ "proc/sys/kernel/yama/ptrace_scope", GONE, NULL, "sysctl.ptraceScope", NULL, "absent" },
	{ "sys/kernel/notes", GONE, NULL, "kernel.buildId", NULL, "absent" },
	{ "sys/kernel/notes", FORBIDDEN, NULL, "kernel.buildId", NULL, "permission" },
	{ "sys/kernel/notes", TEXT, "garbage that is no note at all, and long", "kernel.buildId", NULL, "absent" },
	{ "sys/kernel/notes", EMPTY, NULL, "kernel.buildId", NULL, "absent" },
	{ "proc/config.gz", GONE, NULL, "kernel.configSha256", NULL, "absent" },
	{ "proc/config.gz", GONE, NULL, "kernel.configSource", NULL, "absent" },
	{ "proc/config.gz", FORBIDDEN, NULL, "kernel.configSha256", NULL, "permission" },
	{ "proc/config.gz", TEXT, "CONFIG_X=y\n", "kernel.configSha256", NULL, "unsupported" },
	{ "proc/config.gz", TEXT, "CONFIG_X=y\n", "kernel.configSource", NULL, "unsupported" },
	{ "proc/cmdline", GONE, NULL, "kernel.cmdlineSha256", NULL, "absent" },
	{ "proc/cmdline", FORBIDDEN, NULL, "kernel.cmdlineFlags", NULL, "permission" },
	{ "proc/cmdline", TEXT, "quiet\n", "kernel.cmdlineFlags", "[]", NULL },
	{ "proc/cmdline", TEXT, "lsm\n", "kernel.cmdlineFlags", "[\"lsm\"]", NULL },
	{ "sys/kernel/security/lsm", GONE, NULL, "lsm.list", NULL, "absent" },
	{ "sys/kernel/security/lsm", FORBIDDEN, NULL, "lsm.list", NULL, "permission" },
	{ "sys/kernel/security/lsm", TEXT, "yama,\x01\n", "lsm.list", NULL, "unsupported" },
	{ "proc/sys/kernel/seccomp/actions_avail", GONE, NULL, "seccomp.actions", NULL, "absent" },
	{ "sys/fs/cgroup", GONE, NULL, "cgroup.version", NULL, "absent" },
	{ "proc/cpuinfo", GONE, NULL, "cpu.model", NULL, "absent" },
	{ "proc/cpuinfo", FORBIDDEN, NULL, "cpu.virtualised", NULL, "permission" },
	{ "proc/cpuinfo", TEXT, "processor\t: 0\nBogoMIPS\t: 50\n\nvendor_id : x\n", "cpu.vendor", NULL, "absent" },
	{ "proc/cpuinfo", TEXT, "processor\t: 0\nBogoMIPS\t: 50\n", "cpu.virtualised", NULL, "absent" },
	{ "proc/cpuinfo", TEXT, "flags\t: fpu hypervisors\n", "cpu.virtualised", "false", NULL },
	{ "proc/cpuinfo", TEXT, "flags\t: hypervisor fpu\n", "cpu.virtualised", "true", NULL },
	{ "proc/cpuinfo", TEXT, "model name\t: \xc3\xa9\n", "cpu.model", NULL, "unsupported" },
	{ "sys/devices/system/cpu/online", GONE, NULL, "cpu.online", NULL, "absent" },
	{ "sys/devices/system/cpu/online", TEXT, "0\n", "cpu.online", "1", NULL },
	{ "sys/devices/system/cpu/online", TEXT, "3-1\n", "cpu.online", NULL, "unsupported" },
	{ "sys/devices/system/cpu/online", TEXT, "0-\n", "cpu.online", NULL, "unsupported" },
	{ "sys/devices/system/cpu/online", TEXT, "0-99999999999999999999\n", "cpu.online", NULL, "unsupported" },
	{ "sys/devices/system/cpu/online", TEXT, "all\n", "cpu.online", NULL, "unsupported" },
	{ "sys/devices/system/cpu/vulnerabilities", GONE, NULL, "cpu.vulnerabilities", NULL, "absent" },
	{ "sys/devices/system/cpu/vulnerabilities", A_FOLDER, NULL, "cpu.vulnerabilitiesSha256", NULL, "absent" },
	{ "sys/devices/system/cpu/vulnerabilities/meltdown", FORBIDDEN, NULL, "cpu.vulnerabilities", NULL,
	  "permission" },
	{ "sys/devices/system/cpu/vulnerabilities/Two words", TEXT, "x\n", "cpu.vulnerabilities", NULL, "unsupported" },
	{ "sys/devices/system/clocksource/clocksource0/current_clocksource", GONE, NULL, "clock.source", NULL,
	  "absent" },
	{ "sys/devices/system/clocksource/clocksource0/current_clocksource", TEXT, "a\tb\n", "clock.source", NULL,
	  "unsupported" },
};

static void plant(const struct host *host, const char *path, enum fault fault, const char *text)
{
	struct error *err = NULL;

	if (fault == GONE || fault == A_FOLDER)
		CU_ASSERT_EQUAL(fd_remove_tree(host->root, path, &err), 0);
	if (fault == A_FOLDER)
		CU_ASSERT_EQUAL(mkdirat(host->root, path, 0755), 0);
	if (fault == FORBIDDEN)
		CU_ASSERT_EQUAL(fchmodat(host->root, path, 0, 0), 0);
	if (fault == EMPTY || fault == TEXT)
		put(host, path, text ? text : "", text ? strlen(text) : 0);
	CU_ASSERT(test_no_error(&err));
}

/* Root may read everything, so it asks as somebody else. */
static void test_each_fault(void)
{
	uid_t user = geteuid();

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		HOST(host);
		SAID(said);

		host_make(&host);
		plant(&host, faults[i].path, faults[i].fault, faults[i].text);
		CU_ASSERT(user != 0 || seteuid(NOBODY) == 0);
		ask_host(host.root, &said);
		CU_ASSERT(user != 0 || seteuid(0) == 0);
		CU_ASSERT(faults[i].value ? is(&said, faults[i].fact, faults[i].value)
					  : is_null(&said, faults[i].fact, faults[i].reason));
	}
}

/* Where the kernel does not hold its configuration, the one beside it counts. */
static void test_config_beside(void)
{
	static const char text[] = "CONFIG_Y=m\n";
	char path[sizeof(((struct utsname *)0)->release) + 16], hex[HEX_SHA256], quoted[HEX_SHA256 + 2];
	struct utsname name;
	HOST(host);
	SAID(said);
	SAID(forbidden);
	uid_t user = geteuid();

	CU_ASSERT_EQUAL(uname(&name), 0);
	host_make(&host);
	plant(&host, "proc/config.gz", GONE, NULL);
	snprintf(path, sizeof(path), "boot/config-%s", name.release);
	put(&host, path, text, strlen(text));
	ask_host(host.root, &said);
	hash_bytes(text, strlen(text), hex);
	snprintf(quoted, sizeof(quoted), "\"%s\"", hex);
	CU_ASSERT(is(&said, "kernel.configSha256", quoted));
	CU_ASSERT(is(&said, "kernel.configSource", "\"boot\""));
	plant(&host, path, FORBIDDEN, NULL);
	CU_ASSERT(user != 0 || seteuid(NOBODY) == 0);
	ask_host(host.root, &forbidden);
	CU_ASSERT(user != 0 || seteuid(0) == 0);
	CU_ASSERT(is_null(&forbidden, "kernel.configSha256", "permission"));
}

static void test_reasons(void)
{
	static const struct {
		int number;
		const char *reason;
	} rows[] = {
		{ ENOENT, "absent" },          { ENOTDIR, "absent" },     { ENXIO, "absent" }, { EACCES, "permission" },
		{ EPERM, "permission" },       { ENOSYS, "unsupported" }, { EIO, "error" },    { ELOOP, "error" },
		{ EOPNOTSUPP, "unsupported" }, { EINVAL, "unsupported" }, { 0, "error" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_STRING_EQUAL(fact_reason_names[fact_reason_of_errno(rows[i].number)], rows[i].reason);
}

static void test_engine_faults(void)
{
	static const struct {
		const char *version, *info, *fact, *value, *reason;
	} rows[] = {
		{ "{}", "{}", "engine.version", NULL, "absent" },
		{ "{}", "{}", "engine.warnings", NULL, "absent" },
		{ "{}", "{}", "engine.imageStore", NULL, "absent" },
		{ "{}", "{}", "engine.securityOptions", NULL, "absent" },
		{ "{\"Version\":null}", "{}", "engine.version", NULL, "absent" },
		{ "{\"Version\":\"\"}", "{}", "engine.version", NULL, "absent" },
		{ "{\"Version\":{}}", "{}", "engine.version", NULL, "unsupported" },
		{ "{\"Version\":\"\\u00e9\"}", "{}", "engine.version", NULL, "unsupported" },
		{ "{\"Components\":[{\"Name\":\"runc\"}]}", "{}", "runc.gitCommit", NULL, "absent" },
		{ "{}", "{\"Warnings\":null}", "engine.warnings", "0", NULL },
		{ "{}", "{\"Warnings\":7}", "engine.warnings", NULL, "unsupported" },
		{ "{}", "{\"SecurityOptions\":null}", "engine.securityOptions", "[]", NULL },
		{ "{}", "{\"SecurityOptions\":[\"a\",1]}", "engine.securityOptions", NULL, "unsupported" },
		{ "{}", "{\"Runtimes\":{\"a\\nb\":{}}}", "engine.runtimes", NULL, "unsupported" },
		{ "{}", "{\"Runtimes\":[1]}", "engine.runtimes", NULL, "unsupported" },
		{ "{}", "{\"DriverStatus\":[[\"driver-type\",\"io.containerd.snapshotter.v1\"]]}", "engine.imageStore",
		  "\"containerd\"", NULL },
		{ "{}", "{\"DriverStatus\":[]}", "engine.backingFilesystem", NULL, "absent" },
		{ "{}", "{\"MemTotal\":-1}", "host.memoryBytes", NULL, "unsupported" },
		{ "{}", "{\"NCPU\":1.5}", "host.cpus", NULL, "unsupported" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		SAID(said);

		ask_engine(rows[i].version, rows[i].info, &said);
		CU_ASSERT(rows[i].value ? is(&said, rows[i].fact, rows[i].value)
					: is_null(&said, rows[i].fact, rows[i].reason));
	}
}

static void test_ci(void)
{
	SAID(none);
	SAID(gitlab);

	ask_process(get_nothing, &none);
	CU_ASSERT(is(&none, "ci.provider", "\"none\""));
	CU_ASSERT(is_null(&none, "ci.sha", "absent"));
	CU_ASSERT(is(&none, "process.ldPreloadSet", "false"));
	ask_process(get_gitlab, &gitlab);
	CU_ASSERT(is(&gitlab, "ci.provider", "\"gitlab\""));
}

/* ---- the whole ---- */

static void take(const char *info, struct buf *out)
{
	cleanup_json struct json_document *one = NULL, *other = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(version_text, strlen(version_text), JSON_ENGINE_DEPTH, &one, &err), 0);
	CU_ASSERT_EQUAL(json_parse(info, strlen(info), JSON_ENGINE_DEPTH, &other, &err), 0);
	CU_ASSERT_EQUAL(environment_take(json_root(one), json_root(other), "1.41", true, "15.18", out, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Two snapshots of this machine make a document that a bundle may hold; what is null in the second alone is named. A
 * value beyond the form of its fact is null, and no bundle is refused for it. */
static void test_document(void)
{
	static const struct {
		const char *after;
		bool changed;
		const char *has;
	} rows[] = {
		{ info_text, false, NULL },
		{ "{}", true, "{\"field\":\"engine.warnings\",\"reason\":\"absent\"}" },
		{ "{\"NCPU\":0}", true, "{\"field\":\"host.cpus\",\"reason\":\"unsupported\"}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf before = BUF(MIB), after = BUF(MIB), text = BUF(MIB);
		struct error *err = NULL;
		bool changed = !rows[i].changed;

		take(info_text, &before);
		take(rows[i].after, &after);
		CU_ASSERT_EQUAL(environment_encode(&before, &after, &text, &changed, &err), 0);
		CU_ASSERT_EQUAL(changed, rows[i].changed);
		CU_ASSERT_EQUAL(environment_check(buf_string(&text), text.length, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT(!rows[i].has || strstr(buf_string(&text), rows[i].has));
	}
}

static void test_gzip(void)
{
	struct error *err = NULL;
	char hex[HEX_SHA256], plain[HEX_SHA256];

	hash_bytes("CONFIG_X=y\n", 11, plain);
	CU_ASSERT_EQUAL(gzip_digest(packed_config, sizeof(packed_config) - 1, 11, hex, &err), 0);
	CU_ASSERT_STRING_EQUAL(hex, plain);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(gzip_digest(packed_config, sizeof(packed_config) - 1, 10, hex, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_LIMIT, "more than it may"));
	for (size_t length = 0; length < sizeof(packed_config) - 1; length++) {
		CU_ASSERT(gzip_digest(packed_config, length, 11, hex, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, "cut, or no gzip"));
	}
	/* The literal's own NUL stands behind it. */
	CU_ASSERT(gzip_digest(packed_config, sizeof(packed_config), 11, hex, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_INPUT, "more behind the gzip"));
}

static CU_TestInfo tests[] = {
	{ "each fact", test_each_fact },
	{ "nothing else", test_nothing_else },
	{ "each fault of a file", test_each_fault },
	{ "a configuration beside the kernel", test_config_beside },
	{ "each errno", test_reasons },
	{ "an engine that says otherwise", test_engine_faults },
	{ "who started it", test_ci },
	{ "the document", test_document },
	{ "gzip", test_gzip },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "environment", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("environment", suites);
}
