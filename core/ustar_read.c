/*
 * Reading what anybody may have made. A parser of blocks is fed by a loop that reads and inflates; nothing is
 * extracted. Whatever the writer does not write is refused, so that no byte of an archive can carry what its members do
 * not say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/ustar.h"
#include "core/ustar_header.h"

#define CHUNK_BYTES 16384
#define RATIO_FROM (UINT64_C(1) << 20)
/* deflate; no flags, so no name, comment or extra field; no time; level 9, Unix */
#define GZIP_HEADER "\x1f\x8b\x08\0\0\0\0\0\x02\x03"
#define GZIP_MAGIC 2 /* bytes of it */
#define NO_GZIP "no gzip file"

enum state { IN_HEADER, IN_DATA, IN_PADDING, AT_END };

struct seen {
	char name[USTAR_NAME_MAX + 1];
};

struct parser {
	const struct ustar_limits *limits;
	const struct ustar_visitor *visitor;
	void *context;
	enum state state;
	unsigned zero_blocks;
	union {
		struct ustar_header header;
		unsigned char bytes[USTAR_BLOCK];
	} block;
	size_t filled; /* of block */
	uint64_t remaining; /* of the member's data */
	size_t padding;
	struct seen *seen; /* the names so far: room for limits->members */
	size_t members;
	uint64_t total;
};

struct source {
	int fd;
	uint64_t limit;
	uint64_t packed; /* bytes read so far */
	struct hash *hash; /* of them; or NULL */
	unsigned char bytes[CHUNK_BYTES];
	size_t length; /* of the last piece; 0: the end */
};

static int refuse(struct error **err, const char *reason)
{
	return error_set(err, ERROR_INPUT, "archive: %s", reason);
}

static bool all_zero(const void *bytes, size_t length)
{
	const char *at = bytes;

	for (size_t i = 0; i < length; i++) {
		if (at[i])
			return false;
	}
	return true;
}

/* size - 1 octal digits and a NUL. */
static bool read_octal(const char *field, size_t size, uint64_t *out)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size - 1; i++) {
		if (field[i] < '0' || field[i] > '7')
			return false;
		value = value << 3 | (uint64_t)(field[i] - '0');
	}
	*out = value;
	return field[size - 1] == '\0';
}

static int check_frame(const struct ustar_header *header, struct error **err)
{
	uint64_t sum;

	if (memcmp(header->magic, USTAR_MAGIC, sizeof(header->magic)) != 0)
		return refuse(err, "a header that is not ustar");
	if (!read_octal(header->checksum, sizeof(header->checksum) - 1, &sum) ||
	    header->checksum[sizeof(header->checksum) - 1] != ' ')
		return refuse(err, "a checksum of another form");
	if (sum != ustar_checksum(header))
		return refuse(err, "a wrong checksum");
	if (header->type != '0')
		return refuse(err, "a member that is no regular file");
	if (!all_zero(header->link, sizeof(header->link)))
		return refuse(err, "a link name");
	if (!all_zero(header->prefix, sizeof(header->prefix)))
		return refuse(err, "a name prefix");
	if (!all_zero(header->user, sizeof(header->user)) || !all_zero(header->group, sizeof(header->group)))
		return refuse(err, "an owner's name");
	if (!all_zero(header->padding, sizeof(header->padding)))
		return refuse(err, "bytes behind the header's fields");
	return 0;
}

static int check_numbers(const struct ustar_header *header, uint64_t *size, struct error **err)
{
	uint64_t mode, uid, gid, mtime, major, minor;

	if (!read_octal(header->mode, sizeof(header->mode), &mode) ||
	    !read_octal(header->uid, sizeof(header->uid), &uid) ||
	    !read_octal(header->gid, sizeof(header->gid), &gid) ||
	    !read_octal(header->size, sizeof(header->size), size) ||
	    !read_octal(header->mtime, sizeof(header->mtime), &mtime) ||
	    !read_octal(header->major, sizeof(header->major), &major) ||
	    !read_octal(header->minor, sizeof(header->minor), &minor))
		return refuse(err, "a number that is not octal");
	if (mode > 0777)
		return refuse(err, "a mode with special bits");
	if (uid || gid)
		return refuse(err, "an owner");
	if (mtime)
		return refuse(err, "a time");
	if (major || minor)
		return refuse(err, "a device number");
	return 0;
}

static int check_part(const char *part, size_t length, struct error **err)
{
	for (size_t i = 0; i < length; i++) {
		if (!ustar_name_char(part[i]))
			return refuse(err, "a name with other characters");
	}
	if (!length)
		return refuse(err, "a name with an empty part");
	if (strspn(part, ".") >= length)
		return refuse(err, "a name with a part of dots");
	return 0;
}

