#include <fcntl.h>
#include <stdlib.h>

#include "core/fd.h"
#include "core/json.h"
#include "gateway/config.h"
#include "gateway/decision.h"
#include "tests/unit/test.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char whole[] =
	"{\"session\":{\"sensitivity\":\"confidential\"},"
	"\"sinkPolicy\":{\"toolMaxSensitivity\":[{\"tool\":\"permitted.tool\",\"max\":\"confidential\"},"
	"{\"tool\":\"public.tool\",\"max\":\"public\"}],\"responseMaxSensitivity\":\"confidential\"},"
	"\"vocabulary\":[{\"label\":\"internal\",\"rank\":1}],\"allow\":[\"public.tool\"],\"scanArguments\":true,"
	"\"scanResponses\":true,\"budget\":10,\"responseBytes\":2097152,"
	"\"catalog\":[{\"tool\":\"permitted.tool\",\"sensitivity\":\"public\",\"server\":0},"
	"{\"tool\":\"public.tool\",\"sensitivity\":\"public\",\"server\":0}],"
	"\"servers\":[{\"command\":\"/bin/recorder\",\"sha256\":\"" DIGEST "\",\"arguments\":[\"a\",\"b\"],"
	"\"environment\":[\"A=b\"],\"callId\":true,\"passFd\":6}],\"callMs\":5000,\"http\":{\"address\":\"127.0.0.1\","
	"\"port\":0,"
	"\"tokenFile\":\"/t\",\"open\":false},\"audit\":{\"path\":\"/a\"},\"telemetry\":{\"endpoint\":\"http://"
	"127.0.0.1:1\"}}";

/* The whole document with one part replaced, and what is said of it. */
struct bad_row {
	const char *from, *to, *says;
};

static const struct bad_row bad_rows[];

static struct gateway_config *new_config(void)
{
	return calloc(1, sizeof(struct gateway_config));
}

