/* What an arm lived through, against what its scenario and its observers say: only of arms that ended well. */
#include <string.h>

#include "core/clock.h"
#include "reports/verify_parts.h"

/* The arm and the observer of state see the process end each for itself; a busy machine wakes one of them later. */
#define DEAD_SLACK_NS (250 * NS_PER_MS)

/* What became of an update of the scenario; and of one that was an operator's. */
static const char *const acknowledgments[] = {
	[UPDATE_APPLIED] = "policy-applied", [UPDATE_STALE] = "policy-stale", [UPDATE_INVALID] = "policy-invalid", NULL
};
static const char *const operated[] = { "operator-applied", "operator-stale", "operator-invalid", NULL };

static const struct arm_event *event_of(const struct arm_record *record, const char *name)
{
	for (size_t i = 0; i < record->events_count; i++)
		if (strcmp(record->events[i].name, name) == 0)
			return &record->events[i];
	return NULL;
}

static bool removes_watchdog(const struct scenario *scenario)
{
	for (size_t i = 0; i < scenario->removes_count; i++)
		if (strcmp(scenario->removes[i], "watchdog") == 0)
			return true;
	return false;
}

static int wrong(size_t index, const char *what, struct error **err)
{
	return error_set(err, ERROR_INPUT, "arms.json: arms[%zu].events: %s", index, what);
}

static int check_armed(const struct arm_record *record, const struct scenario *scenario, size_t index,
		       struct error **err)
{
	bool unarmed = removes_watchdog(scenario);

	if (event_of(record, unarmed ? "armed" : "unarmed"))
		return wrong(index, unarmed ? "armed, though the watchdog is removed" : "the watchdog was not armed",
			     err);
	if (!event_of(record, unarmed ? "unarmed" : "armed"))
		return wrong(index, unarmed ? "no 'unarmed'" : "no 'armed'", err);
	return 0;
}

/* How the session ended, where the scenario says how it must. */
static int check_reason(const struct arm_record *record, const struct scenario *scenario, size_t index,
			struct error **err)
{
	if (!scenario->ends[0])
		return 0;
	/* Bridge and watch may each say how it ended; the arm goes by the watch. */
	for (size_t i = 0; i < record->events_count; i++)
		if (strcmp(record->events[i].name, "ended") == 0 &&
		    strcmp(record->events[i].subject, scenario->ends) == 0)
			return 0;
	return wrong(index, "no 'ended' by what the scenario says", err);
}

/* What an agent does before it misbehaves: it stops, and is let go on. */
static int check_pause(const struct arm_record *record, const struct scenario *scenario, size_t index,
		       struct error **err)
{
	if (!scenario_pauses(scenario))
		return 0;
	if (!event_of(record, "checkpoint"))
		return wrong(index, "no 'checkpoint'", err);
	return event_of(record, "resumed") ? 0 : wrong(index, "no 'resumed'", err);
}

/* Each policy update was acknowledged as the scenario says, one behind the other. */
static int check_updates(const struct arm_record *record, const struct scenario *scenario, size_t index,
			 struct error **err)
{
	size_t acknowledged = 0;

	for (size_t i = 0; i < record->events_count; i++) {
		const struct arm_event *event = &record->events[i];
		int outcome = schema_enum(acknowledgments, event->name);

		if (outcome < 0)
			continue;
		if (acknowledged == scenario->updates_count ||
		    strcmp(scenario->updates[acknowledged].trigger, event->subject) != 0)
			return wrong(index, "a policy update that the scenario does not have", err);
		if (scenario->updates[acknowledged].outcome != outcome)
			return wrong(index, "a policy update was acknowledged otherwise than the scenario says", err);
		acknowledged++;
	}
	return acknowledged == scenario->updates_count ? 0 : wrong(index, "a policy update was not acknowledged", err);
}

/* The whole way: armed, plaintext in, done unless it is said how else the session ends, dead. */
static int check_whole(const struct arm_record *record, const struct scenario *scenario, size_t index,
		       struct error **err)
{
	const struct arm_event *armed = event_of(record, "armed"), *first = event_of(record, "first-frame");

	if (!armed)
		armed = event_of(record, "unarmed");
	if (!first)
		return wrong(index, "no 'first-frame'", err);
	if (armed && first->at_ns < armed->at_ns)
		return wrong(index, "'first-frame' before the watchdog was armed", err);
	if (!scenario_pauses(scenario) && !scenario->ends[0] && !event_of(record, "done"))
		return wrong(index, "no 'done'", err);
	if (!event_of(record, "dead"))
		return wrong(index, "no 'dead'", err);
	if (event_of(record, "part-lost"))
		return wrong(index, "'part-lost', though no fault is planned", err);
	return 0;
}

static int check_operator(const struct arm_record *record, size_t index, struct error **err)
{
	for (size_t i = 0; i < record->events_count; i++)
		if (schema_enum(operated, record->events[i].name) >= 0)
			return wrong(index, "an operator changed the session, and yet the arm is 'ok'", err);
	return 0;
}

static int check_timeline(const struct bundle *bundle, size_t index, struct error **err)
{
	const struct arm_record *record = &bundle->arms[index];
	const struct scenario *scenario = bundle->plan->arms[index].scenario;
	int result;

	if (record->status == ARM_OK && check_operator(record, index, err) < 0)
		return -1;
	/* One that was refused has a reason, and ended before the way began. */
	if (record->status != ARM_OK || record->reason[0])
		return 0;
	for (size_t i = 0; i < record->events_count; i++)
		if (record->events[i].at_ns > record->duration_ns)
			return wrong(index, "one is later than the arm's end", err);
	result = check_armed(record, scenario, index, err);
	if (result == 0)
		result = check_pause(record, scenario, index, err);
	if (result == 0)
		result = check_reason(record, scenario, index, err);
	if (result == 0)
		result = check_updates(record, scenario, index, err);
	if (result < 0 || scenario->faults_count > 0)
		return result;
	return check_whole(record, scenario, index, err);
}

int check_loss(const struct bundle *bundle, size_t index, const struct observation *loss, struct error **err)
{
	const struct arm_record *record = &bundle->arms[index];
	const struct arm_event *lost, *dead;
	int64_t late;

	if (loss->status != OBSERVATION_OBSERVED || strcmp(loss->subject, "loss_to_dead") != 0 ||
	    record->status != ARM_OK)
		return 0;
	lost = event_of(record, bundle->plan->arms[index].scenario->faults_count > 0 ? "part-lost" : "resumed");
	dead = event_of(record, "dead");
	if (!lost)
		return wrong(index, "nothing was lost, though the time from it was measured", err);
	if (!dead)
		return wrong(index, "no 'dead'", err);
	late = dead->at_ns - lost->at_ns - loss->value;
	if (late < -DEAD_SLACK_NS || late > DEAD_SLACK_NS)
		return wrong(index, "the loss to 'dead' is another time than the one measured", err);
	return 0;
}

int check_timelines(struct bundle *bundle, struct error **err)
{
	int result = 0;

	for (size_t i = 0; i < bundle->arms_count && result >= 0; i++)
		result = check_timeline(bundle, i, err);
	return result < 0 ? result : bundle_give(&bundle->late, err);
}
