/* One `harness run`, from the preflight to the sealed bundle: the state that its steps share. */
#ifndef HARNESS_RUNNER_RUN_H
#define HARNESS_RUNNER_RUN_H

#include "oracle/effect.h"
#include "reports/manifest.h"
#include "reports/opened.h"
#include "reports/sign.h"
#include "runner/arm.h"
#include "runner/cluster.h"
#include "runner/progress.h"
#include "runner/store.h"
#include "runner/verb.h"

struct run {
	const struct options *options;
	struct progress progress;
	struct scenario *scenarios;
	size_t scenarios_count;
	struct effect *effects; /* that are declared, by id */
	size_t effects_count;
	struct declared declared; /* observers that declarations bring */
	struct plan *plan;
	char plan_sha256[HEX_SHA256]; /* coverage_digest() of the whole plan that this one is a shard of */
	int64_t seed;
	char image_config[HEX_SHA256]; /* digest of the image's configuration */
	const char *missing[8]; /* needs that this host lacks, NULL-terminated */
	const char *mends[8]; /* and what a person reads of each */
	struct ground ground; /* of the plan, with both */
	char no_cluster[CLUSTER_FOLDER_BYTES + 128];
	struct store store;
	struct engine *engine;
	struct json_document *version, *info, *image_inspect;
	struct arm_context context;
	struct buf before, after; /* environment snapshots */
	bool environment_changed;
	int observations; /* observations.jsonl, append */
	int64_t observations_count;
	struct arm_record *records; /* one for each arm of the plan, in its order */
	struct arm_pool *pool; /* what their lists stand in */
	struct canary *canaries; /* live ones: for sealing */
	size_t canaries_count;
	struct private_key *key; /* that the bundle is signed with, or NULL */
	struct assessing assessing; /* that --assessment and --assessor name */
	/* Of a run that repeats one: its bundle and identity, whether only a part of it, and how it came out. */
	const struct opened *replayed; /* or NULL */
	const char *replayed_sums;
	bool replay_part;
	struct replay *replay; /* once it was judged */
	int64_t start;
	bool interrupted;
};

/* run_strays.c: where programs of declarations or the order service run, what an arm that was killed left behind is
 * adopted, and ended behind the last arm. No effect elsewhere. */
int run_strays_adopt(const struct run *run, struct strays *out, struct error **err) MUST_CHECK;
void run_strays_end(const struct strays *strays);

/* run_prepare.c */
/* Loads the scenarios and makes the plan: needs no root and no engine. */
int run_plan(struct run *run, struct error **err) MUST_CHECK;
/* run_effects.c */
/* The declarations that the run is made with, of --effects or its own; a run that repeats one has those of that bundle.
 */
int run_effects(struct run *run, struct error **err) MUST_CHECK;
/* run_assessing.c: what --assessment and --assessor name; behind run_key(). */
int run_assessing(struct run *run, struct error **err) MUST_CHECK;
/* run_declared.c: the observers that the declarations of --effects bring. */
int run_declared(struct run *run, struct error **err) MUST_CHECK;
/* run_gateway.c: the gateway that the flags name; and what the manifest says of it. */
int run_gateway(const struct options *options, struct arm_gateway_choice *out, struct error **err) MUST_CHECK;
int run_gateway_facts(const struct arm_gateway_choice *choice, struct manifest_gateway *out,
		      struct error **err) MUST_CHECK;
/* Refuses a host or an engine that cannot prove anything; fills context and the first snapshot. Where the engine lacks
 * what a cell needs, the plan is made again without it. */
int run_preflight(struct run *run, struct error **err) MUST_CHECK;
/* Asks the engine again and appends a snapshot of the environment. */
int run_snapshot(struct run *run, struct buf *out, struct error **err) MUST_CHECK;
/* The agent's image, built here and loaded when the engine does not have it. */
int run_image(struct run *run, struct error **err) MUST_CHECK;
struct image;
/* Builds it alone, and notes its digest in run->image_config. image_free() it, but for an error. */
int run_image_build(struct run *run, struct image *out, struct error **err) MUST_CHECK;

/* run_engine.c */
/* Refuses an engine that was not started to be hurt, if the plan hurts it. */
int run_engine_own(const struct run *run, struct error **err) MUST_CHECK;
/* Waits until the engine that the plan hurts answers again, and finds out which process it is now; no effect on another
 * plan. */
int run_engine_again(struct run *run, struct error **err) MUST_CHECK;

/* run_control.c: the run's control container, whose output is kept and whose root is writable: what the log and the
 * file observers must be able to see. */
int run_control_start(struct run *run, struct error **err) MUST_CHECK;
int run_control_end(struct run *run, struct error **err) MUST_CHECK;

/* schedule.c: all arms, options->jobs at a time. An arm that breaks is a record, not an error. */
int run_arms(struct run *run, struct error **err) MUST_CHECK;

/* run_seal.c */
/* Opens the file that the arms' observations are appended to. */
int run_observations(struct run *run, struct error **err) MUST_CHECK;
/* Fsyncs the observations and reads them back, judges, seals, verifies, and says what came out; *code is the exit code.
 */
int run_seal(struct run *run, int *code, struct error **err) MUST_CHECK;

/* run_origin.c: once the image is there. */
void run_origin(const struct run *run, struct manifest_origin *out);

/* run_sign.c */
/* Reads the key that --sign names, if it does. */
int run_key(struct run *run, struct error **err) MUST_CHECK;
/* A struct bundle_late's: the statement inside the bundle, signed. `context`: a struct run_statement. */
struct run_statement {
	const struct private_key *key;
	const struct buf *manifest; /* manifest.json */
	const struct verdicts *verdicts;
};
int run_statement(void *context, const char *sums_sha256, struct buf *out, struct error **err) MUST_CHECK;
/* Signs the archive, beside it; no effect without a key. */
int run_sign_beside(const struct run *run, struct error **err) MUST_CHECK;

/* cmd_run.c */
void run_init(struct run *run, const struct options *options);
/* Everything behind run_plan(): preflight, arms, judgement, bundle. */
int run_whole(struct run *run, int *code, struct error **err) MUST_CHECK;
void run_free(struct run *run);

#endif
