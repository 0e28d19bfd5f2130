/* The arm's observers that declarations bring, beside those of observers/table.c. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fd.h"
#include "runner/arm.h"

#define SAID_BYTES 1024 /* the last of each program */

void arm_declared_kinds(struct arm *arm)
{
	for (size_t i = 0; i < arm->declared.count; i++) {
		const struct declared_observer *one = &arm->declared.observers[i];
		const char **words = arm->declared_words[i];

		/* The one id of its records, and the end of that list; then the measures, and theirs. */
		words[0] = one->id;
		for (size_t measure = 0; measure < one->measures_count; measure++)
			words[2 + measure] = one->measures[measure];
		arm->declared_kinds[i] = (struct observer_kind){
			.id = one->id,
			.program = "",
			.observers = words,
			.measures = words + 2,
			.needs = OBSERVER_HOST,
			.title = one->program,
		};
	}
}

const struct observer_kind *arm_kind_of(const struct arm *arm, const char *observer)
{
	for (size_t i = 0; i < arm->declared.count; i++)
		if (strcmp(arm->declared.observers[i].id, observer) == 0)
			return &arm->declared_kinds[i];
	return observer_kind_of(observer);
}

static void keep_line(struct arm *arm, const char *id, const char *line)
{
	struct arm_result *result = arm->result;
	char safe[ARM_SAID_BYTES - NAME_MAX_SHORT - 2];

	if (line[0] && result->said_count < ARM_SAID_MAX)
		snprintf(result->said[result->said_count++], ARM_SAID_BYTES, "%s: %s", id,
			 error_safe(line, safe, sizeof(safe)));
}

void arm_declared_said(struct arm *arm, const struct observer_process *observer)
{
	char text[SAID_BYTES + 1];
	size_t length = observer_says(observer, text, SAID_BYTES);

	text[length] = '\0';
	for (char *line = text, *end; line < text + length; line = end + 1) {
		end = line + strcspn(line, "\n");
		*end = '\0';
		keep_line(arm, observer_kind(observer)->id, line);
	}
}

static int start(struct arm *arm, size_t at, struct observer_process **out, struct error **err)
{
	if (observer_start_own(&arm->declared_kinds[at], arm->declared.programs[at], out, err) < 0 ||
	    arm_observers_expect(arm, *out, err) < 0 || observer_begin(*out, err) < 0)
		return -1;
	return observer_wait_ready(*out, clock_deadline(ARM_READY_MS), err);
}

void arm_declared_start(struct arm *arm)
{
	for (size_t i = 0; i < arm->declared.count; i++) {
		cleanup_observer struct observer_process *observer = NULL;
		cleanup_error struct error *ignored = NULL;

		if (!arm_observers_asked(arm, &arm->declared_kinds[i]))
			continue;
		if (arm->observers_count == ARM_OBSERVERS_MAX || start(arm, i, &observer, &ignored) < 0) {
			if (observer)
				arm_declared_said(arm, observer);
			arm_observer_loss(arm, arm->declared.observers[i].id, observer,
					  observer ? ARM_STAGE_READY : ARM_STAGE_START, ignored);
		} else {
			arm->observers[arm->observers_count++] = steal_pointer(&observer);
		}
	}
}

static bool takes(const struct declared_observer *observer, const char *input)
{
	for (size_t i = 0; i < observer->inputs_count; i++)
		if (strcmp(observer->inputs[i], input) == 0)
			return true;
	return false;
}

void arm_declared_inputs(struct arm *arm, const struct arm_input *inputs, size_t count)
{
	for (size_t i = 0; i < arm->declared.count; i++)
		for (size_t input = 0; input < count; input++)
			if (takes(&arm->declared.observers[i], inputs[input].name))
				arm_observers_give(arm, arm->declared.observers[i].id, inputs[input].name,
						   inputs[input].fd);
}

bool arm_declared_is(const struct arm *arm, const struct observer_kind *kind)
{
	for (size_t i = 0; i < arm->declared.count; i++)
		if (kind == &arm->declared_kinds[i])
			return true;
	return false;
}

void arm_declared_finish(struct arm *arm)
{
	for (size_t i = 0; i < arm->observers_count; i++)
		if (arm_declared_is(arm, observer_kind(arm->observers[i])))
			arm_gateway_end(arm);
}

/* One arm is of one revision: where two are said, it is of none. */
static void keep_revision(struct arm *arm, const char *said)
{
	char *revision = arm->result->room.record.deployment_revision;

	if (!said[0] || strcmp(revision, said) == 0)
		return;
	if (revision[0] || arm->revisions_differ) {
		arm->revisions_differ = true;
		revision[0] = '\0';
		arm_note(arm, "revisions-differ", "", clock_now());
		return;
	}
	snprintf(revision, ID_MAX, "%s", said);
}

void arm_declared_await(struct arm *arm)
{
	int64_t deadline = clock_deadline(ARM_BEACON_MS);

	for (size_t i = 0; i < arm->declared.count; i++) {
		struct observer_process *observer = arm_observer(arm, arm->declared.observers[i].id);
		cleanup_error struct error *late = NULL;

		if (!observer)
			continue;
		if (observer_wait_seen(observer, NULL, WIRE_BEFORE, deadline, &late) < 0) {
			arm_note(arm, "beacon-lost", arm->declared.observers[i].id, clock_now());
			arm_observer_loss(arm, arm->declared.observers[i].id, observer, ARM_STAGE_LOOK, late);
			arm_observers_drop(arm, arm->declared.observers[i].id);
			continue;
		}
		keep_revision(arm, observer_revision(observer));
	}
}
