/* Eight times as many processes as the profile says. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.pids = 256;
}

static const char *const must_fail[] = { "pids-limit", "cgroup-pids", NULL };
static const char *const may_differ[] = { "inspect.HostConfig.PidsLimit", "kernel.cgroup.pids", NULL };

const struct mutation mutation_pids = {
	.id = "pids",
	.title = "more processes than the profile allows",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
