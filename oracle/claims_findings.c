/* Findings of correlation, out of the cells of its observer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/claims.h"

#define OBSERVER "correlation"

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
	return !cell->scenario->control[0] && effect_path_scenario(path, cell->scenario->id) &&
	       strcmp(cell->expectation->observer, OBSERVER) == 0;
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

static void take(const struct effect_path *path, const struct verdict_cell *cell, struct correlation *out)
{
	const struct measure *measure = measure_of(cell->expectation->subject);
	struct correlate_finding *finding = &out->findings[out->count];

	if (!measure || !holds(cell, measure->kind))
		return;
	finding->kind = (int)measure->kind;
	snprintf(finding->subject, sizeof(finding->subject), "%s", path->subject);
	snprintf(finding->entry, sizeof(finding->entry), "%s", cell->observation->id);
	out->count++;
}

int claims_findings(const struct effect *effect, const struct verdicts *verdicts, struct correlation *out, bool *found,
		    struct error **err)
{
	*found = false;
	*out = (struct correlation){ .findings = calloc(effect->paths_count * verdicts->cells_count + 1,
							sizeof(*out->findings)) };
	if (!out->findings)
		return error_set(err, ERROR_MEMORY, "no memory for findings");
	for (size_t at = 0; at < effect->paths_count; at++) {
		const struct effect_path *path = &effect->paths[at];

		if (path->side != EFFECT_AGENT || path->admits != EFFECT_ADMITS_AUTHORISED)
			continue;
		for (size_t i = 0; i < verdicts->cells_count; i++) {
			if (!is_of(&verdicts->cells[i], path))
				continue;
			*found = true;
			take(path, &verdicts->cells[i], out);
		}
	}
	return 0;
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
