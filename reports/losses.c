#include "reports/losses.h"

#include <string.h>

#include "core/schema.h"

static const char *const words[LOSSES];

const char *loss_words(enum loss loss)
{
	return words[loss];
}

/* A program's id is that of its observer, or what those of its views begin with. */
static bool is_of(const char *program, const char *observer)
{
	size_t length = strlen(program);

	return length > 0 && strncmp(program, observer, length) == 0 &&
	       (observer[length] == '\0' || observer[length] == '-');
}

int loss_of(const struct verdict_arm *arm, const char *observer)
{
	for (size_t i = 0; i < arm->events_count; i++) {
		const struct arm_event *event = &arm->events[i];
		int loss = is_of(event->subject, observer) ? schema_enum(loss_names, event->name) : -1;

		if (loss >= 0)
			return loss;
	}
	return -1;
}

const char *const loss_names[LOSSES + 1] = {
	[LOSS_NOT_STARTED] = "lost-not-started",
	[LOSS_BEFORE_READY] = "lost-before-ready",
	[LOSS_NOT_READY] = "lost-not-ready",
	[LOSS_KNOWN_ANSWER] = "lost-known-answer",
	[LOSS_NO_LOOK] = "lost-no-look",
	[LOSS_EXITED] = "lost-exited",
	[LOSS_NO_REPORT] = "lost-no-report",
	[LOSS_PROTOCOL] = "lost-protocol",
	[LOSS_LIMIT] = "lost-limit",
};

static const char *const words[LOSSES] = {
	[LOSS_NOT_STARTED] = "could not be started",
	[LOSS_BEFORE_READY] = "ended before it was ready",
	[LOSS_NOT_READY] = "was not ready within 5 s",
	[LOSS_KNOWN_ANSWER] = "its known answers were wrong",
	[LOSS_NO_LOOK] = "did not see its marker within 2 s of its inputs",
	[LOSS_EXITED] = "ended before its report",
	[LOSS_NO_REPORT] = "no report within 5 s",
	[LOSS_PROTOCOL] = "broke a rule of docs/observer-protocol.md",
	[LOSS_LIMIT] = "said more than an observer may",
};
