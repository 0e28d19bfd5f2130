/* What did not pass, before anything that did; and the mutants, on which every zero rests. */
#include <stdio.h>

#include "reports/html_parts.h"
#include "reports/summary.h"

static size_t count(const struct verdicts *verdicts, enum verdict verdict, enum because because)
{
	size_t cells = 0;

	for (size_t i = 0; i < verdicts->cells_count; i++)
		cells += verdicts->cells[i].verdict == verdict && verdicts->cells[i].because == because;
	return cells;
}

static void put_cell(const struct html_page *page, const struct verdict_cell *cell)
{
	const struct html_arm *arm = html_find(page, cell->scenario->id, cell->repetition);
	struct buf *out = page->out;

	escape_printf(out, "<tr><th scope=\"row\"><a href=\"#c%zu\">%s@%s</a><td>", html_cell_number(page, cell),
		      cell->expectation->subject, cell->expectation->observer);
	html_seen(out, cell->observation, false);
	buf_text(out, "<td>");
	html_expected(out, cell);
	buf_text(out, "<td>");
	if (arm)
		html_arm_link(out, arm);
	buf_text(out, "\n");
}

/* Cells of one reason, with what to do about it. */
static void put_reason(const struct html_page *page, enum verdict verdict, enum because because)
{
	static const char *const columns[] = { "Cell", "Seen", "Expected", "Arm", NULL };
	const struct verdicts *verdicts = page->findings->verdicts;
	struct buf *out = page->out;
	size_t cells = count(verdicts, verdict, because);
	char caption[64];

	if (cells == 0)
		return;
	snprintf(caption, sizeof(caption), "%zu %s %s", cells, cells == 1 ? "cell:" : "cells:", because_names[because]);
	buf_text(out, "<h3>");
	html_verdict(out, verdict);
	escape_printf(out, ": %s</h3>\n<p>Next: %s.</p>\n", because_words(because), because_next(because));
	html_table(out, "x", caption, columns);
	for (size_t i = 0; i < verdicts->cells_count; i++)
		if (verdicts->cells[i].verdict == verdict && verdicts->cells[i].because == because)
			put_cell(page, &verdicts->cells[i]);
	html_table_end(out);
}

static void put_cells(const struct html_page *page, enum verdict verdict)
{
	for (int because = BECAUSE_MET; because <= BECAUSE_UNPLANNED; because++)
		put_reason(page, verdict, (enum because)because);
}

static void put_arms(const struct html_page *page)
{
	static const char *const columns[] = { "Arm", "Status", "Reason", NULL };
	struct buf *out = page->out;

	buf_text(out, "<h3>Arms that did not end well</h3>\n");
	html_table(out, "x", "How they ended", columns);
	for (size_t i = 0; i < page->arms_count; i++) {
		const struct verdict_arm *arm = page->arms[i].arm;

		if (arm->status == ARM_OK)
			continue;
		buf_text(out, "<tr><th scope=\"row\">");
		html_arm_link(out, &page->arms[i]);
		escape_printf(out, "<td>%s<td>%s\n", arm_status_names[arm->status], arm->reason);
	}
	html_table_end(out);
}

void html_troubles(struct html_page *page)
{
	const struct verdicts *verdicts = page->findings->verdicts;

	if (verdicts->overall == VERDICT_PASS)
		return;
	buf_text(page->out, "<h2 id=\"troubles\">What did not pass</h2>\n");
	put_cells(page, VERDICT_FAIL);
	put_cells(page, VERDICT_NOT_ESTABLISHED);
	if (verdicts->arms_not_ok)
		put_arms(page);
	if (!verdicts->fail && !verdicts->not_established && !verdicts->arms_not_ok)
		buf_text(page->out, "<p>Every cell passes; see the <a href=\"#mutations\">mutants</a>.</p>\n");
}

/* "caught", or why not. */
static void put_outcome(struct buf *out, const struct verdict_mutation *mutation)
{
	if (mutation->verdict == VERDICT_PASS) {
		buf_text(out, "caught");
		return;
	}
	html_verdict(out, mutation->verdict);
	escape_printf(out, ": %s", because_words(mutation->because));
}

static void put_rows(const struct html_page *page, bool caught)
{
	struct buf *out = page->out;

	for (size_t i = 0; i < page->arms_count; i++) {
		const struct html_arm *arm = page->sorted[i];
		const struct scenario *scenario = arm->arm->scenario;

		if (!arm->mutation || (arm->mutation->verdict == VERDICT_PASS) != caught)
			continue;
		buf_text(out, "<tr><th scope=\"row\">");
		html_arm_link(out, arm);
		buf_text(out, "<td>");
		for (size_t removed = 0; removed < scenario->removes_count; removed++)
			escape_printf(out, "%s%s", removed ? ", " : "", scenario->removes[removed]);
		escape_printf(out, "<td>%s<td>%s<td>", arm->mutation->installed ? "yes" : "no",
			      arm->mutation->detected ? "yes" : "no");
		put_outcome(out, arm->mutation);
		escape_printf(out, "<td class=\"r\">%zu\n", arm->earned);
	}
}

static void put_table(const struct html_page *page, bool caught)
{
	static const char *const columns[] = { "Mutant",  "Takes away", "Installed", "Detected",
					       "Verdict", "Earned",     NULL };

	html_table(page->out, "x", caught ? "Mutants that were caught" : "Mutants that were not caught", columns);
	put_rows(page, caught);
	html_table_end(page->out);
}

void html_mutations(struct html_page *page)
{
	const struct verdicts *verdicts = page->findings->verdicts;
	struct buf *out = page->out;
	size_t caught = 0;

	for (size_t i = 0; i < verdicts->mutations_count; i++)
		caught += verdicts->mutations[i].verdict == VERDICT_PASS;
	escape_printf(out,
		      "<h2 id=\"mutations\">Mutants: %zu of %zu caught</h2>\n"
		      "<p>A mutant is a run with one protection taken away. It must be seen to be without it, and the "
		      "same oracle must then object in exactly the declared cells. A zero counts only if a mutant made "
		      "the same probe arrive where the zero was counted: it <em>earned</em> that zero.</p>\n",
		      caught, verdicts->mutations_count);
	if (caught < verdicts->mutations_count)
		put_table(page, false);
	if (caught == 0)
		return;
	buf_text(out, "<details><summary>");
	html_count(out, caught, "mutant that was caught", "mutants that were caught");
	buf_text(out, "</summary>\n");
	put_table(page, true);
	buf_text(out, "</details>\n");
}
