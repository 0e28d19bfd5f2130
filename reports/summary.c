#include "reports/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "reports/limits.h"
#include "reports/losses.h"

#define COLUMNS 120
#define INDENT "  "
#define CELL_BYTES 192

/* What a reason means to whoever reads it, and what to do about it. */
struct advice {
	const char *says;
	const char *next;
};
static const struct advice advices[];
static const char *const verdict_sentences[], *const verdict_colours[], *const op_signs[];

const char *verdict_words(enum verdict verdict)
{
	return verdict_sentences[verdict];
}

const char *verdict_colour(enum verdict verdict, bool colours)
{
	return colours ? verdict_colours[verdict] : "";
}

const char *because_words(enum because because)
{
	return advices[because].says;
}

const char *because_next(enum because because)
{
	return advices[because].next;
}

/* `length` bytes of `text`, in the verdict's colour. */
static void put_coloured(struct buf *out, const struct summary_facts *facts, enum verdict verdict, const char *text,
			 size_t length)
{
	buf_text(out, verdict_colour(verdict, facts->colours));
	(void)buf_add(out, text, length);
	buf_text(out, facts->colours ? COLOUR_END : "");
}

/* The sentence, of which the word before the colon has the colour. */
static void put_sentence(struct buf *out, const struct summary_facts *facts, enum verdict verdict)
{
	const char *text = verdict_words(verdict);
	size_t length = strcspn(text, ":");

	put_coloured(out, facts, verdict, text, length);
	buf_printf(out, "%s\n", text + length);
}

static void print_value(const struct observation *observation, int64_t value, char *out, size_t size)
{
	if (observation && observation->kind == OBSERVATION_DURATION)
		snprintf(out, size, "%" PRId64 " ms", value / NS_PER_MS);
	else
		snprintf(out, size, "%" PRId64, value);
}

static const char *mark(enum verdict verdict)
{
	return verdict == VERDICT_PASS ? "" : verdict == VERDICT_FAIL ? " FAIL" : " ?";
}

/* "tcp4@tcp4 0 (=0)": the value seen, and in brackets what is expected. */
static void print_cell(const struct verdict_cell *cell, char out[CELL_BYTES])
{
	const struct expectation *expectation = cell->expectation;
	const struct observation *observation = cell->observation;
	char value[32] = "-", expected[32];

	if (observation && observation->status == OBSERVATION_OBSERVED)
		print_value(observation, observation->value, value, sizeof(value));
	print_value(observation, expectation->value, expected, sizeof(expected));
	snprintf(out, CELL_BYTES, "%s@%s %s (%s%s)", expectation->subject, expectation->observer, value,
		 op_signs[expectation->op], expected);
}

static void put_name(const struct scenario *scenario, int64_t repetition, struct buf *out)
{
	buf_text(out, scenario->id);
	if (repetition > 1)
		buf_printf(out, " #%" PRId64, repetition);
}

/* The cells of one arm stand together, in the plan's order. */
static void put_numbers(const struct verdicts *verdicts, const struct summary_facts *facts, struct buf *out)
{
	const struct verdict_cell *last = NULL;
	size_t column = 0;

	for (size_t i = 0; i < verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &verdicts->cells[i];
		char text[CELL_BYTES];
		size_t width;

		print_cell(cell, text);
		width = strlen(text) + strlen(mark(cell->verdict));
		if (!last || last->scenario != cell->scenario || last->repetition != cell->repetition) {
			buf_text(out, last ? "\n" : "");
			put_name(cell->scenario, cell->repetition, out);
			column = COLUMNS;
		}
		if (facts->verbose || column + 3 + width > COLUMNS) {
			buf_text(out, "\n" INDENT);
			column = strlen(INDENT);
		} else {
			buf_text(out, "   ");
			column += 3;
		}
		buf_text(out, text);
		if (*mark(cell->verdict))
			put_coloured(out, facts, cell->verdict, mark(cell->verdict), strlen(mark(cell->verdict)));
		if (facts->verbose && cell->mutant[0])
			buf_printf(out, ", earned by %s", cell->mutant);
		column += width;
		last = cell;
	}
	buf_text(out, "\n\n");
}

static void put_next(enum because because, struct buf *out)
{
	buf_printf(out, INDENT "next: %s\n", advices[because].next);
}

static const struct verdict_cell *next_of(const struct verdicts *verdicts, size_t from, enum verdict verdict)
{
	for (size_t i = from; i < verdicts->cells_count; i++)
		if (verdicts->cells[i].verdict == verdict)
			return &verdicts->cells[i];
	return NULL;
}

