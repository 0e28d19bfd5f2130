/*
 * A file that another process appends to, followed from its first byte. Whatever was read once must stay: a file that
 * shrank or was written over is no evidence.
 */
#ifndef HARNESS_OBSERVERS_TAIL_H
#define HARNESS_OBSERVERS_TAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/buf.h"
#include "core/hash.h"
#include "observers/observer.h"

#define TAIL_READ_BYTES (64 * KIB)
#define TAIL_FILE_BYTES (256LL * MIB)

struct tail;
/* Takes whole units off the front of `pending`; negative with *err set ends the program. */
typedef int (*tail_take)(struct observer *observer, struct tail *tail, struct error **err);

struct tail {
	int fd; /* -1: not given yet */
	size_t view; /* that goes blind when the file cannot be followed */
	off_t offset;
	struct hash *hash; /* of the bytes before offset */
	struct buf pending; /* the unit that is not whole yet */
	bool stopped; /* followed no longer */
	tail_take take;
};

void tail_init(struct tail *tail, size_t view, size_t unit_max, tail_take take);
/* Takes over a descriptor for reading of a regular file. */
int tail_open(struct tail *tail, int fd, struct error **err) MUST_CHECK;
/* Reads what is new. A shrunk file or a unit above its maximum makes the view blind. */
int tail_pull(struct tail *tail, struct observer *observer, struct error **err) MUST_CHECK;
/* Missing input: blind. At AFTER, also when the last unit is not whole, or when what was read has changed since. */
int tail_check(struct tail *tail, struct observer *observer, enum wire_phase phase, struct error **err) MUST_CHECK;
void tail_close(struct tail *tail);

#endif
