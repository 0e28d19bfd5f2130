/* Claims: what each thing that is taken away does to each of them, that every rule of the table is needed. */
#include "oracle/claims.h"

#include "tests/unit/claims_world.h"
#include "tests/unit/test.h"

#define NE "not_established"
#define RENDERED (4 * KIB)

/* ---- what is taken away --------------------------------------------------------------------------------------------
 */

static void nothing(struct claims_world *world)
{
	(void)world;
}

static void other_revision(struct claims_world *world)
{
	for (size_t i = 0; i < world->verdicts.arms_count; i++)
		world->arms[i].deployment_revision = "r2";
}

/* What the mutant let out was another deployment's, so that it earns nothing for this one. */
static void two_revisions(struct claims_world *world)
{
	world->arms[1].deployment_revision = "r2";
}

/* Nor does it say anything of this one by what it let out. */
static void two_revisions_and_another_earned(struct claims_world *world)
{
	two_revisions(world);
	world->cells[1].mutant = "";
}

/* A second run of the same scenario, beside the first in one bundle. */
static void second_run_of_another_revision(struct claims_world *world)
{
	world->arms[1] = world->arms[0];
	world->arms[1].repetition = 2;
	world->arms[1].deployment_revision = "r2";
	world->cells[2] = world->cells[1];
	world->cells[2].repetition = 2;
	world->cells[4] = world->cells[3];
	world->cells[4].repetition = 2;
	world->verdicts.cells_count = 5;
	world->effect.paths[WORLD_P2].scenarios_count = 1;
}

static void nobody_says_the_revision(struct claims_world *world)
{
	world->arms[0].deployment_revision = world->arms[1].deployment_revision = "";
}

static void no_record_of_the_arm(struct claims_world *world)
{
	world->verdicts.arms_count = 0;
	world->effect.paths[WORLD_P2].scenarios_count = 1;
}

static void no_arm(struct claims_world *world)
{
	world->verdicts.cells_count = 0;
}

static void only_the_mutant(struct claims_world *world)
{
	world->verdicts.cells += 2;
	world->verdicts.cells_count = 1;
}

static void p1_did_not_run(struct claims_world *world)
{
	world->cells[0].verdict = VERDICT_NOT_ESTABLISHED;
	world->cells[0].because = BECAUSE_ARM;
	world->cells[0].observation = NULL;
}

static void p2_did_not_run(struct claims_world *world)
{
	world->verdicts.cells[1] = world->verdicts.cells[2];
}

static void p2_observer_is_blind(struct claims_world *world)
{
	world->cells[1].verdict = VERDICT_NOT_ESTABLISHED;
	world->cells[1].because = BECAUSE_NOT_LIVE;
}

static void p2_zero_is_unearned(struct claims_world *world)
{
	world->cells[1].verdict = VERDICT_NOT_ESTABLISHED;
	world->cells[1].because = BECAUSE_UNEARNED;
}

static void p2_is_a_bypass(struct claims_world *world)
{
	world->cells[1].verdict = VERDICT_FAIL;
	world->cells[1].because = BECAUSE_VALUE;
	world->observations[1].value = 1;
}

/* A scenario that expects an effect where none may be hides nothing. */
static void p2_is_an_expected_bypass(struct claims_world *world)
{
	world->scenario.expect[0].class = CELL_CONTROL;
	world->scenario.expect[0].value = 1;
	world->observations[1].value = 1;
}

static void p2_zero_need_not_be_earned(struct claims_world *world)
{
	world->scenario.expect[0].class = CELL_CONTROL;
}

/* What a mutant lets out shows that it would have been seen. */
static void mutant_is_undetected(struct claims_world *world)
{
	world->cells[2].verdict = VERDICT_FAIL;
	world->cells[2].because = BECAUSE_VALUE;
}

static void p1_made_no_order(struct claims_world *world)
{
	world->cells[0].verdict = VERDICT_FAIL;
	world->cells[0].because = BECAUSE_VALUE;
}

