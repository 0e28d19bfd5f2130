/* What runs show of claims: observations of the shipped scenarios are changed, judged, and the claims derived from that
 * alone, as a run does it. */
#include "oracle/claims_run.h"
#include "tests/unit/claims_world.h"
#include "tests/unit/declaration_world.h"

#define RENDERED (4 * KIB)
#define EDITS_MAX 5
#define BLIND (-1)
#define NE "not_established"
#define SET "path_set_completeness " NE ": inventory@ evidence@"
#define UNEXPLAINED "path_set_completeness refuted: !unexplained_effect@ inventory@ evidence@"
#define CREATE "effects/order-create"
#define GATEWAY "effects/order-gateway"
#define TWICE "effects/order-twice"
#define NETWORK "effects/order-network"
#define MANY 250000
#define FEW 10

struct run {
	struct world world;
	struct effect *effects;
	size_t effects_count;
	struct effect *effect; /* that of SQLite */
};

static void run_free(struct run *run)
{
	world_free(&run->world);
	free(run->effects);
}
#define cleanup_run __attribute__((cleanup(run_free)))

/* ---- declarations that say something else --------------------------------------------------------------------------
 */

static void drop_path(struct effect *effect, const char *id)
{
	for (size_t i = 0; i < effect->paths_count; i++)
		if (strcmp(effect->paths[i].id, id) == 0)
			effect->paths[i--] = effect->paths[--effect->paths_count];
}

static void hides_p2(struct effect *effect)
{
	drop_path(effect, "P2");
}

static void hides_p4(struct effect *effect)
{
	drop_path(effect, "P4");
}

/* Another authorised path in the arms of the first. */
static void second_authorised(struct effect *effect)
{
	struct effect_path *path = &effect->paths[effect->paths_count++];

	*path = effect->paths[0];
	snprintf(path->id, sizeof(path->id), "P1b");
	snprintf(path->subject, sizeof(path->subject), "order-again");
}

static void p2_is_authorised(struct effect *effect)
{
	effect->paths[1].admits = EFFECT_ADMITS_AUTHORISED;
}

static void nothing_is_authorised(struct effect *effect)
{
	drop_path(effect, "P1");
}

static void p1_in_twice_alone(struct effect *effect)
{
	snprintf(effect->paths[0].scenarios[0], ID_MAX, "%s", TWICE);
	effect->paths[0].scenarios_count = 1;
}

/* ---- runs ----------------------------------------------------------------------------------------------------------
 */

