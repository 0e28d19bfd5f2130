#include "observers/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "core/fd.h"

/* The most that the kernel gives of a list of attributes, or of a value. */
#define CHUNK_BYTES (64 * KIB)
#define HELD_PATH_BYTES 32

struct walk {
	const struct tree_visitor *visitor;
	void *context;
	struct tree_result *result;
	char *chunk;
	char *names; /* of attributes, as large as a chunk */
};

static void note(struct walk *walk, enum wire_reason reason)
{
	if (walk->result->reason == WIRE_REASON_NONE)
		walk->result->reason = reason;
}

/* Names an entry without opening it: a symbolic link is the link, another mount is EXDEV. */
static int take_hold(int folder, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* A name for what is held already, so that it cannot be exchanged for a pipe or a device in between. */
static void held_path(int held, char path[HELD_PATH_BYTES])
{
	snprintf(path, HELD_PATH_BYTES, "/proc/self/fd/%d", held);
}

static int reopen(int held)
{
	char path[HELD_PATH_BYTES];

	held_path(held, path);
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* A file that would pass the maximum is not begun: what is a limit anyway need not take time. */
static int read_content(struct walk *walk, int held, off_t size, struct error **err)
{
	cleanup_fd int fd = reopen(held);

	if (fd < 0 || (uint64_t)size > (uint64_t)OBSERVER_TREE_BYTES - walk->result->bytes) {
		note(walk, fd < 0 ? WIRE_REASON_INPUT_INVALID : WIRE_REASON_LIMIT);
		return 0;
	}
	for (;;) {
		uint64_t room = (uint64_t)OBSERVER_TREE_BYTES - walk->result->bytes;
		ssize_t got = read(fd, walk->chunk, CHUNK_BYTES);
		int status;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			note(walk, WIRE_REASON_INPUT_INVALID);
		if (got <= 0)
			return 0;
		if ((uint64_t)got > room) {
			note(walk, WIRE_REASON_LIMIT);
			return 0;
		}
		walk->result->bytes += (uint64_t)got;
		status = walk->visitor->data(walk->context, walk->chunk, (size_t)got, err);
		if (status)
			return status;
	}
}

/* Gives the name or value on, if there is room for it. */
static int give_attribute(struct walk *walk, const char *bytes, size_t length, struct error **err)
{
	if (length > (uint64_t)OBSERVER_TREE_BYTES - walk->result->bytes) {
		note(walk, WIRE_REASON_LIMIT);
		return 0;
	}
	walk->result->bytes += length;
	return walk->visitor->attribute(walk->context, bytes, length, err);
}

/* What can be neither listed nor read, other than what is gone or was never there, is not seen. */
static void note_attribute(struct walk *walk, int number)
{
	if (number != ENODATA && number != ENOENT && number != ENOTSUP)
		note(walk, number == ERANGE || number == E2BIG ? WIRE_REASON_LIMIT : WIRE_REASON_INPUT_INVALID);
}

static int read_attributes(struct walk *walk, int held, struct error **err)
{
	const char *name = walk->names, *end;
	char path[HELD_PATH_BYTES];
	ssize_t listed;
	int status = 0;

	held_path(held, path);
	listed = listxattr(path, walk->names, CHUNK_BYTES);
	if (listed < 0) {
		note_attribute(walk, errno);
		return 0;
	}
	for (end = name + listed; name < end && !status; name += strlen(name) + 1) {
		ssize_t got = getxattr(path, name, walk->chunk, CHUNK_BYTES);

		if (got < 0)
			note_attribute(walk, errno);
		status = give_attribute(walk, name, strlen(name), err);
		if (got >= 0 && !status)
			status = give_attribute(walk, walk->chunk, (size_t)got, err);
	}
	return status;
}

static int walk_folder(struct walk *walk, int folder, unsigned depth, struct error **err);

static int visit(struct walk *walk, int held, const char *name, unsigned depth, struct error **err)
{
	char link[PATH_MAX] = "";
	struct stat about;
	int status;

	if (fstat(held, &about) < 0)
		return error_errno(err, errno, "fstat");
	if (S_ISLNK(about.st_mode) && readlinkat(held, "", link, sizeof(link) - 1) < 0)
		note(walk, WIRE_REASON_INPUT_INVALID);
	status = walk->visitor->entry(walk->context, name, link, err);
	if (!status)
		status = read_attributes(walk, held, err);
	if (!status && S_ISREG(about.st_mode))
		status = read_content(walk, held, about.st_size, err);
	if (!status)
		status = walk->visitor->end(walk->context, err);
	if (!status && S_ISDIR(about.st_mode))
		status = walk_folder(walk, held, depth + 1, err);
	return status;
}

static int walk_entry(struct walk *walk, int folder, const char *name, unsigned depth, struct error **err)
{
	cleanup_fd int held = take_hold(folder, name);

	if (held < 0 && errno == EXDEV) {
		walk->result->skipped++;
		return 0;
	}
	/* A live agent may remove what was just listed. */
	if (held < 0) {
		if (errno != ENOENT)
			note(walk, WIRE_REASON_INPUT_INVALID);
		return 0;
	}
	return visit(walk, held, name, depth, err);
}

static int walk_folder(struct walk *walk, int folder, unsigned depth, struct error **err)
{
	cleanup_dir DIR *entries = NULL;
	cleanup_fd int fd = -1;
	int status = 0;

	if (depth > OBSERVER_TREE_DEPTH) {
		note(walk, WIRE_REASON_LIMIT);
		return 0;
	}
	fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	entries = fd >= 0 ? fdopendir(fd) : NULL;
	if (!entries) {
		note(walk, WIRE_REASON_INPUT_INVALID);
		return 0;
	}
	(void)steal_fd(&fd);
	while (!status) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(entries);
		if (!entry && errno)
			note(walk, WIRE_REASON_INPUT_INVALID);
		if (!entry)
			return 0;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (walk->result->entries == OBSERVER_TREE_ENTRIES) {
			note(walk, WIRE_REASON_LIMIT);
			return 0;
		}
		walk->result->entries++;
		status = walk_entry(walk, dirfd(entries), entry->d_name, depth, err);
	}
	return status;
}

int tree_walk(int folder, const struct tree_visitor *visitor, void *context, struct tree_result *out,
	      struct error **err)
{
	cleanup_free char *chunk = malloc(CHUNK_BYTES), *names = malloc(CHUNK_BYTES);
	struct walk walk = { .visitor = visitor, .context = context, .result = out, .chunk = chunk, .names = names };
	int status;

	memset(out, 0, sizeof(*out));
	if (!chunk || !names)
		return error_set(err, ERROR_MEMORY, "no memory for a tree");
	status = walk_folder(&walk, folder, 0, err);
	explicit_bzero(chunk, CHUNK_BYTES);
	explicit_bzero(names, CHUNK_BYTES);
	return status;
}

int tree_open(int folder, const char *path)
{
	cleanup_fd int held = take_hold(folder, path);
	struct stat about;

	if (held < 0 || fstat(held, &about) < 0 || !S_ISREG(about.st_mode))
		return -1;
	return reopen(held);
}

bool tree_holds(int folder, const char *path, const char *text)
{
	cleanup_fd int fd = tree_open(folder, path);
	char content[256] = "";
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, content, sizeof(content));
	return got >= 0 && (size_t)got == strlen(text) && memcmp(content, text, (size_t)got) == 0;
}
