#include "observers/process_look.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"

#define STATUS_BYTES (16 * KIB)
#define HEXADECIMAL 16

static bool count_descriptors(int process, int64_t *out)
{
	cleanup_fd int folder = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *list = folder < 0 ? NULL : fdopendir(folder);
	const struct dirent *entry;

	if (!list)
		return false;
	(void)steal_fd(&folder);
	*out = 0;
	while ((entry = readdir(list)))
		*out += entry->d_name[0] != '.';
	return true;
}

static bool read_ignored(int process, int64_t *out)
{
	cleanup_error struct error *unread = NULL;
	cleanup_buf struct buf text = BUF(STATUS_BYTES);
	const char *line;

	if (fd_read_file(process, "status", STATUS_BYTES, &text, &unread) < 0)
		return false;
	line = strstr(buf_string(&text), "\nSigIgn:\t");
	if (!line)
		return false;
	*out = (int64_t)((strtoull(line + strlen("\nSigIgn:\t"), NULL, HEXADECIMAL) >> (SIGTERM - 1)) & 1);
	return true;
}

bool process_look(int process, struct process_look *out)
{
	struct process_look look = { .seen = true };

	if (!count_descriptors(process, &look.descriptors) || !read_ignored(process, &look.ignores_term))
		return false;
	*out = look;
	return true;
}
