/*
 * What must hold on the host before a run: native Linux, a local Unix socket whose peer is an engine, a core pattern
 * that is a file pattern, an engine in our network namespace. Refused by name, with what to do. Never changes the host.
 */
#ifndef HARNESS_ADAPTER_PREFLIGHT_H
#define HARNESS_ADAPTER_PREFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"
#include "core/limits.h"

/* Pure: the class of a core pattern. */
enum core_class { CORE_FILE, CORE_PIPE, CORE_SOCKET, CORE_EMPTY };
enum core_class core_pattern_class(const char *pattern);
extern const char *const core_class_names[];
/* Reads /proc/sys/kernel/core_pattern. */
int core_pattern_read(enum core_class *out, struct error **err) MUST_CHECK;

/* Whether a core file goes to the working directory of the process that crashed: a relative file pattern. */
bool core_pattern_relative(const char *pattern);
bool preflight_core_relative(void);

/* Which engine answered, and whether it is one that we know to be local, rootful and plain. Pure, over the answers of
 * /version and /info: Podman, Docker Desktop, rootless, userns-remap, non-Linux: ERROR_REFUSED, each by its name. */
int preflight_engine(const struct json_node *version, const struct json_node *info, struct error **err) MUST_CHECK;
/* The socket's peer is uid 0 and dockerd, or pid 1 (socket activation: dockerd is then found in /proc); its network
 * namespace is ours, else ERROR_REFUSED with the nsenter command that mends it. *engine is dockerd's pid. */
int preflight_peer(int pid, unsigned uid, int64_t *engine, struct error **err) MUST_CHECK;
/* Whether this engine may be hurt: a file of root's beside its socket names the process `pid`, which listens there, as
 * one that `ci/engine start --own` started, and its data (`root`) lies beside it too. Anything else is ERROR_REFUSED.
 */
int preflight_own(const char *socket_path, int64_t pid, const char *root, struct error **err) MUST_CHECK;
/* Whether ::1 can be bound. */
bool preflight_ipv6_loopback(void);
/* Whether the file system at `root`, the engine's data folder as the engine's process sees it, keeps attributes of
 * users ("user.*"). Writes nothing. Where it answers false, errno is EOPNOTSUPP, or why it could not look. */
bool preflight_user_xattr(int64_t engine, const char *root);

/* Every program that takes part beside harness and agent, by its name in libexec: doctor looks for each, and a bundle
 * holds each one's digest. Ended by NULL. */
extern const char *const preflight_helpers[];

/* For `harness doctor`: one need of the host. What was not looked at is unknown, never ok; what only some cells or runs
 * need is absent, not missing. */
enum finding_status { FINDING_MISSING, FINDING_OK, FINDING_ABSENT, FINDING_UNKNOWN };
struct preflight_finding {
	const char *id;
	enum finding_status status;
	char found[256]; /* fixed text and numbers */
	const char *mend; /* the command or step that mends it; NULL exactly when it is ok */
};
/* `socket` as the run would use it. Returns how many of at most `max` were filled. Does not stop at the first. */
size_t preflight_findings(const char *socket, struct preflight_finding *out, size_t max);

#endif
