#include "reports/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"

#define DIFFERENCES_FIRST 64

/* The cells, mutations and arms of one side, each list sorted by name. */
struct index {
	const struct verdict_cell **cells;
	size_t cells_count;
	const struct verdict_mutation **mutations;
	size_t mutations_count;
	const struct arm_record **arms;
	size_t arms_count;
};

static int order_names(const char *one, int64_t first, const char *other, int64_t second)
{
	int difference = strcmp(one, other);

	return difference ? difference : (first > second) - (first < second);
}

static int by_cell(const void *a, const void *b)
{
	const struct verdict_cell *one = *(const struct verdict_cell *const *)a,
				  *other = *(const struct verdict_cell *const *)b;
	int difference = order_names(one->scenario->id, one->repetition, other->scenario->id, other->repetition);

	if (!difference)
		difference = strcmp(one->expectation->subject, other->expectation->subject);
	return difference ? difference : strcmp(one->expectation->observer, other->expectation->observer);
}

static int by_mutation(const void *a, const void *b)
{
	const struct verdict_mutation *one = *(const struct verdict_mutation *const *)a,
				      *other = *(const struct verdict_mutation *const *)b;

	return order_names(one->scenario->id, one->repetition, other->scenario->id, other->repetition);
}

static int by_arm(const void *a, const void *b)
{
	const struct arm_record *one = *(const struct arm_record *const *)a,
				*other = *(const struct arm_record *const *)b;

	return order_names(one->arm, one->repetition, other->arm, other->repetition);
}

static void index_free(struct index *index)
{
	free(index->cells);
	free(index->mutations);
	free(index->arms);
}

static int index_make(const struct compare_side *side, struct index *out, struct error **err)
{
	const struct verdicts *verdicts = side->verdicts;

	out->cells = calloc(verdicts->cells_count + 1, sizeof(*out->cells));
	out->mutations = calloc(verdicts->mutations_count + 1, sizeof(*out->mutations));
	out->arms = calloc(side->arms_count + 1, sizeof(*out->arms));
	if (!out->cells || !out->mutations || !out->arms)
		return error_set(err, ERROR_MEMORY, "no memory to compare bundles");
	for (; out->cells_count < verdicts->cells_count; out->cells_count++)
		out->cells[out->cells_count] = &verdicts->cells[out->cells_count];
	for (; out->mutations_count < verdicts->mutations_count; out->mutations_count++)
		out->mutations[out->mutations_count] = &verdicts->mutations[out->mutations_count];
	for (; out->arms_count < side->arms_count; out->arms_count++)
		out->arms[out->arms_count] = &side->arms[out->arms_count];
	qsort(out->cells, out->cells_count, sizeof(*out->cells), by_cell);
	qsort(out->mutations, out->mutations_count, sizeof(*out->mutations), by_mutation);
	qsort(out->arms, out->arms_count, sizeof(*out->arms), by_arm);
	return 0;
}

