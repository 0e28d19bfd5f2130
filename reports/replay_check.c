/* Whether replay.json agrees with the run that it is of: all that it says "is", and what it counts. What "was" stands
 * in the other bundle alone. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "reports/environment.h"
#include "reports/replay.h"

static bool of_whole_arm(const struct compare_difference *row)
{
	return !row->subject[0] && !row->observer[0];
}

static const struct arm_record *arm_of(const struct compare_side *here, const struct compare_difference *row)
{
	for (size_t i = 0; i < here->arms_count; i++)
		if (here->arms[i].repetition == row->repetition && strcmp(here->arms[i].arm, row->arm) == 0)
			return &here->arms[i];
	return NULL;
}

/* What this run says of that, or NULL. */
static const char *arm_word(const struct compare_side *here, const struct compare_difference *row)
{
	const struct arm_record *arm = arm_of(here, row);

	return arm ? arm_status_names[arm->status] : NULL;
}

static const char *mutation_word(const struct compare_side *here, const struct compare_difference *row)
{
	static const char *const words[] = { "no", "yes" };

	for (size_t i = 0; i < here->verdicts->mutations_count; i++) {
		const struct verdict_mutation *mutation = &here->verdicts->mutations[i];

		if (mutation->repetition != row->repetition || strcmp(mutation->scenario->id, row->arm) != 0)
			continue;
		if (row->aspect == COMPARE_INSTALLED)
			return words[mutation->installed];
		return row->aspect == COMPARE_DETECTED ? words[mutation->detected] : verdict_names[mutation->verdict];
	}
	return NULL;
}

static bool at_cell(const struct compare_difference *row, const struct verdict_cell *cell)
{
	return cell->repetition == row->repetition && strcmp(cell->scenario->id, row->arm) == 0 &&
	       strcmp(cell->expectation->subject, row->subject) == 0 &&
	       strcmp(cell->expectation->observer, row->observer) == 0;
}

static bool cell_says(const struct verdict_cell *cell, const struct compare_difference *row)
{
	char number[NAME_MAX_SHORT];

	switch (row->aspect) {
	case COMPARE_NEW:
	case COMPARE_VERDICT:
		return strcmp(row->is, verdict_names[cell->verdict]) == 0;
	case COMPARE_CLASS:
		return strcmp(row->is, compare_cell_class(cell)) == 0;
	case COMPARE_STATUS:
		return strcmp(row->is, compare_cell_status(cell)) == 0;
	case COMPARE_VALUE:
		/* A bound says that it may be more or less: it would not weigh. */
		if (cell->expectation->op != OP_EQ || strcmp(compare_cell_class(cell), "none") == 0)
			return false;
		snprintf(number, sizeof(number), "%" PRId64, cell->observation->value);
		return strcmp(row->is, number) == 0;
	default:
		return false;
	}
}

/* Of what nobody planned there may be several at one place, of which any may be meant. */
static bool cell_agrees(const struct compare_side *here, const struct compare_difference *row)
{
	bool found = false, says = false;

	for (size_t i = 0; i < here->verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &here->verdicts->cells[i];

		if (!at_cell(row, cell))
			continue;
		found |= cell->because != BECAUSE_UNPLANNED;
		says |= cell_says(cell, row);
	}
	return row->aspect == COMPARE_MISSING ? !found && arm_of(here, row) : says;
}

static bool agrees(const struct replay *replay, const struct compare_side *here, const struct compare_difference *row)
{
	const char *word = NULL;

	if (!row->weighs || strcmp(row->was, row->is) == 0 || (row->aspect == COMPARE_NEW) != !row->was[0] ||
	    (row->aspect == COMPARE_MISSING) != !row->is[0] || !row->subject[0] != !row->observer[0])
		return false;
	switch (row->aspect) {
	case COMPARE_MISSING:
		return of_whole_arm(row) ? !replay->part && !arm_of(here, row) : cell_agrees(here, row);
	case COMPARE_NEW:
		if (!of_whole_arm(row))
			return cell_agrees(here, row);
		word = arm_word(here, row);
		break;
	case COMPARE_ARM:
		word = arm_word(here, row);
		break;
	case COMPARE_INSTALLED:
	case COMPARE_DETECTED:
	case COMPARE_MUTATION:
		word = mutation_word(here, row);
		break;
	default:
		return !of_whole_arm(row) && cell_agrees(here, row);
	}
	return of_whole_arm(row) && word && strcmp(word, row->is) == 0;
}

