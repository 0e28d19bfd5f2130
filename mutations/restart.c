/* The engine starts the container again when it failed, at most three times. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.restart = "on-failure";
}

static const char *const must_fail[] = { "restart-policy", NULL };
static const char *const may_differ[] = { "inspect.HostConfig.RestartPolicy.*", NULL };

const struct mutation mutation_restart = {
	.id = "restart",
	.title = "the engine starts a container that failed again",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
