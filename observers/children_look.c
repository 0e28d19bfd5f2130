#include "observers/children_look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "core/limits.h"
#include "core/proc.h"

#define STAT_BYTES (4 * KIB)
#define LIST_BYTES (64 * KIB)
#define PATH_BYTES 64
#define DECIMAL 10

/* Adds the pids of a list of them, "12 34 ": false when there are more than fit. */
static bool add_pids(const char *text, pid_t *out, size_t max, size_t *count)
{
	char *end;

	for (const char *at = text;; at = end) {
		long pid = strtol(at, &end, DECIMAL);

		if (end == at)
			return true;
		if (*count == max)
			return false;
		out[(*count)++] = (pid_t)pid;
	}
}

/* Each thread has a list of its own. */
int children_list(int process, pid_t *out, size_t max)
{
	cleanup_fd int folder = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *list = folder < 0 ? NULL : fdopendir(folder);
	const struct dirent *entry;
	size_t count = 0;
	bool any = false;

	if (!list)
		return -1;
	(void)steal_fd(&folder);
	while ((entry = readdir(list))) {
		cleanup_error struct error *unread = NULL;
		cleanup_buf struct buf text = BUF(LIST_BYTES);
		char path[PATH_BYTES];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.20s/children", entry->d_name);
		if (fd_read_file(dirfd(list), path, LIST_BYTES, &text, &unread) < 0) {
			/* A thread may end meanwhile; its children are another's then. */
			if (error_number(unread) == ENOENT && any)
				continue;
			return -1;
		}
		any = true;
		if (!add_pids(buf_string(&text), out, max, &count))
			return -1;
	}
	return any ? (int)count : -1;
}

bool child_identify(int process, struct child_id *out)
{
	cleanup_buf struct buf text = BUF(STAT_BYTES);
	cleanup_error struct error *gone = NULL;
	const char *at;
	char state;

	if (process < 0 || fd_read_file(process, "stat", STAT_BYTES, &text, &gone) < 0)
		return false;
	out->pid = (pid_t)strtol(buf_string(&text), NULL, DECIMAL);
	/* Fields 3 and 22, behind the program's name, which may hold anything. */
	at = strrchr(buf_string(&text), ')');
	if (!at || at[1] != ' ')
		return false;
	at += 2;
	state = *at;
	for (unsigned field = 3; field < 22; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
	}
	out->born = strtoull(at, NULL, DECIMAL);
	return out->pid > 0 && state != 'Z' && state != 'X';
}

static bool count_descriptors(int process, int64_t *out)
{
	cleanup_fd int folder = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *list = folder < 0 ? NULL : fdopendir(folder);
	const struct dirent *entry;

	if (!list)
		return false;
	(void)steal_fd(&folder);
	*out = 0;
	errno = 0;
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, DECIMAL) > CHILD_DESCRIPTOR_LAST)
			(*out)++;
	return errno == 0;
}

/* Texts that end in a NUL, or in the end; empty ones are none. */
static int64_t count_texts(const char *bytes, size_t length)
{
	int64_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += bytes[i] != '\0' && (i + 1 == length || bytes[i + 1] == '\0');
	return count;
}

static bool read_all(int process, struct child_look *out)
{
	cleanup_error struct error *unread = NULL;

	buf_wipe(&out->text);
	if (fd_read_file(process, "environ", CHILD_TEXT_BYTES, &out->text, &unread) < 0)
		return false;
	out->environment = count_texts(buf_string(&out->text), out->text.length);
	buf_add(&out->text, "", 1);
	return fd_read_file(process, "cmdline", CHILD_TEXT_BYTES, &out->text, &unread) == 0 && !out->text.failed &&
	       count_descriptors(process, &out->descriptors);
}

/* Alive behind the reading as well: a dead process has an environment of no bytes. */
bool child_look_at(int process, struct child_look *out)
{
	struct child_id after;

	return child_identify(process, &out->id) && read_all(process, out) && child_identify(process, &after);
}

bool child_look(pid_t pid, pid_t parent, struct child_look *out)
{
	char path[PATH_BYTES];
	cleanup_fd int process = -1;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return proc_parent(process) == parent && child_look_at(process, out);
}

bool child_runs(pid_t pid, int program)
{
	char path[PATH_BYTES];
	cleanup_fd int exe = -1;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	exe = open(path, O_RDONLY | O_CLOEXEC);
	return fd_same(exe, program);
}
