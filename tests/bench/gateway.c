/*
 *   bench-gateway            measures, prints the tables, and docs/performance.md keeps them
 *   bench-gateway --print    only prints
 */
#include "tests/bench/gateway.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"

#define PAGE "docs/performance.md"
#define FOLDER "/tmp/harness-bench-XXXXXX"
#define STARTS 5
#define ROUNDS 100
#define WITHOUT_PAUSE 2000
#define NEAR 1000
#define TABLES_BYTES (16 * KIB)
#define HUNDRED 100

/* Ratios in hundredths. */
enum { GOAL_ONE = 500, GOAL_MANY = 1000, GOAL_FLOOR = 130, GOAL_TENTH = 10, GOAL_READY = 5 };

struct contest {
	char folder[PATH_MAX];
	bool cmcp; /* it is there */
	struct side sides[SIDES];
	int64_t ready[SIDES][STARTS];
	struct side_times unpaused;
	struct side_times near[SIDES]; /* call by call, each beside the bare commits */
	struct floor_store *store;
	struct floor_times floor;
	struct memory memory[SIDES];
};

static bool takes_part(const struct contest *contest, enum side_kind kind)
{
	return kind != SIDE_CMCP || contest->cmcp;
}

/* ---- measuring ---- */

/* Each is started anew in turn; those of the last turn are called. */
static int start_all(struct contest *contest, struct error **err)
{
	for (int i = 0; i < STARTS; i++) {
		for (int kind = 0; kind < SIDES; kind++) {
			char name[32];

			if (!takes_part(contest, kind))
				continue;
			side_end(&contest->sides[kind]);
			snprintf(name, sizeof(name), "%d-%d", kind, i);
			if (side_start(kind, contest->folder, name, &contest->sides[kind], &contest->ready[kind][i],
				       err) < 0)
				return -1;
		}
	}
	return 0;
}

static const struct child *process(const struct side *side)
{
	return side->arm ? &side->arm->gateway : &side->child;
}

static int call_first(struct contest *contest, struct error **err)
{
	for (int kind = 0; kind < SIDES; kind++) {
		struct side *side = &contest->sides[kind];

		if (takes_part(contest, kind) &&
		    (load_open(side, err) < 0 || memory_of(process(side)->pid, &side->tree, err) < 0))
			return -1;
	}
	return 0;
}

static int take_turn(struct side *side, struct error **err)
{
	if (load_calls(side, 1, CALLS_IN_TURN, &side->one, err) < 0 || load_reset(side, err) < 0 ||
	    load_calls(side, CALLERS, CALLERS, &side->many, err) < 0)
		return -1;
	return load_reset(side, err);
}

static int call_all(struct contest *contest, struct error **err)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SIDES; i++) {
			enum side_kind kind = (enum side_kind)((round + i) % SIDES);

			if (takes_part(contest, kind) && take_turn(&contest->sides[kind], err) < 0)
				return -1;
		}
	}
	return load_calls(&contest->sides[SIDE_OURS], CALLERS, WITHOUT_PAUSE, &contest->unpaused, err);
}

/* A disk that others use is fast and slow by turns: what is compared with it is asked at the same time. */
static int call_near(struct contest *contest, struct error **err)
{
	for (int i = 0; i < NEAR; i++)
		if (load_calls(&contest->sides[SIDE_OURS], 1, 1, &contest->near[SIDE_OURS], err) < 0 ||
		    floor_calls(contest->store, 1, &contest->floor, err) < 0 ||
		    load_calls(&contest->sides[SIDE_PLAIN], 1, 1, &contest->near[SIDE_PLAIN], err) < 0)
			return -1;
	return 0;
}

static int weigh(struct contest *contest, struct error **err)
{
	/* It would share its pages with the one beside it. */
	side_end(&contest->sides[SIDE_PLAIN]);
	for (int kind = 0; kind < SIDES; kind++)
		if (kind != SIDE_PLAIN && takes_part(contest, kind) &&
		    memory_of(process(&contest->sides[kind])->pid, &contest->memory[kind], err) < 0)
			return -1;
	return 0;
}

static int measure(struct contest *contest, struct error **err)
{
	char path[] = FOLDER;

	if (!mkdtemp(path))
		return error_errno(err, errno, "a folder below /tmp");
	snprintf(contest->folder, sizeof(contest->folder), "%s", path);
	if (floor_open(contest->folder, &contest->store, err) < 0 || start_all(contest, err) < 0 ||
	    call_first(contest, err) < 0 || call_all(contest, err) < 0 || call_near(contest, err) < 0)
		return -1;
	return weigh(contest, err);
}

static int end(struct contest *contest, struct error **err)
{
	for (int kind = 0; kind < SIDES; kind++)
		side_end(&contest->sides[kind]);
	floor_close(contest->store);
	return contest->folder[0] ? fd_remove_tree(AT_FDCWD, contest->folder, err) : 0;
}

/* ---- telling ---- */

static int64_t a_second(const struct side_times *times)
{
	return times->wall ? (int64_t)times->count * NS_PER_S / times->wall : 0;
}

static int64_t cpu_a_call(const struct side_times *times)
{
	return times->count ? times->cpu / (int64_t)times->count : 0;
}

