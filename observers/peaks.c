#include "observers/peaks.h"

#include "core/fd.h"
#include "observers/number.h"

#define FILE_BYTES (16 * KIB)

/* Where a counter stands: the file, and the key of its line, or NULL where the file is the number. */
struct counter_file {
	const char *file;
	const char *key;
};

/* The names differ between versions of cgroups and of the kernel: the first one that is there counts. */
struct peak_row {
	bool memory; /* in the memory's folder, else in that of the processes */
	struct counter_file files[4]; /* ended by .file = NULL */
};

static const struct peak_row rows[PEAKS];

static bool read_counter(int folder, const struct counter_file *files, int64_t *out)
{
	for (; files->file; files++) {
		cleanup_error struct error *absent = NULL;
		cleanup_buf struct buf text = BUF(FILE_BYTES);

		if (fd_read_file(folder, files->file, FILE_BYTES, &text, &absent) < 0)
			continue;
		return number_in(buf_string(&text), files->key, out);
	}
	return false;
}

static int folder_of(const struct peaks *peaks, enum peak peak)
{
	return rows[peak].memory ? peaks->memory : peaks->processes;
}

void peaks_read(struct peaks *peaks)
{
	for (enum peak peak = 0; peak < PEAKS; peak++) {
		int folder = folder_of(peaks, peak);
		int64_t value = 0;

		if (folder < 0 || !read_counter(folder, rows[peak].files, &value))
			continue;
		if (!peaks->values[peak].read || value > peaks->values[peak].value)
			peaks->values[peak].value = value;
		peaks->values[peak].read = true;
	}
}

enum wire_reason peaks_value(const struct peaks *peaks, enum peak peak, int64_t *value)
{
	*value = peaks->values[peak].value;
	if (peaks->values[peak].read)
		return WIRE_REASON_NONE;
	return folder_of(peaks, peak) < 0 ? WIRE_REASON_INPUT_MISSING : WIRE_REASON_INPUT_INVALID;
}

static const struct peak_row rows[PEAKS] = {
	[PEAK_PROCESSES] = { .files = { { .file = "pids.peak" }, { .file = "pids.current" } } },
	[PEAK_PROCESS_LIMIT] = { .files = { { .file = "pids.events", .key = "max" } } },
	[PEAK_MEMORY] = { .memory = true,
			  .files = { { .file = "memory.max_usage_in_bytes" },
				     { .file = "memory.peak" },
				     { .file = "memory.current" } } },
	[PEAK_OOM_KILLS] = { .memory = true,
			     .files = { { .file = "memory.oom_control", .key = "oom_kill" },
					{ .file = "memory.events", .key = "oom_kill" } } },
};
