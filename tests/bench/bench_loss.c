/* How long a lost part takes to end the agent, and what the waits of a run's scenarios took. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "reports/bundle.h"
#include "reports/verify_parts.h"
#include "tests/bench/bench.h"

#define LOSSES 30
#define LOSS_GOAL_NS (20 * NS_PER_MS)
#define ARM_MS 60000

struct loss {
	const char *scenario;
	const char *what[3]; /* median, 99th percentile, the longest */
};
static const struct loss losses[];

/* What the observer of state saw. */
static int loss_to_dead(const struct arm_result *result, int64_t *out, struct error **err)
{
	for (size_t i = 0; i < result->observations_count; i++) {
		const struct observation *one = &result->observations[i];

		if (strcmp(one->subject, "loss_to_dead") == 0 && one->status == OBSERVATION_OBSERVED) {
			*out = one->value;
			return 0;
		}
	}
	return error_set(err, ERROR_INTERNAL, "the arm has no time from its loss to the agent's death");
}

static int lose(const struct bench *bench, const struct scenario *scenario, int64_t *out, struct error **err)
{
	static const char *const argv[] = { "harness", "arm", NULL };
	cleanup_buf struct buf input = BUF(ARM_INPUT_BYTES);
	cleanup_measured struct measured arm = { .child = CHILD_NONE, .result = -1, .lifeline = -1 };
	cleanup_free struct arm_result *result = calloc(1, sizeof(*result));
	int status;

	if (!result)
		return error_set(err, ERROR_MEMORY, "no memory for the result of an arm");
	if (bench_input(bench, scenario, bench->run.image_inspect, &input, err) < 0 ||
	    measured_start(BENCH_HARNESS, argv, &input, false, &arm, err) < 0 ||
	    measured_finish(&arm, clock_deadline(ARM_MS), err) < 0)
		return error_wrap(err, "an arm that loses a part");
	status = arm_result_decode(buf_string(&arm.text), arm.text.length, result, err);
	if (status == 0)
		status = loss_to_dead(result, out, err);
	arm_result_free(result);
	return status;
}

static int measure_one(struct bench *bench, const struct loss *loss, struct bench_report *report, struct error **err)
{
	static const unsigned percents[] = { 50, 99, 100 };
	const struct scenario *scenario =
		scenario_find(bench->run.scenarios, bench->run.scenarios_count, loss->scenario);
	int64_t took[LOSSES] = { 0 };

	if (!scenario)
		return error_set(err, ERROR_INTERNAL, "there is no scenario '%s'", loss->scenario);
	for (size_t i = 0; i < LOSSES; i++)
		if (lose(bench, scenario, &took[i], err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
		report_row(report, &(struct bench_row){
					   .what = loss->what[i],
					   .unit = BENCH_NS,
					   .ours = percentile(took, LOSSES, percents[i]),
					   .goal = percents[i] == 99 ? LOSS_GOAL_NS : 0,
				   });
	return 0;
}

int measure_loss(struct bench *bench, struct bench_report *report, struct error **err)
{
	for (const struct loss *loss = losses; loss->scenario; loss++)
		if (measure_one(bench, loss, report, err) < 0)
			return -1;
	return 0;
}

/* ---- the waits of a whole run ---- */

static int64_t event_at(const struct arm_record *record, const char *name)
{
	for (size_t i = 0; i < record->events_count; i++)
		if (strcmp(record->events[i].name, name) == 0)
			return record->events[i].at_ns;
	return -1;
}

/* From the loss, or the misbehaviour, to the end of the window: what the scenario demands that the arm sits through. */
static int64_t wait_of(const struct arm_record *record)
{
	int64_t lost = event_at(record, "part-lost"), resumed = event_at(record, "resumed"),
		closed = event_at(record, "window-closed");
	int64_t from = resumed >= 0 && (lost < 0 || resumed < lost) ? resumed : lost;

	return from >= 0 && closed > from ? closed - from : 0;
}

static int longest_wait(const struct bundle *bundle, int64_t *out)
{
	for (size_t i = 0; i < bundle->arms_count; i++)
		*out = wait_of(&bundle->arms[i]) > *out ? wait_of(&bundle->arms[i]) : *out;
	return 0;
}

int bench_waits(const struct bench *bench, int64_t *out, struct error **err)
{
	cleanup_free struct bundle *bundle = calloc(1, sizeof(*bundle));
	char path[PATH_MAX + 64];
	cleanup_fd int file = -1;
	int status;

	*out = 0;
	snprintf(path, sizeof(path), "%s/latest/" BUNDLE_ARCHIVE, bench->folder);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (!bundle || file < 0)
		return error_set(err, ERROR_INTERNAL, "the bundle of the whole run cannot be read");
	status = bundle_read(file, bundle, err);
	if (status == 0)
		status = longest_wait(bundle, out);
	bundle_close(bundle);
	return status;
}

static const struct loss losses[] = {
	{ "lifecycle/bridge-killed",
	  { "the bridge is killed, loss to dead, median", "the same, 99th percentile", "the same, the longest" } },
	{ "lifecycle/bridge-killed-flood",
	  { "the bridge is killed under a flood, loss to dead, median", "the same, 99th percentile",
	    "the same, the longest" } },
	{ .scenario = NULL },
};
