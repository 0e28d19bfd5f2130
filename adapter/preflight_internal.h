/* What the files of preflight share, and their tests; for nobody else. */
#ifndef HARNESS_ADAPTER_PREFLIGHT_INTERNAL_H
#define HARNESS_ADAPTER_PREFLIGHT_INTERNAL_H

#include "adapter/preflight.h"

/* preflight_peer() over a descriptor of a folder like /proc, which holds self/ns/net and, for each process, comm and
 * ns/net. */
int preflight_peer_in(int proc, int pid, unsigned uid, int64_t *engine, struct error **err) MUST_CHECK;
/* preflight_own() for a socket in `folder`, a path without symbolic links, with `proc` as above; only its stat is read.
 */
int preflight_own_in(int proc, const char *folder, int64_t pid, const char *root, struct error **err) MUST_CHECK;
/* Whether a kernel of this release ("6.1.0-18-amd64") runs inside another system's virtual machine for Linux programs.
 */
bool preflight_foreign_kernel(const char *release);

#endif
