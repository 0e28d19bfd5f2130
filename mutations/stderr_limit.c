/* An agent may write a GiB to its standard error, whatever the profile says. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->limits.stderr_bytes = 1024 * MIB;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.limits.stderr-bytes", NULL };

const struct mutation mutation_stderr_limit = {
	.id = "stderr-limit",
	.title = "an agent may write a GiB to its standard error",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