static size_t cells_of_arm(const struct compare_side *here, const struct compare_difference *row)
{
	size_t count = 0;

	for (size_t i = 0; i < here->verdicts->cells_count; i++)
		count += here->verdicts->cells[i].repetition == row->repetition &&
			 strcmp(here->verdicts->cells[i].scenario->id, row->arm) == 0;
	return count;
}

/* Each cell of this run is one that both have, or is new, or is of an arm that is new. */
static int check_count(const struct replay *replay, const struct compare_side *here, struct error **err)
{
	size_t fresh = 0;

	for (size_t i = 0; i < replay->diverged_count; i++)
		if (replay->diverged[i].aspect == COMPARE_NEW)
			fresh += of_whole_arm(&replay->diverged[i]) ? cells_of_arm(here, &replay->diverged[i]) : 1;
	if (replay->cells + (int64_t)fresh > (int64_t)here->verdicts->cells_count ||
	    (replay->differences == (int64_t)replay->diverged_count &&
	     replay->cells + (int64_t)fresh != (int64_t)here->verdicts->cells_count))
		return error_set(err, ERROR_INPUT, "replay.json: cells: not as many as this run has");
	return 0;
}

static bool same_row(const struct compare_difference *one, const struct compare_difference *other)
{
	return one->aspect == other->aspect && one->repetition == other->repetition &&
	       strcmp(one->arm, other->arm) == 0 && strcmp(one->subject, other->subject) == 0 &&
	       strcmp(one->observer, other->observer) == 0 && strcmp(one->was, other->was) == 0 &&
	       strcmp(one->is, other->is) == 0;
}

static int check_rows(const struct replay *replay, const struct compare_side *here, struct error **err)
{
	for (size_t i = 0; i < replay->diverged_count; i++) {
		if (!agrees(replay, here, &replay->diverged[i]))
			return error_set(err, ERROR_INPUT, "replay.json: diverged[%zu] is not what this run came to",
					 i);
		for (size_t before = 0; before < i; before++)
			if (same_row(&replay->diverged[before], &replay->diverged[i]))
				return error_set(err, ERROR_INPUT, "replay.json: diverged[%zu] stands there twice", i);
	}
	return 0;
}

static bool may_be_compared(const char *name)
{
	for (size_t i = 0; environment_fact(i); i++)
		if (strcmp(environment_fact(i), name) == 0)
			return !environment_fact_varies(name);
	return replay_stands_on(name);
}

/* "" where this run has nothing under that name. */
static const char *fact_here(const struct comparison *facts, const char *name)
{
	for (size_t i = 0; i < facts->environment_count; i++)
		if (strcmp(facts->environment[i].name, name) == 0)
			return facts->environment[i].is;
	for (size_t i = 0; i < facts->origin_count; i++)
		if (strcmp(facts->origin[i].name, name) == 0)
			return facts->origin[i].is;
	return "";
}

/* All facts of this run, as those that differ from none at all. */
static int check_facts(const struct replay *replay, const struct compare_side *here, struct error **err)
{
	cleanup_free struct comparison *facts = calloc(1, sizeof(*facts));
	cleanup_free struct manifest *nothing = calloc(1, sizeof(*nothing));
	const struct compare_side none = { .environment = "{}", .environment_length = 2 };

	if (!facts || !nothing)
		return error_set(err, ERROR_MEMORY, "no memory for the facts of a run");
	if (compare_environments(&none, here, facts, err) < 0)
		return -1;
	compare_origins(nothing, here->manifest, facts);
	for (size_t i = 0; i < replay->environment_count; i++) {
		const struct compare_fact *fact = &replay->environment[i];

		if (!may_be_compared(fact->name))
			return error_unlisted(err, "replay.json: environment[%zu] names an unknown fact", i);
		if (strcmp(fact->was, fact->is) == 0 || strcmp(fact->is, fact_here(facts, fact->name)) != 0)
			return error_set(err, ERROR_INPUT,
					 "replay.json: environment[%zu] is not what this run stood on", i);
		for (size_t before = 0; before < i; before++)
			if (strcmp(replay->environment[before].name, fact->name) == 0)
				return error_set(err, ERROR_INPUT, "replay.json: environment[%zu] stands there twice",
						 i);
	}
	return 0;
}

int replay_check(const struct replay *replay, const struct compare_side *here, struct error **err)
{
	int result = check_rows(replay, here, err);

	if (result >= 0)
		result = check_count(replay, here, err);
	return result < 0 ? result : check_facts(replay, here, err);
}
