/* The host's core pattern is not read again while the session goes on. */
#include "mutations/mutation.h"

static void apply(struct session_options *options)
{
	options->watch_off |= 1U << WATCH_CORE_PATTERN;
}

static const char *const must_fail[] = { NULL };
static const char *const may_differ[] = { "session.watch.core-pattern", NULL };

const struct mutation mutation_watch_core_pattern = {
	.id = "watch-core-pattern",
	.title = "nobody watches the host's core pattern while the session goes on",
	.apply = apply,
	.must_fail = must_fail,
	.may_differ = may_differ,
};
