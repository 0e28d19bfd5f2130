/*
 *   bench-bench [PART...]        measures, and prints the table; without a word every part, and docs/performance.md
 * keeps it bench-bench bare N           (for itself) N bare lifecycles one after the other bench-bench calls N (for
 * itself) N calls of a confined session
 */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"

#define PAGE "docs/performance.md"
#define PAIRS 12
#define PAIRS_GOAL 105
#define CALLS 2000
#define CALLS_TEXT "2000"
#define CALLS_ROUNDS 5
#define CALLS_GOAL 175
#define MEMORY_GOAL_KIB (24 * KIB)
#define READ_MS 5000
#define CALLS_MS 120000
#define RUN_MS 600000
#define RUN_GOAL 125
#define NOTES_BYTES (16 * KIB)

struct part {
	const char *id;
	int (*measure)(struct bench *bench, struct bench_report *report, struct error **err);
};
static const struct part parts[];

static int document(const struct bench *bench, const struct json_document *image, struct buf *text,
		    struct json_document **out, struct error **err)
{
	if (bench_input(bench, bench->baseline, image, text, err) < 0)
		return -1;
	return out ? json_parse(buf_string(text), text->length, JSON_ENGINE_DEPTH, out, err) : 0;
}

/* ---- one arm ---- */

static int time_bare(struct json_document *input, int64_t *duration, struct error **err)
{
	int64_t start = clock_now();

	if (bare_lifecycle(input, err) < 0)
		return -1;
	*duration = clock_now() - start;
	return 0;
}

static int measure_arm(struct bench *bench, struct bench_report *report, struct error **err)
{
	cleanup_buf struct buf text = BUF(ARM_INPUT_BYTES);
	cleanup_json struct json_document *input = NULL;
	int64_t ours[PAIRS] = { 0 }, bare[PAIRS] = { 0 }, warm_up = 0;

	if (document(bench, bench->run.image_inspect, &text, &input, err) < 0 || time_bare(input, &warm_up, err) < 0 ||
	    measured_arm(bench, bench->baseline, &warm_up, err) < 0)
		return -1;
	for (int i = 0; i < PAIRS; i++) {
		bool first = i % 2 == 0; /* takes turns in being first, too */

		if ((first && time_bare(input, &bare[i], err) < 0) ||
		    measured_arm(bench, bench->baseline, &ours[i], err) < 0 ||
		    (!first && time_bare(input, &bare[i], err) < 0))
			return -1;
	}
	report_row(report, &(struct bench_row){
				   .what = "one baseline arm, wall, median",
				   .unit = BENCH_MS,
				   .ours = percentile(ours, PAIRS, 50),
				   .bare = percentile(bare, PAIRS, 50),
				   .goal = PAIRS_GOAL,
			   });
	report_row(report, &(struct bench_row){
				   .what = "the same, the fastest",
				   .unit = BENCH_MS,
				   .ours = percentile(ours, PAIRS, 0),
				   .bare = percentile(bare, PAIRS, 0),
			   });
	return 0;
}

/* ---- a whole run ---- */

static int bare_in_parallel(struct bench *bench, size_t count, int64_t *duration, struct error **err)
{
	cleanup_buf struct buf input = BUF(ARM_INPUT_BYTES);
	struct measured side[BENCH_JOBS];
	int status = document(bench, bench->run.image_inspect, &input, NULL, err);

	*duration = 0;
	for (size_t i = 0; i < BENCH_JOBS; i++)
		side[i] = (struct measured){ .child = CHILD_NONE, .result = -1, .lifeline = -1 };
	for (size_t i = 0; status == 0 && i < BENCH_JOBS; i++) {
		char share[24];
		const char *const argv[] = { "bench", "bare", share, NULL };

		snprintf(share, sizeof(share), "%zu", (count + i) / BENCH_JOBS);
		status = measured_start(BENCH_PROGRAM, argv, &input, false, &side[i], err);
	}
	for (size_t i = 0; status == 0 && i < BENCH_JOBS; i++) {
		status = measured_finish(&side[i], clock_deadline(RUN_MS), err);
		if (status == 0 && side[i].status != 0)
			status = error_set(err, ERROR_INTERNAL, "bare lifecycles in parallel failed");
		if (side[i].end - side[0].start > *duration)
			*duration = side[i].end - side[0].start;
	}
	for (size_t i = 0; i < BENCH_JOBS; i++)
		measured_end(&side[i]);
	return status;
}