/* "top/file", NUL-terminated and padded with zeros; *file points behind the slash. */
static int check_name(const struct parser *parser, const char **file, struct error **err)
{
	const char *name = parser->block.header.name;
	size_t length = strnlen(name, sizeof(parser->block.header.name));
	size_t top = strlen(parser->limits->top);
	size_t parts = 1, start = 0;

	if (length > USTAR_NAME_MAX)
		return refuse(err, "a name that is too long");
	if (!all_zero(name + length, sizeof(parser->block.header.name) - length))
		return refuse(err, "bytes behind a name");
	for (size_t i = 0; i <= length; i++) {
		int result;

		if (i < length && name[i] != '/')
			continue;
		result = check_part(name + start, i - start, err);
		if (result < 0)
			return result;
		parts += i < length;
		start = i + 1;
	}
	if (parts > 2)
		return refuse(err, "a name that is too deep");
	if (parts < 2 || strncmp(name, parser->limits->top, top) != 0 || name[top] != '/')
		return refuse(err, "a name outside the top folder");
	*file = name + top + 1;
	return 0;
}

static int remember(struct parser *parser, const char *file, struct error **err)
{
	if (parser->members >= parser->limits->members)
		return refuse(err, "too many members");
	for (size_t i = 0; i < parser->members; i++) {
		if (strcmp(parser->seen[i].name, file) == 0)
			return refuse(err, "a name twice");
		if (strcasecmp(parser->seen[i].name, file) == 0)
			return refuse(err, "a name twice but for case");
	}
	memcpy(parser->seen[parser->members++].name, file, strlen(file) + 1);
	return 0;
}

static int end_member(struct parser *parser, struct error **err)
{
	parser->state = parser->padding ? IN_PADDING : IN_HEADER;
	return parser->visitor->end(parser->context, err);
}

static int begin_member(struct parser *parser, struct error **err)
{
	const struct ustar_limits *limits = parser->limits;
	const char *file = NULL;
	uint64_t size = 0;
	int result = check_frame(&parser->block.header, err);

	if (result == 0)
		result = check_numbers(&parser->block.header, &size, err);
	if (result == 0)
		result = check_name(parser, &file, err);
	if (result == 0)
		result = remember(parser, file, err);
	if (result < 0)
		return result;
	if (size > limits->member_bytes || (limits->member_limit && size > limits->member_limit(file)))
		return refuse(err, "a member that is too large");
	parser->remaining = size;
	parser->padding = (size_t)(-size % USTAR_BLOCK);
	parser->state = IN_DATA;
	result = parser->visitor->member(parser->context, file, size, err);
	if (result < 0 || size)
		return result;
	return end_member(parser, err);
}

static int take_block(struct parser *parser, struct error **err)
{
	parser->filled = 0;
	if (all_zero(&parser->block, sizeof(parser->block))) {
		if (++parser->zero_blocks == 2)
			parser->state = AT_END;
		return 0;
	}
	if (parser->zero_blocks)
		return refuse(err, "a member behind a zero block");
	return begin_member(parser, err);
}

/* Takes some of the bytes; *used says how many. */
static int feed_some(struct parser *parser, const unsigned char *bytes, size_t length, size_t *used, struct error **err)
{
	size_t wanted = USTAR_BLOCK - parser->filled;
	int result = 0;

	switch (parser->state) {
	case IN_HEADER:
		*used = length < wanted ? length : wanted;
		memcpy(parser->block.bytes + parser->filled, bytes, *used);
		parser->filled += *used;
		return parser->filled == USTAR_BLOCK ? take_block(parser, err) : 0;
	case IN_DATA:
		*used = length < parser->remaining ? length : (size_t)parser->remaining;
		result = parser->visitor->data(parser->context, bytes, *used, err);
		parser->remaining -= *used;
		return result == 0 && !parser->remaining ? end_member(parser, err) : result;
	case IN_PADDING:
		*used = length < parser->padding ? length : parser->padding;
		if (!all_zero(bytes, *used))
			return refuse(err, "padding that is not zero");
		parser->padding -= *used;
		if (!parser->padding)
			parser->state = IN_HEADER;
		return 0;
	case AT_END:
		break;
	}
	return refuse(err, "bytes behind the end");
}

static int feed(struct parser *parser, const unsigned char *bytes, size_t length, struct error **err)
{
	parser->total += length;
	if (parser->total > parser->limits->total_bytes)
		return refuse(err, "too many bytes");
	while (length) {
		size_t used = 0;
		int result = feed_some(parser, bytes, length, &used, err);

		if (result < 0)
			return result;
		bytes += used;
		length -= used;
	}
	return 0;
}