/* A canary check of the same arm is not the path's. */
static void another_subject_leaks(struct claims_world *world)
{
	world_cell(world, 4, &world->scenario, 2);
	world->cells[4].verdict = VERDICT_FAIL;
	world->cells[4].because = BECAUSE_VALUE;
	world->verdicts.cells_count = 5;
}

/* That another canary's sink was seen to leak, in a mutant that the path lists, earns its zero nothing. */
static void another_mutant_leaks(struct claims_world *world)
{
	p2_zero_is_unearned(world);
	world_cell(world, 2, &world->mutant, 2);
	world->observations[2].value = 1;
}

static void nobody_kept_a_chain(struct claims_world *world)
{
	world->verdicts.cells_count = 3;
}

/* A scenario may say that it expects a broken one. */
static void a_broken_chain_is_expected(struct claims_world *world)
{
	world->scenario.expect[3].value = 3;
	world->observations[3].value = 3;
}

static void the_agent_did_nothing(struct claims_world *world)
{
	world_failure(world, "permitted", "deliveries");
}

/* An observer of the effect that the path does not name. */
static void p2_is_seen_by_another(struct claims_world *world)
{
	world_failure(world, "tcp4", "mine");
	world->observations[4].value = 1;
	world->effect.paths[WORLD_P2].observers_count = 1;
}

/* Whose zero the earner shows is another deployment's, though no path lists it. */
static void p2_is_earned_elsewhere(struct claims_world *world)
{
	struct scenario *other = &world->other;

	*other = world->mutant;
	snprintf(other->id, sizeof(other->id), "elsewhere");
	snprintf(other->control, sizeof(other->control), "another");
	world->arms[1].scenario = other;
	world->arms[1].deployment_revision = "r2";
	world->cells[1].mutant = other->id;
	world->effect.paths[WORLD_P2].scenarios_count = 1;
	world->cells[2] = world->cells[3];
	world->verdicts.cells_count = 3;
}

static void the_mutant_ended_ill(struct claims_world *world)
{
	world->arms[1].status = ARM_TIMEOUT;
	world->mutation.verdict = VERDICT_NOT_ESTABLISHED;
	world->mutation.because = BECAUSE_ARM;
}

static void the_mutant_was_not_caught(struct claims_world *world)
{
	world->mutation.verdict = VERDICT_FAIL;
}

/* Whoever else looks at the subject is no observer of the path. */
static void another_observer_fails(struct claims_world *world)
{
	world_failure(world, "order-gateway", "udp4");
	world->spare.class = CELL_PROTECTED;
}

static void the_chain_is_forged(struct claims_world *world)
{
	world->cells[3].verdict = VERDICT_FAIL;
	world->cells[3].because = BECAUSE_VALUE;
	world->observations[3].value = 1;
}

/* Nobody planned it, in an arm that the path does not list. */
static void p2_is_a_stray(struct claims_world *world)
{
	world_failure(world, "tcp4", "mine");
	snprintf(world->effect.paths[WORLD_P2].scenarios[0], ID_MAX, "elsewhere");
	world->observations[4].value = 1;
}

static void one_scenario_did_not_run(struct claims_world *world)
{
	snprintf(world->effect.paths[WORLD_P1].scenarios[world->effect.paths[WORLD_P1].scenarios_count++], ID_MAX,
		 "elsewhere");
}

static void the_mutant_is_listed(struct claims_world *world)
{
	snprintf(world->effect.paths[WORLD_P2].scenarios[world->effect.paths[WORLD_P2].scenarios_count++], ID_MAX,
		 "cut");
}

static void p4_made_no_order(struct claims_world *world)
{
	struct effect_path *path = &world->effect.paths[WORLD_P4];

	world_failure(world, path->subject, "mine");
	snprintf(path->scenarios[path->scenarios_count++], ID_MAX, "base");
}

