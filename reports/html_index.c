/* The index of the page: which cells, record and mutation are an arm's, and which arms stand together. */
#include <stdlib.h>
#include <string.h>

#include "reports/html_parts.h"

#define MUTATIONS "mutation"
#define CORE "baseline and mutations"

static int compare_names(const char *id, int64_t repetition, const char *other_id, int64_t other)
{
	int order = strcmp(id, other_id);

	return order != 0 ? order : (repetition > other) - (repetition < other);
}

static int by_name(const void *a, const void *b)
{
	const struct verdict_arm *left = (*(const struct html_arm *const *)a)->arm,
				 *right = (*(const struct html_arm *const *)b)->arm;

	return compare_names(left->scenario->id, left->repetition, right->scenario->id, right->repetition);
}

/* How much of an id names its group; 0: it has none. */
static size_t group_length(const char *id)
{
	const char *slash = strchr(id, '/');

	return slash ? (size_t)(slash - id) : 0;
}

static bool in_mutations(const char *id)
{
	return group_length(id) == strlen(MUTATIONS) && strncmp(id, MUTATIONS, strlen(MUTATIONS)) == 0;
}

/* What has no group comes first, then the mutations, then the others by name. */
static int group_rank(const char *id)
{
	return group_length(id) == 0 ? 0 : in_mutations(id) ? 1 : 2;
}

static int by_group(const void *a, const void *b)
{
	const char *left = (*(const struct html_arm *const *)a)->arm->scenario->id,
		   *right = (*(const struct html_arm *const *)b)->arm->scenario->id;
	int rank = group_rank(left) - group_rank(right);

	return rank != 0 ? rank : by_name(a, b);
}

/* The two groups that stand first are one. */
static bool same_group(const char *id, const char *other)
{
	if (group_rank(id) < 2)
		return group_rank(other) < 2;
	return group_length(id) == group_length(other) && strncmp(id, other, group_length(id)) == 0;
}

const struct html_arm *html_find(const struct html_page *page, const char *id, int64_t repetition)
{
	size_t low = 0, high = page->arms_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct verdict_arm *arm = page->named[middle]->arm;

		if (compare_names(arm->scenario->id, arm->repetition, id, repetition) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < page->arms_count && strcmp(page->named[low]->arm->scenario->id, id) == 0)
		return page->named[low];
	return low > 0 && strcmp(page->named[low - 1]->arm->scenario->id, id) == 0 ? page->named[low - 1] : NULL;
}

size_t html_cell_number(const struct html_page *page, const struct verdict_cell *cell)
{
	return (size_t)(cell - page->findings->verdicts->cells);
}

bool html_is_well(const struct html_arm *arm)
{
	return arm->arm->status == ARM_OK && arm->counts[VERDICT_FAIL] + arm->counts[VERDICT_NOT_ESTABLISHED] == 0 &&
	       (!arm->mutation || arm->mutation->verdict == VERDICT_PASS);
}

static void take_arms(struct html_page *page)
{
	const struct findings *findings = page->findings;

	for (size_t i = 0; i < page->arms_count; i++) {
		const struct verdict_arm *arm = &findings->verdicts->arms[i];
		const struct arm_record *record = i < findings->arms_count ? &findings->arms[i] : NULL;
		bool own = record &&
			   compare_names(record->arm, record->repetition, arm->scenario->id, arm->repetition) == 0;

		page->arms[i] = (struct html_arm){ .arm = arm, .record = own ? record : NULL, .number = i };
		page->sorted[i] = page->named[i] = &page->arms[i];
	}
	if (page->arms_count == 0)
		return;
	qsort(page->sorted, page->arms_count, sizeof(*page->sorted), by_group);
	qsort(page->named, page->arms_count, sizeof(*page->named), by_name);
}

/* Cells of one arm mostly follow each other, so that the search is rare. */
static struct html_arm *arm_of(const struct html_page *page, const struct verdict_cell *cell, struct html_arm *last)
{
	const struct html_arm *found = last;

	if (!last || last->arm->scenario != cell->scenario || last->arm->repetition != cell->repetition)
		found = html_find(page, cell->scenario->id, cell->repetition);
	return found ? &page->arms[found->number] : NULL;
}

static void take_cells(struct html_page *page)
{
	const struct verdicts *verdicts = page->findings->verdicts;
	const struct html_arm *earner;
	struct html_arm *arm = NULL;
	size_t first = 0;

	for (size_t i = 0; i < verdicts->cells_count; i++) {
		arm = arm_of(page, &verdicts->cells[i], arm);
		if (arm)
			arm->cells_count++;
	}
	for (size_t i = 0; i < page->arms_count; i++) {
		page->arms[i].cells = &page->cells[first];
		first += page->arms[i].cells_count;
		page->arms[i].cells_count = 0;
	}
	for (size_t i = 0; i < verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &verdicts->cells[i];

		arm = arm_of(page, cell, arm);
		if (!arm)
			continue;
		page->cells[(size_t)(arm->cells - page->cells) + arm->cells_count++] = cell;
		arm->counts[cell->verdict]++;
		earner = cell->mutant[0] ? html_find(page, cell->mutant, cell->repetition) : NULL;
		if (earner)
			page->arms[earner->number].earned++;
	}
}

static void take_mutations(struct html_page *page)
{
	const struct verdicts *verdicts = page->findings->verdicts;

	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		const struct verdict_mutation *mutation = &verdicts->mutations[i];
		const struct html_arm *arm = html_find(page, mutation->scenario->id, mutation->repetition);

		if (arm)
			page->arms[arm->number].mutation = mutation;
	}
}

/* More groups than a page has room for share its last one. */
static void take_groups(struct html_page *page)
{
	struct html_group *group = NULL;

	for (size_t i = 0; i < page->arms_count; i++) {
		const struct html_arm *arm = page->sorted[i];
		const char *id = arm->arm->scenario->id;

		if (!group ||
		    (page->groups_count < HTML_GROUPS_MAX && !same_group(group->arms[0]->arm->scenario->id, id))) {
			group = &page->groups[page->groups_count++];
			*group = (struct html_group){ .core = group_rank(id) < 2, .arms = &page->sorted[i] };
			memcpy(group->name, group->core ? CORE : id, group->core ? sizeof(CORE) : group_length(id));
		}
		group->arms_count++;
		group->cells_count += arm->cells_count;
		group->well += html_is_well(arm);
	}
}

int html_open(const struct findings *findings, struct buf *out, struct html_page *page, struct error **err)
{
	size_t arms = findings->verdicts->arms_count, cells = findings->verdicts->cells_count;

	*page = (struct html_page){ .out = out, .findings = findings, .arms_count = arms };
	page->arms = calloc(arms + 1, sizeof(*page->arms));
	page->sorted = calloc(arms + 1, sizeof(*page->sorted));
	page->named = calloc(arms + 1, sizeof(*page->named));
	page->cells = calloc(cells + 1, sizeof(*page->cells));
	if (!page->arms || !page->sorted || !page->named || !page->cells)
		return error_set(err, ERROR_MEMORY, "no memory for report.html");
	take_arms(page);
	take_cells(page);
	take_mutations(page);
	take_groups(page);
	return 0;
}

void html_close(struct html_page *page)
{
	free(page->arms);
	free(page->sorted);
	free(page->named);
	free(page->cells);
}
