#include "observers/files_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fd.h"

#define CHUNK_BYTES (64 * KIB)
#define BLOCK_BYTES 512
#define CLOSING_BYTES ((off_t)2 * BLOCK_BYTES)

struct listing {
	struct archive *archive;
	const struct tree_visitor *visitor;
	void *context;
	struct tree_result *result;
	char *chunk;
};

static void free_archive(struct archive **archive)
{
	if (*archive)
		archive_read_free(*archive);
}

static void note(struct listing *listing, enum wire_reason reason)
{
	if (listing->result->reason == WIRE_REASON_NONE)
		listing->result->reason = reason;
}

/* libarchive takes an archive that ends between two members for a whole one. */
static bool closed(int fd)
{
	static const char zeros[CLOSING_BYTES];
	char closing[CLOSING_BYTES];
	struct stat about;

	if (fstat(fd, &about) < 0 || about.st_size < CLOSING_BYTES || about.st_size % BLOCK_BYTES)
		return false;
	return pread(fd, closing, sizeof(closing), about.st_size - CLOSING_BYTES) == CLOSING_BYTES &&
	       memcmp(closing, zeros, sizeof(zeros)) == 0;
}

/* A name that the C locale cannot hold comes as UTF-8. */
static const char *name_of(struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);

	if (!name)
		name = archive_entry_pathname_utf8(entry);
	if (!name)
		return "";
	while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
		name++;
	return name;
}

static const char *link_of(struct archive_entry *entry)
{
	const char *link = archive_entry_symlink(entry);

	if (!link)
		link = archive_entry_symlink_utf8(entry);
	if (!link)
		link = archive_entry_hardlink(entry);
	if (!link)
		link = archive_entry_hardlink_utf8(entry);
	return link ? link : "";
}

static int read_content(struct listing *listing, struct error **err)
{
	for (;;) {
		uint64_t room = (uint64_t)OBSERVER_TREE_BYTES - listing->result->bytes;
		la_ssize_t got = archive_read_data(listing->archive, listing->chunk, CHUNK_BYTES);
		int status;

		if (got < 0)
			note(listing, WIRE_REASON_INPUT_INVALID);
		if (got <= 0)
			return 0;
		if ((uint64_t)got > room) {
			note(listing, WIRE_REASON_LIMIT);
			return 0;
		}
		listing->result->bytes += (uint64_t)got;
		status = listing->visitor->data(listing->context, listing->chunk, (size_t)got, err);
		if (status)
			return status;
	}
}

static int visit(struct listing *listing, struct archive_entry *entry, struct error **err)
{
	int status = listing->visitor->entry(listing->context, name_of(entry), link_of(entry), err);

	if (!status)
		status = read_content(listing, err);
	return status ? status : listing->visitor->end(listing->context, err);
}

static int list(struct listing *listing, struct error **err)
{
	while (listing->result->reason == WIRE_REASON_NONE) {
		struct archive_entry *entry = NULL;
		int next = archive_read_next_header(listing->archive, &entry);
		int status;

		if (next == ARCHIVE_EOF)
			break;
		if (next != ARCHIVE_OK && next != ARCHIVE_WARN) {
			note(listing, WIRE_REASON_INPUT_INVALID);
			break;
		}
		if (listing->result->entries == OBSERVER_TREE_ENTRIES) {
			note(listing, WIRE_REASON_LIMIT);
			break;
		}
		listing->result->entries++;
		status = visit(listing, entry, err);
		if (status)
			return status;
	}
	return 0;
}

int files_archive_walk(int fd, const struct tree_visitor *visitor, void *context, struct tree_result *out,
		       struct error **err)
{
	__attribute__((cleanup(free_archive))) struct archive *archive = archive_read_new();
	cleanup_free char *chunk = malloc(CHUNK_BYTES);
	struct listing listing = {
		.archive = archive, .visitor = visitor, .context = context, .result = out, .chunk = chunk
	};
	int status = 0;

	memset(out, 0, sizeof(*out));
	if (!archive || !chunk || archive_read_support_format_tar(archive) != ARCHIVE_OK)
		return error_set(err, ERROR_MEMORY, "no memory for an archive");
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(err, errno, "an archive");
	if (!closed(fd))
		note(&listing, WIRE_REASON_TRUNCATED);
	else if (archive_read_open_fd(archive, fd, CHUNK_BYTES) != ARCHIVE_OK)
		note(&listing, WIRE_REASON_INPUT_INVALID);
	else
		status = list(&listing, err);
	explicit_bzero(chunk, CHUNK_BYTES);
	return status;
}
