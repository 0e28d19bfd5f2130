/* Writing: the same members give the same bytes (in gzip: with the same zlib). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "core/fd.h"
#include "core/ustar.h"
#include "core/ustar_header.h"

#define DEFLATE_LEVEL 9
#define DEFLATE_MEMORY 8
#define CHUNK_BYTES 16384
#define SIZE_MAX_OCTAL UINT64_C(077777777777)

struct ustar_writer {
	ustar_sink sink;
	void *context;
	bool gzip;
	bool deflating; /* stream was initialised */
	bool finished;
	z_stream stream;
	char last[USTAR_NAME_MAX + 1]; /* the name before; "" at the beginning */
	uint64_t remaining; /* bytes that the current member still lacks */
	size_t padding; /* zero bytes due when it is complete */
	unsigned char chunk[CHUNK_BYTES];
};

int ustar_writer_new(bool gzip, ustar_sink sink, void *context, struct ustar_writer **out, struct error **err)
{
	cleanup_ustar_writer struct ustar_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return error_set(err, ERROR_MEMORY, "no memory for an archive");
	writer->sink = sink;
	writer->context = context;
	writer->gzip = gzip;
	if (gzip) {
		if (deflateInit2(&writer->stream, DEFLATE_LEVEL, Z_DEFLATED, USTAR_GZIP_BITS, DEFLATE_MEMORY,
				 Z_DEFAULT_STRATEGY) != Z_OK)
			return error_set(err, ERROR_MEMORY, "no memory for gzip");
		writer->deflating = true;
	}
	*out = steal_pointer(&writer);
	return 0;
}

void ustar_writer_free(struct ustar_writer *writer)
{
	if (!writer)
		return;
	if (writer->deflating)
		deflateEnd(&writer->stream);
	explicit_bzero(writer, sizeof(*writer));
	free(writer);
}

static int deflate_all(struct ustar_writer *writer, int flush, struct error **err)
{
	z_stream *stream = &writer->stream;

	do {
		size_t filled;
		int result;

		stream->next_out = writer->chunk;
		stream->avail_out = sizeof(writer->chunk);
		if (deflate(stream, flush) == Z_STREAM_ERROR)
			return error_set(err, ERROR_INTERNAL, "gzip: inconsistent state");
		filled = sizeof(writer->chunk) - stream->avail_out;
		result = filled ? writer->sink(writer->context, writer->chunk, filled, err) : 0;
		if (result < 0)
			return result;
	} while (stream->avail_out == 0);
	return 0;
}

static int emit(struct ustar_writer *writer, const void *bytes, size_t length, struct error **err)
{
	const unsigned char *at = bytes;

	if (!writer->gzip)
		return length ? writer->sink(writer->context, bytes, length, err) : 0;
	while (length) {
		size_t piece = length < CHUNK_BYTES ? length : CHUNK_BYTES;
		int result;

		writer->stream.next_in = (z_const Bytef *)(uintptr_t)at;
		writer->stream.avail_in = (uInt)piece;
		result = deflate_all(writer, Z_NO_FLUSH, err);
		if (result < 0)
			return result;
		at += piece;
		length -= piece;
	}
	return 0;
}

static int emit_zeros(struct ustar_writer *writer, size_t length, struct error **err)
{
	static const char zeros[2 * USTAR_BLOCK];

	return emit(writer, zeros, length, err);
}

/* Parts of the allowed bytes between single slashes; a folder ends with one. */
static bool name_ok(const char *name, bool folder)
{
	size_t length = strlen(name), part = 0;

	if (length > USTAR_NAME_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (name[i] != '/') {
			if (!ustar_name_char(name[i]))
				return false;
			part++;
			continue;
		}
		if (!part || strspn(name + i - part, ".") == part)
			return false;
		part = 0;
	}
	if (folder)
		return length && !part;
	return part && strspn(name + length - part, ".") < part;
}

static void octal(char *field, size_t size, uint64_t value)
{
	field[size - 1] = '\0';
	for (size_t i = size - 1; i-- > 0; value >>= 3)
		field[i] = (char)('0' + (value & 7));
}

static void make_header(struct ustar_header *header, const char *name, char type, unsigned mode, uint64_t size)
{
	*header = (struct ustar_header){ .type = type };
	memcpy(header->name, name, strlen(name));
	octal(header->mode, sizeof(header->mode), mode);
	octal(header->uid, sizeof(header->uid), 0);
	octal(header->gid, sizeof(header->gid), 0);
	octal(header->size, sizeof(header->size), size);
	octal(header->mtime, sizeof(header->mtime), 0);
	memcpy(header->magic, USTAR_MAGIC, sizeof(header->magic));
	octal(header->major, sizeof(header->major), 0);
	octal(header->minor, sizeof(header->minor), 0);
	/* Six digits, NUL, space: the checksum alone is written so. */
	octal(header->checksum, sizeof(header->checksum) - 1, ustar_checksum(header));
	header->checksum[sizeof(header->checksum) - 1] = ' ';
}

int ustar_writer_member(struct ustar_writer *writer, const char *name, char type, unsigned mode, uint64_t size,
			struct error **err)
{
	struct ustar_header header;

	if (writer->finished)
		return error_set(err, ERROR_INTERNAL, "archive: a member after the end");
	if (writer->remaining)
		return error_set(err, ERROR_INTERNAL, "archive: a member before the end of the last one");
	if (type != '0' && type != '5')
		return error_set(err, ERROR_INTERNAL, "archive: a member that is no file or folder");
	if (!name_ok(name, type == '5'))
		return error_set(err, ERROR_INTERNAL, "archive: a name of another form");
	if (mode & ~(S_ISVTX | 0777U))
		return error_set(err, ERROR_INTERNAL, "archive: mode %o", mode);
	if (size > (type == '5' ? 0 : SIZE_MAX_OCTAL))
		return error_set(err, ERROR_INTERNAL, "archive: a member of %" PRIu64 " bytes", size);
	if (strcmp(writer->last, name) >= 0)
		return error_set(err, ERROR_INTERNAL, "archive: names that do not rise");
	memcpy(writer->last, name, strlen(name) + 1);
	make_header(&header, name, type, mode, size);
	writer->remaining = size;
	writer->padding = (size_t)(-size % USTAR_BLOCK);
	return emit(writer, &header, sizeof(header), err);
}

int ustar_writer_data(struct ustar_writer *writer, const void *bytes, size_t length, struct error **err)
{
	int result;

	if (length > writer->remaining)
		return error_set(err, ERROR_INTERNAL, "archive: more bytes than the member's size");
	if (!length)
		return 0;
	result = emit(writer, bytes, length, err);
	if (result < 0)
		return result;
	writer->remaining -= length;
	return writer->remaining ? 0 : emit_zeros(writer, writer->padding, err);
}

int ustar_writer_finish(struct ustar_writer *writer, struct error **err)
{
	int result;

	if (writer->finished)
		return error_set(err, ERROR_INTERNAL, "archive: ended twice");
	if (writer->remaining)
		return error_set(err, ERROR_INTERNAL, "archive: ended before the end of the last member");
	writer->finished = true;
	result = emit_zeros(writer, (size_t)2 * USTAR_BLOCK, err);
	if (result < 0 || !writer->gzip)
		return result;
	writer->stream.avail_in = 0;
	return deflate_all(writer, Z_FINISH, err);
}

int ustar_sink_buf(void *context, const void *bytes, size_t length, struct error **err)
{
	struct buf *buf = context;

	if (buf_add(buf, bytes, length) < 0)
		return buf_check(buf, "archive", err);
	return 0;
}
