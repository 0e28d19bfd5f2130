/* What the user reads at the end of a run: pure text. */
#ifndef HARNESS_REPORTS_SUMMARY_H
#define HARNESS_REPORTS_SUMMARY_H

#include <stdbool.h>

#include "core/buf.h"
#include "oracle/judge.h"

struct summary_facts {
	const char *bundle; /* its path */
	const char *sha256; /* of the archive */
	int64_t wall_ns;
	int64_t seed; /* of the run, for whoever reads its document */
	bool unvouched; /* somebody else composed the gateway */
	bool quiet, verbose; /* verbose: each cell; quiet: the verdict and the bundle */
	bool colours; /* of the words of verdicts, for a terminal */
};

/* The table of numbers (arm, subject@observer, value, expectation), each failed or not established cell with its reason
 * and what to do next, the mutations, cells per verdict, the verdict in words and what it does not prove, the bundle.
 */
void summary_text(const struct verdicts *verdicts, const struct plan *plan, const struct summary_facts *facts,
		  struct buf *out);

#define SUMMARY_UNVOUCHED                                                                                              \
	"The gateway was composed by somebody else: what it did is counted, and nothing vouches for what it is.\n"
/* "cells: 7 pass, 0 fail, 0 not established, in 2 arms of which 1 is a mutant", a line. */
void summary_cells(size_t pass, size_t fail, size_t not_established, size_t arms, size_t mutants, struct buf *out);
/* "pass: no leak was seen, and every zero was earned", ... */
const char *verdict_words(enum verdict verdict);
/* What a reason means to whoever reads it, and what to do about it. */
const char *because_words(enum because because);
const char *because_next(enum because because);
/* What switches a terminal to the colour of a verdict, or "" without `colours`; COLOUR_END takes it back. */
#define COLOUR_END "\x1b[0m"
const char *verdict_colour(enum verdict verdict, bool colours);

#endif
