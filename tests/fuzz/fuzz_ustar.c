/*
 * A bundle's archive, plain, or in gzip where it begins so: what a member says of its size is what is given out. In a
 * plain one the checksums are made right first: nothing behind a header is reached without.
 */
#include <string.h>
#include <sys/mman.h>

#include "core/fd.h"
#include "core/limits.h"
#include "core/ustar.h"
#include "core/ustar_header.h"
#include "tests/fuzz/fuzz.h"

#define TOP "confinement-evidence"
#define MEMBERS_MAX 8
#define MEMBER_MAX (64 * KIB)

struct member {
	size_t count;
	uint64_t size, given;
	bool open;
};

static int on_member(void *context, const char *name, uint64_t size, struct error **err)
{
	struct member *member = context;

	(void)err;
	FUZZ_HOLDS(!member->open && size <= MEMBER_MAX && ++member->count <= MEMBERS_MAX);
	FUZZ_HOLDS(*name && strlen(name) < USTAR_NAME_MAX && !strchr(name, '/') && name[strspn(name, ".")]);
	member->open = true;
	member->size = size;
	member->given = 0;
	return 0;
}

static int on_data(void *context, const void *bytes, size_t length, struct error **err)
{
	struct member *member = context;

	(void)bytes;
	(void)err;
	member->given += length;
	FUZZ_HOLDS(member->open && length > 0 && member->given <= member->size);
	return 0;
}

static int on_end(void *context, struct error **err)
{
	struct member *member = context;

	(void)err;
	FUZZ_HOLDS(member->open && member->given == member->size);
	member->open = false;
	return 0;
}

static void mend(char *bytes, size_t size)
{
	for (; size >= USTAR_BLOCK; bytes += USTAR_BLOCK, size -= USTAR_BLOCK) {
		struct ustar_header header;

		memcpy(&header, bytes, sizeof(header));
		if (memcmp(header.magic, USTAR_MAGIC, sizeof(header.magic)) != 0)
			continue;
		snprintf(header.checksum, sizeof(header.checksum), "%06o", ustar_checksum(&header));
		header.checksum[sizeof(header.checksum) - 1] = ' ';
		memcpy(bytes, &header, sizeof(header));
	}
}

static void read_archive(int fd, bool gzip)
{
	static const struct ustar_visitor visitor = { .member = on_member, .data = on_data, .end = on_end };
	const struct ustar_limits limits = {
		.gzip = gzip,
		.top = TOP,
		.members = MEMBERS_MAX,
		.member_bytes = MEMBER_MAX,
		.total_bytes = 4 * MIB,
		.packed_bytes = MIB,
		.ratio = 100,
	};
	struct member member = { .open = false };
	cleanup_error struct error *err = NULL;
	int result = ustar_read(fd, &limits, &visitor, &member, &err);

	FUZZ_HOLDS(result == 0 ? !err && !member.open : error_code(err) == ERROR_INPUT);
}

FUZZ_TARGET(ustar)
{
	cleanup_fd int fd = memfd_create("archive", MFD_CLOEXEC);
	cleanup_free char *copy = malloc(size + 1);
	bool gzip = size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;

	FUZZ_HOLDS(fd >= 0 && copy);
	if (size > 0)
		memcpy(copy, bytes, size);
	if (!gzip)
		mend(copy, size);
	FUZZ_HOLDS(write(fd, copy, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
	read_archive(fd, gzip);
}
