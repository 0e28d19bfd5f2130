/* Findings of correlation and of the effect's own observers, arm by arm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/claims_look.h"

#define WITHOUT_ID "row-without-id"
#define KINDS (CORRELATE_CALL_AGAIN + 1)
#define KINDS_HERE (CLAIM_FINDING_APART + 1)
/* Those of the effect, and those that its paths name. */
#define LOOKERS_MAX (EFFECT_OBSERVERS_MAX * (EFFECT_PATHS_MAX + 1))

/* Rows of the effect's observers that are not told by a canary: all of them, or those of nobody. */
static const char *const totals[];
static const char *const unowned[];

static bool is_observer(const struct effect *effect, const char *observer)
{
	for (size_t i = 0; i < effect->observers_count; i++)
		if (strcmp(effect->observers[i].id, observer) == 0)
			return true;
	for (size_t i = 0; i < effect->paths_count; i++)
		if (effect_path_observer(&effect->paths[i], observer))
			return true;
	return false;
}

bool claims_of_effect(const struct effect *effect, const struct verdict_cell *cell)
{
	return is_observer(effect, cell->expectation->observer);
}

/* Calls are joined with the rows of one store: who joins those of another says nothing of this effect's. */
bool claims_of_correlation(const struct effect *effect, const struct verdict_cell *cell)
{
	static const struct {
		const char *joins, *sees;
	} rows[] = { { "correlation", "orders" }, { "correlation-pg", "orders-pg" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(cell->expectation->observer, rows[i].joins) == 0)
			return is_observer(effect, rows[i].sees);
	return false;
}

bool claims_takes(const struct effect *effect, const struct scenario *scenario)
{
	for (size_t i = 0; i < effect->paths_count; i++)
		if (effect_path_scenario(&effect->paths[i], scenario->id))
			return true;
	return false;
}

/* ---- one arm -------------------------------------------------------------------------------------------------------
 */

struct looking {
	const struct effect *effect;
	const struct verdicts *verdicts;
	struct correlation *out;
	size_t room;
	size_t added[KINDS_HERE][EFFECT_PATHS_MAX + 1]; /* of each path; the last: of none */
	bool memory; /* there was none */
	bool found;
};

/* An observer of the effect, and what it counted in the arm for subjects, declared or not. */
struct looker {
	const char *observer;
	int64_t borne; /* by all of them; INT64_MAX: one of them was not seen */
	int64_t undeclared; /* by probes that are no path's */
};

/* What was seen in it. */
struct arm {
	const struct scenario *scenario;
	const struct verdict_cell **cells; /* its own, in their order */
	size_t cells_count;
	struct looker lookers[LOOKERS_MAX];
	size_t lookers_count;
	bool admits; /* an authorised path lists it */
	bool asked; /* the observer that joins */
	bool alike; /* a row was joined by what was asked for alone, as any other with the same arguments is */
	const struct verdict_cell *joined; /* its cell, or NULL */
	const struct observation *by[KINDS]; /* observed and above 0, else NULL */
	int64_t rows[EFFECT_PATHS_MAX]; /* of each declared path */
	int64_t authorised, elsewhere; /* the sums of the authorised ones, and of the others */
	int64_t undeclared; /* of probes that are no path's */
	const struct observation *strange; /* one of them */
	size_t with; /* authorised paths that have a row */
};

static bool is_seen(const struct verdict_cell *cell)
{
	return cell->observation && cell->observation->status == OBSERVATION_OBSERVED && cell->observation->value > 0;
}

static int64_t value_of(const struct arm *arm, enum correlate_kind kind)
{
	return arm->by[kind] ? arm->by[kind]->value : 0;
}

/* Whatever else is amiss, a forgery that was seen stands; what is joined counts by an observer that saw. */
static void take_correlation(struct arm *arm, const struct verdict_cell *cell)
{
	int kind = schema_enum(correlate_kind_names, cell->expectation->subject);

	arm->asked = true;
	arm->alike = arm->alike || (is_seen(cell) && strcmp(cell->expectation->subject, WITHOUT_ID) == 0);
	if (kind == CORRELATE_JOINED)
		arm->joined = cell;
	if (kind >= 0 && is_seen(cell) && (kind != CORRELATE_JOINED || cell->verdict != VERDICT_NOT_ESTABLISHED))
		arm->by[kind] = cell->observation;
}

static bool is_probe(const struct scenario *scenario, const char *subject)
{
	return scenario_tries(scenario, subject) || scenario_after(scenario, subject);
}

static bool is_among(const char *const *names, const char *name)
{
	return schema_enum(names, name) >= 0;
}

/* Two observers of one effect count the same: the one that saw more stands. */
static void take_path(const struct looking *looking, struct arm *arm, const struct verdict_cell *cell)
{
	const struct effect_path *path = effect_path_of(looking->effect, cell->expectation->subject);
	int64_t *rows = &arm->rows[path - looking->effect->paths];
	int64_t more = cell->observation->value - *rows;

	if (more <= 0)
		return;
	arm->with += is_authorised(path) && *rows == 0;
	*(is_authorised(path) ? &arm->authorised : &arm->elsewhere) += more;
	*rows = cell->observation->value;
}

/* Of one that looks at the effect: there is room for all of these. */
static struct looker *looker_of(struct arm *arm, const char *observer)
{
	for (size_t i = 0; i < arm->lookers_count; i++)
		if (strcmp(arm->lookers[i].observer, observer) == 0)
			return &arm->lookers[i];
	arm->lookers[arm->lookers_count] = (struct looker){ .observer = observer };
	return &arm->lookers[arm->lookers_count++];
}

static void take_borne(struct looker *looker, const struct verdict_cell *cell)
{
	if (!cell->observation || cell->observation->status != OBSERVATION_OBSERVED)
		looker->borne = INT64_MAX;
	else if (looker->borne < INT64_MAX)
		looker->borne += cell->observation->value;
}

static void take_undeclared(struct arm *arm, struct looker *looker, const struct verdict_cell *cell)
{
	looker->undeclared += cell->observation->value;
	if (looker->undeclared > arm->undeclared)
		arm->undeclared = looker->undeclared;
	arm->strange = cell->observation;
}

static void take(const struct looking *looking, struct arm *arm, const struct verdict_cell *cell)
{
	const char *subject = cell->expectation->subject;
	bool declared = effect_path_of(looking->effect, subject) != NULL;
	bool probe = declared || is_probe(arm->scenario, subject);
	bool joins = claims_of_correlation(looking->effect, cell);
	struct looker *looker;

	if (joins)
		take_correlation(arm, cell);
	if (!probe || !claims_of_effect(looking->effect, cell))
		return;
	looker = looker_of(arm, cell->expectation->observer);
	take_borne(looker, cell);
	if (joins || !is_seen(cell))
		return;
	if (declared)
		take_path(looking, arm, cell);
	else
		take_undeclared(arm, looker, cell);
}

static void look(const struct looking *looking, struct arm *arm)
{
	for (size_t i = 0; i < arm->cells_count; i++)
		take(looking, arm, arm->cells[i]);
}

/* ---- what it says --------------------------------------------------------------------------------------------------
 */

/* A claim rests on each that is joined, as far as it can hold them; of the others it matters that there is one. `path`:
 * or NULL, of none. */
static void add(struct looking *looking, int kind, const struct effect_path *path, const struct observation *by)
{
	struct correlation *out = looking->out;
	size_t *added = &looking->added[kind][path ? path - looking->effect->paths : EFFECT_PATHS_MAX];
	size_t most = kind == CORRELATE_JOINED ? CLAIM_RESTS_MAX + 1 : 1;
	struct correlate_finding *finding;

	if (*added >= most)
		return;
	if (out->count == looking->room) {
		finding = reallocarray(out->findings, 2 * looking->room + 16, sizeof(*finding));
		if (!finding) {
			looking->memory = true;
			return;
		}
		out->findings = finding;
		looking->room = 2 * looking->room + 16;
	}
	++*added;
	finding = &out->findings[out->count++];
	*finding = (struct correlate_finding){ .kind = kind };
	snprintf(finding->subject, sizeof(finding->subject), "%s", path ? path->subject : "");
	snprintf(finding->entry, sizeof(finding->entry), "%s", by ? by->id : "");
}

/* Rows of a call's kind that the chain explains or condemns: each is of a subject of the tool. */
static int64_t explained(const struct arm *arm)
{
	return value_of(arm, CORRELATE_JOINED) + value_of(arm, CORRELATE_ROW_AGAIN) +
	       value_of(arm, CORRELATE_COPIED_ID) + value_of(arm, CORRELATE_ROW_OF_DENIED);
}

static int64_t unexplained(const struct arm *arm)
{
	int64_t more = arm->authorised + arm->undeclared - explained(arm);

	return more > 0 ? more : 0;
}

static bool is_read(const struct arm *arm)
{
	return arm->joined && arm->joined->observation && arm->joined->observation->status == OBSERVATION_OBSERVED &&
	       arm->joined->verdict == VERDICT_PASS;
}

/* Whose effects are as many as were joined, and nobody else's among them. */
static bool is_own(const struct arm *arm)
{
	return arm->with == 1 && arm->authorised + arm->undeclared == explained(arm);
}

static void say_of_path(struct looking *looking, const struct arm *arm, const struct effect_path *path)
{
	int64_t rows = arm->rows[path - looking->effect->paths];

	if (!is_read(arm))
		add(looking, CLAIM_FINDING_UNREAD, path, NULL);
	for (int kind = 0; kind < KINDS && (rows > 0 || arm->with == 0); kind++)
		if (kind != CORRELATE_JOINED && arm->by[kind])
			add(looking, kind, path, arm->by[kind]);
	if (rows > 0 && is_read(arm) && unexplained(arm) > arm->undeclared)
		add(looking, CORRELATE_ROW_WITHOUT_CALL, path, NULL);
	if (rows > 0 && is_read(arm) && is_own(arm) && !arm->alike)
		add(looking, CORRELATE_JOINED, path, arm->by[CORRELATE_JOINED]);
	else if (rows > 0 || value_of(arm, CORRELATE_JOINED) > 0)
		add(looking, CLAIM_FINDING_APART, path, NULL);
}

/* Whether it counts what no subject bears. */
static bool is_stranger(const struct looking *looking, struct arm *arm, const struct verdict_cell *cell)
{
	const char *subject = cell->expectation->subject, *observer = cell->expectation->observer;

	if (!is_seen(cell) || !claims_of_effect(looking->effect, cell))
		return false;
	return is_among(unowned, subject) ||
	       (is_among(totals, subject) && cell->observation->value > looker_of(arm, observer)->borne);
}

static void say_of_nobody(struct looking *looking, struct arm *arm)
{
	const struct observation *without = arm->by[CORRELATE_ROW_WITHOUT_CALL];
	bool blind = arm->joined && arm->joined->verdict == VERDICT_NOT_ESTABLISHED;

	for (size_t i = 0; i < arm->cells_count; i++)
		if (is_stranger(looking, arm, arm->cells[i]))
			add(looking, CORRELATE_ROW_WITHOUT_CALL, NULL, arm->cells[i]->observation);
	if (without && without->value > unexplained(arm) + arm->elsewhere)
		add(looking, CORRELATE_ROW_WITHOUT_CALL, NULL, without);
	/* What an allowed call explains is the authorised path's, under whatever canary; where none is declared,
	 * nobody's. */
	if (arm->undeclared > 0 && (unexplained(arm) > 0 || !arm->admits))
		add(looking, blind && arm->admits ? (int)CLAIM_FINDING_UNREAD : (int)CORRELATE_ROW_WITHOUT_CALL, NULL,
		    arm->strange);
}

static void say(struct looking *looking, struct arm *arm)
{
	for (size_t i = 0; i < looking->effect->paths_count; i++) {
		const struct effect_path *path = &looking->effect->paths[i];

		if (!is_authorised(path) || !effect_path_scenario(path, arm->scenario->id))
			continue;
		arm->admits = true;
		looking->found = looking->found || arm->asked;
		say_of_path(looking, arm, path);
	}
	say_of_nobody(looking, arm);
}

/* ---- the arms ------------------------------------------------------------------------------------------------------
 */

/* Cells of one arm side by side, in their order. */
static int by_arm(const void *left, const void *right)
{
	const struct verdict_cell *a = *(const struct verdict_cell *const *)left;
	const struct verdict_cell *b = *(const struct verdict_cell *const *)right;

	if (a->scenario != b->scenario)
		return (uintptr_t)a->scenario < (uintptr_t)b->scenario ? -1 : 1;
	if (a->repetition != b->repetition)
		return a->repetition < b->repetition ? -1 : 1;
	return (a > b) - (a < b);
}

/* A stretch of cells of one arm. */
struct stretch {
	const struct verdict_cell **cells;
	size_t count;
};

/* By the first cell: in the order of the verdicts, and not of addresses. */
static int by_first(const void *left, const void *right)
{
	const struct stretch *a = left, *b = right;

	return (a->cells[0] > b->cells[0]) - (a->cells[0] < b->cells[0]);
}

/* The cells of the arms that take a path of the effect, sorted into stretches; of both there are at most as many as
 * cells. Returns how many stretches. */
static size_t stretches_of(const struct looking *looking, const struct verdict_cell **cells, struct stretch *out)
{
	size_t count = 0, stretches = 0;

	for (size_t i = 0; i < looking->verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &looking->verdicts->cells[i];

		if (!cell->scenario->control[0] && claims_takes(looking->effect, cell->scenario))
			cells[count++] = cell;
	}
	qsort(cells, count, sizeof(cells[0]), by_arm);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || cells[i]->scenario != cells[i - 1]->scenario ||
		    cells[i]->repetition != cells[i - 1]->repetition)
			out[stretches++] = (struct stretch){ .cells = &cells[i] };
		out[stretches - 1].count++;
	}
	qsort(out, stretches, sizeof(*out), by_first);
	return stretches;
}

