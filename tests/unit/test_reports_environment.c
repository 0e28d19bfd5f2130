/* environment.json: the texts made of it, whether it changed, and what may not stand in it. */
#include "adapter/engine.h"
#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "oracle/scenario.h"
#include "reports/environment.h"
#include "tests/unit/environment_snapshot.h"
#include "tests/unit/test.h"

static const char snapshot[] =
	"{\"engine.api\":\"1.41\",\"engine.apiVersion\":\"1.43\",\"engine.architecture\":\"x86_64\",\"engine.osType\":"
	"\"linux\","
	"\"engine.securityOptions\":[\"name=seccomp\"],\"engine.version\":\"24.0\",\"kernel.boot\":"
	"\"0123456789abcdef\","
	"\"kernel.machine\":\"x86_64\",\"kernel.name\":\"Linux\",\"kernel.release\":\"6.1.0\",\"kernel.tainted\":0,"
	"\"kernel.version\":\"#1 SMP\",\"process.ldPreloadSet\":false,\"runc.version\":null}";
static const char document_rest[] =
	",\"schema\":\"confinement-evidence/environment/1\",\"unavailable\":[{\"field\":\"runc."
	"version\",\"reason\":\"absent\"}]}";

/* The text with the first `from` replaced by `to`; `from` NULL: as it is. */
static void change(const char *text, const char *from, const char *to, struct buf *out)
{
	const char *at = from ? strstr(text, from) : NULL;

	if (from && !at)
		abort();
	buf_add(out, text, at ? (size_t)(at - text) : strlen(text));
	if (at) {
		buf_text(out, to);
		buf_text(out, at + strlen(from));
	}
}

/* A document of some facts, so changed. */
static void make(const char *from, const char *to, struct buf *out)
{
	cleanup_buf struct buf text = BUF(MIB);

	buf_printf(&text, "{\"after\":%s,\"before\":%s%s", snapshot, snapshot, document_rest);
	change(buf_string(&text), from, to, out);
}

static void test_texts(void)
{
	cleanup_buf struct buf text = BUF(MIB), kernel = BUF(MIB), engine = BUF(MIB);
	struct error *err = NULL;
	char boot[HEX_SHA256];

	make(NULL, NULL, &text);
	CU_ASSERT_EQUAL(environment_kernel_text(buf_string(&text), text.length, &kernel, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&kernel), "Linux 6.1.0 #1 SMP x86_64\n");
	CU_ASSERT_EQUAL(environment_engine_text(buf_string(&text), text.length, &engine, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&engine), "Server:\n"
						    "  Version: 24.0\n"
						    "  API version: 1.43 (minimum version (not known), used 1.41)\n"
						    "  Git commit: (not known)\n"
						    "  OS/Arch: linux/x86_64\n"
						    "  Storage driver: (not known)\n"
						    "  Cgroup driver: (not known)\n"
						    "  Cgroup version: (not known)\n"
						    "  Default runtime: (not known)\n"
						    "containerd:\n"
						    "  Version: (not known)\n"
						    "runc:\n"
						    "  Version: (not known)\n");
	CU_ASSERT_EQUAL(environment_boot_of(buf_string(&text), text.length, boot, sizeof(boot), &err), 0);
	CU_ASSERT_STRING_EQUAL(boot, "0123456789abcdef");
	CU_ASSERT(test_no_error(&err));
}

static void test_differs(void)
{
	static const struct {
		const char *from, *to;
		bool differs;
	} rows[] = {
		{ NULL, NULL, false },
		{ "\"kernel.tainted\":0", "\"kernel.tainted\":1", true },
		{ "\"kernel.tainted\":0,", "", true },
	};
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf text = BUF(MIB);
		bool differs = !rows[i].differs;

		make(rows[i].from, rows[i].to, &text);
		CU_ASSERT_EQUAL(environment_differs(buf_string(&text), text.length, &differs, &err), 0);
		CU_ASSERT_EQUAL(differs, rows[i].differs);
	}
	CU_ASSERT(test_no_error(&err));
}

