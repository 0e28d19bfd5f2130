#include "observers/engine_io.h"

#include <fcntl.h>
#include <stdio.h>

#include "core/fd.h"
#include "core/limits.h"
#include "core/proc.h"
#include "observers/number.h"

#define FILE_BYTES (16 * KIB)
#define SHIM "containerd-shim"
#define TRIES 4

/* What it wrote so far, or -1. */
static int64_t bytes_of(int process)
{
	cleanup_error struct error *unread = NULL;
	cleanup_buf struct buf text = BUF(FILE_BYTES);
	int64_t written = -1;

	if (fd_read_file(process, "io", FILE_BYTES, &text, &unread) < 0 ||
	    !number_in(buf_string(&text), "wchar:", &written))
		return -1;
	return written;
}

/* The number of the parent is read once more behind its folder: until then it was no other's. */
static int open_parent(int process)
{
	pid_t parent = proc_parent(process);
	cleanup_fd int folder = -1;
	char path[32];

	if (parent <= 0)
		return -1;
	snprintf(path, sizeof(path), "../%d", (int)parent);
	folder = openat(process, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || proc_parent(process) != parent || !proc_named(folder, SHIM))
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
