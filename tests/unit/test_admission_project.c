/* The effective configuration as fields: equal in two containers of one profile, different exactly where a mutant is.
 */
#include "adapter/admission.h"

#include "core/hash.h"
#include "mutations/mutation.h"
#include "tests/unit/admission_fixture.h"

struct taken {
	struct {
		char field[128], sha256[HEX_SHA256];
	} rows[ARM_EFFECTIVE_MAX];
	size_t count;
};

static int take(void *context, const char *field, const char *sha256, struct error **err)
{
	struct taken *taken = context;

	CU_ASSERT_TRUE(strlen(field) < sizeof(taken->rows[0].field) && strlen(sha256) == HEX_SHA256 - 1);
	if (taken->count == ARRAY_SIZE(taken->rows))
		return error_set(err, ERROR_LIMIT, "too many fields");
	snprintf(taken->rows[taken->count].field, sizeof(taken->rows[0].field), "%s", field);
	snprintf(taken->rows[taken->count].sha256, sizeof(taken->rows[0].sha256), "%s", sha256);
	taken->count++;
	return 0;
}

static void project(const struct recorded *recorded, struct taken *out)
{
	struct error *err = NULL;

	out->count = 0;
	CU_ASSERT_EQUAL(admission_project(&recorded->declared, &recorded->effective, take, out, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}

static const char *value_of(const struct taken *taken, const char *field)
{
	for (size_t i = 0; i < taken->count; i++)
		if (strcmp(taken->rows[i].field, field) == 0)
			return taken->rows[i].sha256;
	return NULL;
}

static bool value_is(const struct taken *taken, const char *field, const char *text)
{
	const char *found = value_of(taken, field);
	char sha256[HEX_SHA256];

	hash_bytes(text, strlen(text), sha256);
	return found && strcmp(found, sha256) == 0;
}

static bool same(const struct taken *one, const struct taken *other)
{
	bool equal = one->count == other->count;

	for (size_t i = 0; i < one->count && i < other->count; i++) {
		if (strcmp(one->rows[i].field, other->rows[i].field) == 0 &&
		    strcmp(one->rows[i].sha256, other->rows[i].sha256) == 0)
			continue;
		fprintf(stderr, "differs: %s, %s\n", one->rows[i].field, other->rows[i].field);
		equal = false;
	}
	return equal;
}

static void test_form(void)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	cleanup_recorded struct recorded recorded;
	cleanup_free struct taken *taken = calloc(1, sizeof(*taken));

	recorded_open(&recorded, "reference");
	project(&recorded, taken);
	CU_ASSERT_TRUE(taken->count > 100);
	for (size_t i = 0; i < taken->count; i++) {
		CU_ASSERT_EQUAL(strspn(taken->rows[i].field, letters), strlen(taken->rows[i].field));
		for (size_t other = 0; other < i; other++)
			CU_ASSERT_STRING_NOT_EQUAL(taken->rows[i].field, taken->rows[other].field);
	}
}

static void test_values(void)
{
	static const struct {
		const char *field, *text;
	} rows[] = {
		{ "inspect.HostConfig.NetworkMode", "\"none\"" },
		{ "inspect.HostConfig.ReadonlyRootfs", "true" },
		{ "inspect.HostConfig.Memory", "134217728" },
		{ "inspect.HostConfig.CapDrop", "[\"ALL\"]" },
		{ "inspect.HostConfig.Binds", "null" },
		{ "inspect.HostConfig.LogConfig.Type", "\"none\"" },
		{ "inspect.HostConfig.Ulimits", "[{\"Hard\":0,\"Name\":\"core\",\"Soft\":0}]" },
		{ "inspect.Config.Labels", "{\"harness.role\":null,\"harness.run\":null}" },
		{ "inspect.Config.User", "\"10001:10001\"" },
		{ "inspect.Config.Shell", "null" },
		{ "inspect.NetworkSettings.Networks", "none\n" },
		{ "inspect.Mounts", "" },
		{ "kernel.uid", "10001\t10001\t10001\t10001" },
		{ "kernel.groups", "10001" },
		{ "kernel.capabilities", "CapInh 0000000000000000\nCapPrm 0000000000000000\nCapEff 0000000000000000\n"
					 "CapBnd 0000000000000000\nCapAmb 0000000000000000\n" },
		{ "kernel.no-new-privs", "1" },
		{ "kernel.seccomp", "2" },
		{ "kernel.ns.net", "other" },
		{ "kernel.ns.user", "own" },
		{ "kernel.interfaces", "lo\n" },
		{ "kernel.cgroup.pids", "32\n" },
		{ "kernel.cgroup.memory", "134217728\n" },
		{ "kernel.cgroup.memory-swap", "134217728\n" },
		{ "kernel.cgroup.swap", "" },
		{ "kernel.descriptors", "0 1 2" },
	};
	cleanup_recorded struct recorded recorded;
	cleanup_free struct taken *taken = calloc(1, sizeof(*taken));

	recorded_open(&recorded, "reference");
	project(&recorded, taken);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!value_is(taken, rows[i].field, rows[i].text))
			fprintf(stderr, "%s is not as expected\n", rows[i].field);
		CU_ASSERT_TRUE(value_is(taken, rows[i].field, rows[i].text));
	}
}

