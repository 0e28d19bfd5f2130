/* Descriptors: cleanup attributes, bounded io with deadlines, passing over sockets, atomic files. */
#ifndef HARNESS_CORE_FD_H
#define HARNESS_CORE_FD_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/error.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Closes *fd when it is not negative and sets it to -1; keeps errno. */
void fd_close(int *fd);
static inline void free_cleanup(void *pointer)
{
	free(*(void **)pointer);
}
static inline void file_cleanup(FILE **file)
{
	if (*file)
		fclose(*file);
}
static inline void dir_cleanup(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define cleanup_fd __attribute__((cleanup(fd_close)))
#define cleanup_free __attribute__((cleanup(free_cleanup)))
#define cleanup_file __attribute__((cleanup(file_cleanup)))
#define cleanup_dir __attribute__((cleanup(dir_cleanup)))

static inline int steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
#define steal_pointer(pointer)                                                                                         \
	__extension__({                                                                                                \
		__typeof__(*(pointer)) taken_ = *(pointer);                                                            \
		*(pointer) = NULL;                                                                                     \
		taken_;                                                                                                \
	})

/* Both ends CLOEXEC. */
int fd_pipe(int *read_end, int *write_end, struct error **err) MUST_CHECK;
int fd_seqpacket(int *one, int *other, struct error **err) MUST_CHECK;
int fd_nonblocking(int fd, bool on, struct error **err) MUST_CHECK;

/* Whether both are of one file, folder or namespace; not when either is none. */
bool fd_same(int one, int other);

/* Writes all of it before the absolute deadline; works on blocking and non-blocking descriptors; EPIPE is
 * ERROR_CLOSED, never a signal (callers keep SIGPIPE ignored). */
int fd_write_all(int fd, const void *bytes, size_t length, int64_t deadline, struct error **err) MUST_CHECK;
/* Reads exactly `length`; an early end is ERROR_CLOSED. */
int fd_read_exact(int fd, void *out, size_t length, int64_t deadline, struct error **err) MUST_CHECK;
/* Appends until end of file; more than the buffer's maximum is ERROR_LIMIT. */
int fd_read_all(int fd, struct buf *out, int64_t deadline, struct error **err) MUST_CHECK;
/* Reads a whole small file below `directory` (AT_FDCWD for a path as it is), at most `max` bytes; what is not a
 * regular file is ERROR_INPUT. */
int fd_read_file(int directory, const char *path, size_t max, struct buf *out, struct error **err) MUST_CHECK;
/* Waits until `fd` has one of `events` (poll's), or the deadline: 1 ready, 0 deadline, negative error. */
int fd_wait(int fd, short events, int64_t deadline, struct error **err) MUST_CHECK;

/* One message over a SOCK_SEQPACKET or SOCK_STREAM socket with up to FD_PASS_MAX descriptors.
 * fd_receive returns the bytes received (0 = peer closed), descriptors CLOEXEC; a truncated message is
 * ERROR_PROTOCOL and its descriptors are closed. *count is in: room, out: how many. */
#define FD_PASS_MAX 4
int fd_send(int socket, const void *bytes, size_t length, const int *fds, size_t count, int64_t deadline,
	    struct error **err) MUST_CHECK;
int fd_receive(int socket, void *out, size_t size, int *fds, size_t *count, int64_t deadline,
	       struct error **err) MUST_CHECK;

/* Writes `path` (below directory descriptor) so that a reader sees the old file or the whole new one: temporary file
 * beside it, fsync, rename, fsync of the folder. Mode as given, whatever the umask. On error nothing stays behind, but
 * for the whole new file where only the folder's fsync failed; the error names `path` or its folder. */
int fd_write_atomic(int directory, const char *path, const void *bytes, size_t length, unsigned mode,
		    struct error **err) MUST_CHECK;
/* rm -r of `path` below directory, without following links, staying on one file system (ERROR_REFUSED), at most 64
 * folders deep (ERROR_LIMIT). A missing path is success; one that ends in "." or ".." is refused. */
int fd_remove_tree(int directory, const char *path, struct error **err) MUST_CHECK;

#endif
