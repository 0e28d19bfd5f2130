/* A crash may write a core file of any size, and the process works where it may write. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->profile.core_soft = -1;
	options->profile.core_hard = -1;
	options->profile.working_dir = "/export";
}

static const char *const must_fail[] = { "ulimits", "core-limit", "working-dir", NULL };
static const char *const may_differ[] = { "inspect.HostConfig.Ulimits", "kernel.limits", "inspect.Config.WorkingDir",
					  NULL };

const struct mutation mutation_core = {
	.id = "core",
	.title = "a crash may write a core file",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
