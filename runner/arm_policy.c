/*
 * The live policy of an arm: the operator's channel, and the scenario's own updates. Both go to the bridge one at a
 * time, and what the bridge acknowledged is told to the observer of deliveries: from then on what a revoked tool
 * receives is late. It learns so behind the acknowledgment, and hears that a tool is free before the update that frees
 * it is sent, so that nothing is called late that was not; the others stay watched meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "adapter/policy_gate.h"
#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm_steps.h"
#include "runner/policy_channel.h"

#define SEND_MS 2000
/* Of a timeline's events: an operator cannot crowd out the arm's own. */
#define NOTED_MAX 16

_Static_assert((int)POLICY_APPLIED == (int)UPDATE_APPLIED && (int)POLICY_STALE == (int)UPDATE_STALE &&
		       (int)POLICY_INVALID == (int)UPDATE_INVALID,
	       "what a scenario expects is what the gate says");

/* Bit i of `which`: the tool of that place. An observer that is lost is its cells' matter. */
static void tell_observer(const struct arm *arm, uint32_t which, bool revoked)
{
	struct observer_process *observer = arm_observer(arm, "deliveries");
	const char *tools[SESSION_TOOLS_MAX];
	size_t count = session_tools(tools);

	for (size_t i = 0; observer && i < count; i++) {
		cleanup_error struct error *lost = NULL;

		if (which >> i & 1 && observer_policy(observer, tools[i], revoked, &lost) < 0)
			return;
	}
}

static uint32_t opened_by(const struct arm_policy *policy, const char *bytes, size_t length)
{
	const struct policy_acknowledgment now = { .revision = policy->revision,
						   .closed = policy->closed,
						   .revoked = policy->revoked };
	const char *tools[SESSION_TOOLS_MAX];
	size_t count = session_tools(tools);

	return policy_update_opens(&now, tools, count, bytes, length);
}

static int send_update(struct arm *arm, const char *bytes, size_t length, struct error **err)
{
	struct control_message message = { .type = CONTROL_POLICY };
	cleanup_fd int read_end = -1, write_end = -1;

	tell_observer(arm, opened_by(&arm->policy, bytes, length), false);
	if (fd_pipe(&read_end, &write_end, err) < 0 ||
	    fd_write_all(write_end, bytes, length, clock_deadline(SEND_MS), err) < 0)
		return -1;
	fd_close(&write_end);
	if (control_send(arm->session.bridge_control, &message, &read_end, 1, clock_deadline(SEND_MS), err) < 0)
		return -1;
	arm->policy.sent = true;
	return 0;
}

static bool open_now(const struct arm *arm)
{
	return arm->policy.open && !arm->told.done && !arm->told.ended && !arm->told.dead;
}

/* ---- the operator ---- */

static void answer(struct arm *arm, unsigned client, enum policy_said said)
{
	const struct arm_policy *policy = &arm->policy;
	struct policy_answer answer = {
		.said = (int)said,
		.open = open_now(arm),
		.closed = policy->closed,
		.revision = policy->revision,
	};
	const char *tools[SESSION_TOOLS_MAX];

	memcpy(answer.scenario, arm->scenario.id, sizeof(answer.scenario));
	answer.tools_count = session_tools(tools);
	for (size_t i = 0; i < answer.tools_count; i++) {
		snprintf(answer.tools[i].tool, sizeof(answer.tools[i].tool), "%s", tools[i]);
		answer.tools[i].revoked = policy->revoked >> i & 1;
	}
	policy_channel_answer(policy->channel, client, &answer);
}

static void on_asked(void *context, unsigned client, const char *bytes, size_t length)
{
	struct arm *arm = context;
	cleanup_error struct error *gone = NULL;

	if (length == strlen(POLICY_SHOW) && memcmp(bytes, POLICY_SHOW, length) == 0) {
		answer(arm, client, POLICY_SAID_STATE);
	} else if (!open_now(arm)) {
		answer(arm, client, POLICY_SAID_NOT_OPEN);
	} else if (arm->policy.sent) {
		answer(arm, client, POLICY_SAID_BUSY);
	} else if (send_update(arm, bytes, length, &gone) < 0) {
		answer(arm, client, POLICY_SAID_LOST);
	} else {
		arm->policy.foreign = arm->policy.operated = true;
		arm->policy.client = client;
	}
}

