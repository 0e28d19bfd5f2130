#include "observers/tail.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fd.h"

void tail_init(struct tail *tail, size_t view, size_t unit_max, tail_take take)
{
	*tail = (struct tail){ .fd = -1, .view = view, .pending = BUF(unit_max), .take = take };
}

int tail_open(struct tail *tail, int fd, struct error **err)
{
	struct stat info;

	tail->fd = fd;
	tail->hash = hash_new();
	if (!tail->hash)
		return error_set(err, ERROR_MEMORY, "no memory for a digest");
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
		return error_set(err, ERROR_PROTOCOL, "an input that is no regular file");
	return 0;
}

static int stop(struct tail *tail, struct observer *observer, enum wire_reason reason, struct error **err)
{
	tail->stopped = true;
	return observer_blind(observer, tail->view, reason, err);
}

/* At most `want` bytes from `offset`: how many, 0 at the end of the file. */
static ssize_t read_at(int fd, char *to, size_t want, off_t offset, struct error **err)
{
	for (;;) {
		ssize_t got = pread(fd, to, want, offset);

		if (got >= 0)
			return got;
		if (errno != EINTR)
			return error_errno(err, errno, "reading an input");
	}
}

int tail_pull(struct tail *tail, struct observer *observer, struct error **err)
{
	char chunk[TAIL_READ_BYTES];
	struct stat info;

	if (tail->fd < 0 || tail->stopped)
		return 0;
	if (fstat(tail->fd, &info) < 0)
		return error_errno(err, errno, "looking at an input");
	if (info.st_size < tail->offset)
		return stop(tail, observer, WIRE_REASON_TRUNCATED, err);
	if (info.st_size > TAIL_FILE_BYTES)
		return stop(tail, observer, WIRE_REASON_LIMIT, err);
	/* Only what was there: a writer that never rests cannot hold this up. */
	while (tail->offset < info.st_size && !tail->stopped) {
		ssize_t got = read_at(tail->fd, chunk, sizeof(chunk), tail->offset, err);
		int r;

		if (got <= 0)
			return (int)got;
		tail->offset += got;
		hash_add(tail->hash, chunk, (size_t)got);
		if (buf_add(&tail->pending, chunk, (size_t)got) < 0)
			return stop(tail, observer, WIRE_REASON_LIMIT, err);
		r = tail->take(observer, tail, err);
		if (r < 0)
			return r;
	}
	explicit_bzero(chunk, sizeof(chunk));
	return 0;
}

/* 1 when the bytes before the offset are those that were read, 0 when not. */
static int unchanged(struct tail *tail, struct error **err)
{
	char chunk[TAIL_READ_BYTES], then[HEX_SHA256], now[HEX_SHA256];
	struct hash *hash = hash_new();
	off_t at = 0;

	if (!hash)
		return error_set(err, ERROR_MEMORY, "no memory for a digest");
	while (at < tail->offset) {
		off_t left = tail->offset - at;
		size_t want = left < (off_t)sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ssize_t got = read_at(tail->fd, chunk, want, at, err);

		if (got <= 0) {
			hash_end(hash, now);
			return (int)got;
		}
		hash_add(hash, chunk, (size_t)got);
		at += got;
	}
	explicit_bzero(chunk, sizeof(chunk));
	hash_end(hash, now);
	hash_end(steal_pointer(&tail->hash), then);
	return strcmp(then, now) == 0;
}

int tail_check(struct tail *tail, struct observer *observer, enum wire_phase phase, struct error **err)
{
	int r;

	if (tail->fd < 0)
		return observer_blind(observer, tail->view, WIRE_REASON_INPUT_MISSING, err);
	if (phase != WIRE_AFTER || tail->stopped || !tail->hash)
		return 0;
	/* The report of phase AFTER is the last one. */
	if (tail->pending.length > 0)
		return stop(tail, observer, WIRE_REASON_TRUNCATED, err);
	r = unchanged(tail, err);
	if (r < 0)
		return r;
	tail->stopped = true;
	return r ? 0 : observer_blind(observer, tail->view, WIRE_REASON_TRUNCATED, err);
}

void tail_close(struct tail *tail)
{
	char unused[HEX_SHA256];

	fd_close(&tail->fd);
	buf_wipe(&tail->pending);
	if (tail->hash)
		hash_end(steal_pointer(&tail->hash), unused);
}
