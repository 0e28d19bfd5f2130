/* The engine's archive of a container, listed by libarchive: what a tree_walk() of it would meet. */
#ifndef HARNESS_OBSERVERS_FILES_ARCHIVE_H
#define HARNESS_OBSERVERS_FILES_ARCHIVE_H

#include "observers/tree.h"

/* Reads the uncompressed tar archive in the regular file `fd` from its start. An archive without its closing zero
 * blocks is TRUNCATED, one that cannot be listed INPUT_INVALID; the limits are those of a tree. */
int files_archive_walk(int fd, const struct tree_visitor *visitor, void *context, struct tree_result *out,
		       struct error **err) MUST_CHECK;

#endif
