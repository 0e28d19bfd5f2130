/* Proportional set sizes: a page that N processes share counts for each of them as an Nth. */
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/bench/bench.h"

#define SAMPLE_MS 10
#define STEADY_SAMPLES 20
#define ARM_MS 60000
#define STAT_BYTES (4 * KIB)
#define TABLE_MAX 4096

struct parentage {
	pid_t pid, parent;
	char name[NAME_MAX_SHORT];
	bool ours;
};

/* "PID (NAME) STATE PARENT ...": the name may hold anything, so what follows is found from its last parenthesis. */
static bool parse_stat(const char *text, struct parentage *out)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	int parent;

	if (!open || !close || sscanf(close + 1, " %*c %d", &parent) != 1)
		return false;
	*out = (struct parentage){ .pid = (pid_t)strtol(text, NULL, 10), .parent = parent };
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(close - open - 1), open + 1);
	return true;
}

static size_t read_table(DIR *proc, struct parentage *table)
{
	const struct dirent *entry;
	size_t count = 0;

	rewinddir(proc);
	while (count < TABLE_MAX && (entry = readdir(proc))) {
		cleanup_buf struct buf text = BUF(STAT_BYTES);
		cleanup_error struct error *gone = NULL;
		char path[300];

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/stat", entry->d_name);
		if (fd_read_file(dirfd(proc), path, STAT_BYTES, &text, &gone) == 0 &&
		    parse_stat(buf_string(&text), &table[count]))
			count++;
	}
	return count;
}

/* A child has a later pid than its parent but where pids wrapped: repeated until nothing is added. */
static void mark_descendants(struct parentage *table, size_t count, pid_t root)
{
	for (bool grown = true; grown;) {
		grown = false;
		for (size_t i = 0; i < count; i++) {
			bool of_ours = table[i].pid == root;

			for (size_t p = 0; p < count && !of_ours; p++)
				of_ours = table[p].ours && table[p].pid == table[i].parent;
			if (of_ours && !table[i].ours)
				table[i].ours = grown = true;
		}
	}
}

static void read_sizes(DIR *proc, pid_t pid, struct memory_process *out)
{
	cleanup_buf struct buf text = BUF(STAT_BYTES);
	cleanup_error struct error *gone = NULL;
	const char *line;
	char path[48];

	out->kib = out->resident_kib = 0;
	snprintf(path, sizeof(path), "%d/smaps_rollup", (int)pid);
	if (fd_read_file(dirfd(proc), path, STAT_BYTES, &text, &gone) < 0)
		return;
	line = strstr(buf_string(&text), "\nPss:");
	out->kib = line ? strtoll(line + strlen("\nPss:"), NULL, 10) : 0;
	line = strstr(buf_string(&text), "\nRss:");
	out->resident_kib = line ? strtoll(line + strlen("\nRss:"), NULL, 10) : 0;
}

/* The program's whole name: the kernel's short one is cut. */
static void program_name(DIR *proc, const struct parentage *of, char out[NAME_MAX_SHORT])
{
	char path[48], target[PATH_MAX];
	const char *base = of->name;
	ssize_t length;

	snprintf(path, sizeof(path), "%d/exe", (int)of->pid);
	length = readlinkat(dirfd(proc), path, target, sizeof(target) - 1);
	if (length > 0) {
		target[length] = '\0';
		base = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	}
	snprintf(out, NAME_MAX_SHORT, "%.*s", NAME_MAX_SHORT - 1, base);
}

static int take_sample(DIR *proc, pid_t root, struct parentage *table, struct memory *out, struct error **err)
{
	size_t count = read_table(proc, table);

	*out = (struct memory){ .count = 0 };
	mark_descendants(table, count, root);
	for (size_t i = 0; i < count; i++) {
		struct memory_process *process;

		if (!table[i].ours)
			continue;
		if (out->count == MEMORY_PROCESSES_MAX)
			return error_set(err, ERROR_LIMIT, "an arm has too many processes");
		process = &out->processes[out->count++];
		process->pid = table[i].pid;
		program_name(proc, &table[i], process->name);
		read_sizes(proc, table[i].pid, process);
		out->kib += process->kib;
		out->resident_kib += process->resident_kib;
	}
	return 0;
}