/* On whosever side a path is that admits nothing. */
static void p4_admits_nothing(struct claims_world *world)
{
	p4_made_no_order(world);
	world->effect.paths[WORLD_P4].admits = EFFECT_ADMITS_NOTHING;
	world->observations[4].value = 1;
}

/* As much as its bound is no zero. */
static void p2_may_be_less(struct claims_world *world)
{
	world->scenario.expect[0].op = OP_LE;
}

static void p2_is_no_zero(struct claims_world *world)
{
	world->scenario.expect[0].value = 1;
}

/* What nobody observed is no bypass, whatever number stands there. */
static void p2_is_not_observed(struct claims_world *world)
{
	p2_observer_is_blind(world);
	world->observations[1].status = OBSERVATION_NOT_OBSERVABLE;
	world->observations[1].value = 1;
}

static void nobody_joined(struct claims_world *world)
{
	world->input.correlation = NULL;
}

static void replace_finding(struct claims_world *world, int kind, const char *subject)
{
	world->correlation.count = 0;
	world_finding(world, kind, subject);
}

static void call_without_row(struct claims_world *world)
{
	replace_finding(world, CORRELATE_CALL_WITHOUT_ROW, "order-gateway");
}

static void second_call_without_row(struct claims_world *world)
{
	world_finding(world, CORRELATE_CALL_WITHOUT_ROW, "order-gateway");
}

static void row_again(struct claims_world *world)
{
	world_finding(world, CORRELATE_ROW_AGAIN, "order-gateway");
}

static void copied_id(struct claims_world *world)
{
	world_finding(world, CORRELATE_COPIED_ID, "order-gateway");
}

static void row_of_denied(struct claims_world *world)
{
	world_finding(world, CORRELATE_ROW_OF_DENIED, "order-gateway");
}

static void unread(struct claims_world *world)
{
	world_finding(world, CLAIM_FINDING_UNREAD, "order-gateway");
}

static void joined_apart(struct claims_world *world)
{
	world_finding(world, CLAIM_FINDING_APART, "order-gateway");
}

/* Somebody's, of whom nobody can tell whether a call explains it. */
static void unread_of_no_path(struct claims_world *world)
{
	world_finding(world, CLAIM_FINDING_UNREAD, "");
}

/* Whoever else is forged upon, it is no effect that nobody declared. */
static void row_again_of_no_path(struct claims_world *world)
{
	world_finding(world, CORRELATE_ROW_AGAIN, "");
}

/* A second order of the authorised path is joined, and its own is not. */
static void another_path_is_joined(struct claims_world *world)
{
	replace_finding(world, CORRELATE_JOINED, "other");
}

static void id_copied_to_a_closed_path(struct claims_world *world)
{
	world_finding(world, CORRELATE_COPIED_ID, "tcp4");
}

static void call_again(struct claims_world *world)
{
	world_finding(world, CORRELATE_CALL_AGAIN, "order-gateway");
}

static void row_without_call(struct claims_world *world)
{
	world_finding(world, CORRELATE_ROW_WITHOUT_CALL, "order-gateway");
}

/* Whatever the agent's confinement does, and no bypass of it. */
static void row_of_the_deployment(struct claims_world *world)
{
	world_finding(world, CORRELATE_ROW_WITHOUT_CALL, "other");
}

static void row_of_no_path(struct claims_world *world)
{
	world_finding(world, CORRELATE_ROW_WITHOUT_CALL, "");
}

static void row_of_another_subject(struct claims_world *world)
{
	world_finding(world, CORRELATE_ROW_WITHOUT_CALL, "stderr");
}

static void no_statement(struct claims_world *world)
{
	world->input.statements_count = 0;
}

static void only_p4_is_assessed(struct claims_world *world)
{
	world->input.statements_count = WORLD_P5_CONTROL;
}

static void drop(struct claims_world *world, size_t at)
{
	world->statements[at].key[0] = '\0';
}

