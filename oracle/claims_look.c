#include "oracle/claims_look.h"

#include <string.h>

bool takes(const struct effect_path *path, const struct scenario *scenario)
{
	return effect_path_scenario(path, scenario->id) ||
	       (scenario->control[0] && effect_path_scenario(path, scenario->control));
}

const struct verdict_cell *next_of_any_arm(const struct claim_input *input, const struct effect_path *path, size_t *at)
{
	while (*at < input->verdicts->cells_count) {
		const struct verdict_cell *cell = &input->verdicts->cells[(*at)++];

		if (takes(path, cell->scenario) && strcmp(cell->expectation->subject, path->subject) == 0 &&
		    effect_path_observer(path, cell->expectation->observer))
			return cell;
	}
	return NULL;
}

const struct verdict_cell *next_cell(const struct claim_input *input, const struct effect_path *path, size_t *at)
{
	const struct verdict_cell *cell;

	while ((cell = next_of_any_arm(input, path, at)) && cell->scenario->control[0])
		;
	return cell;
}

bool earned_elsewhere(const struct claim_input *input, const struct verdict_cell *cell)
{
	const struct verdict_arm *arms = input->verdicts->arms;

	for (size_t i = 0; i < input->verdicts->arms_count; i++)
		if (cell->mutant && strcmp(arms[i].scenario->id, cell->mutant) == 0 &&
		    strcmp(arms[i].deployment_revision, input->effect->revision) != 0)
			return true;
	return false;
}

const char *revision_of(const struct claim_input *input, const struct verdict_cell *cell)
{
	const struct verdict_arm *arms = input->verdicts->arms;

	for (size_t i = 0; i < input->verdicts->arms_count; i++)
		if (arms[i].scenario == cell->scenario && arms[i].repetition == cell->repetition)
			return arms[i].deployment_revision;
	return "";
}

bool is_blind(const struct verdict_cell *cell)
{
	return cell->verdict == VERDICT_NOT_ESTABLISHED && cell->because != BECAUSE_UNEARNED;
}

static bool is_sighted(const struct verdict_cell *cell)
{
	return cell->observation && cell->observation->status == OBSERVATION_OBSERVED && !is_blind(cell);
}

/* In each repetition it ended well, was what it says, and was caught: that is what its verdict is about. */
static bool mutant_ran(const struct verdicts *verdicts, const char *scenario)
{
	bool any = false, all = true;

	for (size_t i = 0; i < verdicts->mutations_count; i++) {
		if (strcmp(verdicts->mutations[i].scenario->id, scenario) != 0)
			continue;
		any = true;
		all = all && verdicts->mutations[i].verdict == VERDICT_PASS;
	}
	return any && all;
}

/* Who does nothing is not kept from anything: what would say of an arm of the path that the agent was at work, at an
 * observer that looks neither at the effect nor at its calls. */
static bool is_silent(const struct claim_input *input, const struct effect_path *path, const struct verdict_cell *cell)
{
	return cell->expectation->class == CELL_CONTROL && cell->verdict != VERDICT_PASS &&
	       effect_path_scenario(path, cell->scenario->id) && !claims_of_effect(input->effect, cell) &&
	       !claims_of_correlation(input->effect, cell) && strcmp(cell->expectation->observer, "audit") != 0;
}

static bool took(const struct claim_input *input, const struct effect_path *path, const char *scenario)
{
	const struct verdict_cell *cell;
	size_t at = 0;

	while ((cell = next_cell(input, path, &at)))
		if (strcmp(cell->scenario->id, scenario) == 0)
			return true;
	return mutant_ran(input->verdicts, scenario);
}

bool exercised(const struct claim_input *input, const struct effect_path *path, struct claim *claim)
{
	const struct verdict_cell *cell;
	bool any = false, all = true;
	size_t at = 0;

	while ((cell = next_cell(input, path, &at))) {
		if (is_sighted(cell))
			claim_rest_on(claim, cell->observation->id);
		any = true;
		all = all && is_sighted(cell);
	}
	for (size_t i = 0; i < path->scenarios_count; i++)
		all = all && took(input, path, path->scenarios[i]);
	for (size_t i = 0; i < input->verdicts->cells_count && all; i++)
		all = !is_silent(input, path, &input->verdicts->cells[i]);
	return any && all;
}

bool is_authorised(const struct effect_path *path)
{
	return path->side == EFFECT_AGENT && path->admits == EFFECT_ADMITS_AUTHORISED;
}

bool is_closed(const struct effect_path *path)
{
	return path->side == EFFECT_AGENT && path->admits == EFFECT_ADMITS_NOTHING;
}

const struct effect_path *paths_end(const struct claim_input *input)
{
	return input->effect->paths + input->effect->paths_count;
}

const struct effect_path *path_of(const struct claim_input *input, const struct correlate_finding *finding)
{
	return finding->subject[0] ? effect_path_of(input->effect, finding->subject) : NULL;
}

void each_finding(const struct claim_input *input, int kind, path_filter *filter, struct claim *claim, int what,
		  bool refutes)
{
	if (!input->correlation)
		return;
	for (size_t i = 0; i < input->correlation->count; i++) {
		const struct correlate_finding *finding = &input->correlation->findings[i];
		const struct effect_path *path = path_of(input, finding);

		if (finding->kind != kind || !path || !filter(path))
			continue;
		if (refutes)
			claim_refute(claim, (enum claim_refutation)what, path->id);
		else
			claim_unmet(claim, (enum claim_obligation)what, path->id);
	}
}

bool is_counted(const struct claim_input *input, const struct assessment *statement, enum assessment_kind kind)
{
	return statement->kind == (int)kind && assessment_judge(statement, &input->ground) == ASSESSMENT_COUNTS;
}
