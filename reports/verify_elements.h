/*
 * The elements of the array that a document of the bundle begins with, one at a time as the bytes come by: a member of
 * many megabytes is never held. The frame around the array must be the canonical one, to the byte.
 */
#ifndef HARNESS_REPORTS_VERIFY_ELEMENTS_H
#define HARNESS_REPORTS_VERIFY_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/error.h"

typedef int (*elements_take)(void *context, const char *element, size_t length, struct error **err);

struct elements {
	const char *begin; /* "{\"arms\":[" */
	const char *end; /* "]}"; NULL: what follows the array does not matter here */
	elements_take take; /* an object; lives until the call returns */
	void *context;
	struct buf element; /* its maximum is that of an element */
	/* Its own. */
	int state;
	size_t at;
	unsigned depth;
	bool in_string, escaped;
	bool broken; /* not of that frame: nothing more is taken */
};
#define ELEMENTS(first, last, maximum, taker, taken)                                                                   \
	{                                                                                                              \
		.begin = (first), .end = (last), .take = (taker), .context = (taken), .element = BUF(maximum)          \
	}

/* What `take` returns when it is negative; ERROR_LIMIT for an element that is too long. A broken frame is no error. */
int elements_feed(struct elements *elements, const void *bytes, size_t length, struct error **err) MUST_CHECK;
/* After the last byte: whether the frame was whole. */
bool elements_whole(const struct elements *elements);
void elements_free(struct elements *elements);

#endif