/* Without cMCP there is no goal either: it is one of the ratio. */
static void row(struct bench_report *report, const char *what, enum bench_unit unit, int64_t ours, int64_t other,
		int64_t goal)
{
	report_row(report, &(struct bench_row){ .what = what,
						.unit = unit,
						.ours = ours,
						.bare = other,
						.goal = other ? goal : 0,
						.at_least = unit == BENCH_PER_SECOND });
}

static void times_rows(struct bench_report *report, struct side_times *ours, struct side_times *other,
		       const char *const what[4], int64_t goal)
{
	row(report, what[0], BENCH_PER_SECOND, a_second(ours), a_second(other), goal);
	row(report, what[1], BENCH_US, percentile(ours->each, ours->count, 50),
	    percentile(other->each, other->count, 50), 0);
	row(report, what[2], BENCH_US, percentile(ours->each, ours->count, 99),
	    percentile(other->each, other->count, 99), 0);
	row(report, what[3], BENCH_US, cpu_a_call(ours), cpu_a_call(other), GOAL_TENTH);
}

static void tell_cmcp(struct contest *contest, struct buf *out)
{
	static const char *const one[] = { "one caller: calls a second", "one call, median",
					   "the same, 99th percentile", "CPU of a call" };
	static const char *const many[] = { "8 callers in parallel: calls a second", "one call of theirs, median",
					    "the same, 99th percentile", "CPU of a call" };
	struct side *ours = &contest->sides[SIDE_OURS], *cmcp = &contest->sides[SIDE_CMCP];
	struct bench_report report = { .rows_count = 0 };

	times_rows(&report, &ours->one, &cmcp->one, one, GOAL_ONE);
	times_rows(&report, &ours->many, &cmcp->many, many, GOAL_MANY);
	row(&report, "memory with the upstream, PSS", BENCH_KIB, contest->memory[SIDE_OURS].kib,
	    contest->memory[SIDE_CMCP].kib, GOAL_TENTH);
	row(&report, "the same, resident", BENCH_KIB, contest->memory[SIDE_OURS].resident_kib,
	    contest->memory[SIDE_CMCP].resident_kib, 0);
	row(&report, "start to ready, median", BENCH_US, percentile(contest->ready[SIDE_OURS], STARTS, 50),
	    percentile(contest->ready[SIDE_CMCP], contest->cmcp ? STARTS : 0, 50), GOAL_READY);
	report_table(&report, "harness-gateway", "cMCP", out);
	if (!contest->cmcp)
		(void)buf_text(out, "\ncMCP is not installed here (`ci/cmcp` does it): its column is left out.\n");
}

static void tell_floor(struct contest *contest, struct buf *out)
{
	struct side *ours = &contest->sides[SIDE_OURS], *plain = &contest->sides[SIDE_PLAIN];
	struct floor_times *floor = &contest->floor;
	int64_t synced = percentile(floor->synced, floor->count, 50);
	int64_t committed = percentile(floor->committed, floor->count, 50);
	struct side_times *audited = &contest->near[SIDE_OURS], *bare = &contest->near[SIDE_PLAIN];
	int64_t call = percentile(bare->each, bare->count, 50);
	struct bench_report report = { .rows_count = 0 };

	row(&report, "one bare commit in SQLite, synced, median", BENCH_US, synced, 0, 0);
	row(&report, "one that is not synced", BENCH_US, committed, 0, 0);
	row(&report, "the call without audit, median", BENCH_US, call, 0, 0);
	row(&report, "the call with audit, median, against the first and the third of these", BENCH_US,
	    percentile(audited->each, audited->count, 50), synced + call, GOAL_FLOOR);
	row(&report, "calls a second from one caller, against those without audit", BENCH_PER_SECOND,
	    a_second(&ours->one), a_second(&plain->one), 0);
	row(&report, "the same from 8 in parallel", BENCH_PER_SECOND, a_second(&ours->many), a_second(&plain->many), 0);
	row(&report, "from 8 in parallel, without a pause", BENCH_PER_SECOND, a_second(&contest->unpaused), 0, 0);
	report_table(&report, "harness-gateway", "floor", out);
}

static int tell(struct contest *contest, bool keep, struct error **err)
{
	cleanup_buf struct buf text = BUF(TABLES_BYTES);

	report_machine(NULL, &text);
	tell_cmcp(contest, &text);
	(void)buf_text(&text, "\n");
	tell_floor(contest, &text);
	if (buf_check(&text, "the tables", err) < 0)
		return -1;
	printf("%s", buf_string(&text));
	return keep ? report_keep(PAGE, "gateway", &text, err) : 0;
}

int main(int argc, char **argv)
{
	cleanup_error struct error *err = NULL;
	cleanup_free struct contest *contest = calloc(1, sizeof(*contest));
	bool keep = argc == 1;
	struct error *late = NULL;

	if (!keep && (argc != 2 || strcmp(argv[1], "--print") != 0)) {
		fprintf(stderr, "bench-gateway [--print]\n");
		return EXIT_USAGE;
	}
	if (!contest)
		return EXIT_HARNESS;
	for (int kind = 0; kind < SIDES; kind++)
		side_none(&contest->sides[kind]);
	contest->cmcp = side_has_cmcp();
	if (process_harden(false, 0, &err) == 0 && measure(contest, &err) == 0)
		(void)!tell(contest, keep, &err);
	if (end(contest, &late) < 0)
		error_keep_first(&err, &late);
	if (!err)
		return 0;
	fprintf(stderr, "bench-gateway: %s\n", error_text(err));
	return EXIT_HARNESS;
}