static const struct {
	const char *name;
	void (*declare)(struct effect *effect);
	struct edit {
		const char *arm, *subject, *observer;
		int64_t value; /* BLIND: it is not observable */
	} edits[EDITS_MAX];
	const char *rendered; /* without complete mediation */
	const char *bypassed; /* the path by which that is refuted, or NULL */
} cases[] = {
	{ "all is well", .rendered = SET },
	{ "nobody could join", .edits = { { GATEWAY, "joined", "correlation", BLIND } },
	  .rendered = "authorization " NE ": decision_record@P1; correlation " NE ": correlation@P1; " SET },
	{ "nobody could join where another order was made", .edits = { { TWICE, "joined", "correlation", BLIND } },
	  .rendered = "authorization " NE ": decision_record@P1; correlation " NE
		      ": correlation@P1; path_set_completeness " NE ": inventory@ correlation@ evidence@" },
	{ "more was joined than was counted",
	  .edits = { { GATEWAY, "order-gateway", "orders", 0 }, { GATEWAY, "orders", "orders", 0 } },
	  .rendered = "correlation " NE ": correlation@P1; observation " NE ": effect_as_made@P1; " SET },
	{ "more was joined than was expected", .edits = { { GATEWAY, "joined", "correlation", 2 } },
	  .rendered = "authorization " NE ": decision_record@P1; correlation " NE ": correlation@P1; " SET },
	{ "no call and no order", .declare = p1_in_twice_alone,
	  .edits = { { TWICE, "order-gateway", "orders", 0 }, { TWICE, "orders", "orders", 2 } },
	  .rendered = "correlation " NE ": correlation@P1; observation " NE ": effect_as_made@P1; " SET },
	{ "more orders of the path than calls",
	  .edits = { { GATEWAY, "order-gateway", "orders", 2 }, { GATEWAY, "orders", "orders", 2 } },
	  .rendered = "correlation refuted: !effect_without_call@P1 correlation@P1; observation " NE
		      ": effect_as_made@P1; " SET },
	{ "the chain does not hold", .edits = { { GATEWAY, "audit-chain", "audit", 1 } },
	  .rendered = "authorization " NE ": decision_record@P1; " SET },
	{ "nobody saw whether the chain holds", .edits = { { GATEWAY, "audit-chain", "audit", BLIND } },
	  .rendered = "authorization " NE ": decision_record@P1; " SET },
	{ "nobody saw the order", .edits = { { GATEWAY, "order-gateway", "orders", BLIND } },
	  .rendered = "authorization " NE ": exercise@P1; correlation " NE
		      ": exercise@P1 correlation@P1; observation " NE ": exercise@P1 observer_sight@P1; " SET },
	{ "an order of nobody's",
	  .edits = { { GATEWAY, "orders-other", "orders", 1 },
		     { GATEWAY, "orders", "orders", 2 },
		     { GATEWAY, "row-without-call", "correlation", 1 } },
	  .rendered = "correlation refuted: !effect_without_call@P1; " UNEXPLAINED },
	{ "it bears no canary", .edits = { { CREATE, "orders-other", "orders", 1 } }, .rendered = UNEXPLAINED },
	{ "it is in the sum alone", .edits = { { CREATE, "orders", "orders", 2 } }, .rendered = UNEXPLAINED },
	{ "it is known to the joiner alone", .edits = { { GATEWAY, "row-without-call", "correlation", 1 } },
	  .rendered = "correlation refuted: !effect_without_call@P1; " UNEXPLAINED },
	{ "it is in a mutant, and explains nothing", .edits = { { NETWORK, "orders-other", "orders", 1 } },
	  .rendered = SET },
	{ "a role that is no path's", .edits = { { CREATE, "roles-other", "orders", 1 } }, .rendered = UNEXPLAINED },
	{ "a probe of no path, and no call",
	  .edits = { { TWICE, "order-again", "orders", 3 }, { TWICE, "orders", "orders", 5 } },
	  .rendered = "correlation " NE ": correlation@P1; " UNEXPLAINED },
	{ "a path that is not declared", .declare = hides_p4, .rendered = UNEXPLAINED },
	{ "a closed path that is not declared, and is none", .declare = hides_p2, .rendered = SET },
	{ "and is taken", .declare = hides_p2,
	  .edits = { { GATEWAY, "order-http", "orders", 1 }, { GATEWAY, "orders", "orders", 2 } },
	  .rendered = "correlation " NE ": correlation@P1; " UNEXPLAINED },
	{ "more orders of the path than calls, as the joiner says",
	  .edits = { { GATEWAY, "order-gateway", "orders", 2 },
		     { GATEWAY, "orders", "orders", 2 },
		     { GATEWAY, "row-without-call", "correlation", 1 } },
	  .rendered = "correlation refuted: !effect_without_call@P1 correlation@P1; observation " NE
		      ": effect_as_made@P1; " SET },
	{ "a forgery in an arm where one of two made an order", .declare = second_authorised,
	  .edits = { { GATEWAY, "row-again", "correlation", 1 } },
	  .rendered = "authorization " NE ": exercise@P1b; correlation refuted: !second_effect_of_call@P1 exercise@P1b "
		      "correlation@P1 correlation@P1b; observation " NE ": exercise@P1b; " SET },
	{ "two authorised paths in one arm", .declare = second_authorised,
	  .rendered = "authorization " NE ": exercise@P1b; correlation " NE
		      ": exercise@P1b correlation@P1b correlation@P1; observation " NE ": exercise@P1b; " SET },
	{ "an authorised path without a call", .declare = p2_is_authorised,
	  .rendered = "authorization " NE ": decision_record@P2; correlation " NE ": correlation@P2; " SET },
	{ "nothing is authorised", .declare = nothing_is_authorised,
	  .rendered = "authorization " NE ": evidence@; correlation " NE ": evidence@; " UNEXPLAINED },
	{ "a bypass", .edits = { { CREATE, "order-http", "orders", 1 }, { CREATE, "orders", "orders", 2 } },
	  .rendered = SET, .bypassed = "P2" },
	{ "a bypass where nobody looked for it",
	  .edits = { { GATEWAY, "order-file", "orders", 1 }, { GATEWAY, "orders", "orders", 2 } }, .rendered = SET,
	  .bypassed = "P3a" },
	{ "an observer that always says 0",
	  .edits = { { NETWORK, "order-child", "orders", 0 }, { NETWORK, "orders", "orders", 2 } },
	  .rendered = "observation " NE
		      ": exercise@P2 exercise@P3b exercise@P4 observer_sight@P2 observer_sight@P3b; " SET },
	{ "a second row", .edits = { { GATEWAY, "row-again", "correlation", 1 } },
	  .rendered = "correlation refuted: !second_effect_of_call@P1 correlation@P1; " SET },
	{ "a call without a row", .edits = { { GATEWAY, "call-without-row", "correlation", 1 } },
	  .rendered = "correlation " NE ": read_back@P1; " SET },
	{ "a copied id", .edits = { { GATEWAY, "copied-id", "correlation", 1 } },
	  .rendered = "correlation refuted: !copied_id@P1 correlation@P1; " SET },
	{ "a row of a denied call", .edits = { { GATEWAY, "row-of-denied", "correlation", 1 } },
	  .rendered = "authorization refuted: !effect_of_denied_call@P1; correlation refuted: "
		      "!effect_of_denied_call@P1 correlation@P1; " SET },
	{ "a row that bears no id, joined by what was asked for",
	  .edits = { { GATEWAY, "row-without-id", "correlation", 1 } },
	  .rendered = "correlation " NE ": correlation@P1; " SET },
	{ "the agent did nothing", .edits = { { CREATE, "permitted", "deliveries", 0 } },
	  .rendered = "observation " NE ": exercise@P2 exercise@P3a exercise@P3b exercise@P4; " SET },
	{ "a second call under one id", .edits = { { GATEWAY, "call-again", "correlation", 1 } },
	  .rendered = "correlation " NE ": unique_call@P1; " SET },
};

