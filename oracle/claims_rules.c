/* The rules of claims, one table. Each is a pure function that names what is missing, or what refutes. */
#include <string.h>

#include "oracle/claims_look.h"

/* ---- every claim ---------------------------------------------------------------------------------------------------
 */

/* In a mutant too: what was seen in another deployment, or in one that nobody named, says nothing of this one. */
static void other_revision(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++) {
		const struct verdict_cell *cell;
		size_t at = 0;

		while ((cell = next_of_any_arm(input, path, &at)))
			if (cell->observation && (strcmp(revision_of(input, cell), input->effect->revision) != 0 ||
						  earned_elsewhere(input, cell)))
				claim_unmet(claim, OBLIGATION_REVISION, path->id);
	}
}

/* ---- authorization and correlation ---------------------------------------------------------------------------------
 */

static void authorised_path_taken(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (is_authorised(path) && !exercised(input, path, claim))
			claim_unmet(claim, OBLIGATION_EXERCISE, path->id);
}

static bool is_chain(const struct verdict_arm *arm, const struct verdict_cell *cell)
{
	return cell->scenario == arm->scenario && cell->repetition == arm->repetition &&
	       strcmp(cell->expectation->subject, "audit-chain") == 0 &&
	       strcmp(cell->expectation->observer, "audit") == 0;
}

/* Whatever the scenario expects of it: that a chain is broken is no scenario's to excuse. */
static bool is_whole(const struct verdict_cell *cell)
{
	return cell->verdict == VERDICT_PASS && cell->observation && cell->observation->value == 0;
}

static bool has_whole_chain(const struct verdicts *verdicts, const struct verdict_arm *arm)
{
	bool any = false, all = true;

	for (size_t i = 0; i < verdicts->cells_count; i++) {
		if (!is_chain(arm, &verdicts->cells[i]))
			continue;
		any = true;
		all = all && is_whole(&verdicts->cells[i]);
	}
	return any && all;
}

/* In each arm in which the path is taken. */
static bool has_whole_chains(const struct verdicts *verdicts, const struct effect_path *path)
{
	bool all = true;

	for (size_t i = 0; i < verdicts->arms_count && all; i++)
		all = verdicts->arms[i].scenario->control[0] ||
		      !effect_path_scenario(path, verdicts->arms[i].scenario->id) ||
		      has_whole_chain(verdicts, &verdicts->arms[i]);
	return all;
}

static void decision_is_recorded(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	if (!input->correlation)
		claim_unmet(claim, OBLIGATION_DECISION, "");
	each_finding(input, CLAIM_FINDING_UNREAD, is_authorised, claim, OBLIGATION_DECISION, false);
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (is_authorised(path) && !has_whole_chains(input->verdicts, path))
			claim_unmet(claim, OBLIGATION_DECISION, path->id);
}

static void denied_call_acts(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	each_finding(input, CORRELATE_ROW_OF_DENIED, is_authorised, claim, REFUTED_BY_DENIED, true);
}

static bool joined(const struct claim_input *input, const struct effect_path *path, struct claim *claim)
{
	bool any = false;

	for (size_t i = 0; input->correlation && i < input->correlation->count; i++) {
		const struct correlate_finding *finding = &input->correlation->findings[i];

		if (finding->kind != CORRELATE_JOINED || path_of(input, finding) != path)
			continue;
		any = true;
		claim_rest_on(claim, finding->entry);
	}
	return any;
}

static void call_and_row_are_joined(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (is_authorised(path) && !joined(input, path, claim))
			claim_unmet(claim, OBLIGATION_CORRELATION, path->id);
	each_finding(input, CLAIM_FINDING_UNREAD, is_authorised, claim, OBLIGATION_CORRELATION, false);
	each_finding(input, CLAIM_FINDING_APART, is_authorised, claim, OBLIGATION_CORRELATION, false);
}

static void effect_is_read_back(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	each_finding(input, CORRELATE_CALL_WITHOUT_ROW, is_authorised, claim, OBLIGATION_READ_BACK, false);
}

static void call_has_its_own_id(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	each_finding(input, CORRELATE_CALL_AGAIN, is_authorised, claim, OBLIGATION_UNIQUE_CALL, false);
}

