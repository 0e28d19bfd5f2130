/* Findings of correlation and of the effect's own observers, arm by arm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fd.h"
#include "oracle/claims_look.h"

#define WITHOUT_ID "row-without-id"
#define KINDS (CORRELATE_CALL_AGAIN + 1)

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
	bool memory; /* there was none */
	bool found;
};

/* What was seen in it. */
struct arm {
	const struct scenario *scenario;
	int64_t repetition;
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

static bool is_of(const struct arm *arm, const struct verdict_cell *cell)
{
	return cell->scenario == arm->scenario && cell->repetition == arm->repetition;
}

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

static void take_undeclared(const struct looking *looking, struct arm *arm, const char *observer)
{
	int64_t sum = 0;

	for (size_t i = 0; i < looking->verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &looking->verdicts->cells[i];
		const char *subject = cell->expectation->subject;

		if (!is_of(arm, cell) || !is_seen(cell) || strcmp(cell->expectation->observer, observer) != 0 ||
		    effect_path_of(looking->effect, subject) || !is_probe(arm->scenario, subject))
			continue;
		sum += cell->observation->value;
		arm->strange = cell->observation;
	}
	if (sum > arm->undeclared)
		arm->undeclared = sum;
}

static void look(const struct looking *looking, struct arm *arm)
{
	for (size_t i = 0; i < looking->verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &looking->verdicts->cells[i];

		if (!is_of(arm, cell))
			continue;
		if (claims_of_correlation(looking->effect, cell))
			take_correlation(arm, cell);
		else if (!is_seen(cell) || !claims_of_effect(looking->effect, cell))
			continue;
		else if (effect_path_of(looking->effect, cell->expectation->subject))
			take_path(looking, arm, cell);
		else if (is_probe(arm->scenario, cell->expectation->subject))
			take_undeclared(looking, arm, cell->expectation->observer);
	}
}

/* ---- what it says --------------------------------------------------------------------------------------------------
 */

static size_t count_of(const struct correlation *out, int kind, const char *subject)
{
	size_t count = 0;

	for (size_t i = 0; i < out->count; i++)
		count += out->findings[i].kind == kind && strcmp(out->findings[i].subject, subject) == 0;
	return count;
}

/* A claim rests on each that is joined, as far as it can hold them; of the others it matters that there is one. */
static void add(struct looking *looking, int kind, const char *subject, const struct observation *by)
{
	struct correlation *out = looking->out;
	size_t most = kind == CORRELATE_JOINED ? CLAIM_RESTS_MAX + 1 : 1;
	struct correlate_finding *finding;

	if (count_of(out, kind, subject) >= most)
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
	finding = &out->findings[out->count++];
	*finding = (struct correlate_finding){ .kind = kind };
	snprintf(finding->subject, sizeof(finding->subject), "%s", subject);
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
		add(looking, CLAIM_FINDING_UNREAD, path->subject, NULL);
	for (int kind = 0; kind < KINDS && (rows > 0 || arm->with == 0); kind++)
		if (kind != CORRELATE_JOINED && arm->by[kind])
			add(looking, kind, path->subject, arm->by[kind]);
	if (rows > 0 && is_read(arm) && unexplained(arm) > arm->undeclared)
		add(looking, CORRELATE_ROW_WITHOUT_CALL, path->subject, NULL);
	if (rows > 0 && is_read(arm) && is_own(arm) && !arm->alike)
		add(looking, CORRELATE_JOINED, path->subject, arm->by[CORRELATE_JOINED]);
	else if (rows > 0 || value_of(arm, CORRELATE_JOINED) > 0)
		add(looking, CLAIM_FINDING_APART, path->subject, NULL);
}

/* All that it counted for subjects, declared or not, in the arm; more than any total where one of them was not seen. */
static int64_t sum_of(const struct looking *looking, const struct arm *arm, const char *observer)
{
	int64_t sum = 0;

	for (size_t i = 0; i < looking->verdicts->cells_count; i++) {
		const struct verdict_cell *cell = &looking->verdicts->cells[i];
		const char *subject = cell->expectation->subject;

		if (!is_of(arm, cell) || strcmp(cell->expectation->observer, observer) != 0 ||
		    (!effect_path_of(looking->effect, subject) && !is_probe(arm->scenario, subject)))
			continue;
		if (!cell->observation || cell->observation->status != OBSERVATION_OBSERVED)
			return INT64_MAX;
		sum += cell->observation->value;
	}
	return sum;
}

/* Whether it counts what no subject bears. */
static bool is_stranger(const struct looking *looking, const struct arm *arm, const struct verdict_cell *cell)
{
	const char *subject = cell->expectation->subject, *observer = cell->expectation->observer;

	if (!is_of(arm, cell) || !is_seen(cell) || !claims_of_effect(looking->effect, cell))
		return false;
	return is_among(unowned, subject) ||
	       (is_among(totals, subject) && cell->observation->value > sum_of(looking, arm, observer));
}

static void say_of_nobody(struct looking *looking, const struct arm *arm)
{
	const struct observation *without = arm->by[CORRELATE_ROW_WITHOUT_CALL];
	bool blind = arm->joined && arm->joined->verdict == VERDICT_NOT_ESTABLISHED;

	for (size_t i = 0; i < looking->verdicts->cells_count; i++)
		if (is_stranger(looking, arm, &looking->verdicts->cells[i]))
			add(looking, CORRELATE_ROW_WITHOUT_CALL, "", looking->verdicts->cells[i].observation);
	if (without && without->value > unexplained(arm) + arm->elsewhere)
		add(looking, CORRELATE_ROW_WITHOUT_CALL, "", without);
	/* What an allowed call explains is the authorised path's, under whatever canary; where none is declared,
	 * nobody's. */
	if (arm->undeclared > 0 && (unexplained(arm) > 0 || !arm->admits))
		add(looking, blind && arm->admits ? (int)CLAIM_FINDING_UNREAD : (int)CORRELATE_ROW_WITHOUT_CALL, "",
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

/* Whether no cell before this one is of the same arm; those of an arm mostly stand side by side. */
static bool is_first(const struct verdicts *verdicts, size_t at)
{
	const struct arm arm = { .scenario = verdicts->cells[at].scenario,
				 .repetition = verdicts->cells[at].repetition };

	for (size_t i = at; i-- > 0;)
		if (is_of(&arm, &verdicts->cells[i]))
			return false;
	return true;
}

int claims_findings(const struct effect *effect, const struct verdicts *verdicts, struct correlation *out, bool *found,
		    struct error **err)
{
	struct looking looking = { .effect = effect, .verdicts = verdicts, .out = out };

	*out = (struct correlation){ .findings = NULL };
	for (size_t i = 0; i < verdicts->cells_count; i++) {
		struct arm arm = { .scenario = verdicts->cells[i].scenario,
				   .repetition = verdicts->cells[i].repetition };

		if (arm.scenario->control[0] || !claims_takes(effect, arm.scenario) || !is_first(verdicts, i))
			continue;
		look(&looking, &arm);
		say(&looking, &arm);
	}
	/* What nobody declared was seen all the same, and the calls of no authorised path were looked at. */
	for (size_t i = 0; i < effect->paths_count && out->count > 0 && !looking.found; i++)
		if (is_authorised(&effect->paths[i]))
			add(&looking, CLAIM_FINDING_UNREAD, effect->paths[i].subject, NULL);
	*found = looking.found;
	if (!looking.memory)
		return 0;
	correlation_free(out);
	return error_set(err, ERROR_MEMORY, "no memory for findings");
}

static const char *const totals[] = { "orders", NULL };
static const char *const unowned[] = { "orders-other", "roles-other", NULL };
