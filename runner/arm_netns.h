/*
 * The container's network namespace, as early as it exists: the engine makes it long before it answers `start`, and the
 * first process of the container's cgroup stands in it. Whether it was the right one is decided afterwards by its
 * inode.
 */
#ifndef HARNESS_RUNNER_ARM_NETNS_H
#define HARNESS_RUNNER_ARM_NETNS_H

#include <stdbool.h>

struct arm;

/* Drives the start until the namespace is there and its loopback is up, or the start is answered. A descriptor, or -1.
 */
int arm_netns_early(struct arm *arm);
/* Whether the namespace is apart from ours. */
bool arm_netns_apart(int netns);

#endif