static void row_without_call(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	each_finding(input, CORRELATE_ROW_WITHOUT_CALL, is_authorised, claim, REFUTED_BY_ROW_WITHOUT_CALL, true);
}

static void row_again(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	each_finding(input, CORRELATE_ROW_AGAIN, is_authorised, claim, REFUTED_BY_ROW_AGAIN, true);
}

static bool is_any(const struct effect_path *path)
{
	(void)path;
	return true;
}

/* On whatever path the copy came. */
static void copied_id(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	each_finding(input, CORRELATE_COPIED_ID, is_any, claim, REFUTED_BY_COPIED_ID, true);
}

/* ---- observation ---------------------------------------------------------------------------------------------------
 */

static void declared_scenarios_ran(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (path->scenarios_count > 0 && !exercised(input, path, claim))
			claim_unmet(claim, OBLIGATION_EXERCISE, path->id);
}

/* A zero that no mutant of this run earned is no proof of sight: who always says 0 says it too. */
static void observer_saw(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++) {
		const struct verdict_cell *cell;
		size_t at = 0;

		while ((cell = next_cell(input, path, &at)))
			if (is_blind(cell) || cell->because == BECAUSE_UNEARNED)
				claim_unmet(claim, OBLIGATION_OBSERVER, path->id);
	}
}

/* An effect that a path makes, and that was not there, or was there more often. */
static void effect_is_as_made(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++) {
		const struct verdict_cell *cell;
		size_t at = 0;

		while (!is_closed(path) && (cell = next_cell(input, path, &at)))
			if (cell->verdict == VERDICT_FAIL)
				claim_unmet(claim, OBLIGATION_EFFECT, path->id);
	}
}

/* ---- completeness of the set ---------------------------------------------------------------------------------------
 */

static bool names(const struct assessment *inventory, const char *path)
{
	for (size_t i = 0; i < inventory->paths_count; i++)
		if (strcmp(inventory->paths[i], path) == 0)
			return true;
	return false;
}

static bool declares(const struct effect *effect, const char *path)
{
	for (size_t i = 0; i < effect->paths_count; i++)
		if (strcmp(effect->paths[i].id, path) == 0)
			return true;
	return false;
}

static void inventory_is_assessed(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	bool any = false;

	(void)before;
	for (size_t i = 0; i < input->statements_count; i++) {
		const struct assessment *inventory = &input->statements[i];

		if (!is_counted(input, inventory, ASSESSMENT_INVENTORY))
			continue;
		any = true;
		claim_rest_on(claim, inventory->id);
	}
	if (!any)
		claim_unmet(claim, OBLIGATION_INVENTORY, "");
}

static void inventory_has_each_path(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (size_t i = 0; i < input->statements_count; i++)
		for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
			if (is_counted(input, &input->statements[i], ASSESSMENT_INVENTORY) &&
			    !names(&input->statements[i], path->id))
				claim_unmet(claim, OBLIGATION_INVENTORY, path->id);
}

static void inventory_has_another_path(const struct claim_input *input, const struct claims *before,
				       struct claim *claim)
{
	(void)before;
	for (size_t i = 0; i < input->statements_count; i++) {
		const struct assessment *inventory = &input->statements[i];

		for (size_t path = 0; path < inventory->paths_count; path++)
			if (is_counted(input, inventory, ASSESSMENT_INVENTORY) &&
			    !declares(input->effect, inventory->paths[path]))
				claim_refute(claim, REFUTED_BY_UNDECLARED_PATH, inventory->paths[path]);
	}
}

/* An effect that bears no canary of a declared path, and belongs to no call; or one that may, where nobody joined. */
static void effect_on_no_path(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (size_t i = 0; input->correlation && i < input->correlation->count; i++) {
		const struct correlate_finding *finding = &input->correlation->findings[i];

		if (path_of(input, finding))
			continue;
		if (finding->kind == CORRELATE_ROW_WITHOUT_CALL)
			claim_refute(claim, REFUTED_BY_UNEXPLAINED_ROW, "");
		if (finding->kind == CLAIM_FINDING_UNREAD)
			claim_unmet(claim, OBLIGATION_CORRELATION, "");
	}
}

