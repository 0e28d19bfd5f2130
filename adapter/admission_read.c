/* Reads what the kernel says of a process, below one descriptor of its folder in /proc. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "adapter/admission_rules.h"
#include "core/fd.h"

#define SMALL_BYTES (64 * KIB)
#define MOUNTS_BYTES MIB
#define DESCRIPTORS_SHOWN 64

enum { FILE_STATUS, FILE_LIMITS, FILE_CGROUP, FILE_NET_DEV, FILE_MOUNTINFO, FILES };
enum { VALUE_PIDS, VALUE_MEMORY, VALUE_MEMORY_SWAP, VALUE_SWAP, VALUES };

struct admission_effective_files {
	struct buf texts[FILES];
	struct buf values[VALUES];
	struct buf descriptors;
	struct admission_effective view;
};

struct source {
	const char *path;
	size_t max;
};

/* A file of a cgroup: the first row of a value that is there gives it. */
struct value {
	size_t value;
	bool of_memory; /* in the folder that limits memory, not in that of processes */
	const char *path;
};
static const struct source files_read[FILES];
static const struct value values_read[];
static const size_t values_read_count;
static const char *const namespaces_read[];
static const size_t namespaces_read_count;

static int compare_numbers(const void *one, const void *other)
{
	int a = *(const int *)one, b = *(const int *)other;

	return (a > b) - (a < b);
}

/* A descriptor's number; -1 when the name is none. */
static int descriptor_number(const char *name)
{
	int number = 0;

	if (!*name || strlen(name) > 9)
		return -1;
	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return -1;
		number = number * 10 + (*name - '0');
	}
	return number;
}

/* The smallest of them, in order; a process with more than are shown has "..." at the end. */
static int read_descriptors(int proc, struct buf *out, struct error **err)
{
	cleanup_dir DIR *folder = NULL;
	int numbers[DESCRIPTORS_SHOWN], fd = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	size_t count = 0;
	bool more = false;

	folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (!folder) {
		int number = errno;

		fd_close(&fd);
		return error_errno(err, number, "the descriptors of the process");
	}
	for (errno = 0; (entry = readdir(folder)); errno = 0) {
		int number = descriptor_number(entry->d_name);

		if (number < 0)
			continue;
		more = count == DESCRIPTORS_SHOWN;
		if (more)
			break;
		numbers[count++] = number;
	}
	if (errno != 0)
		return error_errno(err, errno, "the descriptors of the process");
	qsort(numbers, count, sizeof(numbers[0]), compare_numbers);
	for (size_t i = 0; i < count; i++)
		(void)buf_printf(out, "%s%d", i ? " " : "", numbers[i]);
	(void)buf_text(out, more ? " ..." : "");
	return buf_check(out, "the descriptors of the process", err);
}

/* The inode tells namespaces apart: 0 where it cannot be had, which the rules refuse. */
static uint64_t namespace_inode(int proc, const char *name)
{
	struct stat info;
	char path[24];

	snprintf(path, sizeof(path), "ns/%s", name);
	return fstatat(proc, path, &info, 0) == 0 ? info.st_ino : 0;
}

static int read_namespaces(int proc, struct admission_effective *view, struct error **err)
{
	cleanup_fd int own = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (own < 0)
		return error_errno(err, errno, "/proc/self");
	for (size_t i = 0; i < namespaces_read_count; i++) {
		snprintf(view->namespaces[i].name, sizeof(view->namespaces[i].name), "%s", namespaces_read[i]);
		view->namespaces[i].own = namespace_inode(own, namespaces_read[i]);
		view->namespaces[i].theirs = namespace_inode(proc, namespaces_read[i]);
	}
	view->namespaces_count = namespaces_read_count;
	return 0;
}

static int read_texts(int proc, struct admission_effective_files *files, struct error **err)
{
	for (size_t i = 0; i < FILES; i++)
		if (fd_read_file(proc, files_read[i].path, files_read[i].max, &files->texts[i], err) < 0)
			return error_wrap(err, "/proc of the container's process");
	return 0;
}

