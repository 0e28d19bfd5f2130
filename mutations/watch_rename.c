/* The container's name is not watched. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watch_off |= 1U << WATCH_RENAME;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watch.rename", NULL };

const struct mutation mutation_watch_rename = {
	.id = "watch-rename",
	.title = "nobody watches whether the container is renamed",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
