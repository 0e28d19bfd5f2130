/* The judge's index: which arm a record or an observation is about, and what was seen at a cell. */
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
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

/* FNV-1a over arm, subject and observer. */
static size_t cell_hash(size_t arm, const char *subject, const char *observer)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ arm;

	hash *= UINT64_C(1099511628211);
	for (; *subject; subject++)
		hash = (hash ^ (unsigned char)*subject) * UINT64_C(1099511628211);
	hash = (hash ^ '@') * UINT64_C(1099511628211);
	for (; *observer; observer++)
		hash = (hash ^ (unsigned char)*observer) * UINT64_C(1099511628211);
	return (size_t)(hash ^ hash >> 32);
}

/* Where the cell of that arm stands in the index, or the free place where it would. */
static size_t find_place(const struct evidence *evidence, const struct judged_arm *arm, const char *subject,
			 const char *observer)
{
	size_t first = (size_t)(arm->cells - evidence->cells);
	size_t at = cell_hash((size_t)(arm - evidence->arms), subject, observer) & evidence->index_mask;

	for (; evidence->index[at]; at = (at + 1) & evidence->index_mask) {
		size_t cell = evidence->index[at] - 1;
		const struct expectation *expectation = evidence->cells[cell].expectation;

		if (cell >= first && cell - first < arm->cells_count && strcmp(expectation->subject, subject) == 0 &&
		    strcmp(expectation->observer, observer) == 0)
			break;
	}
	return at;
}

int evidence_index_cells(struct evidence *evidence, struct error **err)
{
	size_t places = 16;

	while (places < 2 * evidence->cells_count)
		places *= 2;
	evidence->slots = calloc(evidence->cells_count + 1, sizeof(*evidence->slots));
	evidence->index = calloc(places, sizeof(*evidence->index));
	if (!evidence->slots || !evidence->index)
		return error_set(err, ERROR_MEMORY, "no memory for the index of cells");
	evidence->index_mask = places - 1;
	for (size_t i = 0; i < evidence->arms_count; i++) {
		const struct judged_arm *arm = &evidence->arms[i];
		size_t first = (size_t)(arm->cells - evidence->cells);

		for (size_t c = 0; c < arm->cells_count; c++) {
			const struct expectation *cell = arm->cells[c].expectation;
			size_t at = find_place(evidence, arm, cell->subject, cell->observer);

			if (!evidence->index[at])
				evidence->index[at] = (uint32_t)(first + c + 1);
		}
	}
	return 0;
}

/* Of two observations of one cell the one to cite: a seen leak, then the lower id. Total, so that the verdicts do not
 * depend on the order of the file. */
static bool cited_before(const struct observation *one, const struct observation *other, const struct expectation *own)
{
	bool leak = seen_leak(own, one);
	int difference = strcmp(one->id, other->id);

	if (leak != seen_leak(own, other))
		return leak;
	if (!difference)
		difference = order(one->value, other->value);
	return difference ? difference < 0 : one->status < other->status;
}

static int keep(struct evidence *evidence, const struct observation *observation, uint32_t *out, struct error **err)
{
	if (evidence->kept_count == evidence->kept_room) {
		size_t room = evidence->kept_room ? evidence->kept_room + evidence->kept_room / 2 : 256;
		struct observation *grown = reallocarray(evidence->kept, room, sizeof(*grown));

		if (!grown)
			return error_set(err, ERROR_MEMORY, "no memory for %zu observations", room);
		evidence->kept = grown;
		evidence->kept_room = room;
	}
	*out = (uint32_t)evidence->kept_count++;
	evidence->kept[*out] = *observation;
	return 0;
}

static int keep_stray(struct evidence *evidence, size_t arm, const struct observation *observation, struct error **err)
{
	struct stray *stray;

	if (evidence->cells_count + evidence->strays_count >= evidence->cells_max)
		return error_set(err, ERROR_LIMIT, "more than %zu cells in one run, with those that nobody planned",
				 evidence->cells_max);
	if (evidence->strays_count == evidence->strays_room) {
		size_t room = evidence->strays_room ? 2 * evidence->strays_room : 64;
		struct stray *grown = reallocarray(evidence->strays, room, sizeof(*grown));

		if (!grown)
			return error_set(err, ERROR_MEMORY, "no memory for what was not planned");
		evidence->strays = grown;
		evidence->strays_room = room;
	}
	stray = &evidence->strays[evidence->strays_count++];
	stray->arm = (uint32_t)arm;
	return keep(evidence, observation, &stray->kept, err);
}

int evidence_see(struct evidence *evidence, size_t arm, const struct observation *observation, struct error **err)
{
	size_t at = find_place(evidence, &evidence->arms[arm], observation->subject, observation->observer);
	const struct expectation *own;
	struct slot *slot;

	if (!evidence->index[at])
		return is_stray(evidence, arm, observation) ? keep_stray(evidence, arm, observation, err) : 0;
	slot = &evidence->slots[evidence->index[at] - 1];
	own = evidence->cells[evidence->index[at] - 1].expectation;
	if (slot->seen == 0) {
		slot->seen = 1;
		return keep(evidence, observation, &slot->cited, err);
	}
	slot->seen = 2;
	if (cited_before(observation, &evidence->kept[slot->cited], own))
		evidence->kept[slot->cited] = *observation;
	return 0;
}

struct view evidence_view(const struct evidence *evidence, const struct judged_arm *arm, const struct expectation *own)
{
	size_t at = find_place(evidence, arm, own->subject, own->observer);
	const struct slot *slot = evidence->index[at] ? &evidence->slots[evidence->index[at] - 1] : NULL;
	const struct observation *cited;

	if (!slot || slot->seen == 0)
		return (struct view){ .sight = SIGHT_MISSING };
	cited = &evidence->kept[slot->cited];
	if (slot->seen > 1)
		return (struct view){ SIGHT_DUPLICATE, cited };
	return (struct view){ observation_live(cited) ? SIGHT_LIVE : SIGHT_BLIND, cited };
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

void evidence_free(struct evidence *evidence)
{
	free(evidence->arms);
	free(evidence->by_name);
	free(evidence->slots);
	free(evidence->index);
	free(evidence->kept);
	free(evidence->strays);
}
