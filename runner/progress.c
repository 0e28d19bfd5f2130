/* The plan, the steps, one line as each arm ends; on a terminal one more for each arm that runs. */
#include "runner/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "runner/declared.h"

#define ARM_MS 600 /* a container's life on two cores, with what stands around it */
#define LINE_BYTES 256

void progress_open(struct progress *progress, const struct options *options)
{
	*progress = (struct progress){ .options = options };
	terminal_open(&progress->terminal, options->json ? stderr : stdout, getenv("TERM"), getenv("NO_COLOR"));
}

int64_t progress_seconds(const struct plan *plan, int jobs)
{
	int64_t work = 0, longest = 0;

	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct scenario *scenario = plan->arms[i].scenario;

		work += ARM_MS;
		if (scenario->window_ms > longest)
			longest = scenario->window_ms;
	}
	work /= jobs;
	longest += ARM_MS;
	return ((work > longest ? work : longest) + 999) / 1000;
}

static void print_absent(FILE *out, const struct plan_absent *absent)
{
	fprintf(out, "  not planned: %s@%s of %s: %s%s\n", absent->expectation->subject, absent->expectation->observer,
		absent->scenario->id, ground_is_gateway_reason(absent->reason) ? "" : "this host lacks ",
		absent->reason);
}

/* All cells that lack what the one at `first` lacks, once. */
static void print_need(FILE *out, const struct progress *progress, size_t first)
{
	const struct plan *plan = progress->plan;
	const char *reason = plan->absent[first].reason;
	const struct scenario *last = NULL;
	size_t cells = 0, scenarios = 0;

	for (size_t i = 0; i < plan->absent_count; i++) {
		if (strcmp(plan->absent[i].reason, reason) != 0)
			continue;
		if (i < first)
			return;
		cells++;
		scenarios += plan->absent[i].scenario != last;
		last = plan->absent[i].scenario;
	}
	fprintf(out, "  not planned: %zu cell%s of %zu scenario%s: %s\n", cells, cells == 1 ? "" : "s", scenarios,
		scenarios == 1 ? "" : "s", ground_mend(progress->ground, reason));
}

/* What a gateway cannot make has a line for each cell; so has, with --verbose, what the host cannot. */
static void print_not_planned(FILE *out, const struct progress *progress)
{
	const struct plan *plan = progress->plan;

	for (size_t i = 0; i < plan->absent_count; i++) {
		bool gateway = ground_is_gateway_reason(plan->absent[i].reason);

		if (!gateway)
			print_need(out, progress, i);
		if (gateway || progress->options->verbose)
			print_absent(out, &plan->absent[i]);
	}
}

void progress_plan(struct progress *progress)
{
	const struct plan *plan = progress->plan;
	FILE *out = progress->terminal.out;
	int jobs = plan_jobs(plan, progress->options->jobs);

	if (progress->options->quiet)
		return;
	fprintf(out, "plan: %zu arm%s, %d at a time, about %" PRId64 " s\n", plan->arms_count,
		plan->arms_count == 1 ? "" : "s", jobs, progress_seconds(plan, jobs));
	if (progress->options->shards > 1)
		fprintf(out, "shard: %" PRId64 " of %" PRId64 "\n", progress->options->shard,
			progress->options->shards);
	fprintf(out, "seed: %" PRId64 "\n", progress->seed);
	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct plan_arm *arm = &plan->arms[i];

		char again[32] = "";

		if (progress->options->repeat > 1)
			snprintf(again, sizeof(again), "#%" PRId64 " ", arm->repetition);
		fprintf(out, "  %-28s %s%s%s\n", arm->scenario->id, again, arm->scenario->title,
			arm->added ? " (added)" : "");
	}
	print_not_planned(out, progress);
	if (progress->options->dry_run) {
		fprintf(out, "touches: %s/ (the bundle)\n", progress->options->out);
		for (size_t i = 0; progress_touches[i]; i++)
			fprintf(out, "         %s\n", progress_touches[i]);
		for (size_t i = 0; progress->declared && i < progress->declared->count; i++) {
			char text[DECLARED_TEXT];

			declared_says(&progress->declared->observers[i], text);
			fprintf(out, "         %s\n", text);
		}
		if (plan_observes(plan, PROGRESS_DATABASE))
			fprintf(out, "         %s\n", progress_database);
		if (plan_hurts_engine(plan))
			fprintf(out, "         %s\n", progress_hurts);
	}
	fflush(out);
}

