#include "reports/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fd.h"
#include "core/hash.h"
#include "core/ustar.h"
#include "reports/manifest.h"
#include "reports/members.h"
#include "reports/shape.h"

#define TEMPORARY "." BUNDLE_ARCHIVE ".tmp"
#define MEMBER_MODE 0644
#define CHUNK_BYTES ((size_t)64 * KIB)
#define SCANNER_CANARIES CANARY_SET_MAX
#define SUMS_BYTES (8 * KIB)

/* A member with what is known of it once it was measured. */
struct sealed {
	const struct bundle_member *member;
	uint64_t size;
	char sha256[HEX_SHA256];
};

/* The scanners of all live canaries, a batch each, and what was seen of a canary's shape. */
struct scan {
	struct canary_scanner **scanners;
	size_t count;
	uint64_t *hits;
	size_t hits_count;
	struct shape shape;
	bool shape_seen;
};

struct sealing {
	int directory;
	int file;
	struct bundle_member made; /* the late one, with its bytes */
	struct buf made_text;
	struct sealed sealed[MEMBERS]; /* without a member where an optional one is not there */
	struct scan scan;
	char *chunk;
};

static void scan_free(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		canary_scanner_free(scan->scanners[i]);
	free(scan->scanners);
	free(scan->hits);
}

static void sealing_free(struct sealing *sealing)
{
	scan_free(&sealing->scan);
	fd_close(&sealing->file);
	buf_free(&sealing->made_text);
	free(sealing->chunk);
}

static int scan_make(struct scan *scan, const struct canary *live, size_t count, struct error **err)
{
	size_t batches = (count + SCANNER_CANARIES - 1) / SCANNER_CANARIES;

	scan->scanners = calloc(batches + 1, sizeof(struct canary_scanner *));
	scan->hits_count = count < SCANNER_CANARIES ? count : SCANNER_CANARIES;
	scan->hits = calloc(scan->hits_count + 1, sizeof(*scan->hits));
	if (!scan->scanners || !scan->hits)
		return error_set(err, ERROR_MEMORY, "no memory to scan the bundle");
	for (size_t i = 0; i < batches; i++) {
		size_t first = i * SCANNER_CANARIES, left = count - first;
		int result = canary_scanner_new(live + first, left < SCANNER_CANARIES ? left : SCANNER_CANARIES, true,
						&scan->scanners[i], err);

		if (result < 0)
			return result;
		scan->count++;
	}
	return 0;
}

static void scan_begin(struct scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		canary_scanner_reset(scan->scanners[i]);
	scan->shape = (struct shape){ 0 };
}

static void scan_feed(struct scan *scan, const void *bytes, size_t length)
{
	for (size_t i = 0; i < scan->count; i++)
		canary_scanner_feed(scan->scanners[i], bytes, length, scan->hits);
	scan->shape_seen |= shape_feed(&scan->shape, bytes, length);
}

static int scan_end(const struct scan *scan, const char *name, struct error **err)
{
	bool hit = false;

	for (size_t i = 0; i < scan->hits_count; i++)
		hit |= scan->hits[i] > 0;
	if (hit)
		return error_set(err, ERROR_REFUSED, "a live canary stands in %s: no bundle is written", name);
	if (scan->shape_seen)
		return error_set(err, ERROR_REFUSED, "%s holds what has a canary's shape: no bundle is written", name);
	return 0;
}

/* Hands the member's bytes on in pieces, from its start. */
typedef int (*piece)(void *context, const void *bytes, size_t length, struct error **err);

static int each_piece(const struct sealed *sealed, char *chunk, piece take, void *context, struct error **err)
{
	const struct bundle_member *member = sealed->member;
	uint64_t done = 0;

	if (member->bytes)
		return take(context, member->bytes, member->length, err);
	while (done < sealed->size) {
		uint64_t left = sealed->size - done;
		ssize_t got = pread(member->fd, chunk, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES, (off_t)done);
		int result;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, errno, "%s", member->name);
		if (got == 0)
			return error_set(err, ERROR_INPUT, "%s became shorter while it was sealed", member->name);
		result = take(context, chunk, (size_t)got, err);
		if (result < 0)
			return result;
		done += (uint64_t)got;
	}
	return 0;
}

