#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/clock.h"
#include "core/limits.h"

#define READ_CHUNK (64 * KIB)

void fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

int fd_pipe(int *read_end, int *write_end, struct error **err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, errno, "pipe");
	*read_end = ends[0];
	*write_end = ends[1];
	return 0;
}

int fd_seqpacket(int *one, int *other, struct error **err)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, errno, "socketpair");
	*one = ends[0];
	*other = ends[1];
	return 0;
}

int fd_nonblocking(int fd, bool on, struct error **err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return error_errno(err, errno, "reading a descriptor's flags");
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	if (fcntl(fd, F_SETFL, flags) < 0)
		return error_errno(err, errno, "setting a descriptor's flags");
	return 0;
}

bool fd_same(int one, int other)
{
	struct stat first, second;

	return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_ino == second.st_ino &&
	       first.st_dev == second.st_dev;
}

int fd_wait(int fd, short events, int64_t deadline, struct error **err)
{
	struct pollfd polled = { .fd = fd, .events = events };

	for (;;) {
		int ready = poll(&polled, 1, clock_poll_timeout(deadline));

		if (ready > 0 && polled.revents & POLLNVAL)
			return error_errno(err, EBADF, "waiting for a descriptor");
		if (ready > 0)
			return 1;
		if (ready < 0 && errno != EINTR)
			return error_errno(err, errno, "waiting for a descriptor");
		if (deadline != NEVER && clock_now() >= deadline)
			return 0;
	}
}

static bool gone(int number)
{
	return number == EPIPE || number == ECONNRESET;
}

static bool again(int number)
{
	return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

/* Waits as fd_wait() does, but the deadline is an error; `started` forbids an always ready peer to outlast it. */
static int wait_or_timeout(int fd, short events, int64_t deadline, bool started, const char *what, struct error **err)
{
	int ready = started && deadline != NEVER && clock_now() >= deadline ? 0 : fd_wait(fd, events, deadline, err);

	if (ready < 0)
		return ready;
	return ready ? 0 : error_set(err, ERROR_TIMEOUT, "%s: the deadline passed", what);
}

int fd_write_all(int fd, const void *bytes, size_t length, int64_t deadline, struct error **err)
{
	const char *from = bytes;
	size_t done = 0, chunk;
	struct stat info;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "writing");
	/* A blocking pipe that polls writable takes PIPE_BUF bytes without blocking, and no more for certain. */
	chunk = flags & O_NONBLOCK || S_ISREG(info.st_mode) || S_ISSOCK(info.st_mode) ? SSIZE_MAX : PIPE_BUF;
	while (done < length) {
		size_t want = length - done < chunk ? length - done : chunk;
		int r = wait_or_timeout(fd, POLLOUT, deadline, done > 0, "writing", err);
		ssize_t put;

		if (r < 0)
			return r;
		put = S_ISSOCK(info.st_mode) ? send(fd, from + done, want, MSG_DONTWAIT | MSG_NOSIGNAL)
					     : write(fd, from + done, want);
		if (put >= 0)
			done += (size_t)put;
		else if (gone(errno))
			return error_set(err, ERROR_CLOSED, "writing: the peer is gone");
		else if (!again(errno))
			return error_errno(err, errno, "writing");
	}
	return 0;
}

int fd_read_exact(int fd, void *out, size_t length, int64_t deadline, struct error **err)
{
	char *to = out;
	size_t done = 0;

	while (done < length) {
		int r = wait_or_timeout(fd, POLLIN, deadline, done > 0, "reading", err);
		ssize_t got;

		if (r < 0)
			return r;
		got = read(fd, to + done, length - done);
		if (got > 0)
			done += (size_t)got;
		else if (got == 0 || gone(errno))
			return error_set(err, ERROR_CLOSED, "reading: the peer is gone");
		else if (!again(errno))
			return error_errno(err, errno, "reading");
	}
	return 0;
}

