/* Whole files and trees; declared in core/fd.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/fd.h"
#include "core/limits.h"

#define PATH_SHOWN 160
#define TREE_DEPTH 64
#define FILE_MS 30000 /* for a whole file: a slow disk, not a peer */

static int path_error(struct error **err, int number, const char *doing, const char *path)
{
	char shown[PATH_SHOWN];

	return error_errno(err, number, "%s %s", doing, error_safe(path, shown, sizeof(shown)));
}

int fd_read_file(int directory, const char *path, size_t max, struct buf *out, struct error **err)
{
	/* O_NONBLOCK so that a FIFO in the file's place cannot hold us up before fstat() sees it. */
	cleanup_fd int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char shown[PATH_SHOWN];
	size_t most = out->max;
	struct stat info;
	int r;

	if (fd < 0 || fstat(fd, &info) < 0)
		return path_error(err, errno, "reading", path);
	error_safe(path, shown, sizeof(shown));
	if (!S_ISREG(info.st_mode))
		return error_set(err, ERROR_INPUT, "%s: not a regular file", shown);
	if (max < out->max - out->length)
		out->max = out->length + max;
	r = fd_read_all(fd, out, clock_deadline(FILE_MS), err);
	out->max = most;
	return r < 0 ? error_wrap(err, "%s", shown) : 0;
}

/* The last component of `path`, without trailing slashes, to `name`; its folder to `folder` ("." when it has none). */
static int split_path(const char *path, char folder[PATH_MAX], char name[NAME_MAX + 1], struct error **err)
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/';)
		start--;
	if (end == start || end - start > NAME_MAX || start >= PATH_MAX)
		return path_error(err, end == start ? EINVAL : ENAMETOOLONG, "the path", path);
	memcpy(name, path + start, end - start);
	name[end - start] = '\0';
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return path_error(err, EINVAL, "the path", path);
	memcpy(folder, start > 0 ? path : ".", start > 0 ? start : 1);
	folder[start > 0 ? start : 1] = '\0';
	return 0;
}

static int sync_folder(int folder)
{
	if (fsync(folder) == 0 || errno == EINVAL || errno == EOPNOTSUPP)
		return 0;
	return -1;
}

/* Writes and syncs the temporary file, then gives it its name. An error names `path`, which the caller gave. */
static int write_beside(int folder, const char *temporary, const char *name, const char *path, const void *bytes,
			size_t length, unsigned mode, struct error **err)
{
	char shown[PATH_SHOWN];

	cleanup_fd int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return path_error(err, errno, "writing", path);
	r = fd_write_all(fd, bytes, length, clock_deadline(FILE_MS), err);
	if (r < 0)
		r = error_wrap(err, "%s", error_safe(path, shown, sizeof(shown)));
	if (r == 0 && (fchmod(fd, mode) < 0 || fsync(fd) < 0 || renameat(folder, temporary, folder, name) < 0))
		r = path_error(err, errno, "writing", path);
	if (r < 0)
		unlinkat(folder, temporary, 0);
	return r;
}

int fd_write_atomic(int directory, const char *path, const void *bytes, size_t length, unsigned mode,
		    struct error **err)
{
	char parent[PATH_MAX], name[NAME_MAX + 1], temporary[32];
	cleanup_fd int folder = -1;
	uint64_t random;
	int r = split_path(path, parent, name, err);

	if (r < 0)
		return r;
	folder = openat(directory, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return path_error(err, errno, "opening", parent);
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return error_errno(err, errno, "getrandom");
	snprintf(temporary, sizeof(temporary), ".tmp-%016llx", (unsigned long long)random);
	r = write_beside(folder, temporary, name, path, bytes, length, mode, err);
	if (r < 0)
		return r;
	return sync_folder(folder) < 0 ? path_error(err, errno, "syncing", parent) : 0;
}

static int remove_entry(int folder, const char *name, dev_t device, unsigned depth, struct error **err);

/* Empties the folder of `fd`, which it closes. Passes repeat until one finds nothing, since a removal may move what
 * readdir() has yet to show. */
static int empty_folder(int fd, dev_t device, unsigned depth, struct error **err)
{
	cleanup_dir DIR *stream = fdopendir(fd);
	bool found = true;

	if (!stream) {
		int number = errno;

		fd_close(&fd);
		return error_errno(err, number, "reading a folder");
	}
	while (found) {
		const struct dirent *entry;

		found = false;
		rewinddir(stream);
		for (errno = 0; (entry = readdir(stream)); errno = 0) {
			int r;

			if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
				continue;
			r = remove_entry(dirfd(stream), entry->d_name, device, depth, err);
			if (r < 0)
				return r;
			found = true;
		}
		if (errno != 0)
			return error_errno(err, errno, "reading a folder");
	}
	return 0;
}

/* Removes one entry, whatever it is; that it is not there is success. `device` 0 takes the entry's own. The names in
 * a tree may be an agent's, so that no message holds them. */
static int remove_entry(int folder, const char *name, dev_t device, unsigned depth, struct error **err)
{
	cleanup_fd int fd = -1;
	struct stat info;
	int r;

	if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(err, errno, "looking at an entry");
	if (!S_ISDIR(info.st_mode)) {
		if (unlinkat(folder, name, 0) < 0 && errno != ENOENT)
			return error_errno(err, errno, "removing an entry");
		return 0;
	}
	if (depth == TREE_DEPTH)
		return error_set(err, ERROR_LIMIT, "more than %d folders deep", TREE_DEPTH);
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "opening a folder");
	if (device != 0 && info.st_dev != device)
		return error_set(err, ERROR_REFUSED, "another file system is mounted in it");
	r = empty_folder(steal_fd(&fd), info.st_dev, depth + 1, err);
	if (r < 0)
		return r;
	if (unlinkat(folder, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return error_errno(err, errno, "removing a folder");
	return 0;
}

int fd_remove_tree(int directory, const char *path, struct error **err)
{
	char parent[PATH_MAX], name[NAME_MAX + 1], shown[PATH_SHOWN];
	cleanup_fd int folder = -1;
	int r = split_path(path, parent, name, err);

	if (r < 0)
		return r;
	folder = openat(directory, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return errno == ENOENT ? 0 : path_error(err, errno, "opening", parent);
	r = remove_entry(folder, name, 0, 0, err);
	return r < 0 ? error_wrap(err, "removing %s", error_safe(path, shown, sizeof(shown))) : 0;
}
