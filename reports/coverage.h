/* coverage.json: the arms of the plan, the cells that this host could not make, and what no cell covers. */
#ifndef HARNESS_REPORTS_COVERAGE_H
#define HARNESS_REPORTS_COVERAGE_H

#include "core/buf.h"
#include "oracle/plan.h"

/* Digest of a plan with all that it expects: coverage.json and behind it scenarios.json, as a bundle would have them.
 */
int coverage_digest(const struct plan *plan, char out[HEX_SHA256], struct error **err) MUST_CHECK;

int coverage_encode(const struct plan *plan, struct buf *out, struct error **err) MUST_CHECK;
/* Rebuilds the plan over scenarios that were decoded from the same bundle. plan_free() it. */
int coverage_decode(const char *bytes, size_t length, const struct scenario *scenarios, size_t count, struct plan **out,
		    struct error **err) MUST_CHECK;

/* Its three fixed lists, each NULL-terminated. */
const char *const *coverage_untested(void);
const char *const *coverage_assumptions(void);
const char *const *coverage_not_established(void);

/* scenarios.json: the scenarios of the plan, sorted by id. */
int scenarios_encode(const struct plan *plan, struct buf *out, struct error **err) MUST_CHECK;
#define SCENARIOS_SCHEMA "confinement-evidence/scenarios/1"
#define SCENARIOS_BEGIN "{\"scenarios\":["
#define SCENARIOS_END "],\"schema\":\"" SCENARIOS_SCHEMA "\"}"
/* One element of its array, which must be in its canonical form. */
int scenario_read(const char *bytes, size_t length, struct scenario *out, struct error **err) MUST_CHECK;
int scenarios_decode(const char *bytes, size_t length, struct scenario **out, size_t *count,
		     struct error **err) MUST_CHECK;

/* The JSON Schema of each, appended. */
int coverage_schema(struct buf *out, struct error **err) MUST_CHECK;
int scenarios_schema(struct buf *out, struct error **err) MUST_CHECK;

#endif
