/*
 * Processes that nobody waits for: what a program that we started has started in its turn, and left behind. Who adopts
 * becomes their parent once theirs is gone, whatever session or group they are in, and can end them.
 */
#ifndef HARNESS_CORE_STRAYS_H
#define HARNESS_CORE_STRAYS_H

#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"

#define STRAYS_KNOWN_MAX 64

struct strays {
	bool adopts;
	pid_t known[STRAYS_KNOWN_MAX]; /* children that were there before */
	size_t known_count;
};

/* From here on this process adopts. Its children of now are no strays. */
int strays_adopt(struct strays *out, struct error **err) MUST_CHECK;
/* Kills and reaps every child that was not there before, until none is left or the deadline has passed: how many lived
 * still. All that were started by the caller itself meanwhile must have been waited for. `spare`: the path of a program
 * that is let go on, or NULL. Without strays_adopt() it does nothing. */
unsigned strays_end(const struct strays *strays, const char *spare, int64_t deadline);

#endif
