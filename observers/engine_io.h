/*
 * What a container wrote, by the kernel's own accounting, and without a second holder of any stream: the bytes that its
 * first process wrote, and those that its parent, the engine's shim, wrote to pass them on. When the process is gone
 * and waited for, the kernel adds its bytes to the parent's. So it is their sum that is exact, whoever was faster.
 */
#ifndef HARNESS_OBSERVERS_ENGINE_IO_H
#define HARNESS_OBSERVERS_ENGINE_IO_H

#include <stdbool.h>
#include <stdint.h>

struct engine_io {
	int process, shim; /* folders of /proc, or -1 */
	int64_t process_base, shim_base; /* when it was opened */
	bool final; /* the process was dead at the last look: nothing that it wrote is missing */
	int64_t written; /* by both, from the opening on */
};
#define ENGINE_IO_NONE ((struct engine_io){ .process = -1, .shim = -1 })

/* `process` is the folder of a live process in our /proc, not taken; its parent must be the engine's shim. False: one
 * of them could not be read, or the parent is another program. */
bool engine_io_open(struct engine_io *io, int process);
bool engine_io_opened(const struct engine_io *io);
/* Counts anew, until the count is final. To be called while the process lives and, `dead`, as soon as it does not: the
 * shim leaves some milliseconds after it. False where there was nothing to be read: the shim is gone. */
bool engine_io_look(struct engine_io *io, bool dead);
/* Idempotent. */
void engine_io_close(struct engine_io *io);

#endif