static int measure_run(struct bench *bench, struct bench_report *report, struct error **err)
{
	const char *const argv[] = { "harness", "run", "all", "-q", "-j2", "--out", bench->folder, NULL };
	cleanup_measured struct measured run = { .child = CHILD_NONE, .result = -1, .lifeline = -1 };
	size_t arms = bench->run.plan->arms_count;
	int64_t bare = 0, waits = 0;

	if (bare_in_parallel(bench, arms, &bare, err) < 0 ||
	    measured_start(BENCH_HARNESS, argv, NULL, false, &run, err) < 0 ||
	    measured_finish(&run, clock_deadline(RUN_MS), err) < 0)
		return error_wrap(err, "a whole run");
	if (run.status == EXIT_HARNESS || run.status == EXIT_USAGE)
		return error_set(err, ERROR_INTERNAL, "a whole run ended with exit code %d", run.status);
	if (bench_waits(bench, &waits, err) < 0)
		return error_wrap(err, "a whole run");
	report_row(report, &(struct bench_row){
				   .what = "`run all -j2`, wall, against as many lifecycles two at a time",
				   .unit = BENCH_MS,
				   .ours = run.end - run.start,
				   .bare = bare,
			   });
	report_row(report,
		   &(struct bench_row){
			   .what = "the longest wait that a scenario demands: all others overlap with it, or with work",
			   .unit = BENCH_MS,
			   .ours = waits,
		   });
	report_row(report, &(struct bench_row){
				   .what = "the wall without it",
				   .unit = BENCH_MS,
				   .ours = run.end - run.start - waits,
				   .bare = bare,
				   .goal = RUN_GOAL,
			   });
	(void)buf_printf(&report->notes, "\nThe whole run had %zu arms and ended with exit code %d.\n", arms,
			 run.status);
	return 0;
}

/* ---- calls ---- */

static int calls_ours(const struct buf *input, struct call_times *out, struct error **err)
{
	static const char *const argv[] = { "bench", "calls", CALLS_TEXT, NULL };
	cleanup_measured struct measured session = { .child = CHILD_NONE, .result = -1, .lifeline = -1 };

	if (measured_start(BENCH_PROGRAM, argv, input, false, &session, err) < 0 ||
	    measured_finish(&session, clock_deadline(CALLS_MS), err) < 0)
		return error_wrap(err, "a session of calls");
	if (session.status != 0)
		return error_set(err, ERROR_INTERNAL, "a session of calls failed");
	return call_times_read(buf_string(&session.text), session.text.length, out, err);
}

static int measure_calls(struct bench *bench, struct bench_report *report, struct error **err)
{
	cleanup_buf struct buf text = BUF(ARM_INPUT_BYTES);
	cleanup_json struct json_document *input = NULL;
	int64_t ours[3][CALLS_ROUNDS], bare[3][CALLS_ROUNDS]; /* median, 99th percentile, a second */

	if (document(bench, bench->calls_image, &text, &input, err) < 0)
		return -1;
	for (int i = 0; i < CALLS_ROUNDS; i++) {
		struct call_times confined = { .calls = 0 }, echo = { .calls = 0 };

		if (bare_calls(input, CALLS, &echo, err) < 0 || calls_ours(&text, &confined, err) < 0)
			return -1;
		ours[0][i] = confined.median_ns;
		bare[0][i] = echo.median_ns;
		ours[1][i] = confined.p99_ns;
		bare[1][i] = echo.p99_ns;
		ours[2][i] = confined.calls * NS_PER_S / confined.total_ns;
		bare[2][i] = echo.calls * NS_PER_S / echo.total_ns;
	}
	report_row(report, &(struct bench_row){
				   .what = "round trip of one permitted call, median",
				   .unit = BENCH_US,
				   .ours = percentile(ours[0], CALLS_ROUNDS, 50),
				   .bare = percentile(bare[0], CALLS_ROUNDS, 50),
				   .goal = CALLS_GOAL,
			   });
	report_row(report, &(struct bench_row){
				   .what = "the same, 99th percentile",
				   .unit = BENCH_US,
				   .ours = percentile(ours[1], CALLS_ROUNDS, 50),
				   .bare = percentile(bare[1], CALLS_ROUNDS, 50),
			   });
	report_row(report, &(struct bench_row){
				   .what = "calls a second, one after the other",
				   .unit = BENCH_PER_SECOND,
				   .ours = percentile(ours[2], CALLS_ROUNDS, 50),
				   .bare = percentile(bare[2], CALLS_ROUNDS, 50),
			   });
	return 0;
}

/* ---- memory ---- */

