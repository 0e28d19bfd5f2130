/*
 * What our confinement costs, against the bare engine: measured in one run, the two sides taking turns, so that only
 * ratios are compared. Nothing here is a test: a number that misses its goal is printed, and is no failure.
 */
#ifndef HARNESS_TESTS_BENCH_BENCH_H
#define HARNESS_TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/spawn.h"
#include "runner/run.h"

#define BENCH_HARNESS TEST_BUILD "/harness"
#define BENCH_PROGRAM "/proc/self/exe"
#define BENCH_JOBS 2

/* ---- bench_world.c: what every part needs, made once ---- */

struct bench {
	struct options options;
	struct run run; /* engine, plan, context, control container */
	const struct scenario *baseline;
	struct json_document *calls_image; /* the engine's answer about the image of bench_agent.c */
	char calls_tag[ID_MAX];
	char folder[PATH_MAX]; /* for the bundles of whole runs; removed with the rest */
};

int bench_open(struct bench *bench, struct error **err) MUST_CHECK;
/* Removes the containers, the folder and the image that it made. Idempotent; goes on after an error. */
int bench_close(struct bench *bench, struct error **err) MUST_CHECK;

/* The document that an arm's process takes, for the agent's image or for that of the calls. */
int bench_input(const struct bench *bench, const struct scenario *scenario, const struct json_document *image,
		struct buf *out, struct error **err) MUST_CHECK;

/* ---- bench_process.c: a process that is measured ---- */

struct measured {
	struct child child;
	int result, lifeline;
	int64_t start; /* before it was spawned */
	int64_t end; /* when it had ended */
	int status; /* its exit code */
	struct buf text; /* what it wrote to ARM_FD_RESULT */
};

/* Starts it with the descriptors of an arm; `argv` is NULL-terminated, `input` may be NULL. `quiet`: what it says on
 * standard error is not shown, because it is made to fail. measured_end() afterwards, on error too. */
int measured_start(const char *path, const char *const *argv, const struct buf *input, bool quiet, struct measured *out,
		   struct error **err) MUST_CHECK;
/* Until its end: result, exit code and time of the end are then there. */
int measured_finish(struct measured *measured, int64_t deadline, struct error **err) MUST_CHECK;
void measured_end(struct measured *measured);
#define cleanup_measured __attribute__((cleanup(measured_end)))
/* One arm from its start to its end; an arm that did not work is an error: its time means nothing. */
int measured_arm(const struct bench *bench, const struct scenario *scenario, int64_t *duration,
		 struct error **err) MUST_CHECK;

/* ---- bench_bare.c: the other side, with the engine alone ---- */

/* One container by the engine calls that an arm makes: the agent gets the scenario's orders, and the answers that it
 * would get. `input` is an arm's document. */
int bare_lifecycle(struct json_document *input, struct error **err) MUST_CHECK;

struct call_times {
	int64_t calls, median_ns, p99_ns, total_ns;
};
/* {..., "arguments": {the agent's numbers}} */
int call_times_read(const char *bytes, size_t length, struct call_times *out, struct error **err) MUST_CHECK;
/* Answers the calls of bench_agent.c over the bare attach stream. */
int bare_calls(struct json_document *input, long calls, struct call_times *out, struct error **err) MUST_CHECK;

/* ---- bench_calls.c ---- */

/* In a process of its own, as an arm is: a confined session with bridge, gateway, recorder and watchdog for
 * bench_agent.c, of which only the limits differ. Appends the recorder's line with the agent's numbers. */
int confined_calls(struct json_document *input, long calls, struct buf *line, struct error **err) MUST_CHECK;

/* ---- bench_memory.c ---- */

#define MEMORY_PROCESSES_MAX 64
struct memory_process {
	pid_t pid;
	char name[NAME_MAX_SHORT];
	int64_t kib, resident_kib; /* proportional set size, resident set size */
};
struct memory {
	struct memory_process processes[MEMORY_PROCESSES_MAX];
	size_t count;
	int64_t kib, resident_kib; /* of all */
};
/* Of a process and all that descend from it. */
int memory_of(pid_t root, struct memory *out, struct error **err) MUST_CHECK;
/* `at_barrier`: of an arm whose agent did its work and is held there. `peak`: the most that was seen during a whole
 * arm. */
int memory_of_arm(const struct bench *bench, struct memory *at_barrier, int64_t *peak_kib,
		  struct error **err) MUST_CHECK;

/* ---- bench_loss.c ---- */

struct bench_report;
/* Rows: from the loss of a part to the agent's death, as the observer of state saw it, over 30 arms each. */
int measure_loss(struct bench *bench, struct bench_report *report, struct error **err) MUST_CHECK;
/* In ns, of the run that is the latest in the bench's folder: the longest wait that a scenario demanded of its arm. */
int bench_waits(const struct bench *bench, int64_t *out, struct error **err) MUST_CHECK;

/* ---- bench_report.c ---- */

/* Sorts. The element that `percent` of all do not exceed. */
int64_t percentile(int64_t *values, size_t count, unsigned percent);

enum bench_unit { BENCH_MS, BENCH_US, BENCH_NS, BENCH_KIB, BENCH_PER_SECOND };
struct bench_row {
	const char *what;
	enum bench_unit unit;
	int64_t ours; /* in ns, KiB, or one a second */
	int64_t bare; /* 0: there is no other side */
	int64_t goal; /* of the ratio in hundredths, or of `ours` where there is no other side; 0: none */
	bool at_least; /* the goal; else it is at most that */
};
#define BENCH_ROWS_MAX 32
struct bench_report {
	struct bench_row rows[BENCH_ROWS_MAX];
	size_t rows_count;
	struct buf notes; /* paragraphs of Markdown, below the table */
};
void report_row(struct bench_report *report, const struct bench_row *row);
/* `bench`: whose engine takes part, or NULL. */
void report_machine(const struct bench *bench, struct buf *out);
/* The rows, under the names of their two sides. */
void report_table(const struct bench_report *report, const char *ours, const char *other, struct buf *out);
int report_text(const struct bench *bench, const struct bench_report *report, struct buf *out,
		struct error **err) MUST_CHECK;
/* Puts `text` between the markers `mark` of the page at `path`. */
int report_keep(const char *path, const char *mark, const struct buf *text, struct error **err) MUST_CHECK;

#endif
