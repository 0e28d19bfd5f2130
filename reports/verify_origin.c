/* Whether the plan is the one that the manifest says: repetitions, shards, and what the whole was. */
#include <string.h>

#include "core/fd.h"
#include "reports/coverage.h"
#include "reports/environment.h"
#include "reports/verify_parts.h"

/* Each arm of the first repetition ran in every other too. */
static bool repeated(const struct plan *whole, int64_t repeat)
{
	size_t once = whole->arms_count / (size_t)repeat;

	if (whole->arms_count == 0 || once * (size_t)repeat != whole->arms_count)
		return false;
	for (size_t i = 0; i < whole->arms_count; i++)
		if (whole->arms[i].repetition != (int64_t)(i / once) + 1 ||
		    whole->arms[i].scenario != whole->arms[i % once].scenario)
			return false;
	return true;
}

static bool selected(const struct manifest_origin *origin, const struct scenario *scenario)
{
	for (size_t i = 0; i < origin->selection_count; i++)
		if (scenario_selected(scenario, origin->selection[i]))
			return true;
	return false;
}

/* Whether a word selects any scenario of the bundle: those of which no arm can be made stand there too. */
static bool selects(const struct bundle *bundle, const char *word)
{
	for (size_t i = 0; i < bundle->scenarios_count; i++)
		if (scenario_selected(&bundle->scenarios[i], word))
			return true;
	return false;
}

/* The arms that were not added are those that the words select, and each word selects something. In a shard the other
 * shards have the rest. */
static int check_selection(const struct bundle *bundle, const struct plan *plan, struct error **err)
{
	const struct manifest_origin *origin = &bundle->manifest.origin;
	bool shard = origin->shard.of > 1;

	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct plan_arm *arm = &plan->arms[i];
		bool said = selected(origin, arm->scenario);

		if (!arm->added && !said)
			return error_set(err, ERROR_INPUT, "manifest.json: selection: no word of it selects '%s'",
					 arm->scenario->id);
		if (arm->added && said && !shard)
			return error_set(err, ERROR_INPUT,
					 "coverage.json: '%s' is only added, and the manifest's selection has it",
					 arm->scenario->id);
	}
	for (size_t i = 0; i < origin->selection_count && !shard; i++)
		if (!selects(bundle, origin->selection[i]))
			return error_set(err, ERROR_INPUT,
					 "manifest.json: selection: word %zu selects no scenario of the bundle", i + 1);
	return 0;
}

