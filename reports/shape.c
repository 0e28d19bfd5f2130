#include "reports/shape.h"

#define PREFIX "canary-"
#define PREFIX_LENGTH (sizeof(PREFIX) - 1)
#define LETTERS (CANARY_LENGTH - PREFIX_LENGTH)

bool shape_feed(struct shape *shape, const void *bytes, size_t length)
{
	const char *at = bytes;
	bool seen = false;

	for (size_t i = 0; i < length; i++) {
		if (shape->letters > 0)
			shape->letters = at[i] >= 'a' && at[i] <= 'p' ? shape->letters + 1 : 0;
		seen |= shape->letters > LETTERS;
		/* The prefix begins with its only 'c', so nothing else of it can begin again. */
		shape->prefix = at[i] == PREFIX[shape->prefix] ? shape->prefix + 1 : at[i] == 'c';
		if (shape->prefix == PREFIX_LENGTH) {
			shape->prefix = 0;
			shape->letters = 1;
		}
	}
	return seen;
}
