#include "core/proc.h"

#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"

#define STAT_BYTES (4 * KIB)
#define NAME_BYTES 64

pid_t proc_parent(int process)
{
	cleanup_buf struct buf text = BUF(STAT_BYTES);
	cleanup_error struct error *gone = NULL;
	const char *end;
	int parent = -1;

	if (process < 0 || fd_read_file(process, "stat", STAT_BYTES, &text, &gone) < 0)
		return -1;
	/* Field 4, behind the program's name, which may hold anything. */
	end = strrchr(buf_string(&text), ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

bool proc_named(int process, const char *name)
{
	cleanup_buf struct buf text = BUF(NAME_BYTES);
	cleanup_error struct error *gone = NULL;
	size_t length = strlen(name);

	return process >= 0 && fd_read_file(process, "comm", NAME_BYTES, &text, &gone) == 0 &&
	       text.length == length + 1 && memcmp(text.data, name, length) == 0 && text.data[length] == '\n';
}
