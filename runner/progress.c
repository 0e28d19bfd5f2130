/* What the user reads while a run goes on: the plan, the steps, one line as each arm ends. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "runner/run.h"

#define ARM_SECONDS 2 /* a container's life on two cores, with what stands around it */

static int64_t seconds_of(const struct run *run)
{
	int64_t work = 0, longest = 0;

	for (size_t i = 0; i < run->plan->arms_count; i++) {
		const struct scenario *scenario = run->plan->arms[i].scenario;

		work += ARM_SECONDS;
		if (scenario->window_ms / 1000 > longest)
			longest = scenario->window_ms / 1000;
	}
	work /= run->options->jobs;
	return work > longest ? work : longest + ARM_SECONDS;
}

void progress_plan(const struct run *run)
{
	if (run->options->quiet)
		return;
	printf("plan: %zu arms, %d at a time, about %lld s\n", run->plan->arms_count, run->options->jobs,
	       (long long)seconds_of(run));
	for (size_t i = 0; i < run->plan->arms_count; i++) {
		const struct plan_arm *arm = &run->plan->arms[i];

		printf("  %-28s %s%s\n", arm->scenario->id, arm->scenario->title,
		       arm->added ? " (added: a selected cell needs it)" : "");
	}
	for (size_t i = 0; i < run->plan->absent_count; i++) {
		const struct plan_absent *absent = &run->plan->absent[i];

		printf("  not planned: %s@%s of %s: this host lacks %s\n", absent->expectation->subject,
		       absent->expectation->observer, absent->scenario->id, absent->reason);
	}
	if (run->options->dry_run)
		printf("touches: one container an arm and one for control (label harness.run, removed), the image "
		       "harness/agent\n"
		       "(kept for the next run; `harness clean` removes it), %s/ (the bundle), /tmp/harness-arm-* "
		       "(removed),\n"
		       "sockets on loopback and on the engine's bridge address, captures on every interface; no host "
		       "setting\n",
		       run->options->out);
	fflush(stdout);
}

void progress_step(const struct run *run, const char *text)
{
	if (run->options->verbose && !run->options->quiet) {
		printf("%s\n", text);
		fflush(stdout);
	}
}

void progress_arm(const struct run *run, const struct plan_arm *arm, const struct arm_record *record, size_t done)
{
	char admission[64] = "admitted";

	if (run->options->quiet)
		return;
	/* What the removed protections declare: more or less than that is the judge's matter. */
	if (record->failed_count)
		snprintf(admission, sizeof(admission), "refused by %zu rule%s of which %zu must", record->failed_count,
			 record->failed_count == 1 ? "" : "s", record->must_fail_count);
	printf("[%*zu/%zu] %-28s %s%s%s, %s, %lld ms\n", run->plan->arms_count < 10 ? 1 : 2, done,
	       run->plan->arms_count, arm->scenario->id, arm_status_names[record->status],
	       record->reason[0] ? ": " : "", record->reason, admission, (long long)(record->duration_ns / NS_PER_MS));
	fflush(stdout);
}
