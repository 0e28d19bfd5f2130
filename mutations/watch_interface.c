/* An interface that appears in the container's network namespace is not watched for. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watch_off |= 1U << WATCH_INTERFACE;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watch.interface", NULL };

const struct mutation mutation_watch_interface = {
	.id = "watch-interface",
	.title = "nobody watches whether an interface appears in the container",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