/* ---- complete mediation --------------------------------------------------------------------------------------------
 */

static void agent_path_taken(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (path->side == EFFECT_AGENT && !exercised(input, path, claim))
			claim_unmet(claim, OBLIGATION_EXERCISE, path->id);
}

/* Whatever the scenario expects: it is no scenario's to say that an effect may be there. */
static bool is_bypass(const struct verdict_cell *cell)
{
	const struct observation *seen = cell->observation;

	return seen && seen->status == OBSERVATION_OBSERVED && seen->value > 0;
}

/* A zero that has to be earned, and was. */
static bool is_earned_zero(const struct verdict_cell *cell)
{
	const struct expectation *expectation = cell->expectation;

	return cell->verdict == VERDICT_PASS && expectation->class == CELL_PROTECTED && expectation->op == OP_EQ &&
	       expectation->value == 0;
}

/* Also in an arm that the path does not list, where no cell was planned, and at an observer of the effect that the path
 * does not name: an effect with its canary is one all the same. Nor does it matter on whose side the path is.
 */
static void bypass_was_seen(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (size_t i = 0; i < input->verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &input->verdicts->cells[i];
		const struct effect_path *path = effect_path_of(input->effect, cell->expectation->subject);

		if (path && path->admits == EFFECT_ADMITS_NOTHING && !cell->scenario->control[0] && is_bypass(cell) &&
		    claims_of_effect(input->effect, cell))
			claim_refute(claim, REFUTED_BY_BYPASS, path->id);
	}
}

static void absence_is_earned(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++) {
		const struct verdict_cell *cell;
		size_t at = 0;

		while (path->side == EFFECT_AGENT && (cell = next_cell(input, path, &at)))
			if (is_closed(path) ? !is_earned_zero(cell) : cell->verdict != VERDICT_PASS)
				claim_unmet(claim, OBLIGATION_COVERAGE, path->id);
	}
}

static void somebody_mediates(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (path->side == EFFECT_AGENT && path->coverage.claims != EFFECT_CLAIMS_MEDIATED)
			claim_unmet(claim, OBLIGATION_MEDIATOR, path->id);
}

/* Another claim that this one needs. */
static void need(const struct claims *before, enum claim_id other, enum claim_obligation obligation, const char *path,
		 struct claim *claim)
{
	enum claim_status status = claim_status(&before->claims[other]);

	if (status == CLAIM_REFUTED)
		claim_refute(claim, REFUTED_BY_CLAIM, path);
	else if (status == CLAIM_NOT_ESTABLISHED)
		claim_unmet(claim, obligation, path);
}

static void authorised_path_is_authorised(const struct claim_input *input, const struct claims *before,
					  struct claim *claim)
{
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (is_authorised(path))
			need(before, CLAIM_AUTHORIZATION, OBLIGATION_AUTHORIZATION, path->id, claim);
}

static void authorised_path_is_correlated(const struct claim_input *input, const struct claims *before,
					  struct claim *claim)
{
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++)
		if (is_authorised(path))
			need(before, CLAIM_CORRELATION, OBLIGATION_CORRELATION, path->id, claim);
}

static void set_is_complete(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)input;
	need(before, CLAIM_COMPLETENESS, OBLIGATION_COMPLETENESS, "", claim);
}

/* Each path of the deployment's side needs a statement of this kind. */
static void assessed(const struct claim_input *input, enum assessment_kind kind, enum claim_obligation obligation,
		     struct claim *claim)
{
	for (const struct effect_path *path = input->effect->paths; path < paths_end(input); path++) {
		bool any = false;

		for (size_t i = 0; i < input->statements_count && path->side == EFFECT_DEPLOYMENT; i++) {
			const struct assessment *statement = &input->statements[i];

			if (strcmp(statement->path, path->id) != 0 || !is_counted(input, statement, kind))
				continue;
			any = true;
			claim_rest_on(claim, statement->id);
		}
		if (path->side == EFFECT_DEPLOYMENT && !any)
			claim_unmet(claim, obligation, path->id);
	}
}

