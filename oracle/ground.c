#include "oracle/ground.h"

#include <string.h>

/* Allowed calls of a session of cMCP are ten, by no setting; two are the beacons. */
#define CMCP_CALLS 8
#define MUTANT "mutant-"
#define KIND(kind) (1U << (kind))

/* What a kind of gateway cannot make: of a whole scenario, or of one cell. */
struct unsupported {
	const char *reason;
	unsigned kinds;
	bool (*whole)(const struct ground *ground, const struct scenario *scenario);
	const char *observer, *subject; /* else: every cell of it, or that of the subject */
};
static const struct unsupported table[];

static bool hostile_gateway(const struct ground *ground, const struct scenario *scenario)
{
	(void)ground;
	return scenario->peer.at == PEER_GATEWAY;
}

static bool hostile_upstream(const struct ground *ground, const struct scenario *scenario)
{
	(void)ground;
	return scenario->peer.at == PEER_UPSTREAM;
}

/* The order service is an upstream of our own gateway alone. */
static bool orders(const struct ground *ground, const struct scenario *scenario)
{
	(void)ground;
	return scenario_orders(scenario);
}

/* Only the bridge has a deadline there, and the session ends by that. */
static bool hangs(const struct ground *ground, const struct scenario *scenario)
{
	return hostile_upstream(ground, scenario) && strcmp(scenario->peer.does, "hangs") == 0;
}

static bool gateway_fault(const struct ground *ground, const struct scenario *scenario)
{
	(void)ground;
	for (size_t i = 0; i < scenario->faults_count; i++)
		if (scenario->faults[i].role == FAULT_GATEWAY)
			return true;
	return false;
}

/* What must have arrived was allowed; a mutant may not say again how much that is, but tries as often. */
static bool many_calls(const struct ground *ground, const struct scenario *scenario)
{
	int64_t calls = 0;

	(void)ground;
	if (scenario->tries > CMCP_CALLS)
		return true;
	for (size_t i = 0; i < scenario->expect_count; i++) {
		const struct expectation *cell = &scenario->expect[i];

		if (strcmp(cell->observer, "deliveries") == 0 && cell->op != OP_LE && cell->value <= INT32_MAX)
			calls += cell->value;
	}
	return calls > CMCP_CALLS;
}

static bool raises_ceiling(const struct ground *ground, const struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->removes_count && !ground->raised; i++)
		if (strcmp(scenario->removes[i], "sink-ceiling") == 0)
			return true;
	return false;
}

/* Its own protections are taken away in a program that is made from our gateway's pieces. */
static bool other_program(const struct ground *ground, const struct scenario *scenario)
{
	(void)ground;
	for (size_t i = 0; i < scenario->removes_count; i++)
		if (strncmp(scenario->removes[i], MUTANT, sizeof(MUTANT) - 1) == 0)
			return true;
	return false;
}

/* Where its records are, who takes its spans, and what its labels are, is its user's to say. */
static bool told_otherwise(const struct ground *ground, const struct scenario *scenario)
{
	(void)ground;
	return scenario->peer.at == PEER_AUDIT || scenario->peer.at == PEER_COLLECTOR || scenario->labels.session[0] ||
	       scenario->labels.permitted[0] || scenario->labels.response[0];
}

bool ground_is_gateway_reason(const char *reason)
{
	for (const struct unsupported *row = table; row->reason; row++)
		if (strcmp(row->reason, reason) == 0)
			return true;
	return false;
}

const char *ground_status(const char *reason)
{
	return ground_is_gateway_reason(reason) ? "unsupported" : "declared_untested";
}

const char *ground_mend(const struct ground *ground, const char *reason)
{
	int at = ground && ground->missing && ground->mends ? schema_enum(ground->missing, reason) : -1;

	return at < 0 ? reason : ground->mends[at];
}

static bool is_of(const struct unsupported *row, const struct expectation *cell)
{
	return cell && strcmp(cell->observer, row->observer) == 0 &&
	       (!row->subject || strcmp(cell->subject, row->subject) == 0);
}

static const char *of_gateway(const struct ground *ground, const struct scenario *scenario,
			      const struct expectation *cell)
{
	for (const struct unsupported *row = table; ground && row->reason; row++) {
		if (!(row->kinds & KIND(ground->gateway)))
			continue;
		if (row->whole ? row->whole(ground, scenario) : is_of(row, cell))
			return row->reason;
	}
	return NULL;
}

/* Of the cell itself, whoever earns it. */
static const char *own_reason(const struct ground *ground, const struct scenario *scenario,
			      const struct expectation *cell)
{
	const char *reason = of_gateway(ground, scenario, NULL);

	if (!reason && ground && cell->needs[0] && ground->missing && schema_enum(ground->missing, cell->needs) >= 0)
		reason = cell->needs;
	return reason ? reason : of_gateway(ground, scenario, cell);
}

