/* The effective half of admission: recorded texts of /proc, one weakened copy for each rule, and the reading of them.
 */
#include "adapter/admission.h"
#include "tests/unit/admission_fixture.h"

/* One change of a text that exactly one rule must refuse. */
struct weakened {
	const char *rule;
	enum recorded_text text;
	const char *old;
	const char *with;
};
static const struct weakened weakened[];
static const size_t weakened_count;

/* "cgroup" and "user" are read for the difference between arms, and no rule is about them. */
static const struct {
	const char *rule, *name;
} namespace_rules[] = {
	{ "ns-net", "net" }, { "ns-ipc", "ipc" }, { "ns-uts", "uts" }, { "ns-pid", "pid" }, { "ns-mnt", "mnt" },
};

static const char *const nothing[] = { NULL };

static void refused(const struct recorded *recorded, const char *what, const char *const *rules)
{
	struct rule_set failed = { { 0 } };

	admission_effective(&recorded->effective, &failed);
	CU_ASSERT_TRUE(failed_exactly(what, &failed, rules));
}

static void test_reference_is_admitted(void)
{
	static const char *const names[] = { "reference", "again" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_recorded struct recorded recorded;

		recorded_open(&recorded, names[i]);
		CU_ASSERT_EQUAL(recorded.effective.namespaces_count, 7);
		refused(&recorded, names[i], nothing);
	}
}

static void test_each_weakened_copy(void)
{
	for (size_t i = 0; i < weakened_count; i++) {
		const char *const only[] = { weakened[i].rule, NULL };
		cleanup_recorded struct recorded recorded;
		char what[64];

		recorded_open(&recorded, "reference");
		fixture_replace(&recorded.texts[weakened[i].text], weakened[i].old, weakened[i].with);
		fixture_view(&recorded);
		snprintf(what, sizeof(what), "row %zu, %s", i, weakened[i].rule);
		refused(&recorded, what, only);
	}
}

static void test_namespaces(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(namespace_rules); i++) {
		const char *const only[] = { namespace_rules[i].rule, NULL };
		cleanup_recorded struct recorded recorded;

		recorded_open(&recorded, "reference");
		for (size_t n = 0; n < recorded.effective.namespaces_count; n++) {
			if (strcmp(recorded.effective.namespaces[n].name, namespace_rules[i].name) != 0)
				continue;
			recorded.effective.namespaces[n].theirs = recorded.effective.namespaces[n].own;
			refused(&recorded, "ours", only);
			recorded.effective.namespaces[n].theirs = 0;
			refused(&recorded, "unreadable", only);
			recorded.effective.namespaces[n].theirs = 1;
			refused(&recorded, "another", nothing);
			recorded.effective.namespaces[n].own = 0;
			refused(&recorded, "ours unreadable", only);
			recorded.effective.namespaces[n].name[0] = '?';
			refused(&recorded, "absent", only);
		}
	}
}

static void test_every_rule_has_a_row(void)
{
	for (size_t rule = 0; rule < admission_rules(); rule++) {
		size_t rows = 0;

		if (admission_rule_half(rule) != ADMISSION_EFFECTIVE)
			continue;
		for (size_t i = 0; i < weakened_count; i++)
			rows += strcmp(weakened[i].rule, admission_rule_id(rule)) == 0;
		for (size_t i = 0; i < ARRAY_SIZE(namespace_rules); i++)
			rows += strcmp(namespace_rules[i].rule, admission_rule_id(rule)) == 0;
		if (rows == 0)
			fprintf(stderr, "no weakened copy for %s\n", admission_rule_id(rule));
		CU_ASSERT_TRUE(rows > 0);
	}
}

/* Empty texts and none at all: every rule of the half refuses, and no other. */
static void test_nothing_known(void)
{
	const struct admission_effective views[] = {
		{ .profile = &profile_reference },
		{ .status = "",
		  .limits = "",
		  .cgroup = "",
		  .net_dev = "",
		  .mountinfo = "",
		  .descriptors = "",
		  .pids_max = "",
		  .memory_max = "",
		  .memory_swap_max = "",
		  .swap_max = "",
		  .container_id = "",
		  .profile = &profile_reference },
	};

	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		struct rule_set failed = { { 0 } };

		admission_effective(&views[i], &failed);
		for (size_t rule = 0; rule < admission_rules(); rule++)
			CU_ASSERT_EQUAL(rule_set_has(&failed, rule), admission_rule_half(rule) == ADMISSION_EFFECTIVE);
	}
}

