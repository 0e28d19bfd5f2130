/* Why an observer of an arm was lost: the word that its event in arms.json has, and what a reader is told. */
#ifndef HARNESS_REPORTS_LOSSES_H
#define HARNESS_REPORTS_LOSSES_H

#include "oracle/judge.h"

enum loss {
	LOSS_NOT_STARTED,
	LOSS_BEFORE_READY,
	LOSS_NOT_READY,
	LOSS_KNOWN_ANSWER,
	LOSS_NO_LOOK,
	LOSS_EXITED,
	LOSS_NO_REPORT,
	LOSS_PROTOCOL,
	LOSS_LIMIT,
};
#define LOSSES (LOSS_LIMIT + 1)
extern const char *const loss_names[LOSSES + 1]; /* of the event; NULL-terminated */
/* What it was, to be read behind the observer's name. */
const char *loss_words(enum loss loss);
/* Why `observer`, or the program of which it is a view, was lost in the arm: a loss, or -1 where nothing is noted. */
int loss_of(const struct verdict_arm *arm, const char *observer);

#endif
