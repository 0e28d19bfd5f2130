/* The watchdog does not hold the container's process: it can stop it only through the engine. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watchdog_pidfd = false;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watchdog-pidfd", NULL };

const struct mutation mutation_watchdog_pidfd = {
	.id = "watchdog-pidfd",
	.title = "the watchdog stops the container by the engine alone",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
