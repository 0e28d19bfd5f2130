/* What /proc says of another process, read below a descriptor of its folder: who is looked at stays the same one. */
#ifndef HARNESS_CORE_PROC_H
#define HARNESS_CORE_PROC_H

#include <stdbool.h>
#include <sys/types.h>

/* The process that it was started by, or that adopted it; -1 when it is gone or the folder is none. */
pid_t proc_parent(int process);
/* Whether the kernel's name for it is exactly this one: at most 15 bytes, the rest is cut off. */
bool proc_named(int process, const char *name);

#endif
