/* The name that was probably meant by a mistyped one. Pure. */
#ifndef HARNESS_CORE_NEAREST_H
#define HARNESS_CORE_NEAREST_H

#include <stddef.h>

#include "core/error.h"

/* Words and names as long as this or longer are near nothing. */
#define NEAREST_MAX 64

/* Letters that must be added, taken away, replaced, or swapped with their neighbour to turn one into the other; more
 * than NEAREST_MAX when either is too long. */
unsigned nearest_distance(const char *one, const char *other);

struct nearest {
	const char *word; /* as it was typed */
	char name[NEAREST_MAX]; /* the nearest so far, or "" */
	unsigned distance;
};
/* `name` is near when at most two letters are off, and at most a third of it. Of equally near ones the first offered
 * stays. */
void nearest_offer(struct nearest *nearest, const char *name);
/* As above, by its last part alone ("network" means "mutation/network"), and each folder on the way to it. */
void nearest_offer_path(struct nearest *nearest, const char *name);
/* ERROR_USAGE: "unknown KIND 'WORD': did you mean 'NAME'?", or `see` behind the colon when nothing is near. */
int nearest_error(const struct nearest *nearest, const char *kind, const char *see, struct error **err);

#endif
