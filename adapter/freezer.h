/* The freezer of a cgroup: where version 1 holds a container still, SIGKILL waits until it is let go. */
#ifndef HARNESS_ADAPTER_FREEZER_H
#define HARNESS_ADAPTER_FREEZER_H

#include <stdbool.h>

/* `folder` is the cgroup's in the hierarchy that freezes it; -1 is none. False when there is none, or it was refused.
 */
bool freezer_set(int folder, bool frozen);

#endif
