/*
 * Which changes of its container a process outlived: what the engine and the host say while the window of a loss
 * closes, against what the engine said before. A process that is dead then outlived none.
 */
#ifndef HARNESS_OBSERVERS_STATE_OUTLIVED_H
#define HARNESS_OBSERVERS_STATE_OUTLIVED_H

#include "observers/document.h"

enum outlived_change { OUTLIVED_NAME, OUTLIVED_LIMITS, OUTLIVED_NETWORKS, OUTLIVED_PATTERN, OUTLIVED_CHANGES };

struct outlived {
	struct document before, after; /* the engine's answers to an inspect */
	bool closed; /* the window */
	bool alive; /* the process, then */
	enum wire_reason reason; /* why nothing can be said */
	bool changed[OUTLIVED_CHANGES];
};

/* In place: the streams' contexts point into it. */
void outlived_init(struct outlived *outlived);
/* Reads what is left of the inputs, and compares. Only the first call counts. */
int outlived_close_window(struct outlived *outlived, bool alive, struct error **err) MUST_CHECK;
/* Whether there is something to report: the answer from before came. */
bool outlived_asked(const struct outlived *outlived);
/* The value, or why there is none. */
enum wire_reason outlived_read(const struct outlived *outlived, enum outlived_change change, int64_t *value);
void outlived_free(struct outlived *outlived);

#endif