static void no_inventory(struct claims_world *world)
{
	drop(world, WORLD_INVENTORY);
}

static void no_control(struct claims_world *world)
{
	drop(world, WORLD_P4_CONTROL);
}

static void no_independent_observation(struct claims_world *world)
{
	drop(world, WORLD_P5_OBSERVATION);
}

static void inventory_lacks_a_path(struct claims_world *world)
{
	world->statements[WORLD_INVENTORY].paths_count--;
}

static void inventory_has_another(struct claims_world *world)
{
	struct assessment *inventory = &world->statements[WORLD_INVENTORY];

	snprintf(inventory->paths[inventory->paths_count++], NAME_MAX_SHORT, "P6");
}

/* Whoever signed nothing adds no path. */
static void unsigned_inventory_has_another(struct claims_world *world)
{
	inventory_has_another(world);
	no_inventory(world);
}

static void p1_is_observed_only(struct claims_world *world)
{
	world->effect.paths[WORLD_P1].coverage.claims = EFFECT_CLAIMS_OBSERVED;
}

static void p2_is_observed_only(struct claims_world *world)
{
	world->effect.paths[WORLD_P2].coverage.claims = EFFECT_CLAIMS_OBSERVED;
}

/* To list a path raises nothing, and takes away what is not known of it. */
static void a_path_is_listed(struct claims_world *world)
{
	struct effect_path *path = &world->effect.paths[world->effect.paths_count++];

	*path = world->effect.paths[WORLD_P5];
	snprintf(path->id, sizeof(path->id), "P6");
	snprintf(path->subject, sizeof(path->subject), "listed");
}

#define PAIR(first, second) "authorization " first "; correlation " second
#define OTHER_REVISION(paths)                                                                                          \
	PAIR(NE ": " paths, NE ": " paths)                                                                             \
	"; observation " NE ": " paths "; path_set_completeness " NE ": " paths "; complete_mediation " NE ": " paths  \
	" authorization@P1 correlation@P1 path_set_completeness@"
