/*
 * The matrix: a row for each route (what was tried, and where it would have been seen), a column for each arm. An arm's
 * group is cut into tables that a page is wide enough for, and each has the routes of its own arms alone.
 */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/html_parts.h"

#define COLUMNS 9

/* A cell with its place. */
struct place {
	const struct verdict_cell *cell;
	size_t column;
};

static int by_route(const struct place *a, const struct place *b)
{
	int order = strcmp(a->cell->expectation->observer, b->cell->expectation->observer);

	return order != 0 ? order : strcmp(a->cell->expectation->subject, b->cell->expectation->subject);
}

static int by_place(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	int order = by_route(left, right);

	return order != 0 ? order : (left->column > right->column) - (left->column < right->column);
}

static size_t cells_of(const struct html_arm *const *arms, size_t count)
{
	size_t cells = 0;

	for (size_t i = 0; i < count; i++)
		cells += arms[i]->cells_count;
	return cells;
}

static void put_cell(const struct html_page *page, const struct verdict_cell *cell)
{
	static const char *const classes[] = {
		[VERDICT_PASS] = "",
		[VERDICT_FAIL] = " class=\"f\"",
		[VERDICT_NOT_ESTABLISHED] = " class=\"n\"",
	};
	static const char *const words[] = {
		[VERDICT_PASS] = "",
		[VERDICT_FAIL] = " <b>fail</b>",
		[VERDICT_NOT_ESTABLISHED] = " <small>not established</small>",
	};
	bool caught = cell->expectation->flips && cell->verdict == VERDICT_PASS;
	struct buf *out = page->out;

	buf_text(out, "<td");
	buf_text(out, caught ? " class=\"c\"" : classes[cell->verdict]);
	escape_printf(out, "><a href=\"#c%zu\">", html_cell_number(page, cell));
	html_seen(out, cell->observation, true);
	buf_text(out, caught ? " <small>caught</small>" : words[cell->verdict]);
	buf_text(out, "</a>");
}

/* One route's row; returns how many places it took. */
static size_t put_row(const struct html_page *page, const struct place *places, size_t count, size_t columns)
{
	size_t taken = 0, column = 0;

	escape_printf(page->out, "<tr><th scope=\"row\">%s", places[0].cell->expectation->subject);
	while (taken < count && by_route(&places[taken], &places[0]) == 0) {
		for (; column < places[taken].column; column++)
			buf_text(page->out, "<td>");
		put_cell(page, places[taken].cell);
		column = places[taken].column + 1;
		/* Two cells of one route in one arm: the arm's own table shows both. */
		do
			taken++;
		while (taken < count && by_place(&places[taken], &places[taken - 1]) == 0);
	}
	for (; column < columns; column++)
		buf_text(page->out, "<td>");
	buf_text(page->out, "\n");
	return taken;
}

static void put_observer(struct buf *out, const char *observer, size_t columns)
{
	escape_printf(out, "<tbody><tr><th class=\"o\" scope=\"rowgroup\" colspan=\"%zu\"><span><b>%s</b>", columns + 1,
		      observer);
	if (*html_observer(observer))
		escape_printf(out, " &ndash; %s", html_observer(observer));
	buf_text(out, "</span>\n");
}

static void put_rows(const struct html_page *page, const struct place *places, size_t count, size_t columns)
{
	const char *observer = "";

	for (size_t i = 0; i < count;) {
		if (strcmp(places[i].cell->expectation->observer, observer) != 0) {
			observer = places[i].cell->expectation->observer;
			put_observer(page->out, observer, columns);
		}
		i += put_row(page, &places[i], count - i, columns);
	}
}

/* "mutation/network" under the heading of its group: "network"; it may be broken behind a slash. */
static void put_column(const struct html_page *page, const struct html_group *group, const struct html_arm *arm)
{
	size_t known = group->core ? 0 : strlen(group->name) + 1;
	const char *id = arm->arm->scenario->id;

	escape_printf(page->out, "<th scope=\"col\"><a href=\"#a%zu\">", arm->number);
	if (known > 1)
		id += known;
	for (const char *at = id; *at; at++)
		escape_printf(page->out, *at == '/' ? "%c<wbr>" : "%c", *at);
	if (arm->arm->repetition > 1)
		escape_printf(page->out, " #%lld", (long long)arm->arm->repetition);
	buf_text(page->out, "</a>");
}

static int put_table(const struct html_page *page, const struct html_group *group, size_t first, size_t columns,
		     struct error **err)
{
	const struct html_arm *const *arms = &group->arms[first];
	size_t cells = cells_of(arms, columns), count = 0;
	cleanup_free struct place *places = calloc(cells + 1, sizeof(*places));
	struct buf *out = page->out;

	if (!places)
		return error_set(err, ERROR_MEMORY, "no memory for report.html");
	for (size_t i = 0; i < columns; i++)
		for (size_t c = 0; c < arms[i]->cells_count; c++)
			places[count++] = (struct place){ .cell = arms[i]->cells[c], .column = i };
	qsort(places, count, sizeof(*places), by_place);
	escape_printf(
		out,
		"<div class=\"t\" tabindex=\"0\" role=\"group\" aria-label=\"Matrix: %s, arms %zu to %zu\">"
		"<table class=\"m\"><caption>%s: arms %zu to %zu of %zu</caption>\n<thead><tr><th scope=\"col\">Route",
		group->name, first + 1, first + columns, group->name, first + 1, first + columns, group->arms_count);
	for (size_t i = 0; i < columns; i++)
		put_column(page, group, arms[i]);
	buf_text(out, "\n");
	put_rows(page, places, count, columns);
	buf_text(out, "</table></div>\n");
	return 0;
}

static int put_group(const struct html_page *page, const struct html_group *group, struct error **err)
{
	int result = 0;

	for (size_t i = 0; i < group->arms_count && result >= 0; i += COLUMNS) {
		size_t columns = group->arms_count - i < COLUMNS ? group->arms_count - i : COLUMNS;

		if (cells_of(&group->arms[i], columns) > 0)
			result = put_table(page, group, i, columns, err);
	}
	return result;
}

int html_matrix(struct html_page *page, struct error **err)
{
	struct buf *out = page->out;

	buf_text(out,
		 "<h2 id=\"matrix\">Matrix</h2>\n"
		 "<p>A row is a route: what the agent tried, under the observer that would have seen it arrive. A "
		 "column is an arm: one container, one set of protections. The number is what the observer counted, "
		 "and leads to all that it said. <span class=\"c\">Caught</span> marks what a mutant let through and "
		 "the observer saw, as declared; an empty place was not planned.</p>\n");
	for (size_t i = 0; i < page->groups_count; i++) {
		const struct html_group *group = &page->groups[i];
		int result;

		if (!group->core) {
			escape_printf(out, "<details%s><summary>%s<span class=\"soft\">",
				      group->well < group->arms_count ? " open" : "", group->name);
			escape_printf(out, "%zu of ", group->well);
			html_count(out, group->arms_count, "arm", "arms");
			buf_text(out, " as expected, ");
			html_count(out, group->cells_count, "cell", "cells");
			buf_text(out, "</span></summary>\n");
		}
		result = put_group(page, group, err);
		if (result < 0)
			return result;
		if (!group->core)
			buf_text(out, "</details>\n");
	}
	return 0;
}
