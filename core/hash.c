#include "core/hash.h"

#include <errno.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (64 * KIB)

struct hash {
	SHA2_CTX state;
};

_Static_assert(HEX_SHA256 == SHA256_DIGEST_STRING_LENGTH, "64 digits and a NUL");

static void finish(SHA2_CTX *state, char hex[HEX_SHA256])
{
	SHA256End(state, hex);
	explicit_bzero(state, sizeof(*state));
}

struct hash *hash_new(void)
{
	struct hash *hash = malloc(sizeof(*hash));

	if (hash)
		SHA256Init(&hash->state);
	return hash;
}

void hash_add(struct hash *hash, const void *bytes, size_t length)
{
	SHA256Update(&hash->state, bytes, length);
}

void hash_end(struct hash *hash, char hex[HEX_SHA256])
{
	finish(&hash->state, hex);
	free(hash);
}

void hash_bytes(const void *bytes, size_t length, char hex[HEX_SHA256])
{
	SHA2_CTX state;

	SHA256Init(&state);
	SHA256Update(&state, bytes, length);
	finish(&state, hex);
}

int hash_fd(int fd, char hex[HEX_SHA256], struct error **err)
{
	uint8_t chunk[CHUNK];
	SHA2_CTX state;
	off_t offset = 0;
	ssize_t got;

	SHA256Init(&state);
	for (;;) {
		got = pread(fd, chunk, sizeof(chunk), offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		SHA256Update(&state, chunk, (size_t)got);
		offset += got;
	}
	if (got < 0) {
		hex[0] = '\0';
		return error_errno(err, errno, "reading a file to hash it");
	}
	finish(&state, hex);
	return 0;
}

void hash_digits(const void *bytes, size_t length, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = bytes;

	for (size_t i = 0; i < length; i++) {
		*out++ = digits[from[i] >> 4];
		*out++ = digits[from[i] & 15];
	}
	*out = '\0';
}
