/* An agent may write a GiB, whatever the profile says. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->limits.stdout_bytes = 1024 * MIB;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.limits.stdout-bytes", NULL };

const struct mutation mutation_stdout_limit = {
	.id = "stdout-limit",
	.title = "an agent may write a GiB to its standard output",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