static const struct {
	const char *name;
	void (*change)(struct claims_world *world);
	const char *rendered;
} cases[] = {
	{ "everything is there", nothing, "" },
	{ "another revision ran", other_revision, OTHER_REVISION("revision@P1 revision@P2") },
	{ "two revisions in one bundle, one of them in a mutant", two_revisions, OTHER_REVISION("revision@P2") },
	{ "two revisions, and another mutant earned", two_revisions_and_another_earned, OTHER_REVISION("revision@P2") },
	{ "two revisions in one bundle", second_run_of_another_revision, OTHER_REVISION("revision@P2") },
	{ "nobody says which revision ran", nobody_says_the_revision, OTHER_REVISION("revision@P1 revision@P2") },
	{ "no record of the arms", no_record_of_the_arm, OTHER_REVISION("revision@P1 revision@P2") },
	{ "no arm", no_arm,
	  PAIR(NE ": exercise@P1 decision_record@P1 evidence@",
	       NE ": exercise@P1") "; observation " NE ": exercise@P1 exercise@P2 evidence@; complete_mediation " NE
				   ": exercise@P1 exercise@P2 authorization@P1 correlation@P1" },
	{ "only the mutant", only_the_mutant,
	  PAIR(NE ": exercise@P1 decision_record@P1 evidence@",
	       NE ": exercise@P1") "; observation " NE ": exercise@P1 exercise@P2 evidence@; complete_mediation " NE
				   ": exercise@P1 exercise@P2 authorization@P1 correlation@P1" },
	{ "the arm of P1 did not run", p1_did_not_run,
	  PAIR(NE ": exercise@P1 evidence@",
	       NE ": exercise@P1") "; observation " NE ": exercise@P1 observer_sight@P1; complete_mediation " NE
				   ": exercise@P1 observation_coverage@P1 authorization@P1 "
				   "correlation@P1" },
	{ "nobody took P2", p2_did_not_run, "observation " NE ": exercise@P2; complete_mediation " NE ": exercise@P2" },
	{ "the observer of P2 is blind", p2_observer_is_blind,
	  "observation " NE ": exercise@P2 observer_sight@P2; complete_mediation " NE
	  ": exercise@P2 observation_coverage@P2" },
	{ "the zero of P2 is unearned", p2_zero_is_unearned,
	  "observation " NE ": observer_sight@P2; complete_mediation " NE ": observation_coverage@P2" },
	{ "a bypass is seen", p2_is_a_bypass, "complete_mediation refuted: !bypass@P2 observation_coverage@P2" },
	{ "a bypass is expected", p2_is_an_expected_bypass,
	  "complete_mediation refuted: !bypass@P2 observation_coverage@P2" },
	{ "the zero of P2 need not be earned", p2_zero_need_not_be_earned,
	  "complete_mediation " NE ": observation_coverage@P2" },
	{ "what a mutant lets out is no bypass", mutant_is_undetected, "" },
	{ "a canary of another subject is no effect", another_subject_leaks, "" },
	{ "a canary of another subject earns nothing", another_mutant_leaks,
	  "observation " NE ": observer_sight@P2; complete_mediation " NE ": observation_coverage@P2" },
	{ "nobody kept a chain", nobody_kept_a_chain,
	  "authorization " NE ": decision_record@P1; complete_mediation " NE ": authorization@P1" },
	{ "a broken chain is expected", a_broken_chain_is_expected,
	  "authorization " NE ": decision_record@P1; complete_mediation " NE ": authorization@P1" },
	{ "the agent did nothing", the_agent_did_nothing,
	  PAIR(NE ": exercise@P1", NE ": exercise@P1") "; observation " NE
						       ": exercise@P1 exercise@P2; complete_mediation " NE
						       ": exercise@P1 exercise@P2 authorization@P1 correlation@P1" },
	{ "a bypass is seen by an observer that the path does not name", p2_is_seen_by_another,
	  "complete_mediation refuted: !bypass@P2" },
	{ "an effect on a path of the deployment's that admits nothing", p4_admits_nothing,
	  "observation " NE ": effect_as_made@P4; complete_mediation refuted: !bypass@P4" },
	{ "what earns the zero of P2 ran elsewhere", p2_is_earned_elsewhere, OTHER_REVISION("revision@P2") },
	{ "a mutant that is listed ended ill", the_mutant_ended_ill,
	  "observation " NE ": exercise@P2; complete_mediation " NE ": exercise@P2" },
	{ "a mutant that is listed was not caught", the_mutant_was_not_caught,
	  "observation " NE ": exercise@P2; complete_mediation " NE ": exercise@P2" },
	{ "P1 made no order", p1_made_no_order,
	  "observation " NE ": effect_as_made@P1; complete_mediation " NE ": observation_coverage@P1" },
	{ "another observer of the same subject", another_observer_fails, "" },
	{ "the chain is forged", the_chain_is_forged,
	  "authorization " NE ": decision_record@P1; complete_mediation " NE ": authorization@P1" },
	{ "an effect of P2 that nobody planned", p2_is_a_stray,
	  "observation " NE ": exercise@P2; complete_mediation refuted: !bypass@P2 exercise@P2" },
	{ "one scenario of P1 did not run", one_scenario_did_not_run,
	  PAIR(NE ": exercise@P1", NE ": exercise@P1") "; observation " NE ": exercise@P1; complete_mediation " NE
						       ": exercise@P1 authorization@P1 correlation@P1" },
	{ "a mutant that is listed takes no path", the_mutant_is_listed, "" },
	{ "P4 made no order", p4_made_no_order, "observation " NE ": effect_as_made@P4" },
	{ "P2 may have effects up to a bound of 0", p2_may_be_less,
	  "complete_mediation " NE ": observation_coverage@P2" },
	{ "P2 has to have an effect", p2_is_no_zero, "complete_mediation " NE ": observation_coverage@P2" },
	{ "P2 is not observed", p2_is_not_observed,
	  "observation " NE ": exercise@P2 observer_sight@P2; complete_mediation " NE
	  ": exercise@P2 observation_coverage@P2" },
	{ "nobody joined calls and rows", nobody_joined,
	  PAIR(NE ": decision_record@", NE ": correlation@P1") "; complete_mediation " NE
							       ": authorization@P1 correlation@P1" },
	{ "a call without a row", call_without_row,
	  "correlation " NE ": correlation@P1 read_back@P1; complete_mediation " NE ": correlation@P1" },
	{ "a second call, without a row", second_call_without_row,
	  "correlation " NE ": read_back@P1; complete_mediation " NE ": correlation@P1" },
	{ "a second row", row_again,
	  "correlation refuted: !second_effect_of_call@P1; complete_mediation refuted: !refuted_claim@P1" },
	{ "a copied id", copied_id,
	  "correlation refuted: !copied_id@P1; complete_mediation refuted: !refuted_claim@P1" },
	{ "a row of a denied call", row_of_denied,
	  PAIR("refuted: !effect_of_denied_call@P1",
	       "refuted: !effect_of_denied_call@P1") "; complete_mediation refuted: !refuted_claim@P1" },
	{ "nobody joined in one arm", unread,
	  PAIR(NE ": decision_record@P1", NE ": correlation@P1") "; complete_mediation " NE
								 ": authorization@P1 correlation@P1" },
	{ "what is joined is not what was counted", joined_apart,
	  "correlation " NE ": correlation@P1; complete_mediation " NE ": correlation@P1" },
	{ "another path's call is joined", another_path_is_joined,
	  "correlation " NE ": correlation@P1; complete_mediation " NE ": correlation@P1" },
	{ "a row of a probe that is no path's, and nobody joined", unread_of_no_path,
	  "path_set_completeness " NE ": correlation@; complete_mediation " NE ": path_set_completeness@" },
	{ "a second row of no path", row_again_of_no_path, "" },
	{ "an id that a closed path's row bears", id_copied_to_a_closed_path,
	  "correlation refuted: !copied_id@P2; complete_mediation refuted: !refuted_claim@P1" },
	{ "two calls under one id", call_again,
	  "correlation " NE ": unique_call@P1; complete_mediation " NE ": correlation@P1" },
	{ "a row without a call", row_without_call,
	  "correlation refuted: !effect_without_call@P1; complete_mediation refuted: !refuted_claim@P1" },
	{ "a row of the deployment's path", row_of_the_deployment, "" },
	{ "a row of no path", row_of_no_path,
	  "path_set_completeness refuted: !unexplained_effect@; complete_mediation refuted: !refuted_claim@" },
	{ "a row of another subject", row_of_another_subject,
	  "path_set_completeness refuted: !unexplained_effect@; complete_mediation refuted: !refuted_claim@" },
	{ "no statement", no_statement,
	  "path_set_completeness " NE ": inventory@ evidence@; complete_mediation " NE
	  ": path_set_completeness@ control_evidence@P4 control_evidence@P5 independent_observation@P4 "
	  "independent_observation@P5" },
	{ "P4 is assessed, and no further", only_p4_is_assessed,
	  "complete_mediation " NE ": control_evidence@P5 independent_observation@P5" },
	{ "no inventory", no_inventory,
	  "path_set_completeness " NE ": inventory@ evidence@; complete_mediation " NE ": path_set_completeness@" },
	{ "no control", no_control, "complete_mediation " NE ": control_evidence@P4" },
	{ "no independent observation", no_independent_observation,
	  "complete_mediation " NE ": independent_observation@P5" },
	{ "the inventory lacks a path", inventory_lacks_a_path,
	  "path_set_completeness " NE ": inventory@P5; complete_mediation " NE ": path_set_completeness@" },
	{ "the inventory has another", inventory_has_another,
	  "path_set_completeness refuted: !undeclared_path@P6; complete_mediation refuted: !refuted_claim@" },
	{ "an inventory that nobody signed has another", unsigned_inventory_has_another,
	  "path_set_completeness " NE ": inventory@ evidence@; complete_mediation " NE ": path_set_completeness@" },
	{ "P1 is observed only", p1_is_observed_only, "complete_mediation " NE ": mediator@P1" },
	{ "P2 is observed only", p2_is_observed_only, "complete_mediation " NE ": mediator@P2" },
	{ "a path more is listed", a_path_is_listed,
	  "path_set_completeness " NE ": inventory@P6; complete_mediation " NE
	  ": path_set_completeness@ control_evidence@P6 independent_observation@P6" },
};

