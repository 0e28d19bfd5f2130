/* What is noted of an observer that is lost: that it is, and why. */
#include <string.h>

#include "core/clock.h"
#include "reports/losses.h"
#include "runner/arm.h"

_Static_assert(ARM_READY_MS == 5000 && ARM_BEACON_MS == 2000 && ARM_REPORT_MS == 5000, "loss_words() says them");

/* What it means at each stage that nobody is there any more, and that nothing came in time. */
static const struct {
	enum loss gone, late;
} stages[] = {
	[ARM_STAGE_START] = { LOSS_NOT_STARTED, LOSS_NOT_STARTED },
	[ARM_STAGE_READY] = { LOSS_BEFORE_READY, LOSS_NOT_READY },
	[ARM_STAGE_LOOK] = { LOSS_EXITED, LOSS_NO_LOOK },
	[ARM_STAGE_REPORT] = { LOSS_EXITED, LOSS_NO_REPORT },
};

static enum loss loss_at(enum arm_stage stage, enum error_code code)
{
	switch (code) {
	case ERROR_TIMEOUT:
		return stages[stage].late;
	case ERROR_REFUSED:
		return LOSS_KNOWN_ANSWER;
	case ERROR_PROTOCOL:
		return LOSS_PROTOCOL;
	case ERROR_LIMIT:
		return LOSS_LIMIT;
	default:
		return stages[stage].gone;
	}
}

static bool noted(const struct arm *arm, const char *name, const char *kind)
{
	const struct arm_record *record = &arm->result->room.record;

	for (size_t i = 0; i < record->events_count; i++)
		if (strcmp(record->events[i].name, name) == 0 && strcmp(record->events[i].subject, kind) == 0)
			return true;
	return false;
}

void arm_observer_loss(struct arm *arm, const char *kind, const struct observer_process *observer, enum arm_stage stage,
		       const struct error *error)
{
	enum error_code code = observer && observer_lost(observer) ? observer_why(observer) : error_code(error);
	const char *why = loss_names[stage == ARM_STAGE_START ? LOSS_NOT_STARTED : loss_at(stage, code)];

	/* The first word is the reason: what follows from it is none. */
	if (noted(arm, "observer-lost", kind))
		return;
	arm_note(arm, "observer-lost", kind, clock_now());
	arm_note(arm, why, kind, clock_now());
}
