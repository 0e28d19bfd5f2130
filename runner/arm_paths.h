/* Where the engine keeps what an observer looks at: always opened below the engine's own root, never below ours. */
#ifndef HARNESS_RUNNER_ARM_PATHS_H
#define HARNESS_RUNNER_ARM_PATHS_H

#include <sys/types.h>

#include "core/error.h"

struct arm_context;

/* Descriptors (O_PATH) of the overlay's upper directory and of the last lower one, from the mount line of `/`. */
int arm_path_layers(int proc, pid_t engine, int *upper, int *lower, struct error **err) MUST_CHECK;
/* Descriptor (O_PATH) of the engine's folder of a container, or -1. */
int arm_path_container(const struct arm_context *context, const char *container);

#endif