static void test_two_containers_are_equal(void)
{
	cleanup_recorded struct recorded reference, again;
	cleanup_free struct taken *one = calloc(1, sizeof(*one)), *other = calloc(1, sizeof(*other));

	recorded_open(&reference, "reference");
	recorded_open(&again, "again");
	CU_ASSERT_STRING_NOT_EQUAL(reference.container_id, again.container_id);
	project(&reference, one);
	project(&again, other);
	CU_ASSERT_TRUE(same(one, other));
}

static bool matches(const char *pattern, const char *field)
{
	size_t length = strlen(pattern);

	if (length && pattern[length - 1] == '*')
		return strncmp(pattern, field, length - 1) == 0;
	return strcmp(pattern, field) == 0;
}

/* Each field that differs is one that the mutation names, and each one that it names differs. */
static void test_mutants_differ_as_declared(void)
{
	static const struct mutation *const recorded_ones[] = { &mutation_network, &mutation_network_bridge,
								&mutation_read_only, &mutation_log_driver };
	cleanup_recorded struct recorded reference;
	cleanup_free struct taken *control = calloc(1, sizeof(*control)), *mutant = calloc(1, sizeof(*mutant));

	recorded_open(&reference, "reference");
	project(&reference, control);
	for (size_t i = 0; i < ARRAY_SIZE(recorded_ones); i++) {
		const char *const *patterns = recorded_ones[i]->may_differ;
		cleanup_recorded struct recorded recorded;
		size_t patterns_count = 0, hit[8] = { 0 };

		recorded_open(&recorded, recorded_ones[i]->id);
		project(&recorded, mutant);
		CU_ASSERT_EQUAL(control->count, mutant->count);
		while (patterns[patterns_count])
			patterns_count++;
		CU_ASSERT_TRUE(patterns_count <= ARRAY_SIZE(hit));
		for (size_t field = 0; field < mutant->count; field++) {
			const char *before = value_of(control, mutant->rows[field].field);
			bool named = before && strcmp(before, mutant->rows[field].sha256) == 0;

			for (size_t p = 0; !named && p < patterns_count; p++) {
				named = matches(patterns[p], mutant->rows[field].field);
				hit[p] += named;
			}
			if (!named)
				fprintf(stderr, "%s: %s differs\n", recorded_ones[i]->id, mutant->rows[field].field);
			CU_ASSERT_TRUE(named);
		}
		for (size_t p = 0; p < patterns_count; p++)
			CU_ASSERT_TRUE(hit[p] > 0);
	}
}