static void read_values(const struct admission_sources *sources, struct admission_effective_files *files)
{
	for (size_t i = 0; i < values_read_count; i++) {
		const struct value *from = &values_read[i];
		struct buf *to = &files->values[from->value];
		int folder = from->of_memory ? sources->memory : sources->pids;
		cleanup_error struct error *absent = NULL;

		if (folder >= 0 && to->length == 0 && fd_read_file(folder, from->path, SMALL_BYTES, to, &absent) < 0)
			to->length = 0;
	}
}

static void fill_view(struct admission_effective_files *files)
{
	files->view.status = buf_string(&files->texts[FILE_STATUS]);
	files->view.limits = buf_string(&files->texts[FILE_LIMITS]);
	files->view.cgroup = buf_string(&files->texts[FILE_CGROUP]);
	files->view.net_dev = buf_string(&files->texts[FILE_NET_DEV]);
	files->view.mountinfo = buf_string(&files->texts[FILE_MOUNTINFO]);
	files->view.descriptors = buf_string(&files->descriptors);
	files->view.pids_max = buf_string(&files->values[VALUE_PIDS]);
	files->view.memory_max = buf_string(&files->values[VALUE_MEMORY]);
	files->view.memory_swap_max = buf_string(&files->values[VALUE_MEMORY_SWAP]);
	files->view.swap_max = buf_string(&files->values[VALUE_SWAP]);
}

int admission_effective_read(const struct admission_sources *sources, struct admission_effective_files **out,
			     struct error **err)
{
	struct admission_effective_files *files = calloc(1, sizeof(*files));
	int r;

	if (!files)
		return error_set(err, ERROR_MEMORY, "memory for the process's files");
	for (size_t i = 0; i < FILES; i++)
		files->texts[i].max = files_read[i].max;
	for (size_t i = 0; i < VALUES; i++)
		files->values[i].max = SMALL_BYTES;
	files->descriptors.max = SMALL_BYTES;
	r = read_texts(sources->proc, files, err);
	if (r == 0)
		r = read_descriptors(sources->proc, &files->descriptors, err);
	if (r == 0)
		r = read_namespaces(sources->proc, &files->view, err);
	if (r < 0) {
		admission_effective_free(files);
		return r;
	}
	read_values(sources, files);
	fill_view(files);
	*out = files;
	return 0;
}

const struct admission_effective *admission_effective_view(struct admission_effective_files *files,
							   const struct profile *profile, const char *container_id)
{
	if (!files)
		return NULL;
	files->view.profile = profile;
	files->view.container_id = container_id;
	return &files->view;
}

void admission_effective_free(struct admission_effective_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < FILES; i++)
		buf_free(&files->texts[i]);
	for (size_t i = 0; i < VALUES; i++)
		buf_free(&files->values[i]);
	buf_free(&files->descriptors);
	free(files);
}

static const struct source files_read[FILES] = {
	[FILE_STATUS] = { .path = "status", .max = SMALL_BYTES },
	[FILE_LIMITS] = { .path = "limits", .max = SMALL_BYTES },
	[FILE_CGROUP] = { .path = "cgroup", .max = SMALL_BYTES },
	[FILE_NET_DEV] = { .path = "net/dev", .max = SMALL_BYTES },
	[FILE_MOUNTINFO] = { .path = "mountinfo", .max = MOUNTS_BYTES },
};

static const struct value values_read[] = {
	{ VALUE_PIDS, .path = "pids.max" },
	{ VALUE_MEMORY, .of_memory = true, .path = "memory.limit_in_bytes" },
	{ VALUE_MEMORY, .of_memory = true, .path = "memory.max" },
	{ VALUE_MEMORY_SWAP, .of_memory = true, .path = "memory.memsw.limit_in_bytes" },
	{ VALUE_SWAP, .of_memory = true, .path = "memory.swap.max" },
};
static const size_t values_read_count = ARRAY_SIZE(values_read);

static const char *const namespaces_read[] = { "net", "ipc", "uts", "pid", "mnt", "cgroup", "user" };
static const size_t namespaces_read_count = ARRAY_SIZE(namespaces_read);
