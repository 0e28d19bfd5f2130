/*
 * One bundle from the bundles of all shards of one plan. Its arms say which shard they ran in, their repetitions are
 * counted on from shard to shard, and the judge earns no zero across shards. merge.json says what the shards were, and
 * holds the environment of each. Pure.
 */
#ifndef HARNESS_REPORTS_MERGE_H
#define HARNESS_REPORTS_MERGE_H

#include "oracle/judge.h"
#include "reports/manifest.h"

/* ---- merge.json ---- */

struct merge_shard {
	struct manifest_source source;
	char started[NAME_MAX_SHORT], finished[NAME_MAX_SHORT];
	int64_t seed, canaries;
	int executor; /* enum manifest_executor */
	char executor_id[ID_MAX];
};
struct merge {
	struct merge_shard shards[PLAN_SHARDS_MAX];
	size_t count;
	struct buf environments[PLAN_SHARDS_MAX]; /* environment.json of each */
};
int merge_encode(const struct merge *merge, struct buf *out, struct error **err) MUST_CHECK;
/* merge_free() it. */
int merge_decode(const char *bytes, size_t length, struct merge **out, struct error **err) MUST_CHECK;
void merge_free(struct merge *merge);
int merge_schema(struct buf *out, struct error **err) MUST_CHECK;
static inline void merge_cleanup(struct merge **merge)
{
	merge_free(*merge);
}
#define cleanup_merge __attribute__((cleanup(merge_cleanup)))

/* Whether the environment of any shard changed while it ran. */
int merge_changed(const struct merge *merge, bool *out, struct error **err) MUST_CHECK;
/* What a merged bundle's manifest must say, given what merge.json says; ERROR_INPUT names the member that differs. */
int merge_check(const struct merge *merge, const struct manifest *manifest, struct error **err) MUST_CHECK;
/* Each arm ran in the boot of its shard's environment, and each environment is one that a run starts on and lacks the
 * same needs as the first, which is `environment`. */
int merge_check_environments(const struct merge *merge, const struct arm_record *arms, size_t arms_count,
			     const char *environment, size_t length, struct error **err) MUST_CHECK;

/* ---- merging ---- */

/* A bundle that was verified. Borrowed. */
struct merge_source {
	const struct manifest *manifest;
	char sums[HEX_SHA256]; /* its identity */
	const struct scenario *scenarios;
	size_t scenarios_count;
	const struct plan *plan;
	const struct arm_record *arms;
	size_t arms_count;
	const char *environment;
	size_t environment_length;
	size_t place; /* of the caller's, kept when they are sorted */
};
struct merged {
	struct merge merge;
	struct scenario *scenarios;
	size_t scenarios_count;
	struct plan *plan; /* over these scenarios */
	struct arm_record *arms;
	size_t arms_count;
	struct manifest_origin origin;
	char run[NAME_MAX_SHORT + 1]; /* follows from the shards: the same shards make the same bundle */
	char started[NAME_MAX_SHORT], finished[NAME_MAX_SHORT];
	size_t canaries;
};
/* What follows from merge.json: run, times, canaries, and of the origin executor, seed and sources; of a zeroed *out.
 */
void merge_say(const struct merge *merge, struct merged *out);
/* Sorts the sources by shard. ERROR_INPUT, with which and why, unless they are all shards of one plan, each once, with
 * the same image, programs, gateway, profile, scenarios and plan. merged_free() it. */
int merge_sources(struct merge_source *sources, size_t count, struct merged **out, struct error **err) MUST_CHECK;
void merged_free(struct merged *merged);
static inline void merged_cleanup(struct merged **merged)
{
	merged_free(*merged);
}
#define cleanup_merged __attribute__((cleanup(merged_cleanup)))
/* An observation of the shard (from 1) as the merged bundle has it; `number` is its place there, from 1. */
void merge_observation(const struct merged *merged, int64_t shard, int64_t number, struct observation *one);

#endif
