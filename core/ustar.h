/*
 * ustar archives, plain or in gzip (zlib). Writing is deterministic: same members, same bytes. Reading is strict and
 * streams: the writer's own form and nothing else, regular files only, checked names, checksums, two zero blocks,
 * nothing after the end.
 */
#ifndef HARNESS_CORE_USTAR_H
#define HARNESS_CORE_USTAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"

/* Called with the next bytes of output; negative with *err set ends the writing. */
typedef int (*ustar_sink)(void *context, const void *bytes, size_t length, struct error **err);

#define USTAR_NAME_MAX 99

struct ustar_writer;
/* gzip: level 9, no time, no name. */
int ustar_writer_new(bool gzip, ustar_sink sink, void *context, struct ustar_writer **out,
		     struct error **err) MUST_CHECK;
/* type '0' file or '5' folder (whose name ends with '/' and whose size is 0); mtime 0, uid and gid 0, no names. A name
 * is up to USTAR_NAME_MAX bytes of [A-Za-z0-9._-] between '/'. Callers add members sorted by name; a name that does not
 * rise, and each other breach of these promises, is ERROR_INTERNAL. */
int ustar_writer_member(struct ustar_writer *writer, const char *name, char type, unsigned mode, uint64_t size,
			struct error **err) MUST_CHECK;
/* The member's bytes, `size` in all, in pieces. */
int ustar_writer_data(struct ustar_writer *writer, const void *bytes, size_t length, struct error **err) MUST_CHECK;
/* Two zero blocks, and the end of the gzip member. Nothing may follow but ustar_writer_free(). */
int ustar_writer_finish(struct ustar_writer *writer, struct error **err) MUST_CHECK;
/* Accepts NULL. */
void ustar_writer_free(struct ustar_writer *writer);
static inline void ustar_writer_cleanup(struct ustar_writer **writer)
{
	ustar_writer_free(*writer);
}
#define cleanup_ustar_writer __attribute__((cleanup(ustar_writer_cleanup)))
/* A sink that appends to a struct buf (the context). */
int ustar_sink_buf(void *context, const void *bytes, size_t length, struct error **err);

struct ustar_limits {
	bool gzip;
	const char *top; /* required first component, "confinement-evidence" */
	size_t members;
	uint64_t member_bytes;
	uint64_t total_bytes; /* of the unpacked archive */
	uint64_t packed_bytes;
	unsigned ratio; /* of unpacked to packed once 1 MiB was unpacked; 0: none */
	uint64_t (*member_limit)(const char *name); /* or NULL: member_bytes for each */
	char *packed_sha256; /* or NULL: HEX_SHA256 bytes for the digest of all that was read, once all of it was */
};

/* What a reader is told. Negative with *err set ends the reading. `name` is without the top folder. */
struct ustar_visitor {
	int (*member)(void *context, const char *name, uint64_t size, struct error **err);
	int (*data)(void *context, const void *bytes, size_t length, struct error **err);
	int (*end)(void *context, struct error **err); /* end of the current member */
};
/* Reads from a descriptor to its end. Names are "top/file", distinct without regard to case. Each violation is
 * ERROR_INPUT with a fixed reason. Memory is bounded by limits->members. */
int ustar_read(int fd, const struct ustar_limits *limits, const struct ustar_visitor *visitor, void *context,
	       struct error **err) MUST_CHECK;

#endif
