/* The engine's json-file log driver instead of none: what the agent writes is kept on the host's disk. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.log_driver = "json-file";
}

static const char *const must_fail[] = { "log-driver", NULL };
static const char *const may_differ[] = { "inspect.HostConfig.LogConfig.*", NULL };

const struct mutation mutation_log_driver = {
	.id = "log-driver",
	.title = "the engine keeps the container's output",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
