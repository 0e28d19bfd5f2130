/* Findings of correlation, out of the cells of its observer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/claims.h"

#define OBSERVER "correlation"
#define OBSERVER_PG "correlation-pg"

/* Of the observer's measures. */
static const struct measure {
	const char *name;
	enum correlate_kind kind;
} measures[];
static const size_t measures_count;

static const struct measure *measure_of(const char *subject)
{
	for (size_t i = 0; i < measures_count; i++)
		if (strcmp(measures[i].name, subject) == 0)
			return &measures[i];
	return NULL;
}

static bool is_of(const struct verdict_cell *cell, const struct effect_path *path)
{
	return claims_of_correlation(cell) && !cell->scenario->control[0] &&
	       effect_path_scenario(path, cell->scenario->id);
}

/* What is joined has to be as many as was expected, by an observer that saw; a forgery that was seen stands, whatever
 * else is amiss. */
static bool holds(const struct verdict_cell *cell, enum correlate_kind kind)
{
	const struct observation *seen = cell->observation;

	if (!seen || seen->status != OBSERVATION_OBSERVED || seen->value <= 0)
		return false;
	return kind != CORRELATE_JOINED || cell->verdict == VERDICT_PASS;
}

/* Which of one path have been taken. */
struct taken {
	size_t joined;
	bool others[CORRELATE_CALL_AGAIN + 1];
};

/* A claim rests on each that is joined, as far as it can hold them; of the others it matters that there is one. */
static bool is_needed(const struct verdict_cell *cell, struct taken *taken, enum correlate_kind *kind)
{
	const struct measure *measure = measure_of(cell->expectation->subject);

	if (!measure || !holds(cell, measure->kind))
		return false;
	*kind = measure->kind;
	if (measure->kind == CORRELATE_JOINED)
		return taken->joined++ <= CLAIM_RESTS_MAX;
	if (taken->others[measure->kind])
		return false;
	taken->others[measure->kind] = true;
	return true;
}

/* How many findings the path has; with `out` they are written there. */
static size_t take(const struct effect_path *path, const struct verdicts *verdicts, struct correlate_finding *out,
		   bool *found)
{
	struct taken taken = { .joined = 0 };
	size_t count = 0;

	for (size_t i = 0; i < verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &verdicts->cells[i];
		enum correlate_kind kind = CORRELATE_JOINED;

		if (!is_of(cell, path))
			continue;
		*found = true;
		if (!is_needed(cell, &taken, &kind))
			continue;
		if (out) {
			out[count].kind = (int)kind;
			snprintf(out[count].subject, sizeof(out[count].subject), "%s", path->subject);
			snprintf(out[count].entry, sizeof(out[count].entry), "%s", cell->observation->id);
		}
		count++;
	}
	return count;
}

static size_t take_all(const struct effect *effect, const struct verdicts *verdicts, struct correlate_finding *out,
		       bool *found)
{
	size_t count = 0;

	for (size_t at = 0; at < effect->paths_count; at++) {
		const struct effect_path *path = &effect->paths[at];

		if (path->side == EFFECT_AGENT && path->admits == EFFECT_ADMITS_AUTHORISED)
			count += take(path, verdicts, out ? out + count : NULL, found);
	}
	return count;
}

int claims_findings(const struct effect *effect, const struct verdicts *verdicts, struct correlation *out, bool *found,
		    struct error **err)
{
	size_t count;

	*found = false;
	count = take_all(effect, verdicts, NULL, found);
	*out = (struct correlation){ .findings = calloc(count + 1, sizeof(*out->findings)) };
	if (!out->findings)
		return error_set(err, ERROR_MEMORY, "no memory for findings");
	out->count = take_all(effect, verdicts, out->findings, found);
	return 0;
}

bool claims_of_correlation(const struct verdict_cell *cell)
{
	return strcmp(cell->expectation->observer, OBSERVER) == 0 ||
	       strcmp(cell->expectation->observer, OBSERVER_PG) == 0;
}

static const struct measure measures[] = {
	{ "joined", CORRELATE_JOINED },
	{ "row-without-call", CORRELATE_ROW_WITHOUT_CALL },
	{ "call-without-row", CORRELATE_CALL_WITHOUT_ROW },
	{ "row-again", CORRELATE_ROW_AGAIN },
	{ "copied-id", CORRELATE_COPIED_ID },
	{ "row-of-denied", CORRELATE_ROW_OF_DENIED },
	{ "call-again", CORRELATE_CALL_AGAIN },
};
static const size_t measures_count = ARRAY_SIZE(measures);
