/* The bridge acknowledges policy updates and lets every call pass: a revoked tool is reached. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->policy = false;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.policy", NULL };

const struct mutation mutation_policy = {
	.id = "policy",
	.title = "what live policy updates say is not enforced",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