static void test_root_is_never_admitted(void)
{
	static const char *const both[] = { "uid", "gid", "groups", NULL };
	struct profile profile = profile_reference;
	cleanup_recorded struct recorded recorded;

	profile.uid = 0;
	profile.gid = 0;
	recorded_open(&recorded, "reference");
	fixture_replace(&recorded.texts[TEXT_STATUS], "Uid:\t10001\t10001\t10001\t10001", "Uid:\t0\t0\t0\t0");
	fixture_replace(&recorded.texts[TEXT_STATUS], "Gid:\t10001\t10001\t10001\t10001", "Gid:\t0\t0\t0\t0");
	fixture_view(&recorded);
	recorded.effective.profile = &profile;
	refused(&recorded, "root", both);
}

static void test_cgroup_forms(void)
{
	static const struct {
		const char *text;
		bool admitted;
	} rows[] = {
		{ "0::/docker/abc\n", true },
		{ "0::/system.slice/docker-abc.scope\n", true },
		{ "0::/docker/other\n", false },
		{ "0::/\n", false },
		{ "4:memory:/docker/abc\n3:pids:/docker/abc\n0::/system.slice/containerd.service\n", true },
		{ "4:cpu,memory:/docker/abc\n3:pids:/docker/abc\n", true },
		{ "4:cpu,memory:/docker/other\n3:pids:/docker/abc\n", false },
		{ "4:memory:/docker/abc\n3:pids:/docker/other\n0::/docker/abc\n", false },
		{ "1:name=systemd:/docker/abc\n", false },
		{ "no cgroup at all\n", false },
		{ "", false },
	};
	static const char *const only[] = { "cgroup-path", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_recorded struct recorded recorded;

		recorded_open(&recorded, "reference");
		recorded.effective.container_id = "abc";
		recorded.effective.cgroup = rows[i].text;
		refused(&recorded, rows[i].text, rows[i].admitted ? nothing : only);
	}
}

static void test_groups_may_be_empty(void)
{
	cleanup_recorded struct recorded recorded;

	recorded_open(&recorded, "reference");
	fixture_replace(&recorded.texts[TEXT_STATUS], "Groups:\t10001 ", "Groups:\t ");
	fixture_view(&recorded);
	refused(&recorded, "no groups", nothing);
}

/* cgroup values and mounts as version 2 has them: one folder, swap alone, and its file system read-only. */
static void unify(struct recorded *recorded)
{
	struct buf *mounts = &recorded->texts[TEXT_MOUNTINFO];

	fixture_replace(&recorded->texts[TEXT_MEMORY_SWAP_MAX], "134217728\n", "");
	fixture_replace(&recorded->texts[TEXT_SWAP_MAX], "", "0\n");
	fixture_replace(mounts, " /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,mode=755",
			" /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate");
	fixture_view(recorded);
}

static void test_unified(void)
{
	static const struct weakened rows[] = {
		{ "", TEXT_SWAP_MAX, "0\n", "0\n" },
		{ "cgroup-pids", TEXT_PIDS_MAX, "32\n", "max\n" },
		{ "cgroup-memory", TEXT_MEMORY_MAX, "134217728\n", "max\n" },
		{ "cgroup-swap", TEXT_SWAP_MAX, "0\n", "max\n" },
		{ "cgroup-swap", TEXT_SWAP_MAX, "0\n", "134217728\n" },
		{ "cgroup-swap", TEXT_SWAP_MAX, "0\n", "" },
		{ "writable-mounts", TEXT_MOUNTINFO, " /sys/fs/cgroup ro,", " /sys/fs/cgroup rw," },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *const only[] = { rows[i].rule, NULL };
		cleanup_recorded struct recorded recorded;

		recorded_open(&recorded, "reference");
		unify(&recorded);
		fixture_replace(&recorded.texts[rows[i].text], rows[i].old, rows[i].with);
		fixture_view(&recorded);
		refused(&recorded, rows[i].with, rows[i].rule[0] ? only : nothing);
	}
}

/* ---- reading ---- */