static void test_volatile_members_do_not_count(void)
{
	static const struct {
		const char *path, *value;
	} rows[] = {
		{ "Id", "\"0\"" },
		{ "Name", "\"/other\"" },
		{ "Created", "\"2001-01-01T00:00:00Z\"" },
		{ "State.Pid", "1" },
		{ "Config.Hostname", "\"other\"" },
		{ "HostnamePath", "\"/other\"" },
		{ "GraphDriver.Data", "{}" },
		{ "LogPath", "\"/other\"" },
		{ "NetworkSettings.SandboxKey", "\"x\"" },
		{ "NetworkSettings.Networks.none.EndpointID", "\"x\"" },
		{ "Config.Labels", "{\"harness.role\":\"control\",\"harness.run\":\"other\"}" },
	};
	cleanup_recorded struct recorded recorded;
	cleanup_free struct taken *one = calloc(1, sizeof(*one)), *other = calloc(1, sizeof(*other));

	recorded_open(&recorded, "reference");
	project(&recorded, one);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fixture_weaken(&recorded.inspect, rows[i].path, rows[i].value);
		fixture_view(&recorded);
		project(&recorded, other);
		CU_ASSERT_TRUE(same(one, other));
	}
}

static void test_each_difference_counts(void)
{
	static const struct {
		const char *path, *value, *field;
	} rows[] = {
		{ "HostConfig.CpusetCpus", "\"0\"", "inspect.HostConfig.CpusetCpus" },
		{ "HostConfig.RestartPolicy.Name", "\"always\"", "inspect.HostConfig.RestartPolicy.Name" },
		{ "Config.Env", "[\"A=B\"]", "inspect.Config.Env" },
		{ "Config.Labels.extra", "\"x\"", "inspect.Config.Labels" },
		{ "AppArmorProfile", "\"docker-default\"", "inspect.AppArmorProfile" },
		{ "NetworkSettings.Networks.bridge", "{}", "inspect.NetworkSettings.Networks" },
		{ "Mounts", "[{\"Type\":\"bind\",\"Destination\":\"/x\",\"RW\":true}]", "inspect.Mounts" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_recorded struct recorded recorded;
		cleanup_free struct taken *one = calloc(1, sizeof(*one)), *other = calloc(1, sizeof(*other));
		size_t differ = 0;

		recorded_open(&recorded, "reference");
		project(&recorded, one);
		fixture_weaken(&recorded.inspect, rows[i].path, rows[i].value);
		fixture_view(&recorded);
		project(&recorded, other);
		CU_ASSERT_EQUAL(one->count, other->count);
		for (size_t field = 0; field < one->count; field++) {
			if (strcmp(one->rows[field].sha256, other->rows[field].sha256) == 0)
				continue;
			CU_ASSERT_STRING_EQUAL(one->rows[field].field, rows[i].field);
			differ++;
		}
		CU_ASSERT_EQUAL(differ, 1);
	}
}

/* A member that nothing here knows is still a field, whatever number it holds. */
static void test_unknown_members(void)
{
	cleanup_recorded struct recorded recorded;
	cleanup_free struct taken *taken = calloc(1, sizeof(*taken));

	recorded_open(&recorded, "reference");
	fixture_weaken(&recorded.inspect, "HostConfig.Fraction", "1.50");
	fixture_weaken(&recorded.inspect, "HostConfig.Large", "{\"n\":18446744073709551616}");
	fixture_view(&recorded);
	project(&recorded, taken);
	CU_ASSERT_TRUE(value_is(taken, "inspect.HostConfig.Fraction", "1.50"));
	CU_ASSERT_TRUE(value_is(taken, "inspect.HostConfig.Large", "{\"n\":18446744073709551616}"));
}

static void test_unusual_names(void)
{
	cleanup_recorded struct recorded recorded;
	cleanup_free struct taken *taken = calloc(1, sizeof(*taken));
	struct error *err = NULL;

	recorded_open(&recorded, "reference");
	fixture_weaken(&recorded.inspect, "HostConfig.a/b", "1");
	fixture_view(&recorded);
	CU_ASSERT_TRUE(admission_project(&recorded.declared, &recorded.effective, take, taken, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_INPUT, "unusual name"));
}

static void test_mounts(void)
{
	static const struct {
		const char *text, *value;
	} rows[] = {
		{ "1 0 0:1 / / ro,relatime master:2 - overlay overlay rw,x\n2 1 0:2 / /a rw shared:1 master:2 - tmpfs "
		  "t rw\n",
		  "/ ro overlay\n/a rw tmpfs\n" },
		{ "9 8 0:9 /x /b rw - tmpfs t rw\n7 6 0:7 /y /a ro - proc p rw\n", "/a ro proc\n/b rw tmpfs\n" },
		{ "1 0 0:1 / / root - overlay overlay rw\n", "/ rw overlay\n" },
		{ "", "" },
		{ "1 0 0:1 / / ro,relatime overlay\n", NULL },
		{ "1 0 0:1 / /\n", NULL },
		{ "1 0 0:1 / / ro -\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_recorded struct recorded recorded;
		cleanup_free struct taken *taken = calloc(1, sizeof(*taken));
		struct error *err = NULL;
		int r;

		recorded_open(&recorded, "reference");
		recorded.effective.mountinfo = rows[i].text;
		r = admission_project(&recorded.declared, &recorded.effective, take, taken, &err);
		if (rows[i].value) {
			CU_ASSERT_EQUAL(r, 0);
			CU_ASSERT_TRUE(test_no_error(&err));
			CU_ASSERT_TRUE(value_is(taken, "kernel.mounts", rows[i].value));
		} else {
			CU_ASSERT_TRUE(r < 0 && test_error(&err, ERROR_INPUT, "list of mounts"));
		}
	}
}

static int refuse(void *context, const char *field, const char *sha256, struct error **err)
{
	size_t *count = context;

	(void)field;
	(void)sha256;
	return ++*count == 3 ? error_set(err, ERROR_LIMIT, "enough") : 0;
}

static void test_error_of_the_taker(void)
{
	cleanup_recorded struct recorded recorded;
	struct error *err = NULL;
	size_t count = 0;

	recorded_open(&recorded, "reference");
	CU_ASSERT_TRUE(admission_project(&recorded.declared, &recorded.effective, refuse, &count, &err) < 0);
	CU_ASSERT_TRUE(test_error(&err, ERROR_LIMIT, "enough"));
	CU_ASSERT_EQUAL(count, 3);
}

/* Before the start there is nothing to ask the kernel about. */
static void test_without_a_process(void)
{
	cleanup_recorded struct recorded recorded;
	cleanup_free struct taken *taken = calloc(1, sizeof(*taken));
	struct error *err = NULL;

	recorded_open(&recorded, "reference");
	CU_ASSERT_EQUAL(admission_project(&recorded.declared, NULL, take, taken, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	CU_ASSERT_PTR_NOT_NULL(value_of(taken, "inspect.Driver"));
	CU_ASSERT_PTR_NULL(value_of(taken, "kernel.uid"));
}

static CU_TestInfo tests[] = {
	{ "names of fields", test_form },
	{ "values", test_values },
	{ "two containers of one profile are equal", test_two_containers_are_equal },
	{ "mutants differ exactly as declared", test_mutants_differ_as_declared },
	{ "volatile members do not count", test_volatile_members_do_not_count },
	{ "each difference counts", test_each_difference_counts },
	{ "members that nothing knows", test_unknown_members },
	{ "members with unusual names", test_unusual_names },
	{ "mounts", test_mounts },
	{ "an error of the taker", test_error_of_the_taker },
	{ "without a process", test_without_a_process },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "projection", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("admission_project", suites);
}