static int next_piece(struct source *source, struct error **err)
{
	ssize_t got;

	do {
		got = read(source->fd, source->bytes, sizeof(source->bytes));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_errno(err, errno, "archive: read");
	source->length = (size_t)got;
	source->packed += source->length;
	if (source->hash)
		hash_add(source->hash, source->bytes, source->length);
	if (source->packed > source->limit)
		return refuse(err, "too many packed bytes");
	return 0;
}

static int read_plain(struct source *source, struct parser *parser, struct error **err)
{
	int result;

	do {
		result = next_piece(source, err);
		if (result == 0)
			result = feed(parser, source->bytes, source->length, err);
	} while (result == 0 && source->length);
	return result;
}

/* As far as there are bytes. */
static bool has_magic(const unsigned char *bytes, size_t length)
{
	return memcmp(bytes, GZIP_HEADER, length < GZIP_MAGIC ? length : GZIP_MAGIC) == 0;
}

static const char *cut_header(const unsigned char *bytes, size_t length)
{
	if (length == 0)
		return "the file is empty";
	return has_magic(bytes, length) ? "cut within the gzip header" : NO_GZIP;
}

/* Refuses a header other than zlib's own. The bytes read so far come first, then what inflate() is given. */
static int check_gzip_header(struct source *source, struct error **err)
{
	const size_t wanted = sizeof(GZIP_HEADER) - 1;
	size_t length = 0;

	while (length < wanted) {
		ssize_t got = read(source->fd, source->bytes + length, sizeof(source->bytes) - length);

		if (got < 0 && errno != EINTR)
			return error_errno(err, errno, "archive: read");
		if (got == 0)
			return refuse(err, cut_header(source->bytes, length));
		length += got > 0 ? (size_t)got : 0;
	}
	source->length = length;
	source->packed = length;
	if (source->hash)
		hash_add(source->hash, source->bytes, length);
	if (source->packed > source->limit)
		return refuse(err, "too many packed bytes");
	if (!has_magic(source->bytes, length))
		return refuse(err, NO_GZIP);
	return memcmp(source->bytes, GZIP_HEADER, wanted) == 0 ? 0 : refuse(err, "not packed as harness packs");
}

static bool ratio_passed(const struct parser *parser, const z_stream *stream)
{
	return parser->limits->ratio && parser->total > RATIO_FROM &&
	       parser->total / parser->limits->ratio > (uint64_t)stream->total_in;
}

/* Inflates one piece of input. */
static int inflate_piece(z_stream *stream, struct parser *parser, bool *ended, struct error **err)
{
	unsigned char chunk[CHUNK_BYTES];

	do {
		int status, result;

		stream->next_out = chunk;
		stream->avail_out = sizeof(chunk);
		status = inflate(stream, Z_NO_FLUSH);
		if (status == Z_MEM_ERROR)
			return error_set(err, ERROR_MEMORY, "archive: no memory for gzip");
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return refuse(err, "damaged gzip data");
		result = feed(parser, chunk, sizeof(chunk) - stream->avail_out, err);
		if (result < 0)
			return result;
		if (ratio_passed(parser, stream))
			return refuse(err, "packed too tightly");
		*ended = status == Z_STREAM_END;
	} while (!*ended && stream->avail_out == 0);
	return 0;
}

static void inflate_cleanup(z_stream *stream)
{
	inflateEnd(stream);
}

static int read_gzip(struct source *source, struct parser *parser, struct error **err)
{
	__attribute__((cleanup(inflate_cleanup))) z_stream stream = { .next_in = NULL };
	bool ended = false;
	int result;

	if (inflateInit2(&stream, USTAR_GZIP_BITS) != Z_OK)
		return error_set(err, ERROR_MEMORY, "archive: no memory for gzip");
	result = check_gzip_header(source, err);
	while (result == 0 && !ended) {
		if (!source->length)
			return refuse(err, "cut within the gzip data");
		stream.next_in = source->bytes;
		stream.avail_in = (uInt)source->length;
		result = inflate_piece(&stream, parser, &ended, err);
		if (result == 0 && !ended)
			result = next_piece(source, err);
	}
	if (result == 0 && !stream.avail_in)
		result = next_piece(source, err);
	else if (result == 0)
		return refuse(err, "bytes behind the gzip member");
	if (result == 0 && source->length)
		return refuse(err, "bytes behind the gzip member");
	return result;
}

static void source_free(struct source **source)
{
	char unused[HEX_SHA256];

	if (*source && (*source)->hash)
		hash_end((*source)->hash, unused);
	free(*source);
}

int ustar_read(int fd, const struct ustar_limits *limits, const struct ustar_visitor *visitor, void *context,
	       struct error **err)
{
	cleanup_free struct seen *seen = calloc(limits->members + 1, sizeof(*seen));
	__attribute__((cleanup(source_free))) struct source *source = calloc(1, sizeof(*source));
	struct parser parser = { .limits = limits, .visitor = visitor, .context = context, .seen = seen };
	int result;

	if (source && limits->packed_sha256)
		source->hash = hash_new();
	if (!seen || !source || (limits->packed_sha256 && !source->hash))
		return error_set(err, ERROR_MEMORY, "archive: no memory");
	source->fd = fd;
	source->limit = limits->packed_bytes;
	result = limits->gzip ? read_gzip(source, &parser, err) : read_plain(source, &parser, err);
	if (result < 0)
		return result;
	if (parser.state != AT_END)
		return refuse(err, "cut before the end");
	if (source->hash)
		hash_end(source->hash, limits->packed_sha256);
	source->hash = NULL;
	return 0;
}
