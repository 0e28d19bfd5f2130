/*
 * A folder that the agent may have written, walked once: by openat2 below its descriptor, never over a symbolic link
 * and never onto another mount, each entry by O_PATH first, and only regular files are read. Extended attributes
 * are read of every entry.
 */
#ifndef HARNESS_OBSERVERS_TREE_H
#define HARNESS_OBSERVERS_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "observers/wire.h"

/* What a walk meets, be it a folder's or an archive's. Negative with *err set ends the walk. */
struct tree_visitor {
	/* The next entry: a folder's gives its own name, an archive's its path without leading "/" and "./"; `link` is
	 * the target of a link, or "". */
	int (*entry)(void *context, const char *name, const char *link, struct error **err);
	/* The name or the value of an extended attribute of that entry, whole; an archive's walk has none. */
	int (*attribute)(void *context, const void *bytes, size_t length, struct error **err);
	/* The next bytes of that entry's content. */
	int (*data)(void *context, const void *bytes, size_t length, struct error **err);
	/* The entry is over. A folder is over before its entries come. */
	int (*end)(void *context, struct error **err);
};

struct tree_result {
	uint64_t entries;
	uint64_t bytes; /* of contents and attributes */
	uint64_t skipped; /* mounts in it, not entered */
	enum wire_reason reason; /* LIMIT: not all was seen; INPUT_INVALID: something could not be read; TRUNCATED */
};

/* Walks below `folder` (an O_PATH descriptor will do). What is wrong with the tree is a reason; an error is ours. */
int tree_walk(int folder, const struct tree_visitor *visitor, void *context, struct tree_result *out,
	      struct error **err) MUST_CHECK;
/* Opens the regular file at `path` below `folder` by the same rules: its descriptor for reading, or -1. */
int tree_open(int folder, const char *path);
/* Whether the regular file at `path` holds exactly `text`. */
bool tree_holds(int folder, const char *path, const char *text);

#endif