int fd_read_all(int fd, struct buf *out, int64_t deadline, struct error **err)
{
	bool started = false;

	for (;;) {
		size_t room = out->max - out->length;
		size_t want = room < READ_CHUNK ? room : READ_CHUNK;
		int r = wait_or_timeout(fd, POLLIN, deadline, started, "reading", err);
		char excess = 0, *to;
		ssize_t got;

		if (r < 0)
			return r;
		to = room > 0 ? buf_reserve(out, want) : &excess;
		if (!to)
			return buf_check(out, "reading", err);
		got = read(fd, to, room > 0 ? want : 1);
		started = true;
		if (got == 0)
			return 0;
		if (got > 0 && room == 0)
			return error_set(err, ERROR_LIMIT, "reading: more than %zu bytes", out->max);
		if (got > 0)
			buf_commit(out, (size_t)got);
		else if (gone(errno))
			return error_set(err, ERROR_CLOSED, "reading: the peer is gone");
		else if (!again(errno))
			return error_errno(err, errno, "reading");
	}
}

union control {
	char bytes[CMSG_SPACE(FD_PASS_MAX * sizeof(int))];
	struct cmsghdr align;
};

int fd_send(int socket, const void *bytes, size_t length, const int *fds, size_t count, int64_t deadline,
	    struct error **err)
{
	union control control = { 0 };
	struct iovec part = { .iov_len = length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (length == 0 || count > FD_PASS_MAX)
		return error_set(err, ERROR_INTERNAL, "a message has a byte and at most %d descriptors", FD_PASS_MAX);
	/* An iovec has no const; sendmsg() only reads. */
	memcpy(&part.iov_base, &bytes, sizeof(bytes));
	if (count > 0) {
		struct cmsghdr *header;

		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	}
	for (;;) {
		int r = wait_or_timeout(socket, POLLOUT, deadline, false, "sending", err);
		ssize_t put;

		if (r < 0)
			return r;
		put = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put >= 0)
			return fd_write_all(socket, (const char *)bytes + put, length - (size_t)put, deadline, err);
		if (gone(errno))
			return error_set(err, ERROR_CLOSED, "sending: the peer is gone");
		if (!again(errno))
			return error_errno(err, errno, "sending");
	}
}

/* Takes the descriptors out of a message; those above `room` are closed. Returns how many there were. */
static size_t take_descriptors(struct msghdr *message, int *fds, size_t room)
{
	size_t taken = 0;

	for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
		size_t count;

		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++, taken++) {
			int fd;

			memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
			if (taken < room)
				fds[taken] = fd;
			else
				fd_close(&fd);
		}
	}
	return taken;
}

int fd_receive(int socket, void *out, size_t size, int *fds, size_t *count, int64_t deadline, struct error **err)
{
	size_t room = count ? *count : 0;

	if (count)
		*count = 0;
	for (;;) {
		union control control = { 0 };
		struct iovec part = { .iov_base = out, .iov_len = size < INT_MAX ? size : INT_MAX };
		struct msghdr message = { .msg_iov = &part,
					  .msg_iovlen = 1,
					  .msg_control = control.bytes,
					  .msg_controllen = sizeof(control.bytes) };
		int r = wait_or_timeout(socket, POLLIN, deadline, false, "receiving", err);
		ssize_t got;
		size_t taken;

		if (r < 0)
			return r;
		got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		/* A peer that left without reading everything resets, once; what it sent before is still to be read. */
		if (got < 0 && (again(errno) || errno == ECONNRESET))
			continue;
		if (got < 0)
			return gone(errno) ? 0 : error_errno(err, errno, "receiving");
		taken = take_descriptors(&message, fds, room);
		if (taken > room || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || (got == 0 && taken > 0)) {
			for (size_t i = 0; i < taken && i < room; i++)
				fd_close(&fds[i]);
			return error_set(err, ERROR_PROTOCOL, "receiving: a message larger than its reader's room");
		}
		if (count)
			*count = taken;
		return (int)got;
	}
}