static void render_by(size_t at, const struct claim_rule *rules, size_t count, struct buf *out)
{
	cleanup_free struct claims_world *world = claims_world_new();
	struct error *err = NULL;

	cases[at].change(world);
	claims_world_bind(world);
	CU_ASSERT_EQUAL(claims_derive_by(rules, count, &world->input, &world->claims, &err), 0);
	CU_ASSERT(test_no_error(&err));
	claims_render(&world->claims, out);
}

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_buf struct buf rendered = BUF(RENDERED);

		render_by(i, claim_rules, claim_rules_count, &rendered);
		if (strcmp(buf_string(&rendered), cases[i].rendered) != 0)
			fprintf(stderr, "%s:\n  expected %s\n  got      %s\n", cases[i].name, cases[i].rendered,
				buf_string(&rendered));
		CU_ASSERT_STRING_EQUAL(buf_string(&rendered), cases[i].rendered);
	}
}

/* Whichever rule is taken out of the table, one of the cases above turns out otherwise. */
static void test_every_rule_is_needed(void)
{
	cleanup_free struct claim_rule *rules = calloc(claim_rules_count, sizeof(*rules));

	CU_ASSERT(rules && claim_rules_count > 0);
	for (size_t without = 0; rules && without < claim_rules_count; without++) {
		bool noticed = false;
		size_t count = 0;

		for (size_t i = 0; i < claim_rules_count; i++)
			if (i != without)
				rules[count++] = claim_rules[i];
		for (size_t i = 0; i < ARRAY_SIZE(cases) && !noticed; i++) {
			cleanup_buf struct buf rendered = BUF(RENDERED);

			render_by(i, rules, count, &rendered);
			noticed = strcmp(buf_string(&rendered), cases[i].rendered) != 0;
		}
		if (!noticed)
			fprintf(stderr, "no case needs the rule %s\n", claim_rules[without].id);
		CU_ASSERT_TRUE(noticed);
	}
}