const char *ground_unusable(const struct ground *ground, const struct scenario *scenario)
{
	const char *reason = of_gateway(ground, scenario, NULL), *lacking = NULL;

	if (reason)
		return reason;
	for (size_t i = 0; i < scenario->expect_count; i++) {
		if (scenario->control[0] && !scenario->expect[i].flips)
			continue;
		lacking = own_reason(ground, scenario, &scenario->expect[i]);
		if (!lacking)
			return NULL;
	}
	return lacking;
}

bool ground_would_earn(const struct ground *ground, const struct scenario *mutant, const struct scenario *scenario,
		       const struct expectation *cell)
{
	const char *reason;

	if (!mutant->control[0] || cell->class != CELL_PROTECTED || cell->flips)
		return false;
	reason = ground_unusable(ground, mutant);
	return reason && ground_is_gateway_reason(reason) && scenario_earns(mutant, scenario, cell);
}

/* Why all its mutants cannot be made; that of the first by id. */
static const char *unearnable(const struct ground *ground, const struct scenario *scenarios, size_t count,
			      const struct scenario *scenario, const struct expectation *cell)
{
	const struct scenario *first = NULL;

	if (!ground || ground->gateway == GATEWAY_EMBEDDED || cell->class != CELL_PROTECTED || cell->flips)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct scenario *mutant = &scenarios[i];

		if (!mutant->control[0] || !scenario_earns(mutant, scenario, cell))
			continue;
		if (!ground_would_earn(ground, mutant, scenario, cell))
			return NULL;
		if (!first || strcmp(mutant->id, first->id) < 0)
			first = mutant;
	}
	return first ? ground_unusable(ground, first) : NULL;
}

const char *ground_lacks(const struct ground *ground, const struct scenario *scenarios, size_t count,
			 const struct scenario *scenario, const struct expectation *cell)
{
	const char *reason = own_reason(ground, scenario, cell);

	if (!reason)
		reason = ground_unusable(ground, scenario);
	return reason ? reason : unearnable(ground, scenarios, count, scenario, cell);
}

const char *const gateway_kind_names[] = { "embedded", "cmcp", "url", NULL };

static const struct unsupported table[] = {
	{ .reason = GROUND_UNSUPPORTED "peer",
	  .kinds = KIND(GATEWAY_CMCP) | KIND(GATEWAY_URL),
	  .whole = hostile_gateway },
	{ .reason = GROUND_UNSUPPORTED "upstream", .kinds = KIND(GATEWAY_URL), .whole = hostile_upstream },
	{ .reason = GROUND_UNSUPPORTED "upstream", .kinds = KIND(GATEWAY_CMCP) | KIND(GATEWAY_URL), .whole = orders },
	{ .reason = GROUND_UNSUPPORTED "deadline", .kinds = KIND(GATEWAY_CMCP), .whole = hangs },
	{ .reason = GROUND_UNSUPPORTED "fault", .kinds = KIND(GATEWAY_URL), .whole = gateway_fault },
	{ .reason = GROUND_UNSUPPORTED "calls", .kinds = KIND(GATEWAY_CMCP), .whole = many_calls },
	{ .reason = GROUND_UNSUPPORTED "raised", .kinds = KIND(GATEWAY_URL), .whole = raises_ceiling },
	{ .reason = GROUND_UNSUPPORTED "mutant",
	  .kinds = KIND(GATEWAY_CMCP) | KIND(GATEWAY_URL),
	  .whole = other_program },
	{ .reason = GROUND_UNSUPPORTED "records", .kinds = KIND(GATEWAY_URL), .whole = told_otherwise },
	{ .reason = GROUND_UNSUPPORTED "records", .kinds = KIND(GATEWAY_URL), .observer = "audit" },
	{ .reason = GROUND_UNSUPPORTED "records", .kinds = KIND(GATEWAY_URL), .observer = "audit-bytes" },
	{ .reason = GROUND_UNSUPPORTED "records", .kinds = KIND(GATEWAY_URL), .observer = "output" },
	{ .reason = GROUND_UNSUPPORTED "records", .kinds = KIND(GATEWAY_URL), .observer = "spans" },
	{ .reason = GROUND_UNSUPPORTED "records", .kinds = KIND(GATEWAY_URL), .observer = "children" },
	/* It writes what came of a call, and nothing before it. */
	{ .reason = GROUND_UNSUPPORTED "intent",
	  .kinds = KIND(GATEWAY_CMCP),
	  .observer = "audit",
	  .subject = "audit-intent" },
	{ .reason = GROUND_UNSUPPORTED "decisions",
	  .kinds = KIND(GATEWAY_CMCP) | KIND(GATEWAY_URL),
	  .observer = "decisions" },
	{ .reason = NULL },
};
