/* replay.json: whether a run that was made again came out as the first one. Pure. */
#ifndef HARNESS_REPORTS_REPLAY_H
#define HARNESS_REPORTS_REPLAY_H

#include "reports/compare.h"
#include "reports/manifest.h"

enum replay_outcome {
	REPLAY_REPRODUCED,
	REPLAY_ENVIRONMENT_DIFFERS, /* reproduced, and on something else */
	REPLAY_DIVERGED,
	REPLAY_NOT_ATTEMPTED, /* never in a bundle: nothing was run */
};
extern const char *const replay_outcome_names[]; /* NULL-terminated, index = value */

/* Why a run is not made again. */
enum replay_reason {
	REPLAY_READY,
	REPLAY_NOT_INTACT, /* the bundle does not verify */
	REPLAY_MERGED, /* its shards can be replayed, each by itself */
	REPLAY_VERSION, /* it was made by another harness */
	REPLAY_SCENARIOS, /* they are not those that are installed */
	REPLAY_PROFILE,
	REPLAY_IMAGE, /* the agent's */
	REPLAY_ARCHITECTURE,
	REPLAY_GATEWAY, /* of that kind there is none here */
	REPLAY_PLAN, /* this host cannot make the same cells */
	REPLAY_HOST, /* nothing can be run on it */
};
extern const char *const replay_reason_names[];

#define REPLAY_DIVERGED_MAX 1024
struct replay {
	struct manifest_source of;
	int outcome; /* enum replay_outcome */
	bool part; /* of one scenario alone */
	int64_t cells; /* compared */
	int64_t differences; /* that weigh; the first of them are listed */
	struct compare_difference diverged[REPLAY_DIVERGED_MAX];
	size_t diverged_count;
	struct compare_fact environment[COMPARE_FACTS_MAX];
	size_t environment_count;
};

/* What comes of comparing the run `of` with its repetition. A zeroed *out. */
void replay_conclude(const struct comparison *comparison, const struct manifest_source *of, bool part,
		     struct replay *out);
int replay_encode(const struct replay *replay, struct buf *out, struct error **err) MUST_CHECK;
/* ERROR_INPUT also when the outcome does not follow from what is listed. replay_free() it. */
int replay_decode(const char *bytes, size_t length, struct replay **out, struct error **err) MUST_CHECK;
void replay_free(struct replay *replay);
/* Whether a fact of the manifest is one that a repetition lists where it differs. */
bool replay_stands_on(const char *name);
/* Whether it agrees with the run that it is of: what it counts, and all that it says "is". What "was" cannot be told
 * from here. ERROR_INPUT with the row. */
int replay_check(const struct replay *replay, const struct compare_side *here, struct error **err) MUST_CHECK;
int replay_schema(struct buf *out, struct error **err) MUST_CHECK;

/* What must be equal before anything is run: `here` is what this program would write into a manifest. */
enum replay_reason replay_ready(const struct manifest *of, const struct manifest_origin *here, const char *version);

#endif
