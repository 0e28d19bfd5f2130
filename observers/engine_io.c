#include "observers/engine_io.h"

#include <ctype.h>
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

static int64_t bytes_of(int process)
{
	return read_number(process, "io", "wchar:");
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
	*io = ENGINE_IO_NONE;
	io->process = fcntl(process, F_DUPFD_CLOEXEC, 0);
	io->shim = open_parent(process);
	io->process_base = bytes_of(process);
	io->shim_base = bytes_of(io->shim);
	if (io->process < 0 || io->shim < 0 || io->process_base < 0 || io->shim_base < 0) {
		engine_io_close(io);
		return false;
	}
	return true;
}

bool engine_io_opened(const struct engine_io *io)
{
	return io->shim >= 0;
}

/* A process that nobody waited for yet has its bytes itself; then they are its parent's. Read before and after, it
 * tells which of both they were in between. */
bool engine_io_look(struct engine_io *io, bool dead)
{
	for (int try = 0; try < TRIES && !io->final; try++) {
		int64_t before = bytes_of(io->process), shim = bytes_of(io->shim), after = bytes_of(io->process);

		if (shim < 0)
			return false;
		if (before >= 0 && after < 0)
			continue;
		io->written = shim - io->shim_base + (after < 0 ? 0 : after) - io->process_base;
		io->final = dead;
		break;
	}
	return true;
}

void engine_io_close(struct engine_io *io)
{
	fd_close(&io->process);
	fd_close(&io->shim);
}
