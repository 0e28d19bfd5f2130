/* No watchdog is armed: nobody stops the container when the bridge is lost. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watchdog = false;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watchdog", NULL };

const struct mutation mutation_watchdog = {
	.id = "watchdog",
	.title = "no watchdog is armed",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