/* A shard alone cannot tell what the others had to run. */
static int check_plan(const struct bundle *bundle, struct error **err)
{
	const struct manifest_origin *origin = &bundle->manifest.origin;
	char again[HEX_SHA256] = "";
	struct plan *whole = NULL;
	bool twice, each;
	int result;

	if (!plan_ordered(bundle->plan))
		return error_set(err, ERROR_INPUT, "coverage.json: not in the order of a plan");
	if (origin->shard.of > 1 && strspn(origin->plan, "0") == strlen(origin->plan))
		return error_set(err, ERROR_INPUT, "manifest.json: planSha256: a shard is of a plan, and names it");
	if (origin->shard.of > 1)
		return check_selection(bundle, bundle->plan, err);
	result = plan_unmerge(bundle->plan, origin->repeat, &whole, err);
	if (result >= 0)
		result = coverage_digest(whole, again, err);
	twice = whole && plan_selected(whole) != plan_selected(bundle->plan);
	each = whole && repeated(whole, origin->repeat);
	if (result >= 0 && !each)
		result = error_set(err, ERROR_INPUT,
				   "coverage.json: not each arm in each of the repetitions that the manifest says");
	if (result >= 0 && twice)
		result = error_set(err, ERROR_INPUT, "coverage.json: an arm was selected in two shards");
	if (result >= 0 && strcmp(again, origin->plan) != 0)
		result = error_set(err, ERROR_INPUT,
				   "manifest.json: planSha256 is not of the plan and the scenarios in the bundle");
	if (result >= 0)
		result = check_selection(bundle, whole, err);
	plan_free(whole);
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

/* Each optional member stands where the manifest speaks of it, and nowhere else. */
static int check_sources(const struct bundle *bundle, struct error **err)
{
	const struct manifest *manifest = &bundle->manifest;
	const struct manifest_source *of = &manifest->origin.replay_of;

	if ((manifest->origin.merged_count > 0) != (bundle->merge != NULL))
		return error_set(err, ERROR_INPUT, "manifest.json: mergedFrom: merge.json says otherwise");
	if ((of->run[0] != '\0') != (bundle->replay != NULL))
		return error_set(err, ERROR_INPUT, "manifest.json: replayOf: replay.json says otherwise");
	if (bundle->replay &&
	    (strcmp(of->run, bundle->replay->of.run) != 0 || strcmp(of->sums, bundle->replay->of.sums) != 0))
		return error_set(err, ERROR_INPUT, "manifest.json: replayOf: replay.json is of another bundle");
	if (bundle->replay && strcmp(of->run, manifest->run) == 0)
		return error_set(err, ERROR_INPUT, "manifest.json: replayOf: no run repeats itself");
	return bundle->merge ? merge_check(bundle->merge, manifest, err) : 0;
}

/* What is read is written again: nothing can stand in a member that its reader passes over. */
static int same_again(const struct bundle *bundle, int member, const struct buf *again, struct error **err)
{
	const struct buf *text = &bundle->members[member].text;

	if (text->length == again->length && memcmp(buf_string(text), buf_string(again), again->length) == 0)
		return 0;
	return error_set(err, ERROR_INPUT, "%s is not in its canonical form", member_kinds[member].name);
}

int check_optional(struct bundle *bundle, struct error **err)
{
	cleanup_buf struct buf merge_again = BUF(BUNDLE_FILE_BYTES), replay_again = BUF(BUNDLE_FILE_BYTES);
	const struct buf *merge = &bundle->members[MEMBER_MERGE].text, *replay = &bundle->members[MEMBER_REPLAY].text;

	if (bundle->members[MEMBER_MERGE].present &&
	    (merge_decode(buf_string(merge), merge->length, &bundle->merge, err) < 0 ||
	     merge_encode(bundle->merge, &merge_again, err) < 0 ||
	     same_again(bundle, MEMBER_MERGE, &merge_again, err) < 0))
		return -1;
	if (bundle->members[MEMBER_REPLAY].present &&
	    (replay_decode(buf_string(replay), replay->length, &bundle->replay, err) < 0 ||
	     replay_encode(bundle->replay, &replay_again, err) < 0 ||
	     same_again(bundle, MEMBER_REPLAY, &replay_again, err) < 0))
		return -1;
	return 0;
}

int check_boots(const struct bundle *bundle, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_ENVIRONMENT].text;
	char boot[HEX_SHA256];

	if (bundle->merge)
		return merge_check_environments(bundle->merge, bundle->arms, bundle->arms_count, buf_string(text),
						text->length, err);
	if (environment_boot_of(buf_string(text), text->length, boot, sizeof(boot), err) < 0)
		return -1;
	for (size_t i = 0; i < bundle->arms_count; i++)
		if (bundle->arms[i].boot[0] && strcmp(bundle->arms[i].boot, boot) != 0)
			return error_set(err, ERROR_INPUT,
					 "arms.json: arms[%zu] ran in another boot than the environment's", i);
	return 0;
}

int bundle_changed(const struct bundle *bundle, bool *out, struct error **err)
{
	const struct buf *text = &bundle->members[MEMBER_ENVIRONMENT].text;

	return bundle->merge ? merge_changed(bundle->merge, out, err)
			     : environment_differs(buf_string(text), text->length, out, err);
}

int check_origin(const struct bundle *bundle, struct error **err)
{
	const struct manifest_origin *origin = &bundle->manifest.origin;
	int result;

	if (origin->shard.index > origin->shard.of)
		return error_set(err, ERROR_INPUT, "manifest.json: shard: of so many there is none of that index");
	if (origin->merged_count > 0 && origin->shard.of > 1)
		return error_set(err, ERROR_INPUT, "manifest.json: a merged run is no shard");
	result = check_sources(bundle, err);
	if (result >= 0)
		result = check_plan(bundle, err);
	for (size_t i = 0; i < bundle->arms_count && result >= 0; i++)
		result = check_arm(bundle, i, err);
	return result;
}
