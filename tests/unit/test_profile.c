/* The reference profile, the body that it becomes, and its document. */
#include "adapter/profile.h"

#include "adapter/admission.h"
#include "core/fd.h"
#include "core/json.h"
#include "mutations/mutation.h"
#include "tests/unit/test.h"

#define IMAGE "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *const agent[] = { "/agent", NULL };
static const struct profile_identity identity = { .image = IMAGE, .run = "run-1", .role = "arm", .command = agent };

static struct json_document *parsed(const struct buf *text)
{
	struct json_document *document = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(json_parse(buf_string(text), text->length, JSON_DEPTH, &document, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	return document;
}

static struct json_document *body_of(const struct profile *profile, const struct profile_identity *who)
{
	cleanup_buf struct buf text = BUF(64 * KIB);
	struct error *err = NULL;

	CU_ASSERT_EQUAL(profile_create_body(profile, who, &text, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	return parsed(&text);
}

/* The raw value at "KEY" or "HostConfig.KEY". */
static bool value_is(const struct json_document *body, const char *path, const char *raw)
{
	const struct json_node *node = json_root(body);
	const char *dot = strchr(path, '.');
	struct json_span span;

	if (dot) {
		node = json_member(node, "HostConfig");
		path = dot + 1;
	}
	node = json_member(node, path);
	if (!node)
		return false;
	span = json_raw(node);
	return span.length == strlen(raw) && memcmp(span.bytes, raw, span.length) == 0;
}

static const struct {
	const char *path, *raw;
} reference_body[] = {
	{ "Image", "\"" IMAGE "\"" },
	{ "User", "\"10001:10001\"" },
	{ "Entrypoint", "[\"/agent\"]" },
	{ "Cmd", "[]" },
	{ "Env", "[]" },
	{ "WorkingDir", "\"/\"" },
	{ "StopSignal", "\"SIGTERM\"" },
	{ "Labels", "{\"harness.run\":\"run-1\",\"harness.role\":\"arm\"}" },
	{ "Healthcheck", "{\"Test\":[\"NONE\"]}" },
	{ "AttachStdin", "true" },
	{ "AttachStdout", "true" },
	{ "AttachStderr", "true" },
	{ "OpenStdin", "true" },
	{ "StdinOnce", "true" },
	{ "Tty", "false" },
	{ "HostConfig.NetworkMode", "\"none\"" },
	{ "HostConfig.ReadonlyRootfs", "true" },
	{ "HostConfig.Privileged", "false" },
	{ "HostConfig.CapAdd", "[]" },
	{ "HostConfig.CapDrop", "[\"ALL\"]" },
	{ "HostConfig.SecurityOpt", "[\"no-new-privileges=true\"]" },
	{ "HostConfig.LogConfig", "{\"Type\":\"none\",\"Config\":{}}" },
	{ "HostConfig.RestartPolicy", "{\"Name\":\"no\",\"MaximumRetryCount\":0}" },
	{ "HostConfig.AutoRemove", "false" },
	{ "HostConfig.Init", "false" },
	{ "HostConfig.PidsLimit", "32" },
	{ "HostConfig.Memory", "134217728" },
	{ "HostConfig.MemorySwap", "134217728" },
	{ "HostConfig.ShmSize", "67108864" },
	{ "HostConfig.Ulimits", "[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0}]" },
	{ "HostConfig.IpcMode", "\"private\"" },
	{ "HostConfig.PidMode", "\"\"" },
	{ "HostConfig.UTSMode", "\"\"" },
	{ "HostConfig.UsernsMode", "\"\"" },
	{ "HostConfig.Runtime", "\"runc\"" },
	{ "HostConfig.PublishAllPorts", "false" },
};

static void test_reference_body(void)
{
	cleanup_json struct json_document *body = body_of(&profile_reference, &identity);
	const struct json_node *host = json_member(json_root(body), "HostConfig");

	for (size_t i = 0; i < ARRAY_SIZE(reference_body); i++) {
		if (!value_is(body, reference_body[i].path, reference_body[i].raw))
			fprintf(stderr, "%s is not as expected\n", reference_body[i].path);
		CU_ASSERT_TRUE(value_is(body, reference_body[i].path, reference_body[i].raw));
	}
	/* Nothing beside: what an engine does not know it ignores silently. */
	CU_ASSERT_EQUAL(json_count(json_root(body)) - 1 + json_count(host), ARRAY_SIZE(reference_body));
}

static void test_command(void)
{
	static const char *const command[] = { "/agent", "one", "two", NULL };
	const struct profile_identity who = { .image = IMAGE, .run = "r", .role = "control", .command = command };
	cleanup_json struct json_document *body = body_of(&profile_reference, &who);

	CU_ASSERT_TRUE(value_is(body, "Entrypoint", "[\"/agent\"]"));
	CU_ASSERT_TRUE(value_is(body, "Cmd", "[\"one\",\"two\"]"));
	CU_ASSERT_TRUE(value_is(body, "Labels", "{\"harness.run\":\"r\",\"harness.role\":\"control\"}"));
}

/* Each member of the profile reaches the engine. */
static void test_weakened_bodies(void)
{
	struct profile profile = profile_reference;
	cleanup_json struct json_document *body = NULL;

	profile.network_mode = "host";
	profile.read_only_root = false;
	profile.drop_all_capabilities = false;
	profile.no_new_privileges = false;
	profile.uid = 1;
	profile.gid = 2;
	profile.log_driver = "json-file";
	profile.pids = 7;
	profile.memory_bytes = 6;
	profile.core_soft = 1;
	profile.core_hard = -1;
	profile.ipc_mode = "none";
	profile.runtime = "crun";
	body = body_of(&profile, &identity);
	CU_ASSERT_TRUE(value_is(body, "HostConfig.NetworkMode", "\"host\""));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.ReadonlyRootfs", "false"));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.CapDrop", "[]"));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.SecurityOpt", "[]"));
	CU_ASSERT_TRUE(value_is(body, "User", "\"1:2\""));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.LogConfig", "{\"Type\":\"json-file\",\"Config\":{}}"));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.PidsLimit", "7"));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.Memory", "6"));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.MemorySwap", "6"));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.Ulimits", "[{\"Name\":\"core\",\"Soft\":1,\"Hard\":-1}]"));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.IpcMode", "\"none\""));
	CU_ASSERT_TRUE(value_is(body, "HostConfig.Runtime", "\"crun\""));
}