/* What the observation itself says of why its observer saw nothing. */
static void put_blindness(const struct verdict_cell *cell, struct buf *out)
{
	const struct observation *seen = cell->observation;

	if (cell->because != BECAUSE_NOT_LIVE || !seen || seen->reason == OBSERVATION_REASON_NONE)
		return;
	buf_printf(out, " (%s", observation_reason_names[seen->reason]);
	if (seen->dropped > 0)
		buf_printf(out, ": %lld packets", (long long)seen->dropped);
	buf_text(out, ")");
}

/* What the arm noted of why there is none. */
static void put_loss(const struct verdicts *verdicts, const struct verdict_cell *cell, struct buf *out)
{
	for (size_t i = 0; i < verdicts->arms_count && cell->because == BECAUSE_MISSING; i++) {
		const struct verdict_arm *arm = &verdicts->arms[i];
		int loss = arm->scenario == cell->scenario && arm->repetition == cell->repetition
				   ? loss_of(arm, cell->expectation->observer)
				   : -1;

		if (loss >= 0)
			buf_printf(out, " (%s: %s)", cell->expectation->observer, loss_words((enum loss)loss));
	}
}

/* Each with its reason; what to do next stands once for a row of cells of the same reason. */
static void put_cells(const struct verdicts *verdicts, enum verdict verdict, const struct summary_facts *facts,
		      struct buf *out)
{
	const struct verdict_cell *cell = next_of(verdicts, 0, verdict);

	while (cell) {
		const struct verdict_cell *next = next_of(verdicts, (size_t)(cell - verdicts->cells) + 1, verdict);
		char text[CELL_BYTES];

		print_cell(cell, text);
		put_coloured(out, facts, verdict, verdict_words(verdict), strcspn(verdict_words(verdict), ":"));
		buf_text(out, ": ");
		put_name(cell->scenario, cell->repetition, out);
		buf_printf(out, " %s: %s", text, advices[cell->because].says);
		put_blindness(cell, out);
		put_loss(verdicts, cell, out);
		buf_text(out, "\n");
		if (!next || next->because != cell->because)
			put_next(cell->because, out);
		cell = next;
	}
}

static void put_arms(const struct verdicts *verdicts, struct buf *out)
{
	for (size_t i = 0; i < verdicts->arms_count; i++) {
		const struct verdict_arm *arm = &verdicts->arms[i];

		if (arm->status == ARM_OK)
			continue;
		buf_text(out, "arm ");
		put_name(arm->scenario, arm->repetition, out);
		buf_printf(out, ": %s%s%s\n", arm_status_names[arm->status], arm->reason[0] ? ", " : "", arm->reason);
	}
}

static void put_mutations(const struct verdicts *verdicts, const struct summary_facts *facts, struct buf *out)
{
	size_t caught = 0;

	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		const struct verdict_mutation *mutation = &verdicts->mutations[i];
		const char *words = verdict_words(mutation->verdict);

		caught += mutation->verdict == VERDICT_PASS;
		if (mutation->verdict == VERDICT_PASS && !facts->verbose)
			continue;
		words = mutation->verdict == VERDICT_PASS ? "caught" : words;
		put_coloured(out, facts, mutation->verdict, words, strcspn(words, ":"));
		buf_text(out, mutation->verdict == VERDICT_FAIL ? ": not caught: " : ": ");
		put_name(mutation->scenario, mutation->repetition, out);
		if (mutation->verdict == VERDICT_PASS) {
			buf_text(out, "\n");
			continue;
		}
		buf_printf(out, ": %s\n", advices[mutation->because].says);
		put_next(mutation->because, out);
	}
	buf_printf(out, "mutations: %zu of %zu caught\n", caught, verdicts->mutations_count);
}

static void put_absent(const struct plan *plan, struct buf *out)
{
	if (plan->absent_count == 0)
		return;
	buf_printf(out, "not planned: %zu cells that this host or gateway cannot make, each for want of ",
		   plan->absent_count);
	for (size_t i = 0; i < plan->absent_count; i++) {
		bool named = false;

		for (size_t other = 0; other < i; other++)
			named |= strcmp(plan->absent[other].reason, plan->absent[i].reason) == 0;
		if (!named)
			buf_printf(out, "%s%s", i > 0 ? ", " : "", plan->absent[i].reason);
	}
	buf_text(out, " (coverage.json lists them)\n");
}

static bool loses_guards(const struct plan *plan)
{
	for (size_t i = 0; i < plan->arms_count; i++) {
		const struct scenario *scenario = plan->arms[i].scenario;

		for (size_t fault = 0; fault < scenario->faults_count; fault++)
			if (scenario->faults[fault].role == FAULT_BRIDGE ||
			    scenario->faults[fault].role == FAULT_WATCHDOG)
				return true;
	}
	return false;
}

