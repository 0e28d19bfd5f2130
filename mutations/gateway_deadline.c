/* A call may take as long as the session: an answer that comes late is taken, and one that never comes is waited for.
 */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->limits.gateway_call_ms = 4 * options->limits.session_ms;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.limits.gateway-call-ms", NULL };

const struct mutation mutation_gateway_deadline = {
	.id = "gateway-deadline",
	.title = "a call to the gateway has no deadline of its own",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
