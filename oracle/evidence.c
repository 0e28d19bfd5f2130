/* The judge's index: which arm a record or an observation is about, and what was seen at a cell. */
#include <stdlib.h>
#include <string.h>

#include "oracle/judge_internal.h"

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_name(const void *a, const void *b)
{
	const struct judged_arm *one = *(struct judged_arm *const *)a, *other = *(struct judged_arm *const *)b;
	int difference = strcmp(one->scenario->id, other->scenario->id);

	return difference ? difference : order(one->repetition, other->repetition);
}

void evidence_sort_arms(struct evidence *evidence)
{
	qsort(evidence->by_name, evidence->arms_count, sizeof(*evidence->by_name), by_name);
}

struct judged_arm *evidence_arm(const struct evidence *evidence, const char *id, int64_t repetition)
{
	size_t low = 0, high = evidence->arms_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct judged_arm *arm = evidence->by_name[middle];
		int difference = strcmp(id, arm->scenario->id);

		if (!difference)
			difference = order(repetition, arm->repetition);
		if (!difference)
			return arm;
		if (difference < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int cell_order(size_t arm, const char *subject, const char *observer, const struct sighting *other)
{
	int difference = (arm > other->arm) - (arm < other->arm);

	if (!difference)
		difference = strcmp(subject, other->observation->subject);
	return difference ? difference : strcmp(observer, other->observation->observer);
}

/* Total, so that the verdicts do not depend on the order of the file. */
static int by_cell(const void *a, const void *b)
{
	const struct sighting *one = a;
	const struct observation *first = one->observation, *second = ((const struct sighting *)b)->observation;
	int difference = cell_order(one->arm, first->subject, first->observer, b);

	if (!difference)
		difference = strcmp(first->id, second->id);
	return difference ? difference : order(first->value, second->value);
}

struct view evidence_view(const struct evidence *evidence, const struct judged_arm *arm, const struct expectation *own)
{
	const struct sighting *sightings = evidence->sightings;
	size_t index = (size_t)(arm - evidence->arms), low = 0, high = evidence->sightings_count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cell_order(index, own->subject, own->observer, &sightings[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < evidence->sightings_count; end++)
		if (cell_order(index, own->subject, own->observer, &sightings[end]) != 0)
			break;
	if (low == end)
		return (struct view){ .sight = SIGHT_MISSING };
	if (end - low == 1) {
		const struct observation *only = sightings[low].observation;

		return (struct view){ observation_live(only) ? SIGHT_LIVE : SIGHT_BLIND, only };
	}
	for (size_t i = low; i < end; i++)
		if (seen_leak(own, sightings[i].observation))
			return (struct view){ SIGHT_DUPLICATE, sightings[i].observation };
	return (struct view){ SIGHT_DUPLICATE, sightings[low].observation };
}

int evidence_records(struct evidence *evidence, const struct arm_record *records, size_t count, struct error **err)
{
	for (size_t i = 0; i < count; i++) {
		struct judged_arm *arm = evidence_arm(evidence, records[i].arm, records[i].repetition);

		if (!arm)
			return error_set(err, ERROR_INPUT, "arm record %zu: no such arm is planned", i);
		if (!arm->record)
			arm->record = &records[i];
		arm->records++;
	}
	return 0;
}

int evidence_observations(struct evidence *evidence, const struct observation *observations, size_t count,
			  struct error **err)
{
	evidence->sightings = calloc(count ? count : 1, sizeof(*evidence->sightings));
	if (!evidence->sightings)
		return error_set(err, ERROR_MEMORY, "no memory for the index of observations");
	for (size_t i = 0; i < count; i++) {
		const struct judged_arm *arm = evidence_arm(evidence, observations[i].arm, observations[i].repetition);

		if (!arm)
			return error_set(err, ERROR_INPUT, "observation %zu: no such arm is planned", i);
		evidence->sightings[i] =
			(struct sighting){ .arm = (size_t)(arm - evidence->arms), .observation = &observations[i] };
	}
	evidence->sightings_count = count;
	qsort(evidence->sightings, count, sizeof(*evidence->sightings), by_cell);
	return 0;
}

void evidence_free(struct evidence *evidence)
{
	free(evidence->arms);
	free(evidence->by_name);
	free(evidence->sightings);
}
