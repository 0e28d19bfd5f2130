/*
 * What a container wrote, by the kernel's own accounting, and without a second holder of any stream: the bytes that its
 * first process wrote, which the kernel hands to the parent when that one is gone; and the bytes that the parent, the
 * engine's shim, passed on to the engine.
 */
#ifndef HARNESS_OBSERVERS_ENGINE_IO_H
#define HARNESS_OBSERVERS_ENGINE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENGINE_IO_THREADS 128

/* A thread of the shim's: what it wrote when it was first seen, or 0 where it came later, and when it was last seen. */
struct engine_io_thread {
	int64_t id, first, last;
};

struct engine_io {
	int process, shim; /* folders of /proc, or -1 */
	int64_t process_base, shim_base; /* when it was opened */
	struct engine_io_thread threads[ENGINE_IO_THREADS]; /* also those that have left */
	size_t threads_count;
	bool final; /* the process was dead at the last look, and nothing that it wrote is missing */
	bool drained; /* the shim was looked at behind the end */
	int64_t written; /* by the process, its own children that it waited for included; from the opening on */
	int64_t streamed; /* by the shim itself */
};
#define ENGINE_IO_NONE ((struct engine_io){ .process = -1, .shim = -1 })

/* `process` is the folder of a live process in our /proc, not taken; its parent must be the engine's shim. False: one
 * of them could not be read, or the parent is another program. */
bool engine_io_open(struct engine_io *io, int process);
bool engine_io_opened(const struct engine_io *io);
/* Counts anew; a value never falls. To be called while the process lives and, `dead`, as soon as it does not: the shim
 * leaves some milliseconds after it. False when the shim is gone: there is nothing more to look at. */
bool engine_io_look(struct engine_io *io, bool dead);
/* Idempotent. */
void engine_io_close(struct engine_io *io);

#endif
