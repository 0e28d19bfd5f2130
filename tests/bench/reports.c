/*
 * What the reports cost: junit.xml, ctrf.json and report.html of 10^4 and 10^5 cells. Linear: ten times the cells take
 * about ten times the time. Needs no engine.
 *
 *   bench-reports            measures, prints the table, and docs/performance.md keeps it
 *   bench-reports --print    only prints
 *
 * Exit 1: not linear.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/fd.h"
#include "tests/bench/bench.h"
#include "tests/unit/findings_world.h"

#define PAGE "docs/performance.md"
#define TEXT_BYTES ((size_t)BUNDLE_FILE_BYTES)
#define TABLE_BYTES (16 * KIB)
#define ROUNDS 5
#define EVENTS 15

enum { GOAL_LINEAR = 150 }; /* hundredths */

static const size_t sizes[] = { 10000, 100000 };
#define SIZES ARRAY_SIZE(sizes)
static const char *const size_names[SIZES] = { "10^4", "10^5" };
static const int members[] = { MEMBER_JUNIT, MEMBER_CTRF, MEMBER_REPORT };
#define REPORTS ARRAY_SIZE(members)

struct numbers {
	int64_t spent; /* ns of a processor, the least of the rounds */
	size_t bytes;
};

/* A run's findings, once for each repetition. */
struct many {
	struct verdicts verdicts;
	struct arm_record *arms;
	struct findings findings;
};

static void many_free(struct many *many)
{
	free(many->verdicts.arms);
	free(many->verdicts.cells);
	free(many->verdicts.mutations);
	free(many->arms);
}

static void repeat(const struct verdicts *one, const struct arm_record *records, size_t round, struct many *out)
{
	struct verdicts *all = &out->verdicts;

	for (size_t i = 0; i < one->arms_count; i++) {
		out->arms[all->arms_count] = records[i];
		out->arms[all->arms_count].repetition = (int64_t)round + 1;
		all->arms[all->arms_count] = one->arms[i];
		all->arms[all->arms_count++].repetition = (int64_t)round + 1;
	}
	for (size_t i = 0; i < one->cells_count; i++) {
		all->cells[all->cells_count] = one->cells[i];
		all->cells[all->cells_count++].repetition = (int64_t)round + 1;
	}
	for (size_t i = 0; i < one->mutations_count; i++) {
		all->mutations[all->mutations_count] = one->mutations[i];
		all->mutations[all->mutations_count++].repetition = (int64_t)round + 1;
	}
}

static int make_many(const struct findings *one, size_t cells, struct many *out, struct error **err)
{
	const struct verdicts *verdicts = one->verdicts;
	size_t rounds = (cells + verdicts->cells_count - 1) / verdicts->cells_count;

	out->verdicts.arms = calloc(rounds * verdicts->arms_count + 1, sizeof(*out->verdicts.arms));
	out->verdicts.cells = calloc(rounds * verdicts->cells_count + 1, sizeof(*out->verdicts.cells));
	out->verdicts.mutations = calloc(rounds * verdicts->mutations_count + 1, sizeof(*out->verdicts.mutations));
	out->arms = calloc(rounds * verdicts->arms_count + 1, sizeof(*out->arms));
	if (!out->verdicts.arms || !out->verdicts.cells || !out->verdicts.mutations || !out->arms)
		return error_set(err, ERROR_MEMORY, "no memory for %zu cells", cells);
	for (size_t round = 0; round < rounds; round++)
		repeat(verdicts, one->arms, round, out);
	out->verdicts.pass = out->verdicts.cells_count;
	out->verdicts.zeros = rounds * verdicts->zeros;
	out->findings = *one;
	out->findings.verdicts = &out->verdicts;
	out->findings.arms = out->arms;
	out->findings.arms_count = out->verdicts.arms_count;
	return 0;
}

