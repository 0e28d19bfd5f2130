/* A frame may be as long as the bridge can take, whatever the profile says. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->limits.frame_bytes = 64 * MIB;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.limits.frame-bytes", NULL };

const struct mutation mutation_frame_limit = {
	.id = "frame-limit",
	.title = "a frame may have 64 MiB",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