#define HOST_WITH(ipv6, xattr, core, postgres)                                                                         \
	"\"host.ipv6Loopback\":" ipv6 ",\"host.userXattr\":" xattr ",\"sysctl.corePatternRelative\":" core             \
	",\"host.postgres\":" postgres ","
#define HOST(ipv6, xattr, core) HOST_WITH(ipv6, xattr, core, "true")

static void test_lacks(void)
{
	static const struct {
		const char *facts;
		const char *lacks[ENVIRONMENT_NEEDS + 1];
		const char *reason;
	} rows[] = {
		{ HOST("true", "true", "true"), { NULL }, NULL },
		{ HOST("false", "true", "true"), { "ipv6-loopback" }, NULL },
		{ HOST("true", "false", "true"), { "user-xattr" }, NULL },
		{ HOST("true", "true", "false"), { "relative-core" }, NULL },
		{ HOST("false", "false", "true"), { "ipv6-loopback", "user-xattr" }, NULL },
		{ HOST_WITH("true", "true", "true", "false"), { "postgres" }, NULL },
		/* A bundle of format 1.0 does not say it. */
		{ "\"host.ipv6Loopback\":true,\"host.userXattr\":true,\"sysctl.corePatternRelative\":true,",
		  { "postgres" },
		  NULL },
		{ HOST_WITH("true", "true", "true", "null"), { NULL }, "before: host.postgres: must be true or false" },
		{ HOST("true", "true", "1"), { NULL }, "before: sysctl.corePatternRelative: must be true or false" },
		{ "\"host.ipv6Loopback\":1,\"host.userXattr\":true,",
		  { NULL },
		  "before: host.ipv6Loopback: must be true or false" },
		{ "\"host.ipv6Loopback\":null,", { NULL }, "before: host.ipv6Loopback: must be true or false" },
		{ "\"host.ipv6Loopback\":true,\"host.userXattr\":\"true\",",
		  { NULL },
		  "before: host.userXattr: must be true or false" },
		{ "\"host.ipv6Loopback\":true,", { NULL }, "before: host.userXattr: must be true or false" },
		{ "", { NULL }, "before: host.ipv6Loopback: must be true or false" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *lacks[ENVIRONMENT_NEEDS + 1] = { NULL };
		cleanup_buf struct buf text = BUF(MIB);
		struct error *err = NULL;
		char before[128];

		snprintf(before, sizeof(before), "\"before\":{%s", rows[i].facts);
		make("\"before\":{", before, &text);
		CU_ASSERT_EQUAL(environment_lacks(buf_string(&text), text.length, lacks, &err) == 0,
				rows[i].reason == NULL);
		CU_ASSERT(rows[i].reason ? test_error(&err, ERROR_INPUT, rows[i].reason) : test_no_error(&err));
		for (size_t need = 0; need <= ENVIRONMENT_NEEDS && !rows[i].reason; need++)
			CU_ASSERT(lacks[need] && rows[i].lacks[need] ? strcmp(lacks[need], rows[i].lacks[need]) == 0
								     : lacks[need] == rows[i].lacks[need]);
	}
}

/* Each need that a scenario may have is one that the environment says. */
static void test_needs(void)
{
	const char *lacks[ENVIRONMENT_NEEDS + 1] = { NULL };
	cleanup_buf struct buf text = BUF(MIB);
	struct error *err = NULL;

	make("\"before\":{", "\"before\":{" HOST_WITH("false", "false", "false", "false"), &text);
	CU_ASSERT_EQUAL(environment_lacks(buf_string(&text), text.length, lacks, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i <= ENVIRONMENT_NEEDS; i++)
		CU_ASSERT(lacks[i] && scenario_needs[i] ? strcmp(lacks[i], scenario_needs[i]) == 0
							: lacks[i] == scenario_needs[i]);
}

/* The versions that are accepted are those that the adapter speaks. */
static void test_api_versions(void)
{
	for (int minor = ENGINE_MINOR_MIN - 2; minor <= ENGINE_MINOR_MAX + 2; minor++) {
		bool ours = minor >= ENGINE_MINOR_MIN && minor <= ENGINE_MINOR_MAX;
		char text[200];
		struct error *err = NULL;

		snprintf(text, sizeof(text),
			 "{\"schema\":\"confinement-evidence/environment/1\",\"before\":{\"sysctl.corePatternClass\":"
			 "\"file\",\"engine.securityOptions\":[],\"engine.api\":\"1.%d\"}}",
			 minor);
		CU_ASSERT_EQUAL(environment_refused(text, strlen(text), &err) == 0, ours);
		CU_ASSERT(ours ? test_no_error(&err) : test_error(&err, ERROR_INPUT, "engine.api: "));
	}
}

/* What is not said is refused as what would be refused. */
static void test_refused(void)
{
	static const struct {
		const char *pattern, *options, *reason;
	} rows[] = {
		{ "\"file\"", "[]", NULL },
		{ "\"file\"", "[\"name=rootlessish\"]", NULL },
		{ "\"file\"", "[\"name=seccomp\",\"name=rootless\"]", "no run starts on 'rootless'" },
		{ "\"file\"", "[\"name=userns,x=1\"]", "no run starts on 'userns'" },
		{ "\"file\"", "null", "engine.securityOptions: must be said" },
		{ "\"pipe\"", "[]", "sysctl.corePatternClass: no run starts but on 'file'" },
		{ "null", "[]", "sysctl.corePatternClass: no run starts but on 'file'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[300];
		struct error *err = NULL;

		snprintf(text, sizeof(text),
			 "{\"schema\":\"" ENVIRONMENT_SCHEMA "\",\"before\":{\"sysctl.corePatternClass\":%s,"
			 "\"engine.securityOptions\":%s,\"engine.api\":\"1.41\"}}",
			 rows[i].pattern, rows[i].options);
		CU_ASSERT_EQUAL(environment_refused(text, strlen(text), &err) == 0, !rows[i].reason);
		CU_ASSERT(rows[i].reason ? test_error(&err, ERROR_INPUT, rows[i].reason) : test_no_error(&err));
	}
}

/* Every fact: another value that it may have, and one that it may not. */
static const struct {
	const char *fact, *good, *bad;
} forms[] = {
	{ "kernel.name", "\"x\"", "\"tab\\t\"" },
	{ "kernel.release", "\"x\"", "\"tab\\t\"" },
	{ "kernel.version", "\"x\"", "\"tab\\t\"" },
	{ "kernel.machine", "\"x\"", "\"tab\\t\"" },
	{ "kernel.boot", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"" },
	{ "kernel.buildId", "\"aaaaaaaa\"", "\"aaaaaaa\"" },
	{ "kernel.configSha256", "\"1111111111111111111111111111111111111111111111111111111111111111\"",
	  "\"111111111111111111111111111111111111111111111111111111111111111A\"" },
	{ "kernel.configSource", "\"proc\"", "\"whatever\"" },
	{ "kernel.cmdlineSha256", "\"1111111111111111111111111111111111111111111111111111111111111111\"",
	  "\"111111111111111111111111111111111111111111111111111111111111111A\"" },
	{ "kernel.cmdlineFlags", "[]", "[\"x\", 1]" },
	{ "kernel.tainted", "1", "-1" },
	{ "sysctl.corePatternClass", "\"pipe\"", "\"whatever\"" },
	{ "sysctl.corePatternRelative", "false", "0" },
	{ "sysctl.coreUsesPid", "1", "2" },
	{ "sysctl.suidDumpable", "1", "3" },
	{ "sysctl.randomizeVaSpace", "1", "3" },
	{ "sysctl.ptraceScope", "1", "4" },
	{ "sysctl.unprivilegedUsernsClone", "1", "2" },
	{ "sysctl.maxUserNamespaces", "1", "2147483648" },
	{ "sysctl.unprivilegedBpfDisabled", "1", "3" },
	{ "sysctl.ipv6Disabled", "1", "2" },
	{ "sysctl.ipv6BindOnly", "1", "2" },
	{ "lsm.list", "[]", "[\"x\", 1]" },
	{ "seccomp.actions", "[]", "[\"x\", 1]" },
	{ "cgroup.version", "1", "3" },
	{ "cpu.vendor", "\"x\"", "\"tab\\t\"" },
	{ "cpu.model", "\"x\"", "\"tab\\t\"" },
	{ "cpu.microcode", "\"x\"", "\"tab\\t\"" },
	{ "cpu.online", "1", "0" },
	{ "cpu.virtualised", "true", "0" },
	{ "cpu.vulnerabilities", "[]", "[\"x\", 1]" },
	{ "cpu.vulnerabilitiesSha256", "\"1111111111111111111111111111111111111111111111111111111111111111\"",
	  "\"111111111111111111111111111111111111111111111111111111111111111A\"" },
	{ "clock.source", "\"x/y@z\"", "\"two words\"" },
	{ "clock.synchronised", "true", "0" },
	{ "build.libc", "\"x\"", "\"tab\\t\"" },
	{ "build.compiler", "\"x\"", "\"tab\\t\"" },
	{ "process.ldPreloadSet", "true", "0" },
	{ "process.dockerHostSet", "true", "0" },
	{ "ci.provider", "\"gitlab\"", "\"whatever\"" },
	{ "ci.runId", "\"7\"", "\"7a\"" },
	{ "ci.attempt", "\"7\"", "\"7a\"" },
	{ "ci.workflow", "\"x/y@z\"", "\"two words\"" },
	{ "ci.sha", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"" },
	{ "ci.runnerOs", "\"x/y@z\"", "\"two words\"" },
	{ "ci.runnerArch", "\"x/y@z\"", "\"two words\"" },
	{ "ci.runner", "\"self-hosted\"", "\"whatever\"" },
	{ "ci.image", "\"x/y@z\"", "\"two words\"" },
	{ "ci.imageVersion", "\"x/y@z\"", "\"two words\"" },
	{ "engine.api", "\"x\"", "\"tab\\t\"" },
	{ "engine.version", "\"x\"", "\"tab\\t\"" },
	{ "engine.gitCommit", "\"x\"", "\"tab\\t\"" },
	{ "engine.apiVersion", "\"x\"", "\"tab\\t\"" },
	{ "engine.minApiVersion", "\"x\"", "\"tab\\t\"" },
	{ "containerd.version", "\"x\"", "\"tab\\t\"" },
	{ "containerd.gitCommit", "\"x\"", "\"tab\\t\"" },
	{ "runc.version", "\"x\"", "\"tab\\t\"" },
	{ "runc.gitCommit", "\"x\"", "\"tab\\t\"" },
	{ "dockerInit.version", "\"x\"", "\"tab\\t\"" },
	{ "dockerInit.gitCommit", "\"x\"", "\"tab\\t\"" },
	{ "engine.storageDriver", "\"x\"", "\"tab\\t\"" },
	{ "engine.backingFilesystem", "\"x\"", "\"tab\\t\"" },
	{ "engine.imageStore", "\"containerd\"", "\"whatever\"" },
	{ "engine.cgroupDriver", "\"x\"", "\"tab\\t\"" },
	{ "engine.cgroupVersion", "\"x\"", "\"tab\\t\"" },
	{ "engine.defaultRuntime", "\"x\"", "\"tab\\t\"" },
	{ "engine.runtimes", "[]", "[\"x\", 1]" },
	{ "engine.loggingDriver", "\"x\"", "\"tab\\t\"" },
	{ "engine.liveRestore", "true", "0" },
	{ "engine.operatingSystem", "\"x\"", "\"tab\\t\"" },
	{ "engine.kernelVersion", "\"x\"", "\"tab\\t\"" },
	{ "engine.osType", "\"x\"", "\"tab\\t\"" },
	{ "engine.architecture", "\"x\"", "\"tab\\t\"" },
	{ "engine.securityOptions", "[]", "[\"x\", 1]" },
	{ "engine.warnings", "1", "1001" },
	{ "host.cpus", "1", "0" },
	{ "host.memoryBytes", "1", "-1" },
	{ "host.ipv6Loopback", "false", "0" },
	{ "host.userXattr", "false", "0" },
	{ "host.postgres", "false", "0" },
	{ "postgres.version", "\"15.18 (Debian 15.18-0)\"", "15" },
};

/* The whole snapshot with one fact's value replaced; NULL: left out. */
static void put_snapshot(const char *fact, const char *value, struct buf *out)
{
	cleanup_json struct json_document *document = NULL;
	struct error *err = NULL;
	struct json_writer json;

	CU_ASSERT_EQUAL(json_parse(fixture_snapshot, strlen(fixture_snapshot), JSON_DEPTH, &document, &err), 0);
	json_begin(&json, out);
	json_object(&json);
	for (const struct json_node *one = json_first(json_root(document)); one; one = json_next(one)) {
		bool is = fact && strcmp(json_key(one), fact) == 0;

		if (is && !value)
			continue;
		json_put_key(&json, json_key(one));
		json_put_raw(&json, is ? value : json_raw(one).bytes, is ? strlen(value) : json_raw(one).length);
	}
	json_object_end(&json);
}

#define UNKNOWN(fact, reason) "{\"field\":\"" fact "\",\"reason\":\"" reason "\"}"
#define GIT_COMMIT UNKNOWN("engine.gitCommit", "absent")

/* environment.json, of which one fact of one snapshot, or of both, has another value; `more` is unavailable too. */
static void make_whole(bool before, bool after, const char *fact, const char *value, const char *more, struct buf *out)
{
	cleanup_buf struct buf first = BUF(MIB), second = BUF(MIB);

	put_snapshot(before ? fact : NULL, value, &first);
	put_snapshot(after ? fact : NULL, value, &second);
	buf_printf(
		out,
		"{\"after\":%s,\"before\":%s,\"schema\":\"confinement-evidence/environment/1\",\"unavailable\":[%s%s]}",
		buf_string(&second), buf_string(&first), GIT_COMMIT, more);
}

static void check_whole(bool before, bool after, const char *fact, const char *value, const char *more,
			const char *reason)
{
	cleanup_buf struct buf text = BUF(MIB);
	struct error *err = NULL;
	bool good;

	make_whole(before, after, fact, value, more, &text);
	good = environment_check(buf_string(&text), text.length, &err) == 0;
	if (good != !reason)
		fprintf(stderr, "%s = %s\n", fact, value ? value : "left out");
	CU_ASSERT_EQUAL(good, !reason);
	CU_ASSERT(reason ? test_error(&err, ERROR_INPUT, reason) : test_no_error(&err));
}

/* Each may have another value and be null, where that is named; it may not be left out, but in a bundle of format 1.0,
 * and not have another form. */
static void test_each_fact(void)
{
	CU_ASSERT_PTR_NULL(environment_fact(ARRAY_SIZE(forms)));
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const char *fact = forms[i].fact;
		char more[128], missing[96], form[96];

		CU_ASSERT_STRING_EQUAL(environment_fact(i), fact);
		snprintf(more, sizeof(more), ",{\"field\":\"%s\",\"reason\":\"permission\"}", fact);
		snprintf(missing, sizeof(missing), ": %s: missing", fact);
		snprintf(form, sizeof(form), ": %s: not of the form", fact);
		/* What bundles of format 1.0 lack is in neither snapshot, or in both. */
		check_whole(true, true, fact, NULL, "", environment_fact_later(fact) ? NULL : missing);
		if (environment_fact_later(fact))
			check_whole(true, false, fact, NULL, "", "unavailable: must name each fact that is null");
		check_whole(false, true, fact, forms[i].bad, "", form);
		check_whole(true, false, fact, "{}", "", form);
		/* The one that is null in the snapshot is not. */
		if (strcmp(fact, "engine.gitCommit") == 0)
			continue;
		check_whole(true, false, fact, forms[i].good, "", NULL);
		check_whole(true, true, fact, "null", more, NULL);
		check_whole(true, false, fact, "null", more, NULL);
		check_whole(false, true, fact, "null", more, NULL);
		check_whole(false, true, fact, "null", "", "unavailable: must name each fact that is null");
		check_whole(false, false, fact, "null", more, "unavailable: must name each fact that is null");
	}
}

/* Each is compared but the one that changes by itself. */
static void test_each_compared(void)
{
	struct error *err = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		cleanup_buf struct buf text = BUF(MIB);
		bool varies = strcmp(forms[i].fact, "clock.synchronised") == 0, differs = varies;

		make_whole(false, true, forms[i].fact, forms[i].good, "", &text);
		CU_ASSERT_EQUAL(environment_differs(buf_string(&text), text.length, &differs, &err), 0);
		CU_ASSERT_EQUAL(differs, !varies);
		CU_ASSERT_EQUAL(environment_fact_varies(forms[i].fact), varies);
	}
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT(!environment_fact_varies("host.name"));
}

static void test_form(void)
{
	static const struct {
		const char *from, *to, *reason;
	} rows[] = {
		{ "environment/1", "environment/2", "schema: not" },
		{ "{\"after\"", "{\"note\":1,\"after\"", "must have schema, before, after and unavailable alone" },
		{ "\"after\":{", "\"after\":{\"host.name\":\"x\",", "after: a fact that is not listed" },
		{ "\"kernel.name\"", "\"host.name\"", "after: kernel.name: missing" },
		{ "\"kernel.tainted\":0", "\"kernel.tainted\":0.5", "kernel.tainted: not of the form" },
		{ "\"20.10.24\"", "\"20.10.24\\n\"", "engine.version: not of the form" },
		{ "\"20.10.24\"", "\"\"", "engine.version: not of the form" },
		{ "\"after\":{", "\"after\":7,\"x\":{", "alone" },
		{ "\"reason\":\"absent\"", "\"reason\":\"whatever\"", "unavailable: must name each fact" },
		{ "\"reason\":\"absent\"", "\"reason\":\"absent\",\"x\":1", "unavailable: must name each fact" },
		{ GIT_COMMIT, GIT_COMMIT "," GIT_COMMIT, "unavailable: must name each fact" },
		{ GIT_COMMIT, "", "unavailable: must name each fact" },
		{ "[" GIT_COMMIT "]", "{}", "unavailable: must name each fact" },
		{ "{\"after\"", "{,\"after\"", "environment.json" },
	};
	cleanup_buf struct buf good = BUF(MIB);
	struct error *err = NULL;

	make_whole(false, false, NULL, NULL, "", &good);
	CU_ASSERT_EQUAL(environment_check(buf_string(&good), good.length, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf text = BUF(MIB);

		change(buf_string(&good), rows[i].from, rows[i].to, &text);
		CU_ASSERT(environment_check(buf_string(&text), text.length, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, rows[i].reason));
	}
}

static CU_TestInfo tests[] = {
	{ "texts", test_texts },
	{ "differs", test_differs },
	{ "what a host lacks", test_lacks },
	{ "every need is said", test_needs },
	{ "versions of the API", test_api_versions },
	{ "hosts that are refused", test_refused },
	{ "form", test_form },
	{ "the form of each fact", test_each_fact },
	{ "each fact is compared", test_each_compared },
	CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "environment", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("reports_environment", suites);
}
