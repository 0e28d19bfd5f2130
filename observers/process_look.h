/* One look at a process that lives: how many descriptors it has open, and whether it ignores SIGTERM. */
#ifndef HARNESS_OBSERVERS_PROCESS_LOOK_H
#define HARNESS_OBSERVERS_PROCESS_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct process_look {
	bool seen;
	int64_t descriptors;
	int64_t ignores_term; /* 0 or 1 */
};

/* `process` is its folder in /proc. False when it could not be read, as of a process that is gone; *out is then as it
 * was. */
bool process_look(int process, struct process_look *out);

#endif