static bool has(const struct world *world, const struct edit *edit)
{
	for (size_t i = 0; i < world->observations_count; i++)
		if (strcmp(world->observations[i].arm, edit->arm) == 0 &&
		    strcmp(world->observations[i].subject, edit->subject) == 0 &&
		    strcmp(world->observations[i].observer, edit->observer) == 0)
			return true;
	return false;
}

static void change(struct world *world, const struct edit *edit)
{
	static const char *const first[] = { "orders", "joined" };
	bool joins = strcmp(edit->observer, "correlation") == 0;

	if (!has(world, edit)) {
		stray(world, see(world, edit->arm, first[joins], edit->observer), edit->subject, edit->value);
		return;
	}
	see(world, edit->arm, edit->subject, edit->observer)->value = edit->value == BLIND ? 0 : edit->value;
	if (edit->value == BLIND)
		see(world, edit->arm, edit->subject, edit->observer)->status = OBSERVATION_NOT_OBSERVABLE;
}

static bool run_make(struct run *run, const char *selector)
{
	if (!declared_make(&run->world, selector, &run->effects, &run->effects_count))
		return false;
	for (size_t i = 0; i < run->effects_count; i++)
		if (strcmp(run->effects[i].id, "order_create") == 0)
			run->effect = &run->effects[i];
	return run->effect;
}

