#include "oracle/claims_run.h"

#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/claims_look.h"

/* Whether any rule may look at the cell: the rules go through all of them for each path. */
static bool concerns(const struct effect *effect, const struct verdict_cell *cell)
{
	const struct effect_path *path = effect_path_of(effect, cell->expectation->subject);

	if (path && takes(path, cell->scenario))
		return true;
	if (cell->scenario->control[0])
		return false;
	if (claims_of_effect(effect, cell) && path)
		return true;
	return claims_takes(effect, cell->scenario) &&
	       (claims_of_effect(effect, cell) || claims_of_correlation(effect, cell) ||
		cell->expectation->class == CELL_CONTROL || strcmp(cell->expectation->subject, "audit-chain") == 0);
}

static int narrow(const struct effect *effect, const struct verdicts *verdicts, struct verdict_cell **cells,
		  size_t *count, struct error **err)
{
	size_t found = 0;

	for (size_t i = 0; i < verdicts->cells_count; i++)
		found += concerns(effect, &verdicts->cells[i]);
	*count = 0;
	*cells = calloc(found + 1, sizeof(**cells));
	if (!*cells)
		return error_set(err, ERROR_MEMORY, "no memory for the cells of an effect");
	for (size_t i = 0; i < verdicts->cells_count; i++)
		if (concerns(effect, &verdicts->cells[i]))
			(*cells)[(*count)++] = verdicts->cells[i];
	return 0;
}

int claims_of_run(const struct effect *effect, const struct claims_run *run, struct claims *out, struct error **err)
{
	cleanup_correlation struct correlation correlation = { .findings = NULL };
	cleanup_free struct verdict_cell *cells = NULL;
	struct verdicts own = {
		.arms = run->verdicts->arms,
		.arms_count = run->verdicts->arms_count,
		.mutations = run->verdicts->mutations,
		.mutations_count = run->verdicts->mutations_count,
	};
	struct claim_input input = {
		.effect = effect,
		.verdicts = &own,
		.statements = run->statements,
		.statements_count = run->statements_count,
		.ground = { .effect = effect,
			    .keys = run->keys,
			    .keys_count = run->keys_count,
			    .run_keys = run->run_keys,
			    .run_keys_count = run->run_keys_count,
			    .now = run->ended },
	};
	bool found = false;

	if (narrow(effect, run->verdicts, &cells, &own.cells_count, err) < 0)
		return -1;
	own.cells = cells;
	if (claims_findings(effect, &own, &correlation, &found, err) < 0)
		return -1;
	if (found || correlation.count > 0)
		input.correlation = &correlation;
	return claims_derive(&input, out, err);
}

size_t claims_established(const struct claims *claims)
{
	size_t count = 0;

	for (size_t id = 0; id < claims->claims_count; id++)
		count += claims->claims[id].status == CLAIM_ESTABLISHED;
	return count;
}
