/* What the user reads at the end of a run. */
#include <inttypes.h>

#include "core/clock.h"
#include "reports/summary.h"
#include "tests/unit/judge_world.h"

#define TEXT_BYTES ((size_t)MIB)
#define COLUMNS 120

static const struct summary_facts facts = {
	.bundle = "runs/20260102T030405Z-01234567/confinement-evidence.tar.gz",
	.sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	.wall_ns = 12 * NS_PER_S + 345 * NS_PER_MS,
};

static const char *summarize(struct world *world, bool quiet, bool verbose, struct buf *out)
{
	struct summary_facts chosen = facts;

	chosen.quiet = quiet;
	chosen.verbose = verbose;
	out->length = 0;
	if (world_judge(world))
		summary_text(world->verdicts, world->plan, &chosen, out);
	return buf_string(out);
}

#define HOLDS(text, part) CU_ASSERT_PTR_NOT_NULL(strstr(text, part))

static void test_passed(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf out = BUF(TEXT_BYTES);
	const char *text;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	see(&world, "lifecycle/bridge-killed", "loss_to_dead", "state")->kind = OBSERVATION_DURATION;
	text = summarize(&world, false, false, &out);
	HOLDS(text, "baseline\n  tcp4@tcp4 0 (=0)   ");
	HOLDS(text, "permitted@deliveries 1 (=1)");
	HOLDS(text, "mutation/network\n  tcp4@tcp4 1 (=1)");
	HOLDS(text, "tcp4@attempts 1 (>=1)");
	HOLDS(text, "loss_to_dead@state 500 ms (<=1000 ms)");
	HOLDS(text, "mutations: 7 of 7 caught\n");
	HOLDS(text, " pass, 0 fail, 0 not established, in ");
	HOLDS(text, "verdict: pass: no leak was seen, and every protected zero was earned\nIt does not prove ");
	HOLDS(text, "bundle: runs/20260102T030405Z-01234567/confinement-evidence.tar.gz\nsha256: 0123456789abcdef");
	HOLDS(text, "\nOutside the promise: bridge and watchdog lost at once");
	HOLDS(text, "\nlimits: ");
	HOLDS(text, " things that no run shows (timing, traffic shape, ...), each with its reason in docs/limits.md\n"
		    "bundle: ");
	HOLDS(text, "wall time: 12.3 s\n");
	CU_ASSERT_PTR_NULL(strstr(text, "next:"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		CU_ASSERT(strcspn(line, "\n") <= COLUMNS);
	CU_ASSERT_STRING_EQUAL(summarize(&world, true, false, &out),
			       "pass: no leak was seen, and every protected zero was earned\n"
			       "runs/20260102T030405Z-01234567/confinement-evidence.tar.gz\n");
	text = summarize(&world, false, true, &out);
	HOLDS(text, "\n  dns@dns 0 (=0), earned by mutation/network\n");
	HOLDS(text, "caught: mutation/network\n");
}

static void test_cells(void)
{
	static const struct {
		size_t arms, mutants;
		const char *ends;
	} rows[] = {
		{ 6, 5, " 3 not established, in 6 arms of which 5 are mutants\n" },
		{ 2, 1, " 3 not established, in 2 arms of which 1 is a mutant\n" },
		{ 1, 0, " 3 not established, in 1 arm of which 0 are mutants\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF(TEXT_BYTES);

		summary_cells(1, 2, 3, rows[i].arms, rows[i].mutants, &out);
		HOLDS(buf_string(&out), "cells: 1 pass, 2 fail,");
		HOLDS(buf_string(&out), rows[i].ends);
	}
}

static void leak(struct world *world)
{
	see(world, "baseline", "dns", "dns")->value = 2;
}

static void miss(struct world *world)
{
	forget(world, see(world, "baseline", "dns", "dns"));
}

static void lose(struct world *world)
{
	static struct arm_event events[] = { { "observer-lost", "dns", 1 }, { "lost-known-answer", "dns", 1 } };
	struct arm_record *record = record_of(world, "baseline");

	miss(world);
	record->events = events;
	record->events_count = ARRAY_SIZE(events);
}

static void blind(struct world *world)
{
	see(world, "baseline", "dns", "dns")->beacon_before = 0;
	see(world, "baseline", "dns", "dns")->dropped = 3;
	see(world, "baseline", "dns", "dns")->reason = OBSERVATION_REASON_DROPPED;
}

static void unearn(struct world *world)
{
	see(world, "mutation/network", "tcp4", "tcp4")->beacon_before = 0;
}

static void break_arm(struct world *world)
{
	struct arm_record *record = record_of(world, "baseline-again");

	record->status = ARM_HARNESS_ERROR;
	set(record->reason, sizeof(record->reason), "engine-lost");
}

static void refuse(struct world *world)
{
	struct arm_record *record = record_of(world, "baseline-again");

	set(record->failed[record->failed_count++], NAME_MAX_SHORT, "memory");
}

static void differ(struct world *world)
{
	record_of(world, "mutation/read-only")->may_differ_count = 0;
}

static void undetect(struct world *world)
{
	see(world, "mutation/read-only", "file", "files-archive")->value = 0;
}

static void change(struct world *world)
{
	world->environment_changed = true;
}

static void double_up(struct world *world)
{
	twice(world, see(world, "baseline", "dns", "dns"), 0);
}

/* What went wrong, and three parts of what is then said: a line, its reason, and what to do next. */
static const struct row {
	void (*plant)(struct world *world);
	const char *line, *reason, *next;
} rows[] = {
	{ leak, "fail: baseline dns@dns 2 (=0): ", "contradicts the expectation", "a way out is open" },
	{ miss, "not established: baseline dns@dns - (=0): ", "no observation", "alone with -v" },
	{ lose, "not established: baseline dns@dns - (=0): ", "(dns: its known answers were wrong)", "alone with -v" },
	{ blind, "not established: baseline dns@dns 0 (=0): ", "did not prove that it could see (dropped: 3 packets)",
	  "observations.jsonl" },
	{ unearn, "not established: baseline tcp4@tcp4 0 (=0): ", "no mutant of this run", "look at the mutant" },
	{ break_arm, "arm baseline-again: harness_error, engine-lost\n", "did not end well", "harness doctor" },
	{ refuse, "not established: baseline-again ", "admission refused other rules", "mustFail and failed" },
	{ differ, "not established: mutation/read-only: ", "differs outside the declared list", "with its control's" },
	{ undetect, "fail: not caught: mutation/read-only: ", "did not notice as declared", "believe no zero" },
	{ change, "not established: mutation/network: ", "changed within the run", "before and after" },
	{ double_up, "not established: baseline dns@dns 0 (=0): ", "two observations", "report it" },
};

static void test_reasons(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_world struct world world = { .plan = NULL };
		cleanup_buf struct buf out = BUF(TEXT_BYTES);
		const char *text, *line;

		CU_ASSERT(world_make(&world, "all", 1, NULL));
		rows[i].plant(&world);
		text = summarize(&world, false, false, &out);
		line = strstr(text, rows[i].line);
		CU_ASSERT_PTR_NOT_NULL(line);
		if (!line)
			continue;
		for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
			CU_ASSERT(strncmp(at, "  next:", 7) != 0 || strcspn(at, "\n") <= COLUMNS);
		HOLDS(line, rows[i].reason);
		HOLDS(line, rows[i].next);
		HOLDS(text, world.verdicts->overall == VERDICT_FAIL ? "verdict: fail: " : "verdict: not established: ");
	}
}

/* What this host cannot make is said once, with what it lacks. */
static void test_absent(void)
{
	static const char *const missing[] = { "ipv6-loopback", NULL };
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf out = BUF(TEXT_BYTES);
	const char *text;

	CU_ASSERT(world_make(&world, "all", 1, missing));
	text = summarize(&world, false, false, &out);
	HOLDS(text, "cells that this host or gateway cannot make, each for want of ipv6-loopback (coverage.json lists "
		    "them)\n");
	HOLDS(text, "verdict: pass");
}

/* On a terminal the words of verdicts have their colours, and nothing else changes. */
static void test_colours(void)
{
	cleanup_world struct world world = { .plan = NULL };
	cleanup_buf struct buf plain = BUF(TEXT_BYTES), coloured = BUF(TEXT_BYTES);
	struct summary_facts chosen = facts;
	const char *text;
	char *out;

	CU_ASSERT(world_make(&world, "all", 1, NULL));
	leak(&world);
	unearn(&world);
	undetect(&world);
	CU_ASSERT(world_judge(&world));
	chosen.verbose = true;
	summary_text(world.verdicts, world.plan, &chosen, &plain);
	chosen.colours = true;
	summary_text(world.verdicts, world.plan, &chosen, &coloured);
	text = buf_string(&coloured);
	HOLDS(text, "dns@dns 2 (=0)\x1b[31m FAIL\x1b[0m");
	HOLDS(text, "tcp4@tcp4 0 (=0)\x1b[33m ?\x1b[0m");
	HOLDS(text, "\n\x1b[33mnot established\x1b[0m: baseline tcp4@tcp4 0 (=0): ");
	HOLDS(text, "\n\x1b[31mfail\x1b[0m: baseline dns@dns 2 (=0): ");
	HOLDS(text, "\n\x1b[31mfail\x1b[0m: not caught: mutation/read-only: ");
	HOLDS(text, "\n\x1b[32mcaught\x1b[0m: mutation/ack\n");
	HOLDS(text, "\nverdict: \x1b[31mfail\x1b[0m: a leak was seen");
	out = coloured.data;
	for (const char *at = text; *at; at++)
		if (*at == '\x1b')
			at += strcspn(at, "m");
		else
			*out++ = *at;
	*out = '\0';
	CU_ASSERT_PTR_NULL(strchr(buf_string(&plain), '\x1b'));
	CU_ASSERT_STRING_EQUAL(coloured.data, buf_string(&plain));
	chosen.quiet = true;
	coloured.length = 0;
	summary_text(world.verdicts, world.plan, &chosen, &coloured);
	CU_ASSERT_EQUAL(strncmp(coloured.data, "\x1b[31mfail\x1b[0m: ", 15), 0);
}

static CU_TestInfo tests[] = {
	{ "passed", test_passed }, { "cells", test_cells },     { "reasons", test_reasons },
	{ "absent", test_absent }, { "colours", test_colours }, CU_TEST_INFO_NULL,
};
static CU_SuiteInfo suites[] = {
	{ .pName = "summary", .pTests = tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("summary", suites);
}
