/* Each arm, closed unless something is wrong in it: how it ended, its timeline, and each cell with what it rests on. */
#include <inttypes.h>
#include <string.h>

#include "reports/html_parts.h"

static void put_summary(const struct html_page *page, const struct html_arm *arm)
{
	struct buf *out = page->out;

	escape_printf(out, "<details id=\"a%zu\"%s><summary>", arm->number, html_is_well(arm) ? "" : " open");
	html_name(out, arm->arm);
	buf_text(out, "<span class=\"soft\">");
	if (arm->arm->status != ARM_OK)
		escape_printf(out, "ended: %s, ", arm_status_names[arm->arm->status]);
	if (arm->mutation)
		buf_text(out, arm->mutation->verdict == VERDICT_PASS ? "mutant, caught; " : "mutant, not caught; ");
	for (int verdict = VERDICT_FAIL; verdict <= VERDICT_NOT_ESTABLISHED; verdict++)
		if (arm->counts[verdict]) {
			escape_printf(out, "%zu ", arm->counts[verdict]);
			html_verdict(out, (enum verdict)verdict);
			buf_text(out, ", ");
		}
	escape_printf(out, "%zu pass</span></summary>\n", arm->counts[VERDICT_PASS]);
}

static void put_list(struct buf *out, const char *what, const char (*names)[NAME_MAX_SHORT], size_t count)
{
	escape_printf(out, "%s", what);
	for (size_t i = 0; i < count; i++)
		escape_printf(out, "%s%s", i ? ", " : " ", names[i]);
	buf_text(out, ". ");
}

static void put_record(const struct html_page *page, const struct html_arm *arm)
{
	const struct arm_record *record = arm->record;
	const struct scenario *scenario = arm->arm->scenario;
	struct buf *out = page->out;

	escape_printf(out, "<p>%c%s. ",
		      scenario->title[0] >= 'a' && scenario->title[0] <= 'z' ? scenario->title[0] - 'a' + 'A'
									     : scenario->title[0],
		      scenario->title[0] ? scenario->title + 1 : "");
	if (scenario->control[0]) {
		buf_text(out, "Takes away");
		for (size_t i = 0; i < scenario->removes_count; i++)
			escape_printf(out, "%s%s", i ? ", " : " ", scenario->removes[i]);
		escape_printf(out, ", against %s. ", scenario->control);
	}
	if (!record) {
		buf_text(out, "It left no record.</p>\n");
		return;
	}
	if (record->must_fail_count)
		put_list(out, "Admission must refuse on", record->must_fail, record->must_fail_count);
	if (record->failed_count)
		put_list(out, "It refused on", record->failed, record->failed_count);
	if (record->deployment_revision[0])
		escape_printf(out, "The deployment beside it said that it is of revision %s. ",
			      record->deployment_revision);
	buf_text(out, "The agent itself counted ");
	escape_printf(out,
		      "%" PRId64 " attempts, the bridge %" PRId64 " calls allowed and %" PRId64
		      " denied: their own words, which nothing here rests on.</p>\n",
		      record->agent_attempts, record->calls_allowed, record->calls_denied);
}

static void put_earner(const struct html_page *page, const struct verdict_cell *cell)
{
	const struct html_arm *mutant = cell->mutant[0] ? html_find(page, cell->mutant, cell->repetition) : NULL;
	struct buf *out = page->out;

	if (mutant)
		html_arm_link(out, mutant);
	else if (cell->expectation->flips)
		buf_text(out, "flips");
	else if (cell->expectation->class == CELL_CONTROL)
		buf_text(out, "control");
	else
		buf_text(out, "nobody");
}

/* How far the number can be trusted: what was lost, and why it is a lower bound or none at all. */
static void put_bound(struct buf *out, const struct observation *seen)
{
	escape_printf(out, "<td>%" PRId64, seen->dropped);
	escape_printf(out, "<td>%s", seen->id);
	if (seen->reason != OBSERVATION_REASON_NONE)
		escape_printf(out, ", %s", observation_reason_names[seen->reason]);
}

static void put_cell(const struct html_page *page, const struct verdict_cell *cell)
{
	const struct observation *seen = cell->observation;
	struct buf *out = page->out;

	escape_printf(out, "<tr id=\"c%zu\"><th scope=\"row\">%s@%s<td>", html_cell_number(page, cell),
		      cell->expectation->subject, cell->expectation->observer);
	html_seen(out, seen, false);
	buf_text(out, "<td>");
	html_expected(out, cell);
	buf_text(out, "<td>");
	html_verdict(out, cell->verdict);
	if (cell->verdict != VERDICT_PASS)
		escape_printf(out, ", %s", because_names[cell->because]);
	buf_text(out, "<td>");
	put_earner(page, cell);
	if (seen) {
		escape_printf(out, "<td>%" PRId64 " + %" PRId64 "<td>%" PRId64 "<td>%" PRId64 "<td>%" PRId64,
			      seen->beacon_before, seen->beacon_after, seen->attempts, seen->connections, seen->bytes);
		put_bound(out, seen);
	} else {
		buf_text(out, "<td><td><td><td><td><td>");
	}
	buf_text(out, "\n");
}

static void put_cells(const struct html_page *page, const struct html_arm *arm)
{
	static const char *const columns[] = { "Cell",      "Seen",    "Expected",    "Verdict",
					       "Earned by", "Beacons", "Attempts",    "Connections",
					       "Bytes",     "Dropped", "Observation", NULL };

	if (arm->cells_count == 0)
		return;
	html_table(page->out, "w", "Cells", columns);
	for (size_t i = 0; i < arm->cells_count; i++)
		put_cell(page, arm->cells[i]);
	html_table_end(page->out);
}

static void put_arm(struct html_page *page, const struct html_arm *arm)
{
	put_summary(page, arm);
	put_record(page, arm);
	html_timeline(page, arm);
	put_cells(page, arm);
	buf_text(page->out, "</details>\n");
}

void html_arms(struct html_page *page)
{
	struct buf *out = page->out;

	buf_text(out,
		 "<h2 id=\"arms\">Arms</h2>\n"
		 "<p>Each arm is one container from its creation to its removal. <b>Beacons</b> are markers from "
		 "outside, before and after, that prove that the observer could see; <b>attempts</b>, "
		 "<b>connections</b> and <b>bytes</b> are totals, with or without a canary; <b>dropped</b> is what the "
		 "observer knows that it lost. The thick part of a timeline is when the agent could act. What is "
		 "closed here is not printed.</p>\n");
	for (size_t i = 0; i < page->groups_count; i++) {
		const struct html_group *group = &page->groups[i];

		escape_printf(out, "<h3>%s</h3>\n", group->name);
		for (size_t a = 0; a < group->arms_count; a++)
			if (!html_is_well(group->arms[a]))
				put_arm(page, group->arms[a]);
		for (size_t a = 0; a < group->arms_count; a++)
			if (html_is_well(group->arms[a]))
				put_arm(page, group->arms[a]);
	}
}
