/* What control.c and control_wait.c share: one started program as the arm knows it. */
#ifndef HARNESS_OBSERVERS_CONTROL_INTERNAL_H
#define HARNESS_OBSERVERS_CONTROL_INTERNAL_H

#include "observers/control.h"
#include "observers/observer.h"

struct known_subject {
	char name[NAME_MAX_SHORT];
	uint16_t port;
	bool hit;
};

struct known_view {
	bool seen[2];
	enum wire_reason reason;
};

struct observer_process {
	const struct observer_kind *kind;
	struct child child;
	int socket; /* -1 once the program went away */
	int lost; /* what it was then: open until the end, since a loop may still watch it */
	int says; /* file behind the standard error of a program that a declaration brings, or -1 */
	enum error_code why; /* it was lost */
	bool ready; /* and its known answers were right */
	struct known_subject subjects[ARM_SUBJECTS_MAX];
	size_t count;
	struct known_view views[OBSERVER_VIEWS];
	struct wire_record *records;
	size_t records_count, records_room;
	size_t messages; /* that it sent */
	char revision[NAME_MAX_SHORT]; /* of what it looks at, or "" */
	bool asked[2], ended[2];
};

/* The program went away, or is believed no longer. */
void observer_lose(struct observer_process *process, enum error_code why);
/* ERROR_CLOSED, for whoever asks a program that went away. */
int observer_lost_error(const struct observer_process *process, struct error **err);

#endif