static bool derive(struct run *run, struct claims *claims)
{
	struct claims_run of = { .ended = WORLD_NOW };
	struct error *err = NULL;

	if (!world_judge(&run->world))
		return false;
	of.verdicts = run->world.verdicts;
	return claims_of_run(run->effect, &of, claims, &err) == 0 && test_no_error(&err);
}

static void render(const struct claims *claims, struct buf *out)
{
	char *rest;

	claims_render(claims, out);
	(void)buf_text(out, "");
	rest = strstr(out->data ? out->data : "", "; complete_mediation");
	if (rest)
		*rest = '\0';
}

static const char *bypassed(const struct claim *claim)
{
	for (size_t i = 0; i < claim->refuted_count; i++)
		if (claim->refuted[i].by == REFUTED_BY_BYPASS)
			return claim->refuted[i].path;
	return NULL;
}

static void test_cases(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_run struct run run = { .effects = NULL };
		cleanup_free struct claims *claims = calloc(1, sizeof(*claims));
		cleanup_buf struct buf text = BUF(RENDERED);
		const char *path;

		CU_ASSERT(run_make(&run, "effects"));
		if (cases[i].declare)
			cases[i].declare(run.effect);
		for (size_t edit = 0; edit < EDITS_MAX && cases[i].edits[edit].arm; edit++)
			change(&run.world, &cases[i].edits[edit]);
		CU_ASSERT(claims && derive(&run, claims));
		render(claims, &text);
		if (strcmp(buf_string(&text), cases[i].rendered) != 0)
			fprintf(stderr, "%s:\n  expected %s\n  got      %s\n", cases[i].name, cases[i].rendered,
				buf_string(&text));
		CU_ASSERT_STRING_EQUAL(buf_string(&text), cases[i].rendered);
		path = bypassed(&claims->claims[CLAIM_MEDIATION]);
		CU_ASSERT_STRING_EQUAL(path ? path : "", cases[i].bypassed ? cases[i].bypassed : "");
	}
}

/* A part of the scenarios exercises a part of the paths. */
static void test_selections(void)
{
	static const struct {
		const char *selector, *rendered;
	} rows[] = {
		{ CREATE, "authorization " NE ": exercise@P1 decision_record@ evidence@; correlation " NE
			  ": exercise@P1 correlation@P1 evidence@; observation " NE ": exercise@P1 exercise@P2; " SET },
		{ GATEWAY, "authorization " NE ": exercise@P1; correlation " NE ": exercise@P1; observation " NE
			   ": exercise@P1; " SET },
		{ TWICE, "authorization " NE ": exercise@P1; correlation " NE ": exercise@P1; observation " NE
			 ": exercise@P1 exercise@P2 exercise@P3a exercise@P3b exercise@P4; " SET },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_run struct run run = { .effects = NULL };
		cleanup_free struct claims *claims = calloc(1, sizeof(*claims));
		cleanup_buf struct buf text = BUF(RENDERED);

		CU_ASSERT(run_make(&run, rows[i].selector) && claims && derive(&run, claims));
		render(claims, &text);
		CU_ASSERT_STRING_EQUAL(buf_string(&text), rows[i].rendered);
		if (strcmp(buf_string(&text), rows[i].rendered) != 0)
			fprintf(stderr, "%s: %s\n", rows[i].selector, buf_string(&text));
	}
}

/* ---- many cells ----------------------------------------------------------------------------------------------------
 */

/* The first cell of the world, as often, each as `lay` has it. */
struct many {
	struct claims_world *world;
	struct expectation others[2]; /* a probe that is no path's, and the total */
	struct verdict_cell *cells;
	size_t count;
};

static void one_arm(struct many *many, size_t at)
{
	many->cells[at].expectation = &many->others[0];
}

static void one_arm_of_totals(struct many *many, size_t at)
{
	many->cells[at].expectation = &many->others[1];
}