static int measure_memory(struct bench *bench, struct bench_report *report, struct error **err)
{
	struct memory memory;
	int64_t peak;

	if (memory_of_arm(bench, &memory, &peak, err) < 0)
		return -1;
	report_row(report, &(struct bench_row){
				   .what = "memory of one arm's processes at the barrier, PSS",
				   .unit = BENCH_KIB,
				   .ours = memory.kib,
				   .goal = MEMORY_GOAL_KIB,
			   });
	report_row(report, &(struct bench_row){
				   .what = "the most that was seen during an arm, PSS",
				   .unit = BENCH_KIB,
				   .ours = peak,
			   });
	(void)buf_text(&report->notes, "\nThe arm's processes at the barrier, in KiB of PSS:");
	for (size_t i = 0; i < memory.count; i++)
		(void)buf_printf(&report->notes, "%s %s %lld", i ? "," : "", memory.processes[i].name,
				 (long long)memory.processes[i].kib);
	(void)buf_text(&report->notes, ".\n");
	return 0;
}

/* ---- the program ---- */

static bool selected(const struct part *part, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], part->id) == 0)
			return true;
	return argc == 1;
}

static int check_words(int argc, char **argv, struct error **err)
{
	char safe[32];

	for (int i = 1; i < argc; i++) {
		const struct part *part = parts;

		while (part->id && strcmp(part->id, argv[i]) != 0)
			part++;
		if (!part->id)
			return error_set(err, ERROR_USAGE, "there is no part '%s'",
					 error_safe(argv[i], safe, sizeof(safe)));
	}
	return 0;
}

static int measure(struct bench *bench, int argc, char **argv, struct error **err)
{
	struct bench_report report = { .notes = BUF(NOTES_BYTES) };
	cleanup_buf struct buf text = BUF(2 * NOTES_BYTES);
	int status = 0;

	for (const struct part *part = parts; status == 0 && part->id; part++) {
		if (!selected(part, argc, argv))
			continue;
		fprintf(stderr, "bench: %s\n", part->id);
		status = part->measure(bench, &report, err);
	}
	if (status == 0)
		status = report_text(bench, &report, &text, err);
	buf_free(&report.notes);
	if (status < 0)
		return status;
	printf("%s", buf_string(&text));
	return argc == 1 ? report_keep(PAGE, "measured", &text, err) : 0;
}

static int bench_main(int argc, char **argv, struct error **err)
{
	cleanup_free struct bench *bench = calloc(1, sizeof(*bench));
	struct error *late = NULL;
	int status;

	if (!bench)
		return error_set(err, ERROR_MEMORY, "no memory");
	if (process_harden(false, 0, err) < 0 || check_words(argc, argv, err) < 0)
		return -1;
	status = bench_open(bench, err);
	if (status == 0)
		status = measure(bench, argc, argv, err);
	if (bench_close(bench, &late) < 0)
		error_keep_first(err, &late);
	return *err ? -1 : status;
}

static int read_input(struct json_document **out, struct error **err)
{
	cleanup_buf struct buf text = BUF(ARM_INPUT_BYTES);

	if (process_harden(true, 0, err) < 0 || fd_read_all(ARM_FD_INPUT, &text, clock_deadline(READ_MS), err) < 0)
		return -1;
	return json_parse(buf_string(&text), text.length, JSON_ENGINE_DEPTH, out, err);
}

static int bare_main(long count, struct error **err)
{
	cleanup_json struct json_document *input = NULL;

	if (read_input(&input, err) < 0)
		return -1;
	for (long i = 0; i < count; i++)
		if (bare_lifecycle(input, err) < 0)
			return -1;
	return 0;
}

static int calls_main(long count, struct error **err)
{
	cleanup_json struct json_document *input = NULL;
	cleanup_buf struct buf line = BUF(FRAME_BYTES);

	if (read_input(&input, err) < 0 || confined_calls(input, count, &line, err) < 0)
		return -1;
	return fd_write_all(ARM_FD_RESULT, line.data, line.length, clock_deadline(READ_MS), err);
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	int status;

	if (argc == 3 && strcmp(argv[1], "bare") == 0)
		status = bare_main(strtol(argv[2], NULL, 10), &err);
	else if (argc == 3 && strcmp(argv[1], "calls") == 0)
		status = calls_main(strtol(argv[2], NULL, 10), &err);
	else
		status = bench_main(argc, argv, &err);
	if (status == 0)
		return 0;
	fprintf(stderr, "bench: %s\n", error_text(err));
	return error_code(err) == ERROR_USAGE ? EXIT_USAGE : EXIT_HARNESS;
}

static const struct part parts[] = {
	{ .id = "arm", .measure = measure_arm },       { .id = "run", .measure = measure_run },
	{ .id = "loss", .measure = measure_loss },     { .id = "round-trip", .measure = measure_calls },
	{ .id = "memory", .measure = measure_memory }, { .id = NULL },
};
