/* A bundle that was verified and stays open: what other verbs read of it. */
#ifndef HARNESS_REPORTS_OPENED_H
#define HARNESS_REPORTS_OPENED_H

#include "reports/generate.h"
#include "reports/verify.h"

struct opened;

/* verify_bundle(), and *out once the verdicts were made again, and with them all that they rest on: manifest, plan,
 * arms. Where a check failed, or one of those was not made, *out is NULL and *report says which. opened_free() it. */
int opened_new(int fd, const struct verify_options *options, struct verify_report *report, struct opened **out,
	       struct error **err) MUST_CHECK;
/* The same, and *out also where a check failed, once the verdicts were made again: they rest on all that they are made
 * from. */
int opened_judged(int fd, struct verify_report *report, struct opened **out, struct error **err) MUST_CHECK;
/* Accepts NULL. */
void opened_free(struct opened *opened);
static inline void opened_cleanup(struct opened **opened)
{
	opened_free(*opened);
}
#define cleanup_opened __attribute__((cleanup(opened_cleanup)))

/* All of it lives as long as `opened`. */
const struct manifest *opened_manifest(const struct opened *opened);
const struct findings *opened_findings(const struct opened *opened);
const struct scenario *opened_scenarios(const struct opened *opened, size_t *count);
/* The member's bytes; not of observations.jsonl, which is read by line. NULL where an optional one is not there. */
const char *opened_text(const struct opened *opened, int member, size_t *length);

/* Each line of observations.jsonl without its line feed, not NUL-terminated, in order, read again from `fd`, a regular
 * file, from its start. */
typedef int (*opened_line)(void *context, const char *line, size_t length, struct error **err);
int opened_observations(int fd, opened_line take, void *context, struct error **err) MUST_CHECK;

#endif