void progress_step(struct progress *progress, const char *text)
{
	if (!progress->options->verbose || progress->options->quiet)
		return;
	fprintf(progress->terminal.out, "%s\n", text);
	fflush(progress->terminal.out);
}

bool progress_live(const struct progress *progress)
{
	return progress->terminal.moves && !progress->options->quiet;
}

static void draw(struct progress *progress)
{
	int64_t now = clock_now();

	for (size_t i = 0; progress_live(progress) && i < SLOTS_MAX; i++) {
		const struct progress_row *row = &progress->rows[i];
		int64_t passed = now - row->since;
		char line[LINE_BYTES];

		if (!row->arm)
			continue;
		snprintf(line, sizeof(line), "  ... %-28s %3" PRId64 ".%" PRId64 " s  %s%s%s", row->arm->scenario->id,
			 passed / NS_PER_S, passed % NS_PER_S / (NS_PER_S / 10), row->step.name,
			 row->step.subject[0] ? " " : "", row->step.subject);
		terminal_draw(&progress->terminal, line);
	}
}

void progress_refresh(struct progress *progress)
{
	terminal_clear(&progress->terminal);
	draw(progress);
}

void progress_begin(struct progress *progress, size_t slot, const struct plan_arm *arm)
{
	progress->rows[slot] =
		(struct progress_row){ .arm = arm, .step = { .name = "starting" }, .since = clock_now() };
	progress_refresh(progress);
}

void progress_event(struct progress *progress, size_t slot, const struct arm_event *event)
{
	struct progress_row *row = &progress->rows[slot];

	row->step = *event;
	terminal_clear(&progress->terminal);
	if (progress->options->verbose && !progress->options->quiet) {
		fprintf(progress->terminal.out, "  %-28s %6" PRId64 " ms  %s%s%s\n", row->arm->scenario->id,
			event->at_ns / NS_PER_MS, event->name, event->subject[0] ? " " : "", event->subject);
		fflush(progress->terminal.out);
	}
	draw(progress);
}

void progress_error(struct progress *progress, const char *arm, const char *text)
{
	terminal_clear(&progress->terminal);
	fprintf(stderr, "harness: arm %s: %s\n", arm, text);
	draw(progress);
}

void progress_said(struct progress *progress, const char *arm, const char *text)
{
	if (!progress->options->verbose || progress->options->quiet)
		return;
	terminal_clear(&progress->terminal);
	fprintf(progress->terminal.out, "  %-28s says       %s\n", arm, text);
	fflush(progress->terminal.out);
	draw(progress);
}

void progress_end(struct progress *progress, size_t slot, const struct arm_record *record, size_t done)
{
	const struct plan_arm *arm = progress->rows[slot].arm;
	size_t count = progress->plan->arms_count;
	char admission[64] = "admitted";

	progress->rows[slot].arm = NULL;
	if (progress->options->quiet)
		return;
	/* What the removed protections declare: more or less than that is the judge's matter. */
	if (record->failed_count)
		snprintf(admission, sizeof(admission), "refused by %zu rule%s of which %zu must", record->failed_count,
			 record->failed_count == 1 ? "" : "s", record->must_fail_count);
	terminal_clear(&progress->terminal);
	fprintf(progress->terminal.out, "[%*zu/%zu] %-28s %s%s%s, %s, %" PRId64 " ms\n", count < 10 ? 1 : 2, done,
		count, arm->scenario->id, arm_status_names[record->status], record->reason[0] ? ": " : "",
		record->reason, admission, record->duration_ns / NS_PER_MS);
	fflush(progress->terminal.out);
	draw(progress);
}

void progress_close(struct progress *progress)
{
	for (size_t i = 0; i < SLOTS_MAX; i++)
		progress->rows[i].arm = NULL;
	terminal_clear(&progress->terminal);
}

const char progress_database[] = "a database harness_* an arm of effects/pg, in the PostgreSQL cluster (removed)";
const char progress_hurts[] = "the engine, which is killed, paused and restarted: only one of `ci/engine start --own`";
const char *const progress_touches[] = {
	"one container an arm and one for control (label harness.run, removed)",
	"the image harness/agent (kept for the next run; `harness clean` removes it)",
	"/tmp/harness-arm-* (removed)",
	"sockets on loopback and on the engine's bridge address, captures on every interface",
	"no host setting",
	NULL,
};
