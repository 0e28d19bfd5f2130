/*
 * Seals a bundle: the exact set of members of schema version 1 in a deterministic ustar+gzip, written beside and
 * renamed. Every byte is scanned for the live canaries, in every encoding, and for anything of a canary's shape: a hit
 * refuses.
 */
#ifndef HARNESS_REPORTS_BUNDLE_H
#define HARNESS_REPORTS_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/canary.h"
#include "core/error.h"
#include "core/limits.h"

#define BUNDLE_TOP "confinement-evidence"
#define BUNDLE_ARCHIVE "confinement-evidence.tar.gz"
#define BUNDLE_SUMS "SHA256SUMS"

/* Makes the bytes of a member that speaks of SHA256SUMS, and so is not listed there, once that is written. */
struct bundle_late {
	int (*make)(void *context, const char *sums_sha256, struct buf *out, struct error **err);
	void *context;
};

struct bundle_member {
	const char *name;
	const char *bytes; /* or NULL with `fd` or `late` */
	size_t length;
	int fd; /* -1, or a regular file that is read from its start (observations.jsonl) */
	const struct bundle_late *late;
};

struct bundle_identity {
	char sums_sha256[HEX_SHA256]; /* SHA-256 of SHA256SUMS: the bundle's identity */
	char archive_sha256[HEX_SHA256];
	int64_t bytes; /* of the archive */
};

/* `members`: every member but SHA256SUMS that a bundle must have, and what it may have, in any order. Writes
 * `directory`/confinement-evidence.tar.gz, mode 0644. Nothing stays behind on error: ERROR_REFUSED when a canary was
 * found. */
int bundle_seal(int directory, const struct bundle_member *members, size_t count, const struct canary *live,
		size_t live_count, struct bundle_identity *out, struct error **err) MUST_CHECK;

#endif