static void test_whole(void)
{
	cleanup_free struct gateway_config *config = new_config();
	struct error *err = NULL;

	CU_ASSERT_EQUAL(gateway_config_read(whole, strlen(whole), NULL, config, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(config->session.sensitivity, "confidential");
	CU_ASSERT_EQUAL(config->sink_policy.tools_count, 2);
	CU_ASSERT_STRING_EQUAL(config->sink_policy.response, "confidential");
	CU_ASSERT_EQUAL(config->catalog_count, 2);
	CU_ASSERT_PTR_EQUAL(gateway_config_tool(config, "public.tool"), &config->catalog[1]);
	CU_ASSERT_PTR_NULL(gateway_config_tool(config, "Public.tool"));
	CU_ASSERT_PTR_NULL(gateway_config_tool(config, NULL));
	CU_ASSERT_STRING_EQUAL(gateway_config_ceiling(config, "public.tool"), "public");
	CU_ASSERT_PTR_NULL(gateway_config_ceiling(config, "other.tool"));
	CU_ASSERT_EQUAL(config->servers_count, 1);
	CU_ASSERT_STRING_EQUAL(config->servers[0].command, "/bin/recorder");
	CU_ASSERT_STRING_EQUAL(config->servers[0].sha256, DIGEST);
	CU_ASSERT_EQUAL(config->servers[0].arguments_count, 2);
	CU_ASSERT_STRING_EQUAL(config->servers[0].arguments[1], "b");
	CU_ASSERT_EQUAL(config->servers[0].pass_fd, 6);
	CU_ASSERT(config->servers[0].call_id);
	CU_ASSERT_EQUAL(config->call_ms, 5000);
	CU_ASSERT_EQUAL(gateway_config_rank(config, "internal"), 1);
	CU_ASSERT_EQUAL(gateway_config_rank(config, "pii"), 1);
	CU_ASSERT_EQUAL(gateway_config_rank(config, "Internal"), LABEL_UNKNOWN);
	CU_ASSERT_PTR_EQUAL(gateway_config_label(config, "internal"), config->vocabulary[0].label);
	CU_ASSERT_PTR_NULL(gateway_config_label(config, "external"));
	CU_ASSERT(gateway_config_allows(config, "public.tool"));
	CU_ASSERT(!gateway_config_allows(config, "permitted.tool"));
	CU_ASSERT_STRING_EQUAL(config->catalog_sha256, config->policy_sha256);
}

static void test_defaults(void)
{
	static const char small[] =
		"{\"session\":{\"sensitivity\":\"public\"},\"sinkPolicy\":{\"toolMaxSensitivity\":[],"
		"\"responseMaxSensitivity\":\"public\"},\"catalog\":[],"
		"\"servers\":[{\"command\":\"/x\",\"sha256\":\"" DIGEST "\"}]}";
	cleanup_free struct gateway_config *config = new_config();
	struct error *err = NULL;

	CU_ASSERT_EQUAL(gateway_config_read(small, strlen(small), NULL, config, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(config->call_ms, GATEWAY_CALL_MS);
	CU_ASSERT_EQUAL(config->servers[0].pass_fd, -1);
	CU_ASSERT(!config->servers[0].call_id);
	CU_ASSERT_EQUAL(config->servers[0].arguments_count, 0);
	CU_ASSERT_EQUAL(config->response_bytes, GATEWAY_RESPONSE_BYTES);
	CU_ASSERT(config->scan_arguments && config->scan_responses);
	CU_ASSERT(gateway_config_allows(config, "any.tool"));
	CU_ASSERT_EQUAL(config->http.address[0], 0);
}

/* What a relative path is below, and a catalog in a file of its own. */
static void test_catalog_file(void)
{
	static const char policy[] =
		"{\"session\":{\"sensitivity\":\"public\"},\"sinkPolicy\":{\"toolMaxSensitivity\":[],"
		"\"responseMaxSensitivity\":\"public\"},\"catalogFile\":\"catalog.json\","
		"\"audit\":{\"path\":\"audit.db\"}}";
	static const char catalog[] = "{\"catalog\":[{\"tool\":\"a\",\"sensitivity\":\"public\",\"server\":0}],"
				      "\"servers\":[{\"command\":\"/x\",\"sha256\":\"" DIGEST "\"}]}";
	cleanup_free struct gateway_config *config = new_config();
	char folder[] = "/tmp/test-config-XXXXXX", path[64];
	struct error *err = NULL;

	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder));
	CU_ASSERT(gateway_config_read(policy, strlen(policy), folder, config, &err) < 0);
	CU_ASSERT(test_error(&err, ERROR_SYSTEM, "the catalog's file"));
	snprintf(path, sizeof(path), "%s/catalog.json", folder);
	CU_ASSERT_EQUAL(fd_write_atomic(AT_FDCWD, path, catalog, strlen(catalog), 0600, &err), 0);
	CU_ASSERT_EQUAL(gateway_config_read(policy, strlen(policy), folder, config, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_EQUAL(config->catalog_count, 1);
	CU_ASSERT_STRING_EQUAL(config->servers[0].command, "/x");
	CU_ASSERT(strcmp(config->catalog_sha256, config->policy_sha256) != 0);
	snprintf(path, sizeof(path), "%s/audit.db", folder);
	CU_ASSERT_STRING_EQUAL(config->audit.path, path);
	CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, folder, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* What the table writes is what it reads. */
static void test_round_trip(void)
{
	cleanup_free struct gateway_config *config = new_config();
	cleanup_free struct gateway_config *again = new_config();
	cleanup_buf struct buf out = BUF(GATEWAY_CONFIG_BYTES);
	struct json_writer writer;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(gateway_config_read(whole, strlen(whole), NULL, config, &err), 0);
	json_begin(&writer, &out);
	schema_encode(gateway_config_fields, config, &writer);
	CU_ASSERT_STRING_EQUAL(buf_string(&out), whole);
	CU_ASSERT_EQUAL(gateway_config_read(buf_string(&out), out.length, NULL, again, &err), 0);
	CU_ASSERT_EQUAL(memcmp(config, again, sizeof(*config)), 0);
	CU_ASSERT(test_no_error(&err));
}

/* A label without a rank is read: the decision denies it. */
static void test_unknown_label(void)
{
	static const char odd[] = "{\"session\":{\"sensitivity\":\"future\"},\"sinkPolicy\":{\"toolMaxSensitivity\":[],"
				  "\"responseMaxSensitivity\":\"public\"},\"catalog\":[],\"servers\":[]}";
	cleanup_free struct gateway_config *config = new_config();
	struct error *err = NULL;

	CU_ASSERT_EQUAL(gateway_config_read(odd, strlen(odd), NULL, config, &err), 0);
	CU_ASSERT(test_no_error(&err));
	CU_ASSERT_STRING_EQUAL(config->session.sensitivity, "future");
}

static void test_bad(void)
{
	cleanup_free struct gateway_config *config = new_config();

	for (const struct bad_row *row = bad_rows; row->from; row++) {
		cleanup_buf struct buf text = BUF(GATEWAY_CONFIG_BYTES);
		const char *at = strstr(whole, row->from);
		struct error *err = NULL;

		CU_ASSERT_PTR_NOT_NULL(at);
		if (!at)
			continue;
		buf_add(&text, whole, (size_t)(at - whole));
		buf_text(&text, row->to);
		buf_text(&text, at + strlen(row->from));
		CU_ASSERT(gateway_config_read(buf_string(&text), text.length, NULL, config, &err) < 0);
		CU_ASSERT(test_error(&err, ERROR_INPUT, row->says));
	}
}

static const struct bad_row bad_rows[] = {
	{ "{\"session\"", "[\"session\"", "gateway: " },
	{ "\"callMs\":5000", "\"callMs\":5000,\"extra\":1", "gateway: unknown key 'extra'" },
	{ "\"callMs\":5000", "\"callMs\":5000,\"callMs\":5000", "gateway: " },
	{ "\"callMs\":5000", "\"callMs\":0", "gateway: callMs: outside" },
	{ "\"callMs\":5000", "\"callMs\":600001", "gateway: callMs: outside" },
	{ "\"callMs\":5000", "\"callMs\":5e3", "gateway: callMs: must be an integer" },
	{ "\"session\":{\"sensitivity\":\"confidential\"},", "", "gateway: session: missing" },
	{ "{\"sensitivity\":\"confidential\"}", "{}", "gateway: session.sensitivity: missing" },
	{ "\"sensitivity\":\"confidential\"", "\"sensitivity\":\"Confidential\"", "gateway: session.sensitivity" },
	{ ",\"responseMaxSensitivity\":\"confidential\"", "", "sinkPolicy.responseMaxSensitivity: missing" },
	{ "{\"tool\":\"public.tool\",\"max\"", "{\"tool\":\"permitted.tool\",\"max\"",
	  "sinkPolicy.toolMaxSensitivity[1].tool: listed twice" },
	{ "\"max\":\"confidential\"", "\"max\":2", "sinkPolicy.toolMaxSensitivity[0].max" },
	{ "{\"tool\":\"public.tool\",\"sensitivity\"", "{\"tool\":\"permitted.tool\",\"sensitivity\"",
	  "catalog[1].tool: listed twice" },
	{ "\"label\":\"internal\"", "\"label\":\"pii\"", "vocabulary[0].label: it is built in" },
	{ "\"rank\":1", "\"rank\":-1", "vocabulary[0].rank: outside" },
	{ "\"rank\":1", "\"rank\":true", "vocabulary[0].rank: must be an integer" },
	{ "\"rank\":1}]", "\"rank\":1},{\"label\":\"internal\",\"rank\":2}]", "vocabulary[1].label: listed twice" },
	{ "[\"public.tool\"]", "[\"other.tool\"]", "allow[0]: not in the catalog" },
	{ "[\"public.tool\"]", "[]", "gateway: allow" },
	{ "\"budget\":10", "\"budget\":-1", "budget: outside" },
	{ "127.0.0.1\",\"port\"", "0.0.0.0\",\"port\"", "http.address: neither" },
	{ "\"tokenFile\":\"/t\",", "", "http.tokenFile: missing" },
	{ "\"port\":0", "\"port\":65536", "http.port: outside" },
	{ "\"A=b\"", "\"A\"", "servers[0].environment[0]: not NAME=VALUE" },
	{ "\"sha256\":\"" DIGEST "\",", "", "servers[0].sha256: missing" },
	{ "\"command\":\"/bin/recorder\"", "\"url\":\"https://x\"", "servers[0].url: not http://" },
	{ "\"passFd\":6", "\"passFd\":6,\"url\":\"http://127.0.0.1:1\"", "servers[0]: a command and a url" },
	{ "\"command\":\"/bin/recorder\",", "", "servers[0]: neither a command nor a url" },
	{ "\"callMs\":5000", "\"callMs\":5000,\"catalogFile\":\"c\"", "catalogFile: catalog or servers are given too" },
	{ "\"server\":0", "\"server\":1", "catalog[0].server: no such server" },
	{ "\"server\":0", "\"server\":-1", "catalog[0].server: outside" },
	{ "\"/bin/recorder\"", "\"recorder\"", "servers[0].command: not absolute" },
	{ "\"sha256\":\"01", "\"sha256\":\"1", "servers[0].sha256" },
	{ "\"sha256\":\"01", "\"sha256\":\"A1", "servers[0].sha256" },
	{ "\"callId\":true", "\"callId\":1", "servers[0].callId: must be" },
	{ "\"passFd\":6", "\"passFd\":3", "servers[0].passFd: one of the gateway's own" },
	{ "\"passFd\":6", "\"passFd\":4", "servers[0].passFd: one of the gateway's own" },
	{ "\"passFd\":6", "\"passFd\":5", "servers[0].passFd: one of the gateway's own" },
	{ "\"passFd\":6", "\"passFd\":0", "servers[0].passFd: one of the gateway's own" },
	{ "\"passFd\":6", "\"passFd\":64", "servers[0].passFd: outside" },
	{ "\"arguments\":[\"a\",\"b\"]", "\"arguments\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]",
	  "servers[0].arguments" },
	{ NULL, NULL, NULL },
};

static CU_TestInfo tests[] = {
	{ "a whole document", test_whole },
	{ "defaults", test_defaults },
	{ "a catalog in its file", test_catalog_file },
	{ "what is written is what is read", test_round_trip },
	{ "an unknown label is left to the decision", test_unknown_label },
	{ "errors name the field", test_bad },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "gateway_config", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("gateway_config", suites);
}
