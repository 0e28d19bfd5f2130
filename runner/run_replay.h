/* A run that repeats the one of a bundle: run->replayed is it, verified. */
#ifndef HARNESS_RUNNER_RUN_REPLAY_H
#define HARNESS_RUNNER_RUN_REPLAY_H

#include "reports/replay.h"
#include "runner/run.h"

/* Whether what must be equal is, once the plan was made; needs neither root nor an engine. */
int run_replay_ready(struct run *run, enum replay_reason *out, struct error **err) MUST_CHECK;
/* Whether the plan is still the one of the bundle: the engine was asked for what it lacks meanwhile. */
enum replay_reason run_replay_plan(const struct run *run);
/* Compares both, into run->replay. */
int run_replay_conclude(struct run *run, const struct findings *findings, struct error **err) MUST_CHECK;
/* The bundle, for the manifest; zeros of a run that repeats none. */
struct manifest_source run_replay_source(const struct run *run);

#endif