static enum policy_said said_of(uint32_t outcome)
{
	if (outcome == POLICY_APPLIED)
		return POLICY_SAID_APPLIED;
	return outcome == POLICY_STALE ? POLICY_SAID_STALE : POLICY_SAID_INVALID;
}

/* ---- the bridge ---- */

void arm_policy_acknowledged(struct arm *arm, const struct control_message *message)
{
	static const char *const events[] = { "policy-applied", "policy-stale", "policy-invalid" };
	static const char *const operator_events[] = { "operator-applied", "operator-stale", "operator-invalid" };
	struct arm_policy *policy = &arm->policy;

	if (!policy->sent)
		return;
	policy->sent = false;
	policy->revision = message->value;
	policy->closed = message->closed;
	policy->revoked = message->revoked;
	tell_observer(arm, policy->closed ? UINT32_MAX : policy->revoked, true);
	if (!policy->foreign) {
		const struct policy_update *update = &arm->scenario.updates[policy->acknowledged++];

		policy->otherwise |= update->outcome != (int)message->outcome;
		arm_note(arm, events[message->outcome], update->trigger, message->time);
		return;
	}
	policy->foreign = false;
	if (policy->noted++ < NOTED_MAX)
		arm_note(arm, operator_events[message->outcome], "", message->time);
	answer(arm, policy->client, said_of(message->outcome));
}

/* ---- the scenario's updates ---- */

bool arm_policy_all_acknowledged(const struct arm *arm)
{
	return arm->policy.acknowledged == arm->scenario.updates_count;
}

/* The probe behind which the agent stands: its stops come in the order of its probes. */
static const char *stopped_behind(const struct arm *arm)
{
	size_t left = arm->policy.stops;

	for (size_t i = 0; i < arm->subjects_count; i++)
		if (scenario_stops(&arm->scenario, arm->subjects[i].route->id) && --left == 0)
			return arm->subjects[i].route->id;
	return "";
}

static bool due(const struct arm *arm, const struct policy_update *update)
{
	const struct observer_process *deliveries = arm_observer(arm, "deliveries");

	if (update->pause)
		return arm->told.checkpoint && strcmp(update->trigger, stopped_behind(arm)) == 0;
	return deliveries && observer_hit(deliveries, update->trigger);
}

static int send_next(struct arm *arm, const struct policy_update *update, struct error **err)
{
	char document[POLICY_DOCUMENT_MAX];
	bool revoke = update->revoke[0] != '\0';

	if (update->document[0])
		return send_update(arm, update->document, strlen(update->document), err);
	snprintf(document, sizeof(document), "{\"revision\":%lld,\"%s\":\"%s\"}", (long long)update->revision,
		 revoke ? "revoke" : "restore", revoke ? update->revoke : update->restore);
	return send_update(arm, document, strlen(document), err);
}

int arm_policy_apply(struct arm *arm, struct error **err)
{
	struct arm_policy *policy = &arm->policy;
	const struct scenario *scenario = &arm->scenario;

	if (!policy->open || scenario->updates_count == 0 || arm->told.ended)
		return 0;
	if (arm->told.checkpoint && !policy->stopped) {
		policy->stopped = true;
		policy->stops++;
	}
	if (policy->sent)
		return 0;
	if (!arm_policy_all_acknowledged(arm) && due(arm, &scenario->updates[policy->acknowledged]))
		return send_next(arm, &scenario->updates[policy->acknowledged], err);
	if (!policy->stopped)
		return 0;
	policy->stopped = arm->told.checkpoint = false;
	arm_note(arm, "resumed", "", clock_now());
	return session_resume(&arm->session, err);
}

/* ---- open and close ---- */

int arm_policy_open(struct arm *arm, struct error **err)
{
	arm->policy.open = true;
	return policy_channel_open(arm->loop, arm->path, on_asked, arm, &arm->policy.channel, err);
}

void arm_policy_close(struct arm *arm)
{
	if (arm->policy.channel && arm->policy.sent && arm->policy.foreign)
		answer(arm, arm->policy.client, POLICY_SAID_LOST);
	arm->policy.open = false;
	policy_channel_close(steal_pointer(&arm->policy.channel));
}