struct measuring {
	struct scan *scan;
	struct hash *hash;
};

static int take_measure(void *context, const void *bytes, size_t length, struct error **err)
{
	struct measuring *measuring = context;

	(void)err;
	hash_add(measuring->hash, bytes, length);
	scan_feed(measuring->scan, bytes, length);
	return 0;
}

/* Scans and hashes in one pass. */
static int measure(struct sealing *sealing, struct sealed *sealed, struct error **err)
{
	const struct bundle_member *member = sealed->member;
	struct measuring measuring = { .scan = &sealing->scan, .hash = hash_new() };
	struct stat status;
	int result = 0;

	if (!measuring.hash)
		return error_set(err, ERROR_MEMORY, "no memory for a digest");
	sealed->size = member->length;
	if (!member->bytes && fstat(member->fd, &status) < 0)
		result = error_errno(err, errno, "%s", member->name);
	else if (!member->bytes)
		sealed->size = (uint64_t)status.st_size;
	scan_begin(&sealing->scan);
	if (result == 0 && sealed->size > (uint64_t)(member->bytes ? BUNDLE_FILE_BYTES : BUNDLE_TOTAL_BYTES))
		result = error_set(err, ERROR_LIMIT, "%s is larger than a reader of bundles takes", member->name);
	if (result == 0)
		result = each_piece(sealed, sealing->chunk, take_measure, &measuring, err);
	hash_end(measuring.hash, sealed->sha256);
	return result < 0 ? result : scan_end(&sealing->scan, member->name, err);
}

/* Every member of the schema once, and no other. */
static int arrange(struct sealing *sealing, const struct bundle_member *members, size_t count, struct error **err)
{
	sealing->chunk = malloc(CHUNK_BYTES);
	if (!sealing->chunk)
		return error_set(err, ERROR_MEMORY, "no memory to seal the bundle");
	for (size_t i = 0; i < count; i++) {
		int member = member_find(members[i].name);

		if (member < 0 || member == MEMBER_SUMS || sealing->sealed[member].member)
			return error_set(err, ERROR_INTERNAL, "the bundle has a member too many");
		sealing->sealed[member].member = &members[i];
	}
	for (int i = 0; i < MEMBERS; i++)
		if (i != MEMBER_SUMS && !sealing->sealed[i].member && member_needed(i, MANIFEST_MINOR))
			return error_set(err, ERROR_INTERNAL, "the bundle lacks %s", member_kinds[i].name);
	return 0;
}

/* At most one member is late. */
static int make_late(struct sealing *sealing, struct error **err)
{
	for (int i = 0; i < MEMBERS; i++) {
		struct sealed *sealed = &sealing->sealed[i];
		const struct bundle_late *late = sealed->member ? sealed->member->late : NULL;
		int result;

		if (!late)
			continue;
		if (member_in_sums(i) || sealing->made.name)
			return error_set(err, ERROR_INTERNAL, "%s cannot be made late", member_kinds[i].name);
		result = late->make(late->context, sealing->sealed[MEMBER_SUMS].sha256, &sealing->made_text, err);
		if (result < 0)
			return result;
		sealing->made = (struct bundle_member){ .name = member_kinds[i].name,
							.bytes = buf_string(&sealing->made_text),
							.length = sealing->made_text.length,
							.fd = -1 };
		sealed->member = &sealing->made;
		result = measure(sealing, sealed, err);
		if (result < 0)
			return result;
	}
	return 0;
}

static int write_sums(const struct sealing *sealing, struct buf *out, struct error **err)
{
	for (int i = 0; i < MEMBERS; i++)
		if (sealing->sealed[i].member && member_in_sums(i))
			buf_printf(out, "%s  %s\n", sealing->sealed[i].sha256, member_kinds[i].name);
	return buf_check(out, BUNDLE_SUMS, err);
}

static int write_out(void *context, const void *bytes, size_t length, struct error **err)
{
	const struct sealing *sealing = context;
	const char *at = bytes;

	while (length > 0) {
		ssize_t done = write(sealing->file, at, length);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return error_errno(err, errno, "the bundle cannot be written");
		at += done;
		length -= (size_t)done;
	}
	return 0;
}