/* What other processes do does not count. */
static int64_t processor_time(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int measure_one(const struct many *many, struct numbers numbers[REPORTS], struct error **err)
{
	for (size_t i = 0; i < REPORTS; i++) {
		cleanup_buf struct buf text = BUF(TEXT_BYTES);
		int64_t start = processor_time();

		if (generate(members[i], &many->findings, &text, err) < 0)
			return -1;
		if (numbers[i].spent == 0 || processor_time() - start < numbers[i].spent)
			numbers[i].spent = processor_time() - start;
		numbers[i].bytes = text.length;
	}
	return 0;
}

static void add_events(struct world *world)
{
	for (size_t a = 0; a < world->arms_count; a++) {
		struct arm_record *record = &world->arms[a];

		record->duration_ns = NS_PER_S;
		for (size_t i = 0; i < EVENTS; i++) {
			struct arm_event *event = &record->events[record->events_count++];

			set(event->name, sizeof(event->name), i == 5 ? "first-frame" : i == 10 ? "dead" : "delivered");
			event->at_ns = (int64_t)i * 50 * NS_PER_MS;
		}
	}
}

static int measure(struct numbers numbers[SIZES][REPORTS], struct error **err)
{
	cleanup_world struct world world = { .plan = NULL };
	struct manifest_facts facts;
	struct findings one;
	int result = 0;

	if (!world_make(&world, "all", 1, NULL))
		return error_set(err, ERROR_INTERNAL, "the run cannot be made up");
	add_events(&world);
	one = world_findings(&world, &facts);
	if (!one.verdicts)
		return error_set(err, ERROR_INTERNAL, "the run cannot be judged");
	for (int round = 0; round < ROUNDS && result == 0; round++)
		for (size_t size = 0; size < SIZES && result == 0; size++) {
			struct many many = { .arms = NULL };

			result = make_many(&one, sizes[size], &many, err);
			if (result == 0)
				result = measure_one(&many, numbers[size], err);
			many_free(&many);
		}
	return result;
}

/* Returns whether all of it is linear. */
static bool rows(struct numbers numbers[SIZES][REPORTS], struct bench_report *report, char names[][96])
{
	bool linear = true;
	size_t used = 0;

	for (size_t size = 0; size < SIZES; size++)
		for (size_t i = 0; i < REPORTS; i++) {
			struct numbers *one = &numbers[size][i];
			char *name = names[used++];

			snprintf(name, sizeof(names[0]), "%s of %s cells, %zu KiB%s", member_kinds[members[i]].name,
				 size_names[size], one->bytes / KIB,
				 size ? "; against ten times that of the row above" : "");
			report_row(report, &(struct bench_row){ .what = name,
								.unit = BENCH_MS,
								.ours = one->spent,
								.bare = size ? 10 * numbers[size - 1][i].spent : 0,
								.goal = size ? GOAL_LINEAR : 0 });
			if (size && one->spent / 10 * 100 > GOAL_LINEAR * numbers[size - 1][i].spent)
				linear = false;
		}
	return linear;
}

static int tell(struct numbers numbers[SIZES][REPORTS], bool keep, bool *linear, struct error **err)
{
	cleanup_buf struct buf text = BUF(TABLE_BYTES);
	struct bench_report report = { .rows_count = 0 };
	char names[SIZES * REPORTS][96];

	*linear = rows(numbers, &report, names);
	report_machine(NULL, &text);
	report_table(&report, "harness", "10 x", &text);
	if (buf_check(&text, "the table", err) < 0)
		return -1;
	printf("%s", buf_string(&text));
	return keep ? report_keep(PAGE, "reports", &text, err) : 0;
}

int main(int argc, char **argv)
{
	struct numbers numbers[SIZES][REPORTS] = { 0 };
	cleanup_error struct error *err = NULL;
	bool linear = false;

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "--print") != 0)) {
		fprintf(stderr, "bench-reports [--print]\n");
		return EXIT_USAGE;
	}
	if (measure(numbers, &err) == 0 && tell(numbers, argc == 1, &linear, &err) == 0)
		return linear ? 0 : EXIT_FAIL;
	fprintf(stderr, "bench-reports: %s\n", error_text(err));
	return EXIT_HARNESS;
}
