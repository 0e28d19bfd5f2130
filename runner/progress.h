/* What a person reads while a run goes on. --quiet leaves nothing of it, --json moves it to stderr. */
#ifndef HARNESS_RUNNER_PROGRESS_H
#define HARNESS_RUNNER_PROGRESS_H

#include "oracle/judge.h"
#include "runner/terminal.h"
#include "runner/verb.h"

#define SLOTS_MAX 16 /* arms at the same time */

/* An arm that runs, and the last of its steps. */
struct progress_row {
	const struct plan_arm *arm; /* NULL: none */
	struct arm_event step;
	int64_t since; /* on our clock */
};

struct declared;
struct progress {
	struct terminal terminal;
	const struct options *options;
	const struct plan *plan;
	const struct ground *ground; /* on which it was made, or NULL */
	const struct declared *declared; /* or NULL */
	int64_t seed;
	struct progress_row rows[SLOTS_MAX];
};

/* options stay with the caller; the plan is set when there is one. */
void progress_open(struct progress *progress, const struct options *options);
void progress_plan(struct progress *progress);
/* A step of the run itself, for --verbose. */
void progress_step(struct progress *progress, const char *text);

/* An arm of the plan that is started in a slot, each step that it tells, and its end. */
void progress_begin(struct progress *progress, size_t slot, const struct plan_arm *arm);
void progress_event(struct progress *progress, size_t slot, const struct arm_event *event);
void progress_end(struct progress *progress, size_t slot, const struct arm_record *record, size_t done);
/* Why an arm ended badly, in its own words; to stderr, --quiet or not. */
void progress_error(struct progress *progress, const char *arm, const char *text);
/* A line that a program of a declaration wrote to its standard error; with --verbose alone. */
void progress_said(struct progress *progress, const char *arm, const char *text);
/* The time goes on in the lines of the running arms. */
void progress_refresh(struct progress *progress);
/* Whether there are such lines. */
bool progress_live(const struct progress *progress);
/* Takes them back, whatever still runs: before anybody else prints. */
void progress_close(struct progress *progress);

/* About how long the plan takes, in seconds. */
int64_t progress_seconds(const struct plan *plan, int jobs);
/* What a run leaves or opens on the host, NULL-terminated; beside these, the folder of the runs. */
extern const char *const progress_touches[];
/* And of a plan with cells at this observer. */
#define PROGRESS_DATABASE "orders-pg"
extern const char progress_database[];
/* And of a plan that hurts the engine. */
extern const char progress_hurts[];

#endif
