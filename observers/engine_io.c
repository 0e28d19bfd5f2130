#include "observers/engine_io.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"

#define FILE_BYTES (16 * KIB)
#define SHIM "containerd-shim"
#define TRIES 4

/* "KEY NUMBER" at the start of a line of a file in this folder, or -1. */
static int64_t read_number(int folder, const char *file, const char *key)
{
	cleanup_error struct error *unread = NULL;
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	const char *line;

	if (fd_read_file(folder, file, FILE_BYTES, &text, &unread) < 0)
		return -1;
	for (line = buf_string(&text); line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, strlen(key)) == 0)
			break;
	}
	if (!line)
		return -1;
	line += strlen(key);
	line += strspn(line, " \t");
	return isdigit((unsigned char)*line) ? strtoll(line, NULL, 10) : -1;
}

static void close_list(DIR **list)
{
	if (*list)
		closedir(*list);
}

static int64_t all_bytes(int process)
{
	return read_number(process, "io", "wchar:");
}

static struct engine_io_thread *thread_of(struct engine_io *io, int64_t id)
{
	for (size_t i = 0; i < io->threads_count; i++)
		if (io->threads[i].id == id)
			return &io->threads[i];
	if (io->threads_count == ENGINE_IO_THREADS)
		return NULL;
	io->threads[io->threads_count] = (struct engine_io_thread){ .id = id };
	return &io->threads[io->threads_count++];
}

/* False: there are none, or too many. */
static bool read_threads(struct engine_io *io, bool first)
{
	cleanup_fd int folder = openat(io->shim, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__attribute__((cleanup(close_list))) DIR *list = folder < 0 ? NULL : fdopendir(folder);
	const struct dirent *entry;
	bool any = false;

	if (!list)
		return false;
	(void)steal_fd(&folder);
	while ((entry = readdir(list))) {
		char file[sizeof(entry->d_name) + 4];
		struct engine_io_thread *thread;
		int64_t bytes;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(file, sizeof(file), "%s/io", entry->d_name);
		bytes = read_number(dirfd(list), file, "wchar:");
		if (bytes < 0)
			continue;
		thread = thread_of(io, strtoll(entry->d_name, NULL, 10));
		if (!thread)
			return false;
		thread->last = bytes;
		if (first)
			thread->first = bytes;
		any = true;
	}
	return any;
}

/* The shim's own, by its threads: one that left keeps what it had when it was last seen, for the kernel counts it as it
 * counts what the children wrote. */
static int64_t own_bytes(const struct engine_io *io)
{
	int64_t sum = 0;

	for (size_t i = 0; i < io->threads_count; i++)
		sum += io->threads[i].last - io->threads[i].first;
	return sum;
}

/* The shim's figures of one moment: nothing was written while they were read. False: there was no such moment, or the
 * shim is gone, which sets *gone. */
static bool look_at_shim(struct engine_io *io, bool first, int64_t *all, bool *gone)
{
	for (int try = 0; try < TRIES; try++) {
		bool threads;

		*all = all_bytes(io->shim);
		threads = read_threads(io, first);
		*gone = *all < 0 || !threads;
		if (*gone)
			return false;
		if (all_bytes(io->shim) == *all)
			return true;
	}
	return false;
}

static bool is_shim(int folder)
{
	cleanup_error struct error *unread = NULL;
	cleanup_buf struct buf name = BUF(KIB);

	return fd_read_file(folder, "comm", KIB, &name, &unread) == 0 &&
	       strncmp(buf_string(&name), SHIM, strlen(SHIM)) == 0;
}

/* The number of the parent is read once more behind its folder: until then it was no other's. */
static int open_parent(int process)
{
	int64_t parent = read_number(process, "status", "PPid:");
	cleanup_fd int folder = -1;
	char path[32];

	if (parent <= 0)
		return -1;
	snprintf(path, sizeof(path), "../%lld", (long long)parent);
	folder = openat(process, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || read_number(process, "status", "PPid:") != parent || !is_shim(folder))
		return -1;
	return steal_fd(&folder);
}

bool engine_io_open(struct engine_io *io, int process)
{
	bool gone;

	*io = ENGINE_IO_NONE;
	io->process = fcntl(process, F_DUPFD_CLOEXEC, 0);
	io->shim = open_parent(process);
	io->process_base = all_bytes(process);
	if (io->process < 0 || io->shim < 0 || io->process_base < 0 || !look_at_shim(io, true, &io->shim_base, &gone)) {
		engine_io_close(io);
		return false;
	}
	return true;
}

bool engine_io_opened(const struct engine_io *io)
{
	return io->shim >= 0;
}

static void rise(int64_t *value, int64_t seen)
{
	if (seen > *value)
		*value = seen;
}

/* A process that nobody waited for yet still has its bytes; then its parent has them. */
bool engine_io_look(struct engine_io *io, bool dead)
{
	int64_t alive = all_bytes(io->process), all = 0;
	bool gone = false, seen = look_at_shim(io, false, &all, &gone);

	if (alive >= 0)
		rise(&io->written, alive - io->process_base);
	/* True also while it writes on: no less than this was streamed. */
	rise(&io->streamed, own_bytes(io));
	/* A shim whose threads have left is on its way out: it always tells the engine of an end. */
	seen = seen && own_bytes(io) > 0;
	io->drained |= dead && !gone && own_bytes(io) > 0;
	if (io->final || !dead || (alive < 0 && !seen))
		return !gone;
	if (alive < 0)
		rise(&io->written, all - io->shim_base - own_bytes(io) - io->process_base);
	io->final = true;
	return !gone;
}

void engine_io_close(struct engine_io *io)
{
	fd_close(&io->process);
	fd_close(&io->shim);
}