static void control_is_assessed(const struct claim_input *input, const struct claims *before, struct claim *claim)
{
	(void)before;
	assessed(input, ASSESSMENT_CONTROL, OBLIGATION_CONTROL, claim);
}

static void observation_is_independent(const struct claim_input *input, const struct claims *before,
				       struct claim *claim)
{
	(void)before;
	assessed(input, ASSESSMENT_OBSERVATION, OBLIGATION_INDEPENDENT, claim);
}

const struct claim_rule claim_rules[] = {
	{ .id = "authorization-revision", .claim = CLAIM_AUTHORIZATION, .apply = other_revision },
	{ .id = "authorization-exercise", .claim = CLAIM_AUTHORIZATION, .apply = authorised_path_taken },
	{ .id = "authorization-decision", .claim = CLAIM_AUTHORIZATION, .apply = decision_is_recorded },
	{ .id = "authorization-denied", .claim = CLAIM_AUTHORIZATION, .apply = denied_call_acts },
	{ .id = "correlation-revision", .claim = CLAIM_CORRELATION, .apply = other_revision },
	{ .id = "correlation-exercise", .claim = CLAIM_CORRELATION, .apply = authorised_path_taken },
	{ .id = "correlation-joined", .claim = CLAIM_CORRELATION, .apply = call_and_row_are_joined },
	{ .id = "correlation-read-back", .claim = CLAIM_CORRELATION, .apply = effect_is_read_back },
	{ .id = "correlation-own-id", .claim = CLAIM_CORRELATION, .apply = call_has_its_own_id },
	{ .id = "correlation-row-without-call", .claim = CLAIM_CORRELATION, .apply = row_without_call },
	{ .id = "correlation-row-again", .claim = CLAIM_CORRELATION, .apply = row_again },
	{ .id = "correlation-copied-id", .claim = CLAIM_CORRELATION, .apply = copied_id },
	{ .id = "correlation-denied", .claim = CLAIM_CORRELATION, .apply = denied_call_acts },
	{ .id = "observation-revision", .claim = CLAIM_OBSERVATION, .apply = other_revision },
	{ .id = "observation-exercise", .claim = CLAIM_OBSERVATION, .apply = declared_scenarios_ran },
	{ .id = "observation-sight", .claim = CLAIM_OBSERVATION, .apply = observer_saw },
	{ .id = "observation-as-made", .claim = CLAIM_OBSERVATION, .apply = effect_is_as_made },
	{ .id = "completeness-revision", .claim = CLAIM_COMPLETENESS, .apply = other_revision },
	{ .id = "completeness-inventory", .claim = CLAIM_COMPLETENESS, .apply = inventory_is_assessed },
	{ .id = "completeness-each-path", .claim = CLAIM_COMPLETENESS, .apply = inventory_has_each_path },
	{ .id = "completeness-another-path", .claim = CLAIM_COMPLETENESS, .apply = inventory_has_another_path },
	{ .id = "completeness-no-path", .claim = CLAIM_COMPLETENESS, .apply = effect_on_no_path },
	{ .id = "mediation-revision", .claim = CLAIM_MEDIATION, .apply = other_revision },
	{ .id = "mediation-exercise", .claim = CLAIM_MEDIATION, .apply = agent_path_taken },
	{ .id = "mediation-bypass-seen", .claim = CLAIM_MEDIATION, .apply = bypass_was_seen },
	{ .id = "mediation-coverage", .claim = CLAIM_MEDIATION, .apply = absence_is_earned },
	{ .id = "mediation-mediator", .claim = CLAIM_MEDIATION, .apply = somebody_mediates },
	{ .id = "mediation-authorization", .claim = CLAIM_MEDIATION, .apply = authorised_path_is_authorised },
	{ .id = "mediation-correlation", .claim = CLAIM_MEDIATION, .apply = authorised_path_is_correlated },
	{ .id = "mediation-completeness", .claim = CLAIM_MEDIATION, .apply = set_is_complete },
	{ .id = "mediation-control", .claim = CLAIM_MEDIATION, .apply = control_is_assessed },
	{ .id = "mediation-independent", .claim = CLAIM_MEDIATION, .apply = observation_is_independent },
};
const size_t claim_rules_count = sizeof(claim_rules) / sizeof(claim_rules[0]);
