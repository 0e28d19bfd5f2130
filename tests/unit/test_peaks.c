/* Counters of a cgroup, in the forms of both versions, made up in a folder. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"
#include "observers/peaks.h"
#include "tests/unit/test.h"

struct folder {
	char path[64];
	int fd;
};

static void folder_make(struct folder *folder)
{
	snprintf(folder->path, sizeof(folder->path), "/tmp/harness-peaks.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL(mkdtemp(folder->path));
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT(folder->fd >= 0);
}

static void put(const struct folder *folder, const char *name, const char *text)
{
	cleanup_fd int fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void folder_remove(struct folder *folder)
{
	static const char *const names[] = { "pids.peak",    "pids.current",       "pids.events",
					     "memory.peak",  "memory.oom_control", "memory.max_usage_in_bytes",
					     "memory.events" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlinkat(folder->fd, names[i], 0);
	CU_ASSERT_EQUAL(rmdir(folder->path), 0);
	fd_close(&folder->fd);
}

static void test_forms(void)
{
	static const struct {
		const char *file, *text;
		enum peak peak;
		int64_t value; /* -1: none */
	} rows[] = {
		{ "pids.peak", "33\n", PEAK_PROCESSES, 33 },
		{ "pids.current", "7\n", PEAK_PROCESSES, 7 },
		{ "pids.current", "max\n", PEAK_PROCESSES, -1 },
		{ "pids.current", "7 8\n", PEAK_PROCESSES, -1 },
		{ "pids.current", "-7\n", PEAK_PROCESSES, -1 },
		{ "pids.current", "99999999999999999999\n", PEAK_PROCESSES, -1 },
		{ "pids.events", "max 31\n", PEAK_PROCESS_LIMIT, 31 },
		{ "pids.events", "maximum 31\n", PEAK_PROCESS_LIMIT, -1 },
		{ "memory.peak", "4096\n", PEAK_MEMORY, 4096 },
		{ "memory.max_usage_in_bytes", "134217728\n", PEAK_MEMORY, 134217728 },
		{ "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", PEAK_OOM_KILLS, 1 },
		{ "memory.events", "low 0\nhigh 0\nmax 4\noom 2\noom_kill 2\noom_group_kill 0\n", PEAK_OOM_KILLS, 2 },
		{ "memory.events", "low 0\n", PEAK_OOM_KILLS, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct folder folder;
		struct peaks peaks;
		int64_t value = -1;
		enum wire_reason reason;

		folder_make(&folder);
		put(&folder, rows[i].file, rows[i].text);
		peaks = (struct peaks){ .processes = folder.fd, .memory = folder.fd };
		peaks_read(&peaks);
		reason = peaks_value(&peaks, rows[i].peak, &value);
		CU_ASSERT_EQUAL(reason, rows[i].value < 0 ? WIRE_REASON_INPUT_INVALID : WIRE_REASON_NONE);
		if (rows[i].value >= 0)
			CU_ASSERT_EQUAL(value, rows[i].value);
		folder_remove(&folder);
	}
}

/* A value that fell, or a file that went, takes nothing away from what was seen. */
static void test_kept(void)
{
	struct folder folder;
	struct peaks peaks;
	int64_t value = 0;

	folder_make(&folder);
	peaks = (struct peaks){ .processes = folder.fd, .memory = -1 };
	put(&folder, "pids.current", "9\n");
	peaks_read(&peaks);
	put(&folder, "pids.current", "3\n");
	peaks_read(&peaks);
	folder_remove(&folder);
	peaks.processes = -1;
	peaks_read(&peaks);
	CU_ASSERT_EQUAL(peaks_value(&peaks, PEAK_PROCESSES, &value), WIRE_REASON_NONE);
	CU_ASSERT_EQUAL(value, 9);
	CU_ASSERT_EQUAL(peaks_value(&peaks, PEAK_MEMORY, &value), WIRE_REASON_INPUT_MISSING);
}

static CU_TestInfo tests[] = {
	{ "forms", test_forms },
	{ "kept", test_kept },
	CU_TEST_INFO_NULL,
};

int main(void)
{
	CU_SuiteInfo suites[] = {
		{ .pName = "peaks", .pTests = tests },
		CU_SUITE_INFO_NULL,
	};

	return test_main("peaks", suites);
}