/* A mutation of the profile changes one member of the body; the others change none. */
static void test_mutated_bodies(void)
{
	static const struct {
		const char *id, *path, *raw;
	} rows[] = {
		{ "network", "HostConfig.NetworkMode", "\"host\"" },
		{ "network-bridge", "HostConfig.NetworkMode", "\"bridge\"" },
		{ "read-only", "HostConfig.ReadonlyRootfs", "false" },
		{ "pids", "HostConfig.PidsLimit", "256" },
		{ "memory", "HostConfig.Memory", "536870912" },
		{ "memory", "HostConfig.MemorySwap", "536870912" },
		{ "restart", "HostConfig.RestartPolicy", "{\"Name\":\"on-failure\",\"MaximumRetryCount\":3}" },
		{ "core", "HostConfig.Ulimits", "[{\"Name\":\"core\",\"Soft\":-1,\"Hard\":-1}]" },
		{ "core", "WorkingDir", "\"/export\"" },
		{ "log-driver", "HostConfig.LogConfig", "{\"Type\":\"json-file\",\"Config\":{}}" },
	};

	for (size_t i = 0; mutations[i]; i++) {
		struct session_options options = { .profile = profile_reference };
		cleanup_json struct json_document *body = NULL;
		size_t differ = 0, expected = 0;

		mutations[i]->apply(&options);
		body = body_of(&options.profile, &identity);
		for (size_t field = 0; field < ARRAY_SIZE(reference_body); field++)
			differ += !value_is(body, reference_body[field].path, reference_body[field].raw);
		for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
			if (strcmp(rows[row].id, mutations[i]->id) != 0)
				continue;
			expected++;
			CU_ASSERT_TRUE(value_is(body, rows[row].path, rows[row].raw));
		}
		CU_ASSERT_EQUAL(differ, expected);
	}
}

static void test_no_room(void)
{
	cleanup_buf struct buf small = BUF(100);
	cleanup_buf struct buf other = BUF(100);
	struct error *err = NULL;

	CU_ASSERT_TRUE(profile_create_body(&profile_reference, &identity, &small, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_LIMIT, "create body"));
	CU_ASSERT_TRUE(profile_encode(&profile_reference, &other, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_LIMIT, "more than 100 bytes"));
}

static bool is_rule(const char *id)
{
	struct rule_set set = { { 0 } };

	return id && rule_set_add_id(&set, id);
}

