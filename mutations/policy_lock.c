/* A policy update does not wait for the calls under way: what they do comes behind its acknowledgment. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->policy_lock = false;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.policy-lock", NULL };

const struct mutation mutation_policy_lock = {
	.id = "policy-lock",
	.title = "a policy update does not wait for the calls that were admitted before it",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
