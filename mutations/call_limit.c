/* The agent may call more often than the profile says. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->limits.calls = 1000;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.limits.calls", NULL };

const struct mutation mutation_call_limit = {
	.id = "call-limit",
	.title = "more calls than the profile allows",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