static int open_self(void)
{
	return open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int read_of(int proc, int cgroup, struct admission_effective_files **out, struct error **err)
{
	const struct admission_sources sources = { .proc = proc, .pids = cgroup, .memory = cgroup };

	return admission_effective_read(&sources, out, err);
}

static void put_value(int folder, const char *name, const char *text)
{
	struct error *err = NULL;

	CU_ASSERT_EQUAL(fd_write_atomic(folder, name, text, strlen(text), 0600, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
}

/* The files of a cgroup, in a folder that stands for it. */
static void test_reads_a_cgroup(void)
{
	static const struct {
		const char *names[4], *expected[4];
	} rows[] = {
		{ { "pids.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "tasks" },
		  { "pids.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "" } },
		{ { "pids.max", "memory.max", "memory.swap.max", "pids.peak" },
		  { "pids.max", "memory.max", "", "memory.swap.max" } },
		{ { "pids", "memory", "memory.swap", "max" }, { "", "", "", "" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char path[] = "/tmp/harness-test-cgroup-XXXXXX";
		cleanup_fd int proc = open_self(), folder = -1;
		struct admission_effective_files *files = NULL;
		const struct admission_effective *view;
		struct error *err = NULL;

		CU_ASSERT_PTR_NOT_NULL(mkdtemp(path));
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (size_t name = 0; name < ARRAY_SIZE(rows[i].names); name++)
			put_value(folder, rows[i].names[name], rows[i].names[name]);
		CU_ASSERT_EQUAL(read_of(proc, folder, &files, &err), 0);
		CU_ASSERT_TRUE(test_no_error(&err));
		view = admission_effective_view(files, &profile_reference, "abc");
		if (view) {
			CU_ASSERT_STRING_EQUAL(view->pids_max, rows[i].expected[0]);
			CU_ASSERT_STRING_EQUAL(view->memory_max, rows[i].expected[1]);
			CU_ASSERT_STRING_EQUAL(view->memory_swap_max, rows[i].expected[2]);
			CU_ASSERT_STRING_EQUAL(view->swap_max, rows[i].expected[3]);
		}
		admission_effective_free(files);
		CU_ASSERT_EQUAL(fd_remove_tree(AT_FDCWD, path, &err), 0);
		CU_ASSERT_TRUE(test_no_error(&err));
	}
}

static void test_reads_a_process(void)
{
	static const char *const expected[] = { "net", "ipc", "uts", "pid", "mnt" };
	cleanup_fd int proc = open_self();
	struct admission_effective_files *files = NULL;
	const struct admission_effective *view;
	struct rule_set failed = { { 0 } };
	struct error *err = NULL;

	CU_ASSERT_EQUAL(read_of(proc, -1, &files, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	view = admission_effective_view(files, &profile_reference, "abc");
	if (!view) {
		CU_FAIL("no view");
		return;
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(view->status, "\nNoNewPrivs:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(view->limits, "Max core file size"));
	CU_ASSERT_PTR_NOT_NULL(strstr(view->net_dev, "lo:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(view->mountinfo, " - "));
	CU_ASSERT_PTR_NOT_NULL(strchr(view->cgroup, ':'));
	CU_ASSERT_EQUAL(strncmp(view->descriptors, "0 1 2 ", 6), 0);
	CU_ASSERT_STRING_EQUAL(view->pids_max, "");
	CU_ASSERT_STRING_EQUAL(view->container_id, "abc");
	CU_ASSERT_PTR_EQUAL(view->profile, &profile_reference);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		CU_ASSERT_STRING_EQUAL(view->namespaces[i].name, expected[i]);
		CU_ASSERT_TRUE(view->namespaces[i].own != 0 && view->namespaces[i].own == view->namespaces[i].theirs);
	}
	/* Our own process shares our namespaces, and is on no cgroup of that container. */
	admission_effective(view, &failed);
	for (size_t rule = 0; rule < admission_rules(); rule++)
		if (strncmp(admission_rule_id(rule), "ns-", 3) == 0 ||
		    strcmp(admission_rule_id(rule), "cgroup-path") == 0)
			CU_ASSERT_TRUE(rule_set_has(&failed, rule));
	admission_effective_free(files);
}

/* A process with very many descriptors is still read, and refused. */
static void test_reads_many_descriptors(void)
{
	int opened[80];
	cleanup_fd int proc = open_self();
	struct admission_effective_files *files = NULL;
	const struct admission_effective *view;
	struct error *err = NULL;
	size_t length;

	for (size_t i = 0; i < ARRAY_SIZE(opened); i++)
		opened[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(read_of(proc, -1, &files, &err), 0);
	CU_ASSERT_TRUE(test_no_error(&err));
	view = admission_effective_view(files, &profile_reference, "abc");
	length = view ? strlen(view->descriptors) : 0;
	CU_ASSERT_TRUE(view && length > 4 && strcmp(view->descriptors + length - 4, " ...") == 0);
	admission_effective_free(files);
	for (size_t i = 0; i < ARRAY_SIZE(opened); i++)
		fd_close(&opened[i]);
}

static void test_reads_no_process(void)
{
	cleanup_fd int folder = open("/dev", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct admission_effective_files *files = NULL;
	struct error *err = NULL;

	CU_ASSERT_TRUE(read_of(folder, -1, &files, &err) < 0);
	CU_ASSERT_PTR_NULL(files);
	CU_ASSERT_TRUE(test_error(&err, ERROR_SYSTEM, "/proc of the container's process"));
	CU_ASSERT_PTR_NULL(admission_effective_view(NULL, &profile_reference, "abc"));
	admission_effective_free(NULL);
}

static const struct weakened weakened[] = {
	{ "uid", TEXT_STATUS, "Uid:\t10001\t10001\t10001\t10001", "Uid:\t10001\t0\t10001\t10001" },
	{ "uid", TEXT_STATUS, "Uid:\t10001\t10001\t10001\t10001", "Uid:\t0\t10001\t10001\t10001" },
	{ "uid", TEXT_STATUS, "Uid:\t10001\t10001\t10001\t10001", "Uid:\t10001\t10001\t10001" },
	{ "uid", TEXT_STATUS, "Uid:\t10001\t10001\t10001\t10001", "Uid:\t100010\t10001\t10001\t10001" },
	{ "uid", TEXT_STATUS, "\nUid:", "\nEuid:" },
	{ "gid", TEXT_STATUS, "Gid:\t10001\t10001\t10001\t10001", "Gid:\t10001\t10001\t10001\t0" },
	{ "groups", TEXT_STATUS, "Groups:\t10001 ", "Groups:\t0 6 10001 " },
	{ "groups", TEXT_STATUS, "Groups:\t10001 ", "Groups:\t0 " },
	{ "capabilities", TEXT_STATUS, "CapInh:\t0000000000000000", "CapInh:\t0000000000000001" },
	{ "capabilities", TEXT_STATUS, "CapPrm:\t0000000000000000", "CapPrm:\t0000000000002000" },
	{ "capabilities", TEXT_STATUS, "CapEff:\t0000000000000000", "CapEff:\t8000000000000000" },
	{ "capabilities", TEXT_STATUS, "CapBnd:\t0000000000000000", "CapBnd:\t00000000a80425fb" },
	{ "capabilities", TEXT_STATUS, "CapAmb:\t0000000000000000", "CapAmb:\t0000000000000020" },
	{ "capabilities", TEXT_STATUS, "CapAmb:\t0000000000000000", "CapAmb:\t" },
	{ "no-new-privs", TEXT_STATUS, "NoNewPrivs:\t1", "NoNewPrivs:\t0" },
	{ "no-new-privs", TEXT_STATUS, "NoNewPrivs:\t1", "NoNewPrivs:\t" },
	{ "seccomp", TEXT_STATUS, "Seccomp:\t2", "Seccomp:\t0" },
	{ "seccomp", TEXT_STATUS, "Seccomp:\t2", "Seccomp:\t1" },
	{ "seccomp", TEXT_STATUS, "Seccomp:\t2", "Seccomp:\t22" },
	{ "interfaces", TEXT_NET_DEV, "    lo:", "  eth0: 0 0\n    lo:" },
	{ "interfaces", TEXT_NET_DEV, "    lo:", "  eth0:" },
	{ "interfaces", TEXT_NET_DEV, "    lo:", "    lo " },
	{ "interfaces", TEXT_NET_DEV, "    lo:", "   lo0:" },
	{ "core-limit", TEXT_LIMITS, "Max core file size        0                    0  ",
	  "Max core file size        0                    unlimited  " },
	{ "core-limit", TEXT_LIMITS, "Max core file size        0                    0  ",
	  "Max core file size        1                    1  " },
	{ "core-limit", TEXT_LIMITS, "Max core file size        0", "Max core file" },
	{ "descriptors", TEXT_DESCRIPTORS, "0 1 2", "0 1 2 3" },
	{ "descriptors", TEXT_DESCRIPTORS, "0 1 2", "0 1" },
	{ "descriptors", TEXT_DESCRIPTORS, "0 1 2", "" },
	{ "cgroup-path", TEXT_CGROUP, ":pids:/docker/", ":pids:/\n0::/" },
	{ "cgroup-path", TEXT_CGROUP, ":memory:/docker/", ":memory:/\n0::/" },
	{ "cgroup-pids", TEXT_PIDS_MAX, "32\n", "max\n" },
	{ "cgroup-pids", TEXT_PIDS_MAX, "32\n", "320\n" },
	{ "cgroup-pids", TEXT_PIDS_MAX, "32\n", "32" },
	{ "cgroup-pids", TEXT_PIDS_MAX, "32\n", "" },
	{ "cgroup-memory", TEXT_MEMORY_MAX, "134217728\n", "9223372036854771712\n" },
	{ "cgroup-memory", TEXT_MEMORY_MAX, "134217728\n", "134217728\n134217728\n" },
	{ "cgroup-memory", TEXT_MEMORY_MAX, "134217728\n", "" },
	{ "cgroup-swap", TEXT_MEMORY_SWAP_MAX, "134217728\n", "268435456\n" },
	{ "cgroup-swap", TEXT_MEMORY_SWAP_MAX, "134217728\n", "0\n" },
	{ "cgroup-swap", TEXT_MEMORY_SWAP_MAX, "134217728\n", "" },
	{ "cgroup-swap", TEXT_SWAP_MAX, "", "0\n" },
	{ "writable-mounts", TEXT_MOUNTINFO, " / / ro,", " / / rw," },
	{ "writable-mounts", TEXT_MOUNTINFO, " / / ro,", " / / rw,ro," },
	{ "writable-mounts", TEXT_MOUNTINFO, " / / ro,", " / /root ro," },
	{ "writable-mounts", TEXT_MOUNTINFO, " /sys ro,", " /sys rw," },
	{ "writable-mounts", TEXT_MOUNTINFO, " /sys/fs/cgroup/pids ro,", " /sys/fs/cgroup/pids rw," },
	{ "writable-mounts", TEXT_MOUNTINFO, " /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - tmpfs",
	  " /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - cgroup2" },
	{ "writable-mounts", TEXT_MOUNTINFO, " /etc/hosts ro,", " /etc/hosts rw," },
	{ "writable-mounts", TEXT_MOUNTINFO, " /proc/bus ro,", " /proc/bus rw," },
	{ "writable-mounts", TEXT_MOUNTINFO, " / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm",
	  " /host /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm" },
	{ "writable-mounts", TEXT_MOUNTINFO, " /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm",
	  " /dev/shm rw,nosuid,nodev,noexec,relatime - ext4 shm" },
	{ "writable-mounts", TEXT_MOUNTINFO, " /dev/shm rw,", " /dev/other rw," },
	{ "writable-mounts", TEXT_MOUNTINFO, " /dev/mqueue rw,", " /dev/mqueue ro," },
	{ "writable-mounts", TEXT_MOUNTINFO,
	  " /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw,gid=5,mode=620,ptmxmode=666\n",
	  " /dev/pts rw,nosuid,noexec,relatime - devpts devpts rw\n1 74 0:99 / /dev/pts rw - devpts devpts rw\n" },
	{ "writable-mounts", TEXT_MOUNTINFO, "0:43 /null /proc/keys", "0:99 /null /proc/keys" },
	{ "writable-mounts", TEXT_MOUNTINFO, "0:43 /null /proc/keys", "0:43 /zero /proc/keys" },
	{ "writable-mounts", TEXT_MOUNTINFO, "0:43 /null /proc/keys", "0:43 /null /export" },
	{ "writable-mounts", TEXT_MOUNTINFO, "0:43 /null /proc/keys", "0:43 /null /procedure/keys" },
	{ "writable-mounts", TEXT_MOUNTINFO, "/proc/acpi ro,relatime - tmpfs", "/proc/acpi ro,relatime tmpfs" },
	{ "proc-sys", TEXT_MOUNTINFO, " /proc/sys ro,", " /proc/system ro," },
};
static const size_t weakened_count = ARRAY_SIZE(weakened);

static CU_TestInfo rule_tests[] = {
	{ "the reference profile, twice", test_reference_is_admitted },
	{ "each weakened copy by exactly its rule", test_each_weakened_copy },
	{ "namespaces that are ours or unknown", test_namespaces },
	{ "every rule has a weakened copy", test_every_rule_has_a_row },
	{ "nothing is known", test_nothing_known },
	{ "root, even where a profile says so", test_root_is_never_admitted },
	{ "cgroups of either version", test_cgroup_forms },
	{ "no groups at all", test_groups_may_be_empty },
	{ "cgroup version 2", test_unified },
	CU_TEST_INFO_NULL,
};

static CU_TestInfo read_tests[] = {
	{ "a process", test_reads_a_process },
	{ "a cgroup of either version", test_reads_a_cgroup },
	{ "a process with many descriptors", test_reads_many_descriptors },
	{ "what is no process", test_reads_no_process },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "rules", NULL, NULL, NULL, NULL, rule_tests },
	{ "reading", NULL, NULL, NULL, NULL, read_tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("admission_effective", suites);
}
