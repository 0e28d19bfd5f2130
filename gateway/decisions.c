#include "gateway/decisions.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct row {
	char magic[4];
	uint64_t sequence;
	char tool[NAME_MAX_SHORT];
	uint32_t decision;
	uint32_t rule;
	uint64_t time;
	char end[4];
} __attribute__((packed));

_Static_assert(sizeof(struct row) == DECISIONS_ROW_BYTES, "a row is 64 bytes");

static const char magic[4] = "HDR1";
static const char end[4] = "\r\n\r\n";

int decisions_open(int fd, struct decisions *out, struct error **err)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat info;
	struct row last;

	*out = (struct decisions){ .fd = fd };
	if (flags < 0 || fstat(fd, &info) < 0)
		return error_errno(err, errno, "the decisions file");
	if (!S_ISREG(info.st_mode) || !(flags & O_APPEND) || (flags & O_ACCMODE) != O_RDWR)
		return error_set(err, ERROR_INPUT, "the decisions file: no regular file open to read and append");
	if (info.st_size == 0)
		return 0;
	if (info.st_size % DECISIONS_ROW_BYTES != 0)
		return error_set(err, ERROR_INPUT, "the decisions file: it ends within a row");
	if (pread(fd, &last, sizeof(last), info.st_size - DECISIONS_ROW_BYTES) != (ssize_t)sizeof(last))
		return error_set(err, ERROR_INPUT, "the decisions file: its last row cannot be read");
	out->sequence = be64toh(last.sequence);
	if (memcmp(last.magic, magic, sizeof(magic)) != 0 || memcmp(last.end, end, sizeof(end)) != 0 ||
	    out->sequence != (uint64_t)info.st_size / DECISIONS_ROW_BYTES)
		return error_set(err, ERROR_INPUT, "the decisions file: its last row is none of ours");
	return 0;
}

int decisions_append(struct decisions *decisions, const char *tool, enum gateway_rule rule, int64_t now,
		     struct error **err)
{
	struct row row = { .sequence = htobe64(decisions->sequence + 1),
			   .decision = htobe32(gateway_outcome(rule)->decision),
			   .rule = htobe32(rule),
			   .time = htobe64((uint64_t)now) };
	ssize_t put;

	if (decisions->failed)
		return error_set(err, ERROR_CLOSED, "the decisions file failed before");
	memcpy(row.magic, magic, sizeof(magic));
	memcpy(row.end, end, sizeof(end));
	tool = tool ? tool : "?";
	memcpy(row.tool, tool, strnlen(tool, sizeof(row.tool) - 1));
	put = write(decisions->fd, &row, sizeof(row));
	if (put == (ssize_t)sizeof(row)) {
		decisions->sequence++;
		return 0;
	}
	decisions->failed = true;
	if (put < 0)
		return error_errno(err, errno, "the decisions file");
	return error_set(err, ERROR_LIMIT, "the decisions file took a part of a row");
}