/* No two cells of an arm side by side. */
static void arms_apart(struct many *many, size_t at)
{
	many->cells[at].expectation = &many->others[0];
	many->cells[at].repetition = (int64_t)(at % (many->count / 2));
}

static void many_findings(struct many *many, void (*lay)(struct many *many, size_t at), size_t count,
			  struct correlation *out)
{
	struct verdicts verdicts = many->world->verdicts;
	struct error *err = NULL;
	bool found;

	many->count = count;
	for (size_t i = 0; i < count; i++) {
		many->cells[i] = many->world->cells[0];
		lay(many, i);
	}
	verdicts.cells = many->cells;
	verdicts.cells_count = count;
	CU_ASSERT_EQUAL(claims_findings(&many->world->effect, &verdicts, out, &found, &err), 0);
	CU_ASSERT(test_no_error(&err));
}

/* Who looks at all cells for each cell takes so long that the test does not end in its time. */
static void test_many(void)
{
	static void (*const lays[])(struct many * many, size_t at) = { one_arm, one_arm_of_totals, arms_apart };
	cleanup_free struct claims_world *world = claims_world_new();
	cleanup_free struct verdict_cell *cells = calloc(MANY, sizeof(*cells));
	struct many many = { .world = world, .cells = cells };

	CU_ASSERT_PTR_NOT_NULL(cells);
	many.others[0] = many.others[1] = world->scenario.expect[1];
	snprintf(many.others[0].subject, sizeof(many.others[0].subject), "permitted");
	snprintf(many.others[1].subject, sizeof(many.others[1].subject), "orders");
	for (size_t i = 0; cells && i < ARRAY_SIZE(lays); i++) {
		struct correlation few = { .count = 0 }, much = { .count = 0 };

		many_findings(&many, lays[i], FEW, &few);
		many_findings(&many, lays[i], MANY, &much);
		CU_ASSERT(few.count == 2 && much.count == 2);
		for (size_t at = 0; at < few.count && at < much.count; at++) {
			CU_ASSERT_EQUAL(few.findings[at].kind, much.findings[at].kind);
			CU_ASSERT_STRING_EQUAL(few.findings[at].subject, much.findings[at].subject);
		}
		correlation_free(&few);
		correlation_free(&much);
	}
}

/* It is the order of the arms that counts, and not how their cells are mixed. */
static void test_mixed(void)
{
	cleanup_free struct claims_world *world = claims_world_new();
	struct verdict_cell cells[3] = { world->cells[0], world->cells[0], world->cells[0] };
	struct verdicts verdicts = world->verdicts;
	struct correlation found = { .count = 0 };
	struct expectation joined = world->scenario.expect[1];
	struct error *err = NULL;
	bool any;

	/* Calls of the first arm were joined, and its order stands behind the other arm, where nobody joined. */
	snprintf(joined.observer, sizeof(joined.observer), "correlation");
	snprintf(joined.subject, sizeof(joined.subject), "joined");
	cells[0].expectation = &joined;
	cells[1].repetition = 1;
	verdicts.cells = cells;
	verdicts.cells_count = ARRAY_SIZE(cells);
	CU_ASSERT_EQUAL(claims_findings(&world->effect, &verdicts, &found, &any, &err), 0);
	CU_ASSERT(test_no_error(&err) && any && found.count == 3);
	if (found.count == 3) {
		CU_ASSERT_EQUAL(found.findings[0].kind, CORRELATE_JOINED);
		CU_ASSERT_EQUAL(found.findings[1].kind, CLAIM_FINDING_UNREAD);
		CU_ASSERT_EQUAL(found.findings[2].kind, CLAIM_FINDING_APART);
	}
	correlation_free(&found);
}

static CU_TestInfo tests[] = {
	{ "many cells", test_many }, { "mixed arms", test_mixed },
	{ "each case", test_cases }, { "a part of the scenarios", test_selections },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "claims findings", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return test_main("test_claims_findings", suites);
}
