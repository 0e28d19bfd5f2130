/*
 * The container's profile: every protection as data. The reference profile is the source text's; a mutation changes a
 * copy. The create body and the admission rules are both made from it, and admission trusts neither.
 */
#ifndef HARNESS_ADAPTER_PROFILE_H
#define HARNESS_ADAPTER_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/limits.h"

struct profile {
	const char *id; /* "reference" */
	const char *network_mode; /* "none" */
	bool read_only_root;
	bool drop_all_capabilities;
	bool no_new_privileges;
	uint32_t uid, gid; /* both non-zero */
	const char *log_driver; /* "none" */
	int64_t pids; /* 32 */
	int64_t memory_bytes; /* 128 MiB; memory-swap is equal to it */
	int64_t core_soft, core_hard; /* 0, 0 */
	const char *ipc_mode; /* "private" */
	const char *runtime; /* "runc" */
	const char *restart; /* "no"; or "on-failure", at most three times */
	const char *working_dir; /* "/" */
};

extern const struct profile profile_reference;

/* What names a container beside its profile. */
struct profile_identity {
	const char *image; /* immutable id, "sha256:..." */
	const char *run; /* label's value: the run's id */
	const char *role; /* label's value: "arm" or "control" */
	const char *const *command; /* NULL-terminated; entrypoint and command exactly as declared */
};
#define PROFILE_LABEL_RUN "harness.run"
#define PROFILE_LABEL_ROLE "harness.role"

/* Appends the body for POST /containers/create. Every field that the engine would otherwise inherit or default is
 * explicit (Healthcheck NONE among them). */
int profile_create_body(const struct profile *profile, const struct profile_identity *identity, struct buf *out,
			struct error **err) MUST_CHECK;

/* profile.json of the bundle, canonical: the protections {id, setting, required, admissionRule}. */
int profile_encode(const struct profile *profile, struct buf *out, struct error **err) MUST_CHECK;

#endif
