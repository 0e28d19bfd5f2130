/* A call that the gateway fails, or loses with itself, is only denied: the agent lives on without a gateway. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->fail_closed = false;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.fail-closed", NULL };

const struct mutation mutation_fail_closed = {
	.id = "fail-closed",
	.title = "a gateway that fails or is lost ends no session",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