static int open_table(struct parentage **table, DIR **proc, struct error **err)
{
	*table = calloc(TABLE_MAX, sizeof(**table));
	*proc = *table ? opendir("/proc") : NULL;
	return *proc ? 0 : error_set(err, ERROR_SYSTEM, "no memory for a table of processes, or no /proc");
}

int memory_of(pid_t root, struct memory *out, struct error **err)
{
	cleanup_free struct parentage *table = NULL;
	cleanup_dir DIR *proc = NULL;

	return open_table(&table, &proc, err) < 0 ? -1 : take_sample(proc, root, table, out, err);
}

static bool same_processes(const struct memory *one, const struct memory *other)
{
	bool watched = false;

	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++) {
		if (one->processes[i].pid != other->processes[i].pid)
			return false;
		watched = watched || strcmp(one->processes[i].name, "watchdog") == 0;
	}
	return watched;
}

/* Samples until the arm ends, or until nothing has come or gone for a while with the watchdog there: what is armed is
 * past its setting up, and an agent's work takes less than that while. */
static int watch(const struct measured *arm, bool until_steady, struct memory *last, int64_t *peak, struct error **err)
{
	cleanup_free struct parentage *table = NULL;
	cleanup_dir DIR *proc = NULL;
	int64_t deadline = clock_deadline(ARM_MS);
	int steady = 0, ready = 0;

	if (open_table(&table, &proc, err) < 0)
		return -1;
	*last = (struct memory){ .count = 0 };
	while (ready == 0 && (!until_steady || steady < STEADY_SAMPLES) && clock_now() < deadline) {
		struct memory now;

		if (take_sample(proc, arm->child.pid, table, &now, err) < 0)
			break;
		steady = same_processes(&now, last) ? steady + 1 : 0;
		*last = now;
		if (now.kib > *peak)
			*peak = now.kib;
		ready = fd_wait(arm->result, POLLIN, clock_deadline(SAMPLE_MS), err);
	}
	if (*err)
		return -1;
	if (until_steady && steady < STEADY_SAMPLES)
		return error_set(err, ERROR_TIMEOUT, "the arm did not come to its barrier");
	return 0;
}

static int sample_arm(const struct bench *bench, const struct scenario *scenario, struct memory *last, int64_t *peak,
		      struct error **err)
{
	static const char *const argv[] = { "harness", "arm", NULL };
	cleanup_buf struct buf input = BUF(ARM_INPUT_BYTES);
	cleanup_measured struct measured arm = { .child = CHILD_NONE, .result = -1, .lifeline = -1 };
	bool held = strcmp(scenario->ending, "hold") == 0;

	if (bench_input(bench, scenario, bench->run.image_inspect, &input, err) < 0 ||
	    measured_start(BENCH_HARNESS, argv, &input, held, &arm, err) < 0 || watch(&arm, held, last, peak, err) < 0)
		return -1;
	/* The arm ends in order when its runner goes. */
	if (held)
		fd_close(&arm.lifeline);
	return measured_finish(&arm, clock_deadline(ARM_MS), err);
}

int memory_of_arm(const struct bench *bench, struct memory *at_barrier, int64_t *peak_kib, struct error **err)
{
	cleanup_free struct scenario *held = calloc(1, sizeof(*held));
	struct memory ignored;
	int64_t peak = 0;

	if (!held)
		return error_set(err, ERROR_MEMORY, "no memory for a scenario");
	*held = *bench->baseline;
	snprintf(held->ending, sizeof(held->ending), "hold");
	*peak_kib = 0;
	if (sample_arm(bench, held, at_barrier, &peak, err) < 0 ||
	    sample_arm(bench, bench->baseline, &ignored, peak_kib, err) < 0)
		return error_wrap(err, "memory");
	return 0;
}