static void test_document(void)
{
	cleanup_buf struct buf text = BUF(64 * KIB), canonical = BUF(64 * KIB);
	cleanup_json struct json_document *document = NULL;
	const struct json_node *root, *list;
	struct error *err = NULL;
	int64_t number = -1;

	CU_ASSERT_EQUAL(profile_encode(&profile_reference, &text, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	CU_ASSERT_EQUAL(json_canonical(text.data, text.length, &canonical, &err), 0);
	CU_ASSERT_STRING_EQUAL(buf_string(&canonical), buf_string(&text));
	document = parsed(&text);
	root = json_root(document);
	CU_ASSERT_STRING_EQUAL(json_string(json_member(root, "schema")), "confinement-evidence/profile/1");
	CU_ASSERT_STRING_EQUAL(json_string(json_member(root, "id")), "reference");
	list = json_member(root, "protections");
	CU_ASSERT_TRUE(json_count(list) > 40);
	for (const struct json_node *row = json_first(list); row; row = json_next(row)) {
		const char *id = json_string(json_member(row, "id")),
			   *setting = json_string(json_member(row, "setting"));
		bool required = false;

		CU_ASSERT_EQUAL(json_count(row), 4);
		CU_ASSERT_TRUE(id && *id && setting && *setting);
		CU_ASSERT_TRUE(json_bool(json_member(row, "required"), &required) && required);
		if (!is_rule(json_string(json_member(row, "admissionRule"))))
			fprintf(stderr, "%s names no rule\n", id ? id : "?");
		CU_ASSERT_TRUE(is_rule(json_string(json_member(row, "admissionRule"))));
		for (const struct json_node *other = json_next(row); other; other = json_next(other))
			CU_ASSERT_STRING_NOT_EQUAL(id, json_string(json_member(other, "id")));
	}
	CU_ASSERT_TRUE(json_int64(json_member(json_member(root, "limits"), "memoryBytes"), &number));
	CU_ASSERT_EQUAL(number, 134217728);
	CU_ASSERT_TRUE(json_int64(json_member(json_member(root, "limits"), "pids"), &number));
	CU_ASSERT_EQUAL(number, 32);
}

static const char *setting_of(const struct json_document *document, const char *id)
{
	const struct json_node *list = json_member(json_root(document), "protections");

	for (const struct json_node *row = json_first(list); row; row = json_next(row)) {
		const char *found = json_string(json_member(row, "id"));

		if (found && strcmp(found, id) == 0)
			return json_string(json_member(row, "setting"));
	}
	return "";
}

static void test_settings(void)
{
	static const struct {
		const char *id, *reference, *weakened;
	} rows[] = {
		{ "network", "none", "host" },
		{ "read-only", "read-only", "writable" },
		{ "capabilities", "none", "default" },
		{ "no-new-privileges", "true", "false" },
		{ "user", "10001:10001", "1:2" },
		{ "log-driver", "none", "json-file" },
		{ "pids", "32", "7" },
		{ "memory", "134217728", "6" },
		{ "memory-swap", "134217728", "6" },
		{ "core", "0:0", "1:-1" },
		{ "ipc", "private", "none" },
		{ "runtime", "runc", "crun" },
	};
	const struct profile weakened = {
		.id = "weakened",
		.network_mode = "host",
		.uid = 1,
		.gid = 2,
		.log_driver = "json-file",
		.pids = 7,
		.memory_bytes = 6,
		.core_soft = 1,
		.core_hard = -1,
		.ipc_mode = "none",
		.runtime = "crun",
	};
	cleanup_buf struct buf one = BUF(64 * KIB), other = BUF(64 * KIB);
	cleanup_json struct json_document *before = NULL, *after = NULL;
	struct error *err = NULL;

	CU_ASSERT_EQUAL(profile_encode(&profile_reference, &one, &err), 0);
	CU_ASSERT_EQUAL(profile_encode(&weakened, &other, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	before = parsed(&one);
	after = parsed(&other);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_STRING_EQUAL(setting_of(before, rows[i].id), rows[i].reference);
		CU_ASSERT_STRING_EQUAL(setting_of(after, rows[i].id), rows[i].weakened);
	}
}

static CU_TestInfo body_tests[] = {
	{ "the reference profile, every field", test_reference_body },
	{ "entrypoint, command and labels", test_command },
	{ "each member of the profile", test_weakened_bodies },
	{ "mutations", test_mutated_bodies },
	{ "no room", test_no_room },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo document_tests[] = {
	{ "protections name rules that exist", test_document },
	{ "settings follow the profile", test_settings },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "create body", NULL, NULL, NULL, NULL, body_tests },
	{ "profile.json", NULL, NULL, NULL, NULL, document_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("profile", suites);
}