void summary_cells(size_t pass, size_t fail, size_t not_established, size_t arms, size_t mutants, struct buf *out)
{
	buf_printf(out, "cells: %zu pass, %zu fail, %zu not established, in %zu arm%s of which %zu %s\n", pass, fail,
		   not_established, arms, arms == 1 ? "" : "s", mutants, mutants == 1 ? "is a mutant" : "are mutants");
}

void summary_text(const struct verdicts *verdicts, const struct plan *plan, const struct summary_facts *facts,
		  struct buf *out)
{
	if (facts->quiet) {
		put_sentence(out, facts, verdicts->overall);
		buf_printf(out, "%s\n", facts->bundle);
		return;
	}
	buf_text(out, "subject@observer value (expected)\n");
	put_numbers(verdicts, facts, out);
	put_arms(verdicts, out);
	put_cells(verdicts, VERDICT_NOT_ESTABLISHED, facts, out);
	put_cells(verdicts, VERDICT_FAIL, facts, out);
	put_mutations(verdicts, facts, out);
	put_absent(plan, out);
	if (verdicts->zeros == 0)
		buf_text(out, "nothing protected was planned: only controls, which prove no confinement\n");
	summary_cells(verdicts->pass, verdicts->fail, verdicts->not_established, verdicts->arms_count,
		      verdicts->mutations_count, out);
	buf_text(out, "verdict: ");
	put_sentence(out, facts, verdicts->overall);
	buf_text(out,
		 "It does not prove that no other way out exists: only these probes, on this kernel and engine.\n");
	if (facts->unvouched)
		buf_text(out, SUMMARY_UNVOUCHED);
	if (loses_guards(plan))
		buf_text(out, "Outside the promise: bridge and watchdog lost at once; the agent then lives until its "
			      "arm ends,\n"
			      "or `harness clean` ends it.\n");
	limits_line(out);
	buf_printf(out, "bundle: %s\nsha256: %s\nwall time: %" PRId64 ".%" PRId64 " s\n", facts->bundle, facts->sha256,
		   facts->wall_ns / NS_PER_S, facts->wall_ns % NS_PER_S / (NS_PER_S / 10));
}

static const char *const op_signs[] = { [OP_EQ] = "=", [OP_GE] = ">=", [OP_LE] = "<=" };

static const char *const verdict_sentences[] = {
	[VERDICT_PASS] = "pass: no leak was seen, and every protected zero was earned",
	[VERDICT_FAIL] = "fail: a leak was seen, a control did not hold, or a mutation was not caught",
	[VERDICT_NOT_ESTABLISHED] = "not established: no leak was seen, but not every protected zero was earned",
};

static const char *const verdict_colours[] = {
	[VERDICT_PASS] = "\x1b[32m",
	[VERDICT_FAIL] = "\x1b[31m",
	[VERDICT_NOT_ESTABLISHED] = "\x1b[33m",
};

static const struct advice advices[] = {
	[BECAUSE_MET] = { "as expected", "nothing" },
	[BECAUSE_VALUE] = { "the value contradicts the expectation", "of a zero: a way out is open, look at what this "
								     "probe does; of a count: what must work did not" },
	[BECAUSE_MISSING] = { "no observation",
			      "run the scenario alone with -v: the observer did not start, or was lost" },
	[BECAUSE_NOT_LIVE] = { "the observer did not prove that it could see",
			       "its line in observations.jsonl of the bundle says why; run again on a quieter host" },
	[BECAUSE_UNEARNED] = { "no mutant of this run made this probe arrive here as it must",
			       "look at the mutant that opens this route: its cell failed, it was not caught, or not "
			       "run" },
	[BECAUSE_ARM] = { "its arm, or its control's, did not end well",
			  "see the status of the arm; `harness doctor` checks the host" },
	[BECAUSE_ADMISSION] = { "admission refused other rules than it must",
				"compare mustFail and failed of the arm in arms.json; engine and host are not as "
				"expected" },
	[BECAUSE_DIFFERENCE] = { "the effective configuration differs outside the declared list, or nowhere",
				 "compare the effective values of the arm in arms.json with its control's" },
	[BECAUSE_UNDETECTED] = { "installed, and the control's expectations did not notice as declared",
				 "believe no zero that rests on it: probe or observer of this route are blind" },
	[BECAUSE_ENVIRONMENT] = { "image, boot or environment changed within the run",
				  "compare before and after in environment.json; run again while nothing else "
				  "changes" },
	[BECAUSE_UNPLANNED] = { "a canary arrived where no cell of the plan looks",
				"a way out is open: look at what this probe does, and plan a cell for it" },
	[BECAUSE_DUPLICATE] = { "two observations or records stand for one",
				"a defect of the harness: keep the bundle and report it" },
};
_Static_assert(ARRAY_SIZE(advices) == BECAUSE_UNPLANNED + 1, "each reason has its advice");