static int take_data(void *context, const void *bytes, size_t length, struct error **err)
{
	return ustar_writer_data(context, bytes, length, err);
}

static int write_archive(struct sealing *sealing, struct error **err)
{
	cleanup_ustar_writer struct ustar_writer *writer = NULL;
	int result = ustar_writer_new(true, write_out, sealing, &writer, err);

	for (int i = 0; i < MEMBERS && result >= 0; i++) {
		const struct sealed *sealed = &sealing->sealed[i];
		char name[USTAR_NAME_MAX + 1];

		if (!sealed->member)
			continue;
		snprintf(name, sizeof(name), "%s/%s", BUNDLE_TOP, member_kinds[i].name);
		result = ustar_writer_member(writer, name, '0', MEMBER_MODE, sealed->size, err);
		if (result >= 0)
			result = each_piece(sealed, sealing->chunk, take_data, writer, err);
	}
	return result < 0 ? result : ustar_writer_finish(writer, err);
}

static int identify(const struct sealing *sealing, struct bundle_identity *out, struct error **err)
{
	struct stat status;

	if (fstat(sealing->file, &status) < 0)
		return error_errno(err, errno, "the bundle");
	if (status.st_size > (off_t)BUNDLE_PACKED_BYTES)
		return error_set(err, ERROR_LIMIT, "the bundle is larger than a reader of bundles takes");
	out->bytes = status.st_size;
	memcpy(out->sums_sha256, sealing->sealed[MEMBER_SUMS].sha256, HEX_SHA256);
	return hash_fd(sealing->file, out->archive_sha256, err);
}

static int put_in_place(const struct sealing *sealing, struct error **err)
{
	if (fchmod(sealing->file, MEMBER_MODE) < 0 || fsync(sealing->file) < 0)
		return error_errno(err, errno, "the bundle cannot be written");
	if (renameat(sealing->directory, TEMPORARY, sealing->directory, BUNDLE_ARCHIVE) < 0)
		return error_errno(err, errno, "the bundle cannot be put in its place");
	return 0;
}

static int write_file(struct sealing *sealing, struct bundle_identity *out, struct error **err)
{
	int result;

	(void)unlinkat(sealing->directory, TEMPORARY, 0);
	sealing->file = openat(sealing->directory, TEMPORARY, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (sealing->file < 0)
		return error_errno(err, errno, "the bundle cannot be written");
	result = write_archive(sealing, err);
	if (result >= 0)
		result = identify(sealing, out, err);
	if (result >= 0)
		result = put_in_place(sealing, err);
	if (result < 0) {
		(void)unlinkat(sealing->directory, TEMPORARY, 0);
		return result;
	}
	if (fsync(sealing->directory) == 0)
		return 0;
	result = error_errno(err, errno, "the bundle's folder");
	(void)unlinkat(sealing->directory, BUNDLE_ARCHIVE, 0);
	return result;
}

int bundle_seal(int directory, const struct bundle_member *members, size_t count, const struct canary *live,
		size_t live_count, struct bundle_identity *out, struct error **err)
{
	__attribute__((cleanup(sealing_free))) struct sealing sealing = {
		.directory = directory,
		.file = -1,
		.made_text = BUF((size_t)BUNDLE_FILE_BYTES),
	};
	cleanup_buf struct buf sums = BUF(SUMS_BYTES);
	struct bundle_member sums_member = { .name = BUNDLE_SUMS, .fd = -1 };
	int result = arrange(&sealing, members, count, err);

	if (result >= 0)
		result = scan_make(&sealing.scan, live, live_count, err);
	for (int i = 0; i < MEMBERS && result >= 0; i++)
		if (sealing.sealed[i].member && !sealing.sealed[i].member->late)
			result = measure(&sealing, &sealing.sealed[i], err);
	if (result >= 0)
		result = write_sums(&sealing, &sums, err);
	if (result < 0)
		return result;
	sums_member.bytes = buf_string(&sums);
	sums_member.length = sums.length;
	sealing.sealed[MEMBER_SUMS].member = &sums_member;
	result = measure(&sealing, &sealing.sealed[MEMBER_SUMS], err);
	if (result >= 0)
		result = make_late(&sealing, err);
	return result < 0 ? result : write_file(&sealing, out, err);
}