static bool has_arm(const struct index *index, const char *id, int64_t repetition)
{
	size_t low = 0, high = index->arms_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int difference = order_names(id, repetition, index->arms[middle]->arm, index->arms[middle]->repetition);

		if (!difference)
			return true;
		if (difference < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

/* ---- differences ---- */

static int add(struct comparison *comparison, const struct compare_difference *difference, struct error **err)
{
	if (comparison->count == comparison->room) {
		size_t room = comparison->room ? 2 * comparison->room : DIFFERENCES_FIRST;
		struct compare_difference *grown = reallocarray(comparison->differences, room, sizeof(*grown));

		if (!grown)
			return error_set(err, ERROR_MEMORY, "no memory for %zu differences", room);
		comparison->differences = grown;
		comparison->room = room;
	}
	comparison->differences[comparison->count++] = *difference;
	comparison->weighing += difference->weighs;
	return 0;
}

/* Names of our own tables, which fit. */
static void put(char out[NAME_MAX_SHORT], const char *text)
{
	snprintf(out, NAME_MAX_SHORT, "%s", text);
}

static struct compare_difference of_cell(const struct verdict_cell *cell, enum compare_aspect aspect)
{
	struct compare_difference difference = { .aspect = aspect, .repetition = cell->repetition, .weighs = true };

	snprintf(difference.arm, sizeof(difference.arm), "%s", cell->scenario->id);
	put(difference.subject, cell->expectation->subject);
	put(difference.observer, cell->expectation->observer);
	return difference;
}

static int say(struct comparison *comparison, struct compare_difference difference, const char *was, const char *is,
	       struct error **err)
{
	if (strcmp(was, is) == 0)
		return 0;
	put(difference.was, was);
	put(difference.is, is);
	return add(comparison, &difference, err);
}

const char *compare_cell_class(const struct verdict_cell *cell)
{
	if (!cell->observation || cell->observation->status != OBSERVATION_OBSERVED)
		return "none";
	return cell->observation->value == 0 ? "zero" : "nonzero";
}

const char *compare_cell_status(const struct verdict_cell *cell)
{
	return cell->observation ? observation_status_names[cell->observation->status] : "none";
}

static int compare_cell(const struct verdict_cell *one, const struct verdict_cell *other, struct comparison *out,
			struct error **err)
{
	struct compare_difference value = of_cell(one, COMPARE_VALUE);
	char was[NAME_MAX_SHORT] = "", is[NAME_MAX_SHORT] = "";

	out->cells++;
	if (say(out, of_cell(one, COMPARE_VERDICT), verdict_names[one->verdict], verdict_names[other->verdict], err) <
		    0 ||
	    say(out, of_cell(one, COMPARE_STATUS), compare_cell_status(one), compare_cell_status(other), err) < 0 ||
	    say(out, of_cell(one, COMPARE_CLASS), compare_cell_class(one), compare_cell_class(other), err) < 0)
		return -1;
	if (strcmp(compare_cell_class(one), "none") == 0 || strcmp(compare_cell_class(other), "none") == 0)
		return 0;
	/* A bound says that it may be more or less. */
	value.weighs = one->expectation->op == OP_EQ;
	snprintf(was, sizeof(was), "%" PRId64, one->observation->value);
	snprintf(is, sizeof(is), "%" PRId64, other->observation->value);
	return say(out, value, was, is, err);
}

/* Those of an arm that only one side has are told by their arm. */
static int compare_cells(const struct index *one, const struct index *other, struct comparison *out, struct error **err)
{
	size_t i = 0, j = 0;
	int result = 0;

	while ((i < one->cells_count || j < other->cells_count) && result >= 0) {
		int order = i == one->cells_count     ? 1
			    : j == other->cells_count ? -1
						      : by_cell(&one->cells[i], &other->cells[j]);

		if (order == 0) {
			result = compare_cell(one->cells[i], other->cells[j], out, err);
		} else if (order > 0 && has_arm(one, other->cells[j]->scenario->id, other->cells[j]->repetition)) {
			result = say(out, of_cell(other->cells[j], COMPARE_NEW), "",
				     verdict_names[other->cells[j]->verdict], err);
		} else if (order < 0 && has_arm(other, one->cells[i]->scenario->id, one->cells[i]->repetition)) {
			result = say(out, of_cell(one->cells[i], COMPARE_MISSING),
				     verdict_names[one->cells[i]->verdict], "", err);
		}
		i += order <= 0;
		j += order >= 0;
	}
	return result;
}

static struct compare_difference of_arm(const char *id, int64_t repetition, enum compare_aspect aspect)
{
	struct compare_difference difference = { .aspect = aspect, .repetition = repetition, .weighs = true };

	snprintf(difference.arm, sizeof(difference.arm), "%s", id);
	return difference;
}

/* One that only one side has is told by its arm. */
static int compare_mutations(const struct index *one, const struct index *other, struct comparison *out,
			     struct error **err)
{
	static const char *const words[] = { "no", "yes" };
	size_t i = 0, j = 0;

	while (i < one->mutations_count && j < other->mutations_count) {
		const struct verdict_mutation *was = one->mutations[i], *is = other->mutations[j];
		int order = by_mutation(&was, &is);

		if (order == 0 && (say(out, of_arm(was->scenario->id, was->repetition, COMPARE_INSTALLED),
				       words[was->installed], words[is->installed], err) < 0 ||
				   say(out, of_arm(was->scenario->id, was->repetition, COMPARE_DETECTED),
				       words[was->detected], words[is->detected], err) < 0 ||
				   say(out, of_arm(was->scenario->id, was->repetition, COMPARE_MUTATION),
				       verdict_names[was->verdict], verdict_names[is->verdict], err) < 0))
			return -1;
		i += order <= 0;
		j += order >= 0;
	}
	return 0;
}

static int compare_arm(const struct arm_record *one, const struct arm_record *other, struct comparison *out,
		       struct error **err)
{
	struct compare_difference difference = of_arm(one->arm, one->repetition, COMPARE_ARM);

	out->durations[out->durations_count++] = (struct compare_duration){
		.arm = one->arm,
		.repetition = one->repetition,
		.was_ns = one->duration_ns,
		.is_ns = other->duration_ns,
	};
	return say(out, difference, arm_status_names[one->status], arm_status_names[other->status], err);
}

static int compare_arms(const struct index *one, const struct index *other, bool part, struct comparison *out,
			struct error **err)
{
	size_t i = 0, j = 0;
	int result = 0;

	out->durations = calloc(one->arms_count + 1, sizeof(*out->durations));
	if (!out->durations)
		return error_set(err, ERROR_MEMORY, "no memory to compare bundles");
	while ((i < one->arms_count || j < other->arms_count) && result >= 0) {
		int order = i == one->arms_count     ? 1
			    : j == other->arms_count ? -1
						     : by_arm(&one->arms[i], &other->arms[j]);

		if (order == 0)
			result = compare_arm(one->arms[i], other->arms[j], out, err);
		else if (order > 0)
			result = say(out, of_arm(other->arms[j]->arm, other->arms[j]->repetition, COMPARE_NEW), "",
				     arm_status_names[other->arms[j]->status], err);
		else if (!part)
			result = say(out, of_arm(one->arms[i]->arm, one->arms[i]->repetition, COMPARE_MISSING),
				     arm_status_names[one->arms[i]->status], "", err);
		i += order <= 0;
		j += order >= 0;
	}
	return result;
}

int compare_bundles(const struct compare_side *one, const struct compare_side *other, bool part,
		    struct comparison **out, struct error **err)
{
	cleanup_comparison struct comparison *comparison = calloc(1, sizeof(*comparison));
	__attribute__((cleanup(index_free))) struct index first = { .cells_count = 0 };
	__attribute__((cleanup(index_free))) struct index second = { .cells_count = 0 };

	if (!comparison)
		return error_set(err, ERROR_MEMORY, "no memory to compare bundles");
	if (index_make(one, &first, err) < 0 || index_make(other, &second, err) < 0 ||
	    compare_arms(&first, &second, part, comparison, err) < 0 ||
	    compare_mutations(&first, &second, comparison, err) < 0 ||
	    compare_cells(&first, &second, comparison, err) < 0 ||
	    compare_environments(one, other, comparison, err) < 0)
		return -1;
	if (one->findings && other->findings && compare_claims(one->findings, other->findings, comparison, err) < 0)
		return -1;
	compare_origins(one->manifest, other->manifest, comparison);
	*out = steal_pointer(&comparison);
	return 0;
}

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	free(comparison->differences);
	free(comparison->claims);
	free(comparison->durations);
	free(comparison);
}

const char *const compare_aspect_names[] = {
	[COMPARE_MISSING] = "missing",
	[COMPARE_NEW] = "new",
	[COMPARE_VERDICT] = "verdict",
	[COMPARE_CLASS] = "class",
	[COMPARE_STATUS] = "status",
	[COMPARE_VALUE] = "value",
	[COMPARE_INSTALLED] = "installed",
	[COMPARE_DETECTED] = "detected",
	[COMPARE_MUTATION] = "mutation",
	[COMPARE_ARM] = "arm",
	NULL,
};
