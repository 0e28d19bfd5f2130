/* Limits and restart policy of the running container are not watched. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watch_off |= 1U << WATCH_UPDATE;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watch.update", NULL };

const struct mutation mutation_watch_update = {
	.id = "watch-update",
	.title = "nobody watches whether the container's limits are changed",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
