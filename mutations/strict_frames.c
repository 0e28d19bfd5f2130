/* What is no frame, or asks for no operation, is passed over, and the session goes on. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->strict = false;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.strict", NULL };

const struct mutation mutation_strict_frames = {
	.id = "strict-frames",
	.title = "what is no frame is passed over",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
