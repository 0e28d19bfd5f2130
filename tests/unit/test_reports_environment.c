/* environment.json: the texts made of it, whether it changed, and what may not stand in it. */
#include "adapter/engine.h"
#include "core/fd.h"
#include "core/json.h"
#include "core/limits.h"
#include "oracle/scenario.h"
#include "reports/environment.h"
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

/* The document with the first `from` replaced by `to`; `from` NULL: as it is. */
static void make(const char *from, const char *to, struct buf *out)
{
	cleanup_buf struct buf text = BUF(MIB);
	const char *at;

	buf_printf(&text, "{\"after\":%s,\"before\":%s%s", snapshot, snapshot, document_rest);
	at = from ? strstr(buf_string(&text), from) : NULL;
	if (from && !at)
		abort();
	if (at) {
		buf_add(out, text.data, (size_t)(at - text.data));
		buf_text(out, to);
		buf_text(out, at + strlen(from));
	} else {
		buf_text(out, buf_string(&text));
	}
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

#define HOST(ipv6, xattr, core)                                                                                        \
	"\"host.ipv6Loopback\":" ipv6 ",\"host.userXattr\":" xattr ",\"sysctl.corePatternRelative\":" core ","

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

	make("\"before\":{", "\"before\":{" HOST("false", "false", "false"), &text);
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
			 "\"file\",\"engine.api\":\"1.%d\"}}",
			 minor);
		CU_ASSERT_EQUAL(environment_refused(text, strlen(text), &err) == 0, ours);
		CU_ASSERT(ours ? test_no_error(&err) : test_error(&err, ERROR_INPUT, "engine.api: "));
	}
}

static void test_form(void)
{
	static const struct {
		const char *from, *to, *reason;
	} rows[] = {
		{ "environment/1", "environment/2", "schema: not" },
		{ "{\"after\"", "{\"note\":1,\"after\"", "must have schema, before, after and unavailable alone" },
		{ "\"after\":{", "\"after\":{\"host.name\":\"x\",", "after: a fact that is not listed" },
		{ "\"kernel.tainted\":0", "\"kernel.tainted\":0.5", "kernel.tainted: not of the form" },
		{ "\"kernel.tainted\":0", "\"kernel.tainted\":{}", "kernel.tainted: not of the form" },
		{ "\"24.0\"", "\"24.0\\n\"", "engine.version: not of the form" },
		{ "[\"name=seccomp\"]", "[\"name=seccomp\",1]", "engine.securityOptions: not of the form" },
		{ "\"after\":{", "\"after\":7,\"x\":{", "alone" },
		{ "\"before\":{", "\"before\":{\"host.cpus\":null,", "unavailable: must name each fact" },
		{ "\"field\":\"runc.version\"", "\"field\":\"kernel.name\"", "unavailable: must name each fact" },
		{ "\"reason\":\"absent\"", "\"reason\":\"whatever\"", "unavailable: must name each fact" },
		{ "{\"after\"", "{,\"after\"", "environment.json" },
	};
	cleanup_buf struct buf good = BUF(MIB);
	struct error *err = NULL;

	make(NULL, NULL, &good);
	CU_ASSERT_EQUAL(environment_check(buf_string(&good), good.length, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf text = BUF(MIB);

		make(rows[i].from, rows[i].to, &text);
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
	{ "form", test_form },
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
