/* What is derived from environment.json: two texts for readers, and whether the environment changed during the run. */
#ifndef HARNESS_REPORTS_ENVIRONMENT_H
#define HARNESS_REPORTS_ENVIRONMENT_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/error.h"
#include "core/json.h"

#define ENVIRONMENT_SCHEMA "confinement-evidence/environment/1"

/* kernel.txt and docker-version.txt, as whoever reads a CI artifact expects them; no host name. */
int environment_kernel_text(const char *environment, size_t length, struct buf *out, struct error **err) MUST_CHECK;
int environment_engine_text(const char *environment, size_t length, struct buf *out, struct error **err) MUST_CHECK;
/* Whether the two snapshots differ in any fact but those that change by themselves. */
int environment_differs(const char *environment, size_t length, bool *out, struct error **err) MUST_CHECK;

/* The facts of a snapshot, in order; NULL beyond the last. */
const char *environment_fact(size_t index);
/* Whether there is such a fact, and `value` is null or of its form. */
bool environment_fact_fits(const char *name, const struct json_node *value);
/* Whether it changes by itself: it is told, and not compared. */
bool environment_fact_varies(const char *name);
/* Whether a bundle of format 1.0 lacks it: what it says is then not known. */
bool environment_fact_later(const char *name);

/* Its form: two snapshots, each with every fact and no other, and those named, once, that are null in either.
 * ERROR_INPUT with file and field. */
int environment_check(const char *environment, size_t length, struct error **err) MUST_CHECK;
/* The keyed digest of the boot that the snapshots name; "" when they do not. */
int environment_boot_of(const char *environment, size_t length, char *out, size_t size, struct error **err) MUST_CHECK;

/* The needs of scenarios that the run's host lacks, by the first snapshot, NULL-terminated. ERROR_INPUT when it does
 * not say. */
#define ENVIRONMENT_NEEDS 4
int environment_lacks(const char *environment, size_t length, const char *out[ENVIRONMENT_NEEDS + 1],
		      struct error **err) MUST_CHECK;
/* What no run starts on, by the first snapshot: a core pattern that is no file's, an engine that is rootless or remaps
 * users, or does not say so, a version of the API that is none of ours. ERROR_INPUT with file and field. */
int environment_refused(const char *environment, size_t length, struct error **err) MUST_CHECK;

/* Why a fact is null; NULL-terminated. */
extern const char *const *const environment_reasons;
/* The JSON Schema of the fact with that index, and of environment.json; appended. */
void environment_fact_schema(size_t index, struct buf *out);
int environment_schema(struct buf *out, struct error **err) MUST_CHECK;

#endif
