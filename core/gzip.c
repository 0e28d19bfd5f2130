#include "core/gzip.h"

#define ZLIB_CONST
#include <zlib.h>

#include "core/hash.h"

#define GZIP_BITS (16 + MAX_WBITS)
#define CHUNK_BYTES 16384

static void inflate_cleanup(z_stream *stream)
{
	inflateEnd(stream);
}

static int unpack(z_stream *stream, uint64_t max, struct hash *hash, struct error **err)
{
	unsigned char chunk[CHUNK_BYTES];
	int status;

	do {
		stream->next_out = chunk;
		stream->avail_out = sizeof(chunk);
		status = inflate(stream, Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END)
			return error_set(err, ERROR_INPUT, "cut, or no gzip");
		if (stream->total_out > max)
			return error_set(err, ERROR_LIMIT, "unpacks to more than it may");
		hash_add(hash, chunk, sizeof(chunk) - stream->avail_out);
	} while (status != Z_STREAM_END);
	return stream->avail_in == 0 ? 0 : error_set(err, ERROR_INPUT, "more behind the gzip");
}

int gzip_digest(const void *bytes, size_t length, uint64_t max, char hex[HEX_SHA256], struct error **err)
{
	__attribute__((cleanup(inflate_cleanup))) z_stream stream = { .next_in = NULL };
	struct hash *hash;
	int result;

	if (length > UINT32_MAX)
		return error_set(err, ERROR_LIMIT, "larger than it may be");
	if (inflateInit2(&stream, GZIP_BITS) != Z_OK)
		return error_set(err, ERROR_MEMORY, "no memory to unpack with");
	hash = hash_new();
	if (!hash)
		return error_set(err, ERROR_MEMORY, "no memory for a digest");
	stream.next_in = bytes;
	stream.avail_in = (uInt)length;
	result = unpack(&stream, max, hash, err);
	hash_end(hash, hex);
	return result;
}
