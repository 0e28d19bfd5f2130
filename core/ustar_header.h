/* The form that ustar_write.c makes and ustar_read.c demands (POSIX.1-1988); for nobody else. */
#ifndef HARNESS_CORE_USTAR_HEADER_H
#define HARNESS_CORE_USTAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#define USTAR_BLOCK 512
#define USTAR_MAGIC "ustar\00000" /* "ustar", NUL, "00" */
#define USTAR_GZIP_BITS (15 + 16) /* zlib: the largest window, in gzip's wrapping */

struct ustar_header {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char link[100];
	char magic[8]; /* with the version */
	char user[32];
	char group[32];
	char major[8];
	char minor[8];
	char prefix[155];
	char padding[12];
};
_Static_assert(sizeof(struct ustar_header) == USTAR_BLOCK, "a header is a block");

/* The sum of the header's bytes with the checksum's own taken as spaces. */
static inline unsigned ustar_checksum(const struct ustar_header *header)
{
	const unsigned char *byte = (const unsigned char *)header;
	size_t field = offsetof(struct ustar_header, checksum);
	unsigned sum = 0;

	for (size_t i = 0; i < USTAR_BLOCK; i++)
		sum += i >= field && i < field + sizeof(header->checksum) ? ' ' : byte[i];
	return sum;
}

static inline bool ustar_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
	       c == '-';
}

#endif
