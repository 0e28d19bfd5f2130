/* What is derived from environment.json: two texts for readers, and whether the environment changed during the run. */
#ifndef HARNESS_REPORTS_ENVIRONMENT_H
#define HARNESS_REPORTS_ENVIRONMENT_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/error.h"

/* kernel.txt and docker-version.txt, as whoever reads a CI artifact expects them; no host name. */
int environment_kernel_text(const char *environment, size_t length, struct buf *out, struct error **err) MUST_CHECK;
int environment_engine_text(const char *environment, size_t length, struct buf *out, struct error **err) MUST_CHECK;
int environment_differs(const char *environment, size_t length, bool *out, struct error **err) MUST_CHECK;

/* Its form: two snapshots of listed facts (numbers, booleans, version strings of printable ASCII, null), and the null
 * ones named. ERROR_INPUT with file and field. */
int environment_check(const char *environment, size_t length, struct error **err) MUST_CHECK;
/* The keyed digest of the boot that the snapshots name; "" when they do not. */
int environment_boot_of(const char *environment, size_t length, char *out, size_t size, struct error **err) MUST_CHECK;

/* The needs of scenarios that the run's host lacks, by the first snapshot, NULL-terminated. ERROR_INPUT when it does
 * not say. */
#define ENVIRONMENT_NEEDS 3
int environment_lacks(const char *environment, size_t length, const char *out[ENVIRONMENT_NEEDS + 1],
		      struct error **err) MUST_CHECK;
/* What no run starts on, by the first snapshot: a core pattern that is no file's, an engine that is rootless or remaps
 * users, a version of the API that is none of ours. ERROR_INPUT with file and field. */
int environment_refused(const char *environment, size_t length, struct error **err) MUST_CHECK;

#define ENVIRONMENT_SCHEMA "confinement-evidence/environment/1"
#define ENVIRONMENT_TEXT_MAX 128 /* bytes of a version string */
#define ENVIRONMENT_LIST_MAX 64 /* of them in one fact */
/* The facts that a snapshot may hold, and why one is null; both NULL-terminated. */
extern const char *const *const environment_facts;
extern const char *const *const environment_reasons;
/* The JSON Schema of environment.json, appended. */
int environment_schema(struct buf *out, struct error **err) MUST_CHECK;

#endif