static int look_at_arms(struct looking *looking, struct error **err)
{
	size_t count = looking->verdicts->cells_count;
	cleanup_free const struct verdict_cell **cells = calloc(count + 1, sizeof(const struct verdict_cell *));
	cleanup_free struct stretch *stretches = calloc(count + 1, sizeof(*stretches));
	cleanup_free struct arm *arm = malloc(sizeof(*arm));

	if (!cells || !stretches || !arm)
		return error_set(err, ERROR_MEMORY, "no memory for findings");
	count = stretches_of(looking, cells, stretches);
	for (size_t i = 0; i < count; i++) {
		*arm = (struct arm){ .scenario = stretches[i].cells[0]->scenario,
				     .cells = stretches[i].cells,
				     .cells_count = stretches[i].count };
		look(looking, arm);
		say(looking, arm);
	}
	return 0;
}

int claims_findings(const struct effect *effect, const struct verdicts *verdicts, struct correlation *out, bool *found,
		    struct error **err)
{
	struct looking looking = { .effect = effect, .verdicts = verdicts, .out = out };

	*out = (struct correlation){ .findings = NULL };
	if (look_at_arms(&looking, err) < 0) {
		correlation_free(out);
		return -1;
	}
	/* What nobody declared was seen all the same, and the calls of no authorised path were looked at. */
	for (size_t i = 0; i < effect->paths_count && out->count > 0 && !looking.found; i++)
		if (is_authorised(&effect->paths[i]))
			add(&looking, CLAIM_FINDING_UNREAD, &effect->paths[i], NULL);
	*found = looking.found;
	if (!looking.memory)
		return 0;
	correlation_free(out);
	return error_set(err, ERROR_MEMORY, "no memory for findings");
}

static const char *const totals[] = { "orders", NULL };
static const char *const unowned[] = { "orders-other", "roles-other", NULL };
