/* Whether the plan is the one that the manifest says: repetitions, shards, and what the whole was. */
#include <string.h>

#include "core/fd.h"
#include "reports/coverage.h"
#include "reports/verify_parts.h"

/* A shard alone cannot tell what the others had to run. */
static int check_plan(const struct bundle *bundle, struct error **err)
{
	const struct manifest_origin *origin = &bundle->manifest.origin;
	char again[HEX_SHA256] = "";
	struct plan *whole = NULL;
	bool twice;
	int result;

	if (!plan_ordered(bundle->plan))
		return error_set(err, ERROR_INPUT, "coverage.json: not in the order of a plan");
	if (origin->shard.of > 1)
		return 0;
	result = plan_unmerge(bundle->plan, origin->repeat, &whole, err);
	if (result >= 0)
		result = coverage_digest(whole, again, err);
	twice = whole && plan_selected(whole) != plan_selected(bundle->plan);
	plan_free(whole);
	if (result >= 0 && twice)
		return error_set(err, ERROR_INPUT, "coverage.json: an arm was selected in two shards");
	if (result >= 0 && strcmp(again, origin->plan) != 0)
		return error_set(err, ERROR_INPUT,
				 "manifest.json: planSha256 is not of the plan and the scenarios in the bundle");
	return result;
}

static int check_arm(const struct bundle *bundle, size_t index, struct error **err)
{
	const struct manifest_origin *origin = &bundle->manifest.origin;
	const struct arm_record *arm = &bundle->arms[index];
	int64_t shards = origin->merged_count ? (int64_t)origin->merged_count : 1;
	int64_t shard = origin->merged_count ? plan_merged_shard(arm->repetition, origin->repeat) : 0;

	if (arm->repetition > origin->repeat * shards)
		return error_set(err, ERROR_INPUT,
				 "arms.json: arms[%zu] was repeated more often than the manifest says", index);
	if (arm->shard != shard)
		return error_set(err, ERROR_INPUT, "arms.json: arms[%zu] is not of the shard that its repetition is of",
				 index);
	return 0;
}

int check_origin(const struct bundle *bundle, struct error **err)
{
	const struct manifest_origin *origin = &bundle->manifest.origin;
	int result;

	if (origin->shard.index > origin->shard.of)
		return error_set(err, ERROR_INPUT, "manifest.json: shard: of so many there is none of that index");
	if (origin->merged_count > 0 && origin->shard.of > 1)
		return error_set(err, ERROR_INPUT, "manifest.json: a merged run is no shard");
	result = check_plan(bundle, err);
	for (size_t i = 0; i < bundle->arms_count && result >= 0; i++)
		result = check_arm(bundle, i, err);
	return result;
}
