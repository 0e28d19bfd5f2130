#include "reports/shape.h"

static void see(void *context, const struct canary *canary)
{
	bool *seen = context;

	(void)canary;
	*seen = true;
}

bool shape_feed(struct shape *shape, const void *bytes, size_t length)
{
	bool seen = false;

	canary_find(&shape->finder, true, bytes, length, see, &seen);
	return seen;
}
