/* The session may last a minute, whatever the profile says. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->limits.session_ms = 60000;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.limits.session-ms", NULL };

const struct mutation mutation_session_limit = {
	.id = "session-limit",
	.title = "a session may last a minute",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