/* Without any rule nothing is established by a rule's absence alone: a claim rests on something, or on nothing. */
static void test_no_rule(void)
{
	cleanup_free struct claims_world *world = claims_world_new();
	struct error *err = NULL;

	CU_ASSERT_EQUAL(claims_derive_by(NULL, 0, &world->input, &world->claims, &err), 0);
	CU_ASSERT(test_no_error(&err));
	for (size_t id = 0; id < CLAIMS; id++)
		CU_ASSERT_EQUAL(world->claims.claims[id].status, CLAIM_NOT_ESTABLISHED);
	CU_ASSERT_EQUAL(world->claims.non_bypassability.status, CLAIM_NOT_ESTABLISHED);
}

/* NON_BYPASSABILITY(B,E): each half alone. */
static void test_halves(void)
{
	static const struct {
		void (*change)(struct claims_world *world);
		enum claim_status completeness, mediation, status;
	} rows[] = {
		{ nothing, CLAIM_ESTABLISHED, CLAIM_ESTABLISHED, CLAIM_ESTABLISHED },
		{ no_inventory, CLAIM_NOT_ESTABLISHED, CLAIM_ESTABLISHED, CLAIM_NOT_ESTABLISHED },
		{ no_control, CLAIM_ESTABLISHED, CLAIM_NOT_ESTABLISHED, CLAIM_NOT_ESTABLISHED },
		{ no_statement, CLAIM_NOT_ESTABLISHED, CLAIM_NOT_ESTABLISHED, CLAIM_NOT_ESTABLISHED },
		{ p2_is_a_bypass, CLAIM_ESTABLISHED, CLAIM_REFUTED, CLAIM_REFUTED },
		{ row_of_no_path, CLAIM_REFUTED, CLAIM_ESTABLISHED, CLAIM_REFUTED },
		{ copied_id, CLAIM_ESTABLISHED, CLAIM_REFUTED, CLAIM_REFUTED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_free struct claims_world *world = claims_world_new();
		const struct claim_non_bypassability *both = &world->claims.non_bypassability;
		struct error *err = NULL;

		rows[i].change(world);
		claims_world_bind(world);
		CU_ASSERT_EQUAL(claims_derive(&world->input, &world->claims, &err), 0);
		CU_ASSERT(test_no_error(&err));
		CU_ASSERT_EQUAL(both->completeness, (int)rows[i].completeness);
		CU_ASSERT_EQUAL(both->mediation, (int)rows[i].mediation);
		CU_ASSERT_EQUAL(both->status, (int)rows[i].status);
	}
}

/* ---- two effects ---------------------------------------------------------------------------------------------------
 */

/* One observer sees both, in one arm: what is counted for the one is nothing to the other. */
static void test_two_effects(void)
{
	static const char *const rendered[] = { "", "complete_mediation refuted: !bypass@P2 observation_coverage@P2" };

	for (size_t bypassed = 0; bypassed < 2; bypassed++) {
		cleanup_free struct claims_world *world = claims_world_new();
		cleanup_free struct effect *other = calloc(1, sizeof(*other));
		struct expectation expectation = world->scenario.expect[0];
		struct verdict_cell cells[5];

		CU_ASSERT_PTR_NOT_NULL(other);
		if (!other)
			return;
		*other = world->effect;
		snprintf(other->effect, sizeof(other->effect), "order_delete");
		snprintf(other->paths[WORLD_P2].subject, sizeof(other->paths[WORLD_P2].subject), "delete-http");
		snprintf(expectation.subject, sizeof(expectation.subject), "delete-http");
		memcpy(cells, world->cells, sizeof(world->cells));
		cells[4] = cells[1];
		cells[4].expectation = &expectation;
		cells[bypassed ? 4 : 1].verdict = VERDICT_FAIL;
		cells[bypassed ? 4 : 1].because = BECAUSE_VALUE;
		cells[4].observation = &world->observations[4];
		world->observations[bypassed ? 4 : 1].value = 1;
		world->verdicts.cells = cells;
		world->verdicts.cells_count = ARRAY_SIZE(cells);
		for (size_t asked = 0; asked < 2; asked++) {
			cleanup_buf struct buf text = BUF(RENDERED);
			struct error *err = NULL;

			world->effect = asked ? *other : world->effect;
			for (size_t i = 0; i < WORLD_STATEMENTS; i++)
				snprintf(world->statements[i].effect, sizeof(world->statements[i].effect), "%s",
					 world->input.effect->effect);
			claims_world_bind(world);
			CU_ASSERT_EQUAL(claims_derive(&world->input, &world->claims, &err), 0);
			CU_ASSERT(test_no_error(&err));
			claims_render(&world->claims, &text);
			CU_ASSERT_STRING_EQUAL(buf_string(&text), rendered[asked == bypassed]);
		}
	}
}

static CU_TestInfo tests[] = {
	{ "each case", test_cases },         { "every rule is needed", test_every_rule_is_needed },
	{ "no rule", test_no_rule },         { "both halves", test_halves },
	{ "two effects", test_two_effects }, CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "claims", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_claims", suites);
}
