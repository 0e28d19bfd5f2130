/* Whether the bundle's parts can belong to one run: arms as planned, cells absent as the host lacks, observations as
 * their observers make them. */
#include <stdio.h>
#include <string.h>

#include "core/fd.h"
#include "reports/environment.h"
#include "reports/verify_parts.h"

int check_records(const struct bundle *bundle, struct error **err)
{
	if (bundle->arms_count != bundle->plan->arms_count)
		return error_set(err, ERROR_INPUT, "arms.json has %zu arms, %zu are planned", bundle->arms_count,
				 bundle->plan->arms_count);
	for (size_t i = 0; i < bundle->arms_count; i++)
		if (strcmp(bundle->arms[i].arm, bundle->plan->arms[i].scenario->id) != 0 ||
		    bundle->arms[i].repetition != bundle->plan->arms[i].repetition)
			return error_set(err, ERROR_INPUT, "arms.json: arms[%zu] is not the planned one", i);
	return 0;
}

/* Each probe of an arm has a canary of its own. An arm that broke may not have come to make any. */
static int check_canaries(const struct bundle *bundle, struct error **err)
{
	size_t probes = 0;

	for (size_t i = 0; i < bundle->arms_count; i++)
		if (bundle->arms[i].status == ARM_OK)
			probes += bundle->plan->arms[i].scenario->probes_count;
	if (bundle->manifest.canaries < (int64_t)probes)
		return error_set(err, ERROR_INPUT, "manifest.json: fewer canaries than the %zu probes of its arms",
				 probes);
	return 0;
}

/* ---- what host and gateway lack ---- */

const struct plan_absent *bundle_absent(const struct plan *plan, const struct scenario *scenario,
					const struct expectation *cell)
{
	for (size_t i = 0; i < plan->absent_count; i++)
		if (plan->absent[i].scenario == scenario && plan->absent[i].expectation == cell)
			return &plan->absent[i];
	return NULL;
}

static int check_cell(const struct bundle *bundle, const struct ground *ground, const struct scenario *scenario,
		      const struct expectation *cell, struct error **err)
{
	const struct plan_absent *absent = bundle_absent(bundle->plan, scenario, cell);
	const char *reason = ground_lacks(ground, bundle->scenarios, bundle->scenarios_count, scenario, cell);

	if (!absent != !reason)
		return error_set(err, ERROR_INPUT,
				 "coverage.json: '%s' at '%s' of '%s' is %s, and host and gateway %s what it needs",
				 cell->subject, cell->observer, scenario->id, reason ? "planned" : "absent",
				 reason ? "lack" : "have");
	if (reason && (ground_is_gateway_reason(reason) || ground_is_gateway_reason(absent->reason)) &&
	    strcmp(reason, absent->reason) != 0)
		return error_set(err, ERROR_INPUT, "coverage.json: '%s' at '%s' of '%s' is absent for another reason",
				 cell->subject, cell->observer, scenario->id);
	return 0;
}

/* The planner's rule, asked again of what the environment says of the host and the manifest of the gateway. */
static int check_absent(const struct bundle *bundle, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_ENVIRONMENT].text;
	const char *missing[ENVIRONMENT_NEEDS + 1] = { NULL };
	const struct ground ground = { .missing = missing,
				       .gateway = (enum gateway_kind)bundle->manifest.gateway.kind,
				       .raised = bundle->manifest.gateway.raised };
	int result = environment_lacks(buf_string(text), text->length, missing, err);

	for (size_t i = 0; i < bundle->scenarios_count && result >= 0; i++) {
		const struct scenario *scenario = &bundle->scenarios[i];

		for (size_t c = 0; c < scenario->expect_count && result >= 0; c++)
			result = check_cell(bundle, &ground, scenario, &scenario->expect[c], err);
	}
	return result;
}

int check_references(struct bundle *bundle, struct error **err)
{
	int result = check_records(bundle, err);

	if (result >= 0)
		result = check_origin(bundle, err);
	if (result >= 0)
		result = check_canaries(bundle, err);
	if (result >= 0)
		result = check_absent(bundle, err);
	if (result >= 0)
		result = bundle_give(&bundle->unfit, err);
	return result < 0 ? result : check_timelines(bundle, err);
}
